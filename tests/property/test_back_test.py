"""A back-test of risk rules says about every stored payment what the gateway said when it was made.

Random payments share cards, e-mails and addresses, come at the edges of windows, and two at once.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from empty_store import open_empty_store
from tollgate.contract.risk_rules import read_rule
from tollgate.flows import try_rules
from tollgate.flows.pay import pay
from tollgate.operations.app import App, Call
from tollgate.operations.risk_rules import add_entry
from tollgate.payments.risk import CompiledRules, Facts, RiskFinding, Rule
from tollgate.payments.risk_replay import Past
from tollgate.payments.velocities import Velocities
from tollgate.store import risk as store
from tollgate.values import MINUTE, SECOND, FixedClock, Instant
from tollgate.workers.sightings import write_noted
from unit.app_fixture import APPROVED, CHANNEL, MERCHANT, NOW, ScriptedWire, furnish_app
from unit.flows.shopping import make_order

WINDOW = MINUTE
CARDS = ("4200000000000000", "4012888888881881", "4111111111111111")
EMAILS = ("jane@example.com", "john@example.com", None)
IPS = ("192.0.2.1", "192.0.2.2", None)
AMOUNTS = ("10.00", "10.01", "500.00")
WRONG_CVV = b'{"status":"declined","response_code":"N7","message":"Wrong code"}'
ANSWERED_AFTER: Instant = SECOND // 1000
"""The acquirer takes so long, so that no result has the time of a payment that was judged before it."""

EDGES = [edge - late for edge in (WINDOW - 1, WINDOW, WINDOW + 1, 90 * SECOND) for late in (0, ANSWERED_AFTER)]
COUNTED = ("card", "email", "ip", "bin", "channel", "account")


def _list_terms() -> list[dict[str, str]]:
    kinds: list[dict[str, str]] = []
    for window in ("1m", "90s", "1h"):
        of_window = {"window": window}
        kinds += [{"kind": "count", "attribute": each, "count": n, **of_window} for each in COUNTED for n in ("1", "2")]
        spent = {"amount": "20.00", "currency": "EUR"}
        kinds += [{"kind": "volume", "attribute": each, **spent, **of_window} for each in COUNTED]
        kinds += [
            {"kind": "distinct", "attribute": each, "count": "1", **of_window} for each in ("card_email", "email_card")
        ]
        kinds += [{"kind": "first_time", "attribute": each, "amount": "100.00", "currency": "EUR", **of_window}
                  for each in ("card", "email")]  # fmt: skip
        kinds += [{"kind": "wrong_tries", "attribute": "wrong_cvv", "count": n, **of_window} for n in ("1", "2")]
        kinds += [
            {"kind": "duplicate", "attribute": each, **of_window} for each in ("payment", "merchant_transaction_id")
        ]
    kinds += [
        {"kind": "amount", "amount": "10.00", "currency": "EUR"},
        {"kind": "missing", "attribute": "email"},
        {"kind": "score", "score": "50"},
    ]
    return kinds


@dataclass(frozen=True)
class Purchase:
    pause: Instant
    card: str
    email: str | None
    ip: str | None
    amount: str
    currency: str
    reference: str
    is_wrong: bool
    """The issuer declines it for its security code."""
    overlaps: bool
    """The next one is made before this one is answered."""
    is_together: bool
    """The next one is judged at the same time."""
    is_written: bool
    """The worker has written what was noted before it."""


@dataclass(frozen=True)
class Listed:
    name: str
    attribute: str
    value: str
    lifetime: Instant | None


purchases = st.builds(
    Purchase,
    pause=st.sampled_from((0, 0, 1, SECOND, WINDOW // 2, *EDGES)),
    card=st.sampled_from(CARDS),
    email=st.sampled_from(EMAILS),
    ip=st.sampled_from(IPS),
    amount=st.sampled_from(AMOUNTS),
    currency=st.sampled_from(("EUR", "EUR", "USD")),
    reference=st.sampled_from(("order-0001", "order-0002")),
    is_wrong=st.booleans(),
    overlaps=st.booleans(),
    is_together=st.booleans(),
    is_written=st.booleans(),
)
rules = st.lists(
    st.tuples(
        st.sampled_from(_list_terms()),
        st.sampled_from(("active", "active", "shadow")),
        st.sampled_from((None, "refuse", "review", "accept")),
        st.sampled_from(("0", "30", "60")),
    ),
    min_size=1,
    max_size=8,
)
entries = st.lists(
    st.builds(
        Listed,
        name=st.sampled_from(("block", "allow")),
        attribute=st.sampled_from(("email", "ip")),
        value=st.sampled_from((*EMAILS[:2], *IPS[:2])),
        lifetime=st.sampled_from((None, 1, WINDOW, WINDOW + 1)),
    ).filter(lambda each: ("@" in each.value) == (each.attribute == "email")),
    max_size=2,
)


class Shop:
    """A gateway with risk rules, and a clock that only moves when a purchase says so."""

    def __init__(self, app: App, wire: ScriptedWire) -> None:
        self.app, self.wire = app, wire
        assert isinstance(app.clock, FixedClock)
        self.clock = app.clock

    async def sell(self, some: Sequence[Purchase]) -> None:
        left = list(some)
        while left:
            await self._sell_next(left)

    async def _sell_next(self, left: list[Purchase]) -> None:
        purchase = left.pop(0)
        if purchase.is_written:
            await write_noted(self.app)
        self.clock.at += purchase.pause
        if purchase.is_together and left:
            other = left.pop(0)
            await asyncio.gather(self._pay(purchase, []), self._pay(other, []))
        else:
            await self._pay(purchase, left)

    async def _pay(self, purchase: Purchase, left: list[Purchase]) -> None:
        async def answer() -> None:
            if purchase.overlaps and left:
                await self._sell_next(left)
            self.clock.at += ANSWERED_AFTER
            self.wire.script[:] = [WRONG_CVV if purchase.is_wrong else APPROVED]

        order = make_order(
            {
                "card.number": purchase.card,
                "customer.givenName": "Jane",
                "customer.surname": "Jones",
                "customer.email": purchase.email,
                "customer.ip": purchase.ip,
                "amount": purchase.amount,
                "currency": purchase.currency,
                "merchantTransactionId": purchase.reference,
            }
        )
        self.wire.meanwhile = answer
        # Nobody is authenticated first, so the acquirer's answer decides.
        await pay(self.app, msgspec.structs.replace(order, authentication=None), Call(CHANNEL, "ndc"))


Chosen = tuple[dict[str, str], str, str | None, str]


def make_rules(some: Sequence[Chosen]) -> list[Rule]:
    return [
        read_rule(
            {**terms, "mode": mode, "points": points, **({} if outcome is None else {"outcome": outcome})},
            merchant_id=MERCHANT.id,
            rule_id=f"{number:032x}",
            version=1,
            by="test",
            now=NOW,
        )
        for number, (terms, mode, outcome, points) in enumerate(some)
    ]


async def run_shop(
    folder: Path, some: Sequence[Chosen], lists: Sequence[Listed], sold: Sequence[Purchase]
) -> tuple[dict[str, RiskFinding], dict[str, RiskFinding]]:
    """Makes the payments, and returns what the gateway and what the back-test say about each."""
    database = await open_empty_store(folder / "store.db")
    try:
        wire = ScriptedWire()
        app = await furnish_app(database, wire)
        chosen = make_rules(some)
        for rule in chosen:
            await store.insert_rule(database, rule)
        for number, each in enumerate(lists):
            sent = {"list": each.name, "attribute": each.attribute, "value": each.value}
            ends_at = None if each.lifetime is None else NOW + each.lifetime
            await add_entry(
                database, app.keyring, MERCHANT.id, sent, by="test", now=NOW, new_id=f"{number:032x}", ends_at=ends_at
            )
        await app.merchants.refresh(database)
        await Shop(app, wire).sell(sold)
        found = [each async for page in try_rules.evaluate_history(app, MERCHANT.id, chosen) for each in page]
        assert len(found) == len(sold)
        said: dict[str, RiskFinding] = {each.payment.id: each.payment.risk or RiskFinding() for each in found}
        return said, {each.payment.id: each.finding for each in found}
    finally:
        await database.close()


def check(some: Sequence[Chosen], lists: Sequence[Listed], sold: Sequence[Purchase]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        said, tried = asyncio.run(run_shop(Path(folder), some, lists, sold))
    assert tried == said


@given(some=rules, lists=entries, sold=st.lists(purchases, min_size=1, max_size=12))
def test_a_back_test_says_what_the_gateway_said(some: list[Chosen], lists: list[Listed], sold: list[Purchase]) -> None:
    check(some, lists, sold)


PLAIN = Purchase(
    pause=WINDOW - ANSWERED_AFTER,
    card=CARDS[0],
    email=EMAILS[0],
    ip=IPS[0],
    amount="10.00",
    currency="EUR",
    reference="order-0001",
    is_wrong=False,
    overlaps=False,
    is_together=False,
    is_written=True,
)
ONE_A_MINUTE: list[Chosen] = [
    ({"kind": "count", "attribute": "card", "window": "1m", "count": "1"}, "active", None, "0"),
]


def test_a_window_that_is_a_microsecond_off_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: an error of one instant at the edge of a window shows."""
    sold = [PLAIN, PLAIN]
    check(ONE_A_MINUTE, [], sold)
    right = Past.read_velocities

    def read_late(self: Past, rules: CompiledRules, facts: Facts) -> Velocities:
        return right(self, rules, msgspec.structs.replace(facts, at=facts.at + 1))

    monkeypatch.setattr(Past, "read_velocities", read_late)
    with pytest.raises(AssertionError):
        check(ONE_A_MINUTE, [], sold)
