"""The commands rotate-keys, key-archive and make-keys, which work while the host goes on serving.

Retired keys go to an archive, because older backups are sealed under them. Records are wrapped by the flow.
"""

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from tollgate.catalog.audit_actions import AuditAction
from tollgate.cli.program import STORE_FLAGS, open_store, program, read_settings, record, with_settings
from tollgate.config import Settings
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.values import SystemClock, render_timestamp, to_instant
from tollgate.vault import keyring as keys

_PATH = click.Path(dir_okay=False, path_type=Path)


def _with_archive_flags(*, required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    archive = click.option("--archive", type=_PATH, required=required, help="The file of retired keys.")
    key = click.option("--archive-key", type=_PATH, required=required, help="The file with the key that wraps them.")
    return lambda command: archive(key(command))


@program.command("rotate-keys")
@with_settings(*STORE_FLAGS)
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=0, max=86_400),
    default=3.0,
    show_default=True,
    help="Seconds that servers have to take the new key over.",
)
@click.option("--retire", is_flag=True, help="Archive and remove older keys, if nothing is sealed under them any more.")
@_with_archive_flags(required=False)
def rotate_keys(wait_s: float, retire: bool, archive: Path | None, archive_key: Path | None, **flags: Any) -> None:
    """Make a new key and wrap every sealed record under it.

    Servers that share the key file follow within seconds, which --wait gives them; on several machines, copy the
    file before the records are wrapped. Older keys stay in the file until --retire moves them to the --archive.

    Backups that are older than the rotation are sealed under the older keys: without the archive they cannot be
    opened any more. `tollgate key-archive restore` brings the keys back for such a backup, and
    `tollgate key-archive destroy` removes them when the last one has expired.
    """
    settings = read_settings(flags)
    if not retire:
        asyncio.run(_rotate(settings, wait_s))
        return
    if archive is None or archive_key is None:
        raise click.UsageError("--retire needs --archive and --archive-key: older backups are sealed under these keys")
    _refuse_exposed(settings, archive, archive_key)
    asyncio.run(_retire(settings, archive, archive_key))


def _refuse_exposed(settings: Settings, archive: Path, archive_key: Path) -> None:
    """Keeps the archive and its key apart from each other and from what they are to open."""
    named = {"--archive": archive, "--archive-key": archive_key}
    closed = [settings.data_folder]
    if settings.uses_sqlite:
        closed.append(Path(settings.database_url.removeprefix("sqlite:///")).parent)
    for flag, path in named.items():
        if any(path.resolve().is_relative_to(folder.resolve()) for folder in closed):
            raise click.UsageError(f"{flag} lies in the store's folder; keep it where neither data nor backups are")
    if len({path.resolve() for path in (archive, archive_key, settings.key_path)}) < 3:
        raise click.UsageError("--archive, --archive-key and the key file are three different files")


@program.command("make-keys")
@click.argument("path", type=click.Path(exists=True, file_okay=False))
def make_keys(path: str) -> None:
    """Write a new key file for a live host into a folder."""
    target = Path(path) / "tollgate-keys.json"
    if target.exists():
        sys.exit(f"tollgate: {target} exists; a key file is never overwritten")
    keys.save_keyring(keys.make_keyring(), target)
    click.echo(target)


async def _rotate(settings: Settings, wait_s: float) -> None:
    async with open_store(settings) as database:
        # Held to the end: a second rotation or a retirement meanwhile would remove a key that is still being used.
        with keys.hold_alone(settings.key_path):
            keyring = keys.load_keyring(settings.key_path).with_new_key()
            await record(database, keyring, AuditAction.KEYS_ROTATED, keyring.active_id.hex())
            keys.save_keyring(keyring, settings.key_path)
            click.echo(f"the new key is {keyring.active_id.hex()}; waiting {wait_s:g} s for servers to follow")
            await asyncio.sleep(wait_s)
            done = await rewrap_everything(database, keyring, lambda count: click.echo(f"  {count} records wrapped"))
        click.echo(f"{done} records are under the new key; archive the old with `tollgate rotate-keys --retire`")
        if await count_retired(database, keyring):
            sys.exit(
                "tollgate: some records are still sealed under an older key; run it again, and where that changes "
                "nothing, `tollgate verify` names those that do not open"
            )


async def _retire(settings: Settings, archive: Path, archive_key: Path) -> None:
    async with open_store(settings) as database:
        with keys.hold_alone(settings.key_path):
            keyring = keys.load_keyring(settings.key_path)
            if await count_retired(database, keyring):
                sys.exit("tollgate: records are still sealed under an older key; run `tollgate rotate-keys` first")
            await record(database, keyring, AuditAction.KEYS_RETIRED, keyring.active_id.hex())
            # The archive is on disk and was read back before the key file loses anything.
            count = keys.archive_keys(archive, archive_key, keyring, SystemClock().wall())
            keys.save_keyring(keyring.without_retired_keys(), settings.key_path)
    click.echo(f"only the key {keyring.active_id.hex()} is left; {count} keys were added to {archive}")
    click.echo("backups made before now need that archive: keep it, apart from them, until the last one has expired")


@program.group("key-archive")
def key_archive() -> None:
    """Retired keys, which open backups that are older than a rotation."""


@key_archive.command("make-key")
@click.argument("path", type=_PATH)
def make_key(path: Path) -> None:
    """Write the key that wraps an archive. Keep it apart from the archive and from backups."""
    keys.make_archive_key(path)
    click.echo(path)


@key_archive.command("list")
@_with_archive_flags(required=True)
def show_archive(archive: Path, archive_key: Path) -> None:
    """Print one line for each key, without the key."""
    for each in keys.read_archive(archive, archive_key):
        click.echo(f"{each.id.hex()}  retired {render_timestamp(each.retired_at)}")


@key_archive.command("restore")
@_with_archive_flags(required=True)
@with_settings("data", "key_file")
def restore(archive: Path, archive_key: Path, **flags: Any) -> None:
    """Put archived keys back into the key file, to open a backup that was restored.

    The active key stays active. Afterwards `tollgate rotate-keys` wraps the restored records under a new key.
    """
    path = read_settings(flags).key_path
    with keys.hold_alone(path):
        keyring = keys.load_keyring(path)
        restored = keys.restore_keys(archive, archive_key, keyring)
        keys.save_keyring(restored, path)
    click.echo(f"{len(restored.key_ids) - len(keyring.key_ids)} keys were put back into {path}")


@key_archive.command("destroy")
@_with_archive_flags(required=True)
@click.option(
    "--oldest-backup",
    type=click.DateTime(["%Y-%m-%d"]),
    required=True,
    help="Day (UTC) of the oldest backup that is still kept; keys retired before it open nothing.",
)
def destroy(archive: Path, archive_key: Path, oldest_backup: datetime) -> None:
    """Remove the keys that no backup needs any more, and the archive with its last key."""
    before = to_instant(oldest_backup.replace(tzinfo=UTC))
    if before > SystemClock().wall():
        raise click.UsageError("--oldest-backup lies in the future")
    with keys.hold_alone(archive):
        gone, left = keys.destroy_archived_keys(archive, archive_key, before)
    click.echo(f"{gone} keys were destroyed, {left} are left")
    if not left:
        click.echo(f"the archive is gone; destroy {archive_key} too, if it wraps no other")
