"""Judges payments by the risk rules: gathers the facts, evaluates the rules, and notes what later payments count.

What follows from a judgement is carried out by the flows.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache

import msgspec

from tollgate.catalog.risk_rows import BASES, MARKS, PAIRS, REGISTERED, TOTALS, WRONG, Attribute
from tollgate.contract.registrations import RegistrationOrder
from tollgate.contract.risk_rules import Person, read_person
from tollgate.operations import geography
from tollgate.operations.app import App
from tollgate.operations.risk_rules import hash_value
from tollgate.payments.accounts import CardSummary, Instrument
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order
from tollgate.payments.payment import NATURES, Nature, Payment
from tollgate.payments.risk import Facts, RiskFinding, RiskOutcome
from tollgate.payments.risk_evaluation import CompiledRules, Watched, evaluate
from tollgate.payments.velocities import WRONG_TRIES, Sighting, Velocities, Velocity, begin_window
from tollgate.store import payments
from tollgate.values import Instant, MerchantId, Money
from tollgate.vault import keyring, sealing, signing

_CARD_BASED = frozenset(
    {Attribute.CARD, Attribute.PAYMENT, *WRONG_TRIES, *[each for each, pair in PAIRS.items() if Attribute.CARD in pair]}
)


_NONE = Velocities(0, {})
# Looking a member up in its enumeration takes as long as a call, and every payment asks for some.
_TAKES, _CARD, _IP, _COUNTRY = Nature.TAKES, Attribute.CARD, Attribute.IP, Attribute.COUNTRY
_CHANNEL, _ACCOUNT, _PAYMENT = Attribute.CHANNEL, Attribute.ACCOUNT, Attribute.PAYMENT
_REFERENCE = Attribute.MERCHANT_TRANSACTION_ID
_WRONG_CODES = frozenset().union(*WRONG_TRIES.values())


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A payment or registration as the rules see it: an order that is to be started, or a row of the store."""

    merchant_id: MerchantId
    channel_id: str
    account_id: str
    """The acquirer account that it goes to."""
    payment_id: str
    at: Instant
    payment_type: str
    money: Money
    brand: str
    card: CardSummary | None
    account: Instrument | None
    merchant_transaction_id: str | None
    echo: Mapping[str, str]
    result_code: str = ""
    """The result, where it is known."""
    completed_at: Instant = 0
    """The time of the result: a wrong try counts from then on."""


class Judgement(msgspec.Struct, frozen=True):
    at: Instant
    """The time of the payment, before which others count."""
    finding: RiskFinding | None = None
    """The finding of the rules; None where none was hit."""

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
    """Judges an order before it is sent. From now on it counts for others, until `App.sightings` is told to settle it.

    account_id: the acquirer account of the route; None for the one that has the id of the channel.
    """
    rules, now = app.merchants.get_risk_rules(channel), app.clock.now()
    if rules.is_idle or NATURES[order.payment_type] is not _TAKES:
        return Judgement(now)
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
    values, others = make_values(app, subject, person, rules.wanted)
    watched = app.sightings.list_loud(rules.groups, values, subject.at, subject.money.hundredths)
    # Nothing is awaited between the choice of the time and this, so that whoever comes later counts it.
    app.sightings.note(subject.payment_id, make_rows(subject, values, others, rules.counted.keys()))
    try:
        facts = await make_facts(app, rules, subject, person, values, others)
        velocities = await read_velocities(app, rules, facts, subject.merchant_id, watched) if watched else _NONE
        finding = evaluate(rules, facts, velocities, watched)
    except BaseException:
        app.sightings.settle(subject.payment_id, is_written=False)
        raise
    return Judgement(subject.at, finding if finding.hits else None)


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


class _Plan(msgspec.Struct, frozen=True):
    """A list of what is made of a payment for some attributes."""

    needs_card: bool
    values: tuple[tuple[Attribute, tuple[tuple[Attribute, bytes, Attribute | None, bool], ...]], ...]
    """The values, and the attributes that have them: each with the end of its key, the other value of a pair, and
    whether only registrations have it."""
    pairs: tuple[tuple[Attribute, Attribute], ...]
    sightings: tuple[tuple[Attribute, tuple[tuple[Attribute, int], ...]], ...]
    """The values that are seen in a payment, and the marks of the attributes that have them."""


@lru_cache(maxsize=256)
def _make_plan(wanted: frozenset[Attribute]) -> _Plan:
    needed = sorted(wanted.union(*[PAIRS[each] for each in wanted if each in PAIRS]))
    values: dict[Attribute, list[tuple[Attribute, bytes, Attribute | None, bool]]] = {}
    for each in needed:
        base, end = WRONG.get(each, (BASES.get(each, each), b""))
        other = PAIRS[each][1] if each in PAIRS else None
        values.setdefault(base, []).append((each, end, other, each in REGISTERED))
    sightings: dict[Attribute, list[tuple[Attribute, int]]] = {}
    for each in sorted(wanted - WRONG.keys()):
        sightings.setdefault(BASES.get(each, each), []).append((each, MARKS[each]))
    return _Plan(
        not _CARD_BASED.isdisjoint(needed),
        tuple((base, tuple(some)) for base, some in values.items()),
        tuple((each, PAIRS[each][1]) for each in needed if each in PAIRS),
        tuple((base, tuple(some)) for base, some in sightings.items()),
    )


def make_values(
    app: App, subject: Subject, person: Person, wanted: Set[Attribute]
) -> tuple[dict[Attribute, bytes], dict[Attribute, bytes]]:
    """Returns the keys of the wanted values that the subject has, and the other value of each pair."""
    plan = _make_plan(frozenset(wanted))
    texts = {**person.values, _CHANNEL: subject.channel_id, _ACCOUNT: subject.account_id}
    if subject.merchant_transaction_id:
        texts[_REFERENCE] = subject.merchant_transaction_id
    if subject.account is not None and plan.needs_card:
        number = signing.hash_account(subject.account, subject.brand, subject.merchant_id, app.keyring)
        if number is not None:
            texts[_CARD] = card = number.hex()
            if _PAYMENT in wanted:
                texts[_PAYMENT] = f"{card} {subject.money.render()} {subject.money.currency}"
    values: dict[Attribute, bytes] = {}
    for base, attributes in plan.values:
        if base in texts:
            hashed = hash_value(subject.merchant_id, base, texts[base], app.keyring)
            for attribute, end, other, is_registered in attributes:
                if (other is None or other in texts) and (person.registers or not is_registered):
                    values[attribute] = hashed + end
    return values, {pair: values[other] for pair, other in plan.pairs if pair in values}


def make_rows(
    subject: Subject, values: Mapping[Attribute, bytes], others: Mapping[Attribute, bytes], counted: Set[Attribute]
) -> list[Sighting]:
    """Returns the sightings of a subject; that a value was wrong is seen in the result only."""
    merchant_id, payment_id, at = subject.merchant_id, subject.payment_id, subject.at
    amount, currency = subject.money.hundredths, subject.money.currency
    rows: list[Sighting] = []
    for _, attributes in _make_plan(frozenset(counted)).sightings:
        marks, key = 0, b""
        other: list[bytes | None] = [None, None]
        for attribute, mark in attributes:
            if attribute in values:
                key = values[attribute]
                marks |= mark
                if attribute in others:
                    other[mark >> 2] = others[attribute]
        if marks:
            rows.append(Sighting(merchant_id, key, at, payment_id, marks, amount, currency, *other))
    if subject.result_code:
        rows += [
            Sighting(merchant_id, values[attribute], subject.completed_at, payment_id, 1, amount, currency)
            for attribute, codes in WRONG_TRIES.items()
            if attribute in counted and attribute in values and subject.result_code in codes
        ]
    return rows


def list_attributes(values: Mapping[Attribute, bytes], row: Sighting) -> list[Attribute]:
    """Lists the attributes of a subject that one of its sightings counts for."""
    return [attribute for attribute, key in values.items() if key == row.key and row.marks & MARKS[attribute]]


async def make_facts(
    app: App,
    rules: CompiledRules,
    subject: Subject,
    person: Person,
    values: Mapping[Attribute, bytes],
    others: Mapping[Attribute, bytes],
) -> Facts:
    bin_country, ip_country, is_proxy = "", "", False
    if rules.needs_places:
        bin_country = await geography.find_bin_country(app, subject.card.bin if subject.card else None) or ""
        place = await geography.find_ip_place(app, person.values.get(_IP))
        ip_country, is_proxy = (place.country, place.is_proxy) if place else ("", False)
    listed = [(attribute, values[attribute]) for attribute in rules.listed if attribute in values]
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
        values=values,
        others=others,
        listed=tuple(listed),
    )


async def read_velocities(
    app: App, rules: CompiledRules, facts: Facts, merchant_id: MerchantId, watched: Iterable[Watched]
) -> Velocities:
    """Reads the earlier payments that rules count, in one statement for all values."""
    at, values = facts.at, facts.values
    wanted = [each for each in watched if each.attribute not in TOTALS]
    begins = {values[each.attribute]: at - each.window for each in wanted}
    found = await app.sightings.read(app.database, merchant_id, begins, at) if begins else {}
    totals: dict[tuple[Attribute, int, str], Velocity] = {}
    for attribute, window_s in {(attribute, window_s) for attribute, window_s, _ in rules.totals}:
        begin, key = begin_window(at, attribute, window_s), values[attribute]
        summed = await app.sightings.add_up(app.database, merchant_id, key, window_s, begin, at)
        totals |= {(attribute, window_s, currency): each for currency, each in summed.items()}
        totals[attribute, window_s, ""] = Velocity(sum(each.count for each in summed.values()), 0)
    return Velocities(at, {each.attribute: found[values[each.attribute]] for each in wanted}, totals)


def note_result(app: App, payment: Payment, account: Instrument | None, result_code: str) -> None:
    """Notes that the issuer found the security code or the expiry date wrong."""
    if result_code not in _WRONG_CODES:
        return
    counted = app.merchants.get_counted(payment.merchant_id).keys() & WRONG_TRIES.keys()
    if any(result_code in WRONG_TRIES[each] for each in counted):
        subject = msgspec.structs.replace(make_subject(payment, account), result_code=result_code)
        values, others = make_values(app, subject, read_person({}, None), counted)
        app.sightings.hold(payment.id, make_rows(subject, values, others, counted))


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
    if not some or _CARD_BASED.isdisjoint(wanted):
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
    judged = [payment for payment in some if payment.is_charge]
    accounts = await open_accounts(app, judged, counted)
    rows: list[Sighting] = []
    for payment in judged:
        subject = make_subject(payment, accounts.get(payment.id))
        values, others = make_values(app, subject, read_person(payment.echo, payment.card), counted)
        rows += make_rows(subject, values, others, counted)
    return rows
