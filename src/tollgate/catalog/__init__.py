"""Facts as rows: parameters, rules, results, kinds, brands, currencies, countries, limits.
Nothing here does more than answer.
"""

from tollgate.catalog.banking_days import add_banking_days, find_banking_day, is_banking_day
from tollgate.catalog.brand_rows import Account, Brand, Protocol
from tollgate.catalog.brands import BRANDS, CARD_BRANDS, accepts_number, detect_brand, find_brand, passes_luhn
from tollgate.catalog.countries import COUNTRIES, Country
from tollgate.catalog.currencies import CURRENCIES, Currency
from tollgate.catalog.ibans import build_iban, find_bic, fits_bank, is_bic, is_iban, is_in_sepa
from tollgate.catalog.kinds import AUTHENTICATION, FOLLOW_UP_KINDS, INITIAL_KINDS, KINDS, Direction, Kind, Role
from tollgate.catalog.limits import LIMITS, Limits
from tollgate.catalog.parameters import (
    ALIASES,
    PARAMETERS,
    Need,
    Parameter,
    Resolved,
    Secrecy,
    find_parameter,
    resolve,
)
from tollgate.catalog.results import GROUPS, RESULTS, get_result, is_pending, is_review, is_success
from tollgate.catalog.return_reasons import RETURN_REASONS, ReturnReason, find_notice
from tollgate.catalog.rule import OPERATIONS, Rule, Situation
from tollgate.catalog.rule_rows.people import MANDATORY_BROWSER_FIELDS
from tollgate.catalog.rules import RULES, check_rules
from tollgate.catalog.shape import Shape, is_true
from tollgate.catalog.test_accounts import TEST_ACCOUNTS, TestAccount
from tollgate.catalog.test_cards import LEVERS, TEST_CARDS, Behaviour, Lever, TestCard
from tollgate.catalog.throttles import THROTTLES, Throttle
from tollgate.catalog.wallets import Wallet

__all__ = [
    "ALIASES",
    "AUTHENTICATION",
    "BRANDS",
    "CARD_BRANDS",
    "COUNTRIES",
    "CURRENCIES",
    "FOLLOW_UP_KINDS",
    "GROUPS",
    "INITIAL_KINDS",
    "KINDS",
    "LEVERS",
    "LIMITS",
    "MANDATORY_BROWSER_FIELDS",
    "OPERATIONS",
    "PARAMETERS",
    "RESULTS",
    "RETURN_REASONS",
    "RULES",
    "TEST_ACCOUNTS",
    "TEST_CARDS",
    "THROTTLES",
    "Account",
    "Behaviour",
    "Brand",
    "Country",
    "Currency",
    "Direction",
    "Kind",
    "Lever",
    "Limits",
    "Need",
    "Parameter",
    "Protocol",
    "Resolved",
    "ReturnReason",
    "Role",
    "Rule",
    "Secrecy",
    "Shape",
    "Situation",
    "TestAccount",
    "TestCard",
    "Throttle",
    "Wallet",
    "accepts_number",
    "add_banking_days",
    "build_iban",
    "check_rules",
    "detect_brand",
    "find_banking_day",
    "find_bic",
    "find_brand",
    "find_notice",
    "find_parameter",
    "fits_bank",
    "get_result",
    "is_banking_day",
    "is_bic",
    "is_iban",
    "is_in_sepa",
    "is_pending",
    "is_review",
    "is_success",
    "is_true",
    "passes_luhn",
    "resolve",
]
