"""The gateway's payments agree with the ledger that an external acquirer keeps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from acquirer import AcquirerProcess, Fate, Manner, Operation
from api.chains import (
    APPROVED_EXTERNAL,
    PENDING,
    advance,
    authorise,
    begin,
    capture,
    debit,
    list_payments,
    name,
    raise_by,
    read,
    rebill,
    refund,
    renew,
    result_of,
    reverse,
    stay_within_a_day,
    wait_until_final,
)
from api.merchants import add_channel, wait_until
from gateway import Answer, Client, GatewayProcess
from tollgate.connectors import acquiring, card

pytestmark = pytest.mark.both_databases

EXTERNAL = {"testMode": "EXTERNAL"}

SILENCES = pytest.mark.parametrize("manner", [Manner.DROP, Manner.ACT_AND_DROP, Manner.GARBAGE])


@pytest.fixture(scope="module")
def bank() -> Iterator[AcquirerProcess]:
    with AcquirerProcess() as bank:
        yield bank


@pytest.fixture(scope="module")
def shop(gateway: GatewayProcess, client: Client, bank: AcquirerProcess) -> Client:
    """A channel with that acquirer's test system behind it."""
    return add_channel(gateway, client, "Ledger", "--test-url", bank.url)


@pytest.fixture(autouse=True)
def _well_mannered(bank: AcquirerProcess, shop: Client) -> Iterator[None]:
    stay_within_a_day(shop)
    yield
    for path in (card.CHARGES, acquiring.FOLLOW_UPS, acquiring.REVERSALS, acquiring.INQUIRIES):
        bank.behave(path, Manner.ANSWER, times=0)


def assert_done_once(bank: AcquirerProcess, payment_id: str) -> None:
    entry = bank.read_ledger()[payment_id]
    assert (entry.fate, entry.executions, entry.contradictions) == (Fate.APPROVED, 1, 0)


# ---- answered ----


def test_captures_and_increments_stand_in_the_account_of_their_authorization(
    shop: Client, bank: AcquirerProcess
) -> None:
    payment_id = authorise(shop, **EXTERNAL)
    first, second = name(capture(shop, payment_id, "30.00")), name(capture(shop, payment_id, "40.00"))
    raised = name(raise_by(shop, payment_id, "15.00"))

    account = bank.read_account(payment_id)

    assert (account.authorised, account.captured) == (11500, 7000)
    assert account.operations == (
        Operation(first, "capture", 3000),
        Operation(second, "capture", 4000),
        Operation(raised, "increment", 1500),
    )


def test_the_reversal_gives_the_acquirer_the_open_rest(shop: Client, bank: AcquirerProcess) -> None:
    payment_id = authorise(shop, **EXTERNAL)
    capture(shop, payment_id, "30.00")
    reverse(shop, payment_id)

    account = bank.read_account(payment_id)

    assert (account.authorised, account.captured, account.reversed) == (10000, 3000, 7000)


@pytest.mark.parametrize("payment_type", ["DB", "PA.CP"])
def test_refunds_stand_in_the_account_of_what_they_refund(
    shop: Client, bank: AcquirerProcess, payment_type: str
) -> None:
    payment_id = begin(shop, payment_type, **EXTERNAL)
    refund(shop, payment_id, "30.00")
    refund(shop, payment_id, "20.00")

    account = bank.read_account(payment_id)

    assert (account.captured, account.refunded) == (10000, 5000)


def test_the_refund_of_a_capture_names_the_capture(shop: Client, bank: AcquirerProcess) -> None:
    payment_id = authorise(shop, **EXTERNAL)
    captured_id = name(capture(shop, payment_id, "60.00"))
    refund_id = name(refund(shop, captured_id, "25.00"))

    assert bank.read_account(captured_id).operations == (Operation(refund_id, "refund", 2500),)
    assert bank.read_account(payment_id).refunded == 0


def test_a_reversed_debit_has_nothing_left_at_the_acquirer(shop: Client, bank: AcquirerProcess) -> None:
    payment_id = debit(shop, **EXTERNAL)
    assert result_of(reverse(shop, payment_id)) == APPROVED_EXTERNAL

    assert bank.read_account(payment_id).reversed == 10000


def test_a_rebill_has_an_account_of_its_own(shop: Client, bank: AcquirerProcess) -> None:
    payment_id = debit(shop, **EXTERNAL)
    rebilled_id = name(rebill(shop, payment_id, "40.00"))
    refund(shop, rebilled_id, "15.00")

    assert bank.read_account(payment_id).rebilled == 4000
    assert (bank.read_account(rebilled_id).captured, bank.read_account(rebilled_id).refunded) == (4000, 1500)


def test_a_renewal_is_a_hold_of_its_own_at_the_acquirer_too(shop: Client, bank: AcquirerProcess) -> None:
    renewed_id = name(renew(shop, authorise(shop, **EXTERNAL), "60.00"))
    capture(shop, renewed_id, "60.00")

    account = bank.read_account(renewed_id)

    assert (account.authorised, account.captured) == (6000, 6000)


def test_the_acquirer_learns_which_capture_is_the_last(shop: Client, bank: AcquirerProcess) -> None:
    captured_id = name(capture(shop, authorise(shop, **EXTERNAL), "60.00", sequence="FINAL"))

    assert bank.read_ledger()[captured_id].is_final


def test_refused_requests_never_reach_the_acquirer(shop: Client, bank: AcquirerProcess) -> None:
    payment_id = authorise(shop, **EXTERNAL)
    refused = [capture(shop, payment_id, "100.01"), refund(shop, payment_id, "10.00"), rebill(shop, payment_id, "1.00")]

    assert [answer.status for answer in refused] == [400] * 3
    assert not {answer.json["id"] for answer in refused} & set(bank.read_ledger())


def test_what_the_acquirer_declines_may_be_tried_again(shop: Client, bank: AcquirerProcess) -> None:
    payment_id = authorise(shop, **EXTERNAL)
    bank.behave(acquiring.FOLLOW_UPS, Manner.DECLINE, times=1)

    assert result_of(capture(shop, payment_id, "100.00")) == (400, "800.100.152")
    assert bank.read_account(payment_id).captured == 0

    assert result_of(capture(shop, payment_id, "100.00")) == APPROVED_EXTERNAL
    assert bank.read_account(payment_id).captured == 10000


# ---- silent ----


def send_three(shop: Client) -> dict[str, Answer]:
    """One of each kind, each about a payment of its own."""
    payments = [authorise(shop, **EXTERNAL), debit(shop, **EXTERNAL), authorise(shop, **EXTERNAL)]
    answers = [capture(shop, payments[0], "60.00"), refund(shop, payments[1], "60.00"), reverse(shop, payments[2])]
    return dict(zip(payments, answers, strict=True))


@SILENCES
def test_a_silent_follow_up_is_finished_and_done_exactly_once(
    shop: Client, bank: AcquirerProcess, manner: Manner
) -> None:
    # Until all three are answered: a worker that sends the first again would use up what is meant for the third.
    bank.behave(acquiring.FOLLOW_UPS, manner)
    answers = send_three(shop)
    assert [result_of(answer) for answer in answers.values()] == [PENDING] * 3
    bank.behave(acquiring.FOLLOW_UPS, Manner.ANSWER)

    finals = [result_of(wait_until_final(shop, answer)) for answer in answers.values()]

    assert finals == [APPROVED_EXTERNAL] * 3
    sums = [bank.read_account(payment_id) for payment_id in answers]
    assert (sums[0].captured, sums[1].refunded, sums[2].reversed) == (6000, 6000, 10000)
    for answer in answers.values():
        assert_done_once(bank, answer.json["id"])


def test_while_the_acquirer_stays_silent_the_money_of_a_refund_is_reserved(shop: Client, bank: AcquirerProcess) -> None:
    payment_id = debit(shop, **EXTERNAL)
    bank.behave(acquiring.FOLLOW_UPS, Manner.ACT_AND_DROP, times=1)
    bank.behave(acquiring.INQUIRIES, Manner.ERROR)
    asked = bank.count_requests(acquiring.INQUIRIES)

    answer = refund(shop, payment_id, "60.00")
    bank.wait_for_requests(acquiring.INQUIRIES, asked + 1)

    assert result_of(read(shop, answer)) == PENDING
    assert result_of(refund(shop, payment_id, "60.00")) == (400, "700.400.200")
    assert result_of(reverse(shop, payment_id)) == (400, "700.400.300")
    bank.behave(acquiring.INQUIRIES, Manner.ANSWER, times=0)
    advance(shop, 60)
    assert result_of(wait_until_final(shop, answer)) == APPROVED_EXTERNAL
    assert bank.read_account(payment_id).refunded == 6000
    assert_done_once(bank, answer.json["id"])


def test_a_capture_repeated_into_silence_again_is_still_done_once(shop: Client, bank: AcquirerProcess) -> None:
    payment_id = authorise(shop, **EXTERNAL)
    bank.behave(acquiring.FOLLOW_UPS, Manner.DROP, times=2)
    sent = bank.count_requests(acquiring.FOLLOW_UPS)

    answer = capture(shop, payment_id, "60.00")
    bank.wait_for_requests(acquiring.FOLLOW_UPS, sent + 2)
    advance(shop, 60)

    assert result_of(wait_until_final(shop, answer)) == APPROVED_EXTERNAL
    assert bank.read_account(payment_id).captured == 6000
    assert_done_once(bank, answer.json["id"])


def test_a_capture_that_the_acquirer_decides_later_is_asked_for_until_it_does(
    shop: Client, bank: AcquirerProcess
) -> None:
    payment_id = authorise(shop, **EXTERNAL)
    bank.behave(acquiring.FOLLOW_UPS, Manner.ACT_AND_PEND, times=1)

    answer = capture(shop, payment_id, "60.00")

    assert result_of(answer) == PENDING
    assert result_of(wait_until_final(shop, answer)) == APPROVED_EXTERNAL
    assert_done_once(bank, answer.json["id"])


@SILENCES
def test_what_silence_took_is_given_back(shop: Client, bank: AcquirerProcess, manner: Manner) -> None:
    payment_id, reference = authorise(shop, **EXTERNAL), f"silence-{manner}"
    bank.behave(card.CHARGES, manner, times=2)
    bank.behave(acquiring.FOLLOW_UPS, manner, times=1)

    firsts = [
        shop.pay(None, paymentType=payment_type, merchantTransactionId=reference, **EXTERNAL)
        for payment_type in ("PA", "DB")
    ]
    increment = raise_by(shop, payment_id, "15.00", merchantTransactionId=reference)

    assert [result_of(answer) for answer in (*firsts, increment)] == [(400, "900.100.300")] * 3
    wait_until(lambda: len(list_payments(shop, reference)) == 6)
    for first in firsts:
        account, entry = bank.read_account(first.json["id"]), bank.read_ledger()[first.json["id"]]
        assert (account.authorised, account.captured) == (0, 0)
        assert entry.fate in (Fate.REVERSED, Fate.BLOCKED)
    assert bank.read_account(payment_id).authorised == 10000
    assert result_of(capture(shop, payment_id, "100.01")) == (400, "700.400.100")
    assert result_of(capture(shop, payment_id, "100.00")) == APPROVED_EXTERNAL


def test_an_acquirer_that_is_shut_received_nothing(shop: Client, bank: AcquirerProcess) -> None:
    payment_id = authorise(shop, **EXTERNAL)
    bank.shut()
    try:
        assert result_of(capture(shop, payment_id, "60.00")) == (400, "900.100.600")
    finally:
        bank.open()

    assert result_of(capture(shop, payment_id, "100.00")) == APPROVED_EXTERNAL
    assert bank.read_account(payment_id).captured == 10000
