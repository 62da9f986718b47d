"""The life of a payment under any answer an acquirer could give: always one verdict, one state, one readable answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import msgspec
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import RESULTS, is_pending, is_review, is_success
from tollgate.connectors import acquiring, card
from tollgate.connectors.exchange import Exchange, Original, WireReply, WireRequest
from tollgate.contract.answers import Envelope, answer_payment
from tollgate.operations.dispatch import dispatch
from tollgate.payments.accounts import CardAccount, make_card_summary
from tollgate.payments.completion import complete
from tollgate.payments.order import Order
from tollgate.payments.payment import MOVES, NATURES, Nature, Outcome, Payment, RecoveryTask, State, Verdict
from tollgate.values import ChannelId, MerchantId, Money, PaymentId, Secret
from tollgate.wire import Silent, Unsent

APPROVED_CODE = "000.100.112"
KEY = "8a" + "0" * 30
NOW = 1_700_000_000_000_000
TOO_DEEP = b'{"status":' + b"[" * 100_000

STATUSES = ("approved", "declined", "pending", "reversed", "unknown")


def make_order(payment_type: str) -> Order:
    number = "4200000000000000"
    account = CardAccount(number=Secret(number), expiry_month="05", expiry_year="2034")
    return Order(
        payment_type=payment_type,
        money=Money(9200, "EUR"),
        brand="VISA",
        method="CC",
        account=account,
        card_summary=make_card_summary(number, account),
        statement="Shop",
        descriptor="Shop",
        short_id="1234.5678.9012",
    )


MOVING = {payment_type: nature for payment_type, nature in NATURES.items() if nature is not Nature.CHECKS}
"""The payment types that move money and so have a message of their own."""
FIRST_KINDS = sorted(payment_type for payment_type, nature in MOVING.items() if nature is not Nature.FOLLOWS)
"""These types begin a chain, and so are a charge."""


def start(payment_type: str) -> Payment:
    return Payment(
        id=PaymentId(KEY),
        merchant_id=MerchantId("m"),
        channel_id=ChannelId("c"),
        payment_type=payment_type,
        state=State.STARTED,
        money=Money(9200, "EUR"),
        brand="VISA",
        method="CC",
        descriptor="Shop",
        short_id="1234.5678.9012",
        ndc="n",
        created_at=NOW,
        deadline_at=NOW,
        referenced_id=None if payment_type in FIRST_KINDS else PaymentId("8a" + "1" * 30),
    )


ORIGINAL = Original(payment=start("PA"), first=start("PA"))

EXCHANGES: dict[str, Callable[[], Exchange]] = {
    **{
        f"charge {first}": partial(card.charge, make_order(first), start(first), APPROVED_CODE) for first in FIRST_KINDS
    },
    **{
        word: partial(card.follow_up, start("CP"), word, APPROVED_CODE, original=ORIGINAL)
        for word in sorted(acquiring.FOLLOW_UP_TYPES)
    },
    "reverse": lambda: card.reverse(ORIGINAL),
    "inquire": lambda: card.inquire(ORIGINAL, APPROVED_CODE),
}


def speak_for(payment_type: str) -> Exchange:
    """All follow-ups are judged alike, so any of them will do."""
    return EXCHANGES[f"charge {payment_type}" if payment_type in FIRST_KINDS else "capture"]()


# ---- what an acquirer may say ----

odd_text = st.text(max_size=140) | st.sampled_from(("", "\x00", "\ud800", "\U0001f4b3", "0" * 600))
members = {
    "response_code": st.sampled_from(("00", "05", "91", "ZZ")) | odd_text,
    "message": odd_text,
    "authorization_code": odd_text,
    "reference": odd_text,
    "scheme_transaction_id": odd_text,
    "institute": odd_text,
    "result_code": st.sampled_from(sorted(RESULTS)) | odd_text,
}
wrong = st.none() | st.integers() | st.floats() | st.lists(st.integers(), max_size=2)
loose = {"status": odd_text, **members}
messages = st.fixed_dictionaries({}, optional={name: value | wrong for name, value in loose.items()})
bodies = st.one_of(
    st.fixed_dictionaries({"status": st.sampled_from(STATUSES)}, optional=members).map(json.dumps).map(str.encode),
    messages.map(json.dumps).map(str.encode),
    st.builds(lambda message, at: json.dumps(message).encode()[:at], messages, st.integers(0, 60)),
    st.binary(max_size=60),
)
replies = st.builds(WireReply, st.sampled_from((200, 201, 204, 302, 400, 404, 429, 500, 503)) | st.integers(), bodies)
verdicts = st.builds(Verdict, outcome=st.sampled_from(Outcome), code=st.sampled_from(sorted(RESULTS)))
kinds = st.sampled_from(sorted(MOVING))
sent_names = st.sampled_from([name for name in EXCHANGES if name not in ("reverse", "inquire")])


def talk(exchange: Exchange, reply: WireReply) -> Verdict:
    """One request, one reply, one verdict: anything else fails here."""
    assert isinstance(next(exchange), WireRequest)
    with pytest.raises(StopIteration) as end:
        exchange.send(reply)
    verdict: Verdict = end.value.value
    return verdict


# ---- connectors ----


@pytest.mark.parametrize("name", EXCHANGES)
@given(reply=replies)
@example(reply=WireReply(200, TOO_DEEP))
@example(reply=WireReply(200, b'{"status":"approved","message":"\\ud800"}'))
def test_every_exchange_turns_any_reply_into_one_verdict(name: str, reply: WireReply) -> None:
    verdict = talk(EXCHANGES[name](), reply)
    assert isinstance(verdict.outcome, Outcome)
    # A confirmed reversal has no code of its own: the transaction it makes gets the code of its route.
    assert verdict.code in RESULTS or (name == "reverse" and verdict.code == "")


@given(reply=replies, name=sent_names)
def test_only_a_message_that_says_so_approves_what_moves_money(reply: WireReply, name: str) -> None:
    verdict = talk(EXCHANGES[name](), reply)
    if verdict.outcome is Outcome.APPROVED:
        assert reply.status < 500
        assert json.loads(reply.body)["status"] == "approved"


@given(reply=replies)
def test_only_a_message_that_says_so_confirms_a_reversal(reply: WireReply) -> None:
    verdict = talk(EXCHANGES["reverse"](), reply)
    assert verdict.outcome in (Outcome.APPROVED, Outcome.SILENT)
    if verdict.outcome is Outcome.APPROVED:
        assert reply.status < 500
        assert json.loads(reply.body)["status"] in ("reversed", "unknown")


# ---- moves ----


def test_the_table_of_moves_is_total() -> None:
    assert set(MOVES) == set(product(Nature, Outcome))


@given(payment_type=kinds, verdict=verdicts)
def test_completing_always_ends_the_attempt(payment_type: str, verdict: Verdict) -> None:
    completed = complete(start(payment_type), verdict, NOW + 1)
    assert completed.payment.state is not State.STARTED
    assert completed.payment.result_code in RESULTS
    assert completed.payment.completed_at == NOW + 1


@given(payment_type=kinds, verdict=verdicts)
def test_what_is_not_decided_and_nothing_else_leaves_a_recovery_task(payment_type: str, verdict: Verdict) -> None:
    recovery_task = complete(start(payment_type), verdict, NOW).recovery_task
    owed = {
        Nature.TAKES: {
            Outcome.SILENT: RecoveryTask.REVERSE,
            Outcome.LATE: RecoveryTask.REVERSE,
            Outcome.STALE: RecoveryTask.REVERSE,
            Outcome.ABANDONED: RecoveryTask.REVERSE,
            Outcome.WAITING: RecoveryTask.INQUIRE,
        },
        Nature.GIVES: {Outcome.SILENT: RecoveryTask.INQUIRE, Outcome.WAITING: RecoveryTask.INQUIRE},
        Nature.FOLLOWS: {Outcome.SILENT: RecoveryTask.REPEAT, Outcome.WAITING: RecoveryTask.REPEAT},
    }
    waits = RecoveryTask.EXPIRE if verdict.outcome is Outcome.CHALLENGED else None
    assert recovery_task == (owed[NATURES[payment_type]].get(verdict.outcome) or waits)


@given(payment_type=kinds, reply=replies)
def test_what_is_answered_agrees_with_the_state_whatever_was_replied(payment_type: str, reply: WireReply) -> None:
    completed = complete(start(payment_type), talk(speak_for(payment_type), reply), NOW)
    code = completed.payment.result_code
    expected = {
        State.APPROVED: is_success(code) or is_review(code),
        State.WAITING: is_pending(code),
        State.UNRESOLVED: is_pending(code),
        State.DECLINED: not (is_success(code) or is_review(code) or is_pending(code)),
    }
    assert expected[completed.payment.state]


@given(payment_type=kinds, reply=replies)
def test_any_completed_payment_can_be_answered_and_stored(payment_type: str, reply: WireReply) -> None:
    payment = complete(start(payment_type), talk(speak_for(payment_type), reply), NOW).payment
    answer = answer_payment(payment, Envelope("build"))
    assert answer.status == RESULTS[payment.result_code].http_status
    assert orjson.loads(answer.body)["result"]["code"] == payment.result_code
    # PostgreSQL's text takes no NUL; escaped, as in JSON, it is harmless.
    assert b"\x00" not in orjson.dumps(dict(payment.details))


# ---- the driver ----


class ScriptedWire:
    """Meets each sending with the next thing of its script."""

    def __init__(self, script: Sequence[WireReply | Exception]) -> None:
        self._script = list(script)
        self.sent = 0

    async def send(self, _request: WireRequest, _timeout_s: float) -> WireReply:
        happening = self._script[self.sent]
        self.sent += 1
        if isinstance(happening, Exception):
            raise happening
        return happening


happenings = st.one_of(replies, st.builds(Unsent), st.builds(Silent))
scripts = st.lists(happenings, min_size=LIMITS.acquirer_sends_max, max_size=LIMITS.acquirer_sends_max + 2)


@pytest.mark.parametrize("name", EXCHANGES)
@given(script=scripts)
def test_the_driver_repeats_only_what_never_left_and_turns_faults_into_outcomes(
    name: str, script: list[WireReply | Exception]
) -> None:
    wire = ScriptedWire(script)
    verdict = asyncio.run(dispatch(EXCHANGES[name](), wire, timeout_s=1, label="test"))
    tried = script[: LIMITS.acquirer_sends_max]
    unsent = next((n for n, happening in enumerate(tried) if not isinstance(happening, Unsent)), len(tried))
    assert wire.sent == min(unsent + 1, len(tried))
    match script[wire.sent - 1]:
        case Unsent():
            assert verdict.outcome is Outcome.UNSENT
        case Silent():
            assert verdict.outcome is Outcome.SILENT
        case WireReply() as reply:
            assert verdict == talk(EXCHANGES[name](), reply)
    assert msgspec.json.encode(verdict)
