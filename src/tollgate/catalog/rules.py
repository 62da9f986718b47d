"""The engine over the cross-field rules: asks those worth asking and lists every fault. The rows stand in rule_rows."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from tollgate.catalog.rule import OPERATIONS, Fields, Rule, Situation
from tollgate.catalog.rule_rows import ROWS
from tollgate.values import Fault

RULES: tuple[Rule, ...] = ROWS

_BY_OPERATION: Mapping[str, tuple[Rule, ...]] = {
    operation: tuple(rule for rule in RULES if not rule.operations or operation in rule.operations)
    for operation in OPERATIONS
}


def check_rules(fields: Fields, situation: Situation, groups_present: AbstractSet[str]) -> list[Fault]:
    """Faults in the order of the rows; a rule none of whose groups was sent is not even asked."""
    faults: list[Fault] = []
    for rule in _BY_OPERATION[situation.operation]:
        if rule.groups and rule.groups.isdisjoint(groups_present):
            continue
        if situation.is_lenient and not rule.binds_lenient:
            continue
        faults.extend(rule.check(fields, situation))
    return faults
