"""The accounts of requests: cards, tokens, bank and virtual accounts. Nothing is sealed or stored here."""

from collections.abc import Mapping
from datetime import date

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import AccountType, Brand, Protocol
from tollgate.catalog.ibans import build_iban, find_bic
from tollgate.catalog.results import get_result
from tollgate.catalog.wallets import Wallet
from tollgate.contract.fields import Fields
from tollgate.payments import accounts
from tollgate.values import Refusal, Secret

# Bound once, because looking a member up in its enumeration takes as long as a call.
_BANK, _VIRTUAL = AccountType.BANK, AccountType.VIRTUAL
_CARD_NEEDS = frozenset({"card.number", "card.expiryMonth", "card.expiryYear"})
_WALLETS = tuple(wallet.value for wallet in Wallet)
_SHOWN_HEAD, _SHOWN_TAIL = 4, 4
_PROOF = "threeDSecure.verificationId"


class WalletCall(msgspec.Struct, frozen=True):
    """A wallet's token as it was sent, encrypted."""

    wallet: str
    token: Secret


def find_wallet_call(fields: Fields) -> WalletCall | None:
    if fields.groups.isdisjoint(_WALLETS):
        return None
    for wallet in _WALLETS:
        token = fields.values.get(f"{wallet}.paymentToken")
        if token is not None:
            return WalletCall(wallet, Secret(token))
    return None


def read_account(fields: Fields, brand: Brand) -> tuple[accounts.Instrument, accounts.CardSummary | None]:
    """Returns the account, and of a card what may be stored in clear."""
    values = fields.values
    if "tokenAccount.number" in values and brand.protocol is Protocol.CARD:
        return _read_token(values), None
    if brand.account is _BANK:
        return _read_bank(values), None
    if brand.account is _VIRTUAL:
        return accounts.VirtualAccount(account_id=values.get("virtualAccount.accountId")), None
    return _read_card(fields)


def show_account(fields: Fields, account: accounts.Instrument | None) -> dict[str, str]:
    """Returns the echo with masked numbers, and with the BIC that an IBAN names; a card has its summary instead."""
    kept = hide_proof(fields.echo, account)
    if isinstance(account, accounts.CardAccount):
        return kept
    values = fields.values
    shown: dict[str, str] = {
        name: hide_middle(values[name])
        for name in ("bankAccount.iban", "bankAccount.number", "tokenAccount.number")
        if name in values
    }
    if isinstance(account, accounts.BankAccount) and account.bic:
        shown["bankAccount.bic"] = account.bic
    return kept | shown


def hide_proof(echo: dict[str, str], account: accounts.Instrument | None) -> dict[str, str]:
    """Removes the proof of a device or a network, which is used once."""
    if isinstance(account, accounts.CardAccount) and account.number_type == "PAN":
        return echo
    return {name: text for name, text in echo.items() if name != _PROOF}


def hide_middle(text: str) -> str:
    """Shows the ends by which its owner knows a number, and less of a short one."""
    head = min(_SHOWN_HEAD, len(text) // 4)
    tail = min(_SHOWN_TAIL, len(text) // 4)
    return text[:head] + "*" * (len(text) - head - tail) + text[len(text) - tail :]


def _read_card(fields: Fields) -> tuple[accounts.CardAccount, accounts.CardSummary]:
    values = fields.values
    if not values.keys() >= _CARD_NEEDS:
        raise Refusal(get_result(codes.NO_CONTRACT), "send the card's number and expiry")
    cvv = values.get("card.cvv")
    wallet = None
    if not fields.groups.isdisjoint(_WALLETS):
        wallet = next((wallet for wallet in _WALLETS if f"{wallet}.source" in values), None)
    card = accounts.CardAccount(
        number=Secret(values["card.number"]),
        expiry_month=values["card.expiryMonth"].zfill(2),
        expiry_year=values["card.expiryYear"],
        holder=values.get("card.holder"),
        cvv=Secret(cvv) if cvv else None,
        # A wallet that the merchant opened has a number made for one device, unless the request says otherwise.
        number_type=values.get("card.numberType", "DPAN" if wallet else "PAN"),
        wallet=wallet,
    )
    return card, accounts.make_card_summary(values["card.number"], card)


def _read_token(values: Mapping[str, str]) -> accounts.TokenAccount:
    return accounts.TokenAccount(
        number=Secret(values["tokenAccount.number"]),
        type=values["tokenAccount.type"],
        expiry_month=values.get("tokenAccount.expiryMonth"),
        expiry_year=values.get("tokenAccount.expiryYear"),
        cryptogram=_hide(values.get("tokenAccount.cryptogram")),
        dtvc=_hide(values.get("tokenAccount.dtvc")),
    )


def _read_bank(values: Mapping[str, str]) -> accounts.BankAccount:
    number, bank_code = values.get("bankAccount.number"), values.get("bankAccount.bankCode")
    country = values.get("bankAccount.country")
    iban = values.get("bankAccount.iban", "").upper() or None
    if iban is None and number and bank_code and country:
        iban = build_iban(country, bank_code, number)
    bic = values.get("bankAccount.bic", "").upper() or None
    if bic is None and iban is not None:
        bic = find_bic(iban)
    signed_on = values.get("bankAccount.mandate.dateOfSignature")
    return accounts.BankAccount(
        holder=values.get("bankAccount.holder"),
        iban=_hide(iban),
        number=_hide(number),
        bic=bic,
        bank_code=bank_code,
        bank_name=values.get("bankAccount.bankName"),
        country=country or (iban[:2] if iban else None),
        mandate_id=values.get("bankAccount.mandate.id"),
        signed_on=date.fromisoformat(signed_on) if signed_on else None,
    )


def _hide(text: str | None) -> Secret | None:
    return None if text is None else Secret(text)
