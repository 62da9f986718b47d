"""Writes docs/reference from the catalogue's rows, so that the pages cannot say anything else than the code does.
Prose that is not in a row belongs into other documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from tollgate.catalog import (
    ALIASES,
    BRANDS,
    GROUPS,
    KINDS,
    LEVERS,
    PARAMETERS,
    RESULTS,
    RULES,
    TEST_CARDS,
    THROTTLES,
    Account,
    Brand,
    Parameter,
    Rule,
)

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"

FIRST_LINE = "<!-- Written by tools/make_reference.py from the rows of the catalogue: do not edit. -->"

ACCOUNT_TITLES = {
    Account.CARD: "Cards",
    Account.WALLET: "Wallets",
    Account.BANK: "Bank accounts",
    Account.VIRTUAL: "Virtual accounts",
}


def cell(text: str) -> str:
    # A pipe ends a cell even inside code.
    return text.replace("|", "\\|") or " "


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell(text) for text in row) + " |"
    yield ""


def page(title: str, *parts: Iterable[str]) -> str:
    lines = [FIRST_LINE, f"# {title}", ""]
    for part in parts:
        lines.extend(part)
    return "\n".join(lines).rstrip("\n") + "\n"


def section(title: str, *paragraphs: str) -> list[str]:
    return [f"## {title}", "", *(line for paragraph in paragraphs for line in (paragraph, ""))]


def describe_parameter(row: Parameter) -> tuple[str, ...]:
    lenient = code(row.lenient.notation) if row.lenient else ""
    return code(row.name), code(row.shape.notation), row.need.value, row.secrecy.value, lenient, row.note


def render_parameters() -> str:
    intro = [
        "Names with `[n]` count from 0; `[key]` and `[brand]` stand for a word. Unknown names are ignored,",
        "empty values count as absent.",
        "",
        "*Secrecy*: open values are logged and echoed, mask values are echoed to their owner only, seal values are",
        "stored encrypted, never values are not stored. *Lenient* is the format on a lenient channel, if it differs.",
        "",
    ]
    aliases = table(("alias", "stands for"), ((code(alias), code(name)) for alias, name in ALIASES.items()))
    head = ("parameter", "format", "need", "secrecy", "lenient", "note")
    groups = (
        line
        for group, rows in groupby(PARAMETERS.values(), key=lambda row: row.group)
        for line in (*section(code(group) if group else "Top level"), *table(head, map(describe_parameter, rows)))
    )
    return page(f"Parameters ({len(PARAMETERS)})", intro, section("Aliases"), aliases, groups)


def describe_rule(rule: Rule) -> tuple[str, ...]:
    operations = ", ".join(sorted(rule.operations)) or "all"
    return code(rule.name), rule.text, operations, "yes" if rule.binds_lenient else "no"


def render_rules() -> str:
    head = ("rule", "says", "operations", "binds lenient channels")
    kinds = (
        (code(kind.code), kind.label, kind.role.value, kind.direction.value, ", ".join(kind.follows))
        for kind in KINDS.values()
    )
    throttles = (
        (code(row.operation), f"{row.count} in {row.window_s} s", row.counted_by, "yes" if row.is_on else "no")
        for row in THROTTLES.values()
    )
    return page(
        "Rules between fields",
        ["A broken rule is answered with `200.300.404`; every fault is listed in `result.parameterErrors`.", ""],
        table(head, map(describe_rule, RULES)),
        section("Payment types"),
        table(("type", "name", "role", "money", "may follow"), kinds),
        section("Throttles", "A row that is not on waits for the configuration."),
        table(("operation", "at most", "counted by", "on"), throttles),
    )


def render_result_codes() -> str:
    by_group = {group.id: [row for row in RESULTS.values() if row.group == group.id] for group in GROUPS}
    parts = (
        line
        for group in GROUPS
        for line in (
            *section(code(group.id), group.meaning, f"Pattern: {code(group.regex)}"),
            *table(
                ("code", "HTTP", "meaning"),
                ((code(row.code), str(row.http_status), row.text) for row in by_group[group.id]),
            ),
        )
    )
    intro = ["A code belongs to the first group whose pattern matches it, but for the few that stand elsewhere.", ""]
    return page(f"Result codes ({len(RESULTS)})", intro, parts)


def describe_card_brand(brand: Brand) -> tuple[str, ...]:
    lengths = ", ".join(map(str, brand.lengths)) or "any"
    numbers = " ".join(brand.prefixes) or "any"
    if brand.shares:
        numbers = f"{' '.join(brand.prefixes)} and those of {', '.join(brand.shares)}".removeprefix(" and ")
    luhn = "yes" if brand.luhn else "no"
    aliases = ", ".join(brand.aliases)
    return code(brand.code), brand.label, brand.method, numbers, lengths, str(brand.cvv_length), luhn, aliases


def describe_other_brand(brand: Brand) -> tuple[str, ...]:
    needs = (*((f"{brand.wallet}.*",) if brand.wallet else ()), *brand.needs)
    flow = "redirect" if brand.is_async else "direct"
    return code(brand.code), brand.label, brand.method, flow, ", ".join(map(code, needs))


def render_brands() -> str:
    card_head = ("brand", "name", "method", "numbers", "lengths", "CVV", "check digit", "lenient spellings")
    other_head = ("brand", "name", "method", "flow", "needs")
    groups = {account: [brand for brand in BRANDS.values() if brand.account is account] for account in Account}
    cards = table(card_head, map(describe_card_brand, groups.pop(Account.CARD)))
    others = (
        line
        for account, brands in groups.items()
        for line in (*section(ACCOUNT_TITLES[account]), *table(other_head, map(describe_other_brand, brands)))
    )
    intro = ["Without `paymentBrand`, the longest prefix that fits a card number tells the brand.", ""]
    return page(f"Brands ({len(BRANDS)})", intro, section(ACCOUNT_TITLES[Account.CARD]), cards, others)


def render_test_data() -> str:
    cards = (
        (code(card.number), card.brand, card.behaviour.value, "yes" if card.has_method_data else "no")
        for card in TEST_CARDS.values()
    )
    levers = ((code(lever.name), code(lever.shape.notation), lever.effect) for lever in LEVERS)
    return page(
        "Test data",
        ["All of this exists on test hosts only. Any CVV of the right length and any later expiry date will do.", ""],
        section("Cards"),
        table(("number", "brand", "3D Secure", "collects device data"), cards),
        section("Levers", "Custom parameters that steer the simulated acquirer."),
        table(("parameter", "values", "effect"), levers),
    )


PAGES = {
    "parameters.md": render_parameters,
    "rules.md": render_rules,
    "result-codes.md": render_result_codes,
    "brands.md": render_brands,
    "test-data.md": render_test_data,
}


def main() -> None:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, render in PAGES.items():
        (REFERENCE / name).write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
