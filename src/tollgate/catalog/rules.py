"""Applies the cross-field rules to a request and lists every fault. The rows are in `rule_rows`."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

from tollgate.catalog.rule import Check, Fields, Rule, Situation
from tollgate.catalog.rule_rows.accounts import ACCOUNT_RULES
from tollgate.catalog.rule_rows.baskets import BASKET_RULES
from tollgate.catalog.rule_rows.links import LINK_RULES
from tollgate.catalog.rule_rows.people import PEOPLE_RULES
from tollgate.catalog.rule_rows.registrations import REGISTRATION_RULES
from tollgate.catalog.rule_rows.requests import REQUEST_RULES
from tollgate.catalog.throttles import OPERATIONS_WITH_RULES
from tollgate.values import Fault

RULES: tuple[Rule, ...] = (
    *REQUEST_RULES,
    *REGISTRATION_RULES,
    *ACCOUNT_RULES,
    *PEOPLE_RULES,
    *BASKET_RULES,
    *LINK_RULES,
)
"""The order is that in which faults are listed."""

_BY_OPERATION: Mapping[str, tuple[Rule, ...]] = {
    operation: tuple(rule for rule in RULES if not rule.operations or operation in rule.operations)
    for operation in OPERATIONS_WITH_RULES
}


_CHOICES_KEPT = 512


def check_rules(fields: Fields, situation: Situation, groups_present: AbstractSet[str]) -> list[Fault]:
    """Lists faults in the order of the rows; a rule none of whose groups was sent is skipped."""
    faults: list[Fault] = []
    for check in choose_checks(situation, frozenset(groups_present)):
        if found := check(fields, situation):
            faults += found
    return faults


def choose_checks(situation: Situation, groups: frozenset[str]) -> tuple[Check, ...]:
    """Returns the checks of the rules that are asked about these groups, in the order of the rows."""
    return _choose_checks(situation.operation, situation.is_lenient, groups)


@lru_cache(_CHOICES_KEPT)
def _choose_checks(operation: str, is_lenient: bool, groups: frozenset[str]) -> tuple[Check, ...]:
    """Is cached, because a shop's requests differ in their values and hardly ever in their groups."""
    return tuple(
        rule.check
        for rule in _BY_OPERATION[operation]
        if not (rule.groups and rule.groups.isdisjoint(groups)) and (rule.binds_lenient or not is_lenient)
    )
