"""A shop under risk rules for the test of the back-test: its payments, registrations, rules and lists. No test here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import msgspec
from hypothesis import strategies as st

from empty_store import open_empty_store
from tollgate.catalog.risk_rows import PAIRS
from tollgate.catalog.rule import Situation
from tollgate.contract.fields import read_fields
from tollgate.contract.registrations import read_registration_order
from tollgate.contract.risk_rules import read_rule
from tollgate.flows import try_rules
from tollgate.flows.pay import pay
from tollgate.flows.registrations import register
from tollgate.operations.app import App, Call
from tollgate.operations.risk_rules import add_entry
from tollgate.payments.risk import Rule
from tollgate.store import risk
from tollgate.values import MINUTE, SECOND, FixedClock, Instant
from tollgate.workers.sightings import write_noted
from unit.app_fixture import CHANNEL, MERCHANT, NOW, ScriptedWire, furnish_app
from unit.flows.shopping import PROOF, make_order

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
        kinds += [{"kind": "count", "attribute": "registered_email", "count": n, **of_window} for n in ("0", "1")]
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


ANSWERS = [
    {"kind": "avs", "answers": "N"},
    {"kind": "avs", "answers": "A,Z"},
    {"kind": "cvv", "answers": "N"},
    {"kind": "cvv", "answers": "N,P,U"},
]


@dataclass(frozen=True)
class Purchase:
    pause: Instant
    card: str
    email: str | None
    ip: str | None
    amount: str
    currency: str
    reference: str
    avs: str
    cvv: str
    """The issuer's answers, if it approves."""
    is_wrong: bool
    """The issuer declines it for its security code."""
    overlaps: bool
    """The next one is made before this one is answered."""
    is_together: bool
    """The next one is judged at the same time."""
    is_written: bool
    """The worker has written what was noted before it."""
    is_proven: bool
    """The shopper was authenticated elsewhere, so a step-up asks for nothing more."""
    registers: bool
    is_registration: bool
    """The account is registered without a payment."""

    @property
    def answer(self) -> bytes:
        if self.is_wrong:
            return WRONG_CVV
        checks = {"avs_response": self.avs, "cvv_response": self.cvv}
        return json.dumps({"status": "approved", "response_code": "00", "message": "Fine", **checks}).encode()

    @property
    def sent(self) -> dict[str, str | None]:
        return {
            "card.number": self.card,
            "customer.givenName": "Jane",
            "customer.surname": "Jones",
            "customer.email": self.email,
            "customer.ip": self.ip,
        }


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
    avs=st.sampled_from(("", "N", "A", "F")),
    cvv=st.sampled_from(("", "N", "P", "M")),
    is_wrong=st.booleans(),
    overlaps=st.booleans(),
    is_together=st.booleans(),
    is_written=st.booleans(),
    is_proven=st.booleans(),
    registers=st.booleans(),
    is_registration=st.sampled_from((True, False, False, False)),
)
modes = st.sampled_from(("active", "active", "shadow"))
points = st.sampled_from(("0", "30", "60"))
TERMS = _list_terms()
terms_of_any_kind = st.sampled_from(sorted({terms["kind"] for terms in TERMS})).flatmap(
    lambda kind: st.sampled_from([terms for terms in TERMS if terms["kind"] == kind])
)
before_sending = st.tuples(
    terms_of_any_kind, modes, st.sampled_from((None, "refuse", "review", "accept", "step_up")), points
)
after_approval = st.tuples(
    st.sampled_from(ANSWERS), modes, st.sampled_from((None, "refuse", "review", "accept")), points
)
rules = st.lists(st.one_of(before_sending, before_sending, after_approval), min_size=1, max_size=8)
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
        self.has_lost = False
        """A refused registration keeps no card, so what rules count by the card is not known any more."""

    async def sell(self, some: Sequence[Purchase]) -> None:
        left = list(some)
        while left:
            await self._sell_next(left)

    async def _sell_next(self, left: list[Purchase]) -> None:
        purchase = left.pop(0)
        if purchase.is_written:
            await write_noted(self.app)
        self.clock.at += purchase.pause
        if purchase.is_registration:
            await self._register(purchase)
            return
        if purchase.is_together and left and not left[0].is_registration:
            other = left.pop(0)
            await asyncio.gather(self._pay(purchase, []), self._pay(other, []))
        else:
            await self._pay(purchase, left)

    async def _pay(self, purchase: Purchase, left: list[Purchase]) -> None:
        async def answer() -> None:
            if purchase.overlaps and left:
                await self._sell_next(left)
            self.clock.at += ANSWERED_AFTER
            self.wire.script[:] = [purchase.answer]

        proof = {"threeDSecure.eci": "05", "threeDSecure.verificationId": PROOF}
        order = make_order(
            {
                **purchase.sent,
                "amount": purchase.amount,
                "currency": purchase.currency,
                "merchantTransactionId": purchase.reference,
                **({"createRegistration": "true"} if purchase.registers else {}),
                **(proof if purchase.is_proven else {}),
            }
        )
        self.wire.meanwhile = answer
        # Nobody is authenticated first, so the acquirer's answer decides.
        await pay(self.app, msgspec.structs.replace(order, authentication=None), Call(CHANNEL, "ndc"))

    async def _register(self, purchase: Purchase) -> None:
        sent = {"paymentBrand": "VISA", "card.expiryMonth": "05", "card.expiryYear": "2034", **purchase.sent}
        pairs = [(name, text) for name, text in sent.items() if text is not None]
        fields = read_fields(pairs, Situation("create_registration", None))
        order = read_registration_order(fields, CHANNEL, today=date(2026, 11, 15), is_live=False)
        answer = await register(self.app, order, Call(CHANNEL, "ndc"))
        is_refused = not json.loads(answer.body)["result"]["code"].startswith("000.")
        if is_refused and not PAIRS.keys().isdisjoint(self.app.merchants.get_counted(MERCHANT.id)):
            self.has_lost = True


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
) -> list[try_rules.Judged] | None:
    """Makes the payments, and returns each with what the back-test says; None if a part of the past was lost."""
    database = await open_empty_store(folder / "store.db")
    try:
        wire = ScriptedWire()
        app = await furnish_app(database, wire)
        chosen = make_rules(some)
        for rule in chosen:
            await risk.insert_rule(database, rule)
        for number, each in enumerate(lists):
            sent = {"list": each.name, "attribute": each.attribute, "value": each.value}
            ends_at = None if each.lifetime is None else NOW + each.lifetime
            await add_entry(
                database, app.keyring, MERCHANT.id, sent, by="test", now=NOW, new_id=f"{number:032x}", ends_at=ends_at
            )
        await app.merchants.refresh(database)
        shop = Shop(app, wire)
        await shop.sell(sold)
        found = [each async for page in try_rules.evaluate_history(app, MERCHANT.id, chosen) for each in page]
        assert len(found) == sum(not purchase.is_registration for purchase in sold)
        return None if shop.has_lost else found
    finally:
        await database.close()
