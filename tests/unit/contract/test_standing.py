"""The two spellings of a series mean the same, and what follows from who began it is the same for both."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import replace

from tollgate.catalog.series import translate_older
from tollgate.contract.standing import (
    begins_series,
    describe_initial,
    find_series_objection,
    is_by_merchant,
    read_sequence,
    render_series_reference,
    select_series_fields,
)
from tollgate.payments.accounts import BankAccount, CardAccount, Instrument, TokenAccount, VirtualAccount
from tollgate.payments.order import Sequence, StandingInstruction
from tollgate.payments.payment import State
from tollgate.payments.registration import InitialPayment
from tollgate.values import Money, Secret
from unit.contract.registration_samples import make_registered
from unit.payments.samples import make_payment

MODE, SOURCE, TYPE = (f"standingInstruction.{word}" for word in ("mode", "source", "type"))
REFERENCE = "standingInstruction.initialTransactionId"
COUNT = "standingInstruction.numberOfInstallments"
CARD = CardAccount(number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034")
TOKEN = TokenAccount(number=Secret("4895370012003478"), type="NETWORK")
FIRST_ID, THIRD_ID = "recurringMigration.connectorTxId1", "recurringMigration.connectorTxId3"
REPEAT = {MODE: "REPEATED", SOURCE: "MIT", "currency": "EUR"}
PAID = make_payment(payment_type="PA", state=State.APPROVED, completed_at=7)

SPELLINGS = [
    ({"recurringType": "INITIAL"}, {MODE: "INITIAL", SOURCE: "CIT", TYPE: "RECURRING"}),
    ({"recurringType": "REPEATED"}, {MODE: "REPEATED", SOURCE: "MIT", TYPE: "RECURRING"}),
    ({"recurringType": "REGISTRATION_BASED"}, {MODE: "REPEATED", SOURCE: "CIT", TYPE: "UNSCHEDULED"}),
]


# ---- two spellings ----


@pytest.mark.parametrize(("older", "newer"), SPELLINGS)
def test_an_older_word_means_its_newer_ones(older: dict[str, str], newer: dict[str, str]) -> None:
    assert translate_older(older) == {**older, **newer}


@pytest.mark.parametrize(("older", "newer"), SPELLINGS)
def test_either_spelling_decides_alike_who_is_there_and_what_began(
    older: dict[str, str], newer: dict[str, str]
) -> None:
    on_file = make_registered(CARD)

    assert is_by_merchant(older) is is_by_merchant(newer)
    assert begins_series(older) is begins_series(newer)
    assert select_series_fields(older, on_file) == select_series_fields(newer, on_file)


@pytest.mark.parametrize(
    ("mode", "source", "older"),
    list(product([None, "INITIAL", "REPEATED"], [None, "CIT", "MIT"], ["INITIAL", "REPEATED", "REGISTRATION_BASED"])),
)
def test_newer_words_beside_an_older_one_count_wherever_either_is_read(
    mode: str | None, source: str | None, older: str
) -> None:
    """The acquirer must not receive anything else than the checks here assumed."""
    sent = {name: word for name, word in ((MODE, mode), (SOURCE, source)) if word}
    values = {**sent, "recurringType": older}

    received = translate_older(values)

    assert mode in (None, received[MODE])
    assert source in (None, received.get(SOURCE))
    assert is_by_merchant(values) is (received.get(SOURCE) == "MIT")
    assert begins_series(values) is (received[MODE] == "INITIAL" and received.get(SOURCE) != "MIT")


def test_nothing_said_means_nothing() -> None:
    for sent in ({}, {"recurringType": "SOMETHING"}, {MODE: "INITIAL"}):
        assert translate_older(sent) == sent


def test_an_older_count_makes_a_series_one_of_instalments() -> None:
    counted = {"recurringType": "INITIAL", "recurring.numberOfInstallments": "3"}

    received = translate_older(counted)

    assert received == {**counted, MODE: "INITIAL", SOURCE: "CIT", TYPE: "INSTALLMENT", COUNT: "3"}


def test_an_older_count_alone_begins_no_series() -> None:
    counted = {"recurring.numberOfInstallments": "5"}

    assert translate_older(counted) == {**counted, COUNT: "5"}


def test_a_newer_count_and_a_newer_type_are_not_overruled() -> None:
    sent = {TYPE: "UNSCHEDULED", COUNT: "12", "recurringType": "REPEATED", "recurring.numberOfInstallments": "3"}

    assert translate_older(sent) == {**sent, MODE: "REPEATED", SOURCE: "MIT"}


# ---- who began it ----


def test_what_a_merchant_does_alone_begins_no_series() -> None:
    assert begins_series({MODE: "INITIAL"})
    assert begins_series({MODE: "INITIAL", SOURCE: "CIT"})
    assert not begins_series({MODE: "INITIAL", SOURCE: "MIT"})
    assert not begins_series({SOURCE: "CIT"})


@pytest.mark.parametrize("account", [CARD, TOKEN])
def test_a_merchant_alone_charges_no_card_that_nobody_left_here(account: Instrument) -> None:
    alone = StandingInstruction(source="MIT")

    assert find_series_objection(alone, account, None) == "100.150.300"
    assert find_series_objection(alone, account, make_registered(account)) is None
    named = StandingInstruction(source="MIT", initial_transaction_id="MCC123")
    assert find_series_objection(named, account, None) is None


@pytest.mark.parametrize("account", [BankAccount(iban=Secret("DE89370400440532013000")), VirtualAccount(), None])
def test_only_cards_and_their_tokens_need_an_earlier_payment(account: Instrument | None) -> None:
    """A debit has its mandate, and where an account did not open there is an objection already."""
    assert find_series_objection(StandingInstruction(source="MIT"), account, None) is None


@pytest.mark.parametrize("standing", [None, StandingInstruction(), StandingInstruction(source="CIT")])
def test_with_the_shopper_present_nothing_has_to_be_named(standing: StandingInstruction | None) -> None:
    assert find_series_objection(standing, CARD, None) is None


# ---- which payment it goes back to ----


@pytest.mark.parametrize(
    "values",
    [
        {MODE: "REPEATED"},
        {MODE: "REPEATED", SOURCE: "CIT"},
        {MODE: "REPEATED", SOURCE: "MIT"},
        {SOURCE: "MIT"},
        {MODE: "INITIAL", SOURCE: "MIT"},
        {"recurringType": "REPEATED"},
        {"recurringType": "REGISTRATION_BASED"},
    ],
)
def test_a_repeat_goes_back_to_the_first_payment_of_what_is_stored(values: dict[str, str]) -> None:
    assert select_series_fields(values, make_registered(CARD)) == {REFERENCE: "SCHEME1"}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {MODE: "INITIAL"},
        {MODE: "INITIAL", SOURCE: "CIT"},
        {"recurringType": "INITIAL"},
        {MODE: "INITIAL", "recurringType": "REPEATED"},
        {SOURCE: "CIT"},
        {MODE: "REPEATED", SOURCE: "MIT", REFERENCE: "OTHER"},
    ],
)
def test_what_begins_a_series_or_names_its_own_beginning_goes_back_to_nothing(values: dict[str, str]) -> None:
    assert select_series_fields(values, make_registered(CARD)) == {}


def test_where_no_reference_is_known_none_is_made_up() -> None:
    assert select_series_fields(REPEAT, None) == {}
    assert select_series_fields(REPEAT, make_registered(CARD, reference=None)) == {}
    assert select_series_fields(REPEAT, make_registered(CARD, has_initial=False)) == {}


def test_a_repeat_carries_what_is_known_of_the_first_payment_and_leaves_gaps_open() -> None:
    initial = InitialPayment(
        payment_type="DB",
        reference="c",
        amount=Money(990, "EUR"),
        made_at=1_709_251_199_000_000,
        connector_ids=("a", None, "c"),
    )
    on_file = make_registered(CARD, initial=initial)

    received = select_series_fields(REPEAT, on_file)

    assert received == {
        REFERENCE: "c",
        "recurringMigration.amount": "9.90",
        "recurringMigration.requestTimestamp": "2024-02-29 23:59:59",
        FIRST_ID: "a",
        THIRD_ID: "c",
    }
    assert "recurringMigration.amount" not in select_series_fields({**REPEAT, "currency": "USD"}, on_file)
    described = {**REPEAT, "recurringMigration.paymentType": "DB", FIRST_ID: "own"}
    assert select_series_fields(described, on_file) == {REFERENCE: "c"}
    assert select_series_fields({**REPEAT, REFERENCE: "own"}, on_file) == {}


@pytest.mark.parametrize(
    ("details", "kept"),
    [
        ({}, ()),
        ({"ConnectorTxID3": "c", "ConnectorTxID1": "a", "other": "x"}, ("a", None, "c")),
        ({"ConnectorTxID2": "b"}, (None, "b", None)),
    ],
)
def test_an_acquirers_ids_of_a_first_payment_keep_their_positions(
    details: dict[str, str], kept: tuple[str | None, ...]
) -> None:
    initial = describe_initial(replace(PAID, details={"CardholderInitiatedTransactionID": "SCHEME", **details}))

    assert (initial.reference, initial.connector_ids) == ("SCHEME", kept)
    assert (initial.payment_type, initial.amount, initial.made_at) == ("PA", PAID.money, PAID.completed_at)


def test_a_payment_that_goes_on_with_a_named_series_does_not_pass_for_its_beginning() -> None:
    own = {"CardholderInitiatedTransactionID": "SCHEME", "ConnectorTxID1": "own-1", "ConnectorTxID3": "own-3"}
    repeat = {MODE: "REPEATED", REFERENCE: "ELSEWHERE"}
    migrated = {"recurringMigration.paymentType": "DB", "recurringMigration.amount": "9.90", THIRD_ID: "c"}

    bare = describe_initial(replace(PAID, details=own, echo=repeat))
    described = describe_initial(replace(PAID, details=own, echo={**repeat, **migrated}))
    begun = describe_initial(replace(PAID, details=own, echo={MODE: "INITIAL", REFERENCE: "ELSEWHERE"}))

    assert bare == InitialPayment(reference="ELSEWHERE", payment_type="PA", payment_id=PAID.id)
    assert (described.reference, described.payment_type, described.amount) == ("ELSEWHERE", "DB", Money(990, "EUR"))
    assert described.connector_ids == (None, None, "c")
    assert (begun.reference, begun.connector_ids) == ("SCHEME", ("own-1", None, "own-3"))


def test_the_answer_to_a_beginning_names_what_later_payments_go_back_to() -> None:
    assert render_series_reference({MODE: "INITIAL"}, "SCHEME2") == {REFERENCE: "SCHEME2"}
    assert render_series_reference({"recurringType": "INITIAL"}, "SCHEME2") == {REFERENCE: "SCHEME2"}
    assert render_series_reference({MODE: "INITIAL"}, None) == {}
    assert render_series_reference({MODE: "REPEATED"}, "SCHEME2") == {}
    assert render_series_reference({}, "SCHEME2") == {}


# ---- which debit under its mandate ----


@pytest.mark.parametrize(
    ("values", "is_registered", "makes_registration", "sequence"),
    [
        ({}, False, False, Sequence.ONCE),
        ({"sequence": "FINAL"}, False, False, Sequence.ONCE),
        ({}, False, True, Sequence.FIRST),
        ({MODE: "INITIAL"}, False, False, Sequence.FIRST),
        ({MODE: "INITIAL"}, True, False, Sequence.FIRST),
        ({MODE: "REPEATED"}, False, True, Sequence.LATER),
        ({MODE: "REPEATED"}, False, False, Sequence.LATER),
        ({"recurringType": "REPEATED"}, False, False, Sequence.LATER),
        ({MODE: "REPEATED", "sequence": "FINAL"}, False, False, Sequence.LAST),
        ({}, True, False, Sequence.LATER),
        ({"sequence": "FINAL"}, True, False, Sequence.LAST),
        ({"recurringType": "REGISTRATION_BASED"}, True, False, Sequence.LATER),
    ],
)
def test_a_debit_knows_its_place_under_the_mandate(
    values: dict[str, str], is_registered: bool, makes_registration: bool, sequence: Sequence
) -> None:
    assert read_sequence(values, is_registered=is_registered, makes_registration=makes_registration) is sequence
