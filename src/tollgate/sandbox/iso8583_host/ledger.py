"""The ledger of the simulated host: every request once, and the sums of each payment. Nothing is sent here.

A request is known by its key or, without one, by terminal, trace number and reference. A repeat changes nothing.
"""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import blake2b

import msgspec

from tollgate.connectors.iso8583 import network
from tollgate.connectors.iso8583.codec import Message
from tollgate.connectors.iso8583.fields import Tag

APPROVED, NO_SUCH_TRANSACTION, INVALID_AMOUNT, NOT_FOUND = network.APPROVED, "12", "13", "25"

_CREDITING = "20"
"""The first digits of the processing code of money that goes to the shopper."""
_INCREMENT = "increment"
_AMOUNT_DIGITS = 12


class Kind(StrEnum):
    AUTHORIZATION = "authorization"
    SALE = "sale"
    CREDIT = "credit"
    CAPTURE = "capture"
    REFUND = "refund"
    REVERSAL = "reversal"
    UNDOING = "undoing"
    """A reversal advice: the request that it names never happened, or must not happen."""


_FIRST = frozenset({Kind.AUTHORIZATION, Kind.SALE, Kind.CREDIT})
"""The kinds that need no earlier payment."""


class Entry(msgspec.Struct, kw_only=True):
    """One request, and what became of it."""

    key: str
    mti: str
    kind: Kind
    stan: str
    terminal: str
    reference: str
    original: str = ""
    """The key of the request that this one follows, reverses or undoes."""
    root: str
    """The key of the payment whose sums it changes."""
    amount: int
    """The amount in the smallest unit of the currency."""
    currency: str
    response: str = ""
    released: int = 0
    """The rest of an authorization, which a final capture gave back."""
    is_undone: bool = False
    seen: int = 0
    """The number of times that the request arrived."""

    @property
    def is_effective(self) -> bool:
        """Whether it has moved an amount."""
        return self.response == APPROVED and not self.is_undone and self.kind is not Kind.UNDOING


class Sums(msgspec.Struct):
    """The sums of one payment, or of a whole currency."""

    authorized: int = 0
    captured: int = 0
    """Captures and sales."""
    refunded: int = 0
    credited: int = 0
    reversed: int = 0
    held: int = 0
    """The sum that is authorized and neither captured nor released."""
    earned: int = 0
    """The sum that was taken, less what was given back or paid out."""

    def add(self, entry: Entry, original: Kind | None) -> None:
        amount = entry.amount
        match entry.kind:
            case Kind.AUTHORIZATION:
                self.authorized += amount
                self.held += amount
            case Kind.SALE:
                self.captured += amount
                self.earned += amount
            case Kind.CAPTURE:
                self.captured += amount
                self.held -= amount + entry.released
                self.earned += amount
            case Kind.REFUND:
                self.refunded += amount
                self.earned -= amount
            case Kind.CREDIT:
                self.credited += amount
                self.earned -= amount
            case Kind.REVERSAL:
                self.reversed += amount
                if original is Kind.AUTHORIZATION:
                    self.held -= amount
                else:
                    self.earned -= amount
            case Kind.UNDOING:
                pass


class HostLedger:
    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._roots: dict[str, list[Entry]] = {}
        self._places: dict[tuple[str, str, str], str] = {}
        """The keys by terminal, trace number and transmission time, as element 90 names an original."""

    def act(self, message: Message, forced_response: str = "") -> Entry:
        """Decides a request and changes the sums; a known one is only counted.

        forced_response: the code of a decline that the rules ask for.
        """
        key = _get_key(message)
        entry = self.entries.get(key)
        if entry is None:
            entry = self._make(key, message)
            self._insert(entry, message.fields.get(7, ""))
            entry.response = forced_response or self._decide(entry, message)
        elif entry.is_undone:
            # It was undone before it arrived, or a copy of it comes again after that.
            entry.mti = message.mti
            entry.response = NO_SUCH_TRANSACTION
        entry.seen += 1
        return entry

    def sum_up(self, root: str) -> Sums:
        sums = Sums()
        for entry in self._roots.get(root, ()):
            if entry.is_effective:
                original = self.entries.get(entry.original)
                sums.add(entry, original.kind if original else None)
        return sums

    def sum_totals(self) -> dict[str, Sums]:
        """Returns the sums of each currency."""
        totals: dict[str, Sums] = {}
        for entry in self.entries.values():
            if entry.is_effective:
                original = self.entries.get(entry.original)
                totals.setdefault(entry.currency, Sums()).add(entry, original.kind if original else None)
        return totals

    def render(self) -> bytes:
        """Writes all entries, and the sums of each payment and of each currency, as JSON."""
        payments = {root: self.sum_up(root) for root in self._roots}
        return msgspec.json.encode({"entries": self.entries, "payments": payments, "totals": self.sum_totals()})

    def _make(self, key: str, message: Message) -> Entry:
        fields = message.fields
        original = self._get_original_key(message)
        kind = _read_kind(message, has_original=bool(original))
        known = self.entries.get(original)
        # A renewal and a rebill are payments of their own.
        is_own = kind in _FIRST and message.tags.get(Tag.ACTION) != _INCREMENT
        return Entry(
            key=key,
            mti=message.mti,
            kind=kind,
            stan=fields.get(11, ""),
            terminal=fields.get(41, "").rstrip(),
            reference=fields.get(37, ""),
            original=original,
            root=key if is_own or known is None else known.root,
            amount=_read_amount(message),
            currency=fields.get(49, ""),
        )

    def _insert(self, entry: Entry, time: str) -> None:
        self.entries[entry.key] = entry
        self._places[entry.terminal, entry.stan, time] = entry.key
        if entry.kind is not Kind.UNDOING:
            self._roots.setdefault(entry.root, []).append(entry)

    def _decide(self, entry: Entry, message: Message) -> str:
        if entry.kind in _FIRST and message.tags.get(Tag.ACTION) != _INCREMENT:
            return APPROVED
        original = self.entries.get(entry.original)
        if original is None and entry.kind is Kind.REVERSAL:
            entry.kind = Kind.UNDOING
        if entry.kind is Kind.UNDOING:
            self._undo(original, entry)
            return APPROVED
        if original is None or not original.is_effective:
            return NOT_FOUND
        sums = self.sum_up(entry.root)
        is_of_hold = entry.kind is Kind.CAPTURE or original.kind is Kind.AUTHORIZATION
        if entry.kind is not Kind.AUTHORIZATION and entry.amount > (sums.held if is_of_hold else sums.earned):
            return INVALID_AMOUNT
        if entry.kind is Kind.CAPTURE and message.tags.get(Tag.FINAL) == "Y":
            entry.released = sums.held - entry.amount
        return APPROVED

    def _undo(self, original: Entry | None, advice: Entry) -> None:
        if original is not None:
            original.is_undone = True
        elif advice.original:
            # The original may still be on its way. It is remembered without an answer, and declined when it arrives.
            blocked = msgspec.structs.replace(
                advice, key=advice.original, root=advice.original, original="", mti="", kind=Kind.SALE, is_undone=True
            )
            self._insert(blocked, "")

    def _get_original_key(self, message: Message) -> str:
        named = message.tags.get(Tag.ORIGINAL_KEY, "")
        elements = message.fields.get(90, "")
        if named or not elements:
            return named
        stan, time = elements[4:10], elements[10:20]
        return self._places.get((message.fields.get(41, "").rstrip(), stan, time), "")


def make_references(key: str) -> Mapping[int, str]:
    """Returns an approval code and the scheme's id of a transaction, always the same ones for one request."""
    digest = blake2b(key.encode(), digest_size=16).hexdigest().upper()
    return {38: digest[:6], 63: f"{int(digest[6:], 16) % 10**15:015d}"}


def _get_key(message: Message) -> str:
    fields = message.fields
    named = message.tags.get(Tag.KEY, "")
    return named or f"{fields.get(41, '').rstrip()}/{fields.get(11, '')}/{fields.get(37, '')}"


def _read_kind(message: Message, *, has_original: bool) -> Kind:
    is_crediting = message.fields.get(3, "").startswith(_CREDITING)
    match message.mti[:3]:
        case "010":
            return Kind.AUTHORIZATION
        case "020" if is_crediting:
            return Kind.REFUND if has_original else Kind.CREDIT
        case "022":
            return Kind.CAPTURE
        case "040":
            return Kind.REVERSAL
        case "042":
            return Kind.UNDOING
        case _:
            return Kind.SALE


def _read_amount(message: Message) -> int:
    """Returns the amount that changes: of a reversal in part, the whole less what remains."""
    amount = int(message.fields.get(4, "0"))
    remaining = message.fields.get(95, "")[:_AMOUNT_DIGITS]
    return amount - int(remaining) if remaining.isdecimal() else amount
