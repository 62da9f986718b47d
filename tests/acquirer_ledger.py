"""The ledger of the tests' acquirer: what may follow what, up to which sum, and that one key is one operation.

Its rules are its own, because those of the gateway are in doubt here. Its manners on the wire are elsewhere.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from tollgate.connectors import acquiring, card

DECLINED_CENTS = 5
"""An amount that ends in these cents is declined, so that a load can be a mixture."""

ACCEPTED, UNWILLING, MISFIT, EXCESS = "00", "05", "12", "13"

FIRST = frozenset({"authorization", "sale", "credit"})
_HOLDS = frozenset({"authorization", "renewal"})
_TAKEN = frozenset({"sale", "capture", "rebill"})

FOLLOWS: dict[str, frozenset[str]] = {
    "capture": _HOLDS,
    "increment": _HOLDS,
    "renewal": _HOLDS,
    "reversal": _HOLDS | _TAKEN,
    "refund": _TAKEN,
    "rebill": frozenset({"sale", "capture"}),
}
"""Each operation may follow these."""

OPENS: dict[str, tuple[str, ...]] = {
    "authorization": ("authorised",),
    # A hold of its own, whatever became of the one it renews.
    "renewal": ("authorised",),
    "sale": ("authorised", "captured"),
    "capture": ("captured",),
    "rebill": ("captured",),
}
"""The sums that a transaction begins its own account with."""

ADDS: dict[str, str] = {
    "increment": "authorised",
    "capture": "captured",
    "refund": "refunded",
    "reversal": "reversed",
    "rebill": "rebilled",
}
"""The sum that an operation adds to in the account of the transaction it follows."""

ENDS: dict[str, frozenset[str]] = {
    # The rest of the hold is given up, so nothing is left to reverse or to raise.
    "capture": frozenset({"capture", "reversal", "increment"}),
    "increment": frozenset({"increment"}),
    "refund": frozenset({"refund"}),
    "rebill": frozenset({"rebill"}),
}
"""The acquirer refuses these after a final operation of the type."""

_read_charge = msgspec.json.Decoder(card.ChargeMessage).decode
_read_follow_up = msgspec.json.Decoder(acquiring.FollowUpMessage).decode
_read_key = msgspec.json.Decoder(acquiring.KeyMessage).decode


class Fate(StrEnum):
    APPROVED = "approved"
    DECLINED = "declined"
    REVERSED = "reversed"
    BLOCKED = "unknown"
    """It was never done and never will be: it was reversed, or asked about, before it came."""


class Entry(msgspec.Struct, kw_only=True):
    """An entry says what became of one key; money moves nowhere else."""

    key: str
    fate: Fate
    type: str = ""
    amount: int = 0
    currency: str = ""
    original: str = ""
    """The key of the transaction that it follows; empty for a charge."""
    is_final: bool = False
    response_code: str = ""
    executions: int = 0
    """This counts how often money moved under the key."""
    contradictions: int = 0
    """This counts how often the key came back with a different request."""
    charges_seen: int = 0
    follow_ups_seen: int = 0
    reversals_seen: int = 0
    inquiries_seen: int = 0


class Operation(msgspec.Struct, frozen=True):
    key: str
    type: str
    amount: int


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """The sums of one transaction in minor units, and what was done with it, oldest first.

    What was declined or undone is in neither. What followed a capture is in the capture's own account.
    """

    authorised: int = 0
    captured: int = 0
    refunded: int = 0
    reversed: int = 0
    rebilled: int = 0
    operations: tuple[Operation, ...] = ()


class Ledger:
    """One lock around everything: requests must not overtake each other between check and execution."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, Entry] = {}
        self._followers: dict[str, list[Entry]] = defaultdict(list)

    def report(self) -> bytes:
        with self._lock:
            return msgspec.json.encode(self._entries)

    def report_account(self, key: str) -> bytes:
        with self._lock:
            entry = self._entries.get(key)
            return msgspec.json.encode(Account() if entry is None else self._add_up(entry))

    def act(self, path: str, body: bytes, *, is_willing: bool = True) -> bytes:
        with self._lock:
            match path:
                case card.CHARGES:
                    reply = self._charge(_read_charge(body), is_willing)
                case acquiring.FOLLOW_UPS:
                    reply = self._follow_up(_read_follow_up(body), is_willing)
                case acquiring.REVERSALS:
                    reply = self._reverse(_read_key(body).key)
                case acquiring.INQUIRIES:
                    reply = self._inquire(_read_key(body))
                case _:
                    reply = _render(Fate.DECLINED, MISFIT)
            return msgspec.json.encode(reply)

    def _charge(self, charge: card.ChargeMessage, is_willing: bool) -> acquiring.AcquirerReply:
        asked = Entry(
            key=charge.key, fate=Fate.APPROVED, type=charge.type, amount=charge.amount, currency=charge.currency
        )
        entry = self._perform(asked, is_willing)
        entry.charges_seen += 1
        return _render(entry.fate, entry.response_code)

    def _follow_up(self, message: acquiring.FollowUpMessage, is_willing: bool) -> acquiring.AcquirerReply:
        asked = Entry(
            key=message.key,
            fate=Fate.APPROVED,
            type=message.type,
            amount=message.amount,
            currency=message.currency,
            original=message.original,
            is_final=message.is_final,
        )
        entry = self._perform(asked, is_willing)
        entry.follow_ups_seen += 1
        return _render(entry.fate, entry.response_code)

    def _perform(self, asked: Entry, is_willing: bool) -> Entry:
        """A known key is neither checked nor executed again."""
        known = self._entries.get(asked.key)
        if known is not None:
            _recognise(known, asked)
            return known
        is_willing = is_willing and asked.amount % 100 != DECLINED_CENTS
        asked.response_code = self._choose_outcome(asked) if is_willing else UNWILLING
        if asked.response_code == ACCEPTED:
            asked.executions += 1
            if asked.original:
                self._followers[asked.original].append(asked)
        else:
            asked.fate = Fate.DECLINED
        self._entries[asked.key] = asked
        return asked

    def _choose_outcome(self, asked: Entry) -> str:
        if not asked.original:
            return ACCEPTED if asked.type in FIRST else MISFIT
        original = self._entries.get(asked.original)
        if original is None or original.fate is not Fate.APPROVED or original.currency != asked.currency:
            return MISFIT
        if original.type not in FOLLOWS.get(asked.type, ()) or asked.type in self._list_ended(original.key):
            return MISFIT
        if asked.amount < 0 or (asked.type == "rebill" and asked.amount > original.amount):
            return EXCESS
        return EXCESS if self._is_overdrawn(original, asked) else ACCEPTED

    def _list_ended(self, key: str) -> Iterator[str]:
        for each in self._list_standing(key):
            if each.is_final:
                yield from ENDS.get(each.type, ())

    def _is_overdrawn(self, entry: Entry, *intended: Entry) -> bool:
        account = self._add_up(entry, *intended)
        if entry.type in _HOLDS:
            return account.captured + account.reversed > account.authorised
        return account.refunded + account.reversed > account.captured

    def _add_up(self, entry: Entry, *intended: Entry) -> Account:
        sums: Counter[str] = Counter()
        if entry.fate is Fate.APPROVED:
            sums.update(dict.fromkeys(OPENS.get(entry.type, ()), entry.amount))
        followers = (*self._list_standing(entry.key), *intended)
        for each in followers:
            if each.type in ADDS:
                sums[ADDS[each.type]] += each.amount
        operations = tuple(Operation(each.key, each.type, each.amount) for each in followers)
        return Account(**sums, operations=operations)

    def _list_standing(self, key: str) -> list[Entry]:
        return [each for each in self._followers.get(key, ()) if each.fate is Fate.APPROVED]

    def _reverse(self, key: str) -> acquiring.AcquirerReply:
        entry = self._entries.setdefault(key, Entry(key=key, fate=Fate.BLOCKED))
        entry.reversals_seen += 1
        if entry.fate is Fate.APPROVED and not self._undo(entry):
            return _render(Fate.DECLINED, EXCESS)
        # What took nothing has nothing to give back, so its reversal is done too.
        return _render(Fate.REVERSED if entry.fate is Fate.DECLINED else entry.fate)

    def _undo(self, entry: Entry) -> bool:
        """The operation is refused where others have drawn on it already."""
        entry.fate = Fate.REVERSED
        original = self._entries.get(entry.original)
        if self._is_overdrawn(entry) or (original is not None and self._is_overdrawn(original)):
            entry.fate = Fate.APPROVED
        return entry.fate is Fate.REVERSED

    def _inquire(self, question: acquiring.KeyMessage) -> acquiring.AcquirerReply:
        if not question.blocks and question.key not in self._entries:
            return _render(Fate.BLOCKED)
        entry = self._entries.setdefault(question.key, Entry(key=question.key, fate=Fate.BLOCKED))
        entry.inquiries_seen += 1
        return _render(entry.fate, entry.response_code)


def _recognise(known: Entry, asked: Entry) -> None:
    terms = ("type", "amount", "currency", "original", "is_final")
    if known.type:
        known.contradictions += any(getattr(known, term) != getattr(asked, term) for term in terms)
    else:
        # It was blocked before it came; now it is known what it would have been.
        for term in terms:
            setattr(known, term, getattr(asked, term))


def _render(fate: Fate, response_code: str = "") -> acquiring.AcquirerReply:
    code = response_code or {Fate.BLOCKED: MISFIT}.get(fate, ACCEPTED)
    return acquiring.AcquirerReply(status=fate, response_code=code, message=f"{fate} by the acquirer of the tests")
