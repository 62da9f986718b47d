"""A registration is opened for its own merchant, in its own row, and changed by the payments that concern it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.operations.accounts import open_registration, sign_mandate
from tollgate.operations.app import App
from tollgate.operations.signing import find_registration_change
from tollgate.payments.accounts import BankAccount, CardAccount
from tollgate.payments.payment import State
from tollgate.values import MerchantId, Refusal, RegistrationId, Secret
from tollgate.vault.sealing import EnvelopeError
from unit.app_fixture import MERCHANT, ScriptedWire, open_app
from unit.flows.chains import read
from unit.flows.registration_samples import ALONE, CARD, INITIAL, register_card, send
from unit.flows.shopping import change_row

pytestmark = pytest.mark.anyio


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    yield app
    await app.database.close()


# ---- who may not ----


async def test_another_merchants_registration_is_as_unknown_as_none(app: App) -> None:
    registration_id = await register_card(app)

    for merchant_id, named in ((MerchantId("8a" + "9" * 30), registration_id), (MERCHANT.id, "8a" + "0" * 30)):
        with pytest.raises(Refusal) as refused:
            await open_registration(app, merchant_id, named)
        assert refused.value.result.code == "100.150.200"


@pytest.mark.parametrize(
    "named", ["", "8a", "8A" + "0" * 30, "8a" + "0" * 31, "\0" * 32, "é" * 32, "8a" + "0" * 29 + "\n"]
)
async def test_what_cannot_be_an_id_never_reaches_the_store(app: App, named: str) -> None:
    with pytest.raises(Refusal) as refused:
        await open_registration(app, MERCHANT.id, named)
    assert refused.value.result.code == "100.150.101"


async def test_a_payments_id_is_no_registrations(app: App) -> None:
    received = await send(app, CARD)

    with pytest.raises(Refusal) as refused:
        await open_registration(app, MERCHANT.id, received.body["id"])
    assert refused.value.result.code == "100.150.204"


async def test_no_real_account_is_charged_from_a_test_host(app: App) -> None:
    registration_id = await register_card(app)
    await change_row(app, "UPDATE registrations SET test_mode = NULL")

    with pytest.raises(Refusal) as refused:
        await open_registration(app, MERCHANT.id, registration_id)
    assert refused.value.result.code == "600.200.700"


async def test_a_foreign_ciphertext_does_not_open_in_another_row(app: App) -> None:
    """Somebody who can write into the store still cannot charge one customer's card in another's name."""
    first, second = await register_card(app), await register_card(app, {"card.number": "4111111111111111"})
    await change_row(
        app,
        "UPDATE registrations SET sealed_account = (SELECT sealed_account FROM registrations"
        f" WHERE id = '{first}') WHERE id = '{second}'",
    )

    with pytest.raises(EnvelopeError):
        await open_registration(app, MERCHANT.id, second)


# ---- at a payment's end ----


async def test_most_ends_change_no_registration(app: App) -> None:
    registration_id = await register_card(app)
    plain = await read(app, (await send(app, CARD)).body["id"])
    repeat = await read(app, (await send(app, ALONE, stored=registration_id)).body["id"])
    begun = await read(app, (await send(app, INITIAL, stored=registration_id)).body["id"])

    assert (find_registration_change(app, plain), find_registration_change(app, repeat)) == (None, None)
    assert find_registration_change(app, begun) is not None
    assert find_registration_change(app, replace(begun, chain_id=begun.id)) is None
    assert find_registration_change(app, replace(begun, payment_type="3D")) is None
    for state in (State.STARTED, State.WAITING, State.UNRESOLVED, State.DECLINED):
        assert find_registration_change(app, replace(begun, state=state)) is None


# ---- mandates ----


def test_a_mandate_is_signed_once_and_only_for_an_account_at_a_bank() -> None:
    leap_day = date(2028, 2, 29)
    named = RegistrationId("8a" + "7" * 30)
    bare = BankAccount(iban=Secret("DE89370400440532013000"))
    dated = replace(bare, signed_on=date(2020, 1, 1))
    signed = replace(dated, mandate_id="M-ONE")
    card = CardAccount(number=Secret("4200000000000000"), expiry_month="05", expiry_year="2034")

    for account, mandate in ((bare, (named, leap_day)), (dated, (named, date(2020, 1, 1)))):
        taken = sign_mandate(account, named, leap_day)
        assert isinstance(taken, BankAccount)
        assert (taken.mandate_id, taken.signed_on) == mandate
    assert sign_mandate(signed, named, leap_day) is signed
    assert sign_mandate(card, named, leap_day) is card
