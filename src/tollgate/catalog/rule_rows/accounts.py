"""Rules of brands and accounts. Whether a number fits its brand is a result, not a rule."""

from collections.abc import Iterable

from tollgate.catalog.brand_rows import AccountType, Brand, Need
from tollgate.catalog.brand_terms import fault_need, find_question, is_met_by_account, list_missing
from tollgate.catalog.brands import BRANDS, detect_brand, find_brand
from tollgate.catalog.ibans import find_bic
from tollgate.catalog.rule import Fields, Rule, Situation, fault_missing, required
from tollgate.catalog.wallets import Wallet
from tollgate.values import Fault

_CHARGING = frozenset({"create_payment", "create_registration", "authenticate", "submit_checkout"})
"""These operations have an account of their own, unless they name a registration."""
_PREPARING = frozenset({"create_checkout", "create_payment_link"})

_WALLETS = tuple(wallet.value for wallet in Wallet)
_TOKENS = ("tokenAccount.number", *(f"{wallet}.paymentToken" for wallet in _WALLETS))
_ACCOUNT_PREFIXES = (
    "card.",
    "bankAccount.",
    "virtualAccount.",
    "tokenAccount.",
    *(f"{wallet}." for wallet in _WALLETS),
)
_OTHER_ACCOUNTS = ("card.number", "tokenAccount.number", "registrationId")
_CARD_FIELDS = ("card.number", "card.expiryMonth", "card.expiryYear")
_NUMBERS = ("card.number", "tokenAccount.number", "bankAccount.iban", "bankAccount.number")
_OPENED_WALLET_FIELDS = (*_CARD_FIELDS, "threeDSecure.verificationId", "threeDSecure.eci")


def _names_registration(fields: Fields) -> bool:
    return "registrationId" in fields or "referenceUuid" in fields


def _brand_of(fields: Fields, situation: Situation) -> Brand | None:
    # Every rule about brands asks this, and nearly every request has the code of a row.
    return BRANDS.get(fields.get("paymentBrand", "")) or _find_brand(fields, situation)


def _find_brand(fields: Fields, situation: Situation) -> Brand | None:
    code = fields.get("paymentBrand")
    brand = find_brand(code, lenient=situation.is_lenient) if code else None
    if brand is None and (code is None or situation.is_lenient):
        # A lenient channel decides about an odd spelling by the number, as if no brand had been named.
        return detect_brand(fields.get("card.number") or fields.get("tokenAccount.number") or "")
    return brand


def _check_brand_known(fields: Fields, situation: Situation) -> Iterable[Fault]:
    code = fields.get("paymentBrand")
    if code is None or _brand_of(fields, situation) is not None:
        return ()
    return (Fault("paymentBrand", "must be a brand of this gateway", code),)


def _check_brand_told(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if "paymentBrand" in fields or _names_registration(fields) or not _has_account(fields):
        return ()
    # A card without its number is a fault of the card, not of the brand.
    is_half_card = "card.number" not in fields and any(name.startswith("card.") for name in fields)
    return () if is_half_card or _brand_of(fields, situation) is not None else fault_missing(("paymentBrand",), fields)


def _check_account_present(fields: Fields, situation: Situation) -> Iterable[Fault]:
    if "card.number" in fields or _names_registration(fields) or _has_account(fields):
        return ()
    code = fields.get("paymentBrand")
    brand = _brand_of(fields, situation)
    is_card = brand.account is AccountType.CARD if brand else code is None
    return (Fault("paymentBrand", "card properties must be set", code),) if is_card else ()


def _has_account(fields: Fields) -> bool:
    return any(name.startswith(_ACCOUNT_PREFIXES) for name in fields)


def _check_card_complete(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    missing = fault_missing(_CARD_FIELDS, fields)
    return () if not missing or _names_registration(fields) or not fields.keys().isdisjoint(_TOKENS) else missing


def _check_wallet_mode(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    faults: list[Fault] = []
    for wallet in _WALLETS:
        token, source = f"{wallet}.paymentToken", f"{wallet}.source"
        if token in fields and source in fields:
            faults.append(Fault(source, f"must not be sent together with {token}", fields.get(source)))
        elif source in fields:
            faults += fault_missing(_OPENED_WALLET_FIELDS, fields)
        elif token not in fields and any(name.startswith(f"{wallet}.") for name in fields):
            faults.append(_fault_wallet(wallet))
    return faults


def _fault_wallet(wallet: str) -> Fault:
    token = f"{wallet}.paymentToken"
    return Fault(token, f"{token} may not be empty, nor {wallet}.source where the token was opened elsewhere")


def _check_wallet_brand(fields: Fields, situation: Situation) -> Iterable[Fault]:
    brand = _brand_of(fields, situation)
    if brand is None or not brand.wallet or _names_registration(fields) or "tokenAccount.number" in fields:
        return ()
    if any(name.startswith(f"{brand.wallet}.") for name in fields):
        return ()
    return (_fault_wallet(brand.wallet),)


def _check_wallet_alone(fields: Fields, situation: Situation) -> Iterable[Fault]:
    """A second account, or a brand that is not charged by card, would leave open whose money is taken."""
    closed = [wallet for wallet in _WALLETS if f"{wallet}.paymentToken" in fields and f"{wallet}.source" not in fields]
    tokens = [f"{wallet}.paymentToken" for wallet in closed]
    if not tokens or "referenceUuid" in fields:
        return ()
    others = [*tokens[1:], *(name for name in _OTHER_ACCOUNTS if name in fields)]
    faults = [Fault(name, f"must not be sent together with {tokens[0]}") for name in others]
    brand = _brand_of(fields, situation)
    if brand is not None and brand.wallet not in closed and brand.account is not AccountType.CARD:
        faults.append(Fault("paymentBrand", f"is not paid by {tokens[0]}", fields.get("paymentBrand")))
    return faults


def _check_bank(fields: Fields, situation: Situation) -> Iterable[Fault]:
    brand = _brand_of(fields, situation)
    if brand is None or brand.method != "DD" or _names_registration(fields):
        return ()
    faults = fault_missing(("bankAccount.holder",), fields)
    if "bankAccount.iban" in fields:
        return faults
    if "bankAccount.number" not in fields:
        return [*faults, Fault("bankAccount.iban", "bankAccount.iban or bankAccount.number may not be empty")]
    # A number needs its bank code, because it is unique only within it.
    return [*faults, *fault_missing(("bankAccount.bankCode",), fields)]


def _check_bank_named(fields: Fields, situation: Situation) -> Iterable[Fault]:
    brand = _brand_of(fields, situation)
    if brand is None or brand.method != "DD" or _names_registration(fields):
        return ()
    if "bankAccount.bankCode" in fields or "bankAccount.bic" in fields:
        return ()
    iban = fields.get("bankAccount.iban")
    if iban is None or find_bic(iban) is not None:
        return ()
    return (Fault("bankAccount.bic", "bankAccount.bic or bankAccount.bankCode may not be empty"),)


def _check_brand_needs(fields: Fields, situation: Situation) -> Iterable[Fault]:
    # What a stored account lacks is known only when it has been read.
    if _names_registration(fields):
        return ()
    return [fault_need(need) for need in _list_missing(fields, situation)]


def _check_brand_prepared(fields: Fields, situation: Situation) -> Iterable[Fault]:
    return [fault_need(need) for need in _list_missing(fields, situation) if find_question(need) is None]


def _list_missing(fields: Fields, situation: Situation) -> list[Need]:
    brand = _brand_of(fields, situation)
    if brand is None or not (brand.needs or brand.strict_needs):
        return []
    missing = list_missing(brand, fields, is_lenient=situation.is_lenient)
    if situation.operation == "create_registration" or "paymentType" not in fields:
        # The payments with the stored account bring the rest.
        return [need for need in missing if is_met_by_account(need)]
    return missing


def _check_stored_alone(fields: Fields, situation: Situation) -> Iterable[Fault]:
    """A second account would leave open whose money is taken."""
    if situation.operation != "pay_registration" and "registrationId" not in fields:
        return ()
    sent = [name for name in (*_NUMBERS, "virtualAccount.accountId") if name in fields]
    return [Fault(name, "must not be sent together with a registration") for name in sent]


_BRAND = frozenset({"paymentBrand"})

ACCOUNT_RULES = (
    Rule(
        "brand_known",
        "paymentBrand is a code of the brand list; a lenient channel also takes spellings the card number can settle.",
        _check_brand_known,
        groups=_BRAND,
    ),
    Rule(
        "account_present",
        "Without a stored account, a payment brings one: a card brand, or no brand at all, calls for card fields.",
        _check_account_present,
        operations=_CHARGING,
    ),
    Rule(
        "brand_told",
        "paymentBrand may be left out only when a card number shows the brand.",
        _check_brand_told,
        operations=_CHARGING,
    ),
    Rule(
        "card_complete",
        "Any card field calls for card.number, card.expiryMonth and card.expiryYear, unless a token or a stored "
        "account stands for the card.",
        _check_card_complete,
        groups=frozenset({"card"}),
        operations=_CHARGING,
    ),
    Rule(
        "stored_alone",
        "A payment with a stored account brings no second one; a lenient channel ignores it.",
        _check_stored_alone,
        groups=frozenset({"card", "tokenAccount", "bankAccount", "virtualAccount"}),
        operations=frozenset({"create_payment", "pay_registration", "authenticate", "submit_checkout"}),
        binds_lenient=False,
    ),
    Rule(
        "wallet_mode",
        "A wallet sends its encrypted paymentToken, or source with card.number, card.expiryMonth, card.expiryYear, "
        "threeDSecure.verificationId and threeDSecure.eci; never both.",
        _check_wallet_mode,
        groups=frozenset(_WALLETS),
        operations=_CHARGING,
    ),
    Rule(
        "wallet_brand",
        "A wallet's brand calls for that wallet's fields.",
        _check_wallet_brand,
        groups=_BRAND,
        operations=_CHARGING,
    ),
    Rule(
        "wallet_alone",
        "A wallet's paymentToken is the only account, and paymentBrand that wallet's or a card's.",
        _check_wallet_alone,
        groups=frozenset(_WALLETS),
        operations=_CHARGING,
    ),
    Rule(
        "token_complete",
        "Any tokenAccount field calls for tokenAccount.number and tokenAccount.type.",
        required("tokenAccount.number", "tokenAccount.type"),
        groups=frozenset({"tokenAccount"}),
        operations=_CHARGING,
    ),
    Rule(
        "bank_account",
        "A direct debit needs bankAccount.holder and one of bankAccount.iban and bankAccount.number, the latter with "
        "bankAccount.bankCode.",
        _check_bank,
        groups=_BRAND,
        operations=_CHARGING,
    ),
    Rule(
        "bank_named",
        "An IBAN needs one of bankAccount.bic and bankAccount.bankCode beside it, unless it names the bank; a "
        "lenient channel takes any IBAN without.",
        _check_bank_named,
        groups=_BRAND,
        operations=_CHARGING,
        binds_lenient=False,
    ),
    Rule(
        "brand_needs",
        "Some brands cannot start without fields of their own, as the brand list says; a lenient channel asks for "
        "fewer of them.",
        _check_brand_needs,
        groups=_BRAND,
        operations=_CHARGING,
    ),
    Rule(
        "brand_prepared",
        "A checkout or a payment link for one brand has the fields that the brand needs, unless the payment form asks "
        "for them.",
        _check_brand_prepared,
        groups=_BRAND,
        operations=_PREPARING,
    ),
)
