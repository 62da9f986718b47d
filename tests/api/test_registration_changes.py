"""A registration in later life: changed, confirmed, extended, removed; and what is left of it then."""

from __future__ import annotations

from datetime import date

import pytest

from api.chains import APPROVED, FAULTY, result_of
from api.recording import RecordingAcquirer
from api.registration_requests import (
    BANK,
    FORCE,
    PATH,
    TOKEN,
    VIRTUAL,
    change,
    extend,
    get_registration,
    list_topics,
    pay_with,
    read,
    register,
    remove,
)
from gateway import CARD, Client, GatewayProcess
from tollgate.payments.registration import RegistrationState

pytestmark = pytest.mark.both_databases

PERSON = {
    "customer.givenName": "Jane",
    "customer.surname": "Jones",
    "customer.email": "jane@example.org",
    "billing.street1": "1 Main Street",
}


# ---- changing ----


@pytest.mark.parametrize("payment_type", [None, "RR"])
def test_an_update_changes_what_was_sent_and_keeps_the_rest(
    gateway: GatewayProcess, client: Client, payment_type: str | None
) -> None:
    registration_id = register(client, {**CARD, **PERSON, "merchantTransactionId": "changed-0001"})

    answer = change(
        client,
        registration_id,
        {
            "paymentType": payment_type,
            "card.holder": "Jane Smith",
            "card.expiryYear": "2036",
            "customer.surname": "Smith",
            "shipping.city": "Paris",
            "customParameters[branch_id]": "8",
        },
    )

    assert result_of(answer) == APPROVED
    body = answer.json
    assert (body["id"], body["merchantTransactionId"]) == (registration_id, "changed-0001")
    assert (body["card"]["holder"], body["card"]["expiryMonth"], body["card"]["expiryYear"]) == (
        "Jane Smith",
        "05",
        "2036",
    )
    assert body["customer"] == {"givenName": "Jane", "surname": "Smith", "email": "jane@example.org"}
    assert body["shipping"] == {"city": "Paris"}
    received_again = read(client, registration_id).json
    assert {name: received_again[name] for name in body if name not in ("timestamp", "ndc")} == {
        name: text for name, text in body.items() if name not in ("timestamp", "ndc")
    }
    assert list_topics(gateway, client, registration_id) == ["registration.created", "registration.updated"]


def test_what_is_charged_is_what_was_changed(external: Client, acquirer: RecordingAcquirer) -> None:
    registration_id = register(external)

    change(external, registration_id, {"card.holder": "Jane Smith", "card.expiryMonth": "11"})
    paid = pay_with(external, registration_id, {"testMode": "EXTERNAL", "card.cvv": "123"})

    assert paid.code == "000.100.112"
    card = acquirer.last_charge["card"]
    assert (card["holder"], card["expiry"], card["number"]) == ("Jane Smith", "2034-11", CARD["card.number"])


def test_a_mandate_is_changed_and_debited_under_its_new_name(client: Client) -> None:
    registration_id = register(client, BANK)

    answer = change(
        client,
        registration_id,
        {
            "bankAccount.holder": "Jane Smith",
            "bankAccount.bankName": "Bank",
            "bankAccount.mandate.id": "M-TWO",
            "bankAccount.mandate.dateOfSignature": "2026-02-28",
        },
    )
    paid = pay_with(client, registration_id)

    assert answer.json["bankAccount"]["holder"] == "Jane Smith"
    assert answer.json["bankAccount"]["mandate"] == {"id": "M-TWO", "dateOfSignature": "2026-02-28"}
    assert result_of(paid) == APPROVED
    assert paid.json["resultDetails"]["MandateId"] == "M-TWO"
    assert paid.json["bankAccount"]["holder"] == "Jane Smith"


def test_a_tokens_expiry_is_changed(client: Client) -> None:
    answer = change(client, register(client, TOKEN), {"tokenAccount.expiryYear": "2035"})

    assert result_of(answer) == APPROVED
    assert answer.json["tokenAccount"]["expiryYear"] == "2035"


@pytest.mark.parametrize(
    ("stored", "sent"),
    [
        (CARD, {"card.number": "4111111111111111"}),
        (BANK, {"bankAccount.iban": "DE02120300000000202051"}),
        (BANK, {"bankAccount.number": "0532013000"}),
        (BANK, {"bankAccount.bic": "DEUTDEFF"}),
        (VIRTUAL, {"virtualAccount.accountId": "john@example.org"}),
        (TOKEN, {"tokenAccount.number": "4895370012003478"}),
        (CARD, {"walletA.paymentToken": "x"}),
    ],
)
def test_the_account_itself_cannot_be_changed(client: Client, stored: dict[str, str], sent: dict[str, str]) -> None:
    registration_id = register(client, stored)
    before = read(client, registration_id).body

    answer = change(client, registration_id, sent)

    assert result_of(answer) == FAULTY
    assert answer.faults == dict.fromkeys(sent, "cannot be changed: register the other account instead")
    assert [secret for secret in sent.values() if len(secret) > 4 and secret.encode() in answer.body] == []
    assert read(client, registration_id).body == before


@pytest.mark.parametrize(
    ("stored", "sent", "expected", "faults"),
    [
        (CARD, {"bankAccount.holder": "Jane Smith"}, FAULTY, ["bankAccount.holder"]),
        (BANK, {"card.holder": "Jane Smith"}, FAULTY, ["card.holder"]),
        (VIRTUAL, {"card.holder": "Jane Smith"}, FAULTY, ["card.holder"]),
        (CARD, {"card.expiryMonth": "13"}, FAULTY, ["card.expiryMonth"]),
        (CARD, {"paymentBrand": "MASTER"}, FAULTY, ["paymentBrand"]),
        (CARD, {"paymentType": "RG"}, FAULTY, ["paymentType"]),
        (CARD, {"card.expiryYear": "2020"}, (400, "100.100.303"), []),
        (TOKEN, {"tokenAccount.expiryYear": "2020"}, (400, "800.100.330"), []),
    ],
)
def test_an_update_that_makes_no_sense_changes_nothing(
    client: Client, stored: dict[str, str], sent: dict[str, str], expected: tuple[int, str], faults: list[str]
) -> None:
    registration_id = register(client, stored)
    before = read(client, registration_id).body

    answer = change(client, registration_id, {**sent, "billing.city": "Rome"})

    assert result_of(answer) == expected
    assert list(answer.faults) == faults
    assert read(client, registration_id).body == before


def test_an_update_may_be_of_any_part_of_a_customer(client: Client) -> None:
    """Stored parts need not be sent again, also on a strict channel."""
    registration_id = register(client, {**CARD, **PERSON})

    assert change(client, registration_id, {"customer.phone": "+49 301234"}).json["customer"]["givenName"] == "Jane"


def test_a_key_replays_an_update_and_makes_it_once(gateway: GatewayProcess, client: Client) -> None:
    registration_id = register(client)
    key = {"Idempotency-Key": f"update-{registration_id}"}

    first = change(client, registration_id, {"card.holder": "Jane Smith"}, key)
    second = change(client, registration_id, {"card.holder": "Jane Smith"}, key)

    assert (second.status, second.body) == (first.status, first.body)
    assert second.headers["idempotency-replayed"] == "true"
    assert list_topics(gateway, client, registration_id) == ["registration.created", "registration.updated"]


# ---- confirming ----


def test_what_waits_is_confirmed_once(gateway: GatewayProcess, client: Client) -> None:
    registration_id = register(client, {**CARD, FORCE: "000.200.000"})

    answer = change(client, registration_id, {"paymentType": "CF"})

    assert result_of(answer) == APPROVED
    assert result_of(read(client, registration_id)) == APPROVED
    assert result_of(pay_with(client, registration_id)) == APPROVED
    assert result_of(change(client, registration_id, {"paymentType": "CF"})) == (400, "100.350.302")
    assert list_topics(gateway, client, registration_id) == ["registration.created"]


# ---- extending ----


@pytest.mark.parametrize(
    ("fields", "is_longer"), [({**CARD, "card.expiryYear": "2027"}, True), (CARD, False), (BANK, True)]
)
def test_an_extension_says_until_when_and_never_shortens(
    gateway: GatewayProcess, client: Client, fields: dict[str, str], is_longer: bool
) -> None:
    registration_id = register(client, fields)
    before = get_registration(gateway, client, registration_id)[0].keep_until

    answer = extend(client, registration_id)

    after = get_registration(gateway, client, registration_id)[0].keep_until
    assert result_of(answer) == APPROVED
    assert (after > before) is is_longer
    assert date.fromisoformat(answer.json["keptUntil"]).toordinal() - date(1970, 1, 1).toordinal() == (
        after // 86_400_000_000
    )
    assert result_of(pay_with(client, registration_id)) == APPROVED
    assert list_topics(gateway, client, registration_id) == ["registration.created"]


# ---- removing ----


@pytest.mark.parametrize("fields", [CARD, BANK, VIRTUAL, TOKEN], ids=["card", "bank", "virtual", "token"])
def test_removing_wipes_the_account_and_leaves_a_trace(
    gateway: GatewayProcess, client: Client, fields: dict[str, str]
) -> None:
    registration_id = register(client, {**fields, **PERSON})

    answer = remove(client, registration_id)

    assert result_of(answer) == APPROVED
    assert list(answer.json) == ["id", "result", "buildNumber", "timestamp", "ndc"]
    assert answer.json["id"] == registration_id
    row, sealed_account, sealed_token = get_registration(gateway, client, registration_id)
    assert (row.state, sealed_account, sealed_token) == (RegistrationState.DELETED, None, None)
    assert (row.fingerprint, row.echo, row.brand) == (None, {}, fields["paymentBrand"])
    if fields is CARD:
        assert row.card is not None
        assert (row.card.bin, row.card.last_digits, row.card.holder) == ("420000", "0000", None)
    assert list_topics(gateway, client, registration_id) == ["registration.created", "registration.deleted"]


@pytest.mark.parametrize(
    ("query", "headers", "body", "code"),
    [
        ({"testMode": "EXTERNAL"}, {}, None, "000.100.112"),
        ({"testMode": "INTERNAL"}, {}, None, "000.100.110"),
        ({"paymentType": "DR"}, {}, None, "000.100.110"),
        ({}, {}, "testMode=EXTERNAL", "000.100.112"),
        ({}, {"Content-Type": "application/json"}, "{}", "000.100.110"),
        ({}, {"Content-Type": "application/json"}, None, "000.100.110"),
        ({}, {"Content-Type": "text/plain; charset=latin-1"}, "testMode=INTERNAL", "000.100.110"),
    ],
)
def test_removing_is_asked_for_in_many_ways_and_succeeds_in_the_words_of_its_mode(
    client: Client, query: dict[str, str], headers: dict[str, str], body: str | None, code: str
) -> None:
    assert result_of(remove(client, register(client), query, headers, body)) == (200, code)


def test_removing_under_another_type_removes_nothing(client: Client) -> None:
    registration_id = register(client)

    assert result_of(remove(client, registration_id, {"paymentType": "RF"})) == FAULTY
    assert result_of(read(client, registration_id)) == APPROVED


def test_a_key_replays_a_removal(client: Client) -> None:
    registration_id = register(client)
    key = {"Idempotency-Key": f"remove-{registration_id}"}

    first, second = (remove(client, registration_id, headers=key) for _ in range(2))

    assert (second.status, second.body) == (first.status, first.body)
    assert result_of(remove(client, registration_id)) == (400, "100.150.202")


def test_removing_needs_an_entity(client: Client) -> None:
    registration_id = register(client)

    answer = client.send("DELETE", f"{PATH}/{registration_id}", None, client.authorized())

    assert result_of(answer) == FAULTY
    assert result_of(read(client, registration_id)) == APPROVED


def test_what_was_paid_before_is_refunded_after_its_registration_is_gone(client: Client) -> None:
    registration_id = register(client)
    paid = pay_with(client, registration_id).json["id"]
    remove(client, registration_id)

    answer = client.post(f"/v1/payments/{paid}", {"paymentType": "RF", "amount": "12.00", "currency": "EUR"})

    assert result_of(answer) == APPROVED
