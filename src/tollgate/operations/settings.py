"""Sealed settings in the store. Settings of a process are in `config`."""

import base64

from tollgate.store.database import Database
from tollgate.store.opening import add_setting, delete_setting, get_setting, list_settings, put_setting, replace_setting
from tollgate.vault.keyring import Keyring
from tollgate.vault.sealing import open_sealed, rewrap, seal, sealed_prefix

_PREFIX = "sealed/"


async def find_sealed_setting(database: Database, keyring: Keyring, name: str) -> bytes | None:
    written = await get_setting(database, _PREFIX + name)
    return open_sealed(_read(written), owner=_make_owner(_PREFIX + name), keyring=keyring) if written else None


async def put_sealed_setting(database: Database, keyring: Keyring, name: str, plain: bytes) -> None:
    sealed = seal(plain, owner=_make_owner(_PREFIX + name), keyring=keyring)
    await put_setting(database, _PREFIX + name, _write(sealed))


async def add_sealed_setting(database: Database, keyring: Keyring, name: str, plain: bytes) -> bytes:
    """Adds a setting unless there is one, and returns what it is now: all processes that add it get the same."""
    sealed = seal(plain, owner=_make_owner(_PREFIX + name), keyring=keyring)
    await add_setting(database, _PREFIX + name, _write(sealed))
    return await find_sealed_setting(database, keyring, name) or plain


async def forget_sealed_setting(database: Database, name: str) -> None:
    await delete_setting(database, _PREFIX + name)


async def rewrap_settings(database: Database, keyring: Keyring) -> int:
    """Wraps sealed settings again under the active key and returns how many there were."""
    done = 0
    for name, written in await list_retired_settings(database, keyring):
        fresh = rewrap(_read(written), owner=_make_owner(name), keyring=keyring)
        done += await replace_setting(database, name, written, _write(fresh))
    return done


async def list_retired_settings(database: Database, keyring: Keyring) -> list[tuple[str, str]]:
    """Lists the settings that are sealed under another key than the active one."""
    prefix = sealed_prefix(keyring.active_id)
    return [
        (name, written)
        for name, written in await list_settings(database, _PREFIX)
        if not _read(written).startswith(prefix)
    ]


async def list_sealed_settings(database: Database, keyring: Keyring, prefix: str) -> list[tuple[str, bytes]]:
    """Lists the names and the opened values of all sealed settings whose name begins so."""
    return [
        (name.removeprefix(_PREFIX), open_sealed(_read(written), owner=_make_owner(name), keyring=keyring))
        for name, written in await list_settings(database, _PREFIX + prefix)
    ]


def _make_owner(name: str) -> str:
    return f"setting/{name}"


def _read(written: str) -> bytes:
    return base64.b64decode(written)


def _write(sealed: bytes) -> str:
    return base64.b64encode(sealed).decode()
