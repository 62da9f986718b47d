"""Where a transaction hooks into its chain, what it inherits, and that no result is written without its seal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.catalog import LIMITS
from tollgate.payments import UNTOUCHED, Action, Balance, Outcome, Refused, State, Verdict
from tollgate.steps import (
    House,
    get_payment,
    get_wire_word,
    make_deep_link,
    make_link,
    make_terms,
    make_wish,
    plan_attempt,
    seal_facts,
    settle_decided,
    settle_sealed,
    start_after,
)
from tollgate.values import SECOND, Money
from unit.flows.telling import begin, follow, happen, make_request, read, read_answered
from unit.premises import CHANNEL, NOW, ScriptedWire, open_house

pytestmark = pytest.mark.anyio


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    house = await open_house(tmp_path, ScriptedWire())
    yield house
    await house.database.close()


async def test_a_first_payment_is_all_three_ends_of_its_link(house: House) -> None:
    debit = await begin(house)

    link = await make_link(house, debit)

    assert link.named == link.bearer == link.first == debit


async def test_a_link_reaches_the_first_payment_of_the_chain(house: House) -> None:
    authorisation = await begin(house, "PA")
    capture = await read_answered(house, await follow(house, authorisation, "CP", 4_000))

    link = await make_link(house, capture)

    assert (link.named, link.bearer, link.first.id) == (capture, capture, authorisation.id)
    assert link.first.balance.chain_net == 4_000


async def test_a_deep_link_reaches_the_payment_whose_money_it_is(house: House) -> None:
    authorisation = await begin(house, "PA")
    capture = await read_answered(house, await follow(house, authorisation, "CP", 4_000))
    chargeback = await happen(house, capture, "CB")

    link = await make_deep_link(house, chargeback)

    assert (link.named.id, link.bearer.id, link.first.id) == (chargeback.id, capture.id, authorisation.id)
    assert link.bearer.balance.disputed == 4_000


async def test_a_later_transaction_inherits_the_payment_and_nothing_of_its_fate(house: House) -> None:
    first = await begin(house, "PA", echo={"lifecycleId": "life-0001", "customer.givenName": "Jane"})
    named = replace(first, balance=Balance(drawn=1), releases=2, closes=3)

    attempt = start_after(house, named, "CP", "trace")

    assert (attempt.kind, attempt.state, attempt.ndc) == ("CP", State.STARTED, "trace")
    assert (attempt.referenced_id, attempt.chain_id) == (named.id, named.id)
    assert (attempt.brand, attempt.test_mode, attempt.channel_id) == (named.brand, named.test_mode, named.channel_id)
    assert attempt.echo == {"lifecycleId": "life-0001"}
    assert attempt.deadline_at == NOW + 10 * SECOND
    blank = (attempt.card, attempt.mac, attempt.settled_at, attempt.action, attempt.merchant_transaction_id)
    assert blank == (None,) * 5
    assert (attempt.result_code, attempt.releases, attempt.closes) == ("", 0, 0)
    assert attempt.balance is UNTOUCHED


async def test_a_transaction_further_down_belongs_to_the_same_chain(house: House) -> None:
    capture = await read_answered(house, await follow(house, await begin(house, "PA"), "CP", 4_000))

    refund = start_after(house, capture, "RF", "trace")

    assert (refund.referenced_id, refund.chain_id) == (capture.id, capture.chain_id)


async def test_terms_come_from_the_house_the_channel_and_the_authorisation(house: House) -> None:
    named = await begin(house, "PA", echo={"numberOfCaptures": "5"})

    terms = make_terms(house, replace(CHANNEL, rebills_max=3), named)

    assert (terms.now, terms.captures_max, terms.rebills_max) == (NOW, 5, 3)
    assert terms.authorization_lifetime == house.authorization_lifetime
    assert make_terms(house, CHANNEL, replace(named, echo={})).captures_max == LIMITS.captures_max


async def test_a_wish_without_a_currency_means_that_of_the_payment(house: House) -> None:
    debit = await begin(house)

    assert make_wish(make_request("RV", 100, currency=None), debit).money == Money(100, "EUR")
    assert make_wish(make_request("RF", 100, currency="USD"), debit).money == Money(100, "USD")
    assert make_wish(make_request("RV", currency="USD"), debit).currency == "USD"


async def test_a_fraction_that_the_currency_of_the_payment_lacks_is_objected_to(house: House) -> None:
    debit = await begin(house, money=Money(100_000, "JPY"))

    assert make_wish(make_request("RC", 50, currency=None), debit).objection == "100.550.303"
    assert make_wish(make_request("RC", 5_000, currency=None), debit).objection is None


async def test_a_refusal_is_decided_and_does_nothing(house: House) -> None:
    attempt = start_after(house, await begin(house), "RF", "trace")

    refused = plan_attempt(attempt, Refused("700.400.200"))

    assert refused.is_decided
    assert refused.action is None


async def test_every_result_is_sealed_and_a_changed_row_no_longer_fits(house: House) -> None:
    attempt = start_after(house, await begin(house), "RF", "trace")

    settled = settle_sealed(house, attempt, Verdict(outcome=Outcome.APPROVED, code="000.100.110")).payment

    assert settled.mac == seal_facts(settled, house.keyring)
    assert settled.mac != seal_facts(replace(settled, money=Money(1, "EUR")), house.keyring)


async def test_settling_what_was_decided_twice_changes_nothing(house: House) -> None:
    debit = await begin(house)
    refused = await read_answered(house, await follow(house, debit, "RF", 99_999))

    await settle_decided(house, refused)

    assert await read(house, refused.id) == refused


@pytest.mark.parametrize(
    ("action", "word"),
    [
        (Action.CAPTURE, "capture"),
        (Action.VOID, "reversal"),
        (Action.REVERSAL, "reversal"),
        (Action.RENEWAL, "renewal"),
    ],
)
async def test_what_is_sent_has_a_word(house: House, action: Action, word: str) -> None:
    assert get_wire_word(replace(await begin(house), action=action)) == word


@pytest.mark.parametrize("action", [None, Action.CHARGEBACK, Action.RECEIPT])
async def test_what_is_never_sent_has_none(house: House, action: Action | None) -> None:
    with pytest.raises(LookupError):
        get_wire_word(replace(await begin(house), action=action))


async def test_a_payment_that_was_written_and_is_gone_is_breakage(house: House) -> None:
    with pytest.raises(LookupError):
        await get_payment(house, await begin(house), "8a" + "0" * 30)
