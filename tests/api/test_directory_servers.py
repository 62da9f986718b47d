"""3-D Secure with an external directory server over HTTP: requests, answers, and who may send results."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from api.chains import APPROVED_EXTERNAL, advance, result_of
from api.challenges import BROWSER, open_order, order, read_code, read_return
from api.merchants import add_channel, wait_until
from api.recording import RecordingAcquirer
from api.server import SharedServer
from api.windows import Window
from directory_server import PROOF, Case, DirectoryServer, Manner
from gateway import Answer, Client
from ports import find_free_port

NUMBER = "4539578763621486"
EXTERNAL = {"testMode": "EXTERNAL"}
DECOUPLED = {"threeDSecure.decoupled": "true", **EXTERNAL}


@pytest.fixture(scope="module")
def directory() -> Iterator[DirectoryServer]:
    with DirectoryServer() as directory:
        yield directory


@pytest.fixture(scope="module")
def shop(server: SharedServer, directory: DirectoryServer) -> Client:
    """A channel with an acquirer and a directory server of its own."""
    return add_channel(
        server.gateway,
        server.client,
        "Authenticated",
        *("--test-url", server.acquirer.url, "--three-ds-test-url", directory.url),
        *("--acquirer-bin", "412345", "--acquirer-merchant-id", "M-77"),
    )


@pytest.fixture(autouse=True)
def _frictionless_again(directory: DirectoryServer) -> Iterator[None]:
    yield
    directory.manner = Manner.FRICTIONLESS
    directory.ranges = None


def open_challenge(shop: Client, directory: DirectoryServer, **changes: str | None) -> tuple[Answer, Case]:
    directory.manner = Manner.CHALLENGE
    answer = open_order(shop, NUMBER, **EXTERNAL, **changes)
    return answer, directory.last_case


def read_challenge_form(shop: Client, answer: Answer) -> dict[str, str]:
    """Reads the form that the shopper's browser posts to the issuer."""
    page = Window(shop).visit(answer.json["redirect"]["url"])
    form = page.find_form("data-forward")
    assert form is not None
    return form.fields


def count_charges(acquirer: RecordingAcquirer, payment_id: str) -> int:
    return sum(path == "/v1/charges" and message["key"] == payment_id for path, _, message in acquirer.received)


def test_the_directory_server_receives_the_merchant_and_the_acquirer_the_proof(
    shop: Client, directory: DirectoryServer, acquirer: RecordingAcquirer
) -> None:
    answer = order(shop, NUMBER, **EXTERNAL)
    asked = directory.last_case.request

    assert result_of(answer) == APPROVED_EXTERNAL
    assert (asked["acctNumber"], asked["acquirerBIN"], asked["acquirerMerchantID"]) == (NUMBER, "412345", "M-77")
    assert (asked["purchaseAmount"], asked["purchaseCurrency"]) == ("9200", "978")
    assert asked["browserUserAgent"] == BROWSER["customer.browser.userAgent"]
    # As a value by itself: a time or an id may contain the same digits.
    assert "731" not in {str(value) for value in asked.values()}
    assert acquirer.last_charge["details"]["authentication"] == {
        "eci": "05",
        "verification_id": PROOF,
        "version": "2.2.0",
        "ds_transaction_id": directory.last_case.ds_id,
        "acs_transaction_id": directory.last_case.acs_id,
        "authentication_status": "Y",
    }


def test_results_of_an_authentication_made_elsewhere_go_to_the_acquirer_unchanged(
    shop: Client, directory: DirectoryServer, acquirer: RecordingAcquirer
) -> None:
    asked_before = len(directory.cases)
    results = {
        "threeDSecure.eci": "06",
        "threeDSecure.verificationId": "AAABBBBCCCCDDDDEEEEFFFFGGGG=",
        "threeDSecure.dsTransactionId": "c9a7d9f5-97a3-4b3e-a4a1-5b2e3c8f9d11",
        "threeDSecure.acsTransactionId": "11a7d9f5-97a3-4b3e-a4a1-5b2e3c8f9d11",
        "threeDSecure.version": "2.1.0",
        "threeDSecure.authenticationStatus": "A",
    }
    answer = order(shop, NUMBER, **EXTERNAL, **results)

    assert result_of(answer) == APPROVED_EXTERNAL
    assert len(directory.cases) == asked_before
    assert acquirer.last_charge["details"]["authentication"] == {
        "eci": "06",
        "verification_id": "AAABBBBCCCCDDDDEEEEFFFFGGGG=",
        "ds_transaction_id": "c9a7d9f5-97a3-4b3e-a4a1-5b2e3c8f9d11",
        "acs_transaction_id": "11a7d9f5-97a3-4b3e-a4a1-5b2e3c8f9d11",
        "version": "2.1.0",
        "authentication_status": "A",
    }


def test_a_challenge_at_an_issuer_elsewhere_is_walked_to_its_end(
    shop: Client, directory: DirectoryServer, acquirer: RecordingAcquirer
) -> None:
    answer, case = open_challenge(shop, directory)
    url, fields = directory.end_challenge(read_challenge_form(shop, answer)["creq"])
    assert count_charges(acquirer, answer.json["id"]) == 0, "the acquirer is asked when the shopper is back"

    assert read_return(Window(shop).walk(url, fields))["id"] == answer.json["id"]
    assert read_code(shop, answer) == "000.100.112"
    charge = acquirer.last_charge
    assert charge["card"]["cvv"] == "731"
    assert charge["details"]["authentication"]["ds_transaction_id"] == case.ds_id
    assert charge["details"]["authentication"]["verification_id"] == PROOF


def test_a_lost_challenge_moves_no_money(shop: Client, directory: DirectoryServer, acquirer: RecordingAcquirer) -> None:
    answer, _ = open_challenge(shop, directory)
    url, fields = directory.end_challenge(read_challenge_form(shop, answer)["creq"], "N")
    # The browser lies, and is ignored.
    lie = {"cres": directory.last_case.make_browser_answer("Y")}
    Window(shop).walk(url, fields | lie)

    assert read_code(shop, answer) == "100.380.401"
    assert count_charges(acquirer, answer.json["id"]) == 0


@pytest.mark.both_databases
def test_tabs_that_come_back_at_once_are_charged_once(
    shop: Client, directory: DirectoryServer, acquirer: RecordingAcquirer
) -> None:
    for _ in range(3):
        answer, _ = open_challenge(shop, directory)
        url, fields = directory.end_challenge(read_challenge_form(shop, answer)["creq"])
        with ThreadPoolExecutor(6) as pool:
            ends = list(pool.map(lambda _: Window(shop).walk(url, fields), range(6)))  # noqa: B023, it is over by then

        assert {read_return(end)["id"] for end in ends} == {answer.json["id"]}
        assert read_code(shop, answer) == "000.100.112"
        assert count_charges(acquirer, answer.json["id"]) == 1


@pytest.mark.both_databases
def test_a_result_is_acknowledged_once(shop: Client, directory: DirectoryServer) -> None:
    _, case = open_challenge(shop, directory)
    first = directory.deliver(case, case.make_result("N"))
    second = directory.deliver(case, case.make_result("Y"))

    assert (first["messageType"], first["resultsStatus"]) == ("RRes", "01")
    assert (second["messageType"], second["errorCode"]) == ("Erro", "305")


OTHER = "00000000-0000-4000-8000-00000000000f"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"dsTransID": OTHER}, "301"),
        ({"acsTransID": OTHER}, "301"),
        ({"threeDSServerTransID": OTHER}, "301"),
        ({"transStatus": "C"}, "305"),
        ({"authenticationValue": None}, "305"),
        ({"messageType": "CRes"}, "203"),
    ],
)
def test_a_result_with_anything_wrong_about_it_is_refused(
    shop: Client, directory: DirectoryServer, changes: dict[str, Any], error: str
) -> None:
    answer, case = open_challenge(shop, directory)
    refused = directory.deliver(case, case.make_result(**changes))
    Window(shop).walk(case.request["notificationURL"], {"cres": case.make_browser_answer()})

    assert (refused["messageType"], refused["errorCode"], refused["httpStatus"]) == ("Erro", error, 200)
    assert read_code(shop, answer) == "100.390.112"


def test_who_does_not_know_the_address_of_a_result_cannot_send_one(shop: Client, directory: DirectoryServer) -> None:
    """Even with every id right: those are known to the merchant, and the shopper's address to the shopper."""
    answer, case = open_challenge(shop, directory)
    shopper_token = answer.json["redirect"]["url"].rpartition("/")[2]
    _, other = open_challenge(shop, directory)
    for guess in (shopper_token, shopper_token[:43], other.request["threeDSServerURL"].rpartition("/")[2], "x"):
        url = f"{shop.base_url}/v1/threeDSecure/results/{guess}"
        assert directory.deliver(case, case.make_result(), url)["messageType"] == "Erro"

    assert directory.deliver(case, case.make_result())["messageType"] == "RRes"


@pytest.mark.parametrize("body", [b"", b"\xff", b"{}", b"[1]", b"{" * 10_000])
def test_bytes_that_are_no_result_are_refused_in_the_words_of_the_protocol(
    shop: Client, directory: DirectoryServer, body: bytes
) -> None:
    _, case = open_challenge(shop, directory)

    assert directory.deliver(case, body)["errorCode"] == "203"


def test_a_result_that_comes_too_late_counts_for_nothing(shop: Client, directory: DirectoryServer) -> None:
    answer, case = open_challenge(shop, directory)
    advance(shop, 16 * 60)

    assert directory.deliver(case, case.make_result())["messageType"] == "Erro"
    wait_until(lambda: read_code(shop, answer) == "100.396.103")


@pytest.mark.both_databases
def test_a_decoupled_authentication_goes_on_when_its_result_comes(
    shop: Client, directory: DirectoryServer, acquirer: RecordingAcquirer
) -> None:
    directory.manner = Manner.DECOUPLED
    answer = open_order(shop, NUMBER, **DECOUPLED)
    case = directory.last_case

    assert case.request["threeDSRequestorDecReqInd"] == "Y"
    assert directory.deliver(case, case.make_result())["messageType"] == "RRes"
    assert read_code(shop, answer) == "000.100.112"
    assert count_charges(acquirer, answer.json["id"]) == 1


@pytest.mark.parametrize(
    ("manner", "code"),
    [
        (Manner.ERROR, "100.390.116"),
        (Manner.GARBAGE, "100.390.115"),
        (Manner.HALF, "100.390.115"),
        (Manner.OTHER_ID, "100.390.115"),
        (Manner.NO_PROOF, "100.390.115"),
    ],
)
def test_an_answer_that_is_none_moves_no_money(
    shop: Client, directory: DirectoryServer, acquirer: RecordingAcquirer, manner: Manner, code: str
) -> None:
    directory.manner = manner
    answer = order(shop, NUMBER, **EXTERNAL)

    assert result_of(answer) == (400, code)
    assert count_charges(acquirer, answer.json["id"]) == 0


def test_nobody_is_redirected_who_did_not_request_it(shop: Client, directory: DirectoryServer) -> None:
    directory.manner = Manner.DECOUPLED

    assert result_of(order(shop, NUMBER, **EXTERNAL)) == (400, "100.390.115")


def test_a_directory_that_hangs_up_has_not_answered(shop: Client, directory: DirectoryServer) -> None:
    directory.manner = Manner.DROP

    assert result_of(order(shop, NUMBER, **EXTERNAL)) == (400, "100.390.111")


def test_a_directory_that_cannot_be_reached_moves_no_money(server: SharedServer, acquirer: RecordingAcquirer) -> None:
    nowhere = f"http://127.0.0.1:{find_free_port()}"
    flags = ("--test-url", acquirer.url, "--three-ds-test-url", nowhere)
    shop = add_channel(server.gateway, server.client, "Unreachable", *flags)
    answer = order(shop, NUMBER, **EXTERNAL)

    assert result_of(answer) == (400, "100.390.111")
    assert count_charges(acquirer, answer.json["id"]) == 0


def test_cards_outside_of_its_ranges_are_paid_without(shop: Client, directory: DirectoryServer) -> None:
    asked_before = len(directory.cases)
    answer = order(shop, "5425233430109903", brand="MASTER", **EXTERNAL)

    assert result_of(answer) == APPROVED_EXTERNAL
    assert len(directory.cases) == asked_before


def test_ranges_are_asked_for_once(shop: Client, directory: DirectoryServer) -> None:
    order(shop, NUMBER, **EXTERNAL)
    asked_before = directory.range_questions
    order(shop, NUMBER, **EXTERNAL)

    assert directory.range_questions == asked_before


def test_a_directory_that_knows_no_ranges_is_asked_about_the_card(
    server: SharedServer, acquirer: RecordingAcquirer
) -> None:
    with DirectoryServer() as directory:
        directory.ranges = b'{"messageType":"Erro","errorCode":"305"}'
        flags = ("--test-url", acquirer.url, "--three-ds-test-url", directory.url)
        shop = add_channel(server.gateway, server.client, "No ranges", *flags)

        assert result_of(order(shop, NUMBER, **EXTERNAL)) == APPROVED_EXTERNAL
        assert [case.request["acctNumber"] for case in directory.cases] == [NUMBER]


def test_a_channel_that_insists_refuses_cards_that_cannot_be_authenticated(
    server: SharedServer, directory: DirectoryServer, acquirer: RecordingAcquirer
) -> None:
    flags = ("--test-url", acquirer.url, "--three-ds-test-url", directory.url, "--require-3ds")
    shop = add_channel(server.gateway, server.client, "Insisting", *flags)

    assert result_of(order(shop, "5425233430109903", brand="MASTER", **EXTERNAL)) == (400, "300.100.100")
    assert result_of(order(shop, NUMBER, **EXTERNAL, shopperResultUrl=None)) == (400, "300.100.100")
    assert result_of(order(shop, NUMBER, **EXTERNAL)) == APPROVED_EXTERNAL
