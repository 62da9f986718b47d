"""The command evidence, which prints the facts of a host for an assessor. What the facts are is decided in `flows`."""

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from tollgate.catalog.audit_actions import AuditAction
from tollgate.cli.auditing import show_progress
from tollgate.cli.program import program, read_settings, with_app, with_settings
from tollgate.flows.host_facts import Facts, gather_facts
from tollgate.hosting.server import TLS_MINIMUM
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor, record


@program.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script to read.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@with_settings()
def evidence(as_json: bool, quiet: bool, **flags: Any) -> None:
    """Print the facts of this host for an assessor, without secrets and personal data.

    Give the same settings as to `tollgate serve`, by flags or variables, because they are among the facts. It runs
    `tollgate verify`, which reads the whole store, and may run beside a server.
    """
    settings = read_settings(flags)

    async def gather(app: App) -> Facts:
        await record(app.database, app.keyring, app.clock, Actor(name="tollgate evidence"), AuditAction.FACTS_EXPORTED)
        with show_progress(0 if quiet else 1) as tell:
            return await gather_facts(app, settings, TLS_MINIMUM.name, tell)

    facts = with_app(settings, gather)
    click.echo(msgspec.json.format(msgspec.json.encode(facts)).decode() if as_json else "\n".join(render_facts(facts)))


def render_facts(facts: Facts) -> Iterator[str]:
    """Renders each group of facts under its name, one fact in a line."""
    for name, value in facts.items():
        yield f"{name}: {value}" if isinstance(value, str) else f"\n{name}"
        if isinstance(value, dict):
            yield from (f"  {key}: {_render(each)}" for key, each in value.items())
        elif isinstance(value, list):
            yield from (f"  {_render(each)}" for each in value or ["none"])


def _render(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_render(each)}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(_render, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
