"""The evaluation of risk rules. Rules of a channel are grouped once, and each payment is compared with the groups."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

import msgspec
from msgspec.structs import astuple

from tollgate.catalog.risk_rows import BLOCK_CODES, COMPARED, KEYS, PAIRS, REGISTERING, TOTALS, Attribute
from tollgate.payments.risk import (
    LISTED,
    SEVERITY,
    Entry,
    Facts,
    Hit,
    ListName,
    RiskFinding,
    RiskOutcome,
    Rule,
    RuleMode,
    Terms,
)
from tollgate.payments.velocities import Velocities
from tollgate.values import SECOND, Instant


class _ByLimit(msgspec.Struct, frozen=True):
    """Rules that differ in their limit only, the lowest first: a value hits all whose limit it exceeds."""

    limits: tuple[int, ...]
    rules: tuple[Rule, ...]

    def list_exceeded(self, value: int) -> tuple[Rule, ...]:
        return self.rules[: bisect_left(self.limits, value)]


class Limits(msgspec.Struct, frozen=True):
    """The lowest limits of several rules: what is within them hits none, whatever its window and currency."""

    count: int
    """The number of earlier payments."""
    total: int
    """The sum of all amounts, with that of the payment itself."""
    amount: int
    """The amount of the payment, as if it were the first one."""

    def allow(self, count: int, total: int, own: int) -> bool:
        """Tells whether no rule is hit by a payment of an amount, after so many others with so much in all."""
        return count <= self.count and own <= self.amount and own + total <= self.total


class _Group(msgspec.Struct, frozen=True):
    """The rules that ask the same of the same attribute."""

    kind: str
    attribute: Attribute
    limits: Limits
    parts: tuple[tuple[int, str, _ByLimit], ...]
    """The rules by window and currency."""


class Watched(msgspec.Struct, frozen=True):
    """The rules that count the same value."""

    base: Attribute
    """The attribute whose value is hashed."""
    end: bytes
    """The end of the key."""
    window: Instant
    """The longest window in which any rule of the merchant counts it: the sightings of a value are held for all."""
    groups: tuple[_Group, ...]
    limits: Limits


class CompiledRules(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of a channel that are not off, grouped so that many alike cost as much as one."""

    by_value: Mapping[Attribute, Watched] = {}
    """The rules that count payments with a value, by the attribute whose value is hashed."""
    by_result: tuple[Watched, ...] = ()
    """The rules that count payments that were declined for a value."""
    amounts: Mapping[str, _ByLimit] = {}
    plain: tuple[Rule, ...] = ()
    """Rules that look at the facts only."""
    scores: tuple[Rule, ...] = ()
    answers: tuple[Rule, ...] = ()
    """The rules that wait for the acquirer's answer."""
    counted: frozenset[Attribute] = frozenset()
    """The attributes that any rule of the merchant counts."""
    attributes: frozenset[Attribute] = frozenset()
    """The attributes whose values rules look at."""
    wanted: frozenset[Attribute] = frozenset()
    """These, those that lists name and those that are counted."""
    windows_s: Mapping[Attribute, int] = {}
    """The longest window of each attribute whose sightings are needed."""
    totals: tuple[tuple[Attribute, int, str], ...] = ()
    """The totals that are needed: attribute, window and currency; "" is any currency."""
    block: Mapping[tuple[Attribute, bytes], Entry] = {}
    allow: Mapping[tuple[Attribute, bytes], Entry] = {}
    listed: frozenset[Attribute] = frozenset()
    """The attributes that a list names."""
    needs_names: bool = False
    """Some rule compares the name of the holder with that of the customer."""
    needs_places: bool = False
    """Some rule or entry asks for the country of the card or of the IP address."""
    registering: "CompiledRules | None" = None
    """The part of it that judges registrations without a payment."""

    @property
    def watched(self) -> tuple[Watched, ...]:
        """Returns all rules that count."""
        return (*self.by_value.values(), *self.by_result)

    @property
    def is_idle(self) -> bool:
        """Tells whether nothing is to be judged before a payment is sent, and nothing to be counted."""
        return not (self.counted or self.amounts or self.plain or self.block or self.allow)


_NOTHING = RiskFinding()
_ANY = 1 << 62
_BY_WINDOW = ("count", "volume", "distinct", "wrong_tries", "first_time", "duplicate")
_ANSWERS = ("avs", "cvv")
_COUNTS_ITSELF = ("count", "distinct")
_PLACED = ("country_mismatch", "country_served", "proxy")


def compile_rules(
    rules: Iterable[Rule], entries: Iterable[Entry] = (), counted: Mapping[Attribute, int] | None = None
) -> CompiledRules:
    """Groups the rules that count for a channel, which are the newest versions.

    counted: what the rules of all channels count; None if there are no others.
    """
    found = [rule for rule in rules if rule.mode is not RuleMode.OFF]
    counting = [rule for rule in found if rule.kind in _BY_WINDOW]
    windows_s: dict[Attribute, int] = {}
    for rule in counting:
        if (attribute := rule.terms.attribute) is not None:
            windows_s[attribute] = max(windows_s.get(attribute, 0), rule.terms.window_s)
    groups = tuple(_make_groups(counting))
    entries, counted = list(entries), windows_s if counted is None else counted
    attributes = frozenset(rule.terms.attribute for rule in found if rule.terms.attribute is not None)
    listed = frozenset(each.attribute for each in entries)
    watched = _watch(groups, counted)
    compiled = CompiledRules(
        by_value={each.base: each for each in watched if not each.end},
        by_result=tuple(each for each in watched if each.end),
        amounts={
            currency: _order_by_limit([r for r in found if r.kind == "amount" and r.terms.currency == currency])
            for currency in {rule.terms.currency for rule in found if rule.kind == "amount"}
        },
        plain=tuple(rule for rule in found if rule.kind in _PLAIN),
        scores=tuple(sorted((r for r in found if r.kind == "score"), key=lambda rule: rule.terms.score)),
        answers=tuple(rule for rule in found if rule.kind in _ANSWERS),
        counted=frozenset(counted),
        attributes=attributes,
        wanted=attributes.union(listed, counted),
        windows_s=windows_s,
        totals=tuple(
            (group.attribute, window_s, currency)
            for group in groups
            if group.attribute in TOTALS
            for window_s, currency, _ in group.parts
        ),
        block={(each.attribute, each.value_hash): each for each in entries if each.list is ListName.BLOCK},
        allow={(each.attribute, each.value_hash): each for each in entries if each.list is ListName.ALLOW},
        listed=listed,
        needs_names=any(rule.kind == "holder" for rule in found),
        needs_places=any(rule.kind in _PLACED for rule in found)
        or any(each.attribute is Attribute.COUNTRY for each in entries),
    )
    return msgspec.structs.replace(compiled, registering=_select_registering(compiled))


def _select_registering(rules: CompiledRules) -> CompiledRules:
    own, counted = REGISTERING & rules.attributes, REGISTERING & rules.counted
    groups = {each.base: [group for group in each.groups if group.attribute in own] for each in rules.watched}
    return msgspec.structs.replace(
        rules,
        by_value={
            base: msgspec.structs.replace(each, groups=tuple(groups[base]))
            for base, each in rules.by_value.items()
            if groups[base]
        },
        by_result=(),
        amounts={},
        plain=(),
        counted=counted,
        attributes=own,
        wanted=own.union(rules.listed, counted),
        windows_s={attribute: rules.windows_s[attribute] for attribute in own},
        totals=(),
    )


def _make_groups(rules: Iterable[Rule]) -> Iterable[_Group]:
    found: dict[tuple[str, Attribute], dict[tuple[int, str], list[Rule]]] = {}
    for rule in rules:
        terms = rule.terms
        if terms.attribute is not None:
            by_window = found.setdefault((rule.kind, terms.attribute), {})
            by_window.setdefault((terms.window_s, terms.currency), []).append(rule)
    for (kind, attribute), by_window in found.items():
        parts = tuple((*key, _order_by_limit(some)) for key, some in by_window.items())
        yield _Group(kind, attribute, _make_limits(kind, attribute, min(each.limits[0] for *_, each in parts)), parts)


def _make_limits(kind: str, attribute: Attribute, least: int) -> Limits:
    """Returns what hits none of the rules of a kind, of whose limits one is the lowest."""
    if attribute in TOTALS:
        # What all payments share is not held one by one.
        return Limits(-1, _ANY, _ANY)
    match kind:
        case "volume":
            return Limits(_ANY, least, _ANY)
        case "first_time":
            return Limits(_ANY, _ANY, least)
        case _:
            return Limits(least - (kind in _COUNTS_ITSELF), _ANY, _ANY)


def _watch(groups: Iterable[_Group], windows_s: Mapping[Attribute, int]) -> tuple[Watched, ...]:
    found: dict[tuple[Attribute, bytes], list[_Group]] = {}
    for group in groups:
        found.setdefault(KEYS[group.attribute], []).append(group)
    return tuple(
        Watched(
            base,
            end,
            max(windows_s[each.attribute] for each in some) * SECOND,
            tuple(some),
            Limits(*(min(limits) for limits in zip(*[astuple(each.limits) for each in some], strict=True))),
        )
        for (base, end), some in found.items()
    )


def _order_by_limit(rules: Sequence[Rule]) -> _ByLimit:
    ordered = sorted(rules, key=_get_limit)
    return _ByLimit(tuple(_get_limit(rule) for rule in ordered), tuple(ordered))


def _get_limit(rule: Rule) -> int:
    """Returns the number above which a rule is hit."""
    if rule.kind == "wrong_tries":
        # The payment that is judged is no wrong try yet, so the limit is reached by the earlier ones alone.
        return rule.terms.count - 1
    return rule.terms.amount if rule.kind in ("volume", "amount", "first_time") else rule.terms.count


def evaluate(
    rules: CompiledRules, facts: Facts, velocities: Velocities, watched: Iterable[Watched] | None = None
) -> RiskFinding:
    """Judges a payment before it is sent. A rule in shadow is noted and counts for nothing.

    A value on the block list refuses whatever the rules say; one on the allow list lets none of them decide.

    watched: the rules that count and may be hit; None for all.
    """
    own = facts.money.hundredths
    blocked = _find_entry(rules.block, facts) if rules.block else None
    allowed = _find_entry(rules.allow, facts) if rules.allow and blocked is None else None
    hit: list[Rule] = []
    for group in [group for each in (rules.watched if watched is None else watched) for group in each.groups]:
        count, total = velocities.count_all(group.attribute), velocities.add_up_all(group.attribute)
        if not group.limits.allow(count, total, own):
            hit += _list_hit(group, facts, velocities)
    if (alike := rules.amounts.get(facts.money.currency)) is not None:
        hit += alike.list_exceeded(own)
    hit += [rule for rule in rules.plain if _PLAIN[rule.kind](rule.terms, facts)]
    finding = _conclude(rules, _NOTHING, hit, is_allowed=allowed is not None) if hit else _NOTHING
    if allowed is not None:
        # It is noted, because it counts for the acquirer's answers too.
        return msgspec.structs.replace(finding, hits=(Hit(allowed.id, LISTED, RiskOutcome.ACCEPT), *finding.hits))
    if blocked is None:
        return finding
    refusal = Hit(blocked.id, LISTED, RiskOutcome.REFUSE)
    code = BLOCK_CODES[blocked.attribute]
    return msgspec.structs.replace(finding, outcome=RiskOutcome.REFUSE, code=code, hits=(refusal, *finding.hits))


def evaluate_answers(rules: CompiledRules, before: RiskFinding | None, avs: str, cvv: str) -> RiskFinding | None:
    """Judges an approval by the acquirer's answers; returns the finding of both moments, or None if none was hit."""
    answered = {"avs": avs, "cvv": cvv}
    hit = [rule for rule in rules.answers if answered[rule.kind] and answered[rule.kind] in rule.terms.answers]
    found = before or RiskFinding()
    return _conclude(rules, found, hit, is_allowed=found.is_allowed) if hit else before


def _find_entry(entries: Mapping[tuple[Attribute, bytes], Entry], facts: Facts) -> Entry | None:
    found = (entries.get(each) for each in facts.listed)
    return next((each for each in found if each and each.is_counted(facts.at)), None)


def _list_hit(group: _Group, facts: Facts, velocities: Velocities) -> list[Rule]:
    attribute = group.attribute
    if attribute not in facts.values or (attribute in PAIRS and attribute not in facts.others):
        return []
    currency, own = facts.money.currency, facts.money.hundredths
    if group.kind == "first_time":
        return [
            rule
            for window_s, of, alike in group.parts
            if of == currency and own > alike.limits[0] and not velocities.count(attribute, window_s)
            for rule in alike.list_exceeded(own)
        ]
    hit: list[Rule] = []
    for window_s, of, alike in group.parts:
        if of and of != currency:
            continue
        hit += alike.list_exceeded(_measure(group, facts, velocities, window_s))
    return hit


def _measure(group: _Group, facts: Facts, velocities: Velocities, window_s: int) -> int:
    attribute = group.attribute
    match group.kind:
        case "volume":
            return velocities.add_up(attribute, window_s, facts.money.currency) + facts.money.hundredths
        case "distinct":
            return velocities.count_others(attribute, window_s, facts.others[attribute])
        case "count":
            return velocities.count(attribute, window_s) + 1
        case _:
            return velocities.count(attribute, window_s)


def _conclude(
    rules: CompiledRules, before: RiskFinding, hit: Iterable[Rule], *, is_allowed: bool = False
) -> RiskFinding:
    """Adds hits to a finding, and then those of the rules that look at the score.

    Of rules that demand the same, the one decides that has been as it is for the longest time.
    """
    found = sorted(hit, key=lambda rule: (rule.created_at, rule.id))
    score = before.score
    if not is_allowed:
        score = min(100, score + sum(rule.points for rule in found if rule.mode is RuleMode.ACTIVE))
        known = {each.rule_id for each in before.hits}
        reached = bisect_right([rule.terms.score for rule in rules.scores], score)
        found += [rule for rule in rules.scores[:reached] if rule.id not in known]
    outcome, code = before.outcome, before.code
    for rule in found:
        if rule.mode is RuleMode.ACTIVE and not is_allowed and SEVERITY[rule.outcome] > SEVERITY[outcome]:
            outcome, code = rule.outcome, rule.code
    hits = [
        Hit(rule.id, rule.version, rule.outcome, rule.points, is_allowed or rule.mode is RuleMode.SHADOW)
        for rule in found
    ]
    return RiskFinding(score, outcome, code, (*before.hits, *hits))


_COMPARED: Mapping[str, Callable[[Facts], tuple[str, str]]] = {
    compared: attrgetter(*[f"{country}_country" for country in compared.split("-")]) for compared in COMPARED
}


def _is_mismatch(terms: Terms, facts: Facts) -> bool:
    one, other = _COMPARED[terms.compared](facts)
    return bool(one and other) and one != other


def _is_unserved(terms: Terms, facts: Facts) -> bool:
    country = facts.billing_country or facts.bin_country
    return bool(country) and country not in terms.countries


def _is_missing(terms: Terms, facts: Facts) -> bool:
    return terms.attribute not in facts.present


_PLAIN: Mapping[str, Callable[[Terms, Facts], bool]] = {
    "country_mismatch": _is_mismatch,
    "country_served": _is_unserved,
    "missing": _is_missing,
    "proxy": lambda _terms, facts: facts.is_proxy,
    "holder": lambda _terms, facts: facts.is_other_holder,
}
"""The kinds of rules that look at the facts only."""
