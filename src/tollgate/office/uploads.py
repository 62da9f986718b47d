"""Files that are sent to the back office: who may send a large body is decided before it is read.

A page with a form for files carries a ticket, which is signed for the session and expires. The head of the request
brings it, so that nobody without a session makes the host read megabytes.
"""

from functools import partial
from hmac import compare_digest

from tollgate.catalog.limits import LIMITS
from tollgate.office.visits import Visit, get_cookie_name, read_cookie
from tollgate.operations.app import App
from tollgate.values import Instant, Secret
from tollgate.vault import passwords, signing
from tollgate.web.parsing import Head
from tollgate.web.request import LargeBody

_PURPOSE = "upload ticket"
_HEADER = b"x-upload-ticket"
_TIME_DIGITS_MAX = 18


def make_ticket(visit: Visit, body: LargeBody) -> str:
    """Makes the ticket of a page for bodies of one size; it lasts as long as the session would without a request."""
    ends_at = visit.app.clock.wall() + LIMITS.session_idle
    return f"{ends_at}.{_sign(visit.app, visit.session.token_hash, ends_at, body.bytes_max)}"


def may_upload(bytes_max: int, head: Head, app: App) -> bool:
    """Tells whether a request has the cookie of a session and a ticket that was made for it and for this size."""
    token = read_cookie(head.headers.get(b"cookie", b"").decode("latin-1"), get_cookie_name(app))
    ends_at, _, signature = head.headers.get(_HEADER, b"").decode("latin-1").partition(".")
    is_time = ends_at.isascii() and ends_at.isdecimal() and len(ends_at) <= _TIME_DIGITS_MAX
    if not token or not is_time or not app.clock.wall() < int(ends_at):
        return False
    known = _sign(app, passwords.hash_session_token(Secret(token)), int(ends_at), bytes_max)
    return compare_digest(signature.encode(), known.encode())


def _sign(app: App, token_hash: bytes, ends_at: Instant, bytes_max: int) -> str:
    return signing.make_mac(_PURPOSE, [token_hash.hex(), ends_at, bytes_max], app.keyring).hex()


EVIDENCE_BODY, RECORD_BODY, SNAPSHOT_BODY = (
    LargeBody(bytes_max, partial(may_upload, bytes_max))
    for bytes_max in (LIMITS.evidence_bytes_max, LIMITS.record_file_bytes_max, LIMITS.snapshot_bytes_max)
)
