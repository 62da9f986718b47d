"""Recipes that bring a payment into each state that a follow-up may find, by real requests.

The expected answers stand in `follow_up_table`. No test lives here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from api.chains import FORCE, UNKNOWN_ID, advance, count_seconds_to_midnight
from api.follow_up_table import FINAL, REQUESTS, Request
from gateway import Answer, Client

PENDING_CODE, DECLINED_CODE = "000.200.000", "800.100.151"


@dataclass(frozen=True)
class Specimen:
    """A payment in its state, and who asks about it."""

    client: Client
    payment_id: str


def ask(client: Client, payment_id: str, request: Request) -> Answer:
    return client.post(request.path + payment_id, request.fields)


@dataclass(frozen=True)
class World:
    """Makes payments step by step; a step that does not go as the recipe says is an error of the test."""

    client: Client
    stranger: Client

    @property
    def lenient(self) -> Client:
        return replace(self.client, entity_id=self.client.lenient_entity_id)

    def begin(self, payment_type: str, code: str = "000.100.110", **extra: str) -> str:
        """Makes a payment of 100.00 and returns its id."""
        forced = {FORCE: code} if code != "000.100.110" else {}
        return _name(self.client.pay(paymentType=payment_type, amount="100.00", **forced, **extra), code)

    def add(self, named_id: str, payment_type: str, amount: str | None = "40.00", code: str = "", **extra: str) -> str:
        """Makes a follow-up and returns its id."""
        is_fact = payment_type in ("RC", "CB", "CR")
        forced = {FORCE: code} if code and not is_fact else {}
        request = Request(payment_type, amount, {**extra, **forced}, is_fact)
        return _name(ask(self.client, named_id, request), code or request.success)

    def then(self, named_id: str, payment_type: str, amount: str | None = "40.00", code: str = "", **extra: str) -> str:
        """Makes a follow-up and returns the id of the payment that it refers to."""
        self.add(named_id, payment_type, amount, code, **extra)
        return named_id

    def capture(self) -> str:
        return self.add(self.begin("PA"), "CP", "100.00")

    def charge_back(self, named_id: str) -> str:
        return self.add(named_id, "CB", None)

    def charge_back_and_win(self) -> str:
        debit_id = self.begin("DB")
        self.add(self.charge_back(debit_id), "CR", None)
        return debit_id

    def refuse(self) -> str:
        """Returns the id under which a refused capture was written down."""
        answer = ask(self.client, self.begin("DB"), REQUESTS["CP"])
        return _name(answer, "700.400.510")

    def make(self, state: str) -> Specimen:
        foreign = FOREIGN.get(state)
        return foreign(self) if foreign else Specimen(self.client, RECIPES[state](self))

    def sleep_eight_days(self) -> None:
        """Ends shortly after a midnight, so that no day ends while the table is walked."""
        advance(self.client, count_seconds_to_midnight(self.client) + 8 * 24 * 3600 + 60)


def _name(answer: Answer, code: str) -> str:
    assert answer.code == code, answer.body
    payment_id: str = answer.json["id"]
    return payment_id


RAISING, RENEWING = REQUESTS["PA+"].extra, REQUESTS["PA'"].extra

RECIPES: dict[str, Callable[[World], str]] = {
    "PA open": lambda w: w.begin("PA"),
    "PA partly captured": lambda w: w.then(w.begin("PA"), "CP"),
    "PA fully captured": lambda w: w.then(w.begin("PA"), "CP", "100.00"),
    "PA captured FINAL": lambda w: w.then(w.begin("PA"), "CP", **FINAL),
    "PA reversed": lambda w: w.then(w.begin("PA"), "RV", None),
    "PA captured, reversed": lambda w: w.then(w.then(w.begin("PA"), "CP"), "RV", None),
    "PA expired": lambda w: w.begin("PA"),
    "PA raised": lambda w: w.then(w.begin("PA"), "PA", **RAISING),
    "PA raised FINAL": lambda w: w.then(w.begin("PA"), "PA", **RAISING, **FINAL),
    "PA without captures left": lambda w: w.then(w.begin("PA", numberOfCaptures="1"), "CP"),
    "PA with an open capture": lambda w: w.then(w.begin("PA"), "CP", code=PENDING_CODE),
    "PA with a failed capture": lambda w: w.then(w.begin("PA"), "CP", code=DECLINED_CODE),
    "PA with a receipt": lambda w: w.then(w.begin("PA"), "RC"),
    "PA renewed": lambda w: w.then(w.begin("PA"), "PA", "100.00", **RENEWING),
    "PA renewal": lambda w: w.add(w.begin("PA"), "PA", "100.00", **RENEWING),
    "PA increment": lambda w: w.add(w.begin("PA"), "PA", **RAISING),
    "PA pending": lambda w: w.begin("PA", PENDING_CODE),
    "PA declined": lambda w: w.begin("PA", DECLINED_CODE),
    "DB": lambda w: w.begin("DB"),
    "DB partly refunded": lambda w: w.then(w.begin("DB"), "RF"),
    "DB fully refunded": lambda w: w.then(w.begin("DB"), "RF", "100.00"),
    "DB refunded FINAL": lambda w: w.then(w.begin("DB"), "RF", **FINAL),
    "DB reversed": lambda w: w.then(w.begin("DB"), "RV", None),
    "DB rebilled": lambda w: w.then(w.begin("DB"), "RB"),
    "DB rebilled FINAL": lambda w: w.then(w.begin("DB"), "RB", **FINAL),
    "DB of an earlier day": lambda w: w.begin("DB"),
    "DB charged back": lambda w: w.then(w.begin("DB"), "CB", None),
    "DB charged back and won": lambda w: w.charge_back_and_win(),
    "DB pending": lambda w: w.begin("DB", PENDING_CODE),
    "DB declined": lambda w: w.begin("DB", DECLINED_CODE),
    "PA.CP": lambda w: w.begin("PA.CP"),
    "CP": lambda w: w.capture(),
    "CP partly refunded": lambda w: w.then(w.capture(), "RF"),
    "CP reversed": lambda w: w.then(w.capture(), "RV", None),
    "CP of an earlier day": lambda w: w.capture(),
    "CP charged back": lambda w: w.then(w.capture(), "CB", None),
    "CP pending": lambda w: w.add(w.begin("PA"), "CP", code=PENDING_CODE),
    "CP declined": lambda w: w.add(w.begin("PA"), "CP", code=DECLINED_CODE),
    "CP refused": lambda w: w.refuse(),
    "RB": lambda w: w.add(w.begin("DB"), "RB", "100.00"),
    "RC": lambda w: w.add(w.begin("PA"), "RC", "100.00"),
    "CD": lambda w: w.begin("CD"),
    "RF": lambda w: w.add(w.begin("DB"), "RF"),
    "RF returned": lambda w: w.then(w.add(w.begin("DB"), "RF"), "CB", None),
    "RV of a PA": lambda w: w.add(w.begin("PA"), "RV", None),
    "RV of a DB": lambda w: w.add(w.begin("DB"), "RV", None),
    "CB": lambda w: w.charge_back(w.begin("DB")),
    "CB taken back": lambda w: w.then(w.charge_back(w.begin("DB")), "CR", None),
    "CB of a refund": lambda w: w.charge_back(w.add(w.begin("DB"), "RF")),
    "CR": lambda w: w.add(w.charge_back(w.begin("DB")), "CR", None),
    "CR charged back again": lambda w: w.then(w.add(w.charge_back(w.begin("DB")), "CR", None), "CB", None),
}

FOREIGN: dict[str, Callable[[World], Specimen]] = {
    "another channel's DB": lambda w: Specimen(w.lenient, w.begin("DB")),
    "another merchant's DB": lambda w: Specimen(w.stranger, w.begin("DB")),
    "unknown": lambda w: Specimen(w.client, UNKNOWN_ID),
    "unknown, lenient": lambda w: Specimen(w.lenient, UNKNOWN_ID),
}
"""A caller finds none of these on its own channel."""

AGED = ("PA expired", "DB of an earlier day", "CP of an earlier day")
"""Made before the clock is moved; all others after."""
