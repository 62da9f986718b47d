"""The command record: receipts, chargebacks and their reversals, by hand or from a file of the acquirer.

Its exit status is 0 if all is recorded, 1 where a line was refused, 2 where nothing was recorded.
"""

import sys
from pathlib import Path
from typing import Any

import click

from tollgate.catalog import audit_actions, limits
from tollgate.cli.program import STORE_FLAGS, program, with_app, with_settings
from tollgate.contract.record_lines import LineFault, RecordLine, read_fact, read_record_lines
from tollgate.flows import record as flow
from tollgate.operations import audit_log
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments.following import SYSTEM_ONLY
from tollgate.store import merchants
from tollgate.values import make_id

_REFUSED, _NOT_RECORDED = 1, 2
_ACTOR = Actor(name="tollgate record")


@program.command("record")
@click.argument("payment_id", required=False)
@click.option("--type", "payment_type", type=click.Choice([*SYSTEM_ONLY]), help="Receipt, chargeback or its reversal.")
@click.option("--amount", help="As in 12.34; all of the payment if it is left out.")
@click.option("--result-code", help="The reason of a chargeback, such as 000.100.203.")
@click.option("--reference", help="The acquirer's own: a fact is recorded once for each type and reference.")
@click.option(
    "--file", "path", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A CSV file of the acquirer."
)
@with_settings(*STORE_FLAGS)
def record(
    payment_id: str | None,
    payment_type: str | None,
    amount: str | None,
    result_code: str | None,
    reference: str | None,
    path: Path | None,
    **flags: Any,
) -> None:
    """Record a receipt (RC), a chargeback (CB) or its reversal (CR).

    Name a payment and a --type, or a --file with the columns paymentId (or shortId or merchantTransactionId), type,
    amount, currency, resultCode, reference and date. Every line is checked before the first one is recorded, and a
    line that was recorded before is not recorded twice.
    """
    if (path is None) is (payment_id is None) or (payment_id is not None and payment_type is None):
        raise click.UsageError("name a payment and its --type, or a --file")
    if path is not None:
        if path.stat().st_size > limits.LIMITS.record_file_bytes_max:
            raise click.UsageError(f"a file has up to {limits.LIMITS.record_file_bytes_max // 1024 // 1024} MB")
        lines, faults = read_record_lines(path.read_bytes())
    else:
        line, faults = read_fact(
            payment_id or "",
            payment_type or "",
            reference or f"command-{make_id()}",
            amount=amount or "",
            result_code=result_code or "",
        )
        lines = [] if line is None else [line]
    _refuse(faults)
    reports = with_app(flags, lambda app: _record(app, lines))
    for result in flow.LineResult:
        count = sum(each.result is result for each in reports)
        click.echo(f"{count} {result}")
    if any(each.result is flow.LineResult.REFUSED for each in reports):
        sys.exit(_REFUSED)


async def _record(app: App, lines: list[RecordLine]) -> list[flow.LineReport]:
    channels = await merchants.list_channels(app.database)
    planned, faults = await flow.plan_lines(app, lines, channels)
    _refuse(faults)
    for merchant_id in sorted({each.payment.merchant_id for each in planned}):
        own = [each for each in planned if each.payment.merchant_id == merchant_id]
        alone = len(own) == 1
        await audit_log.record(
            app.database,
            app.keyring,
            app.clock,
            _ACTOR,
            audit_actions.AuditAction.FACT_RECORDED if alone else audit_actions.AuditAction.FACTS_IMPORTED,
            subject=own[0].payment.id if alone else "",
            merchant_id=merchant_id,
            details={"lines": str(len(own))},
        )
    return await flow.apply_lines(app, planned, lambda each: click.echo(_render(each)))


def _render(report: flow.LineReport) -> str:
    where = f"line {report.number}: " if report.number else ""
    return f"{where}{report.result}: {report.text}"


def _refuse(faults: list[LineFault]) -> None:
    if faults:
        for fault in faults:
            where = f"line {fault.number}: " if fault.number else ""
            click.echo(f"tollgate: {where}{fault.message}", err=True)
        sys.exit(_NOT_RECORDED)
