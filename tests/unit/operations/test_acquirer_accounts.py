"""A channel chooses the protocol of its acquirer, and a payment stays with the acquirer that has it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.catalog.connectors import ConnectorName
from tollgate.connectors import card, redirect
from tollgate.connectors.exchange import AcquirerAccount
from tollgate.operations import settings
from tollgate.operations.app import App
from tollgate.operations.caches import ACQUIRER_SECRETS, MerchantCache
from tollgate.operations.routes import choose_route, get_route
from tollgate.payments.merchants import AcquirerTerms, Channel, ThreeDsTerms, TlsTerms
from tollgate.payments.order import TestMode
from tollgate.store import merchants
from tollgate.values import Refusal
from tollgate.wire import Wire
from unit.app_fixture import CHANNEL, ScriptedWire, open_app
from unit.connectors.samples import ATTEMPT

pytestmark = pytest.mark.anyio

ISO_CHANNEL = replace(
    CHANNEL,
    test_url="tls://acquirer.example:8583",
    acquirer=AcquirerTerms(connector=ConnectorName.ISO8583, terminal_id="T0000001", ca_file="acquirer.pem"),
    three_ds=ThreeDsTerms(acquirer_merchant_id="123456789012345", acquirer_bin="400000", mcc="5411", country="DE"),
)


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    app = replace(app, merchants=MerchantCache(app.keyring))
    yield app
    await app.database.close()


async def configure(app: App, channel: Channel) -> Channel:
    await merchants.update_channel(app.database, channel)
    await app.merchants.refresh(app.database)
    return channel


async def test_a_channel_speaks_the_protocol_of_its_acquirer(app: App) -> None:
    asked: list[tuple[str, AcquirerAccount | None]] = []

    def find_wire(address: str, account: AcquirerAccount | None = None) -> Wire:
        asked.append((address, account))
        return ScriptedWire()

    channel = await configure(app, ISO_CHANNEL)

    route = choose_route(replace(app, find_wire=find_wire), channel, TestMode.EXTERNAL, "VISA")

    assert (route.name, route.needs_account) == (ConnectorName.ISO8583, True)
    ((address, account),) = asked
    assert address == "tls://acquirer.example:8583"
    assert account is app.merchants.get_acquirer_account(channel.id)
    assert (account.merchant_number, account.acquirer_number) == ("123456789012345", "400000")
    assert (account.terminal_id, account.category, account.country) == ("T0000001", "5411", "DE")
    assert account.tls == TlsTerms(ca_file="acquirer.pem")


async def test_the_simulator_answers_the_tests_of_any_channel(app: App) -> None:
    channel = await configure(app, ISO_CHANNEL)

    route = choose_route(app, channel, TestMode.INTERNAL, "VISA")

    assert (route.connector, route.wire, route.name) == (card, app.simulator, None)


async def test_an_acquirer_for_cards_takes_no_other_brand(app: App) -> None:
    channel = await configure(app, ISO_CHANNEL)

    with pytest.raises(Refusal, match=r"600\.200\.201"):
        choose_route(app, channel, TestMode.EXTERNAL, "PAYPAL")


async def test_the_own_protocol_may_have_certificates_too(app: App) -> None:
    terms = AcquirerTerms(certificate_file="client.pem")
    channel = await configure(app, replace(CHANNEL, test_url="https://acquirer.example", acquirer=terms))

    routes = [choose_route(app, channel, TestMode.EXTERNAL, brand) for brand in ("VISA", "PAYPAL")]

    assert [(route.connector, route.name) for route in routes] == [(card, None), (redirect, None)]


async def test_a_payment_is_not_followed_up_at_another_acquirer(app: App) -> None:
    channel = await configure(app, ISO_CHANNEL)
    own = replace(ATTEMPT, test_mode=TestMode.EXTERNAL, connector=ConnectorName.ISO8583)

    assert get_route(app, channel, own).name is ConnectorName.ISO8583
    for other in (replace(own, connector=None), replace(own, connector=ConnectorName.STRIPE)):
        with pytest.raises(Refusal, match=r"600\.200\.700"):
            get_route(app, channel, other)


async def test_secrets_of_an_account_are_opened_from_the_store_and_replaced(app: App) -> None:
    channel = await configure(app, ISO_CHANNEL)
    name = f"{ACQUIRER_SECRETS}{channel.id}/key-encryption-key"
    for value in ("00" * 16, "11" * 16):
        await settings.put_sealed_setting(app.database, app.keyring, name, value.encode())
        await merchants.change_merchants(app.database, [])
        await app.merchants.refresh(app.database)

        secrets = app.merchants.get_acquirer_account(channel.id).secrets

        assert {each: secret.reveal() for each, secret in secrets.items()} == {"key-encryption-key": value}
        assert value not in repr(app.merchants.get_acquirer_account(channel.id))
