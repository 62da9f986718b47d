"""Key rotation beside running servers: everything sealed under an older key is wrapped again under the active one.

Contents are not decrypted; a record that changes meanwhile is met again in the next round.
"""

from __future__ import annotations

from collections.abc import Callable

from tollgate.catalog import LIMITS
from tollgate.flows.collect import FILE_NOUN
from tollgate.store import (
    Database,
    SealedAccount,
    SealedFile,
    list_credentials,
    list_sealed,
    list_sealed_files,
    rewrap_file,
    rewrap_sealed,
    rewrap_token,
)
from tollgate.vault import Keyring, name_owner, rewrap, sealed_prefix

Progress = Callable[[int], None]

_FILES_AT_ONCE = 8
"""They are large."""


async def rewrap_everything(database: Database, keyring: Keyring, tell: Progress) -> int:
    """How many records were wrapped again."""
    done = await _rewrap_credentials(database, keyring) + await _rewrap_accounts(database, keyring, tell)
    return done + await _rewrap_files(database, keyring)


async def count_retired(database: Database, keyring: Keyring) -> int:
    """How many records a glance finds under keys other than the active one; zero means that those may go."""
    prefix = sealed_prefix(keyring.active_id)
    accounts = await list_sealed(database, None, prefix, limit=1)
    tokens = [row for row in await list_credentials(database) if not row.sealed_token.startswith(prefix)]
    files = await list_sealed_files(database, None, prefix, limit=1)
    return len(accounts) + len(tokens) + len(files)


async def _rewrap_credentials(database: Database, keyring: Keyring) -> int:
    done = 0
    for row in await list_credentials(database):
        if row.sealed_token.startswith(sealed_prefix(keyring.active_id)):
            continue
        owner = name_owner("credential", row.merchant_id, row.id)
        fresh = rewrap(row.sealed_token, owner=owner, keyring=keyring)
        done += await rewrap_token(database, row.id, row.sealed_token, fresh)
    return done


async def _rewrap_accounts(database: Database, keyring: Keyring, tell: Progress) -> int:
    done = 0
    last: SealedAccount | None = None
    prefix = sealed_prefix(keyring.active_id)
    while batch := await list_sealed(database, last, prefix, LIMITS.rewrap_batch):
        for account in batch:
            owner = name_owner("payment", account.merchant_id, account.payment_id)
            done += await rewrap_sealed(database, account, rewrap(account.sealed, owner=owner, keyring=keyring))
        last = batch[-1]
        tell(done)
    return done


async def _rewrap_files(database: Database, keyring: Keyring) -> int:
    done = 0
    last: SealedFile | None = None
    prefix = sealed_prefix(keyring.active_id)
    while batch := await list_sealed_files(database, last, prefix, _FILES_AT_ONCE):
        for file in batch:
            owner = name_owner(FILE_NOUN, file.merchant_id, file.file_id)
            done += await rewrap_file(database, file, rewrap(file.sealed, owner=owner, keyring=keyring))
        last = batch[-1]
    return done
