"""The command risk try, which judges stored payments by other rules and prints what would have become of them.

The rules are judged in `flows`.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import orjson

from tollgate.cli.endpoints import as_json_option
from tollgate.cli.events import read_time
from tollgate.cli.people import get_merchant
from tollgate.cli.program import STORE_FLAGS, with_app, with_settings
from tollgate.cli.risk import risk
from tollgate.contract.risk_rules import read_rule
from tollgate.flows.try_rules import assume_active, try_rules
from tollgate.operations.app import App
from tollgate.payments.reporting import FOREVER
from tollgate.payments.risk import RiskOutcome, Rule
from tollgate.payments.risk_report import Fate, Report, Tally
from tollgate.store.risk import list_rules
from tollgate.values import Instant, MerchantId, render_hundredths

_FATES = (Fate.APPROVED, Fate.DECLINED, Fate.REFUNDED, Fate.CHARGED_BACK, Fate.OPEN)


@risk.command("try")
@click.argument("merchant_id")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--since", callback=read_time, metavar="TIME", help="Only payments from this time on.")
@click.option("--until", callback=read_time, metavar="TIME", help="Only payments before this time.")
@as_json_option
@with_settings(*STORE_FLAGS)
def try_file(
    merchant_id: str, file: Path | None, since: Instant | None, until: Instant | None, as_json: bool, **flags: Any
) -> None:
    """Judge stored payments by the rules of FILE, or else by the present rules as if none were in shadow."""
    proposed = None if file is None else _read_file(file)

    async def evaluate(app: App) -> tuple[list[Rule], Report]:
        merchant = (await get_merchant(app.database, merchant_id)).id
        present = await list_rules(app.database, merchant)
        rules = present if proposed is None else [_read(each, n, merchant) for n, each in enumerate(proposed, 1)]
        active = assume_active(rules)
        return active, await try_rules(app, merchant, active, begins_at=since or 0, ends_at=until or FOREVER)

    rules, report = with_app(flags, evaluate)
    if as_json:
        click.echo(orjson.dumps(_render(rules, report)).decode())
        return
    for line in _describe(rules, report):
        click.echo(line)


def _read_file(file: Path) -> list[Mapping[str, Any]]:
    """Reads a list of rules from JSON, or the tables `[[rules]]` from TOML."""
    try:
        text = file.read_bytes()
        found = tomllib.loads(text.decode()).get("rules") if file.suffix == ".toml" else orjson.loads(text)
    except ValueError as error:
        raise click.UsageError(f"{file} cannot be read: {error}") from None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise click.UsageError(f"{file} must be a list of rules; in TOML, of tables [[rules]]")
    return found


def _read(sent: Mapping[str, Any], number: int, merchant_id: MerchantId) -> Rule:
    texts = {name: str(value) for name, value in sent.items()}
    return read_rule(texts, merchant_id=merchant_id, rule_id=str(number), version=1, by="proposed", now=0)


def _list_rows(rules: list[Rule], report: Report) -> list[tuple[str, Tally]]:
    none = Tally()
    return [
        ("all payments", report.payments),
        *[(outcome.value, report.outcomes.get(outcome, none)) for outcome in RiskOutcome],
        *[(f"{rule.id} {rule.name}", report.rules.get(rule.id, none)) for rule in rules],
    ]


def _describe(rules: list[Rule], report: Report) -> list[str]:
    lines = []
    for name, tally in _list_rows(rules, report):
        lines.append(name)
        for fate in _FATES:
            if tally.counts.get(fate):
                sums = ", ".join(f"{render_hundredths(each)} {of}" for of, each in sorted(tally.amounts[fate].items()))
                lines.append(f"  {fate.value.replace('_', ' '):13}{tally.counts[fate]:8}  {sums}")
    return lines


def _render_tally(tally: Tally) -> dict[str, Any]:
    return {
        fate.value: {
            "count": tally.counts.get(fate, 0),
            "amounts": {of: render_hundredths(each) for of, each in sorted(tally.amounts.get(fate, {}).items())},
        }
        for fate in _FATES
    }


def _render(rules: list[Rule], report: Report) -> dict[str, Any]:
    none = Tally()
    return {
        "payments": _render_tally(report.payments),
        "outcomes": {each.value: _render_tally(report.outcomes.get(each, none)) for each in RiskOutcome},
        "rules": [
            {"id": rule.id, "name": rule.name, "hits": _render_tally(report.rules.get(rule.id, none))} for rule in rules
        ],
    }
