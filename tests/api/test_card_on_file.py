"""Card on file as merchants and acquirers see it: a series begins with its holder, goes on without, and every payment
of it names where it began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count

import pytest

from api.chains import FAULTY, result_of
from api.recording import APPROVED, RecordingAcquirer
from api.registration_requests import CHARGE, TOKEN, pay_with, register
from gateway import CARD, Answer, Client
from tollgate.catalog.parameters.names import PARAMETERS

MODE, SOURCE, TYPE = (f"standingInstruction.{word}" for word in ("mode", "source", "type"))
REFERENCE = "standingInstruction.initialTransactionId"
INITIAL = {MODE: "INITIAL", SOURCE: "CIT", TYPE: "RECURRING"}
ALONE = {MODE: "REPEATED", SOURCE: "MIT", TYPE: "RECURRING"}
PRESENT = {MODE: "REPEATED", SOURCE: "CIT", TYPE: "UNSCHEDULED"}
TERMS = {
    "standingInstruction.recurringType": "SUBSCRIPTION",
    "standingInstruction.frequency": "0030",
    "standingInstruction.expiry": "2030-12-31",
    "standingInstruction.numberOfInstallments": "12",
    "standingInstruction.industryPractice": "RESUBMISSION",
}
CREATE_REGISTRATION = {"createRegistration": "true"}
OK = (200, "000.100.112")
NO_CODE = (400, "100.100.600")
_numbers = count(1)


@pytest.fixture
def scheme(acquirer: RecordingAcquirer) -> Iterator[Callable[[], str]]:
    """The next reference of the scheme, sent with every approval from then on."""

    def name_next() -> str:
        reference = f"SCHEME-{next(_numbers)}"
        acquirer.reply = {**APPROVED, "scheme_transaction_id": reference}
        return reference

    yield name_next
    acquirer.reply = APPROVED


def charge(external: Client, *parts: Mapping[str, str | None], stored: str | None = None) -> Answer:
    sent: dict[str, str | None] = {**CHARGE, "testMode": "EXTERNAL"}
    for part in parts:
        sent |= part
    return pay_with(external, stored, sent) if stored else external.post("/v1/payments", sent)


def get_series(acquirer: RecordingAcquirer) -> dict[str, str]:
    """Returns what the last charge said about the series."""
    series: dict[str, str] = acquirer.last_charge.get("details", {}).get("standing_instruction", {})
    return series


@pytest.fixture
def begun(external: Client, scheme: Callable[[], str]) -> tuple[str, str]:
    """A registration whose card was left with the first payment of a series, and that payment's reference."""
    reference = scheme()
    answer = charge(external, CARD, CREATE_REGISTRATION, INITIAL)
    assert result_of(answer) == OK
    assert answer.json["standingInstruction"]["initialTransactionId"] == reference
    assert answer.json["resultDetails"]["CardholderInitiatedTransactionID"] == reference
    scheme()
    return answer.json["registrationId"], reference


# ---- the words ----


def test_every_word_of_a_standing_instruction_reaches_the_acquirer_and_comes_back(
    external: Client, acquirer: RecordingAcquirer
) -> None:
    words = {**ALONE, **TERMS, REFERENCE: "MCC123456789"}
    known = {name for name in PARAMETERS if name.startswith("standingInstruction.")}

    answer = charge(external, CARD, words)

    assert result_of(answer) == OK
    assert words.keys() == known
    bare = {name.removeprefix("standingInstruction."): text for name, text in words.items()}
    assert answer.json["standingInstruction"] == bare
    assert external.get(f"/v1/payments/{answer.json['id']}").json["standingInstruction"] == bare
    sent = get_series(acquirer)
    assert sorted(sent.values()) == sorted(bare.values())
    assert (sent["initial_transaction_id"], sent["industry_practice"]) == ("MCC123456789", "RESUBMISSION")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"recurringType": "INITIAL"}, INITIAL),
        ({"recurringType": "REPEATED"}, ALONE),
        ({"recurringType": "REGISTRATION_BASED"}, PRESENT),
        (
            {"recurringType": "INITIAL", "recurring.numberOfInstallments": "3"},
            {**INITIAL, TYPE: "INSTALLMENT", "standingInstruction.numberOfInstallments": "3"},
        ),
    ],
)
def test_older_words_mean_newer_ones_to_the_acquirer(
    external: Client,
    acquirer: RecordingAcquirer,
    begun: tuple[str, str],
    older: dict[str, str],
    newer: dict[str, str],
) -> None:
    registration_id, _ = begun
    code = {"card.cvv": "123"}

    first = charge(external, older, code, stored=registration_id)
    said = get_series(acquirer)
    second = charge(external, newer, code, stored=registration_id)

    assert result_of(first) == result_of(second) == OK
    assert said == get_series(acquirer)
    assert first.json["recurringType"] == older["recurringType"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (MODE, "FIRST"),
        (SOURCE, "mit"),
        (TYPE, "MONTHLY"),
        (REFERENCE, "x" * 256),
        ("standingInstruction.frequency", "monthly"),
        ("standingInstruction.expiry", "2030-02-30"),
        ("standingInstruction.numberOfInstallments", "0"),
        ("standingInstruction.industryPractice", "OTHER"),
        ("recurringType", "SECOND"),
        ("recurring.numberOfInstallments", "1000"),
    ],
)
def test_a_word_that_nobody_knows_is_named(external: Client, name: str, text: str) -> None:
    answer = charge(external, CARD, {name: text})

    assert result_of(answer) == FAULTY
    assert name in answer.faults


# ---- a merchant alone ----


@pytest.mark.parametrize("account", [CARD, {**CARD, "card.cvv": None}, TOKEN], ids=["card", "no code", "token"])
@pytest.mark.parametrize("words", [ALONE, {"recurringType": "REPEATED"}], ids=["newer", "older"])
def test_a_merchant_alone_charges_no_card_that_nobody_left_here(
    external: Client, acquirer: RecordingAcquirer, account: dict[str, str | None], words: dict[str, str]
) -> None:
    before = len(acquirer.received)

    refused = charge(external, account, words)
    named = charge(external, account, words, {REFERENCE: "MCC123456789"})

    assert result_of(refused) == (400, "100.150.300")
    assert external.get(f"/v1/payments/{refused.json['id']}").code == "100.150.300"
    assert result_of(named) == OK
    assert len(acquirer.received) == before + 1


def test_a_refused_beginning_without_its_holder_keeps_no_card(external: Client) -> None:
    refused = charge(external, CARD, CREATE_REGISTRATION, ALONE)

    assert result_of(refused) == (400, "100.150.300")
    assert "registrationId" not in refused.json


def test_only_a_merchant_alone_is_let_off_the_security_code(
    external: Client, acquirer: RecordingAcquirer, begun: tuple[str, str]
) -> None:
    registration_id, _ = begun

    assert result_of(charge(external, stored=registration_id)) == NO_CODE
    assert result_of(charge(external, PRESENT, stored=registration_id)) == NO_CODE
    assert result_of(charge(external, INITIAL, stored=registration_id)) == NO_CODE
    assert result_of(charge(external, ALONE, stored=registration_id)) == OK
    assert "cvv" not in acquirer.last_charge["card"]
    assert result_of(charge(external, PRESENT, {"card.cvv": "123"}, stored=registration_id)) == OK


def test_saying_so_does_not_let_another_merchant_charge(external: Client, stranger: Client) -> None:
    registration_id = register(external)

    assert result_of(pay_with(stranger, registration_id, ALONE)) == (400, "100.150.200")


# ---- where it began ----


@pytest.mark.both_databases
@pytest.mark.parametrize("words", [ALONE, PRESENT, {"recurringType": "REPEATED"}], ids=["alone", "present", "older"])
def test_a_repeat_names_where_its_series_began(
    external: Client, acquirer: RecordingAcquirer, begun: tuple[str, str], words: dict[str, str]
) -> None:
    registration_id, reference = begun

    for payment_type in ("DB", "PA"):
        answer = charge(external, words, {"card.cvv": "123", "paymentType": payment_type}, stored=registration_id)

        assert result_of(answer) == OK
        assert get_series(acquirer)["initial_transaction_id"] == reference
        assert answer.json["standingInstruction"]["initialTransactionId"] == reference
        read = external.get(f"/v1/payments/{answer.json['id']}").json
        assert read["standingInstruction"]["initialTransactionId"] == reference


def test_a_payment_that_only_left_its_card_is_gone_back_to_as_well(
    external: Client, acquirer: RecordingAcquirer, scheme: Callable[[], str]
) -> None:
    reference = scheme()
    registration_id = charge(external, CARD, CREATE_REGISTRATION).json["registrationId"]
    scheme()

    charge(external, ALONE, stored=registration_id)

    assert get_series(acquirer)["initial_transaction_id"] == reference


def test_the_merchants_own_reference_goes_before_the_kept_one(
    external: Client, acquirer: RecordingAcquirer, begun: tuple[str, str]
) -> None:
    registration_id, reference = begun

    charge(external, ALONE, {REFERENCE: "ELSEWHERE"}, stored=registration_id)
    assert get_series(acquirer)["initial_transaction_id"] == "ELSEWHERE"

    charge(external, ALONE, stored=registration_id)
    assert get_series(acquirer)["initial_transaction_id"] == reference


@pytest.mark.both_databases
def test_a_new_beginning_replaces_the_old_one_only_when_it_is_approved(
    external: Client, acquirer: RecordingAcquirer, begun: tuple[str, str], scheme: Callable[[], str]
) -> None:
    registration_id, reference = begun
    acquirer.reply = {"status": "declined", "response_code": "05", "scheme_transaction_id": "DECLINED-1"}
    declined = charge(external, INITIAL, {"card.cvv": "123"}, stored=registration_id)
    newer = scheme()

    assert declined.code == "800.100.152"
    assert "initialTransactionId" not in declined.json["standingInstruction"]
    charge(external, ALONE, stored=registration_id)
    assert get_series(acquirer)["initial_transaction_id"] == reference

    again = charge(external, INITIAL, {"card.cvv": "123"}, stored=registration_id)
    assert "initial_transaction_id" not in get_series(acquirer)
    assert again.json["standingInstruction"]["initialTransactionId"] == newer
    charge(external, ALONE, stored=registration_id)
    assert get_series(acquirer)["initial_transaction_id"] == newer


@pytest.mark.parametrize("positions", [(1,), (1, 3), (1, 2, 3)])
def test_a_series_that_began_elsewhere_goes_on_here(
    external: Client, acquirer: RecordingAcquirer, positions: tuple[int, ...]
) -> None:
    migrated = {
        "recurringMigration.paymentType": "DB",
        "recurringMigration.amount": "9.90",
        "recurringMigration.requestTimestamp": "2024-02-29 23:59:59",
        "currency": "EUR",
        **{f"recurringMigration.connectorTxId{position}": f"OLD-{position}" for position in positions},
    }
    registration_id = register(external, {**CARD, **migrated}, testMode="EXTERNAL")

    answer = charge(external, ALONE, stored=registration_id)

    assert result_of(answer) == OK
    assert "recurringMigration" not in answer.json
    assert get_series(acquirer)["initial_transaction_id"] == f"OLD-{positions[-1]}"
    assert acquirer.last_charge["details"]["initial_payment"] == {
        "amount": {"amount": 990, "currency": "EUR"},
        "request_timestamp": "2024-02-29 23:59:59",
        **{f"connector_tx_id{position}": f"OLD-{position}" for position in positions},
    }


def test_a_card_that_was_stored_without_any_payment_has_no_beginning_until_it_gets_one(
    external: Client, acquirer: RecordingAcquirer, scheme: Callable[[], str]
) -> None:
    registration_id = register(external, testMode="EXTERNAL")

    assert result_of(charge(external, ALONE, stored=registration_id)) == OK
    assert "initial_transaction_id" not in get_series(acquirer)

    reference = scheme()
    charge(external, INITIAL, {"card.cvv": "123"}, stored=registration_id)
    scheme()
    charge(external, ALONE, stored=registration_id)
    assert get_series(acquirer)["initial_transaction_id"] == reference


@pytest.mark.both_databases
def test_a_key_replays_a_repeat_and_charges_once(
    external: Client, acquirer: RecordingAcquirer, begun: tuple[str, str]
) -> None:
    registration_id, _ = begun
    key = {"Idempotency-Key": f"repeat-{registration_id}"}
    path, sent = f"/v1/registrations/{registration_id}/payments", {**CHARGE, **ALONE, "testMode": "EXTERNAL"}
    before = len(acquirer.received)

    first, again = external.post(path, sent, key), external.post(path, sent, key)

    assert first.body == again.body
    assert result_of(first) == OK
    assert len(acquirer.received) == before + 1


def test_what_follows_a_repeat_leaves_its_series_alone(
    external: Client, acquirer: RecordingAcquirer, begun: tuple[str, str]
) -> None:
    registration_id, reference = begun
    authorised = charge(external, ALONE, {"paymentType": "PA"}, stored=registration_id)
    captured = external.post(
        f"/v1/payments/{authorised.json['id']}",
        {"paymentType": "CP", "amount": "12.00", "currency": "EUR", "testMode": "EXTERNAL", MODE: "INITIAL"},
    )

    assert captured.status == 200, captured.body
    charge(external, ALONE, stored=registration_id)
    assert get_series(acquirer)["initial_transaction_id"] == reference
