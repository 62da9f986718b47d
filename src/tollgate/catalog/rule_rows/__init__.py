"""The cross-field rules, a table per subject, joined in the order faults are listed.
How they are asked is told in rules.
"""

from __future__ import annotations

from tollgate.catalog.rule_rows.accounts import ACCOUNT_RULES
from tollgate.catalog.rule_rows.baskets import BASKET_RULES
from tollgate.catalog.rule_rows.links import LINK_RULES
from tollgate.catalog.rule_rows.people import PEOPLE_RULES
from tollgate.catalog.rule_rows.registrations import REGISTRATION_RULES
from tollgate.catalog.rule_rows.requests import REQUEST_RULES

ROWS = (*REQUEST_RULES, *REGISTRATION_RULES, *ACCOUNT_RULES, *PEOPLE_RULES, *BASKET_RULES, *LINK_RULES)

__all__ = ["ROWS"]
