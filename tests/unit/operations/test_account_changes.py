"""Whatever is changed about a channel and its acquirer accounts, messages about earlier payments stay the same."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.flows import channels
from tollgate.operations import acquirer_accounts
from tollgate.operations.app import App
from tollgate.operations.caches import MerchantCache
from tollgate.operations.routes import find_view
from tollgate.payments.merchants import AcquirerTerms, Channel, FurtherAccount, ThreeDsTerms
from tollgate.store import merchants
from tollgate.values import Conflict
from unit.app_fixture import CHANNEL, NOW, ScriptedWire, open_app

pytestmark = pytest.mark.anyio

FIRST = replace(CHANNEL, test_url="https://first.example", acquirer=AcquirerTerms())
NUMBERS = ThreeDsTerms(acquirer_bin="400001", acquirer_merchant_id="M-1")
NEW_ID = "8a" + "9" * 30


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    app = replace(app, merchants=MerchantCache(app.keyring))
    await configure(app, FIRST)
    yield app
    await app.database.close()


async def configure(app: App, channel: Channel) -> None:
    await merchants.update_channel(app.database, channel)
    await app.merchants.refresh(app.database)


async def save(app: App, before: Channel, changed: Channel) -> bool:
    saved = await acquirer_accounts.save_channel(app.database, app.keyring, before, changed, new_id=NEW_ID, now=NOW)
    await app.merchants.refresh(app.database)
    return saved


def get_channel(app: App) -> Channel:
    return app.merchants.get_channel(CHANNEL.id)


async def add(app: App, **more: str) -> FurtherAccount:
    sent = {"name": "second", "test_url": "https://second.example", **more}
    return await acquirer_accounts.add_account(app, get_channel(app), sent)


def list_numbers(app: App, account_id: str | None) -> tuple[str, str]:
    view = find_view(app, get_channel(app), account_id)
    assert view is not None
    assert view.three_ds is not None
    return view.three_ds.acquirer_bin, view.three_ds.acquirer_merchant_id


async def test_an_account_keeps_the_numbers_that_it_got_from_its_channel(app: App) -> None:
    await configure(app, replace(FIRST, three_ds=NUMBERS))
    second = await add(app)

    changed = replace(FIRST, three_ds=ThreeDsTerms(acquirer_bin="400002", acquirer_merchant_id="M-2"))
    assert await save(app, get_channel(app), changed)

    assert list_numbers(app, second.id) == list_numbers(app, None) == ("400001", "M-1")
    assert list_numbers(app, NEW_ID) == ("400002", "M-2")


async def test_an_old_first_account_without_numbers_gets_none(app: App) -> None:
    assert await save(app, get_channel(app), replace(FIRST, three_ds=NUMBERS))

    assert list_numbers(app, None) == ("000000", "")
    assert list_numbers(app, NEW_ID) == ("400001", "M-1")


# ---- two changes at once ----


async def test_a_change_that_did_not_see_another_first_account_is_not_saved(app: App) -> None:
    """It would bring the old address back, and lose the account of the payments that were made since."""
    seen = get_channel(app)
    assert await save(app, seen, replace(seen, test_url="https://third.example"))

    for stale in (replace(seen, is_lenient=True), replace(seen, test_url="https://fourth.example")):
        assert not await save(app, seen, stale)
        assert (get_channel(app).account_id, get_channel(app).test_url) == (NEW_ID, "https://third.example")
    with pytest.raises(Conflict):
        await channels.change_channel(app, seen, {"lenient": "true"})
    assert await save(app, get_channel(app), replace(get_channel(app), is_lenient=True))


async def test_an_account_that_is_closed_while_its_terms_change_stays_closed(app: App) -> None:
    second = await add(app)

    await acquirer_accounts.close_account(app, second)
    await acquirer_accounts.change_account(app, second, {"acquirer_weight": "7"})
    await acquirer_accounts.close_account(app, second)

    [saved] = app.merchants.list_further_accounts(CHANNEL.id)
    assert (saved.is_closed, saved.terms.weight) == (True, 7)
