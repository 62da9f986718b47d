"""The values of a payment or registration: the keys by which rules count and lists name them, and its sightings.

Earlier payments with these values are read in `sightings.py`.
"""

from collections.abc import Callable, Mapping, Set
from functools import lru_cache
from operator import attrgetter

import msgspec

from tollgate.catalog.risk_rows import KEYS, MARKS, PAIRS, REGISTERED, WRONG, Attribute
from tollgate.contract.risk_rules import Person
from tollgate.payments.accounts import CardSummary, Instrument
from tollgate.payments.velocities import WRONG_TRIES, Sighting
from tollgate.values import Instant, MerchantId, Money
from tollgate.vault import signing
from tollgate.vault.keyring import Keyring

# Looking a member up in its enumeration takes as long as a call, and every payment asks for some.
_CARD, _PAYMENT = Attribute.CARD, Attribute.PAYMENT


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


class Values(msgspec.Struct, frozen=True):
    hashes: Mapping[Attribute | None, bytes]
    """The hashes of the values that the subject has, from which the keys are made."""
    shape: "Shape"
    sightings: list[Sighting]
    """A sighting of each value that is counted; that a value was wrong is seen in the result only."""

    def make_keys(self) -> dict[Attribute, bytes]:
        """Returns the keys of the wanted values that the subject has."""
        return {attribute: self.hashes[base] + end for attribute, base, end in self.shape.keys}

    def make_others(self) -> dict[Attribute, bytes]:
        """Returns the other value of each pair."""
        return {pair: self.hashes[base] for pair, base in self.shape.others}

    def list_seen(self) -> list[tuple[Attribute, Sighting]]:
        """Lists each sighting with every attribute that it counts for."""
        keys = self.make_keys()
        return [
            (attribute, row)
            for row in self.sightings
            for attribute, key in keys.items()
            if key == row.key and row.marks & MARKS[attribute]
        ]


def needs_account(wanted: Set[Attribute]) -> bool:
    return _CARD in _list_bases(wanted)


def hash_value(merchant_id: MerchantId, attribute: Attribute, value: str, keyring: Keyring) -> bytes:
    """Returns the keyed hash by which a value is counted and listed; nobody can compare the values of two merchants.

    That of an account is its hash already.
    """
    return bytes.fromhex(value) if attribute is _CARD else _make_hash(attribute, merchant_id, keyring)(value.encode())


def hash_account(account: Instrument, brand: str, merchant_id: MerchantId, keyring: Keyring) -> bytes | None:
    """Returns None for an account without a number."""
    identity = signing.identify_account(account, brand)
    return None if identity is None else _make_hash(_CARD, merchant_id, keyring)(identity)


def make_values(
    keyring: Keyring, subject: Subject, person: Person, wanted: frozenset[Attribute], counted: frozenset[Attribute]
) -> Values:
    """Returns the wanted values, among which are those that are counted."""
    hashes = _hash_values(keyring, subject, person, wanted)
    shape = _make_shape(wanted, counted, tuple(hashes), person.registers)
    merchant_id, payment_id, at = subject.merchant_id, subject.payment_id, subject.at
    amount, currency = subject.money.hundredths, subject.money.currency
    sightings = [
        Sighting(merchant_id, hashes[base], at, payment_id, marks, amount, currency, hashes.get(one), hashes.get(other))
        for base, marks, one, other in shape.sightings
    ]
    values = Values(hashes, shape, sightings)
    if subject.result_code:
        keys = values.make_keys()
        sightings += [
            Sighting(merchant_id, keys[attribute], subject.completed_at, payment_id, 1, amount, currency)
            for attribute, codes in WRONG_TRIES.items()
            if attribute in counted and attribute in keys and subject.result_code in codes
        ]
    return values


def _hash_values(
    keyring: Keyring, subject: Subject, person: Person, wanted: frozenset[Attribute]
) -> dict[Attribute | None, bytes]:
    """Returns the hashes of the values from which the wanted ones are made."""
    plan = _make_plan(wanted, subject.merchant_id, keyring)
    texts, hashes = person.values, dict[Attribute | None, bytes]()
    for base, hash_text in plan.texts:
        text = texts[base] if base in texts else _READERS[base](subject) if base in _READERS else None
        if text:
            hashes[base] = hash_text(text.encode())
    if plan.hash_account is not None and subject.account is not None:
        identity = signing.identify_account(subject.account, subject.brand)
        if identity is not None:
            hashes[_CARD] = card = plan.hash_account(identity)
            if plan.hash_payment is not None:
                same = f"{card.hex()} {subject.money.render()} {subject.money.currency}"
                hashes[_PAYMENT] = plan.hash_payment(same.encode())
    return hashes


_READERS: Mapping[Attribute, Callable[[Subject], str | None]] = {
    Attribute.CHANNEL: attrgetter("channel_id"),
    Attribute.ACCOUNT: attrgetter("account_id"),
    Attribute.MERCHANT_TRANSACTION_ID: attrgetter("merchant_transaction_id"),
}
"""The values that are members of a subject."""
_FEW = (Attribute.BIN, Attribute.CHANNEL, Attribute.ACCOUNT)
"""The same few of these values come again and again."""
_Hash = Callable[[bytes], bytes]


class _Plan(msgspec.Struct, frozen=True):
    texts: tuple[tuple[Attribute, _Hash], ...]
    hash_account: _Hash | None
    hash_payment: _Hash | None


@lru_cache(maxsize=1024)
def _make_plan(wanted: frozenset[Attribute], merchant_id: MerchantId, keyring: Keyring) -> _Plan:
    hashes = {base: _make_hash(base, merchant_id, keyring) for base in _list_bases(wanted)}
    account, payment = hashes.pop(_CARD, None), hashes.pop(_PAYMENT, None)
    return _Plan(tuple(hashes.items()), account, payment)


def _make_hash(base: Attribute, merchant_id: MerchantId, keyring: Keyring) -> _Hash:
    if base is _CARD:
        return signing.TextHash("risk account", (merchant_id,), keyring)
    hash_text = signing.TextHash("risk value", (merchant_id, base), keyring)
    return lru_cache(maxsize=4096)(hash_text) if base in _FEW else hash_text


def _list_bases(wanted: Set[Attribute]) -> list[Attribute]:
    """Lists the attributes whose values are hashed: for all that are wanted, and for the other value of each pair."""
    needed = {*wanted, *[other for each in wanted if each in PAIRS for other in PAIRS[each]]}
    found = {KEYS[each][0] for each in needed}
    return sorted(found | {_CARD} if _PAYMENT in found else found)


class Shape(msgspec.Struct, frozen=True):
    """The values of all subjects that have the same attributes."""

    present: frozenset[Attribute]
    keys: tuple[tuple[Attribute, Attribute, bytes], ...]
    """The attributes, each with the one whose value is hashed, and the end of the key."""
    others: tuple[tuple[Attribute, Attribute], ...]
    sightings: tuple[tuple[Attribute, int, Attribute | None, Attribute | None], ...]
    """The values that are seen, with the marks of their attributes and the other value of each pair."""
    seen: tuple[Attribute, ...]
    """The same values alone."""


@lru_cache(maxsize=4096)
def _make_shape(
    wanted: frozenset[Attribute], counted: frozenset[Attribute], bases: tuple[Attribute | None, ...], registers: bool
) -> Shape:
    present = [each for each in sorted(wanted) if KEYS[each][0] in bases and (registers or each not in REGISTERED)]
    found = [each for each in present if each not in PAIRS or PAIRS[each][1] in bases]
    marks: dict[Attribute, int] = {}
    others: dict[Attribute, dict[int, Attribute]] = {}
    for each in found:
        if each in counted and each not in WRONG:
            base, _ = KEYS[each]
            marks[base] = marks.get(base, 0) | MARKS[each]
            if each in PAIRS:
                others.setdefault(base, {})[MARKS[each]] = PAIRS[each][1]
    return Shape(
        present=frozenset(found),
        keys=tuple((each, *KEYS[each]) for each in found),
        others=tuple((each, PAIRS[each][1]) for each in found if each in PAIRS),
        sightings=tuple(
            (base, some, others.get(base, {}).get(2), others.get(base, {}).get(4)) for base, some in marks.items()
        ),
        seen=tuple(marks),
    )
