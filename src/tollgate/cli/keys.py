"""rotate-keys: a new key for everything that is sealed, while the host goes on serving.

Which records there are and how they are wrapped is known to the flow.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import click

from tollgate.cli.program import STORE_FLAGS, program, read_settings, run_async, with_settings
from tollgate.config import Settings
from tollgate.flows import count_retired, rewrap_everything
from tollgate.store import open_database
from tollgate.vault import load_keyring, make_keyring, save_keyring


@program.command("rotate-keys")
@with_settings(*STORE_FLAGS)
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=0),
    default=3.0,
    show_default=True,
    help="Seconds that servers have to take the new key over.",
)
@click.option("--retire", is_flag=True, help="Remove older keys, if nothing is sealed under them any more.")
def rotate_keys(wait_s: float, retire: bool, **flags: Any) -> None:
    """Make a new key and wrap every sealed record under it.

    Servers that share the key file follow within seconds, which --wait gives them; on several machines, copy the
    file before the records are wrapped. Older keys stay in the file until --retire removes them.
    """
    settings = read_settings(flags)
    run_async(_retire(settings) if retire else _rotate(settings, wait_s))


@program.command("make-keys")
@click.argument("path", type=click.Path(exists=True, file_okay=False))
def make_keys(path: str) -> None:
    """Write a new key file for a live host into a folder."""
    from pathlib import Path

    target = Path(path) / "tollgate-keys.json"
    if target.exists():
        sys.exit(f"tollgate: {target} exists; a key file is never overwritten")
    save_keyring(make_keyring(), target)
    click.echo(target)


async def _rotate(settings: Settings, wait_s: float) -> None:
    keyring = load_keyring(settings.key_path).with_new_key()
    save_keyring(keyring, settings.key_path)
    click.echo(f"the new key is {keyring.active_id.hex()}; waiting {wait_s:g} s for servers to follow")
    await asyncio.sleep(wait_s)
    database = await open_database(settings.database_url)
    try:
        done = await rewrap_everything(database, keyring, lambda count: click.echo(f"  {count} records wrapped"))
        click.echo(f"{done} records are wrapped under the new key; remove the old with `tollgate rotate-keys --retire`")
        if await count_retired(database, keyring):
            sys.exit(
                "tollgate: some records are still sealed under an older key; run it again, and where that changes "
                "nothing, `tollgate verify` names those that do not open"
            )
    finally:
        await database.close()


async def _retire(settings: Settings) -> None:
    keyring = load_keyring(settings.key_path)
    database = await open_database(settings.database_url)
    try:
        if await count_retired(database, keyring):
            sys.exit("tollgate: records are still sealed under an older key; run `tollgate rotate-keys` again first")
    finally:
        await database.close()
    save_keyring(keyring.without_retired_keys(), settings.key_path)
    click.echo(f"only the key {keyring.active_id.hex()} is left")
