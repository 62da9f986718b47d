"""Money, instants, ids, secrets, results and refusals. Nothing here imports from Tollgate."""

from __future__ import annotations

import calendar
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime
from hmac import compare_digest
from typing import NewType, NoReturn, Protocol

HUNDREDTHS_MAX = 10**14 - 1
"""Twelve digits and two decimals, the longest amount the interface can write."""

_AMOUNT = re.compile(r"([0-9]{1,12})(?:\.([0-9]{2}))?")


@dataclass(frozen=True, slots=True)
class Money:
    hundredths: int
    currency: str

    def render(self) -> str:
        return render_hundredths(self.hundredths)


def read_hundredths(text: str) -> int:
    """`12`, `12.34` to 1200, 1234; the shape was checked before, so anything else is breakage."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError("an amount has up to 12 digits and either no or exactly two decimals")
    whole, cents = match.groups()
    return int(whole) * 100 + int(cents or 0)


def render_hundredths(hundredths: int) -> str:
    sign = "-" if hundredths < 0 else ""
    whole, cents = divmod(abs(hundredths), 100)
    return f"{sign}{whole}.{cents:02d}"


MASK = "***"
"""Stands for a secret wherever something is shown."""


class Secret:
    """Text that must not reach a log, a traceback or the store."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The clear text; may be called in the vault and in connectors only, which a tidy test counts."""
        return self._text

    def matches(self, other: Secret) -> bool:
        """Compare in constant time."""
        return compare_digest(self._text.encode(), other._text.encode())

    def __len__(self) -> int:
        return len(self._text)

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return MASK

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("secrets are compared with matches()")

    def __hash__(self) -> NoReturn:
        raise TypeError("secrets are not dictionary keys")

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets do not pickle")


Instant = int
"""Microseconds since 1970-01-01T00:00:00Z."""

SECOND: Instant = 1_000_000
MINUTE: Instant = 60 * SECOND
HOUR: Instant = 60 * MINUTE
DAY: Instant = 24 * HOUR


class Clock(Protocol):
    """Two clocks in one: business time may be moved on a test host, wall time never is."""

    def now(self) -> Instant: ...

    def wall(self) -> Instant: ...


class SystemClock:
    """The machine's clock plus an offset that a test host moves forward."""

    def __init__(self, offset: Instant = 0) -> None:
        self.offset = offset

    def now(self) -> Instant:
        return time.time_ns() // 1000 + self.offset

    def wall(self) -> Instant:
        return time.time_ns() // 1000


class FixedClock:
    """A clock that tests hold in their hand."""

    def __init__(self, at: Instant) -> None:
        self.at = at

    def now(self) -> Instant:
        return self.at

    def wall(self) -> Instant:
        return self.at


def to_datetime(instant: Instant) -> datetime:
    return datetime.fromtimestamp(instant // SECOND, UTC)


def to_instant(moment: datetime) -> Instant:
    return int(moment.timestamp()) * SECOND + moment.microsecond


_rendered: tuple[int, str] = (-1, "")


def render_timestamp(instant: Instant) -> str:
    """`yyyy-MM-dd HH:mm:ss+0000`; the last second is kept because every answer of a busy second asks for it."""
    global _rendered
    second = instant // SECOND
    if _rendered[0] != second:
        _rendered = (second, time.strftime("%Y-%m-%d %H:%M:%S+0000", time.gmtime(second)))
    return _rendered[1]


_MONTHS = 12


def add_months(at: Instant, months: int) -> Instant:
    """The same day of a later month, or the last one where that month is shorter; the time of day stays."""
    moment = to_datetime(at)
    year, month = divmod(moment.year * _MONTHS + moment.month - 1 + months, _MONTHS)
    if year > MAXYEAR:
        raise ValueError("no calendar reaches so far")
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return to_instant(moment.replace(year=year, month=month + 1, day=day)) + at % SECOND


def get_month_end(year: int, month: int) -> Instant:
    """The instant at which the month is over."""
    return add_months(to_instant(datetime(year, month, 1, tzinfo=UTC)), 1)


PaymentId = NewType("PaymentId", str)
MerchantId = NewType("MerchantId", str)
ChannelId = NewType("ChannelId", str)
RegistrationId = NewType("RegistrationId", str)
ScheduleId = NewType("ScheduleId", str)
CheckoutId = NewType("CheckoutId", str)
LinkId = NewType("LinkId", str)

RandomBytes = Callable[[int], bytes]
"""Gives that many unpredictable bytes."""

system_random_bytes: RandomBytes = os.urandom

_BLOCK_BYTES, _BLOCKS = 16, 64
_blocks: list[bytes] = []
# Two processes must never give the same bytes.
os.register_at_fork(after_in_child=_blocks.clear)


def pooled_random_bytes(count: int) -> bytes:
    """Gives the system's random bytes, drawn many at once: a payment has several ids, and each draw is a system call.

    What was given has left the pool. Nonces under a key that lives long come from the system itself, because a machine
    that is copied while it runs has its pool twice.
    """
    if count > _BLOCK_BYTES:
        return os.urandom(count)
    try:
        # This is one step, so no two threads get the same block.
        return _blocks.pop()[:count]
    except IndexError:
        drawn = os.urandom(_BLOCK_BYTES * _BLOCKS)
        _blocks.extend([drawn[at : at + _BLOCK_BYTES] for at in range(_BLOCK_BYTES, len(drawn), _BLOCK_BYTES)])
        return drawn[:count]


_ID = re.compile("[0-9a-f]{32}")
_CHECKOUT_ID = re.compile(r"[0-9A-F]{32}\.[a-z0-9-]{1,63}")
_ANY_CHECKOUT_ID = re.compile(r"([0-9A-F]{8})[0-9A-F]{24}(?=\.[a-z0-9-])")
_CHECKOUT_DOT_AT = 32
_LINK_ID = re.compile("[0-9a-f]{32}-[a-z0-9-]{1,63}")
_NODE_LENGTH = 12


def make_id(random_bytes: RandomBytes = system_random_bytes) -> str:
    """32 lower-case hex digits: `8a` and 120 random bits.

    Never a leading 0, because some clients compare ids as numbers.
    """
    return "8a" + random_bytes(15).hex()


def is_id(text: str) -> bool:
    """Tells whether a text can be an id; a path may hold text that no database takes, such as NUL."""
    return _ID.fullmatch(text) is not None


def make_checkout_id(merchant_id: MerchantId, random_bytes: RandomBytes = system_random_bytes) -> CheckoutId:
    """32 upper-case hex digits, a dot, and a node by which its merchant is found. Never as long as any other id."""
    return CheckoutId(f"{random_bytes(16).hex().upper()}.{make_node_name(merchant_id)}")


def make_link_id(merchant_id: MerchantId, random_bytes: RandomBytes = system_random_bytes) -> LinkId:
    """32 lower-case hex digits, a hyphen, and the node of its merchant: it has to be found by its address alone."""
    return LinkId(f"{random_bytes(16).hex()}-{make_node_name(merchant_id)}")


def find_link_node(link_id: str) -> str | None:
    """Returns the part of a payment link's id that names its merchant, or None where it cannot be such an id."""
    return link_id[_CHECKOUT_DOT_AT + 1 :] if _LINK_ID.fullmatch(link_id) else None


def make_node_name(merchant_id: MerchantId) -> str:
    """Tells a merchant's checkouts from others', so that every key of a store begins with the merchant."""
    return merchant_id[-_NODE_LENGTH:]


def find_node(checkout_id: str) -> str | None:
    """Returns the node in the id of a checkout, or None if the text cannot be such an id."""
    return checkout_id[_CHECKOUT_DOT_AT + 1 :] if _CHECKOUT_ID.fullmatch(checkout_id) else None


def hide_checkout_ids(text: str) -> str:
    """Cuts every checkout id in a text short, because whoever has the whole id can pay with it."""
    return _ANY_CHECKOUT_ID.sub(r"\1***", text) if "." in text else text


def make_short_id(random_bytes: RandomBytes = system_random_bytes) -> str:
    """`dddd.dddd.dddd`, for people to read out; it is not a key."""
    digits = f"{int.from_bytes(random_bytes(8), 'big') % 10**12:012d}"
    return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"


def make_timed_id(at: Instant, subject_id: str) -> str:
    """Sorts by time, and is the same however often one thing is tried."""
    return f"{at:016x}{subject_id}"


@dataclass(frozen=True, slots=True)
class Result:
    """One row of the result catalogue."""

    code: str
    group: str
    http_status: int
    text: str
    """The meaning in our own words, shown in the reference."""
    wire_text: str = ""
    """The exact description clients compare, where they do; otherwise the text goes out."""

    @property
    def description(self) -> str:
        return self.wire_text or self.text


@dataclass(frozen=True, slots=True)
class Fault:
    """One parameter that cannot be accepted, and what would be."""

    name: str
    message: str
    value: str | None = None
    """The value that was sent, masked if the parameter is secret."""


class Refusal(Exception):
    """The caller is wrong and is told which rule was broken; `detail` is appended to the description.

    Refusal                    answered once, by the guard, from the result row it carries
    ├── InvalidParameters      200.300.404 with every fault named
    ├── Unauthenticated        401, the Authorization header is missing or malformed
    ├── Forbidden              403, a wrong token or an entity it does not reach
    ├── NotFound               404, no such path or no such payment
    ├── WrongMethod            405, the path exists, the method does not
    ├── TooLarge               413, a limit on size or count was passed
    ├── TooSlow                400, the body did not arrive in time
    ├── Malformed              400, the bytes are not a request of HTTP/1.1
    ├── TooMany                429, a throttle row said no; carries when to come back
    ├── Overloaded             503, more requests are being served than this process takes on
    ├── TemporarilyUnavailable 503, the database takes no writes; nothing was begun
    └── Conflict               409, an idempotency key in flight or used for another request
    """

    http_status: int | None = None
    leaves_body_unread = False
    """Then the connection cannot be used for another request."""

    def __init__(self, result: Result, detail: str = "") -> None:
        super().__init__(result.code)
        self.result = result
        self.detail = detail

    @property
    def status(self) -> int:
        return self.http_status or self.result.http_status


class InvalidParameters(Refusal):
    http_status = 400

    def __init__(self, result: Result, faults: Sequence[Fault]) -> None:
        super().__init__(result)
        self.faults = tuple(faults)


class Unauthenticated(Refusal):
    http_status = 401


class Forbidden(Refusal):
    http_status = 403


class WrongToken(Forbidden):
    """The credential that was sent is unknown, so it may be a guess."""


class NotFound(Refusal):
    http_status = 404


class WrongMethod(Refusal):
    http_status = 405

    def __init__(self, result: Result, allowed: Sequence[str]) -> None:
        super().__init__(result)
        self.allowed = tuple(allowed)


class TooLarge(Refusal):
    http_status = 413
    leaves_body_unread = True


class TooSlow(Refusal):
    http_status = 400
    leaves_body_unread = True


class Malformed(Refusal):
    http_status = 400
    leaves_body_unread = True


class TooMany(Refusal):
    http_status = 429

    def __init__(self, result: Result, retry_after_s: int, subject_id: str | None = None) -> None:
        super().__init__(result)
        self.retry_after_s = retry_after_s
        self.subject_id = subject_id


class Overloaded(Refusal):
    http_status = 503
    leaves_body_unread = True

    def __init__(self, result: Result, retry_after_s: int) -> None:
        super().__init__(result)
        self.retry_after_s = retry_after_s


class TemporarilyUnavailable(Refusal):
    http_status = 503

    def __init__(self, result: Result, retry_after_s: int, detail: str = "") -> None:
        super().__init__(result, detail)
        self.retry_after_s = retry_after_s


class Conflict(Refusal):
    http_status = 409
