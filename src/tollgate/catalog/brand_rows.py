"""The row of a brand, and the brands that are cards: how each is charged, and what its numbers look like.
The brands of banks and providers are in `provider_rows`.
"""

from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any

from tollgate.catalog.payment_types import PAYMENT_TYPES


class AccountType(Enum):
    """The structure of parameters that carries the account."""

    CARD = "card"
    WALLET = "wallet"
    BANK = "bankAccount"
    VIRTUAL = "virtualAccount"


class Protocol(Enum):
    """The connector of a brand."""

    CARD = "card"
    SEPA = "sepa"
    REDIRECT = "redirect"


class AccountName(Enum):
    """The form of a provider's account ids."""

    ANY = "any text"
    PHONE = "a phone number"
    EMAIL = "an e-mail address"


Need = tuple[str, ...]
"""One of these parameters has to be sent; most needs name a single one."""

COUNTRY_NAMES = {AccountType.BANK: "bankAccount.country", AccountType.VIRTUAL: "billing.country"}
"""The parameter with the country that a brand asks about."""

_TYPES_BY_METHOD = {
    method: frozenset(code for code, row in PAYMENT_TYPES.items() if method in row.methods)
    for method in frozenset().union(*(row.methods for row in PAYMENT_TYPES.values()))
}


@dataclass(frozen=True, slots=True)
class Brand:
    code: str
    account: AccountType
    method: str
    """It is CC card, DC debit card, DD direct debit, VA virtual account, OT online transfer or PP prepayment."""
    label: str
    prefixes: tuple[str, ...] = ()
    """The brand's own ranges, as `4` or `2221-2720`; the longest prefix counts."""
    lengths: tuple[int, ...] = ()
    cvv_length: int = 3
    grouping: tuple[int, ...] = ()
    """The sizes of the blocks in which a form shows the digits."""
    luhn: bool = False
    aliases: tuple[str, ...] = ()
    """Other networks and libraries use these spellings, which lenient channels take."""
    shares: tuple[str, ...] = ()
    """A co-brand also has numbers of these networks, which are detected unless the co-brand is named."""
    wallet: str = ""
    """The prefix of the wallet's own parameters."""
    is_async: bool = False
    """The shopper goes to a page of the bank or provider."""
    needs: tuple[Need, ...] = ()
    """The provider cannot start without these parameters."""
    strict_needs: tuple[Need, ...] = ()
    """A strict channel also requires these parameters."""
    lenient_types: frozenset[str] = frozenset()
    """A lenient channel also takes these payment types, because clients of this brand send them."""
    currencies: tuple[str, ...] = ()
    """A brand without any takes all currencies."""
    countries: tuple[str, ...] = ()
    """The shopper's bank, or else the shopper, is in one of these; a brand without any takes all countries."""
    banks: tuple[str, ...] = ()
    """The form offers these names of banks; a brand without any lets the shopper write one."""
    account_name: AccountName = AccountName.ANY
    scheme: str = ""
    """The card scheme in `threeDSecure.v2.*`, by which a merchant is registered for 3-D Secure."""
    token_network: str = ""
    """The network that issues tokens for cards of this brand; other brands have none."""
    protocol: Protocol = field(init=False)

    def __post_init__(self) -> None:
        protocol = Protocol.SEPA if self.method == "DD" else Protocol.REDIRECT
        if self.account in (AccountType.CARD, AccountType.WALLET):
            protocol = Protocol.CARD
        object.__setattr__(self, "protocol", protocol)

    @property
    def payment_types(self) -> frozenset[str]:
        return _TYPES_BY_METHOD[self.method]

    def list_payment_types(self, *, lenient: bool) -> frozenset[str]:
        """Lists the payment types that a channel takes for this brand."""
        return self.payment_types | self.lenient_types if lenient else self.payment_types

    @property
    def needs_return(self) -> bool:
        """Is true where the shopper leaves for a page of the provider and has to return."""
        return self.is_async and self.method != "PP"


_LONG = tuple(range(12, 20))


def _read_needs(text: str) -> tuple[Need, ...]:
    return tuple(tuple(need.split("/")) for need in text.split())


def make_brand(
    account: AccountType,
    method: str,
    code: str,
    label: str,
    prefixes: str = "",
    *,
    aliases: str = "",
    shares: str = "",
    scheme: str = "",
    network: str = "",
    needs: str = "",
    strict_needs: str = "",
    currencies: str = "",
    countries: str = "",
    **columns: Any,
) -> Brand:
    """Makes a row; a card with ranges of its own belongs to the scheme that `network` names.

    A stroke stands between the parameters of which one is needed.
    """
    return Brand(
        code,
        account,
        method,
        label,
        tuple(prefixes.split()),
        aliases=tuple(aliases.split()),
        shares=tuple(shares.split()),
        scheme=scheme or (network if prefixes else ""),
        token_network=network,
        needs=_read_needs(needs),
        strict_needs=_read_needs(strict_needs),
        currencies=tuple(currencies.split()),
        countries=tuple(countries.split()),
        **columns,
    )


_card = partial(make_brand, AccountType.CARD, "CC", lengths=(16,), grouping=(4, 4, 4, 4), luhn=True)
_debit_card = partial(make_brand, AccountType.CARD, "DC", lengths=(16,), grouping=(4, 4, 4, 4), luhn=True)
_store_card = partial(_card, lengths=(), luhn=False)
"""A shop's own card has no public range and no public check digit."""
_wallet = partial(make_brand, AccountType.WALLET, "CC")

_NETWORKS = (
    _card("VISA", "Visa", "4", lengths=(13, 16, 18, 19), aliases="VISA_CARD VI", network="visa"),
    _card(
        "MASTER", "Mastercard", "51-55 2221-2720", aliases="MASTERCARD MASTER_CARD MC EUROCARD", network="mastercard"
    ),
    _card(
        "AMEX",
        "American Express",
        "34 37",
        lengths=(15,),
        cvv_length=4,
        grouping=(4, 6, 5),
        aliases="AMERICAN_EXPRESS AMERICANEXPRESS",
        network="amex",
    ),
    _debit_card(
        "MAESTRO", "Maestro", "50 56-58 60-61 63 66-69", lengths=_LONG, aliases="MAESTRO_CARD", network="mastercard"
    ),
    _card(
        "DINERS",
        "Diners Club",
        "300-305 3095 36 38-39",
        lengths=(14, 16, 19),
        grouping=(4, 6, 4),
        aliases="DINERS_CLUB DINERSCLUB",
        scheme="diners",
        network="discover",
    ),
    _card("DISCOVER", "Discover", "6011 644-649 65", lengths=(16, 19), scheme="diners", network="discover"),
    _card("JCB", "JCB", "3528-3589", lengths=(16, 17, 18, 19), scheme="jcb"),
    _card(
        "UNIONPAY",
        "UnionPay",
        "62 81",
        lengths=(14, 15, 16, 17, 18, 19),
        luhn=False,
        aliases="CUP CHINA_UNION_PAY UNION_PAY",
    ),
    _card("AIRPLUS", "AirPlus", "1220 1920", lengths=(15,), grouping=(4, 5, 6), aliases="UATP"),
    _card("AXP", "American Express (direct)", lengths=(15,), cvv_length=4, grouping=(4, 6, 5), shares="AMEX"),
    _debit_card("DANKORT", "Dankort", "5019", shares="VISA"),
    _card(
        "ELO",
        "Elo",
        "504175 506699-506778 509000-509999 627780 "
        "636297 636368 650031-650033 650035-650051 650405-650439 650485-650538 650541-650598 650700-650718 "
        "650720-650727 650901-650920 651652-651679 655000-655019 655021-655058",
        shares="VISA MAESTRO DISCOVER",
    ),
    _card(
        "HIPERCARD",
        "Hipercard",
        "606282 637095 637568 637599 637609 637612",
        lengths=(13, 16, 19),
        shares="DINERS MAESTRO",
    ),
    _debit_card("MEEZA", "Meeza", "507803 507808-507811"),
    _card("NARANJA", "Naranja", "589562", shares="VISA MASTER"),
    _card("CABAL", "Cabal", "589657 600691 603522 604201-604219 627170 650272"),
    _card("ARGENCARD", "Argencard", "501105"),
    _card("CENCOSUD", "Cencosud", "603493"),
    _card("TARJETASHOPPING", "Tarjeta Shopping", "279 603488"),
    _card("NATIVA", "Nativa", shares="VISA MASTER"),
    _card("CARNET", "Carnet", "286900 502275 506199 506201-506499 606333 636318 636379 639388 639484 639559"),
    _debit_card("PROSTIR", "Prostir", "9804"),
)

_CO_BRANDS = (
    _debit_card(
        "VISADEBIT", "Visa Debit", lengths=(13, 16, 18, 19), aliases="VISA_DEBIT", shares="VISA", network="visa"
    ),
    _debit_card("VISAELECTRON", "Visa Electron", aliases="VISA_ELECTRON ELECTRON", shares="VISA", network="visa"),
    _debit_card("VPAY", "V PAY", lengths=(13, 16, 18, 19), aliases="V_PAY", shares="VISA MAESTRO"),
    _debit_card(
        "MASTERDEBIT", "Mastercard Debit", aliases="MASTERCARD_DEBIT", shares="MASTER MAESTRO", network="mastercard"
    ),
    _card("UNIONPAY_SMS", "UnionPay (SMS)", lengths=(14, 15, 16, 17, 18, 19), luhn=False, shares="UNIONPAY"),
    _debit_card("MADA", "mada", "9682", shares="VISA MASTER MAESTRO DISCOVER"),
    _debit_card("OMANNET", "OmanNet", shares="VISA MASTER MAESTRO"),
    _debit_card("JAYWAN", "Jaywan", lengths=_LONG, luhn=False),
    _card(
        "CARTEBANCAIRE",
        "Carte Bancaire",
        aliases="CARTE_BANCAIRE CB CARTES_BANCAIRES",
        shares="VISA MASTER MAESTRO",
        scheme="cartebancaire",
    ),
    _card("CARTEBLEUE", "Carte Bleue", aliases="CARTE_BLEUE", shares="VISA", network="visa"),
    _debit_card("BCMC", "Bancontact", lengths=_LONG, aliases="BANCONTACT MISTER_CASH", shares="MAESTRO VISA MASTER"),
    _card("ALIA", "Alia", lengths=_LONG, luhn=False),
    _debit_card("ALIADEBIT", "Alia Debit", lengths=_LONG, luhn=False),
    _debit_card("CABALDEBIT", "Cabal Debit", shares="CABAL"),
    _debit_card("CASHLINKMALTA", "Cashlink Malta", lengths=_LONG, luhn=False),
    _card("MERCADOLIVRE", "Mercado Livre", lengths=_LONG, luhn=False),
    _card("SERVIRED", "ServiRed", lengths=_LONG, shares="VISA MASTER MAESTRO"),
    _debit_card("SISTEMACLAVE", "Sistema Clave", lengths=_LONG, luhn=False),
    _card("TCARD", "T-Card", lengths=_LONG, luhn=False),
    _debit_card("TCARDDEBIT", "T-Card Debit", lengths=_LONG, luhn=False),
    _card("CLICK_TO_PAY", "Click to Pay", lengths=_LONG, shares="VISA MASTER AMEX DISCOVER"),
    _card("FACILYPAY_3X", "FacilyPay 3x", lengths=_LONG, shares="VISA MASTER"),
    _card("FACILYPAY_3XSANSFRAIS", "FacilyPay 3x sans frais", lengths=_LONG, shares="VISA MASTER"),
    _card("FACILYPAY_4X", "FacilyPay 4x", lengths=_LONG, shares="VISA MASTER"),
    _card("FACILYPAY_4XSANSFRAIS", "FacilyPay 4x sans frais", lengths=_LONG, shares="VISA MASTER"),
    _store_card("STAPLES", "Staples"),
    _store_card("SCHEELS", "Scheels"),
    _store_card("HEB_GIFT_CARD", "H-E-B Gift Card"),
    _store_card("CASEYS_GIFT_CARD", "Casey's Gift Card"),
    _store_card("COSMOPROF_RCC", "CosmoProf"),
    _store_card("PMICHAELS_PLCC", "Michaels"),
    _store_card("TRADE_UK", "TradeUK"),
)

_WALLETS = (
    _wallet("APPLEPAY", "Apple Pay", wallet="walletA", aliases="APPLE_PAY"),
    _wallet("APPLEPAYTKN", "Apple Pay (token)", wallet="walletA"),
    _wallet("GOOGLEPAY", "Google Pay", wallet="walletB", aliases="GOOGLE_PAY ANDROIDPAY ANDROID_PAY"),
    _wallet("GOOGLEPAYTKN", "Google Pay (token)", wallet="walletB"),
    _wallet("SAMSUNGPAY", "Samsung Pay", wallet="walletC", aliases="SAMSUNG_PAY"),
    _wallet("PAZE", "Paze"),
    _wallet("CLIQ", "CliQ"),
)

CARD_ROWS = (*_NETWORKS, *_CO_BRANDS, *_WALLETS)
