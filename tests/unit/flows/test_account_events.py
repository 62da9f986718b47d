"""Events come under the id of an acquirer account. That of a channel stands for its first account, and for the one that
was its first before.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors.stripe.messages import KEY
from tollgate.flows.acquirer_events import list_reporting, take_event
from tollgate.operations import acquirer_accounts, settings
from tollgate.operations.app import App
from tollgate.operations.caches import ACQUIRER_SECRETS, MerchantCache
from tollgate.operations.signing import sign
from tollgate.payments.merchants import AcquirerTerms, FurtherAccount
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Payment
from tollgate.store import merchants, payments
from tollgate.values import SECOND, InvalidParameters, NotFound, Secret
from tollgate.vault import event_signatures
from unit.app_fixture import CHANNEL, ScriptedWire, open_app
from unit.flows.chains import begin, read_chain

pytestmark = pytest.mark.anyio

STRIPE = AcquirerTerms(connector=ConnectorName.STRIPE)
FIRST = replace(CHANNEL, test_url="https://first.example", acquirer=STRIPE)
NEW_FIRST = "8a" + "9" * 30
OLD, NEW, OTHER = "whsec_old", "whsec_new", "whsec_other"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    app = replace(app, merchants=MerchantCache(app.keyring))
    await merchants.update_channel(app.database, FIRST)
    await put_secret(app, FIRST.id, OLD)
    yield app
    await app.database.close()


async def put_secret(app: App, account_id: str, secret: str) -> None:
    name = f"{ACQUIRER_SECRETS}{account_id}/webhook-secret"
    await settings.put_sealed_setting(app.database, app.keyring, name, secret.encode())
    await merchants.update_channel(app.database, app.merchants.find_channel(CHANNEL.id) or FIRST)
    await app.merchants.refresh(app.database)


async def add_second(app: App) -> FurtherAccount:
    sent = {"name": "second", "acquirer": "stripe", "test_url": "https://second.example"}
    second = await acquirer_accounts.add_account(app, app.merchants.get_channel(CHANNEL.id), sent)
    await put_secret(app, second.id, OTHER)
    return second


async def change_first(app: App) -> None:
    """The channel changes to another acquirer; the account of before is kept under the id of the channel."""
    known = app.merchants.get_channel(CHANNEL.id)
    changed = replace(known, test_url="https://new.example")
    assert await acquirer_accounts.save_channel(
        app.database, app.keyring, known, changed, new_id=NEW_FIRST, now=app.clock.now()
    )
    await app.merchants.refresh(app.database)
    await put_secret(app, NEW_FIRST, NEW)


async def begin_at(app: App, account_id: str | None) -> Payment:
    """A debit of an account, as if its acquirer had approved it."""
    debit = await begin(app)
    moved = sign(
        app, replace(debit, account_id=account_id, connector=ConnectorName.STRIPE, test_mode=TestMode.EXTERNAL)
    )
    columns = ["account_id", "connector", "test_mode", "mac"]
    assert await app.database.write(payments.PAYMENTS.update(new=columns)(moved, moved), label="moved by a test")
    return moved


async def report(app: App, given_id: str, payment: Payment, secret: str) -> list[str]:
    """Reports a dispute, and returns the types of the payments of its chain afterwards."""
    about = {"id": "dp_1", "object": "dispute", "amount": 9200, "currency": "eur", "metadata": {KEY: payment.id}}
    event = {"id": "evt_1", "type": "charge.dispute.created", "livemode": False, "data": {"object": about}}
    body = json.dumps(event).encode()
    at = str(app.clock.wall() // SECOND)
    signature = f"t={at},v1={event_signatures.sign(body, at, Secret(secret))}"
    await take_event(app, given_id, body, signature, "trace")
    return [each.payment_type for each in await read_chain(app, payment)]


async def test_the_id_of_a_channel_names_its_first_account(app: App) -> None:
    await add_second(app)
    debit = await begin_at(app, None)

    assert [account.id for _, account in list_reporting(app, CHANNEL.id)] == [CHANNEL.id]
    assert await report(app, CHANNEL.id, debit, OLD) == ["DB", "CB"]
    assert await report(app, CHANNEL.id, debit, OLD) == ["DB", "CB"]


async def test_a_further_account_reports_under_its_own_id(app: App) -> None:
    second = await add_second(app)
    debit = await begin_at(app, second.id)

    assert await report(app, second.id, debit, OTHER) == ["DB", "CB"]


async def test_a_closed_account_still_reports(app: App) -> None:
    second = await add_second(app)
    debit = await begin_at(app, second.id)
    await acquirer_accounts.close_account(app, second)

    assert await report(app, second.id, debit, OTHER) == ["DB", "CB"]


async def test_an_account_reports_nothing_about_the_payments_of_another(app: App) -> None:
    second = await add_second(app)
    of_the_first, of_the_second = await begin_at(app, None), await begin_at(app, second.id)

    assert await report(app, second.id, of_the_first, OTHER) == ["DB"]
    assert await report(app, CHANNEL.id, of_the_second, OLD) == ["DB"]


@pytest.mark.parametrize("is_first", [True, False])
async def test_the_secret_of_one_account_signs_nothing_for_another(app: App, is_first: bool) -> None:
    second = await add_second(app)
    debit = await begin_at(app, None if is_first else second.id)

    with pytest.raises(InvalidParameters):
        await report(app, CHANNEL.id if is_first else second.id, debit, OTHER if is_first else OLD)


@pytest.mark.parametrize(("account_id", "secret"), [(None, OLD), (NEW_FIRST, NEW)])
async def test_the_old_and_the_new_first_account_both_report_under_the_id_of_the_channel(
    app: App, account_id: str | None, secret: str
) -> None:
    await change_first(app)
    debit = await begin_at(app, account_id)

    assert {account.id for _, account in list_reporting(app, CHANNEL.id)} == {CHANNEL.id, NEW_FIRST}
    assert await report(app, CHANNEL.id, debit, secret) == ["DB", "CB"]


async def test_the_signature_says_which_first_account_it_is(app: App) -> None:
    await change_first(app)
    of_the_old, of_the_new = await begin_at(app, None), await begin_at(app, NEW_FIRST)

    assert await report(app, CHANNEL.id, of_the_old, NEW) == ["DB"]
    assert await report(app, CHANNEL.id, of_the_new, OLD) == ["DB"]
    assert await report(app, NEW_FIRST, of_the_new, NEW) == ["DB", "CB"]
    with pytest.raises(InvalidParameters):
        await report(app, NEW_FIRST, of_the_old, OLD)


@pytest.mark.parametrize("given_id", ["8a" + "7" * 30, "", "../" + CHANNEL.id])
async def test_nobody_reports_under_an_id_that_no_account_has(app: App, given_id: str) -> None:
    debit = await begin_at(app, None)

    with pytest.raises(NotFound):
        await report(app, given_id, debit, OLD)
