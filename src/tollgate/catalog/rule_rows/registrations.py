"""Rules of requests about registrations. Whether the state of a registration allows a request is a result."""

from collections.abc import Iterable, Mapping

from tollgate.catalog.parameters.names import PARAMETERS, first_word
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.rule import Fields, Rule, Situation
from tollgate.values import Fault

_TYPES: Mapping[str, tuple[str, ...]] = {
    "create_registration": ("RG",),
    "update_registration": ("RR", "CF"),
    "delete_registration": ("DR",),
    "extend_registration": ("TE",),
}

_FIXED = tuple(name for name, row in PARAMETERS.items() if Use.IDENTITY in row.use)


def _check_type(fields: Fields, situation: Situation) -> Iterable[Fault]:
    payment_type, payment_types = fields.get("paymentType"), _TYPES[situation.operation]
    if payment_type is None or payment_type in payment_types:
        return ()
    return (Fault("paymentType", f"must be one of [{', '.join(payment_types)}], or left out", payment_type),)


def _check_fixed(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return [Fault(name, "cannot be changed: register the other account instead") for name in _FIXED if name in fields]


def _check_alone(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    named_id = fields.get("referenceUuid")
    if named_id is None:
        return ()
    return (Fault("referenceUuid", "a payment with a registration follows no other", named_id),)


REGISTRATION_RULES = (
    Rule(
        "registration_type",
        "A request about a registration names no type, or its own: RG to store, RR to change, CF to confirm, DR to "
        "remove, TE to extend.",
        _check_type,
        operations=frozenset(_TYPES),
    ),
    Rule(
        "registration_account",
        "An update does not change which account is stored: numbers, bank, token and wallet stay as they are.",
        _check_fixed,
        groups=frozenset(map(first_word, _FIXED)),
        operations=frozenset({"update_registration"}),
    ),
    Rule(
        "registration_reference",
        "A payment at a registration's own address does not name an earlier payment.",
        _check_alone,
        operations=frozenset({"pay_registration"}),
    ),
)
