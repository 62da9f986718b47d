"""The command verify, which reports rows that were changed behind the back of the gateway.

Its exit status is 0 if all is well, 1 with findings, 2 if it could not be run. What is verified is decided in `flows`.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
import msgspec

from tollgate.cli.program import STORE_FLAGS, program, with_settings, with_store
from tollgate.config import Settings
from tollgate.flows.auditing import AuditReport
from tollgate.flows.verify import FINDINGS_MAX
from tollgate.flows.verify import verify as verify_store
from tollgate.store import audit
from tollgate.store.database import Database, StoreFault
from tollgate.vault.keyring import KeyringError, load_keyring

FOUND, NOT_RUN = 1, 2

Tell = Callable[[str, int], None]


@program.command()
@with_settings(*STORE_FLAGS, "archive")
@click.option("--max", "findings_max", type=click.IntRange(min=0), default=FINDINGS_MAX, show_default=True)
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script to read.")
def verify(findings_max: int, quiet: bool, as_json: bool, **flags: Any) -> None:
    """Verify that payments, balances, signatures, ledger, events and SEPA instructions agree.

    Walks the whole store, with the archived months in the folder of --archive, and only reads, beside running servers
    or without. Up to --max findings are printed, the rest is counted. Ends with 0 where all is well, with 1 where
    something was found, with 2 where it could not be run.
    """

    async def verify_all(database: Database, settings: Settings) -> AuditReport:
        # After the store is open: in a wrong folder both are missing, and the message about the store names the folder.
        # Keys are never made here: with new keys, nothing that exists could be verified.
        keyring = load_keyring(settings.key_path)
        # Only the bar on a terminal shows how many rows there are.
        length = sum((await audit.count_rows(database)).values()) if sys.stderr.isatty() else 1
        with show_progress(0 if quiet else length) as tell:
            return await verify_store(database, keyring, tell, findings_max, archive=settings.archive_folder)

    try:
        report = with_store(flags, verify_all, read_only=True)
    except (StoreFault, KeyringError) as error:
        click.echo(f"tollgate: {error}", err=True)
        sys.exit(NOT_RUN)
    click.echo(render_json(report) if as_json else render_text(report))
    if report.findings_count:
        sys.exit(FOUND)


@contextmanager
def show_progress(length: int) -> Iterator[Tell]:
    """Shows a bar on a terminal, one line elsewhere, and nothing without a length."""
    if not length:
        yield lambda _table, _rows: None
        return
    with click.progressbar(
        length=length, label="verifying", file=sys.stderr, item_show_func=lambda table: table, show_pos=True
    ) as bar:
        yield lambda table, rows: bar.update(rows, table)


def render_text(report: AuditReport) -> str:
    walked = ", ".join(f"{count} in {table}" for table, count in report.rows.items()) or "nothing"
    lines = [finding.render() for finding in report.findings]
    if report.findings_count > len(report.findings):
        lines.append(f"... and {report.findings_count - len(report.findings)} more")
    count = report.findings_count
    verdict = f"{count} finding{'s' if count > 1 else ''}" if count else "all is well"
    return "\n".join([*lines, *report.unchecked, f"{verdict}: {report.chains_count} chains; rows walked: {walked}"])


def render_json(report: AuditReport) -> str:
    accounts = [
        {**msgspec.structs.asdict(purse), "accounts": {account.value: amount for account, amount in sums.items()}}
        for purse, sums in report.accounts.items()
    ]
    shown = {
        "is_clean": not report.findings_count,
        "findings_count": report.findings_count,
        "findings": report.findings,
        "chains_count": report.chains_count,
        "rows": report.rows,
        "accounts": accounts,
        "unchecked": report.unchecked,
    }
    return msgspec.json.encode(shown).decode()
