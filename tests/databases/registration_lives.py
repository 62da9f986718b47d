"""A store with registrations in every state: made with payments and without, charged by schedule, waiting, removed.

The rows are made by the flows themselves; nothing is written by hand here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from databases.banking import CHANNEL, MERCHANT, Bank, open_bank
from databases.registration_samples import CARD_NUMBERS, order_card, order_debit, store
from tollgate.contract.fields import Fields
from tollgate.contract.registrations import RegistrationOrder
from tollgate.flows.registrations import deregister, register
from tollgate.flows.schedules import deschedule
from tollgate.operations.app import App, Call
from tollgate.operations.network_tokens import make_token_owner
from tollgate.payments.accounts import TokenAccount, VirtualAccount
from tollgate.payments.order import Order, TestMode
from tollgate.payments.registration import NetworkToken, TokenState
from tollgate.payments.schedule import make_run_payment_id
from tollgate.store.database import Database
from tollgate.store.registrations import change_registration_writes, find_sealed_registration, list_same_accounts
from tollgate.values import DAY, SECOND, MerchantId, Secret
from tollgate.vault.keyring import Keyring
from tollgate.vault.sealing import seal_account
from tollgate.vault.signing import fingerprint_account
from tollgate.workers.upkeep import erase_registrations
from unit.app_fixture import ScriptedWire
from unit.flows.scheduling import get_runs, pass_time, plan_payments

DECLINED = b'{"status":"declined","response_code":"05","message":"No"}'
PENDING = b'{"status":"pending","response_code":"","message":"Wait"}'
NO_MONEY = b'{"status":"declined","response_code":"51","message":"No money"}'
EXPIRED = b'{"status":"declined","response_code":"54","message":"Expired"}'
MONTH_END = {"dayOfMonth": "L", "hour": "10"}
NOTHING_SENT = Fields({}, frozenset(), {})
TOKEN = TokenAccount(number=Secret("4895370010000005"), type="NETWORK", expiry_month="01", expiry_year="2036")


@dataclass
class RegistrationLives:
    """The lives of registrations and schedules, with a name for each row."""

    bank: Bank
    stored: dict[str, str] = field(default_factory=dict)
    schedules: dict[str, str] = field(default_factory=dict)
    """The ids of schedules and of their runs."""

    @property
    def ids(self) -> dict[str, str]:
        return self.stored | self.schedules

    @property
    def app(self) -> App:
        return self.bank.app

    @property
    def keyring(self) -> Keyring:
        return self.app.keyring

    async def store(self, name: str, order: Order, *script: bytes) -> str:
        assert isinstance(self.app.simulator, ScriptedWire)
        self.app.simulator.script = list(script)
        self.bank.clock.at += SECOND
        self.stored[name] = await store(self.bank, order)
        return self.stored[name]


async def live_through_registrations(db: Database) -> RegistrationLives:
    lives = RegistrationLives(await open_bank(db))
    await _erase(lives)
    await _charge_by_plan(lives, await lives.store("card", order_card()))
    await lives.store("other card", order_card(CARD_NUMBERS[2]))
    await lives.store("bank account", order_debit())
    await lives.store("refused", order_card(), DECLINED)
    await lives.store("waiting", order_card(), PENDING)
    await _give_token(lives, await lives.store("tokenized", order_card()))
    await _remove(lives, await lives.store("removed", order_card()))
    await _register_alone(lives, "virtual", VirtualAccount(account_id="jane@example.com"), "PAYPAL", "VA")
    return lives


async def _erase(lives: RegistrationLives) -> None:
    """Years before the others."""
    now = lives.bank.clock.at
    await lives.store("erased", order_debit())
    lives.bank.wait(500)
    assert await erase_registrations(lives.app) == 1
    lives.bank.clock.at = now + SECOND


async def _charge_by_plan(lives: RegistrationLives, registration_id: str) -> None:
    """Runs that were made, at the second try too, that were missed and that failed; and a plan that is over."""
    app, clock = lives.app, lives.bank.clock
    assert isinstance(app.simulator, ScriptedWire)
    over = await plan_payments(app, MONTH_END, registrationId=registration_id)
    await deschedule(app, NOTHING_SENT, over.id, Call(CHANNEL, "ndc"))
    schedule = await plan_payments(app, MONTH_END, registrationId=registration_id)
    lives.schedules |= {"over": over.id, "monthly": schedule.id}
    for days, script in ((30, []), (90, []), (30, [NO_MONEY]), (30, [EXPIRED])):
        clock.at += days * DAY
        app.simulator.script = list(script)
        await pass_time(app, clock.at + 4 * DAY, DAY)
    for run in await get_runs(app, schedule):
        lives.schedules[f"{run.state.name} after {run.tries}"] = f"{schedule.id}/{run.due_at}"
        for attempt in range(1, run.tries + 1):
            name = f"try {attempt} of {run.tries}"
            lives.schedules[name] = make_run_payment_id(run.schedule_id, run.due_at, attempt)


async def _remove(lives: RegistrationLives, registration_id: str) -> None:
    lives.bank.clock.at += SECOND
    await deregister(lives.app, NOTHING_SENT, registration_id, Call(CHANNEL, "ndc"))


async def _give_token(lives: RegistrationLives, registration_id: str) -> None:
    app = lives.app
    found = await find_sealed_registration(app.database, MERCHANT.id, registration_id)
    assert found is not None
    token = NetworkToken(state=TokenState.ACTIVE, updated_at=lives.bank.clock.at, reference="at the network")
    with_token = msgspec.structs.replace(found[0], network_token=token)
    sealed = seal_account(TOKEN, owner=make_token_owner(with_token), keyring=app.keyring)
    unit = change_registration_writes(with_token, found[1], sealed, event=None, at=lives.bank.clock.at)
    assert await app.database.write(unit, label="test")


async def _register_alone(
    lives: RegistrationLives, name: str, account: VirtualAccount, brand: str, method: str
) -> None:
    lives.bank.clock.at += SECOND
    order = RegistrationOrder(
        brand=brand,
        method=method,
        account=account,
        card_summary=None,
        test_mode=TestMode.INTERNAL,
        objection=None,
        forced_code=None,
        echo={"customer.givenName": "Jane"},
        initial=None,
    )
    await register(lives.app, order, Call(CHANNEL, "ndc"))
    app, merchant_id = lives.app, MerchantId(MERCHANT.id)
    known = fingerprint_account(account, brand, merchant_id, app.keyring)
    assert known is not None
    (made,) = await list_same_accounts(app.database, merchant_id, known, 2)
    lives.stored[name] = made.id
