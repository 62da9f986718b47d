"""Taking a bank file out of the store, to be brought to the bank. It stays there, and may be taken out again."""

from __future__ import annotations

from tollgate.flows.collect import FILE_NOUN
from tollgate.store import BankFile, Database, get_sealed_body, mark_exported
from tollgate.values import Instant
from tollgate.vault import Keyring, name_owner, open_sealed


async def export_file(database: Database, keyring: Keyring, file: BankFile, now: Instant) -> bytes:
    """The same bytes every time; the first time is written down."""
    sealed = await get_sealed_body(database, file)
    body = open_sealed(sealed, owner=name_owner(FILE_NOUN, file.merchant_id, file.id), keyring=keyring)
    await mark_exported(database, file, now)
    return body
