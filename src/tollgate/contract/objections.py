"""Checks that a well-formed order can fail before anything is sent, each with its own result code. Pure."""

import re
from collections.abc import Iterable, Mapping
from datetime import date

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import AccountType, Brand, Protocol
from tollgate.catalog.brands import accepts_number, detect_brand, passes_luhn
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.declines import Facts, find_decline
from tollgate.catalog.ibans import build_iban, fits_bank, is_in_sepa
from tollgate.catalog.parameters.names import find_currency_name
from tollgate.catalog.payment_types import PAYMENT_TYPES
from tollgate.contract.fields import Fields
from tollgate.contract.sellers import read_split
from tollgate.payments.accounts import BankAccount, CardAccount, Instrument, TokenAccount
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Authentication
from tollgate.payments.splits import sum_split
from tollgate.values import Money, read_hundredths

# Bound once, because looking a member up in its enumeration takes as long as a call.
_CARD = AccountType.CARD
_COMMERCE_INDICATORS = frozenset({"00", "01", "02", "05", "06", "07"})
_BASE64 = re.compile("[A-Za-z0-9+/_-]+={0,2}")


def find_account_objection(
    values: Mapping[str, str], account: Instrument, brand: Brand, *, cvv_required: bool, today: date
) -> str | None:
    match account:
        case CardAccount():
            network = brand if brand.account is _CARD else detect_brand(values["card.number"])
            if network is None:
                return codes.INVALID_NUMBER
            expiry = int(account.expiry_year), int(account.expiry_month)
            # The wallet has authenticated the card, and has no security code.
            required = cvv_required and account.wallet is None
            return find_card_objection(
                values["card.number"], network, expiry, values.get("card.cvv"), cvv_required=required, today=today
            )
        case TokenAccount():
            # A network's token is checked like a card number; other tokens have no known form.
            if account.type == "NETWORK" and not passes_luhn(values["tokenAccount.number"]):
                return codes.INVALID_NUMBER
            return find_token_expiry(account, today)
        case BankAccount() if brand.protocol is Protocol.SEPA:
            return find_bank_objection(values, account)
        case _:
            return None


def find_token_expiry(token: TokenAccount, today: date) -> str | None:
    if token.expiry_year and token.expiry_month:
        return (
            codes.NETWORK_TOKEN_EXPIRED
            if (int(token.expiry_year), int(token.expiry_month)) < (today.year, today.month)
            else None
        )
    return None


def find_bank_objection(values: Mapping[str, str], account: BankAccount) -> str | None:
    if account.iban is None:
        return codes.INVALID_ACCOUNT_NUMBER if "bankAccount.country" in values else codes.UNKNOWN_BANK_COUNTRY
    country, bank_code = values.get("bankAccount.country"), values.get("bankAccount.bankCode", "")
    # An IBAN that was built from bank code and number may still contradict the BIC.
    iban = values.get("bankAccount.iban") or build_iban(country or "", bank_code, values["bankAccount.number"])
    fits = iban is not None and fits_bank(iban, account.bic, account.bank_code)
    if iban is None or not fits or country not in (None, iban[:2].upper()):
        return codes.BANK_MISMATCH
    # A bank would refuse the whole file because of one account that it cannot reach.
    return None if is_in_sepa(account.country or "") else codes.CURRENCY_NOT_CONFIGURED


def find_proof_objection(proof: Authentication | None) -> str | None:
    """Checks the result of an authentication made elsewhere; schemes would not recognize other values."""
    if proof is None:
        return None
    if proof.eci is not None and proof.eci not in _COMMERCE_INDICATORS:
        return codes.INVALID_ECI
    if proof.verification_id is not None and _BASE64.fullmatch(proof.verification_id) is None:
        return codes.INVALID_VERIFICATION_ID
    return None


def find_card_objection(
    number: str, brand: Brand, expiry: tuple[int, int], cvv: str | None, *, cvv_required: bool, today: date
) -> str | None:
    """`expiry` is (year, month); a card is good until the last day of its month."""
    if not accepts_number(brand, number):
        return codes.INVALID_NUMBER if brand.luhn and not passes_luhn(number) else codes.NUMBER_OF_OTHER_BRAND
    if expiry < (today.year, today.month):
        return codes.CARD_EXPIRED
    if cvv is None:
        return codes.CVV_MISSING if cvv_required else None
    return None if len(cvv) == brand.cvv_length else codes.CVV_WRONG_LENGTH


def find_content_objection(fields: Fields, channel: Channel, today: date, brand: Brand | None = None) -> str | None:
    """Finds values that are well formed and make no sense, such as an e-mail address without an @."""
    if "marketPlace" in fields.groups and (objection := _find_split_objection(fields)):
        return objection
    facts = Facts(today, brand, channel.creditor.iban if channel.creditor else "")
    return find_decline(fields.values, facts, is_lenient=channel.is_lenient)


def _find_split_objection(fields: Fields) -> str | None:
    """Finds shares that are not those of the amount: a schedule may be older than the rule about their sum."""
    split, amount, currency = read_split(fields), fields.get("amount"), fields.get("currency")
    if not split or amount is None or currency is None:
        return None
    if sum_split(split) != read_hundredths(amount):
        return codes.AMOUNTS_CONTRADICT
    return find_fraction_objection(Money(share.amount, currency) for share in split)


def find_amount_objection(payment_type: str, money: Money) -> str | None:
    if money.hundredths == 0 and not ((row := PAYMENT_TYPES.get(payment_type)) and row.can_be_zero):
        return codes.AMOUNT_TOO_SMALL
    return find_fraction_objection([money])


def find_fraction_objection(amounts: Iterable[Money]) -> str | None:
    """Finds amounts that their currency cannot express, such as half a yen."""
    for money in amounts:
        if money.hundredths % 100 and CURRENCIES[money.currency].exponent == 0:
            return codes.AMOUNT_MALFORMED
    return None


def find_detail_objection(values: Mapping[str, str], currency: str) -> str | None:
    """Finds such amounts among those that are forwarded beside the one of the payment, whose currency is `currency`."""
    named = [(text, found) for name, text in values.items() if (found := find_currency_name(name)) is not None]
    if not named:
        return None
    return find_fraction_objection(
        Money(read_hundredths(text), values.get(currency_name, currency)) for text, currency_name in named
    )
