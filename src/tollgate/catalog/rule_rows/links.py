"""Rules of payment links. The rules that they share with checkouts are in `requests`."""

from collections.abc import Iterable

from tollgate.catalog.brand_rows import AccountType
from tollgate.catalog.brands import find_brand
from tollgate.catalog.parameters.links import LINKS, UNITS_MAX
from tollgate.catalog.parameters.names import WORDS, first_word
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.payment_types import INITIAL_PAYMENT_TYPES, PAYMENT_TYPES
from tollgate.catalog.rule import Fields, Rule, Situation, needs
from tollgate.catalog.throttles import OPERATIONS_WITH_RULES
from tollgate.values import Fault

_LINK = frozenset({"create_payment_link"})
_NAMES = frozenset(row.name for row in LINKS)
_WORDS = frozenset(first_word(name) for name in _NAMES)
_ADDRESSES = ("layout.logo", "layout.backgroundImage", "termsAndConditionsUrl", "privacyPolicyUrl")
_LOOPBACK = ("127.0.0.1", "localhost")
_ACCOUNTS = WORDS[Use.ACCOUNT] | WORDS[Use.WALLET]
_TYPES = frozenset({"paymentType", "overridePaymentType"})
_TAKING = tuple(code for code, row in PAYMENT_TYPES.items() if row.starts_with_shopper_money)
_GIVING = frozenset(INITIAL_PAYMENT_TYPES).difference(_TAKING)


def _check_elsewhere(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return [
        Fault(name, "is accepted only by POST /paybylink/v1", fields.get(name)) for name in fields if name in _NAMES
    ]


def _check_lifetime(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    count, unit = fields.get("validUntil"), fields.get("validUntilUnit", "DAY")
    most = UNITS_MAX[unit]
    if count is None or 1 <= int(count) <= most:
        return ()
    accepted = f"a number from 1 to {most}" if most > 1 else "1"
    return (Fault("validUntil", f"must be {accepted} with validUntilUnit {unit}", count),)


def _check_addresses(fields: Fields, situation: Situation) -> Iterable[Fault]:
    """A test host takes pictures of the developer's own machine, which has no certificate."""
    for name in _ADDRESSES:
        scheme, _, rest = fields.get(name, "").partition("://")
        host = rest.partition("/")[0].partition(":")[0]
        if scheme == "http" and (situation.host_is_live or host not in _LOOPBACK):
            yield Fault(name, "must be an https URL", fields.get(name))


def _check_accounts(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    names = [name for name in fields if first_word(name) in _ACCOUNTS]
    return [Fault(name, "a payment link has no account in it: its shopper gives one") for name in names]


def _check_type(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    # A credit would pay anybody who has the link.
    sent = [(name, text) for name, text in fields.items() if text in _GIVING and first_word(name) in _TYPES]
    return [Fault(name, f"must be one of [{', '.join(_TAKING)}]", text) for name, text in sent]


def _check_brand(fields: Fields, situation: Situation) -> Iterable[Fault]:
    code = fields.get("paymentBrand", "")
    brand = find_brand(code, lenient=situation.is_lenient)
    if brand is None or brand.account is not AccountType.WALLET:
        return ()
    # The page's own policy keeps a wallet's script away, and a wallet knows shops by their registered hosts.
    return (Fault("paymentBrand", "a payment link cannot be paid with a wallet", code),)


LINK_RULES = (
    Rule(
        "link_parameters",
        "What describes a payment link and its page is accepted only by POST /paybylink/v1.",
        _check_elsewhere,
        groups=_WORDS,
        operations=OPERATIONS_WITH_RULES - _LINK,
    ),
    Rule(
        "link_lifetime",
        "A payment link lives a year at most.",
        _check_lifetime,
        groups=frozenset({"validUntil"}),
        operations=_LINK,
    ),
    Rule(
        "link_unit",
        "validUntilUnit calls for validUntil.",
        needs("validUntilUnit", "validUntil"),
        groups=frozenset({"validUntilUnit"}),
        operations=_LINK,
    ),
    Rule(
        "link_addresses",
        "Pictures and links of a payment link's page are https; on a test host also http on loopback.",
        _check_addresses,
        groups=frozenset(first_word(name) for name in _ADDRESSES),
        operations=_LINK,
    ),
    Rule(
        "link_accounts",
        "A payment link has no card and no other account in it.",
        _check_accounts,
        groups=_ACCOUNTS,
        operations=_LINK,
    ),
    Rule("link_type", f"A payment link takes money: it is one of {', '.join(_TAKING)}.", _check_type, operations=_LINK),
    Rule(
        "link_brand",
        "A payment link cannot be paid with a wallet such as Apple Pay or Google Pay.",
        _check_brand,
        groups=frozenset({"paymentBrand"}),
        operations=_LINK,
    ),
)
