"""Parallel requests about one payment, as rows made from a seed. The oracle decides which of them may succeed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

SHOTS = 64

INCREMENT = {"standingInstruction.industryPractice": "INCREMENTAL_AUTH"}


@dataclass(frozen=True)
class Wanted:
    payment_type: str
    hundredths: int | None = None
    """A request without an amount asks for all that is left."""
    is_final: bool = False
    key: str | None = None
    """Those of one contest with the same key are one request that is sent several times."""

    @property
    def fields(self) -> dict[str, str]:
        fields = {"paymentType": self.payment_type}
        if self.hundredths is not None:
            fields |= {"amount": render_amount(self.hundredths), "currency": "EUR"}
        if self.is_final:
            fields["sequence"] = "FINAL"
        return fields | (INCREMENT if self.payment_type == "PA" else {})


@dataclass(frozen=True)
class Contest:
    begins: Sequence[str]
    """The kinds of the payments that come before: the first of its chain, and what is captured of it, if anything."""
    total: int
    """The amount in hundredths; the last payment of `begins` has all of it."""
    wanted: Sequence[Wanted]
    captures_max: int | None = None
    winners: frozenset[int] | None = None
    """The numbers of requests that may succeed, where they are known beforehand."""
    declines: int = 0
    """The acquirer declines so many although they fit."""

    @property
    def is_orderly(self) -> bool:
        """Whether parallel requests must end as the same requests one after another would.

        What is left only shrinks unless the acquirer declines; an increment adds to it, and requests sent meanwhile
        may not see that.
        """
        return all(wanted.payment_type != "PA" for wanted in self.wanted)

    @property
    def has_final(self) -> bool:
        return any(wanted.is_final for wanted in self.wanted)


def render_amount(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02d}"


Draw = Callable[[Random], Contest]


# ---- amounts ----
# The acquirer of the tests declines what ends in five cents, so amounts are tens of cents and so is whatever is left.


def _draw_total(random_bytes: Random) -> int:
    return random_bytes.randrange(100_00, 900_00, 10)


def _split_equally(random_bytes: Random, payment_type: str) -> tuple[int, list[Wanted], frozenset[int]]:
    """Equal parts of which fewer fit than are asked for; how many is known."""
    part, fitting = random_bytes.randrange(1_00, 20_00, 10), random_bytes.randrange(1, SHOTS)
    total = part * fitting + random_bytes.randrange(0, part, 10)
    return total, [Wanted(payment_type, part)] * SHOTS, frozenset({fitting})


def _split_oddly(
    random_bytes: Random, payment_type: str, total: int, count: int = SHOTS, *, greed: int = 4
) -> list[Wanted]:
    """Splits into parts of any size, together about so many times what there is."""
    return [Wanted(payment_type, random_bytes.randrange(10, greed * total * 2 // SHOTS, 10)) for _ in range(count)]


# ---- refunds ----


def _refund_all(random_bytes: Random) -> Contest:
    total = _draw_total(random_bytes)
    return Contest(("DB",), total, [Wanted("RF", total)] * SHOTS, winners=frozenset({1}))


def _refund_equal_parts(random_bytes: Random) -> Contest:
    total, wanted, winners = _split_equally(random_bytes, "RF")
    return Contest(("DB",), total, wanted, winners=winners)


def _refund_odd_parts(random_bytes: Random) -> Contest:
    total = _draw_total(random_bytes)
    return Contest(("DB",), total, _split_oddly(random_bytes, "RF", total))


def _refund_a_capture(random_bytes: Random) -> Contest:
    total, wanted, winners = _split_equally(random_bytes, "RF")
    return Contest(("PA", "CP"), total, wanted, winners=winners)


def _refund_finally(random_bytes: Random) -> Contest:
    total = _draw_total(random_bytes)
    return Contest(("DB",), total, _make_some_final(random_bytes, _split_oddly(random_bytes, "RF", total, greed=1)))


def _refund_what_is_declined(random_bytes: Random) -> Contest:
    return replace(_refund_odd_parts(random_bytes), declines=random_bytes.randrange(1, 12))


# ---- captures ----


def _capture_all(random_bytes: Random) -> Contest:
    total = _draw_total(random_bytes)
    return Contest(("PA",), total, [Wanted("CP", total)] * SHOTS, winners=frozenset({1}))


def _capture_equal_parts(random_bytes: Random) -> Contest:
    total, wanted, winners = _split_equally(random_bytes, "CP")
    return Contest(("PA",), total, wanted, winners=winners)


def _capture_odd_parts(random_bytes: Random) -> Contest:
    total = _draw_total(random_bytes)
    return Contest(("PA",), total, _split_oddly(random_bytes, "CP", total))


def _capture_finally(random_bytes: Random) -> Contest:
    total = _draw_total(random_bytes)
    return Contest(("PA",), total, _make_some_final(random_bytes, _split_oddly(random_bytes, "CP", total, greed=1)))


def _capture_by_number(random_bytes: Random) -> Contest:
    """Enough money for all of them, and a bound on how many."""
    part, count = random_bytes.randrange(10, 5_00, 10), random_bytes.randrange(1, SHOTS // 2)
    wanted = [Wanted("CP", part)] * SHOTS
    return Contest(("PA",), part * SHOTS, wanted, captures_max=count, winners=frozenset({count}))


def _capture_what_is_declined(random_bytes: Random) -> Contest:
    return replace(_capture_odd_parts(random_bytes), declines=random_bytes.randrange(1, 12))


def _make_some_final(random_bytes: Random, wanted: Sequence[Wanted]) -> list[Wanted]:
    """There are few, so that others are decided before, and parts are so small that there is something to close."""
    finals = set(random_bytes.sample(range(len(wanted)), 3))
    return [replace(each, is_final=True) if place in finals else each for place, each in enumerate(wanted)]


# ---- one against the other ----


def _capture_all_or_reverse(random_bytes: Random) -> Contest:
    total, reversals = _draw_total(random_bytes), random_bytes.choice((1, SHOTS // 2))
    wanted = [Wanted("CP", total)] * (SHOTS - reversals) + [Wanted("RV")] * reversals
    return Contest(("PA",), total, wanted, winners=frozenset({1}))


def _capture_parts_or_reverse(random_bytes: Random) -> Contest:
    total, reversals = _draw_total(random_bytes), random_bytes.randrange(1, 8)
    return Contest(
        ("PA",), total, _split_oddly(random_bytes, "CP", total, SHOTS - reversals) + [Wanted("RV")] * reversals
    )


def _reverse(random_bytes: Random) -> Contest:
    begins = random_bytes.choice((("PA",), ("DB",), ("PA", "CP")))
    return Contest(begins, _draw_total(random_bytes), [Wanted("RV")] * SHOTS, winners=frozenset({1}))


def _refund_or_reverse(random_bytes: Random) -> Contest:
    """Whichever comes first shuts the other out: a reversal undoes an untouched payment only."""
    total, refunds, fitting = _split_equally(random_bytes, "RF")
    reversals = random_bytes.randrange(1, SHOTS)
    kept = refunds[reversals:]
    winners = {1, *(min(count, len(kept)) for count in fitting)}
    return Contest(("DB",), total, kept + [Wanted("RV")] * reversals, winners=frozenset(winners))


def _capture_and_increment(random_bytes: Random) -> Contest:
    total, increments = _draw_total(random_bytes), random_bytes.randrange(1, 16)
    raised = [Wanted("PA", random_bytes.randrange(10, 50_00, 10)) for _ in range(increments)]
    return Contest(("PA",), total, _split_oddly(random_bytes, "CP", total, SHOTS - increments) + raised)


def _capture_increment_and_reverse(random_bytes: Random) -> Contest:
    contest = _capture_and_increment(random_bytes)
    return replace(contest, wanted=[*contest.wanted[2:], Wanted("RV"), Wanted("RV")])


FAMILIES: dict[str, Sequence[Draw]] = {
    "refunds": (
        _refund_all,
        _refund_equal_parts,
        _refund_odd_parts,
        _refund_a_capture,
        _refund_finally,
        _refund_what_is_declined,
    ),
    "captures": (
        _capture_all,
        _capture_equal_parts,
        _capture_odd_parts,
        _capture_finally,
        _capture_by_number,
        _capture_what_is_declined,
    ),
    "rivals": (
        _capture_all_or_reverse,
        _capture_parts_or_reverse,
        _reverse,
        _refund_or_reverse,
        _capture_and_increment,
        _capture_increment_and_reverse,
    ),
}


def draw_contest(family: str, seed: int, random_bytes: Random) -> Contest:
    """Every second seed takes the next row, so that each is met with and without an acquirer outside."""
    rows = FAMILIES[family]
    contest = rows[seed // 2 % len(rows)](random_bytes)
    wanted = _send_some_twice(random_bytes, contest.wanted)
    random_bytes.shuffle(wanted)
    return replace(contest, wanted=wanted)


def _send_some_twice(random_bytes: Random, wanted: Sequence[Wanted]) -> list[Wanted]:
    """Some requests get a key, and some of those are sent again beside all the others."""
    keyed = list(wanted)
    for number, place in enumerate(random_bytes.sample(range(len(wanted)), 10)):
        keyed[place] = replace(keyed[place], key=str(number))
    repeated = [each for each in keyed if each.key is not None and random_bytes.random() < 0.6]
    return keyed + repeated + random_bytes.choices(repeated, k=3) if repeated else keyed
