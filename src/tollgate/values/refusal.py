"""Refusals: the caller is wrong, and is told which rule was broken. Outcomes (declines) are values and never live here.

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

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tollgate.values.result import Result


@dataclass(frozen=True, slots=True)
class Fault:
    """One parameter that cannot be accepted, and what would be."""

    name: str
    message: str
    value: str | None = None
    """What was sent, already masked where the parameter is secret."""


class Refusal(Exception):
    """Raised anywhere, caught once. `detail` is appended to the description for the caller to read."""

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

    def __init__(self, result: Result, retry_after_s: int) -> None:
        super().__init__(result)
        self.retry_after_s = retry_after_s


class Conflict(Refusal):
    http_status = 409
