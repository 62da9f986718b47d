"""Checks the signatures of events that a processor sends: an HMAC over the time and the body.

What an event means is not known here.
"""

import hmac
import re
from collections.abc import Iterator

from tollgate.values import MINUTE, SECOND, Instant, Secret

TOLERANCE = 5 * MINUTE
"""The difference between the time of a signature and the wall clock; an older signature may be a replay."""
_SCHEME = "v1"
_TIME = "t"
_SECONDS = re.compile("[0-9]{1,12}")
_HEX = re.compile("[0-9a-f]{64}")
_PARTS_MAX = 20


def is_signed(body: bytes, header: str, secret: Secret, wall_now: Instant) -> bool:
    """Tells whether a header like `t=1700000000,v1=...` signs a body.

    While a secret is being replaced, there are several signatures; one that fits is enough.
    """
    parts = [each.strip().partition("=")[::2] for each in header.split(",", _PARTS_MAX)[:_PARTS_MAX]]
    times = [value for name, value in parts if name == _TIME]
    if len(times) != 1 or not _SECONDS.fullmatch(times[0]):
        return False
    if abs(wall_now - int(times[0]) * SECOND) > TOLERANCE:
        return False
    expected = sign(body, times[0], secret)
    return any(hmac.compare_digest(expected, each) for each in _list_signatures(parts))


def sign(body: bytes, seconds: str, secret: Secret) -> str:
    return hmac.new(secret.reveal().encode(), seconds.encode() + b"." + body, "sha256").hexdigest()


def _list_signatures(parts: list[tuple[str, str]]) -> Iterator[str]:
    return (value for name, value in parts if name == _SCHEME and _HEX.fullmatch(value))
