"""Risk rules and entries of lists as operators write them, and the values of a payment that they look at. Pure."""

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from tollgate.catalog import results, risk_rows
from tollgate.catalog.countries import ALPHA2_CODES
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.risk_rows import RISK_KINDS, Attribute, Moment, RiskKind, Term
from tollgate.catalog.shape import is_true
from tollgate.payments.accounts import CardSummary
from tollgate.payments.risk import RiskOutcome, Rule, RuleMode, Terms
from tollgate.values import Fault, Instant, MerchantId, read_hundredths, render_hundredths

_REFUSALS = re.compile(r"100\.400\.[0-3][0-9]{2}|800\.[123][0-9]{2}\.[0-9]{3}|800\.400\.1[0-9]{2}")
_FIXED = ("name", "kind", "channel", "mode", "outcome", "code", "points")


def read_rule(
    sent: Mapping[str, str], *, merchant_id: MerchantId, rule_id: str, version: int, by: str, now: Instant
) -> Rule:
    """Reads a rule; every fault of it is told at once."""
    kind = RISK_KINDS.get(sent.get("kind", ""))
    if kind is None:
        raise results.make_invalid(Fault("kind", f"must be one of [{', '.join(RISK_KINDS)}]", sent.get("kind")))
    faults = [Fault(name, "is not a term of this kind") for name in sent if name not in {*_FIXED, *kind.terms}]
    terms = _read_terms(kind, sent, faults)
    mode = _read_choice(sent, "mode", RuleMode, RuleMode.SHADOW, faults)
    outcome = _read_choice(sent, "outcome", RiskOutcome, RiskOutcome(kind.outcome), faults)
    if kind.moment is Moment.APPROVED and outcome is RiskOutcome.STEP_UP:
        faults.append(Fault("outcome", "after an approval nobody can be authenticated"))
    points, name = sent.get("points") or "0", sent.get("name") or kind.name
    if not risk_rows.POINTS.accepts(points):
        faults.append(Fault("points", "must be a number from 0 to 100", points))
    if not risk_rows.NAME.accepts(name):
        faults.append(Fault("name", risk_rows.NAME.message))
    code = sent.get("code", "")
    if code and not _is_code_of(code, outcome):
        faults.append(Fault("code", "must be a result code that fits the outcome", code))
    if faults:
        raise results.make_invalid(*faults)
    return Rule(
        merchant_id=merchant_id,
        id=rule_id,
        version=version,
        channel_id=sent.get("channel", ""),
        name=name,
        kind=kind.name,
        terms=terms,
        mode=mode,
        outcome=outcome,
        code=code or _choose_code(kind, terms, outcome),
        points=int(points),
        created_at=now,
        created_by=by,
    )


_Choice = TypeVar("_Choice", RuleMode, RiskOutcome)


def _read_choice(
    sent: Mapping[str, str], name: str, choices: type[_Choice], default: _Choice, faults: list[Fault]
) -> _Choice:
    text = sent.get(name)
    if not text:
        return default
    if text not in list(choices):
        faults.append(Fault(name, f"must be one of [{', '.join(choices)}]", text))
        return default
    return choices(text)


def _is_code_of(code: str, outcome: RiskOutcome) -> bool:
    if code not in results.RESULTS:
        return False
    if outcome is RiskOutcome.REVIEW:
        return results.awaits_decision(code)
    return outcome is RiskOutcome.REFUSE and _REFUSALS.fullmatch(code) is not None


def _choose_code(kind: RiskKind, terms: Terms, outcome: RiskOutcome) -> str:
    if outcome is RiskOutcome.REVIEW:
        return kind.review_code
    return kind.get_code(terms.attribute) if outcome is RiskOutcome.REFUSE else ""


def _read_terms(kind: RiskKind, sent: Mapping[str, str], faults: list[Fault]) -> Terms:
    texts: dict[Term, str] = {}
    for term in kind.terms:
        shape, _ = risk_rows.TERM_SHAPES[term]
        text = sent.get(term, "")
        if not shape.accepts(text):
            faults.append(Fault(term, shape.message, text or None))
        elif term is Term.ATTRIBUTE and text not in kind.codes:
            faults.append(Fault(term, f"must be one of [{', '.join(kind.codes)}]", text))
        else:
            texts[term] = text
    countries = tuple(texts.get(Term.COUNTRIES, "").split(",")) if Term.COUNTRIES in texts else ()
    faults += [Fault(Term.COUNTRIES, "must be countries", each) for each in countries if each not in ALPHA2_CODES]
    currency = texts.get(Term.CURRENCY, "")
    if currency and currency not in CURRENCIES:
        faults.append(Fault(Term.CURRENCY, "must be a currency of ISO 4217", currency))
    window_s = read_window(texts[Term.WINDOW]) if Term.WINDOW in texts else 0
    if window_s > risk_rows.WINDOW_MAX_S:
        faults.append(Fault(Term.WINDOW, "must not be longer than 366 days", texts[Term.WINDOW]))
    count = int(texts.get(Term.COUNT, 0))
    if Term.COUNT in texts and kind.name == "wrong_tries" and not count:
        faults.append(Fault(Term.COUNT, "must be 1 or more", texts[Term.COUNT]))
    if count > LIMITS.sightings_read_max and texts.get(Term.ATTRIBUTE) not in risk_rows.TOTALS:
        words = f"must be {LIMITS.sightings_read_max} at most, because no more payments with one value count"
        faults.append(Fault(Term.COUNT, words, texts[Term.COUNT]))
    return Terms(
        attribute=Attribute(texts[Term.ATTRIBUTE]) if Term.ATTRIBUTE in texts else None,
        window_s=window_s,
        count=count,
        amount=read_hundredths(texts[Term.AMOUNT]) if Term.AMOUNT in texts else 0,
        currency=currency,
        countries=countries,
        compared=texts.get(Term.COMPARED, ""),
        answers=tuple(texts[Term.ANSWERS].split(",")) if Term.ANSWERS in texts else (),
        score=int(texts.get(Term.SCORE, 0)),
    )


def read_window(text: str) -> int:
    """Reads a period such as 24h into seconds."""
    return int(text[:-1]) * risk_rows.WINDOW_UNITS_S[text[-1]]


def render_window(window_s: int) -> str:
    """Renders a period in the largest unit that it is a multiple of."""
    unit, unit_s = max(
        (each for each in risk_rows.WINDOW_UNITS_S.items() if window_s % each[1] == 0), key=lambda each: each[1]
    )
    return f"{window_s // unit_s}{unit}"


def render_rule(rule: Rule) -> dict[str, str]:
    """Renders a rule as it could be sent again."""
    fixed = {
        "name": rule.name,
        "kind": rule.kind,
        "channel": rule.channel_id,
        "mode": rule.mode,
        "outcome": rule.outcome,
        "code": rule.code,
        "points": str(rule.points),
    }
    return fixed | render_terms(rule)


def render_changed(rule: Rule, changes: Mapping[str, str]) -> dict[str, str]:
    """Renders a rule with some changes, as its next version could be sent."""
    kept = render_rule(rule)
    if not {"outcome", Term.ATTRIBUTE}.isdisjoint(changes):
        # The code belongs to what it was chosen for.
        kept.pop("code")
    return {**kept, **changes}


def render_terms(rule: Rule) -> dict[str, str]:
    terms = rule.terms
    rendered: Mapping[Term, str] = {
        Term.ATTRIBUTE: terms.attribute or "",
        Term.WINDOW: render_window(terms.window_s) if terms.window_s else "",
        Term.COUNT: str(terms.count),
        Term.AMOUNT: render_hundredths(terms.amount),
        Term.CURRENCY: terms.currency,
        Term.COUNTRIES: ",".join(terms.countries),
        Term.COMPARED: terms.compared,
        Term.ANSWERS: ",".join(terms.answers),
        Term.SCORE: str(terms.score),
    }
    return {str(term): rendered[term] for term in RISK_KINDS[rule.kind].terms}


# ---- the values of a payment ----

_DEVICE = (
    "customer.browserFingerprint.value",
    "customer.browserFingerprint.id",
    "customer.browser.deviceId",
    "customer.app.deviceId",
)
_VALUES: Sequence[tuple[str, Attribute]] = (
    ("customer.email", Attribute.EMAIL),
    ("customer.ip", Attribute.IP),
    ("customer.mobile", Attribute.MOBILE),
    ("customer.merchantCustomerId", Attribute.CUSTOMER),
    *[(name, Attribute.DEVICE) for name in _DEVICE],
)
"""The parameters that hold a value; the first that was sent counts."""


_BYTES = frozenset(map(str, range(256)))


def _spell_ip(text: str) -> str:
    # Most addresses are in their one spelling already.
    if text.count(".") == 3 and _BYTES.issuperset(text.split(".")):
        return text
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return ""


_SPELLINGS: Mapping[Attribute, Callable[[str], str]] = {
    Attribute.EMAIL: lambda text: text.casefold() if "@" in text else "",
    Attribute.IP: _spell_ip,
    Attribute.MOBILE: lambda text: "".join(letter for letter in text if letter.isdigit()),
    Attribute.COUNTRY: lambda text: text.upper() if text.upper() in ALPHA2_CODES else "",
    Attribute.BIN: lambda text: text if re.fullmatch("[0-9]{6}", text) else "",
}
"""The one spelling of a value; empty if it is none. Other values are compared as they are."""
_SPELLED = [(name, attribute, _SPELLINGS.get(attribute, str)) for name, attribute in _VALUES]
# Looking a member up in its enumeration takes as long as a call, and every payment asks for some.
_BIN = Attribute.BIN


class Person(msgspec.Struct, frozen=True):
    """The values of a request that rules look at, in one spelling for each."""

    values: Mapping[Attribute, str]
    billing_country: str = ""
    registers: bool = False
    holder: str | None = None
    surname: str = ""

    @property
    def is_other_holder(self) -> bool:
        """Tells whether the holder of the card has another name than the customer."""
        return self.holder is not None and _is_other(self.holder, self.surname)


def read_person(echo: Mapping[str, str], card: CardSummary | None) -> Person:
    values: dict[Attribute, str] = {}
    for name, attribute, spell in _SPELLED:
        text = echo.get(name)
        if text and attribute not in values and (value := spell(text.strip())):
            values[attribute] = value
    if card is not None:
        values[_BIN] = card.bin[:6]
    return Person(
        values,
        echo.get("billing.country", ""),
        is_true(echo.get("createRegistration")),
        None if card is None else card.holder,
        echo.get("customer.surname", ""),
    )


def normalize(attribute: Attribute, text: str) -> str:
    """Returns the one spelling in which values are compared; empty if it is none."""
    return _SPELLINGS.get(attribute, str)(text.strip())


def mask_value(attribute: Attribute, value: str) -> str:
    """Returns a value with most of it hidden; BINs and countries name nobody and stay."""
    if attribute in (Attribute.BIN, Attribute.COUNTRY):
        return value
    if attribute is Attribute.EMAIL:
        name, _, domain = value.rpartition("@")
        return f"{name[:1]}***@{domain}"
    if attribute is Attribute.IP:
        separator = "." if "." in value else ":"
        return separator.join(value.split(separator)[:2]) + f"{separator}***"
    return f"***{value[-2:]}"


def _is_other(holder: str, surname: str) -> bool:
    """Tells whether no part of the customer's surname is in the holder's name; initials and order do not matter."""
    own, held = _list_words(surname), _list_words(holder)
    return bool(own) and bool(held) and not own & held


def _list_words(name: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", name).casefold()
    return set(re.findall(r"[^\W\d_]+", "".join(each for each in plain if not unicodedata.combining(each))))
