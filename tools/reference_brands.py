"""The conditions of brands in the guide to payment methods. The tables of all brands are in `make_reference`."""

from __future__ import annotations

from collections.abc import Iterable

from tools.reference_markdown import code, section, table

from tollgate.catalog.brand_rows import COUNTRY_NAMES, Brand, Need
from tollgate.catalog.brands import BRANDS

METHODS_TITLE = "What each brand needs"
METHODS_INTRO = (
    "A payment without a parameter that its brand needs gets `200.300.404`, and `result.parameterErrors` names the\n"
    "parameter. A currency or a country that the brand does not take gets `600.200.500`. An empty cell means that any\n"
    "will do, and a brand that is missing here needs nothing of its own.",
    "The [payment form](payment-form.md) asks the shopper for what the checkout did not bring, and leaves out brands\n"
    "that do not take its currency or country. It cannot ask for your own numbers, such as `merchantTransactionId`: a\n"
    "checkout or a payment link with `paymentBrand` is refused without them, and other checkouts do not offer the\n"
    "brand. A payment with a registration needs all but the parameters of the stored account.",
    "`make docs` writes this section from the rows of the brands.",
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
