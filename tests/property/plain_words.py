"""A second, simple model of money: a list of deeds, and sums over it whenever a question is asked.

It is compared with the gateway: nothing is kept up to date here, and nothing of the gateway's tables is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

DAY = 24 * 60 * 60 * 1_000_000
AUTHORISED_FOR = 7 * DAY
CAPTURES_MAX = 98
REBILLS_MAX = 3
"""There are few, so that a short life reaches the bound."""


class Fate(StrEnum):
    WRITTEN = "written"
    """Its process died before the result was written."""
    OPEN = "open"
    DONE = "done"
    FAILED = "failed"


@dataclass
class Deed:
    """One transaction."""

    id: str
    payment_type: str
    amount: int
    currency: str
    made_at: int
    fate: Fate
    code: str
    does: str = ""
    """The action is empty for what begins a chain, and for what was refused."""
    named: Deed | None = None
    is_final: bool = False
    releases: int = 0
    captures_max: int = CAPTURES_MAX
    known_code: str = ""
    """The result of one that is not sent, known before it was written."""

    @property
    def first(self) -> Deed:
        return self if self.named is None else self.named.first

    @property
    def root(self) -> Deed:
        """The deed whose money this one moves."""
        return self.named.root if self.named is not None and self.payment_type in ("CB", "CR", "RF") else self

    @property
    def stands(self) -> bool:
        return self.does != "" and self.fate is not Fate.FAILED

    @property
    def is_done(self) -> bool:
        return self.fate is Fate.DONE or (self.fate is Fate.WRITTEN and self.known_code != "" and self.does != "")


@dataclass(frozen=True)
class Wanted:
    """A request about an earlier transaction."""

    payment_type: str
    amount: int | None
    currency: str | None = None
    is_final: bool = False
    practice: str | None = None
    by_merchant: bool = True


@dataclass(frozen=True)
class Ruling:
    """Either a code that refuses, or what is done; the amount is that of the transaction written down."""

    code: str = ""
    does: str = ""
    amount: int = 0
    releases: int = 0


TAKEN = ("DB", "PA.CP", "CP", "RB")

CAN_DO = {
    ("CP", "PA"): "capture",
    ("RV", "PA"): "void",
    ("RC", "PA"): "receipt",
    ("PA", "PA"): "renewal",
    ("RF", "RC"): "refund",
    ("RB", "DB"): "rebill",
    ("RB", "PA.CP"): "rebill",
    ("RB", "CP"): "rebill",
    ("CB", "RF"): "return",
    ("CB", "CR"): "repeated_chargeback",
    ("CR", "CB"): "chargeback_reversal",
    **{("RV", payment_type): "reversal" for payment_type in TAKEN},
    **{("RF", payment_type): "refund" for payment_type in TAKEN},
    **{("CB", payment_type): "chargeback" for payment_type in TAKEN},
}
LEADS_NOWHERE = ("increment", "return")

TAKES_A_PART = ("capture", "refund", "receipt", "return", "repeated_chargeback")
DRAWS = (*TAKES_A_PART, "void", "reversal", "chargeback_reversal")
BRINGS = ("capture", "rebill", "receipt", "return", "chargeback_reversal")
GIVES = ("reversal", "refund", "chargeback", "repeated_chargeback")
BARRED_BY_DISPUTE = ("reversal", "refund", "rebill", "chargeback", "repeated_chargeback")

NEEDS_OPEN = {
    "capture": "captures",
    "receipt": "captures",
    "reversal": "refunds",
    "refund": "refunds",
    "rebill": "rebills",
    "increment": "increments",
}
CLOSES = {"void": ("captures", "increments"), "reversal": ("refunds", "rebills")}
CLOSES_WHEN_FINAL = {
    "capture": ("captures", "increments"),
    "refund": ("refunds",),
    "rebill": ("rebills",),
    "increment": ("increments",),
}

UNFIT = {
    "CP": "700.400.510",
    "RV": "700.400.530",
    "RF": "700.400.520",
    "RB": "700.100.700",
    "PA": "700.100.700",
    "RC": "700.400.560",
    "CB": "700.400.550",
    "CR": "700.400.420",
}
FAILED = UNFIT | {"RB": "700.300.200", "PA": "700.300.200"}
TOO_MUCH = {
    "CP": "700.400.100",
    "RV": "700.400.300",
    "RF": "700.400.200",
    "RB": "700.100.300",
    "PA": "700.400.100",
    "RC": "700.400.100",
    "CB": "700.400.400",
    "CR": "700.400.410",
}
CLOSED = TOO_MUCH | {"RB": "700.300.300"}
TOO_MANY = {"capture": "700.400.100", "rebill": "700.500.001"}
TOO_LATE = {"RV": "700.300.700"}
NOT_FOR_MERCHANTS = {"RC": "700.400.562", "CB": "700.400.402", "CR": "700.400.402"}
STILL_OPEN, OTHER_CURRENCY, NOTHING, EXPIRED, DISPUTED = (
    "700.400.570",
    "700.100.500",
    "100.550.300",
    "700.300.400",
    "700.300.600",
)


@dataclass
class Memory:
    """All that happened, in no other form than a list."""

    deeds: dict[str, Deed] = field(default_factory=dict)

    def followers(self, named: Deed, *does: str) -> Iterator[Deed]:
        for deed in self.deeds.values():
            if deed.named is named and deed.stands and (not does or deed.does in does):
                yield deed

    def chain(self, first: Deed) -> list[Deed]:
        return [deed for deed in self.deeds.values() if deed.first is first]

    # ---- questions about sums ----

    def added(self, named: Deed) -> int:
        return sum(each.amount for each in self.followers(named, "increment") if each.is_done)

    def left(self, named: Deed) -> int:
        drawn = sum(each.amount + each.releases for each in self.followers(named, *DRAWS))
        returned = sum(
            back.amount for refund in self.followers(named, "refund") for back in self.followers(refund, "return")
        )
        return named.amount + self.added(named) - drawn + returned

    def disputed(self, root: Deed) -> int:
        signs = {"chargeback": 1, "repeated_chargeback": 1, "chargeback_reversal": -1}
        return sum(
            signs.get(each.does, 0) * each.amount
            for each in self.deeds.values()
            if each is not root and each.root is root and each.stands
        )

    def net(self, first: Deed) -> int:
        """Returns what all follow-ups took, less what they gave or are about to give."""
        brought = sum(each.amount for each in self.chain(first) if each.does in BRINGS and each.is_done)
        return brought - sum(each.amount for each in self.chain(first) if each.does in GIVES and each.stands)

    def is_closed(self, named: Deed, closure: str) -> bool:
        for each in self.followers(named):
            closed = CLOSES.get(each.does, ()) + (CLOSES_WHEN_FINAL.get(each.does, ()) if each.is_final else ())
            if closure in closed:
                return True
        return False

    # ---- may it be? ----

    def judge(self, wanted: Wanted, named: Deed, now: int) -> Ruling:
        left = self.left(named)
        does = self.find_deed(wanted, named)
        code = self.find_misfit(wanted, named, does) or self.find_obstacle(wanted, named, does, now)
        # What is refused shows what was asked for; who said no amount sees what is left, or else the whole payment.
        shown = (left or named.amount) if wanted.amount is None else wanted.amount
        if code:
            return Ruling(code, amount=shown)
        amount = wanted.amount
        if amount is None:
            amount = left if does in TAKES_A_PART or does == "void" else named.amount
        if amount <= 0 or not self.is_enough(does, named, amount):
            return Ruling(TOO_MUCH[wanted.payment_type], amount=shown)
        return Ruling("", does, amount, left - amount if does == "capture" and wanted.is_final else 0)

    def find_deed(self, wanted: Wanted, named: Deed) -> str:
        if named.does in LEADS_NOWHERE:
            return ""
        does = CAN_DO.get((wanted.payment_type, named.payment_type), "")
        return "increment" if does == "renewal" and wanted.practice == "INCREMENTAL_AUTH" else does

    def find_misfit(self, wanted: Wanted, named: Deed, does: str) -> str:
        if wanted.by_merchant and wanted.payment_type in NOT_FOR_MERCHANTS:
            return NOT_FOR_MERCHANTS[wanted.payment_type]
        if not does:
            return UNFIT[wanted.payment_type]
        if named.fate in (Fate.WRITTEN, Fate.OPEN):
            return STILL_OPEN
        if named.fate is Fate.FAILED:
            return FAILED[wanted.payment_type]
        if wanted.currency not in (None, named.currency):
            return OTHER_CURRENCY
        return NOTHING if wanted.amount == 0 else ""

    def find_obstacle(self, wanted: Wanted, named: Deed, does: str, now: int) -> str:
        if does in BARRED_BY_DISPUTE and self.disputed(named.root):
            return TOO_MUCH["CB"] if wanted.payment_type == "CB" else DISPUTED
        if does in ("capture", "void", "increment") and now >= named.made_at + AUTHORISED_FOR:
            return TOO_LATE.get(wanted.payment_type, EXPIRED)
        if does == "reversal" and now // DAY > named.made_at // DAY:
            return TOO_LATE["RV"]
        if does in NEEDS_OPEN and self.is_closed(named, NEEDS_OPEN[does]):
            return CLOSED[wanted.payment_type]
        often = len(list(self.followers(named, does)))
        if (does == "capture" and often >= named.captures_max) or (does == "rebill" and often >= REBILLS_MAX):
            return TOO_MANY[does]
        return ""

    def is_enough(self, does: str, named: Deed, amount: int) -> bool:
        left = self.left(named)
        if does in ("refund", "reversal"):
            first = named.first
            taken = first.amount if first.payment_type in TAKEN and first.fate is Fate.DONE else 0
            if amount > taken + self.net(first):
                return False
        if does == "void":
            return amount == left
        if does in ("reversal", "chargeback_reversal"):
            return amount == named.amount == left
        if does in ("rebill", "chargeback"):
            return amount <= named.amount
        return does not in TAKES_A_PART or amount <= left


# ---- what becomes of what was sent ----

SUCCESS = "000.100.110"
SILENT, PENDING, NEVER_LEFT, NEVER_SEEN = "900.100.300", "000.200.000", "900.100.600", "900.100.310"
DECLINES = {"05": "800.100.152", "12": "800.100.170", "13": "800.100.174"}


def is_given_back(payment_type: str) -> bool:
    """Whether a silent transaction is undone, as the first to take the shopper's money; all others are finished."""
    return payment_type in ("PA", "DB", "PA.CP")


def conclude(payment_type: str, received: str) -> tuple[Fate, str]:
    """Returns the fate and code of a transaction after the acquirer's answer: a word, or the code of a decline."""
    match received:
        case "approved":
            return Fate.DONE, SUCCESS
        case "pending":
            return Fate.OPEN, PENDING
        case "unsent":
            return Fate.FAILED, NEVER_LEFT
        case "silent":
            return (Fate.FAILED, SILENT) if is_given_back(payment_type) else (Fate.OPEN, PENDING)
        case _:
            return Fate.FAILED, DECLINES[received]


# ---- ledger entries ----

ENTRIES_OF = {
    "PA": ("shopper", "held"),
    "DB": ("shopper", "earned"),
    "PA.CP": ("shopper", "earned"),
    "CD": ("earned", "shopper"),
    "capture": ("held", "earned"),
    "receipt": ("held", "earned"),
    "void": ("held", "shopper"),
    "reversal": ("earned", "shopper"),
    "refund": ("earned", "shopper"),
    "rebill": ("shopper", "earned"),
    "increment": ("shopper", "held"),
    "renewal": ("shopper", "held"),
    "chargeback": ("earned", "shopper"),
    "repeated_chargeback": ("earned", "shopper"),
    "return": ("shopper", "earned"),
    "chargeback_reversal": ("shopper", "earned"),
}


def list_report_entries(deed: Deed) -> list[tuple[str, str, int]]:
    if deed.fate is not Fate.DONE or deed.does == "technical_reversal":
        return []
    source, target = ENTRIES_OF[deed.does or deed.payment_type]
    lines = [(source, target, deed.amount), ("held", "shopper", deed.releases)]
    return sorted(line for line in lines if line[2])
