"""Receipts, chargebacks and their reversals that an operator records, one by one or by a file of the acquirer.

What a fact does to a chain is decided in `flows`.
"""

from collections.abc import Mapping

import msgspec

from tollgate.catalog import audit_actions, payment_types, permissions, results
from tollgate.contract.record_lines import NOTICES, LineFault, RecordLine, read_fact, read_record_lines
from tollgate.flows import record
from tollgate.flows.record import LineReport, LineResult, PlannedLine
from tollgate.office import approvals, chains, uploads, visits
from tollgate.operations.approvals import needs_approval
from tollgate.payments.following import SYSTEM_ONLY
from tollgate.web.pages import showing
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_IMPORT = f"{visits.OF_MERCHANT}/disputes/import"
_FIELDS = ("type", "amount", "reason", "reference", "date", "key")

_CONFIRMED_BYTES_MAX = 256 * 1024
"""A file is kept with the request for a second person."""

REASONS = tuple((code, f"{code} {results.RESULTS[code].description}") for code in sorted(NOTICES))
"""The reasons of a chargeback to choose from."""


class FactOffer(msgspec.Struct, frozen=True):
    """A fact that may be recorded about a payment, or the reason why it may not."""

    payment_type: str
    label: str
    reason: str
    amount: int


async def list_facts(visit: visits.Visit, found: chains.Found) -> list[FactOffer]:
    """Lists the facts that the page of a payment offers to record."""
    payment = found.payment
    if found.tampered or found.is_over or not visit.may(permissions.Permission.RECORD_FACTS, found.channel.id):
        return []
    offers = []
    for payment_type in SYSTEM_ONLY:
        if payment.payment_type not in payment_types.PAYMENT_TYPES[payment_type].follows:
            continue
        line = RecordLine(number=0, payment_type=payment_type, reference="-")
        code = await record.find_objection(visit.app, found.channel, payment, line)
        reason = "" if code is None else results.get_result(code).description
        amount = payment.left if payment_type == "RC" else payment.money.hundredths
        offers.append(FactOffer(payment_type, payment_types.PAYMENT_TYPES[payment_type].label, reason, amount))
    return offers


def _read(found: chains.Found, sent: Mapping[str, str]) -> RecordLine:
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
        raise visits.refuse_field("record", faults[0].message)
    return line


async def run_record(visit: visits.Visit, sent: Mapping[str, str]) -> str:
    """Records a fact, as the user whose visit it is, and returns what to tell the user."""
    found = await chains.get_found(visit, sent["payment"], permissions.Permission.RECORD_FACTS)
    chains.refuse_tampered(found)
    line = _read(found, sent)
    label = payment_types.PAYMENT_TYPES[line.payment_type].label
    await visit.record(
        audit_actions.AuditAction.FACT_RECORDED, found.payment.id, type=line.payment_type, reference=line.reference
    )
    recorded = await record.record(
        visit.app, found.channel, found.payment, line, f"{found.channel.id}_{visit.request.trace}"
    )
    money = showing.show_amount(recorded.payment.money.hundredths, recorded.payment.money.currency)
    done = "was recorded" if recorded.is_new else "had been recorded before"
    return f"The {label} of {money} {done}."


_RECORD = approvals.declare_action("record", permissions.ApprovalKind.RECORD, permissions.Permission.RECORD_FACTS)(
    run_record
)


@ROUTES.add("POST", f"{visits.OF_MERCHANT}/payments/{{id}}/record", permissions.Permission.RECORD_FACTS)
async def record_one(visit: visits.Visit) -> Reply:
    """Records a receipt, a chargeback or its reversal."""
    found = await chains.get_found(visit, visit.names[0], permissions.Permission.RECORD_FACTS)
    chains.refuse_tampered(found)
    sent = {name: visit.find(name) for name in _FIELDS} | {"payment": found.payment.id}
    line, back = _read(found, sent), f"{visit.base}{found.path}"
    if await record.find_earlier(visit.app, found.payment, line) is not None:
        return visit.go(back, "This was recorded before, and is not recorded twice.")
    code = await record.find_objection(visit.app, found.channel, found.payment, line)
    if code is not None:
        raise visits.refuse_field("record", results.get_result(code).description)
    amount = showing.show_amount(line.amount or found.payment.money.hundredths, found.payment.money.currency)
    return await approvals.perform(
        visit,
        _RECORD,
        sent,
        back=back,
        subject=found.payment.id,
        summary=f"{payment_types.PAYMENT_TYPES[line.payment_type].label} of {amount} on payment {found.payment.id}",
        channel_id=found.channel.id,
    )


@ROUTES.add("GET", _IMPORT, permissions.Permission.RECORD_FACTS)
async def show_import(visit: visits.Visit) -> Reply:
    """Shows the form for a file of the acquirer."""
    return _render(visit)


def _render(visit: visits.Visit, status: int = 200, **values: object) -> Reply:
    shown = {"faults": (), "reports": (), "counts": {}, **values}
    return visit.render(
        "record_import.html",
        title="Import a file",
        status=status,
        ticket=uploads.make_ticket(visit, uploads.RECORD_BODY),
        **shown,
    )


@ROUTES.add("POST", _IMPORT, permissions.Permission.RECORD_FACTS, takes_bytes=True, large_body=uploads.RECORD_BODY)
async def import_file(visit: visits.Visit) -> Reply:
    """Reads a CSV file; if every line fits, the facts are recorded, or a second person is asked."""
    body = visit.request.body
    planned, faults = await _plan(visit, body)
    if faults:
        return _render(visit, 400, faults=faults)
    if needs_approval(visit.app.four_eyes, permissions.ApprovalKind.RECORD):
        if len(body) > _CONFIRMED_BYTES_MAX:
            raise visits.refuse_field("file", "a file that a second person confirms has up to 256 kB: split it")
        fields = {"file": body.decode(), "channels": ",".join(sorted({each.channel.id for each in planned}))}
        summary = f"file with {_describe(planned)}"
        return await approvals.perform(
            visit, _IMPORT_FILE, fields, back=f"{visit.base}/disputes", subject="", summary=summary
        )
    reports = await _apply(visit, planned)
    return _render(visit, reports=reports, counts=_count(reports))


def _describe(planned: list[PlannedLine]) -> str:
    """Says what a file would record: how many facts of each type, and their sum, for the second person."""
    sums: dict[tuple[str, str], list[int]] = {}
    for each in planned:
        money = each.payment.money
        key = payment_types.PAYMENT_TYPES[each.line.payment_type].label, money.currency
        sums.setdefault(key, []).append(each.line.amount or money.hundredths)
    told = [
        f"{len(amounts)} of type {label}, together {showing.show_amount(sum(amounts), currency)}"
        for (label, currency), amounts in sorted(sums.items())
    ]
    return "; ".join(told) or "nothing"


async def _plan(visit: visits.Visit, body: bytes) -> tuple[list[PlannedLine], list[LineFault]]:
    lines, faults = read_record_lines(body)
    if faults:
        return [], faults
    return await record.plan_lines(visit.app, lines, visit.list_channels(permissions.Permission.RECORD_FACTS))


async def _apply(visit: visits.Visit, planned: list[PlannedLine]) -> list[LineReport]:
    await visit.record(audit_actions.AuditAction.FACTS_IMPORTED, "", lines=str(len(planned)))
    return await record.apply_lines(visit.app, planned)


def _count(reports: list[LineReport]) -> dict[LineResult, int]:
    return {result: sum(each.result is result for each in reports) for result in LineResult}


async def run_import(visit: visits.Visit, sent: Mapping[str, str]) -> str:
    """Records the facts of a file, as the user whose visit it is, and returns what to tell the user."""
    planned, faults = await _plan(visit, sent["file"].encode())
    if faults:
        raise visits.refuse_field("file", "; ".join(f"line {fault.number} {fault.message}" for fault in faults[:5]))
    counts = _count(await _apply(visit, planned))
    return ", ".join(f"{count} {result}" for result, count in counts.items()) + "."


_IMPORT_FILE = approvals.declare_action("import", permissions.ApprovalKind.RECORD, permissions.Permission.RECORD_FACTS)(
    run_import
)
