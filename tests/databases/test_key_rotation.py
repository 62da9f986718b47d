"""After a rotation everything that is sealed opens without the old keys, on both databases."""

from __future__ import annotations

import msgspec
import pytest
import sqlalchemy as sa

from databases.test_evidence import charge_back
from tollgate.flows import erase_person
from tollgate.flows.evidence import add_evidence, open_evidence
from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.operations.app import App
from tollgate.operations.settings import find_sealed_setting, put_sealed_setting
from tollgate.payments.accounts import CardAccount
from tollgate.payments.erasure import SearchKind
from tollgate.payments.users import OFFICE_PASSWORD, User
from tollgate.store.database import Database
from tollgate.store.merchants import insert_credential, list_credentials
from tollgate.store.opening import list_settings
from tollgate.store.schema import METADATA
from tollgate.store.statements import Statement
from tollgate.store.users import insert_user, list_users
from tollgate.values import Secret, make_id
from tollgate.vault.passwords import open_totp, seal_totp
from tollgate.vault.sealing import make_owner, open_account, sealed_prefix
from tollgate.vault.tokens import make_credential, open_token
from unit.app_fixture import MERCHANT, NOW, ScriptedWire, furnish_app

pytestmark = pytest.mark.anyio

HERE = {"payments.sealed_account", "credentials.sealed_token", "users.sealed_totp", "evidence.sealed_content"}
ELSEWHERE = {
    "registrations.sealed_account": "test_registration_keys.py",
    "registrations.sealed_token": "test_registration_keys.py",
    "webhooks.sealed_secrets": "test_webhook_keys.py",
    "checkouts.sealed_fields": "test_checkouts.py",
    "payment_links.sealed_fields": "test_payment_links.py",
    "bank_files.sealed_body": "test_bank_files.py",
    "wallet_keys.sealed_key": "unit/sandbox/test_wallets.py",
}
UNDER_NO_KEY_OF_THE_KEYRING = {"authentications.sealed_secret": "only the shopper's browser has its key"}
TOTP = Secret("JBSWY3DPEHPK3PXP")


@pytest.fixture
async def app(db: Database) -> App:
    return await furnish_app(db, ScriptedWire())


async def read_sealed(app: App) -> dict[str, list[bytes]]:
    """Returns what is sealed in the store, by column."""
    found = {}
    for table in METADATA.sorted_tables:
        for column in [each for each in table.columns if each.name.startswith("sealed_")]:
            rows = await app.database.fetch(Statement(sa.select(column).where(column.is_not(None))), {})
            found[f"{table.name}.{column.name}"] = [bytes(row[0]) for row in rows]
    return found


async def test_every_sealed_column_is_wrapped_again_or_has_a_reason(app: App) -> None:
    assert set(await read_sealed(app)) == HERE | set(ELSEWHERE) | set(UNDER_NO_KEY_OF_THE_KEYRING)


async def test_what_the_back_office_seals_opens_under_the_new_key_alone(app: App) -> None:
    made = make_credential(MERCHANT.id, app.keyring, NOW)
    await insert_credential(app.database, made.credential)
    user = User(id=make_id(), name="jane", created_at=NOW, password_hash="none")
    sealed_totp = seal_totp(TOTP, user.id, app.keyring)
    await insert_user(app.database, msgspec.structs.replace(user, sealed_totp=sealed_totp), [])
    chargeback = await charge_back(app)
    note = await add_evidence(app, chargeback, "note.txt", b"a note", "jane")
    await put_sealed_setting(app.database, app.keyring, OFFICE_PASSWORD, b"a password")
    erasure = await erase_person.begin_erasure(app, MERCHANT.id, SearchKind.EMAIL, "jane@example.com")
    old = sealed_prefix(app.keyring.active_id)
    before = await read_sealed(app)
    assert {name for name, values in before.items() if values} == HERE
    assert all(value.startswith(old) for values in before.values() for value in values)

    rotated = app.keyring.with_new_key()
    settings = len(await list_settings(app.database, "sealed/"))
    assert await rewrap_everything(app.database, rotated, lambda _: None) == settings + sum(map(len, before.values()))
    assert await count_retired(app.database, rotated) == 0

    alone = msgspec.structs.replace(app, keyring=rotated.without_retired_keys())
    new = sealed_prefix(rotated.active_id)
    after = await read_sealed(app)
    assert {name: len(values) for name, values in after.items()} == {
        name: len(values) for name, values in before.items()
    }
    assert all(value.startswith(new) for values in after.values() for value in values)
    [stored] = await list_credentials(app.database)
    assert open_token(stored, alone.keyring).matches(made.token)
    [known] = await list_users(app.database)
    assert known.sealed_totp is not None
    assert open_totp(known.sealed_totp, user.id, alone.keyring).matches(TOTP)
    assert await open_evidence(alone, note) == b"a note"
    assert await find_sealed_setting(app.database, alone.keyring, OFFICE_PASSWORD) == b"a password"
    assert await erase_person.find_erasure(alone, MERCHANT.id, erasure.id) == erasure
    [account] = after["payments.sealed_account"]
    owner = make_owner("payment", MERCHANT.id, chargeback.first_id)
    assert isinstance(open_account(account, owner=owner, keyring=alone.keyring), CardAccount)
