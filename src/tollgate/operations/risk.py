"""Judges payments by the risk rules: gathers the facts, evaluates the rules, and notes what later payments count.

What follows from a judgement is carried out by the flows.
"""

import contextlib
from collections.abc import Iterable, Sequence, Set

import msgspec

from tollgate.catalog.risk_rows import TOTALS, Attribute
from tollgate.contract.registrations import RegistrationOrder
from tollgate.contract.risk_rules import Person, read_person
from tollgate.operations import geography
from tollgate.operations.app import App
from tollgate.operations.risk_values import Subject, Values, hash_value, make_values, needs_account
from tollgate.operations.stages import begin_stage
from tollgate.payments.accounts import Instrument
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order
from tollgate.payments.payment import NATURES, Nature, Payment
from tollgate.payments.risk import Facts, RiskFinding, RiskOutcome
from tollgate.payments.risk_evaluation import CompiledRules, Watched, evaluate
from tollgate.payments.velocities import WRONG_TRIES, Sighting, Velocities, Velocity, begin_window
from tollgate.store import payments
from tollgate.values import Instant, MerchantId, Money
from tollgate.vault import keyring, sealing

_NONE = Velocities(0, {})
# Looking a member up in its enumeration takes as long as a call, and every payment asks for some.
_TAKES, _IP, _COUNTRY = Nature.TAKES, Attribute.IP, Attribute.COUNTRY
_WRONG_CODES = frozenset().union(*WRONG_TRIES.values())


class Judgement(msgspec.Struct, frozen=True):
    at: Instant
    """The time of the payment, before which others count."""
    finding: RiskFinding | None = None
    """The finding of the rules; None where none was hit."""
    sightings: Sequence[Sighting] = ()
    """The sightings that count for others already; `App.sightings` has to be told whether the payment was written."""

    @property
    def refusal(self) -> str | None:
        """The result code of a refusal."""
        return self.finding.code if self.finding is not None and self.finding.outcome is RiskOutcome.REFUSE else None

    @property
    def demands_step_up(self) -> bool:
        """Tells whether the shopper has to be authenticated first."""
        return self.finding is not None and self.finding.outcome is RiskOutcome.STEP_UP


async def evaluate_order(
    app: App, order: Order, channel: Channel, payment_id: str, account_id: str | None
) -> Judgement:
    """Judges an order before it is sent. From now on it counts for others.

    account_id: the acquirer account of the route; None for the one that has the id of the channel.
    """
    rules, now = app.merchants.get_risk_rules(channel), app.clock.now()
    if rules.is_idle or NATURES[order.payment_type] is not _TAKES:
        return Judgement(now)
    await begin_stage(app.activity)
    subject = Subject(
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        account_id=account_id or channel.id,
        payment_id=payment_id,
        at=app.sightings.choose_instant(now),
        payment_type=order.payment_type,
        money=order.money,
        brand=order.brand,
        card=order.card_summary,
        account=order.account,
        merchant_transaction_id=order.merchant_transaction_id,
        echo=order.echo,
    )
    return await _evaluate(app, rules, subject, read_person(subject.echo, subject.card))


async def _evaluate(app: App, rules: CompiledRules, subject: Subject, person: Person) -> Judgement:
    values = make_values(app.keyring, subject, person, rules.wanted, rules.counted)
    # Nothing is awaited between the choice of the time and this, so that whoever comes later counts it.
    watched = app.sightings.note(values.sightings, map(rules.by_value.get, values.shape.seen))
    if rules.by_result:
        keys = [(each, values.hashes[each.base] + each.end) for each in rules.by_result if each.base in values.hashes]
        watched += [each for each, key in keys if app.sightings.was_seen(key)]
    try:
        facts = await make_facts(app, rules, subject, person, values, is_low=not watched)
        velocities = await read_velocities(app, rules, facts, subject.merchant_id, watched) if watched else _NONE
        finding = evaluate(rules, facts, velocities, watched)
        await begin_stage(app.activity)
    except BaseException:
        app.sightings.settle(values.sightings, is_written=False)
        raise
    return Judgement(subject.at, finding if finding.hits else None, values.sightings)


async def evaluate_registration(
    app: App, order: RegistrationOrder, channel: Channel, registration_id: str
) -> Judgement:
    """Judges an account that is registered without a payment: by the lists, and by the rules that count registrations
    and what came with a card. It counts for others as a payment does."""
    rules = app.merchants.get_risk_rules(channel).registering
    now = app.clock.now()
    if rules is None or rules.is_idle:
        return Judgement(now)
    subject = Subject(
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        account_id=channel.id,
        payment_id=registration_id,
        at=app.sightings.choose_instant(now),
        payment_type="",
        money=Money(0, ""),
        brand=order.brand,
        card=order.card_summary,
        account=order.account,
        merchant_transaction_id=None,
        echo=order.echo,
    )
    person = msgspec.structs.replace(read_person(subject.echo, subject.card), registers=True)
    return await _evaluate(app, rules, subject, person)


async def make_facts(
    app: App,
    rules: CompiledRules,
    subject: Subject,
    person: Person,
    values: Values,
    *,
    is_low: bool = False,
) -> Facts:
    """Gathers what the rules look at.

    is_low: the counts are too low for any rule.
    """
    bin_country, ip_country, is_proxy = "", "", False
    if rules.needs_places and app.countries.has_any:
        bin_country = await geography.find_bin_country(app, subject.card.bin if subject.card else None) or ""
        place = await geography.find_ip_place(app, person.values.get(_IP))
        ip_country, is_proxy = (place.country, place.is_proxy) if place else ("", False)
    keys = {} if is_low and not rules.listed else values.make_keys()
    listed = [(attribute, keys[attribute]) for attribute in rules.listed if attribute in keys]
    if _COUNTRY in rules.listed:
        countries = {each for each in (bin_country, person.billing_country, ip_country) if each}
        listed += [
            (_COUNTRY, hash_value(subject.merchant_id, _COUNTRY, each, app.keyring)) for each in sorted(countries)
        ]
    return Facts(
        at=subject.at,
        money=subject.money,
        bin_country=bin_country,
        billing_country=person.billing_country,
        ip_country=ip_country,
        is_proxy=is_proxy,
        is_other_holder=rules.needs_names and person.is_other_holder,
        present=values.shape.present,
        values=keys,
        others={} if is_low else values.make_others(),
        listed=tuple(listed),
    )


async def read_velocities(
    app: App, rules: CompiledRules, facts: Facts, merchant_id: MerchantId, watched: Iterable[Watched]
) -> Velocities:
    """Reads the earlier payments that rules count, in one statement for all values."""
    at, values = facts.at, facts.values
    groups = [(group.attribute, each.window) for each in watched for group in each.groups]
    wanted = {attribute: window for attribute, window in groups if attribute in values and attribute not in TOTALS}
    begins = {values[attribute]: at - window for attribute, window in wanted.items()}
    found = await app.sightings.read(app.database, merchant_id, begins, at) if begins else {}
    totals: dict[tuple[Attribute, int, str], Velocity] = {}
    for attribute, window_s in {(attribute, window_s) for attribute, window_s, _ in rules.totals}:
        begin, key = begin_window(at, attribute, window_s), values[attribute]
        summed = await app.sightings.add_up(app.database, merchant_id, key, window_s, begin, at)
        totals |= {(attribute, window_s, currency): each for currency, each in summed.items()}
        totals[attribute, window_s, ""] = Velocity(sum(each.count for each in summed.values()), 0)
    return Velocities(at, {attribute: found[values[attribute]] for attribute in wanted}, totals)


def note_result(app: App, payment: Payment, account: Instrument | None, result_code: str) -> None:
    """Notes that the issuer found the security code or the expiry date wrong."""
    if result_code not in _WRONG_CODES:
        return
    counted = frozenset(app.merchants.get_counted(payment.merchant_id).keys() & WRONG_TRIES.keys())
    if any(result_code in WRONG_TRIES[each] for each in counted):
        subject = msgspec.structs.replace(make_subject(payment, account), result_code=result_code)
        values = make_values(app.keyring, subject, read_person({}, None), counted, counted)
        app.sightings.hold(payment.id, values.sightings)


def make_subject(payment: Payment, account: Instrument | None) -> Subject:
    """Returns a stored payment as the rules saw it."""
    return Subject(
        merchant_id=payment.merchant_id,
        channel_id=payment.channel_id,
        account_id=payment.account_id or payment.channel_id,
        payment_id=payment.id,
        at=payment.created_at,
        payment_type=payment.payment_type,
        money=payment.money,
        brand=payment.brand,
        card=payment.card,
        account=account,
        merchant_transaction_id=payment.merchant_transaction_id,
        echo=payment.echo,
        result_code=payment.result_code,
        completed_at=payment.completed_at or 0,
    )


async def open_accounts(app: App, some: Sequence[Payment], wanted: Set[Attribute]) -> dict[str, Instrument]:
    """Opens the accounts of payments of one merchant by their ids, if a wanted attribute needs them; those that
    are wiped or cannot be opened are left out."""
    if not some or not needs_account(wanted):
        return {}
    merchant_id = some[0].merchant_id
    sealed = await payments.list_sealed_accounts(app.database, merchant_id, [payment.id for payment in some])
    found: dict[str, Instrument] = {}
    for payment_id, each in sealed.items():
        owner = sealing.make_owner("payment", merchant_id, payment_id)
        # One damaged row must not keep a host from starting.
        with contextlib.suppress(sealing.EnvelopeError, keyring.KeyringError):
            found[payment_id] = sealing.open_account(each, owner=owner, keyring=app.keyring)
    return found


async def derive_rows(app: App, some: Sequence[Payment], counted: Set[Attribute]) -> list[Sighting]:
    """Returns the sightings of stored payments of one merchant, with the accounts that are not wiped."""
    judged, wanted = [payment for payment in some if payment.is_charge], frozenset(counted)
    accounts = await open_accounts(app, judged, counted)
    rows: list[Sighting] = []
    for payment in judged:
        subject = make_subject(payment, accounts.get(payment.id))
        person = read_person(payment.echo, payment.card)
        rows += make_values(app.keyring, subject, person, wanted, wanted).sightings
    return rows
