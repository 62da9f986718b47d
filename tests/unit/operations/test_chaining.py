"""A transaction gets a place in its chain and inherits from it, and no result is written without its signature."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.operations import charging
from tollgate.operations.app import App
from tollgate.operations.signing import complete_signed, make_signature
from tollgate.payments.chain import Refused
from tollgate.payments.following import Action
from tollgate.payments.ledger import UNTOUCHED, Balance
from tollgate.payments.payment import Outcome, State, Verdict
from tollgate.values import SECOND, Money
from unit.app_fixture import CHANNEL, NOW, ScriptedWire, open_app
from unit.flows.chains import begin, follow, happen, make_request, read, read_answered

pytestmark = pytest.mark.anyio


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = await open_app(tmp_path, ScriptedWire())
    yield app
    await app.database.close()


async def test_a_first_payment_is_all_three_ends_of_its_link(app: App) -> None:
    debit = await begin(app)

    context = await charging.read_own_context(app, debit)

    assert context.named == context.money_source == context.first == debit


async def test_a_link_reaches_the_first_payment_of_the_chain(app: App) -> None:
    authorisation = await begin(app, "PA")
    capture = await read_answered(app, await follow(app, authorisation, "CP", 4_000))

    context = await charging.read_own_context(app, capture)

    assert (context.named, context.money_source, context.first.id) == (capture, capture, authorisation.id)
    assert context.first.balance.chain_net == 4_000


async def test_a_deep_link_reaches_the_payment_whose_money_it_is(app: App) -> None:
    authorisation = await begin(app, "PA")
    capture = await read_answered(app, await follow(app, authorisation, "CP", 4_000))
    chargeback = await happen(app, capture, "CB")

    context = await charging.read_chain_context(app, chargeback)

    assert (context.named.id, context.money_source.id, context.first.id) == (
        chargeback.id,
        capture.id,
        authorisation.id,
    )
    assert context.money_source.balance.disputed == 4_000


async def test_a_later_transaction_inherits_the_payment_and_nothing_of_its_fate(app: App) -> None:
    first = await begin(app, "PA", echo={"lifecycleId": "life-0001", "customer.givenName": "Jane"})
    named = replace(first, balance=Balance(drawn=1), releases=2, closes=3)

    attempt = charging.start_after(app, named, "CP", "trace")

    assert (attempt.payment_type, attempt.state, attempt.ndc) == ("CP", State.STARTED, "trace")
    assert (attempt.referenced_id, attempt.chain_id) == (named.id, named.id)
    assert (attempt.brand, attempt.test_mode, attempt.channel_id) == (named.brand, named.test_mode, named.channel_id)
    assert attempt.echo == {"lifecycleId": "life-0001"}
    assert attempt.deadline_at == NOW + 10 * SECOND
    blank = (attempt.card, attempt.mac, attempt.completed_at, attempt.action, attempt.merchant_transaction_id)
    assert blank == (None,) * 5
    assert (attempt.result_code, attempt.releases, attempt.closes) == ("", 0, 0)
    assert attempt.balance is UNTOUCHED


async def test_a_transaction_further_down_belongs_to_the_same_chain(app: App) -> None:
    capture = await read_answered(app, await follow(app, await begin(app, "PA"), "CP", 4_000))

    refund = charging.start_after(app, capture, "RF", "trace")

    assert (refund.referenced_id, refund.chain_id) == (capture.id, capture.chain_id)


async def test_terms_come_from_the_app_the_channel_and_the_authorization(app: App) -> None:
    named = await begin(app, "PA", echo={"numberOfCaptures": "5"})

    terms = charging.make_terms(app, replace(CHANNEL, rebills_max=3), named)

    assert (terms.now, terms.captures_max, terms.rebills_max) == (NOW, 5, 3)
    assert terms.authorization_lifetime == app.authorization_lifetime
    assert charging.make_terms(app, CHANNEL, replace(named, echo={})).captures_max == LIMITS.captures_max


async def test_a_request_without_a_currency_means_that_of_the_payment(app: App) -> None:
    debit = await begin(app)

    assert charging.make_follow_up_request(make_request("RV", 100, currency=None), debit).money == Money(100, "EUR")
    assert charging.make_follow_up_request(make_request("RF", 100, currency="USD"), debit).money == Money(100, "USD")
    assert charging.make_follow_up_request(make_request("RV", currency="USD"), debit).currency == "USD"


async def test_a_fraction_that_the_currency_of_the_payment_lacks_is_objected_to(app: App) -> None:
    debit = await begin(app, money=Money(100_000, "JPY"))

    assert charging.make_follow_up_request(make_request("RC", 50, currency=None), debit).objection == "100.550.303"
    assert charging.make_follow_up_request(make_request("RC", 5_000, currency=None), debit).objection is None


async def test_a_refusal_is_decided_and_does_nothing(app: App) -> None:
    attempt = charging.start_after(app, await begin(app), "RF", "trace")

    refused = charging.plan_attempt(attempt, Refused("700.400.200"))

    assert refused.is_decided
    assert refused.action is None


async def test_every_result_is_signed_and_a_changed_row_no_longer_fits(app: App) -> None:
    attempt = charging.start_after(app, await begin(app), "RF", "trace")

    completed = complete_signed(app, attempt, Verdict(outcome=Outcome.APPROVED, code="000.100.110")).payment

    assert completed.mac == make_signature(completed, app.keyring)
    assert completed.mac != make_signature(replace(completed, money=Money(1, "EUR")), app.keyring)


async def test_completing_a_decided_attempt_twice_changes_nothing(app: App) -> None:
    debit = await begin(app)
    refused = await read_answered(app, await follow(app, debit, "RF", 99_999))

    await charging.complete_decided(app, refused)

    assert await read(app, refused.id) == refused


@pytest.mark.parametrize(
    ("action", "word"),
    [
        (Action.CAPTURE, "capture"),
        (Action.VOID, "reversal"),
        (Action.REVERSAL, "reversal"),
        (Action.RENEWAL, "renewal"),
    ],
)
async def test_what_is_sent_has_a_word(app: App, action: Action, word: str) -> None:
    assert charging.get_wire_word(replace(await begin(app), action=action)) == word


@pytest.mark.parametrize("action", [None, Action.CHARGEBACK, Action.RECEIPT])
async def test_what_is_never_sent_has_none(app: App, action: Action | None) -> None:
    with pytest.raises(LookupError):
        charging.get_wire_word(replace(await begin(app), action=action))


async def test_a_payment_that_was_written_and_is_gone_is_breakage(app: App) -> None:
    with pytest.raises(LookupError):
        await charging.get_payment(app, await begin(app), "8a" + "0" * 30)
