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
from tollgate.payments.reporting import FOREVER, Listed, Place
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

    place: Place
    payment: Payment | None
    """It is None if the row is not what the gateway wrote."""
    evidence: int
    is_open: bool = False
    """It was not reversed, or not all of it."""
    deadline: Instant | None = None
    reason: str = ""


def get_deadline(chargeback: Payment) -> Instant:
    """Returns the time until which a chargeback can be contested."""
    return chargeback.created_at + limits.LIMITS.dispute_lifetime


@ROUTES.add("GET", f"{visits.OF_MERCHANT}/disputes", permissions.Permission.VIEW_PAYMENTS, may_be_behind=True)
async def show_disputes(visit: visits.Visit) -> Reply:
    """Lists the chargebacks of the channels that the user may see, the newest first."""
    app, merchant_id = visit.app, visit.get_merchant().id
    before, _, last = visit.find("before").partition(".")
    is_place = before.isascii() and before.isdecimal() and len(before) < len(str(FOREVER)) and is_id(last)
    place = Place(int(before), last) if is_place else Place(FOREVER, _LAST)
    channel_ids = [channel.id for channel in visit.list_channels()]
    found = await evidence.list_disputes(app.database, merchant_id, channel_ids, place, limits.LIMITS.disputes_shown)
    counts = await evidence.count_evidence(app.database, merchant_id, [each.place.id for each in found])
    disputes = [_describe(visit, each, counts.get(each.place.id, 0)) for each in found]
    is_full = len(found) == limits.LIMITS.disputes_shown
    following = f"{found[-1].place.at}.{found[-1].place.id}" if is_full else ""
    return visit.render(
        "disputes.html", title="Disputes", disputes=disputes, following=following, is_first=not is_place
    )


def _describe(visit: visits.Visit, listed: Listed[Payment], pieces: int) -> Dispute:
    payment = listed.row
    if payment is None or not signing.has_signature(payment, visit.app.keyring):
        return Dispute(listed.place, None, pieces)
    return Dispute(
        place=listed.place,
        payment=payment,
        evidence=pieces,
        is_open=payment.state is State.APPROVED and payment.left > 0,
        deadline=get_deadline(payment),
        reason=results.get_result(payment.result_code).description if payment.result_code else "",
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
