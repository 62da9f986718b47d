"""Writes docs/reference, and what each brand needs, from the tables in the code. Other prose is written by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

# Started as a file, while its neighbours are found from the root.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.reference_brands import render_countries, render_needs, write_conditions
from tools.reference_markdown import code, page, section, table
from tools.reference_office import list_page_rows, render_permissions
from tools.reference_results import render_declines, render_result_codes

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import AccountType, Brand
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.events import EVENT_ROWS, SUBSCRIBED_TYPES, EventRow
from tollgate.catalog.parameters.names import ALIASES, PARAMETERS
from tollgate.catalog.parameters.row import Parameter
from tollgate.catalog.payment_types import PAYMENT_TYPES, Refusals
from tollgate.catalog.results import RESULTS
from tollgate.catalog.return_reasons import RETURN_REASONS
from tollgate.catalog.rules import RULES
from tollgate.catalog.test_cards import SIMULATOR_OVERRIDES, TEST_ACCOUNTS, TEST_CARDS
from tollgate.catalog.throttles import THROTTLES
from tollgate.config import SETTINGS, Settings
from tollgate.payments import following
from tollgate.payments.ledger import FIRST_ENTRIES, Closure

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
METHODS = REFERENCE.parent / "payment-methods.md"

ACCOUNT_TITLES = {
    AccountType.CARD: "Cards",
    AccountType.WALLET: "Wallets",
    AccountType.BANK: "Bank accounts",
    AccountType.VIRTUAL: "Virtual accounts",
}


def describe_parameter(row: Parameter) -> tuple[str, ...]:
    return (
        code(row.name),
        code(row.shape.notation),
        row.need.value,
        row.secrecy.value + (", code" if row.holds_code else ""),
        code(row.lenient.notation) if row.lenient else "",
        describe_places(row),
        row.note,
    )


def describe_places(row: Parameter) -> str:
    """Lists the places of a value, each with the connectors that have it there."""
    connectors = {place: [name for name, other in row.to.items() if other == place] for place in row.to.values()}
    return "; ".join(f"{', '.join(names)}: {code(place)}" for place, names in connectors.items())


def render_parameters() -> str:
    intro = [
        "Names with `[n]` count from 0; `[key]` and `[brand]` stand for a word. Unknown names are ignored,",
        "empty values count as absent. On a test host the header `Tollgate-Warning` of the answer and the log",
        "name the unknown ones, at most five, each with the nearest name that is known.",
        "",
        "*Secrecy*: open values are logged and echoed, mask values are echoed to their owner only, seal values are",
        "stored encrypted, never values are not stored; a run of digits in a *code* is never taken for a card number.",
        "*Lenient* is the format on a lenient channel, if it differs. *Forwarded* says where the value goes, by",
        "connector: a path in the `details` of a JSON message, a data element of ISO 8583 or a tag of element 48, or a",
        "form field; other values are not forwarded.",
        "",
    ]
    aliases = table(("alias", "stands for"), ((code(alias), code(name)) for alias, name in ALIASES.items()))
    head = ("parameter", "format", "need", "secrecy", "lenient", "forwarded", "note")
    groups = (
        line
        for group, rows in groupby(PARAMETERS.values(), key=lambda row: row.group)
        for line in (*section(code(group) if group else "Top level"), *table(head, map(describe_parameter, rows)))
    )
    return page(f"Parameters ({len(PARAMETERS)})", intro, section("Aliases"), aliases, groups)


def render_rules() -> str:
    head = ("rule", "says", "operations", "binds lenient channels")
    rules = (
        (code(rule.name), rule.text, ", ".join(sorted(rule.operations)) or "all", "yes" if rule.binds_lenient else "no")
        for rule in RULES
    )
    kinds = (
        (code(kind.code), kind.label, kind.role.value, kind.direction.value, ", ".join(kind.follows))
        for kind in PAYMENT_TYPES.values()
    )
    throttles = (
        (code(row.operation), f"{row.count} in {row.window_s} s", row.counted_by, "yes" if row.is_on else "no")
        for row in THROTTLES.values()
    )
    return page(
        "Rules between fields",
        ["A broken rule is answered with `200.300.404`; every fault is listed in `result.parameterErrors`.", ""],
        table(head, rules),
        section("Payment types"),
        table(("type", "name", "role", "money", "may follow"), kinds),
        section("Throttles", "A row that is not on waits for the configuration."),
        table(("operation", "at most", "counted by", "on"), throttles),
    )


def describe_card_brand(brand: Brand) -> tuple[str, ...]:
    lengths = ", ".join(map(str, brand.lengths)) or "any"
    numbers = " ".join(brand.prefixes) or "any"
    if brand.shares:
        numbers = f"{' '.join(brand.prefixes)} and those of {', '.join(brand.shares)}".removeprefix(" and ")
    luhn = "yes" if brand.luhn else "no"
    aliases = ", ".join(brand.aliases)
    return code(brand.code), brand.label, brand.method, numbers, lengths, str(brand.cvv_length), luhn, aliases


def describe_other_brand(brand: Brand) -> tuple[str, ...]:
    wallet = ((f"{brand.wallet}.*",),) if brand.wallet else ()
    needs = render_needs((*wallet, *brand.needs, *brand.strict_needs))
    flow = "redirect" if brand.is_async else "direct"
    aliases = ", ".join(brand.aliases)
    types = order_types(brand.lenient_types)
    limits = ", ".join(brand.currencies), render_countries(brand)
    return code(brand.code), brand.label, brand.method, flow, needs, *limits, aliases, types


def render_brands() -> str:
    card_head = ("brand", "name", "method", "numbers", "lengths", "CVV", "check digit", "lenient spellings")
    other_head = (
        "brand",
        "name",
        "method",
        "flow",
        "needs",
        "currencies",
        "countries",
        "lenient spellings",
        "lenient types",
    )
    groups = {account: [brand for brand in BRANDS.values() if brand.account is account] for account in AccountType}
    cards = table(card_head, map(describe_card_brand, groups.pop(AccountType.CARD)))
    others = (
        line
        for account, brands in groups.items()
        for line in (*section(ACCOUNT_TITLES[account]), *table(other_head, map(describe_other_brand, brands)))
    )
    intro = ["Without `paymentBrand`, the longest prefix that fits a card number tells the brand.", ""]
    return page(f"Brands ({len(BRANDS)})", intro, section(ACCOUNT_TITLES[AccountType.CARD]), cards, others)


def render_test_data() -> str:
    cards = (
        (
            code(card.number),
            card.brand,
            card.behaviour.value,
            "yes" if card.has_method_data else "no",
            code(card.charged_code),
            code(card.secured_code),
        )
        for card in TEST_CARDS.values()
    )
    accounts = ((row.country, row.holder, code(row.iban), code(row.bic)) for row in TEST_ACCOUNTS)
    reasons = ((code(row.code), row.text, code(row.notice)) for row in RETURN_REASONS.values())
    simulator_overrides = (
        (code(override.name), code(override.shape.notation), override.effect) for override in SIMULATOR_OVERRIDES
    )
    return page(
        "Test data",
        ["All of this exists on test hosts only. Any CVV of the right length and any later expiry date will do.", ""],
        section(
            "Cards",
            "3D Secure runs where `shopperResultUrl` is sent; `000.200.000` then waits for the shopper's browser.",
        ),
        table(
            ("number", "brand", "3D Secure", "collects device data", "result without 3D Secure", "with 3D Secure"),
            cards,
        ),
        section("Bank accounts", "For `DIRECTDEBIT_SEPA`; any other well-formed account will do as well."),
        table(("country", "holder", "IBAN", "BIC"), accounts),
        section(
            "Returns",
            "Why banks send debits and credits back, and the code of the chargeback that it becomes. On a test host\n"
            "`tollgate bank sample-return` writes such a return; a reason that is not listed becomes `000.100.200`.",
        ),
        table(("reason", "means", "chargeback"), reasons),
        section("Simulator overrides", "Custom parameters that steer the simulated acquirer."),
        table(("parameter", "values", "effect"), simulator_overrides),
    )


FOLLOW_UPS_INTRO = [
    "`POST /v1/payments/{id}` follows the payment with that id up. A first payment and all that refers to it,",
    "directly or through others, is a *chain*. Every payment has a balance of its own, and what follows is bounded by",
    "the balance of the payment it names, which must have succeeded.",
    "",
    "Receipts, chargebacks and their reversals happen by themselves; on a test host `POST /sandbox/payments/{id}`",
    "makes them. A reversal by which the gateway takes back a payment that nobody answered moves nothing, because",
    "that payment failed.",
    "",
    "A `PA` that names a `PA` says why in `standingInstruction.industryPractice`. `INCREMENTAL_AUTH` raises the",
    "authorisation it names (an *increment*): capture and reverse that one, because nothing can name the increment",
    "itself. Any other value, such as `REAUTHORIZATION`, is a hold of its own (a *renewal*) that is captured by its",
    "own id; the authorisation it names stays as it was, so reverse it where it is not needed any more. Both may",
    "also be sent to `POST /v1/payments` with `referenceUuid` instead of the id in the path.",
    "",
    "A reversed capture does not give its amount back to the authorisation, and nothing can name a return.",
    "",
]

FOLLOW_UPS_CLOSURES = (
    "A payment is open or closed for captures, refunds, rebills and increments, each on its own. `sequence=FINAL`\n"
    "closes it for one of them. *Counted* ones have a highest number: captures that of `numberOfCaptures`, rebills\n"
    "that of the channel.",
    "The ledger has three accounts for each merchant, channel and currency: the *shopper* (the world outside), what\n"
    "is *held*, and what is *earned*.",
)

FOLLOW_UPS_REFUSALS = (
    "Reasons are looked for from left to right, and the first that holds is answered. *Misfit*: the payment named is\n"
    "of a type that this one cannot follow. *Failed*: it did not succeed. *Closed*: it is closed for this type. An\n"
    "empty cell: it cannot be.",
)

GENERAL_REFUSALS = {
    "the payment referred to is still open": codes.REFERENCE_PENDING,
    "another currency than the payment referred to": codes.OTHER_CURRENCY,
    "another `testMode` than the payment referred to": codes.OTHER_MODE,
    "another `paymentBrand` than the payment referred to, on a strict channel": codes.OTHER_BRAND,
}


def render_action(action: following.Action) -> str:
    return action.value.replace("_", " ")


def render_closures(closed: int) -> str:
    return ", ".join((closure.name or "").lower() for closure in Closure if closure & closed)


def list_followers() -> Iterator[tuple[str, ...]]:
    """One line for each type that can be referred to, one cell for each that may follow it."""
    for named in PAYMENT_TYPES:
        fitting = {
            kind: [row for row in following.FOLLOWINGS.values() if row.payment_type == kind and named in row.names]
            for kind in following.REFUSALS
        }
        if any(fitting.values()):
            yield code(named), *(", ".join(render_action(row.action) for row in rows) for rows in fitting.values())


def order_types(payment_types: frozenset[str]) -> str:
    return ", ".join(each for each in PAYMENT_TYPES if each in payment_types)


def describe_amount(row: following.Following) -> str:
    if row.draw is not following.Draw.NOTHING:
        return row.draw.value
    return "at most that of the payment" if row.is_capped else "any"


def describe_following(row: following.Following) -> tuple[str, ...]:
    sent = code(row.wire_word or "") or "not sent: made by the system"
    named = order_types(row.names)
    return render_action(row.action), code(row.payment_type), named, describe_amount(row), row.until.value, sent


def describe_effect(row: following.Following) -> tuple[str, ...]:
    final = render_closures(row.closes_when_final) + (" and releases the rest" if row.releases_when_final else "")
    return (
        render_action(row.action),
        render_closures(row.barred_by),
        "yes" if row.is_barred_by_dispute else "",
        "yes" if row.is_barred_by_review else "",
        render_closures(row.closes),
        final,
        "yes" if row.is_counted else "",
        f"{row.source.value} to {row.target.value}",
    )


def describe_refusals(kind: str, codes: Refusals) -> tuple[str, ...]:
    """Lists the codes in the order of `decide_follow_up`; a reason that no row of the type can have stays empty."""
    rows = [row for row in following.FOLLOWINGS.values() if row.payment_type == kind]
    reasons = (
        (codes.misfit, True),
        (codes.rejected, True),
        (codes.disputed, any(row.is_barred_by_dispute for row in rows)),
        (codes.late, any(row.until is not following.Until.ANY_TIME for row in rows)),
        (codes.closed, any(row.barred_by for row in rows)),
        (codes.too_many, any(row.is_counted for row in rows)),
        (codes.excess, any(row.draw is not following.Draw.NOTHING or row.is_capped for row in rows)),
    )
    return code(kind), *(code(which) if can_be else "" for which, can_be in reasons)


def list_refusal_codes() -> list[str]:
    codes = {
        text.strip("`") for kind, row in following.REFUSALS.items() for text in describe_refusals(kind, row)[1:] if text
    }
    return sorted(codes | {*GENERAL_REFUSALS.values(), *following.SYSTEM_ONLY.values()})


def render_follow_ups() -> str:
    head = ("does", "type", "may name", "amount", "when", "word to the acquirer")
    effects = (
        "does",
        "needs open",
        "barred by a dispute",
        "waits for a review",
        "closes",
        "FINAL closes",
        "counted",
        "ledger",
    )
    reasons = ("type", "misfit", "failed", "disputed", "too late", "closed", "too often", "too much")
    first = ((code(kind), f"{source.value} to {target.value}") for kind, (source, target) in FIRST_ENTRIES.items())
    return page(
        "What may follow a payment",
        FOLLOW_UPS_INTRO,
        section(
            "Who may follow whom", "Rows: the type of the payment referred to. Columns: the type of what follows it."
        ),
        table(("named", *map(code, following.REFUSALS)), list_followers()),
        section("What follows, how much and until when"),
        table(head, map(describe_following, following.FOLLOWINGS.values())),
        section("Closures and the ledger", *FOLLOW_UPS_CLOSURES),
        table(effects, map(describe_effect, following.FOLLOWINGS.values())),
        ["A payment that begins a chain moves:", "", *table(("type", "ledger"), first)],
        section("Codes of refusals", *FOLLOW_UPS_REFUSALS),
        table(reasons, (describe_refusals(kind, row) for kind, row in following.REFUSALS.items())),
        [
            "After a misfit and before the rest:",
            "",
            *table(("reason", "code"), ((why, code(which)) for why, which in GENERAL_REFUSALS.items())),
        ],
        ["Asked for by a merchant although only the system makes it:", ""],
        table(("type", "code"), ((code(kind), code(which)) for kind, which in following.SYSTEM_ONLY.items())),
        section("What the codes mean"),
        table(("code", "means"), ((code(which), RESULTS[which].text) for which in list_refusal_codes())),
    )


def describe_event(row: EventRow) -> tuple[str, ...]:
    return code(row.name), code(row.type), code(row.action or ""), row.occasion, row.object, row.since


def render_events() -> str:
    words = ", ".join(map(code, SUBSCRIBED_TYPES))
    intro = [
        "An event is announced in the commit of its change, and delivered to the",
        f"[webhooks](../webhooks.md) that chose it: by a type ({words}),",
        "or by the name of one event. A type stands for all its events, also later ones. `RISK` can be chosen",
        "already; its events come with the risk checks.",
        "",
        "*Object* is what `payload` shows, and *since* the first version that announces the event.",
        "",
    ]
    head = ("name", "type", "action", "when", "object", "since")
    return page(f"Events ({len(EVENT_ROWS)})", intro, table(head, map(describe_event, EVENT_ROWS.values())))


def render_settings() -> str:
    rows = (
        (code(setting.flag), code(setting.variable), code(str(getattr(Settings(), setting.member) or "")), setting.text)
        for setting in SETTINGS
    )
    intro = "A flag wins over a variable, a variable over the default ([configuration](../configuration.md))."
    return page("Settings", [intro, ""], table(("flag", "variable", "default", "meaning"), rows))


__all__ = ["PAGES", "list_page_rows", "write_conditions"]

PAGES = {
    "parameters.md": render_parameters,
    "rules.md": render_rules,
    "follow-ups.md": render_follow_ups,
    "result-codes.md": render_result_codes,
    "declines.md": render_declines,
    "brands.md": render_brands,
    "test-data.md": render_test_data,
    "events.md": render_events,
    "settings.md": render_settings,
    "permissions.md": render_permissions,
}


def main() -> None:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, render in PAGES.items():
        (REFERENCE / name).write_text(render(), encoding="utf-8")
    METHODS.write_text(write_conditions(METHODS.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
