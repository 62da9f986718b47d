"""The 3DS server: what it asks a directory server, and what it sends to and reads from issuers and browsers.

Whether the payment continues is decided elsewhere.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tollgate.catalog.shape import is_true
from tollgate.connectors.exchange import Conversation, encode_message, make_request
from tollgate.connectors.threeds import messages
from tollgate.connectors.threeds.requests import NO_REQUEST, SERVER_REFERENCE, choose_category, choose_channel, compose
from tollgate.payments.accounts import CardAccount
from tollgate.payments.authentication import AuthenticationCase, AuthenticationResult, Browser
from tollgate.payments.merchants import ThreeDsTerms
from tollgate.payments.order import Order
from tollgate.values import Instant, RandomBytes

MALFORMED = "malformed"
"""The answer is no message of the protocol, or is about another case."""
UNREACHABLE = "unreachable"
"""The directory server did not answer at all."""
UNANSWERED = "unanswered"
"""The shopper came back from a challenge without a result of the issuer."""
EXPIRED = "expired"
"""The shopper did not come back in time."""

_FINAL_STATUSES = frozenset("YANURI")
_ANSWER_LENGTH_MAX = 64_000
_ERROR_LENGTH_MAX = 256
_DIGITS = re.compile("[0-9][0-9 -]{4,}[0-9]")


class CardRange(msgspec.Struct, frozen=True):
    """A range of numbers, both ends included, whose issuer takes part."""

    start: str
    end: str
    method_url: str | None
    version: str
    reach: str = ""
    """The end of the ranges before this one that reach beyond it; empty where none does."""


ANY_CARD = CardRange("0", "9", None, messages.VERSIONS[0])
"""The range of a card that is to be tried although nothing is known of it."""


def read_enrolment_override(simulator_overrides: Mapping[str, str]) -> bool | None:
    """Reads the override that takes a card as enrolled or not; there may be none."""
    wanted = simulator_overrides.get("3DS2_enrolled")
    return None if wanted is None else is_true(wanted)


def make_server_id(random_bytes: RandomBytes) -> str:
    """Makes a random UUID (version 4), which names one authentication in all its messages."""
    dice = bytearray(random_bytes(16))
    dice[6] = dice[6] & 0x0F | 0x40
    dice[8] = dice[8] & 0x3F | 0x80
    text = dice.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def ask_ranges(server_id: str) -> Conversation[tuple[CardRange, ...] | None]:
    """Asks for the card ranges that can be authenticated; returns None without a usable answer."""
    question = messages.PReq(
        message_version=messages.VERSIONS[0],
        three_ds_server_ref_number=SERVER_REFERENCE,
        three_ds_server_trans_id=server_id,
    )
    reply = yield make_request(messages.RANGES, question, f"{server_id}-ranges")
    answer = messages.read_message(reply.body, messages.PRes) if reply.status < 300 else None
    if answer is None or answer.three_ds_server_trans_id != server_id:
        return None
    found = (_read_range(row) for row in answer.card_range_data)
    return _order_ranges(each for each in found if each is not None)


def _order_ranges(ranges: Iterable[CardRange]) -> tuple[CardRange, ...]:
    ordered: list[CardRange] = []
    reach = ""
    for each in sorted(ranges, key=_get_place):
        if ordered and len(ordered[-1].start) != len(each.start):
            reach = ""
        ordered.append(msgspec.structs.replace(each, reach=reach) if reach > each.end else each)
        reach = max(reach, each.end)
    return tuple(ordered)


def find_range(ranges: Sequence[CardRange], account: CardAccount) -> CardRange | None:
    """Finds the innermost range of a card number; `ranges` are in order, as `ask_ranges` returns them."""
    number = account.number.reveal()
    place = bisect_right(ranges, (len(number), number), key=_get_place)
    for each in (ranges[index] for index in range(place - 1, -1, -1)):
        if len(each.start) != len(number):
            break
        if number <= each.end:
            return each
        if number > each.reach:
            break
    return None


def _get_place(card_range: CardRange) -> tuple[int, str]:
    return len(card_range.start), card_range.start


def authenticate(
    order: Order,
    case: AuthenticationCase,
    *,
    terms: ThreeDsTerms,
    browser: Browser | None,
    method_done: str,
    now: Instant,
    notification_url: str,
    results_url: str,
    simulator_overrides: Mapping[str, str] = {},
) -> Conversation[AuthenticationCase]:
    """Asks the issuer through the directory server.

    The case is returned with a result, with the page of a challenge, or with neither where the issuer asks the shopper
    in another way and answers later.
    """
    if not isinstance(order.account, CardAccount):
        return fail_case(case, MALFORMED)
    case = msgspec.structs.replace(case, category=choose_category(order))
    request = compose(
        order,
        order.account,
        case,
        terms=terms,
        browser=browser,
        method_done=method_done,
        now=now,
        notification_url=notification_url,
        results_url=results_url,
    )
    key = f"{case.server_id}-authentication"
    reply = yield make_request(messages.AUTHENTICATIONS, request, key, simulator_overrides)
    answer = messages.read_message(reply.body, messages.ARes) if reply.status < 300 else None
    if answer is None or not _is_answer(answer, order, case):
        return fail_case(msgspec.structs.replace(case, error=_explain(reply.body)), MALFORMED)
    return _note_answer(answer, case)


def fail_case(case: AuthenticationCase, reason: str) -> AuthenticationCase:
    """Ends a case without an answer of the issuer: `MALFORMED`, `UNREACHABLE`, `UNANSWERED` or `EXPIRED`."""
    return msgspec.structs.replace(case, result=AuthenticationResult(status="U", reason=reason))


def make_method_data(case: AuthenticationCase, notification_url: str) -> str:
    """Makes the field `threeDSMethodData` that a hidden frame posts to the issuer's method page."""
    return messages.wrap(
        messages.MethodFrame(three_ds_server_trans_id=case.server_id, three_ds_method_notification_url=notification_url)
    )


def read_method_data(text: str) -> str | None:
    """Reads the id of the authentication whose hidden frame has come back."""
    frame = messages.unwrap(text, messages.MethodFrame) if len(text) <= _ANSWER_LENGTH_MAX else None
    return None if frame is None else frame.three_ds_server_trans_id


def make_challenge(case: AuthenticationCase, window: str | None) -> dict[str, str]:
    """Makes the fields that the browser posts to the issuer's page, which has the whole window by default."""
    request = messages.CReq(
        message_version=case.version,
        three_ds_server_trans_id=case.server_id,
        acs_trans_id=case.acs_id or "",
        challenge_window_size=(window or "5").zfill(2),
    )
    return {"creq": messages.wrap(request), "threeDSSessionData": case.server_id}


def _read_range(row: messages.Range) -> CardRange | None:
    """Returns None where the issuer supports no version that is supported here."""
    if len(row.start_range) != len(row.end_range):
        return None
    lowest, highest = _order(row.acs_start_protocol_version), _order(row.acs_end_protocol_version)
    version = next((each for each in messages.VERSIONS if lowest <= _order(each) <= highest), None)
    return None if version is None else CardRange(row.start_range, row.end_range, row.three_ds_method_url, version)


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _is_answer(answer: messages.ARes, order: Order, case: AuthenticationCase) -> bool:
    """Returns True if the answer is about this case and has all that its status needs."""
    if answer.three_ds_server_trans_id != case.server_id or answer.message_version != case.version:
        return False
    request = order.authentication or NO_REQUEST
    match answer.trans_status:
        case "Y" | "A":
            # The acquirer needs the proof, so an approval without it is none.
            return answer.authentication_value is not None or case.category != "01"
        case "C":
            return _is_challenge(answer, order, choose_channel(request))
        case "D":
            return request.is_decoupled
        case status:
            return status in _FINAL_STATUSES


def _is_challenge(answer: messages.ARes, order: Order, channel: str) -> bool:
    if channel != "02":
        # An app shows the challenge itself; without a shopper there is nobody to ask.
        return channel == "01"
    if answer.acs_url is None:
        return False
    return order.test_mode is not None or answer.acs_url.startswith("https://")


def _explain(body: bytes) -> dict[str, str]:
    """Describes an error message. It should name elements but may quote them, so numbers are masked."""
    error = messages.read_message(body, messages.Erro)
    if error is None:
        return {}
    text = ": ".join(part for part in (error.error_description, error.error_detail) if part)
    described = {"errorCode": error.error_code, "errorDescription": text, "errorSource": error.error_component}
    return {name: _DIGITS.sub("***", value)[:_ERROR_LENGTH_MAX] for name, value in described.items() if value}


def _note_answer(answer: messages.ARes, case: AuthenticationCase) -> AuthenticationCase:
    is_final = answer.trans_status in _FINAL_STATUSES
    result = AuthenticationResult(
        status=answer.trans_status,
        reason=answer.trans_status_reason,
        eci=answer.eci,
        value=answer.authentication_value,
    )
    return msgspec.structs.replace(
        case,
        ds_id=answer.ds_trans_id,
        acs_id=answer.acs_trans_id,
        acs_url=answer.acs_url if answer.trans_status == "C" else None,
        flow="frictionless" if is_final else "challenge",
        is_mandated=answer.acs_challenge_mandated,
        card_holder_text=answer.cardholder_info,
        result=result if is_final else None,
    )


_RESULT_STATUSES = frozenset("YANUR")
_RECEIVED = "01"


def read_result(body: bytes, case: AuthenticationCase) -> AuthenticationResult | None:
    """Returns None unless it is a complete result of this very case."""
    request = messages.read_message(body, messages.RReq)
    if request is None or not _names_case(request, case) or not _is_complete(request, case):
        return None
    return AuthenticationResult(
        status=request.trans_status,
        reason=request.trans_status_reason,
        eci=request.eci,
        value=request.authentication_value,
        cancelled=request.challenge_cancel,
    )


def answer_result(body: bytes, case: AuthenticationCase | None, *, accepted: bool) -> bytes:
    """Answers the sender that its result counts, or why not; an unknown address has no case."""
    request = messages.read_message(body, messages.RReq)
    if request is None:
        return encode_message(_make_error("203", "not a results request, or a field is not well-formed"))
    if case is None or not _names_case(request, case):
        return encode_message(_point_at(request, _make_error("301", "the transaction is not known")))
    if not accepted:
        return encode_message(_point_at(request, _make_error("305", "the transaction waits for no such result")))
    return encode_message(
        messages.RRes(
            message_version=request.message_version,
            three_ds_server_trans_id=request.three_ds_server_trans_id,
            ds_trans_id=request.ds_trans_id,
            acs_trans_id=request.acs_trans_id,
            results_status=_RECEIVED,
        )
    )


def _names_case(request: messages.RReq, case: AuthenticationCase) -> bool:
    named = (request.three_ds_server_trans_id, request.ds_trans_id, request.acs_trans_id, request.message_version)
    return named == (case.server_id, case.ds_id, case.acs_id, case.version)


def _is_complete(request: messages.RReq, case: AuthenticationCase) -> bool:
    if request.trans_status not in _RESULT_STATUSES:
        return False
    if request.trans_status not in ("Y", "A"):
        return True
    # The category of the request counts, not that of the answer.
    has_proof = request.authentication_value is not None or case.category != "01"
    # A cancelled challenge cannot be passed.
    return has_proof and request.challenge_cancel is None


def _make_error(code: str, description: str) -> messages.Erro:
    return messages.Erro(
        message_version=messages.VERSIONS[0],
        error_code=code,
        error_component="S",
        error_description=description,
        error_message_type="RReq",
    )


def _point_at(request: messages.RReq, error: messages.Erro) -> messages.Erro:
    return msgspec.structs.replace(
        error,
        message_version=request.message_version,
        three_ds_server_trans_id=request.three_ds_server_trans_id,
        ds_trans_id=request.ds_trans_id,
        acs_trans_id=request.acs_trans_id,
    )
