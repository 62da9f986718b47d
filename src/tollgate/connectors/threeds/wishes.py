"""What a merchant may say of one authentication beside its payment and its channel: rows, and how each is told.

Whether an authentication happens at all is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tollgate.catalog.countries import COUNTRIES
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.shape import is_true
from tollgate.connectors.acquiring.messages import to_minor_units
from tollgate.payments.order import Order
from tollgate.values import Money, read_hundredths

COUNTRY_NUMBERS = {code: country.numeric for country in COUNTRIES.values() for code in (country.alpha2, country.alpha3)}

_WEB_ADDRESS = re.compile(r"https?://[\x21-\x7e]{1,2040}")

_SCHEMES = {
    "VISA": "visa",
    "MASTER": "mastercard",
    "MAESTRO": "mastercard",
    "AMEX": "amex",
    "DINERS": "diners",
    "DISCOVER": "diners",
    "JCB": "jcb",
    "CARTEBANCAIRE": "cartebancaire",
}
"""Under which name a merchant's registration with a scheme is given."""


def _cut(length: int) -> Callable[[str], str | None]:
    return lambda text: text[:length]


# The name in the interface (a star is the scheme), the member of the request, and how it is written there.
_ROWS: tuple[tuple[str, str, Callable[[str], str | None]], ...] = (
    ("threeDSecure.merchant.name", "merchant_name", _cut(40)),
    ("threeDSecure.merchant.country", "merchant_country_code", COUNTRY_NUMBERS.get),
    ("threeDSecure.v2.*.requestorId", "three_ds_requestor_id", _cut(35)),
    ("threeDSecure.v2.*.requestorName", "three_ds_requestor_name", _cut(40)),
)


def read_requests(order: Order) -> dict[str, str]:
    """Members of the request that the merchant chose itself."""
    scheme = _SCHEMES.get(order.network or order.brand, "")
    told = ((member, order.echo.get(name.replace("*", scheme)), write) for name, member, write in _ROWS)
    return {member: text for member, sent, write in told if sent and (text := write(sent))}


def find_shop_url(order: Order) -> str | None:
    """Shops often leave out how they are spoken to, or write something that is no address at all."""
    acceptor = order.details.acceptor
    said = order.echo.get("threeDSecure.merchant.url") or (acceptor and acceptor.url) or ""
    whole = said if "://" in said else f"https://{said}"
    return whole if _WEB_ADDRESS.fullmatch(whole) else None


def find_indicator(order: Order) -> str | None:
    """Why the merchant says that it asks."""
    indicator = order.echo.get("threeDSecure.authenticationInd")
    return None if indicator is None else indicator.zfill(2)


def is_payment(order: Order) -> bool:
    return bool(order.money.hundredths) and not is_true(order.echo.get("threeDSecure.npa", ""))


def get_money(order: Order) -> Money:
    """What the shopper is asked about, where it is not what is paid now; a fraction that its currency lacks is none."""
    amount = order.echo.get("threeDSecure.amount")
    currency = order.echo.get("threeDSecure.currency", order.money.currency)
    if amount is None or currency not in CURRENCIES:
        return order.money
    wished = Money(read_hundredths(amount), currency)
    try:
        to_minor_units(wished)
    except ValueError:
        return order.money
    return wished
