"""What the demo shop sells, and a cart of it. Prices are whole hundredths; nothing is read or written here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

CURRENCY = "EUR"
QUANTITY_MAX = 9


class Product(msgspec.Struct, frozen=True):
    key: str
    name: str
    text: str
    price: int
    usual_quantity: int
    """How many are in the cart of somebody who has just come in."""


PRODUCTS = (
    Product("mug", "Enamel mug", "Survives the office kitchen.", 1450, 2),
    Product("notebook", "Dotted notebook", "Ninety-six pages for drafts.", 950, 1),
    Product("bag", "Canvas bag", "Carries both of the others.", 1900, 0),
)


class Line(msgspec.Struct, frozen=True):
    """One row of a cart."""

    product: Product
    quantity: int

    @property
    def sum(self) -> int:
        return self.product.price * self.quantity


class Cart(msgspec.Struct, frozen=True):
    lines: tuple[Line, ...]

    @property
    def total(self) -> int:
        return sum(line.sum for line in self.lines)

    @property
    def bought(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.quantity)


def fill_cart(quantities: Mapping[str, int]) -> Cart:
    return Cart(tuple(Line(product, quantities.get(product.key, 0)) for product in PRODUCTS))


USUAL_CART = fill_cart({product.key: product.usual_quantity for product in PRODUCTS})


def read_cart(pairs: Iterable[tuple[str, str]]) -> Cart:
    """What a visitor has typed; anything but a small number counts as nothing."""
    return fill_cart({name: int(text) for name, text in pairs if _is_quantity(text)})


def _is_quantity(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) == 1 and int(text) <= QUANTITY_MAX


def render_price(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02}"
