"""Key rotation wraps the secrets of endpoints again, and takes nothing back that was changed meanwhile."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.flows.rotate_keys import count_retired, rewrap_everything
from tollgate.flows.verify import verify
from tollgate.flows.webhooks import NewWebhook, add_webhook, change_webhook
from tollgate.operations.app import App
from tollgate.operations.webhooks import open_webhook
from tollgate.payments.audit import Proof
from tollgate.payments.webhooks import Webhook
from tollgate.store.database import Database
from tollgate.store.merchants import get_merchants_version
from tollgate.store.webhooks import find_webhook, rewrap_secrets, update_webhook
from tollgate.vault.keyring import KeyringError
from unit.app_fixture import MERCHANT, ScriptedWire, furnish_app
from unit.flows.scheduling import spoil

pytestmark = pytest.mark.anyio


@pytest.fixture
async def app(db: Database) -> App:
    return await furnish_app(db, ScriptedWire())


async def add(app: App) -> NewWebhook:
    return await add_webhook(app, MERCHANT.id, "https://shop.example/hooks")


async def get(app: App, added: NewWebhook) -> Webhook:
    found = await find_webhook(app.database, MERCHANT.id, added.webhook.id)
    assert found is not None
    return found


async def test_secrets_open_under_the_new_key_alone(app: App) -> None:
    added = [await add(app) for _ in range(3)]
    rotated = app.keyring.with_new_key()
    assert await count_retired(app.database, rotated) == 3
    version = await get_merchants_version(app.database)

    assert await rewrap_everything(app.database, rotated, lambda _count: None) == 3

    assert await count_retired(app.database, rotated) == 0
    # Servers keep endpoints in memory, and must read them again before the old key is removed.
    assert await get_merchants_version(app.database) > version
    alone = replace(app, keyring=rotated.without_retired_keys())
    for each in added:
        opened = open_webhook(alone, await get(app, each))
        assert opened.secret.matches(each.secrets.secret)
        assert opened.signing.matches(each.secrets.signing)
        with pytest.raises(KeyringError):
            open_webhook(alone, each.webhook)
    assert await rewrap_everything(app.database, rotated, lambda _count: None) == 0


async def test_secrets_are_rewrapped_only_from_what_was_read(app: App) -> None:
    added = await add(app)

    assert not await rewrap_secrets(app.database, replace(added.webhook, sealed_secrets=b"something else"), b"new")
    assert await rewrap_secrets(app.database, added.webhook, b"new")

    assert (await get(app, added)).sealed_secrets == b"new"


async def test_who_read_an_endpoint_before_the_rotation_does_not_write_the_old_seal_back(app: App) -> None:
    added = await add(app)
    rotated = app.keyring.with_new_key()
    assert await rewrap_everything(app.database, rotated, lambda _count: None) == 1

    assert not await update_webhook(app.database, replace(added.webhook, url="https://shop.example/other"))

    await change_webhook(app, await get(app, added), url="https://shop.example/other")
    assert await count_retired(app.database, rotated) == 0


async def test_secrets_that_do_not_open_stay_and_are_counted(app: App) -> None:
    broken, whole = await add(app), await add(app)
    # They are sealed for their row, so those of one row do not open in another.
    assert await rewrap_secrets(app.database, broken.webhook, whole.webhook.sealed_secrets)
    rotated = app.keyring.with_new_key()

    assert await rewrap_everything(app.database, rotated, lambda _count: None) == 1

    assert await count_retired(app.database, rotated) == 1


async def test_an_audit_finds_endpoints_that_cannot_be_delivered_to(app: App) -> None:
    whole, broken, unreadable = [await add(app) for _ in range(3)]
    assert await rewrap_secrets(app.database, broken.webhook, whole.webhook.sealed_secrets)
    await spoil(app, "UPDATE webhooks SET scheme = 'none' WHERE id = :id", id=unreadable.webhook.id)

    report = await verify(app.database, app.keyring, lambda _table, _rows: None)

    found = {(finding.proof, finding.table, finding.row_id) for finding in report.findings}
    assert found == {
        (Proof.WEBHOOK, "webhooks", broken.webhook.id),
        (Proof.ROW, "webhooks", unreadable.webhook.id),
    }
