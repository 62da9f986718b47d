"""The conditions of brands in the guide to payment methods. The tables of all brands are in `make_reference`."""

from __future__ import annotations

from collections.abc import Iterable

from tools.reference_markdown import code, section, table

from tollgate.catalog.brand_rows import COUNTRY_NAMES, Brand, Need
from tollgate.catalog.brands import BRANDS

METHODS_TITLE = "What each brand needs"
METHODS_INTRO = (
    "A payment without a parameter that its brand needs gets `200.300.404`, and `result.parameterErrors` names the\n"
    "parameter. A currency or a country that the brand does not take gets `600.200.500`. An empty cell is no\n"
    "condition. A brand that is not in the table has none at all.",
    "The [payment form](payment-form.md) asks the shopper for what you did not send with the checkout, and leaves out\n"
    "brands that do not take its currency or country. It cannot ask for your own numbers, such as\n"
    "`merchantTransactionId`. If you name a `paymentBrand`, a checkout or a payment link without them is refused;\n"
    "otherwise the form does not offer the brand. For a payment with a registration, send all but the stored account.",
)


def render_needs(needs: Iterable[Need]) -> str:
    return ", ".join(" or ".join(map(code, need)) for need in needs)


def render_countries(brand: Brand) -> str:
    """Names the parameter that has the country, because it depends on the kind of account."""
    if not brand.countries:
        return ""
    return f"{', '.join(brand.countries)} ({code(COUNTRY_NAMES[brand.account])})"


def describe_conditions(brand: Brand) -> tuple[str, ...]:
    needs, strict_needs = render_needs(brand.needs), render_needs(brand.strict_needs)
    return code(brand.code), needs, strict_needs, ", ".join(brand.currencies), render_countries(brand)


def write_conditions(text: str) -> str:
    """Replaces the section about the brands' needs in the guide."""
    before, _, rest = text.partition(f"## {METHODS_TITLE}\n")
    after = rest[rest.index("\n## ") :]
    head = ("brand", "needs", "needs on strict channels", "currencies", "countries")
    described = map(describe_conditions, BRANDS.values())
    lines = [*section(METHODS_TITLE, *METHODS_INTRO), *table(head, (cells for cells in described if any(cells[1:])))]
    return before + "\n".join(lines).rstrip("\n") + "\n" + after
