"""Checks that a chain is consistent: its numbers, references, balances, bounds and ledger entries.

Nothing is repaired here, and signatures are checked elsewhere.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from tollgate.payments.chain import count_chain, count_left, has_split
from tollgate.payments.completion import list_entries
from tollgate.payments.following import FOLLOWINGS, REFUNDABLE, Action
from tollgate.payments.ledger import FIRST_ENTRIES, Balance, Entry, LedgerAccount
from tollgate.payments.payment import Payment, State
from tollgate.payments.splits import sum_split
from tollgate.values import MerchantId, render_hundredths


class Proof(StrEnum):
    """The rule that a finding breaks."""

    ROW = "row"
    SIGNATURE = "signature"
    SPLIT = "split"
    CHAIN = "chain"
    BALANCE = "balance"
    BOUND = "bound"
    LEDGER = "ledger"
    EVENT = "event"
    JOB = "job"
    IDEMPOTENCY_KEY = "idempotency key"
    AUTHENTICATION = "authentication"
    INSTRUCTION = "instruction"
    REVIEW = "review"
    FILE = "file"
    REGISTRATION = "registration"
    SCHEDULE = "schedule"
    CHECKOUT = "checkout"
    LINK = "link"
    WEBHOOK = "webhook"
    USER = "user"
    AUDIT_LOG = "audit log"
    ARCHIVE = "archive"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and the row to look at."""

    proof: Proof
    table: str
    merchant_id: MerchantId
    row_id: str
    text: str

    def render(self) -> str:
        owner = f" of merchant {self.merchant_id}" if self.merchant_id else ""
        return f"{self.proof}: {self.table} {self.row_id}{owner}: {self.text}"


Entries = Mapping[str, Entry]
"""Ledger entries by their ids."""
_Flaws = Iterator[tuple[Payment, str]]


def check_chain(members: Sequence[Payment], entries: Entries) -> list[Finding]:
    """Checks the first payment and all that followed it, with the entries found under the ids that they should have."""
    findings = [make_finding(payment, Proof.CHAIN, text) for payment, text in _check_numbers(members)]
    for payment in members:
        findings += check_entries(payment, entries)
    broken = [make_finding(payment, Proof.CHAIN, text) for payment, text in _check_references(members)]
    if broken:
        # Where a reference leads nowhere, nobody knows whose balance the payment changes.
        return findings + broken
    findings += [make_finding(payment, Proof.BALANCE, text) for payment, text in _check_balances(members)]
    findings += [make_finding(payment, Proof.BOUND, text) for payment, text in _check_bounds(members)]
    findings += [make_finding(payment, Proof.SPLIT, text) for payment, text in _check_splits(members)]
    return [*findings, *_check_accounts(members, entries)]


def make_finding(
    payment: Payment, proof: Proof, text: str, *, table: str = "payments", row_id: str | None = None
) -> Finding:
    row_id = row_id or payment.id
    return Finding(proof=proof, table=table, merchant_id=payment.merchant_id, row_id=row_id, text=text)


def _check_numbers(members: Sequence[Payment], shown_max: int = 5) -> _Flaws:
    first, length = members[0], members[0].balance.chain_length
    numbers = Counter(payment.position for payment in members)
    missing = sorted({*range(1, length + 1)} - {*numbers})
    if missing:
        shown = ", ".join(map(str, missing[:shown_max]))
        more = f" and {len(missing) - shown_max} more" if len(missing) > shown_max else ""
        yield first, f"its chain has {length} transactions and number {shown}{more} is missing"
    for payment in members:
        number = payment.position
        if numbers[number] > 1:
            yield payment, f"it shares the number {number} of its chain with another"
        if not 1 <= number <= length:
            yield payment, f"it is number {number} of a chain that has {length} transactions"
    if first.position != 1:
        yield first, f"it begins a chain and is its number {first.position}"


def _check_references(members: Sequence[Payment]) -> _Flaws:
    first, known = members[0], {payment.id: payment for payment in members}
    for payment in members[1:]:
        named = known.get(payment.referenced_id) if payment.referenced_id else None
        if named is None:
            yield payment, "the payment it refers to is not in its chain"
        elif named.position >= payment.position:
            yield payment, "it came before the payment it refers to"
        if payment.channel_id != first.channel_id:
            yield payment, "its chain belongs to another channel"
        # A refused follow-up shows what was asked for, and that may have been another currency.
        if payment.action and payment.money.currency != first.money.currency:
            yield payment, f"it moves {payment.money.currency} in a chain of {first.money.currency}"


_SUMS = frozenset({"added", "drawn", "reserved", "disputed", "chain_net"})


def _check_balances(members: Sequence[Payment]) -> _Flaws:
    counted = count_chain(members)
    for payment in members:
        for name in Balance.__struct_fields__:
            amounts = getattr(payment.balance, name), getattr(counted[payment.id], name)
            if amounts[0] != amounts[1]:
                stored, right = [render_hundredths(each) if name in _SUMS else str(int(each)) for each in amounts]
                yield payment, f"its {name} is {stored}; its chain makes it {right}"


_TAKES_FROM_HOLD = frozenset({Action.CAPTURE, Action.RECEIPT})
_RAISES_HOLD = frozenset({Action.INCREMENT})
_GIVES_BACK = frozenset({Action.REFUND, Action.REVERSAL})

_Followers = Mapping[str, Sequence[Payment]]
"""The follow-ups of each payment, by its id."""


def _add_up(payments: Iterable[Payment], actions: frozenset[Action]) -> int:
    """Returns what these actions moved or are about to move."""
    return sum(
        payment.money.hundredths
        for payment in payments
        if payment.action in actions and payment.state is not State.DECLINED
    )


def _is_done(payment: Payment) -> bool:
    return payment.state is State.APPROVED or payment.is_decided


def _add_up_given_back(later: Iterable[Payment], followers: _Followers) -> int:
    """Returns the sum of refunds and reversals, less the refunds that a bank sent back."""
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


def _check_bounds(members: Sequence[Payment]) -> _Flaws:
    followers: dict[str, list[Payment]] = {}
    for payment in members:
        followers.setdefault(payment.referenced_id or "", []).append(payment)
    for payment in members:
        yield from [(payment, text) for holds, text in _list_bounds(payment, followers) if not holds]
    # Chargebacks are left out: a bank takes them whatever is left.
    taken = sum(
        payment.money.hundredths for payment in members if payment.payment_type in REFUNDABLE and _is_done(payment)
    )
    if _add_up_given_back(members, followers) > taken:
        yield members[0], "its chain gave back more than it took"


def _list_bounds(payment: Payment, followers: _Followers) -> Iterable[tuple[bool, str]]:
    """Lists what must hold, each with the text of the finding where it does not."""
    balance, total, later = payment.balance, payment.total, followers.get(payment.id, ())
    yield balance.reserved >= 0, "less than nothing is reserved on it"
    yield balance.drawn >= 0, "less than nothing was taken from it"
    yield balance.drawn + balance.reserved <= total, "more was taken from it or reserved on it than it has"
    yield 0 <= balance.disputed <= total, "what is charged back is less than nothing or more than it has"
    if later and payment.payment_type == "PA":
        authorised = payment.money.hundredths + _add_up(filter(_is_done, later), _RAISES_HOLD)
        yield _add_up(later, _TAKES_FROM_HOLD) <= authorised, "more was captured than was authorised"
    if later and payment.payment_type in REFUNDABLE:
        given = _add_up_given_back(later, followers)
        yield given <= payment.money.hundredths, "more was given back than it took"


def _check_splits(members: Sequence[Payment]) -> _Flaws:
    """Checks that shares add up to their payments, and that no refund took more from a seller than was left."""
    known: dict[str, Payment] = {payment.id: payment for payment in members}
    for payment in members:
        named = known.get(payment.referenced_id or "")
        if payment.split and sum_split(payment.split) != payment.money.hundredths:
            yield payment, f"its shares add up to {render_hundredths(sum_split(payment.split))}"
        if named is not None and payment.action and bool(payment.split) != has_split(payment.action, named):
            yield payment, "it has no split although it moves the money of sellers, or one although it moves none"
        # A bank charges back whatever is left.
        if payment.split and not payment.balance.disputed and min(count_left(payment, known).values()) < 0:
            yield payment, "more was taken from one of its sellers than the share"


def check_entries(payment: Payment, entries: Entries) -> list[Finding]:
    """Checks the entries of one payment, also where its chain is not whole."""
    findings = []
    for expected in list_entries(payment):
        found = entries.get(expected.id)
        if found is None:
            text = f"the entry of {payment.payment_type} {payment.id} is missing"
        elif found != expected:
            names = [name for name in Entry.__struct_fields__ if getattr(found, name) != getattr(expected, name)]
            text = f"its {', '.join(names)} does not fit {payment.payment_type} {payment.id}"
        else:
            continue
        findings.append(make_finding(payment, Proof.LEDGER, text, table="ledger_entries", row_id=expected.id))
    return findings


def sum_accounts(entries: Iterable[Entry]) -> dict[LedgerAccount, int]:
    """Returns what each account received less what it gave."""
    sums = dict.fromkeys(LedgerAccount, 0)
    for entry in entries:
        sums[entry.source] -= entry.amount
        sums[entry.target] += entry.amount
    return sums


def sum_expected_accounts(members: Sequence[Payment]) -> dict[LedgerAccount, int]:
    """Returns what the accounts of a chain hold according to its balances.

    Balances include decided and, for payments to the shopper, reserved amounts; the ledger has completed payments only.
    """
    first = members[0]
    # An increment is part of the hold that it raised.
    holds = [payment for payment in members if payment.payment_type == "PA" and payment.action is not Action.INCREMENT]
    held = sum(payment.total - payment.balance.drawn for payment in holds if payment.state is State.APPROVED)
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
    # A chain with sellers passes on to them whatever it earns.
    seller = earned if first.split else 0
    return {
        LedgerAccount.SHOPPER: -held - earned,
        LedgerAccount.HELD: held,
        LedgerAccount.EARNED: earned - seller,
        LedgerAccount.SELLER: seller,
    }


def _check_accounts(members: Sequence[Payment], entries: Entries) -> list[Finding]:
    own = [entries[entry.id] for payment in members for entry in list_entries(payment) if entry.id in entries]
    if any(account not in set(LedgerAccount) for entry in own for account in (entry.source, entry.target)):
        # The entry that does not fit was reported already.
        return []
    posted, expected = sum_accounts(own), sum_expected_accounts(members)
    return [
        make_finding(
            members[0],
            Proof.LEDGER,
            f"the ledger has {render_hundredths(posted[account])} of its chain on {account},"
            f" its balances say {render_hundredths(expected[account])}",
        )
        for account in LedgerAccount
        if posted[account] != expected[account]
    ]
