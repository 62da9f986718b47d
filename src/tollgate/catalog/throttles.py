"""The operations of the interface: how often each may be asked for, which scope of a token it needs, and its rules.

On a live host every limit is on. On a test host the configuration switches them on, but for the checkout's status.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.scopes import Scope
from tollgate.values import SECOND

_HOUR_S = 3600
_MANY = 12_000
"""A minute's share of one entity, 200 a second: more than a busy shop sends, less than a host can serve."""
_PER_ID = 200
_READS = 120
_STORED_READS = 1_000
_LISTS = 120
_TESTS = 20
_PAGES = 3_000
"""Shoppers of one carrier may share an address, and every page asks several times."""
WRONG_TOKEN = "wrong_token"
"""The throttle that counts only requests with an unknown credential."""


@dataclass(frozen=True, slots=True)
class Throttle:
    operation: str
    counted_by: Literal["entity", "id", "row", "address"]
    """Requests are counted by caller, by id, by the row of the id (which all processes share) or by address."""
    count: int
    window_s: int = 60
    is_on: bool = False
    """It applies on a test host without being switched on."""
    has_rules: bool = False
    """Its parameters are checked by the cross-field rules."""
    scope: Scope | None = None
    """The scope that a token with scopes needs; None where such a token is refused, or no token is asked for."""


_ROWS = (
    # The specification sets this number, and it applies to all processes together.
    Throttle("read_checkout", "row", 2, is_on=True, scope=Scope.READ),
    Throttle(
        "submit_checkout",
        "address",
        LIMITS.checkout_attempts_per_address_max,
        LIMITS.checkout_lifetime // SECOND,
        has_rules=True,
    ),
    Throttle(
        "abandon_checkout", "address", LIMITS.checkout_attempts_per_address_max, LIMITS.checkout_lifetime // SECOND
    ),
    Throttle(WRONG_TOKEN, "address", 60),
    Throttle("create_checkout", "entity", _MANY, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("update_checkout", "id", _PER_ID, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("delete_checkout", "id", _PER_ID, scope=Scope.PAYMENTS),
    Throttle("create_payment_link", "entity", _MANY, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("read_payment_link", "id", _READS, scope=Scope.READ),
    Throttle("delete_payment_link", "id", _PER_ID, scope=Scope.PAYMENTS),
    Throttle("read_link_payment", "id", _READS, scope=Scope.READ),
    Throttle("payment_link_page", "address", _PAGES),
    Throttle(
        "leave_link_attempt", "address", LIMITS.checkout_attempts_per_address_max, LIMITS.checkout_lifetime // SECOND
    ),
    Throttle("payment_link_files", "address", _PAGES),
    Throttle("create_payment", "entity", _MANY, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("read_payment", "id", _READS, scope=Scope.READ),
    Throttle("follow_up", "id", _PER_ID, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("review_payment", "id", _PER_ID, scope=Scope.REFUNDS),
    Throttle("create_registration", "entity", _MANY, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("read_registration", "id", _STORED_READS, _HOUR_S, scope=Scope.READ),
    Throttle("read_secure_registration", "id", _STORED_READS, _HOUR_S, scope=Scope.READ),
    Throttle("update_registration", "id", _PER_ID, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("delete_registration", "id", _PER_ID, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("extend_registration", "id", _PER_ID, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("pay_registration", "id", _PER_ID, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("authenticate", "entity", _MANY, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("read_authentication", "id", _READS, scope=Scope.READ),
    Throttle("schedule", "entity", _MANY, has_rules=True, scope=Scope.PAYMENTS),
    Throttle("read_schedule", "id", _STORED_READS, _HOUR_S, scope=Scope.READ),
    Throttle("reschedule", "id", _PER_ID, scope=Scope.PAYMENTS),
    Throttle("deschedule", "id", _PER_ID, scope=Scope.PAYMENTS),
    Throttle("delete_schedule", "id", _PER_ID, scope=Scope.PAYMENTS),
    Throttle("query", "id", _READS, has_rules=True, scope=Scope.REPORTS),
    Throttle("query_list", "entity", _LISTS, has_rules=True, scope=Scope.REPORTS),
    Throttle("reconciliations", "entity", _LISTS, has_rules=True, scope=Scope.REPORTS),
    Throttle("sellers", "entity", _LISTS, has_rules=True, scope=Scope.REPORTS),
    Throttle("create_webhook", "entity", _LISTS),
    Throttle("list_webhooks", "entity", _LISTS),
    Throttle("read_webhook", "id", _READS),
    Throttle("update_webhook", "id", _PER_ID),
    Throttle("delete_webhook", "id", _PER_ID),
    # Each one makes this host call the address of the endpoint.
    Throttle("test_webhook", "id", _TESTS),
    Throttle("rotate_webhook", "id", _TESTS),
    Throttle("result_codes", "address", _LISTS),
    Throttle("describe_form", "address", _PAGES),
    Throttle("send_to_provider", "address", _PAGES),
    Throttle("shopper_arrives", "address", _PAGES),
    Throttle("shopper_submits", "address", _PAGES),
    Throttle("static", "address", _PAGES),
    Throttle("favicon", "address", _PAGES),
    Throttle("host_name", "address", _PAGES),
    Throttle("payment_form_script", "address", _PAGES),
    Throttle("payment_form_files", "address", _PAGES),
    Throttle("payment_form_frame", "address", _PAGES),
    Throttle("docs", "address", _PAGES),
    Throttle("docs_files", "address", _PAGES),
    Throttle("office", "address", _PAGES),
    Throttle("office_files", "address", _PAGES),
    Throttle("office_sign_in_page", "address", _PAGES),
    # Each of these takes 100 ms of a processor, and a guess of a password is one.
    Throttle("office_sign_in", "address", 60),
    Throttle("office_second_factor", "address", 60),
    # An issuer or a network calls for all its cardholders from a few addresses.
    Throttle("take_result", "address", _MANY),
    Throttle("take_method", "address", _MANY),
    Throttle("take_token_event", "address", _MANY),
    Throttle("take_acquirer_event", "address", _MANY),
)

THROTTLES: Mapping[str, Throttle] = MappingProxyType({row.operation: row for row in _ROWS})

OPERATIONS_WITH_RULES = frozenset(row.operation for row in _ROWS if row.has_rules) | {"search"}
"""A search shares its limit with `query_list`, and has rules of its own."""
