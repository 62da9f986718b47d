"""The commands user add, list, reset, disable and enable, for the users of the back office.

What they may do is decided in the same flow as for the pages of the back office; the audit log names the operator.
"""

import sys
from typing import Any

import click

from tollgate.catalog.permissions import Role
from tollgate.cli.program import STORE_FLAGS, program, with_app, with_settings
from tollgate.flows import users
from tollgate.flows.users import OPERATOR, Listed
from tollgate.operations.app import App
from tollgate.payments.users import Grant
from tollgate.values import read_hundredths, render_hundredths
from tollgate.vault.passwords import show_password


@program.group()
def user() -> None:
    """Users of the back office."""


def _read_limit(_context: click.Context, _flag: click.Parameter, value: str | None) -> int | None:
    try:
        return None if value is None else read_hundredths(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@user.command("add")
@click.argument("name")
@click.option("--role", type=click.Choice([role.value for role in Role]), required=True, help="What the user may do.")
@click.option("--merchant", "merchant_id", default="", metavar="ID", help="The merchant; the platform role has none.")
@click.option("--channel", "channel_id", default="", metavar="ID", help="The only channel for which the role counts.")
@click.option("--refund-limit", callback=_read_limit, metavar="AMOUNT", help="The largest refund, as in 1000.00.")
@with_settings(*STORE_FLAGS)
def add_user(name: str, role: str, merchant_id: str, channel_id: str, refund_limit: int | None, **flags: Any) -> None:
    """Make a user and print the password for the first sign-in, which asks for a new one."""
    grant = Grant(
        user_id="", merchant_id=merchant_id, channel_id=channel_id, role=Role(role), refund_limit=refund_limit
    )
    given = with_app(flags, lambda app: users.add_user(app, OPERATOR, name, grant))
    click.echo(show_password(given.password))


@user.command("list")
@with_settings(*STORE_FLAGS)
def show_users(**flags: Any) -> None:
    """Print one line for each user, with its roles."""
    for row in with_app(flags, lambda app: users.list_users(app, OPERATOR)):
        traits = [
            *(["disabled"] if row.user.is_disabled else []),
            *([] if row.has_factor else ["no second factor"]),
            *map(_describe, row.grants),
        ]
        click.echo(f"{row.user.name}  ({', '.join(traits)})")


def _describe(grant: Grant) -> str:
    place = f" of {grant.merchant_id}" if grant.merchant_id else ""
    channel = f", channel {grant.channel_id}" if grant.channel_id else ""
    limit = "" if grant.refund_limit is None else f", refunds up to {render_hundredths(grant.refund_limit)}"
    return f"{grant.role}{place}{channel}{limit}"


@user.command("reset")
@click.argument("name")
@with_settings(*STORE_FLAGS)
def reset_user(name: str, **flags: Any) -> None:
    """Print a new password for one sign-in; second factors, recovery codes and sessions are removed."""

    async def reset(app: App) -> str:
        given = await users.reset_user(app, OPERATOR, (await _get_user(app, name)).user.id)
        return show_password(given.password)

    click.echo(with_app(flags, reset))


@user.command("disable")
@click.argument("name")
@with_settings(*STORE_FLAGS)
def disable_user(name: str, **flags: Any) -> None:
    """Let a user in no more, and end its sessions."""

    async def disable(app: App) -> None:
        await users.disable_user(app, OPERATOR, (await _get_user(app, name)).user.id)

    with_app(flags, disable)


@user.command("enable")
@click.argument("name")
@with_settings(*STORE_FLAGS)
def enable_user(name: str, **flags: Any) -> None:
    """Let a user that was disabled in again."""

    async def enable(app: App) -> None:
        await users.enable_user(app, OPERATOR, (await _get_user(app, name)).user.id)

    with_app(flags, enable)


async def _get_user(app: App, name: str) -> Listed:
    known = await users.list_users(app, OPERATOR)
    found = next((each for each in known if each.user.name == name.strip().lower()), None)
    if found is None:
        sys.exit(f"tollgate: no user {name}")
    return found
