"""The command token, which makes, lists, rotates and revokes access tokens. What a token may do is checked in `web`."""

import sys
from typing import Any, BinaryIO

import click
from msgspec.structs import asdict, replace

from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.scopes import Scope
from tollgate.cli.people import get_merchant
from tollgate.cli.program import STORE_FLAGS, program, record, with_app, with_settings
from tollgate.contract.tokens import TokenTerms, read_overlap, read_token_terms
from tollgate.flows import tokens
from tollgate.operations.app import App
from tollgate.payments.merchants import Credential
from tollgate.store import merchants
from tollgate.values import Instant, MerchantId, Secret, render_timestamp
from tollgate.vault.tokens import TokenError, hash_token, keep_credential, show_token

_TOKEN_FILE_MAX = 4096


@program.group()
def token() -> None:
    """Access tokens of merchants."""


@token.command("add")
@click.argument("merchant_id")
@click.option("--token", "given", help="Keep this token of another host; `-` reads it from standard input.")
@click.option("--token-file", type=click.File("rb"), help="Keep the token in this file.")
@click.option("--label", default="", help="A name for people.")
@click.option("--scopes", default="", metavar="WORDS", help=f"Only for these, of {', '.join(Scope)}; else for all.")
@click.option("--channels", default="", metavar="IDS", help="Only for these entity ids, separated by commas.")
@click.option("--expires-days", default="", metavar="DAYS", help="Refuse it after so many days.")
@with_settings(*STORE_FLAGS)
def add_token(
    merchant_id: str,
    given: str | None,
    token_file: BinaryIO | None,
    label: str,
    scopes: str,
    channels: str,
    expires_days: str,
    **flags: Any,
) -> None:
    """Make an access token and print it; it is stored hashed and sealed.

    With --token or --token-file the merchant keeps the token of another host, and the id of the token is printed.
    Other users of the machine can read a token that stands on the command line: prefer a file or standard input.
    """
    if given is not None and token_file is not None:
        raise click.UsageError("give --token or --token-file, not both")
    source = sys.stdin.buffer if given == "-" else token_file
    text = given if source is None else source.read(_TOKEN_FILE_MAX).decode(errors="replace")

    async def insert(app: App) -> str:
        owner = await get_merchant(app.database, merchant_id)
        own = {each.id for each in app.merchants.list_channels(owner.id)}
        terms = read_token_terms(label, _split(scopes), _split(channels), expires_days, own=own, now=app.clock.now())
        shown = {"label": label, "scopes": scopes, "channels": channels, "expires_days": expires_days}
        if text is not None:
            return await _keep_token(app, owner.id, Secret(text.strip()), terms, shown)
        new = tokens.make_token(app, owner.id, terms)
        await record(app.database, app.keyring, AuditAction.TOKEN_ADDED, new.credential.id, owner.id, **shown)
        await tokens.insert_token(app, new)
        return show_token(new.token)

    click.echo(with_app(flags, insert))


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]


async def _keep_token(
    app: App, merchant_id: MerchantId, brought: Secret, terms: TokenTerms, shown: dict[str, str]
) -> str:
    """Stores a token of another host and returns its id, unless the token or its user is known already."""
    try:
        kept = keep_credential(merchant_id, brought, app.keyring, app.clock.now())
    except TokenError as error:
        raise click.UsageError(f"--token: the token cannot be used: {error}") from None
    hashes = {kept.token_hash, hash_token(brought)}
    for row in await merchants.list_credentials(app.database):
        if row.token_hash in hashes or (row.user_id == kept.user_id and row.merchant_id != merchant_id):
            sys.exit(f"tollgate: the token or its user is known already, by token {row.id} of {row.merchant_id}")
    await record(app.database, app.keyring, AuditAction.TOKEN_ADDED, kept.id, merchant_id, **shown)
    await merchants.insert_credential(app.database, replace(kept, **asdict(terms)))
    return kept.id


@token.command("list")
@with_settings(*STORE_FLAGS)
def show_tokens(**flags: Any) -> None:
    """Print one line for each token, without the token."""

    async def collect(app: App) -> list[str]:
        return [_describe(each, app.clock.now()) for each in await merchants.list_credentials(app.database)]

    for line in with_app(flags, collect):
        click.echo(line)


def _describe(row: Credential, now: Instant) -> str:
    parts = [
        f"{row.id}  merchant {row.merchant_id}",
        *([row.label] if row.label else []),
        *([f"scopes {','.join(row.scopes)}"] if row.scopes else []),
        *([f"channels {','.join(row.channel_ids)}"] if row.channel_ids else []),
        *(
            [f"{'ended' if row.is_expired(now) else 'ends'} {render_timestamp(row.expires_at)}"]
            if row.expires_at
            else []
        ),
        *(["revoked"] if row.revoked_at else []),
    ]
    return "  ".join(parts)


async def _get_token(app: App, token_id: str) -> Credential:
    found = next((row for row in await merchants.list_credentials(app.database) if row.id == token_id), None)
    if found is None or found.revoked_at is not None:
        sys.exit(f"tollgate: no token {token_id} that is not revoked already")
    return found


@token.command("rotate")
@click.argument("token_id")
@click.option("--overlap-hours", default="24", show_default=True, help="For how long the old token stays valid.")
@with_settings(*STORE_FLAGS)
def rotate_token(token_id: str, overlap_hours: str, **flags: Any) -> None:
    """Make a token with the same terms and print it. The old one ends after --overlap-hours."""

    async def rotate(app: App) -> str:
        overlap, found = read_overlap(overlap_hours), await _get_token(app, token_id)
        await record(
            app.database, app.keyring, AuditAction.TOKEN_ROTATED, found.id, found.merchant_id, hours=overlap_hours
        )
        return show_token((await tokens.rotate_token(app, found, overlap)).token)

    click.echo(with_app(flags, rotate))


@token.command("revoke")
@click.argument("token_id")
@with_settings(*STORE_FLAGS)
def revoke_token(token_id: str, **flags: Any) -> None:
    """Take an access token away."""

    async def revoke(app: App) -> None:
        found = await _get_token(app, token_id)
        await record(app.database, app.keyring, AuditAction.TOKEN_REVOKED, found.id, found.merchant_id)
        await tokens.revoke_token(app, found)

    with_app(flags, revoke)
