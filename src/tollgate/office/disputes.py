"""Chargebacks with their deadlines, and the evidence that is kept with them.

A chargeback is recorded on the page of its payment.
"""

from urllib.parse import quote, unquote

import msgspec

from tollgate.catalog import audit_actions, limits, permissions, results
from tollgate.flows import evidence as flow
from tollgate.office import chains, uploads, visits
from tollgate.operations import signing
from tollgate.payments.payment import Payment, State
from tollgate.payments.reporting import FOREVER
from tollgate.store import evidence
from tollgate.values import Instant, is_id
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_EVIDENCE = f"{visits.OF_MERCHANT}/payments/{{id}}/evidence"
_FILE_NAME = b"x-file-name"
_LAST = "g"
"""Sorts after every id, because ids are hex digits."""


class Dispute(msgspec.Struct, frozen=True):
    """A chargeback as the list shows it."""

    payment: Payment
    evidence: int
    is_sound: bool

    @property
    def is_open(self) -> bool:
        """Tells whether it was not reversed, all of it."""
        return self.payment.state is State.APPROVED and self.payment.left > 0

    @property
    def deadline(self) -> Instant:
        return get_deadline(self.payment)

    @property
    def reason(self) -> str:
        return results.get_result(self.payment.result_code).description if self.payment.result_code else ""


def get_deadline(chargeback: Payment) -> Instant:
    """Returns the time until which a chargeback can be contested."""
    return chargeback.created_at + limits.LIMITS.dispute_lifetime


@ROUTES.add("GET", f"{visits.OF_MERCHANT}/disputes", permissions.Permission.VIEW_PAYMENTS)
async def show_disputes(visit: visits.Visit) -> Reply:
    """Lists the chargebacks of the channels that the user may see, the newest first."""
    app, merchant_id = visit.app, visit.get_merchant().id
    before, _, last = visit.find("before").partition(".")
    is_place = before.isascii() and before.isdecimal() and len(before) < len(str(FOREVER)) and is_id(last)
    place = (int(before), last) if is_place else (FOREVER, _LAST)
    channel_ids = [channel.id for channel in visit.list_channels()]
    found = await evidence.list_disputes(app.database, merchant_id, channel_ids, *place, limits.LIMITS.disputes_shown)
    counts = await evidence.count_evidence(app.database, merchant_id, [payment.id for payment in found])
    disputes = [
        Dispute(payment, counts.get(payment.id, 0), signing.has_signature(payment, app.keyring)) for payment in found
    ]
    following = f"{found[-1].created_at}.{found[-1].id}" if len(found) == limits.LIMITS.disputes_shown else ""
    return visit.render(
        "disputes.html", title="Disputes", disputes=disputes, following=following, is_first=not is_place
    )


async def _get_chargeback(visit: visits.Visit, permission: permissions.Permission) -> chains.Found:
    found = await chains.get_found(visit, visit.names[0], permission)
    if found.payment.action not in flow.DISPUTES:
        raise visits.make_not_found("chargeback")
    chains.refuse_tampered(found)
    return found


@ROUTES.add("POST", _EVIDENCE, permissions.Permission.RECORD_FACTS, takes_bytes=True, large_body=uploads.EVIDENCE_BODY)
async def add_file(visit: visits.Visit) -> Reply:
    """Keeps a file with a chargeback; its name is in a header, percent-encoded."""
    name = unquote(visit.request.header(_FILE_NAME) or "file")
    return await _add(visit, name, visit.request.body)


@ROUTES.add("POST", f"{visits.OF_MERCHANT}/payments/{{id}}/notes", permissions.Permission.RECORD_FACTS)
async def add_note(visit: visits.Visit) -> Reply:
    """Keeps a note with a chargeback."""
    text = visit.find("note")
    if not text:
        raise visits.refuse_field("note", "is empty")
    return await _add(visit, "note.txt", text.encode())


async def _add(visit: visits.Visit, name: str, content: bytes) -> Reply:
    found = await _get_chargeback(visit, permissions.Permission.RECORD_FACTS)
    await visit.record(audit_actions.AuditAction.EVIDENCE_ADDED, found.payment.id, name=flow.clean_name(name))
    added = await flow.add_evidence(visit.app, found.payment, name, content, visit.user.name)
    return visit.go(f"{visit.base}{found.path}", f"{added.name} was added.")


@ROUTES.add("GET", f"{_EVIDENCE}/{{file}}", permissions.Permission.VIEW_PAYMENTS)
async def download(visit: visits.Visit) -> Reply:
    """Returns a note or a file, to be saved and never to be shown by the browser."""
    found = await _get_chargeback(visit, permissions.Permission.VIEW_PAYMENTS)
    kept = None
    if is_id(visit.names[1]):
        kept = await evidence.find_evidence(visit.app.database, visit.get_merchant().id, visit.names[1])
    if kept is None or kept.payment_id != found.payment.id:
        raise visits.make_not_found("file")
    await visit.record(audit_actions.AuditAction.EVIDENCE_VIEWED, found.payment.id, name=kept.name)
    body = await flow.open_evidence(visit.app, kept)
    headers = (
        (b"content-disposition", f"attachment; filename*=UTF-8''{quote(kept.name, safe='')}".encode()),
        (b"content-security-policy", b"sandbox; default-src 'none'"),
    )
    return Reply(200, body, kept.content_type.encode(), headers)
