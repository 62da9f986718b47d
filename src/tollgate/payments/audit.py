"""Whether a chain tells one story: its numbers, references, balances, bounds and lines in the book. Pure.

Nothing is mended here and no seal is known; what is wrong is said in words, each time with the row that shows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from tollgate.payments.chain import count_chain
from tollgate.payments.completion import list_entries
from tollgate.payments.following import FOLLOWINGS, REFUNDABLE, Action
from tollgate.payments.ledger import FIRST_ENTRIES, Balance, Entry, LedgerAccount
from tollgate.payments.payment import Payment, State
from tollgate.values import MerchantId, render_hundredths


class Proof(StrEnum):
    """What a finding disproves."""

    ROW = "row"
    SEAL = "seal"
    CHAIN = "chain"
    BALANCE = "balance"
    BOUND = "bound"
    LEDGER = "book"
    EVENT = "event"
    JOB = "job"
    IDEMPOTENCY_KEY = "claim"
    AUTHENTICATION = "authentication"
    INSTRUCTION = "instruction"
    FILE = "file"
    REGISTRATION = "registration"
    SCHEDULE = "schedule"
    CHECKOUT = "checkout"
    LINK = "link"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and the row to look at."""

    proof: Proof
    table: str
    merchant_id: MerchantId
    row_id: str
    text: str

    def render(self) -> str:
        return f"{self.proof}: {self.table} {self.row_id} of merchant {self.merchant_id}: {self.text}"


Entries = Mapping[str, Entry]
"""Lines of the book by their ids."""


def check_chain(members: Sequence[Payment], entries: Entries) -> list[Finding]:
    """A first payment and all that followed it, with the lines found under the ids that they should have."""
    findings = _check_numbers(members)
    for payment in members:
        findings += check_entries(payment, entries)
    broken = _check_references(members)
    if broken:
        # Whose balance a transaction moves is not known where its reference leads nowhere.
        return findings + broken
    return [*findings, *_check_balances(members), *_check_bounds(members), *_check_accounts(members, entries)]


def make_finding(payment: Payment, proof: Proof, text: str) -> Finding:
    """About a row of payments."""
    return Finding(proof=proof, table="payments", merchant_id=payment.merchant_id, row_id=payment.id, text=text)


# ---- numbers and references ----


def _check_numbers(members: Sequence[Payment]) -> list[Finding]:
    first, length = members[0], members[0].balance.chain_length
    findings = []
    numbers = Counter(payment.position for payment in members)
    missing = sorted({*range(1, length + 1)} - {*numbers})
    if missing:
        text = f"its chain has {length} transactions and number {_enumerate(missing)} is missing"
        findings.append(make_finding(first, Proof.CHAIN, text))
    for payment in members:
        number = payment.position
        if numbers[number] > 1:
            findings.append(
                make_finding(payment, Proof.CHAIN, f"it shares the number {number} of its chain with another")
            )
        if not 1 <= number <= length:
            text = f"it is number {number} of a chain that has {length} transactions"
            findings.append(make_finding(payment, Proof.CHAIN, text))
    if first.position != 1:
        findings.append(make_finding(first, Proof.CHAIN, f"it begins a chain and is its number {first.position}"))
    return findings


def _enumerate(numbers: Sequence[int], shown_max: int = 5) -> str:
    shown = ", ".join(map(str, numbers[:shown_max]))
    return shown if len(numbers) <= shown_max else f"{shown} and {len(numbers) - shown_max} more"


def _check_references(members: Sequence[Payment]) -> list[Finding]:
    first, known = members[0], {payment.id: payment for payment in members}
    findings = []
    for payment in members[1:]:
        named = known.get(payment.referenced_id) if payment.referenced_id else None
        if named is None:
            findings.append(make_finding(payment, Proof.CHAIN, "the payment it refers to is not in its chain"))
        elif named.position >= payment.position:
            findings.append(make_finding(payment, Proof.CHAIN, "it came before the payment it refers to"))
        if payment.channel_id != first.channel_id:
            findings.append(make_finding(payment, Proof.CHAIN, "its chain belongs to another channel"))
        # What was refused shows what was asked for, and that may have been another currency.
        if payment.action and payment.money.currency != first.money.currency:
            text = f"it moves {payment.money.currency} in a chain of {first.money.currency}"
            findings.append(make_finding(payment, Proof.CHAIN, text))
    return findings


# ---- balances ----


_SUMS = frozenset({"added", "drawn", "held", "disputed", "chain_net"})


def _check_balances(members: Sequence[Payment]) -> list[Finding]:
    counted = count_chain(members)
    findings = []
    for payment in members:
        expected = counted[payment.id]
        for name in Balance.__struct_fields__:
            stored, right = getattr(payment.balance, name), getattr(expected, name)
            if stored != right:
                text = f"its {name} is {_show(name, stored)}; its chain makes it {_show(name, right)}"
                findings.append(make_finding(payment, Proof.BALANCE, text))
    return findings


def _show(name: str, amount: int) -> str:
    return render_hundredths(amount) if name in _SUMS else str(int(amount))


# ---- bounds, told by the rows alone ----

_TAKES_FROM_HOLD = frozenset({Action.CAPTURE, Action.RECEIPT})
_RAISES_HOLD = frozenset({Action.INCREMENT})
_GIVES_BACK = frozenset({Action.REFUND, Action.REVERSAL})

Followers = Mapping[str, Sequence[Payment]]
"""What names a payment, by the id of the payment named."""


def _group_by_reference(members: Sequence[Payment]) -> Followers:
    followers: dict[str, list[Payment]] = {}
    for payment in members:
        followers.setdefault(payment.referenced_id or "", []).append(payment)
    return followers


def _add_up(payments: Iterable[Payment], actions: frozenset[Action]) -> int:
    """What these actions moved or are about to move."""
    return sum(
        payment.money.hundredths
        for payment in payments
        if payment.action in actions and payment.state is not State.DECLINED
    )


def _is_done(payment: Payment) -> bool:
    return payment.state is State.APPROVED or payment.is_decided


def _add_up_given_back(later: Iterable[Payment], followers: Followers) -> int:
    """Refunds and reversals, less the refunds that a bank sent back."""
    given = 0
    for payment in later:
        given += _add_up((payment,), _GIVES_BACK)
        if payment.action is Action.REFUND:
            given -= sum(
                returned.money.hundredths
                for returned in followers.get(payment.id, ())
                if returned.action is Action.RETURN and _is_done(returned)
            )
    return given


def _check_bounds(members: Sequence[Payment]) -> list[Finding]:
    followers = _group_by_reference(members)
    findings = [
        make_finding(payment, Proof.BOUND, text)
        for payment in members
        for is_so, text in _list_bounds(payment, followers)
        if not is_so
    ]
    # Chargebacks are left out: a bank takes them whatever is left.
    taken = sum(
        payment.money.hundredths for payment in members if payment.payment_type in REFUNDABLE and _is_done(payment)
    )
    if _add_up_given_back(members, followers) > taken:
        findings.append(make_finding(members[0], Proof.BOUND, "its chain gave back more than it took"))
    return findings


def _list_bounds(payment: Payment, followers: Followers) -> Iterable[tuple[bool, str]]:
    """What must be so, and what to say where it is not."""
    balance, total, later = payment.balance, payment.total, followers.get(payment.id, ())
    yield balance.held >= 0, "less than nothing is reserved on it"
    yield balance.drawn >= 0, "less than nothing was taken from it"
    yield balance.drawn + balance.held <= total, "more was taken from it or reserved on it than it has"
    yield 0 <= balance.disputed <= total, "what is charged back is less than nothing or more than it has"
    if later and payment.payment_type == "PA":
        authorised = payment.money.hundredths + _add_up(filter(_is_done, later), _RAISES_HOLD)
        yield _add_up(later, _TAKES_FROM_HOLD) <= authorised, "more was captured than was authorised"
    if later and payment.payment_type in REFUNDABLE:
        given = _add_up_given_back(later, followers)
        yield given <= payment.money.hundredths, "more was given back than it took"


# ---- the book ----


def check_entries(payment: Payment, entries: Entries) -> list[Finding]:
    """For one payment alone, where its chain cannot be judged."""
    findings = []
    for expected in list_entries(payment):
        found = entries.get(expected.id)
        if found is None:
            text = f"the line of {payment.payment_type} {payment.id} is missing"
        elif found != expected:
            names = [name for name in Entry.__struct_fields__ if getattr(found, name) != getattr(expected, name)]
            text = f"its {', '.join(names)} does not fit {payment.payment_type} {payment.id}"
        else:
            continue
        findings.append(make_entry_finding(expected, text))
    return findings


def make_entry_finding(entry: Entry, text: str) -> Finding:
    return Finding(
        proof=Proof.LEDGER, table="ledger_entries", merchant_id=entry.merchant_id, row_id=entry.id, text=text
    )


def sum_accounts(entries: Iterable[Entry]) -> dict[LedgerAccount, int]:
    """What each account received less what it gave."""
    sums = dict.fromkeys(LedgerAccount, 0)
    for entry in entries:
        sums[entry.source] -= entry.amount
        sums[entry.target] += entry.amount
    return sums


def sum_expected_accounts(members: Sequence[Payment]) -> dict[LedgerAccount, int]:
    """What the balances of a chain say that its accounts hold.

    A balance counts what is decided and, of what gives money, what is reserved; the book has settled rows only.
    """
    first = members[0]
    held = sum(payment.total - payment.balance.drawn for payment in members if _holds(payment))
    earned = first.balance.chain_net
    if first.state is State.APPROVED:
        source, target = FIRST_ENTRIES.get(first.payment_type, (None, None))
        earned += first.money.hundredths * ((target is LedgerAccount.EARNED) - (source is LedgerAccount.EARNED))
    for payment in members[1:]:
        row = FOLLOWINGS.get(payment.action) if payment.action else None
        if row is None or payment.state in (State.APPROVED, State.DECLINED):
            continue
        if payment.is_decided and row.source is LedgerAccount.HELD:
            held += payment.money.hundredths + payment.releases
        if payment.is_decided or row.net < 0:
            earned -= payment.money.hundredths * row.net
    return {LedgerAccount.SHOPPER: -held - earned, LedgerAccount.HELD: held, LedgerAccount.EARNED: earned}


def _holds(payment: Payment) -> bool:
    """An increment is part of the hold it raised."""
    return payment.payment_type == "PA" and payment.state is State.APPROVED and payment.action is not Action.INCREMENT


def _check_accounts(members: Sequence[Payment], entries: Entries) -> list[Finding]:
    own = [entries[entry.id] for payment in members for entry in list_entries(payment) if entry.id in entries]
    if any(account not in set(LedgerAccount) for entry in own for account in (entry.source, entry.target)):
        # Said already, by the line that does not fit.
        return []
    posted, told = sum_accounts(own), sum_expected_accounts(members)
    return [
        make_finding(
            members[0],
            Proof.LEDGER,
            f"the book has {render_hundredths(posted[account])} of its chain on {account},"
            f" its balances say {render_hundredths(told[account])}",
        )
        for account in LedgerAccount
        if posted[account] != told[account]
    ]
