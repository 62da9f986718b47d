"""Receipts, chargebacks and their reversals that an operator records, one by one or by a file of the acquirer.

What a fact does to a chain is decided in `flows`.
"""

from collections.abc import Mapping

import msgspec

from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.catalog.permissions import ApprovalKind, Permission
from tollgate.catalog.results import RESULTS, get_result
from tollgate.contract.record_lines import NOTICES, LineFault, RecordLine, read_fact, read_record_lines
from tollgate.flows import record
from tollgate.flows.record import LineReport, LineResult, PlannedLine
from tollgate.office.approvals import declare_action, perform
from tollgate.office.chains import Found, get_found, refuse_tampered
from tollgate.office.showing import show_amount
from tollgate.office.uploads import RECORD_BODY, make_ticket
from tollgate.office.visits import OF_MERCHANT, OfficeRoutes, Visit, refuse_field
from tollgate.operations.approvals import needs_approval
from tollgate.payments.following import SYSTEM_ONLY
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()
_IMPORT = f"{OF_MERCHANT}/disputes/import"
_FIELDS = ("type", "amount", "reason", "reference", "date", "key")

_CONFIRMED_BYTES_MAX = 256 * 1024
"""A file is kept with the request for a second person."""

REASONS = tuple((code, f"{code} {RESULTS[code].description}") for code in sorted(NOTICES))
"""The reasons of a chargeback to choose from."""


class FactOffer(msgspec.Struct, frozen=True):
    """A fact that may be recorded about a payment, or the reason why it may not."""

    payment_type: str
    label: str
    reason: str
    amount: int


async def list_facts(visit: Visit, found: Found) -> list[FactOffer]:
    """Lists the facts that the page of a payment offers to record."""
    payment = found.payment
    if found.tampered or not visit.may(Permission.RECORD_FACTS, found.channel.id):
        return []
    offers = []
    for payment_type in SYSTEM_ONLY:
        if payment.payment_type not in PAYMENT_TYPES[payment_type].follows:
            continue
        line = RecordLine(number=0, payment_type=payment_type, reference="-")
        code = await record.find_objection(visit.app, found.channel, payment, line)
        reason = "" if code is None else get_result(code).description
        amount = payment.left if payment_type == "RC" else payment.money.hundredths
        offers.append(FactOffer(payment_type, PAYMENT_TYPES[payment_type].label, reason, amount))
    return offers


def _read(found: Found, sent: Mapping[str, str]) -> RecordLine:
    # Without a reference of the acquirer, the key of the form keeps a second click from recording the fact twice.
    reference = sent.get("reference") or f"office-{sent.get('key', '')}"
    payment, payment_type = found.payment, sent.get("type", "")
    line, faults = read_fact(
        payment.id,
        payment_type,
        reference,
        amount=sent.get("amount", "").replace(",", ""),
        currency=payment.money.currency,
        result_code=sent.get("reason", "") if payment_type == "CB" else "",
        occurred_on=sent.get("date", ""),
    )
    if line is None:
        raise refuse_field("record", faults[0].message)
    return line


async def run_record(visit: Visit, sent: Mapping[str, str]) -> str:
    """Records a fact, as the user whose visit it is, and returns what to tell the user."""
    found = await get_found(visit, sent["payment"], Permission.RECORD_FACTS)
    refuse_tampered(found)
    line = _read(found, sent)
    label = PAYMENT_TYPES[line.payment_type].label
    await visit.record(AuditAction.FACT_RECORDED, found.payment.id, type=line.payment_type, reference=line.reference)
    recorded = await record.record(
        visit.app, found.channel, found.payment, line, f"{found.channel.id}_{visit.request.trace}"
    )
    money = show_amount(recorded.payment.money.hundredths, recorded.payment.money.currency)
    done = "was recorded" if recorded.is_new else "had been recorded before"
    return f"The {label} of {money} {done}."


_RECORD = declare_action("record", ApprovalKind.RECORD, Permission.RECORD_FACTS)(run_record)


@ROUTES.add("POST", f"{OF_MERCHANT}/payments/{{id}}/record", Permission.RECORD_FACTS)
async def record_one(visit: Visit) -> Reply:
    """Records a receipt, a chargeback or its reversal."""
    found = await get_found(visit, visit.names[0], Permission.RECORD_FACTS)
    refuse_tampered(found)
    sent = {name: visit.find(name) for name in _FIELDS} | {"payment": found.payment.id}
    line, back = _read(found, sent), f"{visit.base}{found.path}"
    if await record.find_earlier(visit.app, found.payment, line) is not None:
        return visit.go(back, "This was recorded before, and is not recorded twice.")
    code = await record.find_objection(visit.app, found.channel, found.payment, line)
    if code is not None:
        raise refuse_field("record", get_result(code).description)
    amount = show_amount(line.amount or found.payment.money.hundredths, found.payment.money.currency)
    return await perform(
        visit,
        _RECORD,
        sent,
        back=back,
        subject=found.payment.id,
        summary=f"{PAYMENT_TYPES[line.payment_type].label} of {amount} on payment {found.payment.id}",
        channel_id=found.channel.id,
    )


@ROUTES.add("GET", _IMPORT, Permission.RECORD_FACTS)
async def show_import(visit: Visit) -> Reply:
    """Shows the form for a file of the acquirer."""
    return _render(visit)


def _render(visit: Visit, status: int = 200, **values: object) -> Reply:
    shown = {"faults": (), "reports": (), "counts": {}, **values}
    return visit.render("record_import.html", title="Import a file", status=status, ticket=make_ticket(visit), **shown)


@ROUTES.add("POST", _IMPORT, Permission.RECORD_FACTS, takes_bytes=True, large_body=RECORD_BODY)
async def import_file(visit: Visit) -> Reply:
    """Reads a CSV file; if every line fits, the facts are recorded, or a second person is asked."""
    body = visit.request.body
    planned, faults = await _plan(visit, body)
    if faults:
        return _render(visit, 400, faults=faults)
    if needs_approval(visit.app.four_eyes, ApprovalKind.RECORD):
        if len(body) > _CONFIRMED_BYTES_MAX:
            raise refuse_field("file", "a file that a second person confirms has up to 256 kB: split it")
        summary = f"file with {len(planned)} receipts and disputes"
        return await perform(
            visit, _IMPORT_FILE, {"file": body.decode()}, back=f"{visit.base}/disputes", subject="", summary=summary
        )
    reports = await _apply(visit, planned)
    return _render(visit, reports=reports, counts=_count(reports))


async def _plan(visit: Visit, body: bytes) -> tuple[list[PlannedLine], list[LineFault]]:
    lines, faults = read_record_lines(body)
    if faults:
        return [], faults
    return await record.plan_lines(visit.app, lines, visit.list_channels(Permission.RECORD_FACTS))


async def _apply(visit: Visit, planned: list[PlannedLine]) -> list[LineReport]:
    await visit.record(AuditAction.FACTS_IMPORTED, "", lines=str(len(planned)))
    return await record.apply_lines(visit.app, planned)


def _count(reports: list[LineReport]) -> dict[LineResult, int]:
    return {result: sum(each.result is result for each in reports) for result in LineResult}


async def run_import(visit: Visit, sent: Mapping[str, str]) -> str:
    """Records the facts of a file, as the user whose visit it is, and returns what to tell the user."""
    planned, faults = await _plan(visit, sent["file"].encode())
    if faults:
        raise refuse_field("file", "; ".join(f"line {fault.number} {fault.message}" for fault in faults[:5]))
    counts = _count(await _apply(visit, planned))
    return ", ".join(f"{count} {result}" for result, count in counts.items()) + "."


_IMPORT_FILE = declare_action("import", ApprovalKind.RECORD, Permission.RECORD_FACTS)(run_import)
