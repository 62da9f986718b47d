"""A channel decides which token vault is asked and which registered cards get a network token."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.connectors.exchange import AcquirerAccount
from tollgate.operations import acquirer_accounts
from tollgate.operations.network_tokens import choose_token_vault, wants_token
from tollgate.payments.merchants import TokenTerms
from tollgate.payments.order import TestMode
from tollgate.payments.registration import Registration, RegistrationState
from tollgate.store import merchants
from tollgate.values import ChannelId, RegistrationId
from tollgate.wire import Wire
from unit.app_fixture import CHANNEL, ScriptedWire, open_app

pytestmark = pytest.mark.anyio


def make_registration(brand: str, mode: TestMode) -> Registration:
    return Registration(
        id=RegistrationId("8a" + "1" * 30),
        merchant_id=CHANNEL.merchant_id,
        channel_id=CHANNEL.id,
        state=RegistrationState.ACTIVE,
        brand=brand,
        method="CC",
        ndc="",
        created_at=0,
        used_at=0,
        keep_until=0,
        test_mode=mode,
    )


TERMS = TokenTerms(test_url="https://test.example", live_url="https://live.example", requestor_id="R-1")


@pytest.mark.parametrize(
    ("is_live", "mode", "terms", "address"),
    [
        (False, TestMode.INTERNAL, None, "simulator"),
        (False, TestMode.INTERNAL, TERMS, "simulator"),
        (False, TestMode.EXTERNAL, TERMS, "https://test.example"),
        (True, None, TERMS, "https://live.example"),
        (False, TestMode.EXTERNAL, None, "simulator"),
        (True, None, None, None),
        (True, None, replace(TERMS, live_url=""), None),
        # The store was copied: no card of the other environment is sent anywhere.
        (False, None, TERMS, None),
        (True, TestMode.INTERNAL, TERMS, None),
        (True, TestMode.EXTERNAL, TERMS, None),
    ],
)
async def test_a_vault_is_chosen_by_host_mode_and_channel(
    tmp_path: Path, is_live: bool, mode: TestMode | None, terms: TokenTerms | None, address: str | None
) -> None:
    asked: list[str] = []
    app = await open_app(tmp_path, ScriptedWire(), is_live=is_live)
    simulator = app.simulator

    def find_wire(url: str, _account: AcquirerAccount | None = None) -> Wire:
        asked.append(url)
        return ScriptedWire()

    app = replace(app, find_wire=find_wire)

    vault = choose_token_vault(app, replace(CHANNEL, token_terms=terms), mode)

    assert (vault is None) is (address is None)
    assert asked == ([] if address in (None, "simulator") else [address])
    assert vault is None or (vault.wire is simulator) is (address == "simulator")
    await app.database.close()


async def test_a_card_shall_have_a_token_where_its_channel_and_its_network_say_so(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    assert not wants_token(app, make_registration("VISA", TestMode.INTERNAL))

    app.merchants.fill([replace(CHANNEL, uses_network_tokens=True)], [])

    assert wants_token(app, make_registration("VISA", TestMode.INTERNAL))
    assert not wants_token(app, make_registration("MEEZA", TestMode.INTERNAL))
    assert not wants_token(app, make_registration("APPLEPAY", TestMode.INTERNAL))
    assert not wants_token(
        app, replace(make_registration("VISA", TestMode.INTERNAL), channel_id=ChannelId("8a" + "9" * 30))
    )


async def test_a_channel_without_a_vault_wants_none(tmp_path: Path) -> None:
    app = await open_app(tmp_path, ScriptedWire())
    # A simulated token would mean nothing to the acquirer's own test system.
    channel = replace(CHANNEL, uses_network_tokens=True, test_url="https://test.example")
    app.merchants.fill([channel], [])
    assert not wants_token(app, make_registration("VISA", TestMode.EXTERNAL))

    app.merchants.fill([replace(channel, token_terms=TERMS)], [])

    assert wants_token(app, make_registration("VISA", TestMode.EXTERNAL))
    await app.database.close()


async def test_a_simulated_token_is_made_for_none_of_several_accounts(tmp_path: Path) -> None:
    """Any of the accounts may get the payment, and one of them is a real test system."""
    app = await open_app(tmp_path, ScriptedWire())
    await merchants.update_channel(app.database, replace(CHANNEL, uses_network_tokens=True))
    await app.merchants.refresh(app.database)
    channel = app.merchants.get_channel(CHANNEL.id)
    assert choose_token_vault(app, channel, TestMode.EXTERNAL) is not None

    await acquirer_accounts.add_account(app, channel, {"name": "second", "test_url": "https://second.example"})

    channel = app.merchants.get_channel(CHANNEL.id)
    assert choose_token_vault(app, channel, TestMode.EXTERNAL) is None
    assert choose_token_vault(app, channel, TestMode.INTERNAL) is not None
    await app.database.close()
