"""The expected answer to every request about a payment in every state, written from the rules and not from the code.

A row is a state (`follow_up_states` has its recipe), a column a request (`REQUESTS`). No test lives here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

PRACTICE = "standingInstruction.industryPractice"


@dataclass(frozen=True)
class Request:
    payment_type: str
    amount: str | None = None
    extra: dict[str, str] = field(default_factory=dict)
    is_fact: bool = False
    """Brought by a bank instead of asked for by the merchant."""

    @property
    def path(self) -> str:
        return "/sandbox/payments/" if self.is_fact else "/v1/payments/"

    @property
    def fields(self) -> dict[str, str]:
        money = {} if self.amount is None else {"amount": self.amount, "currency": "EUR"}
        return {"paymentType": self.payment_type, **money, **self.extra}

    @property
    def success(self) -> str:
        """A chargeback carries the bank's notice."""
        return "000.100.200" if self.payment_type == "CB" else "000.100.110"


FINAL = {"sequence": "FINAL"}
DOLLARS = {"currency": "USD"}

REQUESTS = {
    "CP": Request("CP", "10.00"),
    "CP>": Request("CP", "200.00"),
    "CP.": Request("CP", "10.00", FINAL),
    "CP$": Request("CP", "10.00", DOLLARS),
    "CP0": Request("CP", "0.00"),
    "RV": Request("RV"),
    "RV<": Request("RV", "10.00"),
    "RV$": Request("RV", None, DOLLARS),
    "PA+": Request("PA", "10.00", {PRACTICE: "INCREMENTAL_AUTH"}),
    "PA'": Request("PA", "10.00", {PRACTICE: "REAUTHORIZATION"}),
    "PA?": Request("PA", "10.00"),
    "RF": Request("RF", "10.00"),
    "RF>": Request("RF", "200.00"),
    "RF.": Request("RF", "10.00", FINAL),
    "RF$": Request("RF", "10.00", DOLLARS),
    "RF0": Request("RF", "0.00"),
    "RF~": Request("RF", "10.00", {"testMode": "EXTERNAL"}),
    "RB": Request("RB", "10.00"),
    "RB>": Request("RB", "200.00"),
    "RC": Request("RC", "10.00"),
    "CB": Request("CB", "10.00"),
    "CR": Request("CR"),
    "+RC": Request("RC", "10.00", is_fact=True),
    "+RC>": Request("RC", "200.00", is_fact=True),
    "+CB": Request("CB", "10.00", is_fact=True),
    "+CB>": Request("CB", "200.00", is_fact=True),
    "+CR": Request("CR", is_fact=True),
}
"""`>` more than there is, `<` less than the rest, `.` with sequence=FINAL, `$` in dollars, `0` of nothing, `~` in
another test mode, `+` raising, `'` renewing, `?` without saying why; a `+` in front is a fact that a bank brings."""

WORDS = {"ok": "", "fault": "200.300.404", "zero": "100.550.300", "lost": "600.200.500"}
"""A cell of two numbers is a code that begins with 700."""

# Captures need an authorisation that succeeded, is not too old and has enough left; a reversal of one takes exactly
# its rest. What took money is reversed whole, untouched and on its day. Only authorisations are raised or renewed.
CAPTURES_AND_REVERSALS = """
state                     | CP      CP>     CP.     CP$     CP0     RV      RV<     RV$     PA+     PA'     PA?
PA open                   | ok      400.100 ok      100.500 zero    ok      400.300 100.500 ok      ok      fault
PA partly captured        | ok      400.100 ok      100.500 zero    ok      400.300 100.500 ok      ok      fault
PA fully captured         | 400.100 400.100 400.100 100.500 zero    400.300 400.300 100.500 ok      ok      fault
PA captured FINAL         | 400.100 400.100 400.100 100.500 zero    400.300 400.300 100.500 400.100 ok      fault
PA reversed               | 400.100 400.100 400.100 100.500 zero    400.300 400.300 100.500 400.100 ok      fault
PA captured, reversed     | 400.100 400.100 400.100 100.500 zero    400.300 400.300 100.500 400.100 ok      fault
PA expired                | 300.400 300.400 300.400 100.500 zero    300.700 300.700 100.500 300.400 ok      fault
PA raised                 | ok      400.100 ok      100.500 zero    ok      400.300 100.500 ok      ok      fault
PA raised FINAL           | ok      400.100 ok      100.500 zero    ok      400.300 100.500 400.100 ok      fault
PA without captures left  | 400.100 400.100 400.100 100.500 zero    ok      400.300 100.500 ok      ok      fault
PA with an open capture   | ok      400.100 ok      100.500 zero    ok      400.300 100.500 ok      ok      fault
PA with a failed capture  | ok      400.100 ok      100.500 zero    ok      400.300 100.500 ok      ok      fault
PA with a receipt         | ok      400.100 ok      100.500 zero    ok      400.300 100.500 ok      ok      fault
PA renewed                | ok      400.100 ok      100.500 zero    ok      400.300 100.500 ok      ok      fault
PA renewal                | ok      400.100 ok      100.500 zero    ok      400.300 100.500 ok      ok      fault
PA increment              | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
PA pending                | 400.570 400.570 400.570 400.570 400.570 400.570 400.570 400.570 400.570 400.570 fault
PA declined               | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 300.200 300.200 fault
DB                        | 400.510 400.510 400.510 400.510 400.510 ok      400.300 100.500 100.700 100.700 fault
DB partly refunded        | 400.510 400.510 400.510 400.510 400.510 400.300 400.300 100.500 100.700 100.700 fault
DB fully refunded         | 400.510 400.510 400.510 400.510 400.510 400.300 400.300 100.500 100.700 100.700 fault
DB refunded FINAL         | 400.510 400.510 400.510 400.510 400.510 400.300 400.300 100.500 100.700 100.700 fault
DB reversed               | 400.510 400.510 400.510 400.510 400.510 400.300 400.300 100.500 100.700 100.700 fault
DB rebilled               | 400.510 400.510 400.510 400.510 400.510 ok      400.300 100.500 100.700 100.700 fault
DB rebilled FINAL         | 400.510 400.510 400.510 400.510 400.510 ok      400.300 100.500 100.700 100.700 fault
DB of an earlier day      | 400.510 400.510 400.510 400.510 400.510 300.700 300.700 100.500 100.700 100.700 fault
DB charged back           | 400.510 400.510 400.510 400.510 400.510 300.600 300.600 100.500 100.700 100.700 fault
DB charged back and won   | 400.510 400.510 400.510 400.510 400.510 ok      400.300 100.500 100.700 100.700 fault
DB pending                | 400.510 400.510 400.510 400.510 400.510 400.570 400.570 400.570 100.700 100.700 fault
DB declined               | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
PA.CP                     | 400.510 400.510 400.510 400.510 400.510 ok      400.300 100.500 100.700 100.700 fault
CP                        | 400.510 400.510 400.510 400.510 400.510 ok      400.300 100.500 100.700 100.700 fault
CP partly refunded        | 400.510 400.510 400.510 400.510 400.510 400.300 400.300 100.500 100.700 100.700 fault
CP reversed               | 400.510 400.510 400.510 400.510 400.510 400.300 400.300 100.500 100.700 100.700 fault
CP of an earlier day      | 400.510 400.510 400.510 400.510 400.510 300.700 300.700 100.500 100.700 100.700 fault
CP charged back           | 400.510 400.510 400.510 400.510 400.510 300.600 300.600 100.500 100.700 100.700 fault
CP pending                | 400.510 400.510 400.510 400.510 400.510 400.570 400.570 400.570 100.700 100.700 fault
CP declined               | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
CP refused                | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
RB                        | 400.510 400.510 400.510 400.510 400.510 ok      400.300 100.500 100.700 100.700 fault
RC                        | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
CD                        | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
RF                        | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
RF returned               | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
RV of a PA                | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
RV of a DB                | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
CB                        | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
CB taken back             | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
CB of a refund            | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
CR                        | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
CR charged back again     | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 100.700 100.700 fault
another channel's DB      | 400.700 400.700 400.700 400.700 400.700 400.700 400.700 400.700 400.700 400.700 fault
another merchant's DB     | 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 fault
unknown                   | 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 fault
unknown, lenient          | 400.510 400.510 400.510 400.510 400.510 400.530 400.530 400.530 400.580 400.580 fault
"""

# Refunds need money that was taken, is not under dispute and was not given back; rebills repeat what was taken, each
# at most as large. What only a bank brings, a merchant cannot ask for, whatever the state.
REFUNDS_AND_REBILLS = """
state                     | RF      RF>     RF.     RF$     RF0     RF~     RB      RB>     RC      CB      CR
PA open                   | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA partly captured        | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA fully captured         | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA captured FINAL         | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA reversed               | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA captured, reversed     | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA expired                | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA raised                 | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA raised FINAL           | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA without captures left  | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA with an open capture   | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA with a failed capture  | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA with a receipt         | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA renewed                | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA renewal                | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA increment              | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA pending                | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
PA declined               | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
DB                        | ok      400.200 ok      100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
DB partly refunded        | ok      400.200 ok      100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
DB fully refunded         | 400.200 400.200 400.200 100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
DB refunded FINAL         | 400.200 400.200 400.200 100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
DB reversed               | 400.200 400.200 400.200 100.500 zero    100.600 300.300 300.300 400.562 400.402 400.402
DB rebilled               | ok      400.200 ok      100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
DB rebilled FINAL         | ok      400.200 ok      100.500 zero    100.600 300.300 300.300 400.562 400.402 400.402
DB of an earlier day      | ok      400.200 ok      100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
DB charged back           | 300.600 300.600 300.600 100.500 zero    100.600 300.600 300.600 400.562 400.402 400.402
DB charged back and won   | ok      400.200 ok      100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
DB pending                | 400.570 400.570 400.570 400.570 400.570 400.570 400.570 400.570 400.562 400.402 400.402
DB declined               | 400.520 400.520 400.520 400.520 400.520 400.520 300.200 300.200 400.562 400.402 400.402
PA.CP                     | ok      400.200 ok      100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
CP                        | ok      400.200 ok      100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
CP partly refunded        | ok      400.200 ok      100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
CP reversed               | 400.200 400.200 400.200 100.500 zero    100.600 300.300 300.300 400.562 400.402 400.402
CP of an earlier day      | ok      400.200 ok      100.500 zero    100.600 ok      100.300 400.562 400.402 400.402
CP charged back           | 300.600 300.600 300.600 100.500 zero    100.600 300.600 300.600 400.562 400.402 400.402
CP pending                | 400.570 400.570 400.570 400.570 400.570 400.570 400.570 400.570 400.562 400.402 400.402
CP declined               | 400.520 400.520 400.520 400.520 400.520 400.520 300.200 300.200 400.562 400.402 400.402
CP refused                | 400.520 400.520 400.520 400.520 400.520 400.520 300.200 300.200 400.562 400.402 400.402
RB                        | ok      400.200 ok      100.500 zero    100.600 100.700 100.700 400.562 400.402 400.402
RC                        | ok      400.200 ok      100.500 zero    100.600 100.700 100.700 400.562 400.402 400.402
CD                        | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
RF                        | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
RF returned               | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
RV of a PA                | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
RV of a DB                | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
CB                        | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
CB taken back             | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
CB of a refund            | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
CR                        | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
CR charged back again     | 400.520 400.520 400.520 400.520 400.520 400.520 100.700 100.700 400.562 400.402 400.402
another channel's DB      | 400.700 400.700 400.700 400.700 400.700 400.700 400.700 400.700 400.700 400.700 400.700
another merchant's DB     | 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580
unknown                   | 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580 400.580
unknown, lenient          | lost    lost    lost    lost    lost    lost    400.580 400.580 400.580 400.580 400.580
"""

# A receipt arrives for an authorisation, however old. A chargeback of money that was taken is recorded whatever became
# of the money since, once at a time; a bank may also send a refund back, or dispute again what it had returned.
FACTS = """
state                     | +RC     +RC>    +CB     +CB>    +CR
PA open                   | ok      400.100 400.550 400.550 400.420
PA partly captured        | ok      400.100 400.550 400.550 400.420
PA fully captured         | 400.100 400.100 400.550 400.550 400.420
PA captured FINAL         | 400.100 400.100 400.550 400.550 400.420
PA reversed               | 400.100 400.100 400.550 400.550 400.420
PA captured, reversed     | 400.100 400.100 400.550 400.550 400.420
PA expired                | ok      400.100 400.550 400.550 400.420
PA raised                 | ok      400.100 400.550 400.550 400.420
PA raised FINAL           | ok      400.100 400.550 400.550 400.420
PA without captures left  | ok      400.100 400.550 400.550 400.420
PA with an open capture   | ok      400.100 400.550 400.550 400.420
PA with a failed capture  | ok      400.100 400.550 400.550 400.420
PA with a receipt         | ok      400.100 400.550 400.550 400.420
PA renewed                | ok      400.100 400.550 400.550 400.420
PA renewal                | ok      400.100 400.550 400.550 400.420
PA increment              | 400.560 400.560 400.550 400.550 400.420
PA pending                | 400.570 400.570 400.550 400.550 400.420
PA declined               | 400.560 400.560 400.550 400.550 400.420
DB                        | 400.560 400.560 ok      400.400 400.420
DB partly refunded        | 400.560 400.560 ok      400.400 400.420
DB fully refunded         | 400.560 400.560 ok      400.400 400.420
DB refunded FINAL         | 400.560 400.560 ok      400.400 400.420
DB reversed               | 400.560 400.560 ok      400.400 400.420
DB rebilled               | 400.560 400.560 ok      400.400 400.420
DB rebilled FINAL         | 400.560 400.560 ok      400.400 400.420
DB of an earlier day      | 400.560 400.560 ok      400.400 400.420
DB charged back           | 400.560 400.560 400.400 400.400 400.420
DB charged back and won   | 400.560 400.560 ok      400.400 400.420
DB pending                | 400.560 400.560 400.570 400.570 400.420
DB declined               | 400.560 400.560 400.550 400.550 400.420
PA.CP                     | 400.560 400.560 ok      400.400 400.420
CP                        | 400.560 400.560 ok      400.400 400.420
CP partly refunded        | 400.560 400.560 ok      400.400 400.420
CP reversed               | 400.560 400.560 ok      400.400 400.420
CP of an earlier day      | 400.560 400.560 ok      400.400 400.420
CP charged back           | 400.560 400.560 400.400 400.400 400.420
CP pending                | 400.560 400.560 400.570 400.570 400.420
CP declined               | 400.560 400.560 400.550 400.550 400.420
CP refused                | 400.560 400.560 400.550 400.550 400.420
RB                        | 400.560 400.560 ok      400.400 400.420
RC                        | 400.560 400.560 400.550 400.550 400.420
CD                        | 400.560 400.560 400.550 400.550 400.420
RF                        | 400.560 400.560 ok      400.400 400.420
RF returned               | 400.560 400.560 400.400 400.400 400.420
RV of a PA                | 400.560 400.560 400.550 400.550 400.420
RV of a DB                | 400.560 400.560 400.550 400.550 400.420
CB                        | 400.560 400.560 400.550 400.550 ok
CB taken back             | 400.560 400.560 400.550 400.550 400.410
CB of a refund            | 400.560 400.560 400.550 400.550 400.420
CR                        | 400.560 400.560 ok      400.400 400.420
CR charged back again     | 400.560 400.560 400.400 400.400 400.420
another channel's DB      | 400.700 400.700 400.700 400.700 400.700
another merchant's DB     | 400.580 400.580 400.580 400.580 400.580
unknown                   | 400.580 400.580 400.580 400.580 400.580
unknown, lenient          | 400.580 400.580 400.580 400.580 400.580
"""


def read_table(text: str) -> Iterator[tuple[str, str, str]]:
    """State, request and expected code of every cell; a success is the empty code."""
    head, *lines = text.strip().splitlines()
    requests = head.partition("|")[2].split()
    for line in lines:
        state, _, cells = line.partition("|")
        for request, cell in zip(requests, cells.split(), strict=True):
            yield state.strip(), request, read_cell(cell)


def read_cell(cell: str) -> str:
    return WORDS.get(cell, f"700.{cell}")


EXPECTED: dict[str, dict[str, str]] = {}
for _table in (CAPTURES_AND_REVERSALS, REFUNDS_AND_REBILLS, FACTS):
    for _state, _request, _code in read_table(_table):
        EXPECTED.setdefault(_state, {})[_request] = _code
