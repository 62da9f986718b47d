"""The command listen, which prints the events of a test host as they happen, and may forward them.

Which deliveries it takes is decided in `flows`.
"""

import os
import re
from typing import Any

import click
import orjson

from tollgate.cli.endpoints import choose_merchant, merchant_option, take_pairs, with_terms
from tollgate.cli.program import SENDING_FLAGS, program, read_settings, with_app, with_settings
from tollgate.contract import webhooks as contract
from tollgate.contract.events import describe_body
from tollgate.flows.deliver import Attempted
from tollgate.flows.listen import listen, open_listener
from tollgate.operations.app import App
from tollgate.operations.webhooks import open_webhook
from tollgate.payments.webhooks import Delivery
from tollgate.store.events import Event
from tollgate.values import render_timestamp
from tollgate.vault.webhooks import show_secrets
from tollgate.workers import follow_clock

_NAME = re.compile("[A-Za-z0-9._-]{1,64}")
_TEXT = re.compile(r'("(?:[^"\\]|\\.)*")(: )?')
_TERMS = tuple(contract.TERMS[name] for name in ("types", "scheme", "wrapper", "fields"))


@program.command("listen")
@click.option("--forward-to", metavar="URL", help="Also send each event to this address, as it would be delivered.")
@click.option("--name", default="listen", show_default=True, help="Each name has its own secrets and its own place.")
@with_terms(_TERMS)
@merchant_option
@click.option("--limit", type=click.IntRange(min=1), help="End after so many events.")
@click.option("--once", "limit", flag_value=1, type=int, help="End after one event.")
@with_settings(*SENDING_FLAGS)
def listen_to_events(
    forward_to: str | None, name: str, merchant_id: str | None, limit: int | None, **flags: Any
) -> None:
    """Print the events of a test host as they happen, until stopped; the next run continues where this one ended."""
    pairs = take_pairs(flags, _TERMS)
    settings = read_settings(flags)
    if settings.is_live:
        raise click.UsageError("only a test host has listeners; see `tollgate webhook add`")
    if _NAME.fullmatch(name) is None:
        raise click.BadParameter("a name has 1 to 64 letters, digits or . _ -", param_hint="--name")

    async def run(app: App) -> None:
        rule = None if forward_to is None else app.notifier.check_address(forward_to)
        if rule is not None:
            raise click.BadParameter(rule, param_hint="--forward-to")
        terms = contract.read_terms(pairs, is_new=False)
        listener = await open_listener(app, await choose_merchant(app, merchant_id), name, **terms)
        shown = contract.render_secrets(listener, *show_secrets(open_webhook(app, listener)))
        for word, value in shown.items():
            _print(f"{word:<14}{value}")
        _print(f"\nListening as {name}{f', forwarding to {forward_to}' if forward_to else ''}. Ctrl-C ends.\n")
        await listen(app, listener, _Terminal(), follow_clock, forward_to=forward_to, limit=limit)

    try:
        with_app(settings, run)
    except KeyboardInterrupt:
        _print("\nStopped. The next run continues here.")


class _Terminal:
    def show_event(self, event: Event, delivery: Delivery, body: bytes) -> None:
        time, name = render_timestamp(event.created_at), click.style(event.topic, bold=True)
        mark = "  (replay)" if delivery.is_replay else ""
        _print(f"{time}  {name}  {event.id}  {describe_body(body)}{mark}")
        _print(_TEXT.sub(_colour, orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode()))

    def show_answer(self, attempted: Attempted) -> None:
        what = click.style(f"answered {attempted.status}", fg="green")
        if attempted.failure:
            what = click.style(f"{attempted.failure}; it is tried again later", fg="red")
        _print(f"-> {what} ({attempted.record.latency_ms} ms)")


def _colour(found: re.Match[str]) -> str:
    text, colon = found.groups()
    return click.style(text, fg="cyan" if colon else "green") + (colon or "")


def _print(text: str) -> None:
    """Prints at once, with colours on a terminal only."""
    click.echo(text, color=False if os.environ.get("NO_COLOR") else None)
