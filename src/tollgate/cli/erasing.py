"""The command erase, which removes what names a person and keeps the ledger. How that is done is decided in `flows`."""

import sys
from typing import Any

import click
import msgspec

from tollgate.cli.program import STORE_FLAGS, program, with_app, with_settings
from tollgate.flows import erase_person
from tollgate.operations.app import App
from tollgate.operations.audit_log import Actor
from tollgate.payments.erasure import Erasure, Phase, SearchKind
from tollgate.values import MerchantId, render_hundredths, render_timestamp

_POSTPONED = 1
ACTOR = Actor(name="tollgate erase")


@program.command()
@click.argument("merchant_id")
@click.option("--email", help="Find the person by an e-mail address.")
@click.option("--customer", help="Find the person by customer.merchantCustomerId.")
@click.option("--registration", help="Find the person by the id of a registration.")
@click.option("--payment", help="Find the person by a payment, with the e-mail address and customer id in it.")
@click.option("--yes", is_flag=True, help="Erase what was found without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a script to read.")
@with_settings(*STORE_FLAGS, "archive")
def erase(merchant_id: str, yes: bool, as_json: bool, **flags: Any) -> None:
    """Remove what names a person from the rows of a merchant, and keep the ledger.

    Shows what was found and asks before anything is removed. It may run beside a server, and be repeated: what was
    erased before is not found again. Ends with 1 where something has to wait, such as an open authorization.
    """
    given = {kind: flags.pop(kind.value) for kind in SearchKind}
    chosen = [(kind, value) for kind, value in given.items() if value]
    if len(chosen) != 1:
        raise click.UsageError("give one of --email, --customer, --registration and --payment")
    [(kind, value)] = chosen

    async def run(app: App) -> Erasure:
        merchant = app.merchants.find_merchant(MerchantId(merchant_id))
        if merchant is None:
            sys.exit(f"tollgate: no merchant {merchant_id}")
        found = await erase_person.begin_erasure(app, merchant.id, kind, value)
        if found.phase is Phase.ERASING:
            # It was confirmed before, and interrupted.
            return await _show_steps(app, found, "erasing")
        found = await _show_steps(app, found, "searching")
        if not as_json:
            click.echo(render_found(found))
        if not found.found_counts or not (yes or click.confirm("Remove what names the person?", err=True)):
            return found
        return await _show_steps(app, await erase_person.confirm_erasure(app, found, ACTOR), "erasing")

    erasure = with_app(flags, run)
    click.echo(render_json(erasure) if as_json else render_end(erasure))
    if erasure.postponed:
        sys.exit(_POSTPONED)


async def _show_steps(app: App, erasure: Erasure, label: str) -> Erasure:
    """Takes all steps of a search or an erasure, with a bar on a terminal."""
    with click.progressbar(length=max(1, erasure.progress[1]), label=label, file=sys.stderr, show_pos=True) as bar:
        return await erase_person.finish_erasure(app, erasure, ACTOR, lambda now: bar.update(now.progress[0] - bar.pos))


def render_found(erasure: Erasure) -> str:
    if not erasure.found_counts:
        return "nothing was found"
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in erasure.found_counts.items())
    lines = [f"found: {counts} (a payment stands for its chain)"]
    for each in erasure.samples:
        shown = [render_timestamp(each.created_at), each.payment_id, render_hundredths(each.amount), each.currency]
        lines.append(
            "  " + "  ".join([*shown, f"...{each.last_digits}" if each.last_digits else "", each.email]).rstrip()
        )
    if erasure.is_partial:
        lines.append("there is more: erase again afterwards")
    return "\n".join(lines)


def render_end(erasure: Erasure) -> str:
    if erasure.phase is not Phase.DONE:
        return "nothing was erased"
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in erasure.erased.items()) or "nothing"
    lines = [f"erased: {counts}"]
    lines += [f"postponed: {each.table} {each.id}: {each.reason}" for each in erasure.postponed]
    return "\n".join(lines)


def render_json(erasure: Erasure) -> str:
    shown = {
        "id": erasure.id,
        "phase": erasure.phase,
        "searched": erasure.searched,
        "found": erasure.found_counts,
        "is_partial": erasure.is_partial,
        "erased": erasure.erased,
        "postponed": erasure.postponed,
    }
    return msgspec.json.encode(shown).decode()
