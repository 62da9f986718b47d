"""The behaviour of an inbox: it answers with a status, a delay, a reset or a redirect, to some requests or to all.

How it is stored is not known here.
"""

import re
from collections.abc import Callable
from http import HTTPStatus

import msgspec

from tollgate.catalog import codes, results
from tollgate.contract.fields import Pairs, is_identity_name
from tollgate.values import Fault, InvalidParameters
from tollgate.web.request import Reply

DELAY_S_MAX = 60
_STATUSES = frozenset(status.value for status in HTTPStatus if status.value >= HTTPStatus.OK)
_RETRY_AFTER_S_MAX = 30 * 24 * 3600
_COUNT_MAX = 1_000_000
_URL_LENGTH_MAX = 2048


class Behaviour(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    status: int | None = None
    delay: int = 0
    reset: bool = False
    redirect: str = ""
    retry_after: int | None = None
    count: int | None = None
    """The number of requests to answer so; None for all, until it is changed."""

    def make_reply(self, usual_status: int) -> Reply:
        status = self.status or (HTTPStatus.FOUND if self.redirect else usual_status)
        headers: tuple[tuple[bytes, bytes], ...] = ()
        if self.redirect:
            headers += ((b"location", self.redirect.encode()),)
        if self.retry_after is not None:
            headers += ((b"retry-after", str(self.retry_after).encode()),)
        return Reply(int(status), b"", b"text/plain", headers, is_reset=self.reset)


USUAL = Behaviour()


def _make_number_check(lowest: int, highest: int) -> Callable[[str], bool]:
    return lambda text: re.fullmatch("[0-9]{1,9}", text) is not None and lowest <= int(text) <= highest


class _Field(msgspec.Struct, frozen=True):
    is_valid: Callable[[str], bool]
    message: str
    read: Callable[[str], object]


_FIELDS = {
    "status": _Field(
        lambda text: re.fullmatch("[0-9]{3}", text) is not None and int(text) in _STATUSES,
        "must be a known HTTP status from 200 to 599",
        int,
    ),
    "delay": _Field(
        _make_number_check(0, DELAY_S_MAX), f"must be a whole number of seconds from 0 to {DELAY_S_MAX}", int
    ),
    "reset": _Field(lambda text: text in ("true", "false"), "must be true or false", lambda text: text == "true"),
    "redirect": _Field(
        lambda text: len(text) <= _URL_LENGTH_MAX and re.fullmatch(r"https?://[\x21-\x7e]+", text) is not None,
        f"must be an http or https address of at most {_URL_LENGTH_MAX} visible ASCII characters",
        str,
    ),
    "retryAfter": _Field(
        _make_number_check(0, _RETRY_AFTER_S_MAX),
        f"must be a whole number of seconds from 0 to {_RETRY_AFTER_S_MAX}",
        int,
    ),
    "count": _Field(_make_number_check(1, _COUNT_MAX), f"must be a whole number from 1 to {_COUNT_MAX}", int),
}


def read_behaviour(pairs: Pairs) -> Behaviour:
    """Reads the fields of a form; without any, the inbox answers as usual. Anything else is refused."""
    sent = [(name, text) for name, text in pairs if not is_identity_name(name)]
    names = [name for name, _ in sent]
    faults = [
        Fault(name, _FIELDS[name].message if name in _FIELDS else "is not a field of a behaviour", text)
        for name, text in sent
        if name not in _FIELDS or not _FIELDS[name].is_valid(text)
    ]
    faults += [Fault(name, "must be sent once") for name in _FIELDS if names.count(name) > 1]
    if faults:
        raise InvalidParameters(results.get_result(codes.INVALID_REQUEST), faults)
    # The names of the form are those of the stored JSON.
    return msgspec.convert({name: _FIELDS[name].read(text) for name, text in sent}, Behaviour)
