"""The acquirer that crash and API tests rely on: a strict ledger, one key one operation, bad manners by path.

The real connector speaks to it, so that both are held against each other.
"""

from __future__ import annotations

import http.client
import random
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from msgspec.structs import replace

from acquirer import DECLINED_CENTS, Account, AcquirerProcess, Entry, Fate, Manner, Operation
from acquirer_ledger import ADDS, EXCESS, FOLLOWS, MISFIT, UNWILLING, Ledger
from tollgate.connectors import acquiring, card
from tollgate.connectors.exchange import Exchange, Original, WireReply, WireRequest
from tollgate.payments.payment import Outcome, Payment, Verdict
from tollgate.values import Money, PaymentId
from unit.connectors.samples import CAPTURE, ORDER

Send = Callable[[WireRequest], WireReply]

CODE = "000.100.112"
HOLD, SALE = "8a01", "8b01"
"""Both payments are of 100.00 EUR."""


class Shop:
    """Talks to a ledger as the gateway does, without a gateway."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def charge(self, key: str, payment_type: str, amount: int = 10_000) -> Verdict:
        return self.drive(
            card.charge(
                replace(ORDER, payment_type=payment_type, money=Money(amount, "EUR"), simulator_overrides={}),
                make_attempt(key),
                CODE,
            )
        )

    def follow_up(self, key: str, action: str, original: str, amount: int, *, is_final: bool = False) -> str:
        """Returns the response code of the follow-up."""
        attempt = make_attempt(key, original, amount)
        return self.drive(
            card.follow_up(attempt, action, CODE, original=make_original(HOLD), is_final=is_final)
        ).details["AcquirerResponse"]

    def drive(self, exchange: Exchange) -> Verdict:
        try:
            request = next(exchange)
            while True:
                request = exchange.send(self._send(request))
        except StopIteration as end:
            verdict: Verdict = end.value
            return verdict


def make_original(key: str) -> Original:
    return Original(payment=make_attempt(key), first=make_attempt(HOLD))


def make_attempt(key: str, original: str = HOLD, amount: int = 10_000) -> Payment:
    return replace(CAPTURE, id=PaymentId(key), referenced_id=PaymentId(original), money=Money(amount, "EUR"))


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def shop(ledger: Ledger) -> Shop:
    shop = Shop(lambda request: WireReply(200, ledger.act(request.path, request.body)))
    shop.charge(HOLD, "PA")
    shop.charge(SALE, "DB")
    return shop


def read_account(ledger: Ledger, key: str) -> Account:
    return msgspec.json.decode(ledger.report_account(key), type=Account)


def read_entry(ledger: Ledger, key: str) -> Entry:
    return msgspec.json.decode(ledger.report(), type=dict[str, Entry])[key]


def test_its_rules_name_every_word_of_the_protocol() -> None:
    assert set(FOLLOWS) == acquiring.FOLLOW_UP_TYPES
    assert set(ADDS) == acquiring.FOLLOW_UP_TYPES - {"renewal"}


def test_an_account_holds_the_sums_and_the_operations(ledger: Ledger, shop: Shop) -> None:
    answers = [
        shop.follow_up("c1", "increment", HOLD, 2_000),
        shop.follow_up("c2", "capture", HOLD, 7_000),
        shop.follow_up("c3", "reversal", HOLD, 5_000),
        shop.follow_up("c4", "refund", "c2", 3_000),
        shop.follow_up("c5", "rebill", "c2", 1_000),
    ]

    assert answers == ["00"] * 5
    assert read_account(ledger, HOLD) == Account(
        authorised=12_000,
        captured=7_000,
        reversed=5_000,
        operations=(
            Operation("c1", "increment", 2_000),
            Operation("c2", "capture", 7_000),
            Operation("c3", "reversal", 5_000),
        ),
    )
    assert read_account(ledger, "c2") == Account(
        captured=7_000,
        refunded=3_000,
        rebilled=1_000,
        operations=(Operation("c4", "refund", 3_000), Operation("c5", "rebill", 1_000)),
    )
    assert read_account(ledger, SALE) == Account(authorised=10_000, captured=10_000)
    assert read_account(ledger, "nobody") == Account()


@pytest.mark.parametrize(
    ("action", "original", "amount", "before"),
    [
        ("capture", HOLD, 10_001, None),
        ("capture", HOLD, 6_001, ("capture", 4_000)),
        ("capture", HOLD, 1, ("reversal", 10_000)),
        ("reversal", HOLD, 6_001, ("capture", 4_000)),
        ("refund", SALE, 6_001, ("refund", 4_000)),
        ("refund", SALE, 1, ("reversal", 10_000)),
        ("reversal", SALE, 10_000, ("refund", 1)),
        ("rebill", SALE, 10_001, None),
    ],
)
def test_what_exceeds_is_declined_and_changes_nothing(
    ledger: Ledger, shop: Shop, action: str, original: str, amount: int, before: tuple[str, int] | None
) -> None:
    if before is not None:
        assert shop.follow_up("c1", before[0], original, before[1]) == "00"
    account = read_account(ledger, original)

    assert shop.follow_up("c2", action, original, amount) == EXCESS
    assert read_account(ledger, original) == account
    assert read_entry(ledger, "c2").executions == 0


@pytest.mark.parametrize(
    ("action", "original"),
    [("capture", "nobody"), ("capture", SALE), ("refund", HOLD), ("rebill", HOLD), ("increment", SALE)],
)
def test_what_does_not_fit_is_declined(shop: Shop, action: str, original: str) -> None:
    assert shop.follow_up("c1", action, original, 100) == MISFIT


def test_nothing_follows_what_was_declined_undone_or_is_of_another_currency(shop: Shop) -> None:
    shop.charge("8a02", "PA", 10_000 + DECLINED_CENTS)
    shop.charge("8a03", "PA")
    shop.drive(card.reverse(make_original("8a03")))
    in_dollars = replace(make_attempt("c3", HOLD, 100), money=Money(100, "USD"))

    assert shop.follow_up("c1", "capture", "8a02", 100) == MISFIT
    assert shop.follow_up("c2", "capture", "8a03", 100) == MISFIT
    assert (
        shop.drive(card.follow_up(in_dollars, "capture", CODE, original=make_original(HOLD))).details[
            "AcquirerResponse"
        ]
        == MISFIT
    )


def test_the_final_one_is_the_last_and_gives_up_the_rest(shop: Shop) -> None:
    assert shop.follow_up("c1", "capture", HOLD, 4_000, is_final=True) == "00"

    assert shop.follow_up("c2", "capture", HOLD, 100) == MISFIT
    assert shop.follow_up("c3", "reversal", HOLD, 6_000) == MISFIT
    assert shop.follow_up("c4", "refund", "c1", 100) == "00"


def test_a_renewal_is_a_hold_of_its_own(ledger: Ledger, shop: Shop) -> None:
    assert shop.follow_up("c1", "capture", HOLD, 10_000) == "00"
    assert shop.follow_up("c2", "renewal", HOLD, 8_000) == "00"

    assert shop.follow_up("c3", "capture", "c2", 8_000) == "00"
    assert shop.follow_up("c4", "capture", "c2", 1) == EXCESS
    assert read_account(ledger, HOLD).authorised == 10_000


def test_a_repeated_key_gets_the_same_answer_and_counts_once(ledger: Ledger, shop: Shop) -> None:
    assert [shop.follow_up("c1", "capture", HOLD, 4_000) for _ in range(3)] == ["00"] * 3

    entry = read_entry(ledger, "c1")
    assert (entry.executions, entry.follow_ups_seen, entry.contradictions) == (1, 3, 0)
    assert read_account(ledger, HOLD).captured == 4_000


def test_a_key_that_comes_back_with_another_meaning_is_noticed(ledger: Ledger, shop: Shop) -> None:
    shop.follow_up("c1", "capture", HOLD, 4_000)
    shop.follow_up("c1", "capture", HOLD, 3_000)

    assert read_entry(ledger, "c1").contradictions == 1
    assert read_account(ledger, HOLD).captured == 4_000


def test_an_increment_is_undone_by_its_key_unless_it_was_drawn_on(ledger: Ledger, shop: Shop) -> None:
    shop.follow_up("c1", "increment", HOLD, 1_000)
    shop.follow_up("c2", "increment", HOLD, 2_000)
    assert shop.drive(card.reverse(make_original("c1"))).outcome is Outcome.APPROVED
    assert read_account(ledger, HOLD).authorised == 12_000

    shop.follow_up("c3", "capture", HOLD, 11_000)
    assert shop.drive(card.reverse(make_original("c2"))).outcome is Outcome.SILENT
    assert read_account(ledger, HOLD).authorised == 12_000


def test_a_repeat_finds_a_key_that_its_question_left_free(ledger: Ledger, shop: Shop) -> None:
    attempt = make_attempt("c1", HOLD, 4_000)

    verdicts = [shop.drive(card.repeat(attempt, "capture", CODE, original=make_original(HOLD))) for _ in range(2)]

    assert [verdict.outcome for verdict in verdicts] == [Outcome.APPROVED] * 2
    assert read_entry(ledger, "c1").executions == 1
    assert read_entry(ledger, "c1").follow_ups_seen == 1


@pytest.fixture
def _restless_threads() -> Iterator[None]:
    """Threads take turns so often that nothing is whole unless it is guarded."""
    usual_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual_s)


@pytest.mark.usefixtures("_restless_threads")
def test_checking_and_executing_is_one_act(ledger: Ledger, shop: Shop) -> None:
    start = threading.Barrier(16)

    def refund_often(number: int) -> None:
        start.wait()
        for turn in range(20):
            shop.follow_up(f"c{number}-{turn}", "refund", SALE, 301)

    with ThreadPoolExecutor(16) as crowd:
        list(crowd.map(refund_often, range(16)))

    assert read_account(ledger, SALE).refunded == 33 * 301


# ---- over HTTP ----


@pytest.fixture(scope="module")
def acquirer() -> Iterator[AcquirerProcess]:
    with AcquirerProcess() as acquirer:
        yield acquirer


@pytest.fixture
def line(acquirer: AcquirerProcess) -> Shop:
    """A connection for each request, so that many may be asked at once."""

    def send(request: WireRequest) -> WireReply:
        connection = http.client.HTTPConnection("127.0.0.1", acquirer.port, timeout=120)
        try:
            connection.request("POST", request.path, request.body)
            reply = connection.getresponse()
            return WireReply(reply.status, reply.read())
        finally:
            connection.close()

    return Shop(send)


def make_key() -> str:
    return f"8a{random.randbytes(15).hex()}"


@pytest.mark.parametrize(
    ("manner", "captured"),
    [(Manner.DROP, 0), (Manner.ACT_AND_DROP, 4_000)],
)
def test_a_capture_falls_silent_while_charges_pass(
    acquirer: AcquirerProcess, line: Shop, manner: Manner, captured: int
) -> None:
    hold, capture = make_key(), make_key()
    acquirer.behave(acquiring.FOLLOW_UPS, manner, times=1)

    assert line.charge(hold, "PA").outcome is Outcome.APPROVED
    with pytest.raises(http.client.RemoteDisconnected):
        line.follow_up(capture, "capture", hold, 4_000)

    assert acquirer.read_account(hold).captured == captured
    assert (
        line.drive(
            card.repeat(make_attempt(capture, hold, 4_000), "capture", CODE, original=make_original(HOLD))
        ).outcome
        is Outcome.APPROVED
    )
    assert acquirer.read_account(hold).operations == (Operation(capture, "capture", 4_000),)


@pytest.mark.parametrize(
    ("manner", "outcome", "fate"),
    [
        (Manner.GARBAGE, Outcome.SILENT, Fate.APPROVED),
        (Manner.ERROR, Outcome.SILENT, Fate.APPROVED),
        (Manner.ACT_AND_PEND, Outcome.WAITING, Fate.APPROVED),
        (Manner.SLOW, Outcome.APPROVED, Fate.APPROVED),
        (Manner.DECLINE, Outcome.DECLINED, Fate.DECLINED),
    ],
)
def test_a_follow_up_meets_every_other_manner(
    acquirer: AcquirerProcess, line: Shop, manner: Manner, outcome: Outcome, fate: Fate
) -> None:
    hold, capture = make_key(), make_key()
    line.charge(hold, "PA")
    acquirer.behave(acquiring.FOLLOW_UPS, manner, times=1)

    verdict = line.drive(
        card.follow_up(make_attempt(capture, hold, 4_000), "capture", CODE, original=make_original(HOLD))
    )

    entry = acquirer.wait_for_follow_up(capture)
    assert (verdict.outcome, entry.fate, entry.original) == (outcome, fate, hold)
    assert entry.response_code == (UNWILLING if fate is Fate.DECLINED else "00")


def test_many_at_once_take_not_a_cent_too_much(acquirer: AcquirerProcess, line: Shop) -> None:
    sale = make_key()
    line.charge(sale, "DB")

    with ThreadPoolExecutor(16) as crowd:
        codes = list(crowd.map(lambda _: line.follow_up(make_key(), "refund", sale, 900), range(32)))

    assert (codes.count("00"), codes.count(EXCESS)) == (11, 21)
    assert acquirer.read_account(sale).refunded == 9_900


def test_one_key_sent_many_times_at_once_is_done_once(acquirer: AcquirerProcess, line: Shop) -> None:
    sale, refund = make_key(), make_key()
    line.charge(sale, "DB")

    with ThreadPoolExecutor(8) as crowd:
        codes = set(crowd.map(lambda _: line.follow_up(refund, "refund", sale, 900), range(16)))

    entry = acquirer.read_ledger()[refund]
    assert (codes, entry.executions, entry.follow_ups_seen) == ({"00"}, 1, 16)
    assert acquirer.read_account(sale).refunded == 900
