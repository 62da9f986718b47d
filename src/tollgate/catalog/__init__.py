"""Facts as rows: parameters, rules, results, kinds, brands, currencies, countries, limits.
Nothing here does more than answer.
"""

from tollgate.catalog.banking_days import add_banking_days, find_banking_day, is_banking_day
from tollgate.catalog.brand_rows import AccountType, Brand, Protocol
from tollgate.catalog.brands import BRANDS, CARD_BRANDS, accepts_number, detect_brand, find_brand, passes_luhn
from tollgate.catalog.card_numbers import (
    CARD_NUMBER_MIN,
    OWN_NUMBER_MIN,
    contains_number,
    has_long_run,
    hide_card_numbers,
    keep_digits,
    normalize_iban,
    normalize_number,
)
from tollgate.catalog.countries import COUNTRIES, Country
from tollgate.catalog.currencies import CURRENCIES, Currency
from tollgate.catalog.decline import Decline, Facts
from tollgate.catalog.decline_rows import DECLINES
from tollgate.catalog.declines import find_decline
from tollgate.catalog.ibans import (
    build_iban,
    find_bic,
    fits_bank,
    is_bic,
    is_iban,
    is_in_sepa,
    list_sepa_lengths,
)
from tollgate.catalog.limits import LIMITS, Limits
from tollgate.catalog.mandates import MANDATE_TEXTS, render_mandate
from tollgate.catalog.parameters import (
    ALIASES,
    IGNORED_BESIDE,
    PARAMETERS,
    Need,
    Parameter,
    Resolved,
    Secrecy,
    find_parameter,
    resolve,
)
from tollgate.catalog.payment_types import (
    AUTHENTICATION,
    FOLLOW_UP_PAYMENT_TYPES,
    INITIAL_PAYMENT_TYPES,
    PAYMENT_TYPES,
    Direction,
    PaymentType,
    Role,
)
from tollgate.catalog.postal_codes import POSTAL_CODES, find_state_code
from tollgate.catalog.result_causes import CAUSES, Cause, Origin
from tollgate.catalog.results import GROUPS, RESULTS, get_result, is_pending, is_review, is_success
from tollgate.catalog.return_reasons import RETURN_REASONS, ReturnReason, find_notice
from tollgate.catalog.rule import OPERATIONS, Rule, Situation
from tollgate.catalog.rule_rows.people import MANDATORY_BILLING_FIELDS, MANDATORY_BROWSER_FIELDS
from tollgate.catalog.rules import RULES, check_rules
from tollgate.catalog.shape import WEB_SCHEMES, Shape, is_true, is_unsafe_scheme, may_return_to
from tollgate.catalog.suggestions import suggest_name
from tollgate.catalog.test_accounts import TEST_ACCOUNTS, TestAccount
from tollgate.catalog.test_cards import SIMULATOR_OVERRIDES, TEST_CARDS, Behaviour, SimulatorOverride, TestCard
from tollgate.catalog.throttles import THROTTLES, WRONG_TOKEN, Throttle
from tollgate.catalog.wallets import WALLET_SHEETS, Wallet, WalletSheet

__all__ = [
    "ALIASES",
    "AUTHENTICATION",
    "BRANDS",
    "CARD_BRANDS",
    "CARD_NUMBER_MIN",
    "CAUSES",
    "COUNTRIES",
    "CURRENCIES",
    "DECLINES",
    "FOLLOW_UP_PAYMENT_TYPES",
    "GROUPS",
    "IGNORED_BESIDE",
    "INITIAL_PAYMENT_TYPES",
    "LIMITS",
    "MANDATE_TEXTS",
    "MANDATORY_BILLING_FIELDS",
    "MANDATORY_BROWSER_FIELDS",
    "OPERATIONS",
    "OWN_NUMBER_MIN",
    "PARAMETERS",
    "PAYMENT_TYPES",
    "POSTAL_CODES",
    "RESULTS",
    "RETURN_REASONS",
    "RULES",
    "SIMULATOR_OVERRIDES",
    "TEST_ACCOUNTS",
    "TEST_CARDS",
    "THROTTLES",
    "WALLET_SHEETS",
    "WEB_SCHEMES",
    "WRONG_TOKEN",
    "AccountType",
    "Behaviour",
    "Brand",
    "Cause",
    "Country",
    "Currency",
    "Decline",
    "Direction",
    "Facts",
    "Limits",
    "Need",
    "Origin",
    "Parameter",
    "PaymentType",
    "Protocol",
    "Resolved",
    "ReturnReason",
    "Role",
    "Rule",
    "Secrecy",
    "Shape",
    "SimulatorOverride",
    "Situation",
    "TestAccount",
    "TestCard",
    "Throttle",
    "Wallet",
    "WalletSheet",
    "accepts_number",
    "add_banking_days",
    "build_iban",
    "check_rules",
    "contains_number",
    "detect_brand",
    "find_banking_day",
    "find_bic",
    "find_brand",
    "find_decline",
    "find_notice",
    "find_parameter",
    "find_state_code",
    "fits_bank",
    "get_result",
    "has_long_run",
    "hide_card_numbers",
    "is_banking_day",
    "is_bic",
    "is_iban",
    "is_in_sepa",
    "is_pending",
    "is_review",
    "is_success",
    "is_true",
    "is_unsafe_scheme",
    "keep_digits",
    "list_sepa_lengths",
    "may_return_to",
    "normalize_iban",
    "normalize_number",
    "passes_luhn",
    "render_mandate",
    "resolve",
    "suggest_name",
]
