"""The simulated directory server: reads strictly, answers by the card's number, and opens challenges at the issuer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from tollgate.catalog.results import RESULTS
from tollgate.catalog.test_cards import TEST_CARDS, Behaviour
from tollgate.connectors.exchange import WireRequest
from tollgate.connectors.threeds import exchanges, messages, refusals
from tollgate.payments.authentication import AuthenticationCase
from tollgate.sandbox.directory_server import ANSWERS, ELEMENTS, SCRIPTED, SimulatedDirectoryServer
from tollgate.sandbox.issuer import ENDINGS, OPEN, find_challenge, make_browser_answer, make_result
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.values import FixedClock, to_instant
from tollgate.vault.keyring import make_keyring

pytestmark = pytest.mark.anyio

NOW = to_instant(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
BASE_URL = "http://127.0.0.1:8080"
KEYRING = make_keyring()
SERVER_ID = "8a880000-0000-4000-8000-000000000001"

REQUEST = {
    "messageType": "AReq",
    "messageVersion": "2.2.0",
    "messageCategory": "01",
    "deviceChannel": "02",
    "threeDSServerTransID": SERVER_ID,
    "threeDSServerRefNumber": "TOLLGATE_020200",
    "threeDSServerURL": f"{BASE_URL}/v1/threeDSecure/results/ticket",
    "threeDSRequestorID": "R-1",
    "threeDSRequestorName": "Jones",
    "threeDSRequestorURL": "https://shop.example",
    "threeDSRequestorAuthenticationInd": "01",
    "threeDSCompInd": "U",
    "notificationURL": f"{BASE_URL}/v1/shopper/secret-of-the-shopper",
    "acquirerBIN": "412345",
    "acquirerMerchantID": "M-1",
    "merchantName": "Jones Ltd",
    "acctNumber": "4711100000000000",
    "purchaseAmount": "9210",
    "purchaseCurrency": "978",
    "purchaseExponent": "2",
    "purchaseDate": "20261115123005",
    "browserAcceptHeader": "text/html",
    "browserJavaEnabled": False,
    "browserJavascriptEnabled": True,
    "browserLanguage": "de",
    "browserColorDepth": "24",
    "browserScreenHeight": "1080",
    "browserScreenWidth": "1920",
    "browserTZ": "-60",
    "browserUserAgent": "Mozilla/5.0",
}
APP = {
    **{name: value for name, value in REQUEST.items() if not name.startswith("browser")},
    "deviceChannel": "01",
    "sdkEncData": "x",
}
AWAY = {
    **{name: value for name, value in REQUEST.items() if not name.startswith("browser")},
    "deviceChannel": "03",
    "threeRIInd": "01",
}


@pytest.fixture(scope="module")
async def database(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    """The tests share one store, because every challenge has a token of its own."""
    database = await open_database(f"sqlite:///{tmp_path_factory.mktemp('directory')}/store.db")
    yield database
    await database.close()


@pytest.fixture
def directory(database: Database) -> SimulatedDirectoryServer:
    return SimulatedDirectoryServer(database, KEYRING, BASE_URL, FixedClock(NOW))


async def ask(
    directory: SimulatedDirectoryServer,
    changes: Mapping[str, object],
    simulator_overrides: Mapping[str, str] | None = None,
    request: Mapping[str, object] = REQUEST,
) -> Any:
    """A member changed to None is left out."""
    message = {name: value for name, value in {**request, **changes}.items() if value is not None}
    body = json.dumps(message).encode()
    reply = await directory.send(
        WireRequest(path="/3ds/areq", body=body, key="k", simulator_overrides=simulator_overrides or {}), 1.0
    )
    assert reply.status == 200
    return json.loads(reply.body)


def choose_eci(brand: str, status: str, reason: str | None) -> str | None:
    """The tables that the schemes publish are written out here once more."""
    place = {"Y": 0, "A": 1, "N": 1 if reason == "13" else 2, "U": 2}[status]
    if reason == "22":
        return None
    return (("02", "01", "00") if brand in ("MASTER", "MAESTRO") else ("05", "06", "07"))[place]


@pytest.mark.parametrize(
    "card", [card for card in TEST_CARDS.values() if card.behaviour is not Behaviour.CHALLENGE], ids=lambda c: c.number
)
async def test_every_card_is_answered_as_its_row_says(directory: SimulatedDirectoryServer, card: Any) -> None:
    expected = {
        Behaviour.NO_3DS: ("N", "08"),
        Behaviour.FRICTIONLESS: ("Y", None),
        Behaviour.ATTEMPT: ("A", None),
        Behaviour.TECHNICAL_ERROR: ("U", "22"),
        Behaviour.NOT_ENROLLED: ("N", "13"),
        Behaviour.NOT_PARTICIPATING: ("U", "87"),
    }[card.behaviour]
    answer = await ask(directory, {"acctNumber": card.number})

    assert (answer["transStatus"], answer.get("transStatusReason")) == expected
    assert answer.get("eci") == choose_eci(card.brand, *expected)
    assert (len(answer.get("authenticationValue", "")) == 28) is (expected[0] in "YA")
    assert (answer["threeDSServerTransID"], answer["messageType"]) == (SERVER_ID, "ARes")


@pytest.mark.parametrize(("number", "eci"), [("5386024192625914", "02"), ("4929420573595709", "05")])
async def test_the_network_of_a_card_of_the_world_is_known_by_its_number(
    directory: SimulatedDirectoryServer, number: str, eci: str
) -> None:
    answer = await ask(directory, {"acctNumber": number}, {"3DS2_enrolled": "true", "3DS2_flow": "frictionless"})

    assert (answer["transStatus"], answer["eci"]) == ("Y", eci)


def test_every_behaviour_but_the_challenge_has_an_answer() -> None:
    assert set(ANSWERS) == set(Behaviour) - {Behaviour.CHALLENGE}


async def test_ranges_name_every_card_that_takes_part_and_its_method_page(directory: SimulatedDirectoryServer) -> None:
    conversation = exchanges.ask_ranges(SERVER_ID)
    reply = await directory.send(next(conversation), 1.0)
    with pytest.raises(StopIteration) as end:
        conversation.send(reply)

    method_url = f"{BASE_URL}/sandbox/acs/method"
    assert {(each.start, each.end, each.method_url) for each in end.value.value} == {
        (card.number, card.number, method_url if card.has_method_data else None)
        for card in TEST_CARDS.values()
        if card.behaviour is not Behaviour.NO_3DS
    }


@pytest.mark.parametrize(
    ("number", "simulator_overrides", "indicator", "status"),
    [
        ("4200000000000000", {"3DS2_enrolled": "true"}, None, "C"),
        ("4200000000000000", {"3DS2_enrolled": "true", "3DS2_flow": "frictionless"}, None, "Y"),
        ("4200000000000000", {"3DS2_enrolled": "false"}, None, "N"),
        ("5386024192625914", {"3DS2_enrolled": "true", "3DS2_flow": "challenge"}, None, "C"),
        ("4200000000000026", {"3DS2_flow": "challenge"}, None, "C"),
        ("4711100000000000", {"3DS2_flow": "frictionless"}, "04", "Y"),
        ("4200000000000026", {}, "04", "C"),
        ("4200000000000026", {}, "02", "Y"),
        ("4012001037461114", {}, "04", "U"),
    ],
)
async def test_simulator_overrides_win_over_test_cards_and_those_over_parameters(
    directory: SimulatedDirectoryServer,
    number: str,
    simulator_overrides: dict[str, str],
    indicator: str | None,
    status: str,
) -> None:
    changes = {"acctNumber": number, "threeDSRequestorChallengeInd": indicator}

    assert (await ask(directory, changes, simulator_overrides))["transStatus"] == status


@pytest.mark.parametrize(("number", "mandated"), [("4711100000000000", "Y"), ("4200000000000026", "N")])
async def test_a_challenge_says_who_requested_it(
    directory: SimulatedDirectoryServer, number: str, mandated: str
) -> None:
    answer = await ask(directory, {"acctNumber": number, "threeDSRequestorChallengeInd": "04"})

    assert (answer["transStatus"], answer["acsChallengeMandated"]) == ("C", mandated)


@pytest.mark.parametrize("name", [element.name for element in ELEMENTS if "02" in element.channels])
async def test_whatever_is_mandatory_in_a_browser_is_named_when_it_is_missing(
    directory: SimulatedDirectoryServer, name: str
) -> None:
    answer = await ask(directory, {name: None})

    assert (answer["messageType"], answer["errorCode"], answer["errorDetail"]) == ("Erro", "201", name)


@pytest.mark.parametrize("name", SCRIPTED)
async def test_only_browsers_with_scripts_must_say_what_scripts_know(
    directory: SimulatedDirectoryServer, name: str
) -> None:
    assert (await ask(directory, {name: None}))["errorDetail"] == name
    assert (await ask(directory, {name: None, "browserJavascriptEnabled": False}))["transStatus"] == "C"


async def test_all_that_is_missing_is_named_at_once(directory: SimulatedDirectoryServer) -> None:
    answer = await ask(directory, {"acctNumber": None, "notificationURL": "", "browserTZ": None})

    assert answer["errorDetail"] == "notificationURL, acctNumber, browserTZ"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("messageVersion", "2.3.1"),
        ("acctNumber", "4711 1000"),
        ("threeDSServerTransID", "7"),
        ("purchaseAmount", "92.10"),
        ("purchaseCurrency", "EUR"),
        ("browserColorDepth", "30"),
        ("browserJavaEnabled", "maybe"),
        ("notificationURL", "javascript:alert(1)"),
        ("messageCategory", "03"),
    ],
)
async def test_what_is_not_well_formed_is_named(directory: SimulatedDirectoryServer, name: str, value: object) -> None:
    answer = await ask(directory, {name: value})

    assert (answer["messageType"], answer["errorCode"], answer["errorDetail"]) == ("Erro", "203", name)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
@pytest.mark.parametrize("path", ["/3ds/areq", "/3ds/preq"])
async def test_bytes_that_are_no_message_are_answered_with_an_error(
    directory: SimulatedDirectoryServer, path: str, body: bytes
) -> None:
    reply = await directory.send(WireRequest(path=path, body=body, key="k"), 1.0)

    assert json.loads(reply.body)["messageType"] == "Erro"


async def test_it_has_two_endpoints_only(directory: SimulatedDirectoryServer) -> None:
    assert (await directory.send(WireRequest(path="/3ds/creq", body=b"", key="k"), 1.0)).status == 404


async def test_without_money_no_purchase_is_asked_for(directory: SimulatedDirectoryServer) -> None:
    names = ("purchaseAmount", "purchaseCurrency", "purchaseExponent", "purchaseDate", "acquirerBIN")
    changes: dict[str, object] = dict.fromkeys(names)

    assert (await ask(directory, {"messageCategory": "02", **changes}))["transStatus"] == "C"


async def test_an_absent_shopper_cannot_be_challenged(directory: SimulatedDirectoryServer) -> None:
    answer = await ask(directory, {}, request=AWAY)

    assert (answer["transStatus"], answer["transStatusReason"]) == ("U", "21")
    assert (await ask(directory, {"acctNumber": "4200000000000026"}, request=AWAY))["transStatus"] == "Y"


# --- the issuer's challenges ---


async def test_a_challenge_is_kept_with_what_its_page_shows(
    directory: SimulatedDirectoryServer, database: Database
) -> None:
    answer = await ask(directory, {})
    found = await find_challenge(database, KEYRING, answer["acsURL"].rpartition("/")[2])

    assert answer["acsURL"].startswith(f"{BASE_URL}/sandbox/acs/challenge/")
    assert found is not None
    assert (found.row.status, found.ending, found.tries) == (OPEN, None, 0)
    assert (found.challenge.merchant, found.challenge.render_amount(), found.challenge.last_digits) == (
        "Jones Ltd",
        "92.10 EUR",
        "0000",
    )
    assert found.challenge.shopper_token == "ticket"
    assert "secret-of-the-shopper" not in found.row.body, "the database alone must not lead to what waits there"
    assert await find_challenge(database, make_keyring(), answer["acsURL"].rpartition("/")[2]) is None


async def test_outside_of_the_browser_the_text_says_where_the_banks_app_is_played(
    directory: SimulatedDirectoryServer, database: Database
) -> None:
    decoupled = await ask(directory, {"threeDSRequestorDecReqInd": "Y"})
    in_app = await ask(directory, {}, request=APP)

    assert (decoupled["transStatus"], in_app["transStatus"]) == ("D", "C")
    for answer in (decoupled, in_app):
        assert "acsURL" not in answer
        found = await find_challenge(database, KEYRING, answer["cardholderInfo"].rpartition("/")[2])
        assert found is not None
        assert found.challenge.notification_url is None


@pytest.mark.parametrize(
    ("currency", "amount", "shown"),
    [("392", "9210", "9210 JPY"), ("048", "9210", "9.210 BHD"), ("978", "5", "0.05 EUR")],
)
async def test_amounts_are_shown_as_the_currency_counts(
    directory: SimulatedDirectoryServer, database: Database, currency: str, amount: str, shown: str
) -> None:
    answer = await ask(directory, {"purchaseCurrency": currency, "purchaseAmount": amount})
    found = await find_challenge(database, KEYRING, answer["acsURL"].rpartition("/")[2])

    assert found is not None
    assert found.challenge.render_amount() == shown


@pytest.mark.parametrize("code", ENDINGS)
async def test_every_ending_is_the_code_by_which_it_is_called(
    directory: SimulatedDirectoryServer, database: Database, code: str
) -> None:
    answer = await ask(directory, {"acctNumber": "5212345678901234"})
    found = await find_challenge(database, KEYRING, answer["acsURL"].rpartition("/")[2])
    assert found is not None
    case = AuthenticationCase(
        server_id=SERVER_ID, ds_id=answer["dsTransID"], acs_id=answer["acsTransID"], flow="challenge"
    )
    result = exchanges.read_result(make_result(found.challenge, ENDINGS[code]), case)
    browser_answer = messages.unwrap(make_browser_answer(found.challenge, ENDINGS[code]), messages.CRes)

    assert result is not None
    assert browser_answer is not None
    judged = refusals.find_authentication_refusal(
        AuthenticationCase(server_id=SERVER_ID, flow="challenge", result=result)
    )
    assert (judged or "000.000.000") == code
    assert code in RESULTS
    assert result.eci == ("02" if code == "000.000.000" else "00")
    assert browser_answer.trans_status == ("Y" if code == "000.000.000" else "N")
