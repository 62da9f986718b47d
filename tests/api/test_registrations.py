"""Accounts stored without a payment: what is taken, what is answered, what is refused, and what a key replays."""

from __future__ import annotations

import pytest

from api.chains import APPROVED, APPROVED_EXTERNAL, FAULTY, PENDING, result_of
from api.merchants import add_channel, run_command
from api.registration_requests import (
    BANK,
    FORCE,
    IBAN,
    PATH,
    TOKEN,
    VIRTUAL,
    get_registration,
    list_topics,
    pay_with,
    read,
    register,
    remove,
    store,
)
from gateway import CARD, Answer, Client, GatewayProcess
from tollgate.payments.registration import RegistrationState
from tollgate.values import Money

PERSON = {
    "customer.givenName": "Jane",
    "customer.surname": "Jones",
    "billing.city": "London",
    "billing.country": "GB",
    "customParameters[branch_id]": "7",
    "merchantTransactionId": "stored-0001",
}
CARD_SUMMARY = {
    "bin": "420000",
    "last4Digits": "0000",
    "holder": "Jane Jones",
    "expiryMonth": "05",
    "expiryYear": "2034",
}


# ---- what is answered ----


def test_a_registered_card_is_answered_by_its_summary_in_the_order_that_clients_recorded(client: Client) -> None:
    answer = store(client, {**CARD, **PERSON})

    assert result_of(answer) == APPROVED
    body = answer.json
    assert list(body) == [
        "id",
        "paymentBrand",
        "merchantTransactionId",
        "result",
        "card",
        "customer",
        "billing",
        "customParameters",
        "risk",
        "buildNumber",
        "timestamp",
        "ndc",
    ]
    assert body["card"] == CARD_SUMMARY
    assert body["customer"] == {"givenName": "Jane", "surname": "Jones"}
    assert body["customParameters"] == {"branch_id": "7"}
    assert read(client, body["id"]).body == answer.body


@pytest.mark.parametrize(
    ("fields", "word", "shown"),
    [
        (BANK, "bankAccount", {"holder": "Jane Jones", "bic": "COBADEFFXXX", "iban": f"DE89{'*' * 14}3000"}),
        (VIRTUAL, "virtualAccount", {"accountId": "jane@example.org"}),
        (
            TOKEN,
            "tokenAccount",
            {"number": "4895********3478", "type": "NETWORK", "expiryMonth": "07", "expiryYear": "2033"},
        ),
    ],
    ids=["bank", "virtual", "token"],
)
def test_other_accounts_are_answered_as_they_may_be_shown(
    client: Client, fields: dict[str, str], word: str, shown: dict[str, str]
) -> None:
    answer = store(client, fields)

    assert result_of(answer) == APPROVED
    assert answer.json["paymentBrand"] == fields["paymentBrand"]
    assert answer.json[word] == shown
    assert "card" not in answer.json
    assert read(client, answer.json["id"]).body == answer.body


@pytest.mark.parametrize("fields", [CARD, BANK, TOKEN], ids=["card", "bank", "token"])
def test_no_answer_has_a_number_or_a_security_code(client: Client, fields: dict[str, str]) -> None:
    answer = store(client, {**fields, "card.cvv": "907"} if fields is CARD else fields)
    paid = pay_with(client, answer.json["id"])

    assert result_of(paid) == APPROVED
    secrets = (CARD["card.number"], IBAN, TOKEN["tokenAccount.number"], '"907"')
    for body in (answer.body, paid.body, read(client, answer.json["id"]).body):
        assert [secret for secret in secrets if secret.encode() in body] == []


@pytest.mark.both_databases
@pytest.mark.parametrize("address", [PATH, "/v1/secureRegistrations", "/v1/payments"])
def test_a_registration_is_read_at_each_of_its_addresses(client: Client, address: str) -> None:
    answer = store(client)

    assert client.get(f"{address}/{answer.json['id']}").body == answer.body
    assert client.get(f"{address}/{answer.json['id']}", {"entityId": None}).body == answer.body


def test_reading_does_not_mind_what_a_client_says_of_a_body_it_does_not_send(client: Client) -> None:
    answer = store(client)

    seen = client.send(
        "GET", f"{PATH}/{answer.json['id']}", None, client.authorized({"Content-Type": "application/json"})
    )

    assert seen.body == answer.body


def test_the_mode_of_the_request_decides_about_the_words_of_its_success(client: Client) -> None:
    answer = store(client, testMode="EXTERNAL")

    assert result_of(answer) == APPROVED_EXTERNAL
    assert result_of(remove(client, answer.json["id"])) == APPROVED_EXTERNAL


def test_storing_is_announced_and_sends_nothing(gateway: GatewayProcess, client: Client) -> None:
    stored, refused = store(client), store(client, {**CARD, "card.expiryYear": "2020"})

    assert list_topics(gateway, client, stored.json["id"]) == ["registration.created"]
    assert list_topics(gateway, client, refused.json["id"]) == []


# ---- what may be sent ----


@pytest.mark.parametrize("payment_type", [None, "RG"])
def test_storing_names_its_own_type_or_none(client: Client, payment_type: str | None) -> None:
    assert result_of(store(client, {**CARD, "paymentType": payment_type})) == APPROVED


@pytest.mark.parametrize("payment_type", ["DB", "PA", "CF", "DR", "SD"])
def test_storing_under_another_type_is_a_fault(client: Client, payment_type: str) -> None:
    answer = store(client, paymentType=payment_type)

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == ["paymentType"]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, "paymentBrand"),
        ({"paymentBrand": "VISA"}, "paymentBrand"),
        ({"paymentBrand": "NO_SUCH_BRAND"}, "paymentBrand"),
        ({**CARD, "card.expiryMonth": None}, "card.expiryMonth"),
        ({**CARD, "card.number": "42000000 00000000"}, "card.number"),
        ({**BANK, "bankAccount.holder": None}, "bankAccount.holder"),
        ({**BANK, "bankAccount.iban": "DE89370400440532013001"}, "bankAccount.iban"),
        ({**TOKEN, "tokenAccount.type": None}, "tokenAccount.type"),
        ({**CARD, "customer.email": "jane@example.org"}, "customer.givenName"),
        ({**CARD, "recurringMigration.amount": "1.00"}, "recurringMigration.paymentType"),
        ({**CARD, FORCE: "000.000.001"}, FORCE),
    ],
)
def test_what_cannot_be_read_is_named(client: Client, fields: dict[str, str | None], fault: str) -> None:
    answer = store(client, fields)

    assert result_of(answer) == FAULTY
    assert fault in answer.faults
    assert "id" not in answer.json


def test_a_brand_need_not_be_sent_where_the_number_decides_it(client: Client) -> None:
    assert store(client, {**CARD, "paymentBrand": None}).json["paymentBrand"] == "VISA"


def test_a_lenient_channel_takes_what_public_clients_send(client: Client, lenient: Client) -> None:
    odd = {**CARD, "paymentBrand": "Visa_Card", "customer.email": "jane@example.org", "merchantTransactionId": "7"}

    assert result_of(store(lenient, odd)) == APPROVED
    assert result_of(store(client, odd)) == FAULTY


OPENED = {
    "walletA.source": "app",
    "threeDSecure.verificationId": "AAABBBCCCDDDEEEFFF0001112223=",
    "threeDSecure.eci": "05",
}


def test_a_wallet_is_stored_as_the_card_inside_of_it(gateway: GatewayProcess, client: Client) -> None:
    """Opened by the merchant; opened here; and a token that was used up stores nothing a second time."""
    token = run_command(gateway, "wallet-token", "--wallet", "googlePay", "--entity", client.entity_id)
    closed = {"paymentBrand": "GOOGLEPAY", "walletB.paymentToken": token}

    opened = store(client, {**CARD, **OPENED, "paymentBrand": "APPLEPAY"})
    ours = store(client, closed, {"Idempotency-Key": f"wallet-{opened.json['id']}"})
    again = store(client, closed, {"Idempotency-Key": f"wallet-{opened.json['id']}"})

    assert [result_of(opened), result_of(ours)] == [APPROVED, APPROVED]
    assert again.body == ours.body
    for answer in (opened, ours):
        assert answer.json["card"]["last4Digits"] == "0000"
        assert result_of(pay_with(client, answer.json["id"])) == APPROVED
        assert OPENED["threeDSecure.verificationId"] not in read(client, answer.json["id"]).body.decode()
    assert result_of(store(client, closed)) == (400, "800.110.100")


def test_a_wallets_token_that_does_not_open_stores_nothing(client: Client) -> None:
    answer = store(client, {"paymentBrand": "GOOGLEPAY", "walletB.paymentToken": "nonsense"})

    assert result_of(answer) == (400, "200.100.603")
    assert "card" not in answer.json


# ---- what is judged ----


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({**CARD, "card.number": "4200000000000001"}, "100.100.101"),
        ({**CARD, "paymentBrand": "MASTER"}, "100.100.700"),
        ({**CARD, "card.expiryYear": "2020"}, "100.100.303"),
        ({**CARD, "card.cvv": "1234"}, "100.100.601"),
        ({**TOKEN, "tokenAccount.number": "4895370012003479"}, "100.100.101"),
        ({**TOKEN, "tokenAccount.expiryYear": "2020"}, "800.100.330"),
        ({**BANK, "bankAccount.bic": "DEUTDEFF"}, "100.200.103"),
        ({"paymentBrand": "PAYPAL"}, "100.150.100"),
        ({"paymentBrand": "ENTERCASH", "bankAccount.country": "DE"}, "100.150.100"),
    ],
)
def test_a_bad_account_is_recorded_as_rejected_and_not_kept(
    gateway: GatewayProcess, client: Client, fields: dict[str, str], code: str
) -> None:
    answer = store(client, fields)

    assert result_of(answer) == (400, code)
    assert ("card" in answer.json) is ("card.number" in fields)
    assert read(client, answer.json["id"]).body == answer.body
    row, sealed, _ = get_registration(gateway, client, answer.json["id"])
    assert (row.state, row.fingerprint, sealed) == (RegistrationState.REJECTED, None, None)


def test_a_channel_that_insists_on_the_cvv_does_so_here_too(external: Client) -> None:
    assert result_of(store(external, {**CARD, "card.cvv": None})) == (400, "100.100.600")
    assert result_of(store(external)) == APPROVED


@pytest.mark.parametrize(
    ("code", "status", "is_usable"),
    [("000.000.000", 200, True), ("000.400.000", 200, True), ("000.200.100", 200, False), ("800.100.151", 400, False)],
)
def test_a_test_decides_the_result(client: Client, code: str, status: int, is_usable: bool) -> None:
    answer = store(client, {**CARD, FORCE: code})

    assert result_of(answer) == (status, code)
    assert answer.json["customParameters"] == {"forceResultCode": code}
    assert (pay_with(client, answer.json["id"]).status == 200) is is_usable


@pytest.mark.parametrize("name", ["referenceUuid", "registrationId"])
def test_storing_refers_to_nothing(client: Client, name: str) -> None:
    answer = store(client, {**CARD, name: register(client)})

    assert result_of(answer) == (400, "100.350.601")


# ---- series that began elsewhere ----


def test_a_migrated_series_leaves_its_first_payment_with_the_account(gateway: GatewayProcess, client: Client) -> None:
    migrated = {
        "recurringMigration.paymentType": "DB",
        "recurringMigration.amount": "9.90",
        "currency": "EUR",
        "recurringMigration.requestTimestamp": "2024-02-29 23:59:59",
        "recurringMigration.connectorTxId1": "first-id",
        "recurringMigration.connectorTxId3": "SCHEME-REFERENCE",
    }

    registration_id = register(client, {**CARD, **migrated})

    initial = get_registration(gateway, client, registration_id)[0].initial
    assert initial is not None
    assert (initial.reference, initial.connector_ids) == ("SCHEME-REFERENCE", ("first-id", None, "SCHEME-REFERENCE"))
    assert (initial.payment_type, initial.amount, initial.made_at) == ("DB", Money(990, "EUR"), 1_709_251_199_000_000)
    repeat = {"standingInstruction.mode": "REPEATED", "standingInstruction.source": "MIT"}
    paid = pay_with(client, registration_id, repeat).json
    assert paid["standingInstruction"]["initialTransactionId"] == "SCHEME-REFERENCE"


@pytest.mark.parametrize(
    ("fields", "payment_type", "code"),
    [
        (BANK, "DB", "000.100.110"),
        (TOKEN, "PA", "000.100.110"),
        (VIRTUAL, "DB", "100.350.602"),
        ({**BANK, "paymentBrand": "GIROPAY"}, "DB", "100.350.602"),
        ({**BANK, "paymentBrand": "GIROPAY"}, "PA", "100.350.602"),
    ],
)
def test_only_what_can_go_on_with_a_series_takes_one_over(
    client: Client, fields: dict[str, str], payment_type: str, code: str
) -> None:
    assert store(client, {**fields, "recurringMigration.paymentType": payment_type}).code == code


# ---- the same account, the same request ----


@pytest.fixture(scope="module")
def thrifty(gateway: GatewayProcess, client: Client) -> Client:
    """A channel that wants no account twice."""
    return add_channel(gateway, client, "Thrifty", "--reuse-registrations")


@pytest.mark.both_databases
def test_the_same_account_is_a_new_registration_each_time_unless_a_channel_wants_it_otherwise(
    gateway: GatewayProcess, client: Client, thrifty: Client
) -> None:
    first, second = register(client), register(client)
    number = "4005550000000001"

    known = store(thrifty, {**CARD, "card.number": number, "card.holder": "Jane Jones"})
    again = store(thrifty, {**CARD, "card.number": number, "card.holder": "John Jones"})

    assert first != second
    assert again.body == known.body
    assert list_topics(gateway, client, known.json["id"]) == ["registration.created"]
    others = [{**CARD, "card.number": number, "card.expiryYear": "2035"}, {**CARD, "card.number": "4111111111111111"}]
    assert len({known.json["id"], *(register(thrifty, other) for other in others)}) == 3
    assert remove(thrifty, known.json["id"]).status == 200
    assert register(thrifty, {**CARD, "card.number": number}) != known.json["id"]


@pytest.mark.both_databases
def test_a_payment_that_stores_a_known_account_names_its_registration(thrifty: Client) -> None:
    card = {**CARD, "card.number": "4242424242424242"}
    known = register(thrifty, card)

    paid = thrifty.pay(None, createRegistration="true", **card)

    assert result_of(paid) == APPROVED
    assert paid.json["registrationId"] == known


def store_with_key(client: Client, key: str, **changes: str) -> Answer:
    return store(client, {**CARD, **changes}, {"Idempotency-Key": key})


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "changes", [{}, {"card.number": "4200000000000001"}, {FORCE: "000.200.000"}], ids=["stored", "rejected", "open"]
)
def test_a_key_replays_the_answer(client: Client, changes: dict[str, str]) -> None:
    first = store_with_key(client, f"rg-{'-'.join(changes)}", **changes)
    second = store_with_key(client, f"rg-{'-'.join(changes)}", **changes)

    assert (second.status, second.body) == (first.status, first.body)
    assert second.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers


@pytest.mark.both_databases
def test_a_key_is_for_one_request(client: Client) -> None:
    store_with_key(client, "rg-other")

    assert result_of(store_with_key(client, "rg-other", **{"card.holder": "John Jones"})) == (409, "800.110.100")
    assert result_of(client.pay({"Idempotency-Key": "rg-other"})) == (409, "800.110.100")


@pytest.mark.both_databases
def test_a_refused_request_leaves_its_key_free(client: Client) -> None:
    assert result_of(store_with_key(client, "rg-free", paymentType="DB")) == FAULTY
    assert result_of(store_with_key(client, "rg-free")) == APPROVED


@pytest.mark.both_databases
def test_what_waits_to_be_confirmed_is_read_as_open(client: Client) -> None:
    assert result_of(read(client, register(client, {**CARD, FORCE: "000.200.000"}))) == PENDING
