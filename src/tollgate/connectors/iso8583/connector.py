"""The connector of ISO 8583: which messages a payment needs, and what their answers mean.

How messages are built is in `messages`; length headers, authentication codes and time-outs belong to the wire.
"""

from collections.abc import Callable
from functools import partial

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.connectors import acquiring
from tollgate.connectors.acquiring import RESPONSES, SILENT, AcquirerReply
from tollgate.connectors.exchange import AcquirerAccount, Conversation, Exchange, Original, WireRequest
from tollgate.connectors.iso8583 import codec, messages, transcript
from tollgate.connectors.iso8583.codec import Message, Unreadable
from tollgate.connectors.iso8583.fields import ELEMENTS, RESPONSE_TEXTS, Tag
from tollgate.payments.order import Order
from tollgate.payments.payment import Outcome, Payment, Verdict
from tollgate.values import Refusal

_APPROVED = frozenset({"00", "08", "11", "85"})
_UNCLEAR = frozenset({"10", "32", "87", "94"})
"""An approval of a part, which nobody asked for, and a duplicate whose result is not told. Neither is an answer, so a
charge is reversed and a follow-up repeated."""
_UNDONE = frozenset({"00", "21", "25"})
"""The responses that confirm a reversal: done, nothing to do, and an original that the host never saw."""

_ECHOED = (11, 37, 41)
"""The elements that an answer must repeat. Another trace number, terminal or reference belongs to another request."""
_KEPT = (3, 4, 49)
"""The elements that an answer may repeat, and not change: an approval of another amount is none."""

_UNENCODABLE = Verdict(outcome=Outcome.DECLINED, code=RESPONSES["30"])
_TOO_LARGE = Verdict(outcome=Outcome.DECLINED, code=codes.AMOUNT_TOO_LARGE)
_ACCOUNT_ERASED = Verdict(outcome=Outcome.DECLINED, code=codes.ACCOUNT_ERASED)


class Iso8583Connector:
    """Speaks ISO 8583 for one acquirer account. It ignores overrides, which only simulators understand."""

    def __init__(self, account: AcquirerAccount) -> None:
        self._account = account

    def charge(self, order: Order, attempt: Payment, approved_code: str, **_: object) -> Exchange:
        """Authorizes, sells or credits."""
        return _begin(partial(messages.make_charge, self._account, order, attempt), attempt.id, approved_code)

    def follow_up(
        self,
        attempt: Payment,
        action: str,
        approved_code: str,
        *,
        original: Original,
        is_final: bool = False,
        **_: object,
    ) -> Exchange:
        """Captures, refunds, reverses, rebills, raises or renews an earlier payment."""
        if action in messages.ANEW and original.account is None:
            return _end(_ACCOUNT_ERASED)
        make_message = partial(messages.make_follow_up, self._account, attempt, action, original, is_final=is_final)
        return _begin(make_message, attempt.id, approved_code)

    def repeat(
        self,
        attempt: Payment,
        action: str,
        approved_code: str,
        *,
        original: Original,
        is_final: bool = False,
        **_: object,
    ) -> Exchange:
        """Sends a follow-up again as a repeat: the host does it once, and answers what it did."""
        make_message = partial(messages.make_follow_up, self._account, attempt, action, original, is_final=is_final)
        return _begin(lambda: messages.make_repeat(make_message()), attempt.id, approved_code)

    def reverse(self, original: Original) -> Exchange:
        """Undoes a charge whose outcome is unknown, by a reversal advice.

        The job behind it may run many times. Every run sends the advice under the same trace number and reference, by
        which the host knows a repeat, and a repeat of its own after an answer that is none.
        """
        try:
            advice = messages.make_reversal_advice(self._account, original)
        except messages.AmountTooLarge:
            # A process that died before it found this out has left the payment open. Its message was never sent.
            return Verdict(outcome=Outcome.APPROVED, code="")
        for message in (advice, messages.make_repeat(advice)):
            answer = yield from _ask(message, _make_request(message, messages.make_reversal_key(original.payment)))
            if answer is not None and answer.fields[39] in _UNDONE:
                return Verdict(outcome=Outcome.APPROVED, code="", details=acquiring.describe(_read_reply(answer)))
            if answer is not None and answer.fields[39] not in _UNCLEAR:
                break
        return SILENT

    def inquire(self, original: Original, _approved_code: str) -> Exchange:
        """Ends a credit whose outcome is unknown.

        ISO 8583 has no question for the outcome of a request, so the credit is undone. A confirmed reversal means that
        it was never paid out, or was taken back, and is not paid out later.
        """
        verdict = yield from self.reverse(original)
        return acquiring.NOT_EXECUTED if verdict.outcome is Outcome.APPROVED else SILENT


def make(account: AcquirerAccount | None) -> Iso8583Connector:
    """Refuses an account by which no message could be built, before any payment is written."""
    if account is None or not account.terminal_id:
        raise Refusal(get_result(codes.MODE_NOT_CONFIGURED), "the channel has no terminal at its acquirer")
    for number, text in ((32, account.acquirer_number), (41, account.terminal_id), (42, account.merchant_number)):
        fits = text.isascii() and text.isprintable() and len(text) <= ELEMENTS[number].length
        if not fits or (number == 32 and not text.isdecimal() and text):
            raise Refusal(get_result(codes.MODE_NOT_CONFIGURED), f"the {ELEMENTS[number].name} does not fit ISO 8583")
    return Iso8583Connector(account)


def _end(verdict: Verdict) -> Exchange:
    """Ends an exchange before anything is sent."""
    yield from ()
    return verdict


def _begin(make_message: Callable[[], Message], key: str, approved_code: str) -> Exchange:
    """Sends a message, first or repeated. If a value does not fit into its element, nothing is, or ever was, sent."""
    try:
        message = make_message()
        request = _make_request(message, key)
    except messages.AmountTooLarge:
        return _TOO_LARGE
    except ValueError:
        return _UNENCODABLE
    return (yield from _perform(message, request, approved_code))


def _make_request(message: Message, key: str) -> WireRequest:
    body = codec.encode(message)
    return WireRequest(path=message.mti, body=body, key=key, content_type=transcript.CONTENT_TYPE)


def _perform(message: Message, request: WireRequest, approved_code: str) -> Exchange:
    """Sends one message that moves money, and returns the verdict of its answer."""
    answer = yield from _ask(message, request)
    return SILENT if answer is None else acquiring.read_verdict(_read_reply(answer), approved_code)


def _ask(message: Message, request: WireRequest) -> Conversation[Message | None]:
    """Returns the answer to a message; None for what is none, because the host may have acted all the same."""
    reply = yield request
    if reply.status >= 500:
        return None
    try:
        answer = codec.decode(reply.body)
    except Unreadable:
        return None
    return answer if is_answer(message, answer) else None


def is_answer(request: Message, answer: Message) -> bool:
    """Tells whether a message answers this request and no other."""
    return (
        answer.mti == codec.get_response_type(request.mti)
        and 39 in answer.fields
        and all(answer.fields.get(number) == request.fields[number] for number in _ECHOED)
        and all(answer.fields.get(number, request.fields[number]) == request.fields[number] for number in _KEPT)
    )


def _read_reply(answer: Message) -> AcquirerReply:
    """Returns an answer in the words that all acquirers' protocols share, by which it is judged."""
    code, tags = answer.fields[39], answer.tags
    return AcquirerReply(
        status="approved" if code in _APPROVED else "unclear" if code in _UNCLEAR else "declined",
        response_code=code,
        advice=tags.get(Tag.ADVICE, ""),
        message=RESPONSE_TEXTS.get(code, ""),
        authorization_code=answer.fields.get(38, "").strip(),
        reference=answer.fields[37],
        scheme_transaction_id=answer.fields.get(63, "").strip(),
        cvv_response=tags.get(Tag.CVV2_RESULT, ""),
        avs_response=tags.get(Tag.AVS_RESULT, ""),
    )
