"""The command trigger, which makes an event of the catalogue happen on a running test host.

The requests that do so are rows of the sandbox.
"""

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import aiohttp
import click
import orjson

from tollgate.catalog.events import EVENT_ROWS
from tollgate.cli.program import STORE_FLAGS, program, read_settings, with_app, with_settings
from tollgate.operations.app import App
from tollgate.wiring import trigger_event

_TIMEOUT_S = 60.0


@program.command("trigger")
@click.argument("event", required=False)
@click.option("--entity", "entity_id", help="The channel of the sandbox merchant; by default the strict one.")
@click.option("--list", "is_list", is_flag=True, help="Print the events, and end.")
@with_settings(*STORE_FLAGS)
def trigger(event: str | None, entity_id: str | None, is_list: bool, **flags: Any) -> None:
    """Make an EVENT happen on a running test host, by requests to it.

    Prints the id that each request was answered with, and last that of the event.
    """
    if is_list:
        for row in EVENT_ROWS.values():
            click.echo(f"{row.name:<29}{row.occasion}")
        return
    settings = read_settings(flags)
    if settings.is_live:
        raise click.UsageError("only a test host makes events happen")
    if event is None or event not in EVENT_ROWS:
        raise click.UsageError(f"name one of these events: {', '.join(EVENT_ROWS)}")

    async def run(app: App) -> list[str]:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_TIMEOUT_S)) as session:
            try:
                return await trigger_event(app, event, entity_id, partial(_send, session))
            except (aiohttp.ClientConnectionError, TimeoutError):
                sys.exit("tollgate: the server does not answer; start it with `tollgate serve`")

    for each in with_app(settings, run):
        click.echo(each)


async def _send(
    session: aiohttp.ClientSession, method: str, url: str, headers: Mapping[str, str], fields: Mapping[str, str]
) -> Mapping[str, Any]:
    form: dict[str, Any] = {"data": fields} if method == "POST" else {"params": fields}
    # The address is that of this very test host, whose certificate may be its own.
    async with session.request(method, url, headers=headers, ssl=False, **form) as reply:
        answer: Mapping[str, Any] = orjson.loads(await reply.read())
        return answer
