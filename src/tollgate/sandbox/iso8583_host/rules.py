"""The rules by which the simulated host misbehaves, as rows: which messages they match, and what is done with them.

A file of the operator's has such rows too. What an approval changes is decided by the ledger.
"""

import tomllib
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import msgspec

from tollgate.connectors.iso8583.codec import Message


class Act(StrEnum):
    """The behaviour of the host towards a message."""

    APPROVE = "approve"
    DECLINE = "decline"
    """Nothing happens; the answer has the code of the rule."""
    DELAY = "delay"
    """The host acts and answers after the seconds of the rule."""
    DROP = "drop"
    """Nothing happens, and nothing is answered."""
    DUPLICATE = "duplicate"
    """The host acts once and answers twice."""
    LATE = "late"
    """The host acts at once, and answers after the seconds of the rule."""
    GARBAGE = "garbage"
    """The host acts and answers with bytes that are no message."""
    CLOSE = "close"
    """The host acts and closes the connection."""
    WRONG_AMOUNT = "wrong-amount"
    """The host acts, and the answer names another amount."""
    ACT_AND_DROP = "act-and-drop"
    """The host acts and answers nothing."""


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row; members that are not given match every message."""

    act: Act
    amount: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """The amount in the smallest unit of the currency, as element 4 has it."""
    pan_end: Annotated[str, msgspec.Meta(pattern="^[0-9]{1,19}$")] = ""
    mti: Annotated[tuple[str, ...], msgspec.Meta(max_length=16)] = ()
    stan_modulus: Annotated[int, msgspec.Meta(ge=1)] = 1
    """The rule matches messages whose trace number divided by this has the remainder `stan_remainder`."""
    stan_remainder: Annotated[int, msgspec.Meta(ge=0)] = 0
    times: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """The rule matches this number of messages, and then no more."""
    code: Annotated[str, msgspec.Meta(pattern="^[A-Z0-9]{2}$")] = "05"
    seconds: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 5.0
    avs: Annotated[str, msgspec.Meta(pattern="^[A-Z]?$")] = ""
    """The letter of an approval for the check of the address; empty for none."""
    cvv: Annotated[str, msgspec.Meta(pattern="^[A-Z]$")] = "M"
    """The letter of an approval for the check of the security code, if the request has one."""

    def matches(self, message: Message) -> bool:
        fields = message.fields
        return (
            (self.amount is None or int(fields.get(4, "-1")) == self.amount)
            and fields.get(2, "").endswith(self.pan_end)
            and (not self.mti or message.mti in self.mti)
            and int(fields.get(11, "0")) % self.stan_modulus == self.stan_remainder
        )


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[Rule, ...] = ()


_FIRST = ("0100", "0200")
"""A repeat and a reversal are handled as usual, so that every payment of the default rules ends."""

DEFAULT_RULES = (
    Rule(act=Act.DECLINE, mti=_FIRST, amount=10_005, code="05"),
    Rule(act=Act.DECLINE, mti=_FIRST, amount=10_051, code="51"),
    Rule(act=Act.DECLINE, mti=_FIRST, amount=10_054, code="54"),
    Rule(act=Act.DECLINE, mti=_FIRST, amount=10_091, code="91"),
    Rule(act=Act.DELAY, mti=_FIRST, amount=10_101, seconds=5.0),
    Rule(act=Act.DROP, mti=_FIRST, amount=10_102),
    Rule(act=Act.DUPLICATE, mti=_FIRST, amount=10_103),
    Rule(act=Act.LATE, mti=_FIRST, amount=10_104, seconds=45.0),
    Rule(act=Act.GARBAGE, mti=_FIRST, amount=10_105),
    Rule(act=Act.CLOSE, mti=_FIRST, amount=10_106),
    Rule(act=Act.WRONG_AMOUNT, mti=_FIRST, amount=10_107),
    Rule(act=Act.ACT_AND_DROP, mti=_FIRST, amount=10_108),
    Rule(act=Act.APPROVE, mti=_FIRST, amount=10_109, avs="N"),
    Rule(act=Act.APPROVE, mti=_FIRST, amount=10_110, cvv="N"),
)
"""Each act by an amount, so that a developer needs no file."""

_APPROVE = Rule(act=Act.APPROVE)


def read_rules(text: str) -> tuple[Rule, ...]:
    """Reads a file of rules; a ValueError says what is wrong with it."""
    try:
        return msgspec.convert(tomllib.loads(text), _File).rule
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as fault:
        raise ValueError(str(fault)) from None


class RuleBook:
    """The rules in their order, and how often each was used."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self._uses: Counter[int] = Counter()

    def choose(self, message: Message) -> Rule:
        """Returns the first rule that matches a message, or one that approves, and counts its use."""
        for number, rule in enumerate(self._rules):
            if (rule.times is None or self._uses[number] < rule.times) and rule.matches(message):
                self._uses[number] += 1
                return rule
        return _APPROVE
