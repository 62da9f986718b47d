"""Tokens that stand for cards, numbers made for one device, and proofs from elsewhere: what the acquirer receives of
them, what the merchant sees again, and that nothing of them is left at rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from api.merchants import add_channel
from api.recording import RecordingAcquirer
from api.traces import Traces, collect, spell_number
from gateway import CARD, Answer, Client, GatewayProcess
from postgres import PostgresCluster

NUMBER = "4895370012003478"
CRYPTOGRAM = "Ak9mZ0RlYWRCZWVmQ2FmZTAxMjM="
DTVC = "8642"
TOKEN = {
    "tokenAccount.number": NUMBER,
    "tokenAccount.type": "NETWORK",
    "tokenAccount.expiryMonth": "07",
    "tokenAccount.expiryYear": "2033",
}
PROVEN = {
    "threeDSecure.eci": "05",
    "threeDSecure.verificationId": "AAABBBCCCDDDEEEFFF0001112223=",
    "threeDSecure.version": "2.2.0",
    "threeDSecure.dsTransactionId": "d5000000-0000-4000-8000-00000000abcd",
    "threeDSecure.acsTransactionId": "ac500000-0000-4000-8000-00000000abcd",
    "threeDSecure.authenticationStatus": "Y",
}
_NO_CARD = dict.fromkeys(CARD)


def pay(external: Client, fields: Mapping[str, str | None], **changes: str) -> Answer:
    return external.pay(None, testMode="EXTERNAL", **{**_NO_CARD, **fields, **changes})


# ---- tokens ----


@pytest.mark.parametrize("kind", ["NETWORK", "EXTERNAL"])
@pytest.mark.parametrize("payment_type", ["DB", "PA"])
def test_the_acquirer_receives_the_token_with_all_that_proves_it(
    external: Client, acquirer: RecordingAcquirer, kind: str, payment_type: str
) -> None:
    once = {"tokenAccount.cryptogram": CRYPTOGRAM, "tokenAccount.dtvc": DTVC}

    answer = pay(external, {**TOKEN, **once, "tokenAccount.type": kind}, paymentType=payment_type)

    assert (answer.status, answer.code) == (200, "000.100.112")
    charge = acquirer.last_charge
    assert charge["token"] == {
        "number": NUMBER,
        "type": kind,
        "expiry": "2033-07",
        "cryptogram": CRYPTOGRAM,
        "dtvc": DTVC,
    }
    assert "card" not in charge
    assert (charge["key"], charge["brand"]) == (answer.json["id"], "VISA")


def test_a_bare_token_is_received_as_bare_as_it_was_sent(external: Client, acquirer: RecordingAcquirer) -> None:
    pay(external, {"tokenAccount.number": "123456789012", "tokenAccount.type": "EXTERNAL"}, paymentBrand="MASTER")

    assert acquirer.last_charge["token"] == {"number": "123456789012", "type": "EXTERNAL"}
    assert acquirer.last_charge["brand"] == "MASTER"


def test_the_merchant_sees_the_ends_of_its_token_and_nothing_that_counts_once(external: Client) -> None:
    answer = pay(external, {**TOKEN, "tokenAccount.cryptogram": CRYPTOGRAM, "tokenAccount.dtvc": DTVC})

    read = external.get(f"/v1/payments/{answer.json['id']}").json
    for body in (answer.json, read):
        assert body["tokenAccount"] == {
            "number": "4895********3478",
            "type": "NETWORK",
            "expiryMonth": "07",
            "expiryYear": "2033",
        }
        assert "card" not in body
    assert CRYPTOGRAM.encode() not in answer.body


def test_a_channel_that_insists_on_the_cvv_asks_no_token_for_one(external: Client) -> None:
    assert pay(external, TOKEN).code == "000.100.112"
    assert external.pay(None, testMode="EXTERNAL", card__cvv=None).code == "100.100.600"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"tokenAccount.number": "4895370012003479"}, "100.100.101"),
        ({"tokenAccount.expiryYear": "2020"}, "800.100.330"),
    ],
)
def test_a_bad_token_is_declined_and_reaches_nobody(
    external: Client, acquirer: RecordingAcquirer, changes: dict[str, str], code: str
) -> None:
    before = len(acquirer.received)

    answer = pay(external, {**TOKEN, **changes})

    assert (answer.status, answer.code) == (400, code)
    assert len(acquirer.received) == before


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"tokenAccount.type": None}, "tokenAccount.type"),
        ({"tokenAccount.number": None}, "tokenAccount.number"),
        ({"tokenAccount.type": "OTHER"}, "tokenAccount.type"),
        ({"tokenAccount.number": "48953700"}, "tokenAccount.number"),
        ({"tokenAccount.cryptogram": "short"}, "tokenAccount.cryptogram"),
        ({"tokenAccount.dtvc": "12"}, "tokenAccount.dtvc"),
        ({"tokenAccount.expiryMonth": "13"}, "tokenAccount.expiryMonth"),
    ],
)
def test_what_is_wrong_with_a_token_is_named_and_not_repeated(
    external: Client, changes: dict[str, str | None], fault: str
) -> None:
    answer = pay(external, {**TOKEN, "paymentBrand": "VISA", **changes})

    assert (answer.status, answer.code) == (400, "200.300.404")
    assert fault in answer.faults
    [repeated] = [each["value"] for each in answer.json["result"]["parameterErrors"] if each["name"] == fault]
    is_open = fault in ("tokenAccount.type", "tokenAccount.expiryMonth")
    assert repeated is None or is_open or repeated != changes[fault]


def test_a_token_beside_a_bank_account_does_not_stand_for_it(client: Client) -> None:
    """The bank account is debited; a bank has no use for the token."""
    bank = {
        "paymentBrand": "DIRECTDEBIT_SEPA",
        "bankAccount.holder": "Jane Jones",
        "bankAccount.iban": "DE89370400440532013000",
        "bankAccount.bic": "COBADEFFXXX",
    }

    answer = client.pay(None, **{**_NO_CARD, **TOKEN, **bank})

    assert answer.status < 500
    assert answer.code == client.pay(None, **{**_NO_CARD, **bank}).code


def test_on_the_test_host_a_token_is_paid_and_followed_like_a_card(client: Client) -> None:
    paid = client.pay(None, **{**_NO_CARD, **TOKEN, "paymentType": "PA"})
    captured = client.post(
        f"/v1/payments/{paid.json['id']}", {"paymentType": "CP", "amount": "92.00", "currency": "EUR"}
    )

    assert (paid.code, captured.code) == ("000.100.110", "000.100.110")


# ---- a number made for one device, and proofs from elsewhere ----


@pytest.mark.parametrize("number_type", ["DPAN", "PAN"])
def test_the_acquirer_learns_of_a_number_made_for_one_device(
    external: Client, acquirer: RecordingAcquirer, number_type: str
) -> None:
    answer = external.pay(None, testMode="EXTERNAL", **{"card.numberType": number_type})

    assert answer.code == "000.100.112"
    card = acquirer.last_charge["card"]
    assert card.get("number_type", "PAN") == number_type
    assert card["number"] == CARD["card.number"]


@pytest.mark.parametrize("account", [CARD, {**_NO_CARD, **TOKEN}], ids=["card", "token"])
def test_what_was_proven_elsewhere_reaches_the_acquirer_unchanged(
    external: Client, acquirer: RecordingAcquirer, account: dict[str, Any]
) -> None:
    before = len(acquirer.received)

    answer = pay(external, {**account, **PROVEN, "shopperResultUrl": "https://shop.example/back"})

    assert answer.code == "000.100.112"
    assert "redirect" not in answer.json
    assert len(acquirer.received) == before + 1
    assert acquirer.last_charge["details"]["authentication"] == {
        "eci": "05",
        "verification_id": "AAABBBCCCDDDEEEFFF0001112223=",
        "version": "2.2.0",
        "ds_transaction_id": "d5000000-0000-4000-8000-00000000abcd",
        "acs_transaction_id": "ac500000-0000-4000-8000-00000000abcd",
        "authentication_status": "Y",
    }
    assert answer.json["threeDSecure"]["eci"] == "05"


# ---- nothing of it at rest ----


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def left(
    request: pytest.FixtureRequest, acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Traces]:
    """All bytes that payments with tokens leave behind, those that failed among them."""
    folder = tmp_path_factory.mktemp("tokens")
    if request.param == "sqlite":
        with GatewayProcess(folder, environment={"TOLLGATE_LOG_LEVEL": "debug"}) as gateway:
            yield pay_and_look(gateway, acquirer, [folder])
        return
    with (
        PostgresCluster() as cluster,
        GatewayProcess(folder, cluster.create_database(), environment={"TOLLGATE_LOG_LEVEL": "debug"}) as gateway,
    ):
        yield pay_and_look(gateway, acquirer, [folder, cluster.folder], cluster)


def pay_and_look(
    gateway: GatewayProcess, acquirer: RecordingAcquirer, folders: list[Path], cluster: PostgresCluster | None = None
) -> Traces:
    client = gateway.client()
    external = add_channel(gateway, client, "External", "--test-url", acquirer.url)
    once = {"tokenAccount.cryptogram": CRYPTOGRAM, "tokenAccount.dtvc": DTVC, "merchantTransactionId": "token-at-rest"}
    attempts: list[dict[str, str]] = [
        {},
        {"tokenAccount.type": "EXTERNAL"},
        {"tokenAccount.expiryYear": "2020"},
        {"tokenAccount.dtvc": "x" + DTVC},
        {"tokenAccount.cryptogram": CRYPTOGRAM * 2},
        {"amount": "none"},
        {"customParameters[simulatorFault]": "lost"},
        {"customParameters[forceResultCode]": "000.200.000"},
    ]
    for place, attempt in enumerate(attempts):
        fields = {**_NO_CARD, **TOKEN, **once, **attempt}
        client.pay({"Idempotency-Key": f"token-{place}"}, **fields)
        external.pay(None, testMode="EXTERNAL", **fields)
    if cluster is not None:
        cluster.run_sql("CHECKPOINT")
    return collect(folders, without="keys.json")


@pytest.mark.both_databases
def test_the_search_finds_what_may_be_there(left: Traces) -> None:
    assert left.find(b"token-at-rest")
    assert left.find(f"{NUMBER[:4]}********{NUMBER[-4:]}".encode())


@pytest.mark.both_databases
def test_no_token_is_at_rest_in_any_spelling(left: Traces) -> None:
    found = {needle: left.find(needle) for needle in spell_number(NUMBER)}

    assert {needle: files for needle, files in found.items() if files} == {}


@pytest.mark.both_databases
def test_nothing_that_counts_once_is_at_rest(left: Traces) -> None:
    assert left.find(CRYPTOGRAM.rstrip("=").encode()) == []
    assert left.search(re.compile(rb"(?i)dtvc[^0-9a-z]{0,12}x?8642")) == []
    assert left.search(re.compile(rb"(?i)cryptogram[^a-z]{1,4}Ak9m")) == []
