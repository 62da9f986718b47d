"""The risk rules of a merchant: listed with what they hit, added, and changed by writing a new version.

What a rule may be is decided in `contract`, and what it does to a payment in `payments`.
"""

from collections.abc import Mapping
from typing import Any

from tollgate.catalog import audit_actions, limits, permissions, risk_rows
from tollgate.contract import risk_rules as contract
from tollgate.contract.search_words import RULE_WORD
from tollgate.contract.searching import PaymentQuery, Reading, Trait, Word
from tollgate.flows.search_payments import search_page
from tollgate.office import approvals, form_keys, visits
from tollgate.operations import risk_rules
from tollgate.payments.risk import RiskOutcome, Rule, RuleMode
from tollgate.store import risk, search_index
from tollgate.values import DAY
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/risk"
_SEES, _MAY = permissions.Permission.VIEW_RISK, permissions.Permission.MANAGE_RISK
_KIND = permissions.ApprovalKind.RISK
_HITS_COUNTED = 1000
"""Hits of a rule beyond this number are not counted for the list."""
_HITS_SHOWN = 10
MODE_TONES = {RuleMode.ACTIVE: "good", RuleMode.SHADOW: "open", RuleMode.OFF: ""}


def _sees(visit: visits.Visit, rule: Rule) -> bool:
    """Tells whether a rule judges payments of a channel that the user sees; one for all channels judges those too."""
    return not rule.channel_id or visit.may(_SEES, rule.channel_id)


@ROUTES.add("GET", _PATH, _SEES)
async def show_rules(visit: visits.Visit) -> Reply:
    """Lists the newest version of each rule, with the number of payments that hit it within a day."""
    merchant_id, since = visit.get_merchant().id, visit.app.clock.now() - DAY
    rows = []
    for rule in await risk.list_rules(visit.app.database, merchant_id):
        if _sees(visit, rule):
            term = Reading(Trait.RULE, rule.id).term or ""
            hits = await search_index.count_term(visit.app.database, merchant_id, term, since, _HITS_COUNTED)
            rows.append((rule, contract.render_terms(rule), f"{hits}+" if hits == _HITS_COUNTED else str(hits)))
    return visit.render(
        "risk_rules.html",
        title="Risk rules",
        rows=rows,
        names=_list_names(visit),
        tones=MODE_TONES,
        may_add=bool(visit.list_channels(_MAY)) or visit.may(_MAY, ""),
    )


def _list_names(visit: visits.Visit) -> dict[str, str]:
    return {str(each.id): each.name for each in visit.app.merchants.list_channels(visit.get_merchant().id)}


@ROUTES.add("GET", f"{_PATH}/new", _MAY)
async def show_form(visit: visits.Visit) -> Reply:
    """Offers the kinds of rules, or the form of the one that was chosen."""
    kind = risk_rows.RISK_KINDS.get(visit.find("kind"))
    return visit.render(
        "risk_new.html",
        title="Add a risk rule",
        kinds=[(each, _make_title(each)) for each in risk_rows.RISK_KINDS.values()],
        kind=kind,
        kind_title=_make_title(kind) if kind else "",
        fields=_list_fields(visit, kind, {}) if kind else [],
        key=form_keys.make_form_key(visit),
    )


def _make_title(kind: risk_rows.RiskKind) -> str:
    return _TITLES.get(kind.name, kind.name.replace("_", " ").capitalize())


_TITLES = {"avs": "AVS", "cvv": "CVV"}


def _list_fields(visit: visits.Visit, kind: risk_rows.RiskKind, values: Mapping[str, str]) -> list[dict[str, Any]]:
    """Returns the fields of a rule: name, label, value, explanation, and the options where there are few."""
    places = [("", "All channels")] if visit.may(_MAY, "") else []
    places += [(each.id, each.name) for each in visit.list_channels(_MAY)]
    rows: list[tuple[str, str, list[tuple[str, str]]]] = [
        ("name", "The name by which people know the rule.", []),
        ("channel", "The channels whose payments it judges.", places),
    ]
    for term in kind.terms:
        choices: dict[risk_rows.Term, tuple[str, ...]] = {
            risk_rows.Term.ATTRIBUTE: tuple(kind.codes),
            risk_rows.Term.COMPARED: risk_rows.COMPARED,
        }
        options = [(str(each), each.replace("_", " ")) for each in choices.get(term, ())]
        rows.append((term, risk_rows.TERM_SHAPES[term][1].capitalize() + ".", options))
    rows += [
        ("outcome", "What is done with a payment that hits the rule.", [(each, _spell(each)) for each in RiskOutcome]),
        ("mode", "In shadow a hit is only noted. Begin with it.", [(each, each) for each in RuleMode]),
        ("points", "Points for the risk score of the payment, from 0 to 100.", []),
        ("code", "The result code of a refusal or review; empty for the usual one.", []),
    ]
    defaults = {"outcome": kind.outcome, "mode": RuleMode.SHADOW, "points": "0"}
    return [
        {
            "name": name,
            "label": name.capitalize(),
            "text": text,
            "options": options,
            "value": values.get(name, defaults.get(name, "")),
        }
        for name, text, options in rows
    ]


def _spell(outcome: RiskOutcome) -> str:
    return "step up to 3-D Secure" if outcome is RiskOutcome.STEP_UP else outcome.value


def _read_sent(visit: visits.Visit, kind: risk_rows.RiskKind) -> dict[str, str]:
    names = {"kind", *[field["name"] for field in _list_fields(visit, kind, {})]}
    return {name: value.strip() for name, value in visit.request.pairs if name in names}


@ROUTES.add("POST", f"{_PATH}/rules", _MAY)
async def submit_rule(visit: visits.Visit) -> Reply:
    """Adds a rule, or asks a second person first."""
    kind = risk_rows.RISK_KINDS.get(visit.find("kind"))
    if kind is None:
        raise visits.refuse_field("kind", "must be one of the list")
    sent = {name: text for name, text in _read_sent(visit, kind).items() if text}
    rule = _read_rule(visit, sent)
    fields = {"key": form_keys.check_form_key(visit.find("key")), **sent}
    return await approvals.perform(
        visit,
        add_rule,
        fields,
        back=f"{visit.base}/risk",
        subject=rule.name,
        summary=f"add the risk rule '{rule.name}': {_describe(visit, contract.render_rule(rule))}",
        channel_id=rule.channel_id,
    )


def _read_rule(visit: visits.Visit, sent: Mapping[str, str], rule_id: str = "", version: int = 1) -> Rule:
    """Reads a rule that the user may have, before anybody is asked about it."""
    app, merchant_id = visit.app, visit.get_merchant().id
    rule = contract.read_rule(
        sent, merchant_id=merchant_id, rule_id=rule_id, version=version, by=visit.user.name, now=app.clock.now()
    )
    if rule.channel_id and rule.channel_id not in _list_names(visit):
        raise visits.refuse_field("channel", "must be one of the list")
    visit.check(_MAY, rule.channel_id)
    return rule


def _describe(visit: visits.Visit, shown: Mapping[str, str]) -> str:
    """Says what a rule is, because a second person knows no more about it."""
    names = _list_names(visit)
    texts = {**shown, **({"channel": names.get(shown["channel"], "all")} if "channel" in shown else {})}
    return ", ".join(f"{name} {text}" for name, text in texts.items() if text and name != "name")


@approvals.declare_action("add risk rule", _KIND, _MAY)
async def add_rule(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Adds a rule, once for each form."""
    database, merchant_id = visit.app.database, visit.get_merchant().id
    rule_id = form_keys.derive_id(visit, add_rule.name, fields["key"])
    if await risk.list_versions(database, merchant_id, rule_id):
        return "The risk rule had been added before."
    sent = {name: text for name, text in fields.items() if name != "key"}
    await visit.record(audit_actions.AuditAction.RISK_RULE_ADDED, rule_id, **sent)
    rule = await risk_rules.add_rule(
        database, merchant_id, sent, by=visit.user.name, now=visit.app.clock.now(), new_id=rule_id
    )
    await visit.app.merchants.refresh(database)
    return f"The risk rule {rule.name} was added. It is {_MODE_WORDS[rule.mode]}."


_MODE_WORDS = {RuleMode.ACTIVE: "active", RuleMode.SHADOW: "in shadow", RuleMode.OFF: "off"}


# ---- one rule ----


async def _list_versions(visit: visits.Visit, rule_id: str) -> list[Rule]:
    """Lists the versions of a rule that the user sees, the newest last; any other is unknown."""
    found = await risk.list_versions(visit.app.database, visit.get_merchant().id, rule_id)
    if not found or not _sees(visit, found[-1]):
        raise visits.make_not_found("risk rule")
    return found


@ROUTES.add("GET", f"{_PATH}/rules/{{id}}", _SEES)
async def show_rule(visit: visits.Visit) -> Reply:
    """Shows a rule with its versions and the last payments that hit it."""
    versions = await _list_versions(visit, visit.names[0])
    rule, kind = versions[-1], risk_rows.RISK_KINDS[versions[-1].kind]
    channel_ids = tuple(each.id for each in visit.list_channels())
    word = Word(rule.id, (Reading(Trait.RULE, rule.id),))
    found = await search_page(
        visit.app, rule.merchant_id, PaymentQuery(channel_ids=channel_ids, words=(word,)), after=None
    )
    newest = versions[-limits.LIMITS.office_page :]
    return visit.render(
        "risk_rule.html",
        title=rule.name,
        rule=rule,
        kind=kind,
        kind_title=_make_title(kind),
        fields=_list_fields(visit, kind, contract.render_rule(rule)),
        versions=[(each, _describe(visit, contract.render_rule(each))) for each in reversed(newest)],
        hits=[_describe_hit(rule, each.payment) for each in found.rows[:_HITS_SHOWN] if each.is_trusted],
        has_more=len(found.rows) > _HITS_SHOWN,
        word=f"{RULE_WORD}{rule.id}",
        names=_list_names(visit),
        tones=MODE_TONES,
        mark=form_keys.make_mark(rule.version),
        may_change=visit.may(_MAY, rule.channel_id),
    )


def _describe_hit(rule: Rule, payment: Any) -> tuple[Any, Any]:
    """Returns a payment with its hit of the rule."""
    return payment, next(each for each in payment.risk.hits if each.rule_id == rule.id)


@ROUTES.add("POST", f"{_PATH}/rules/{{id}}", _MAY)
async def submit_version(visit: visits.Visit) -> Reply:
    """Writes a new version with what differs from the one that the page showed."""
    versions = await _list_versions(visit, visit.names[0])
    rule = versions[-1]
    visit.check(_MAY, rule.channel_id)
    form_keys.check_mark(visit.find("mark"), rule.version)
    kept = contract.render_rule(rule)
    sent = _read_sent(visit, risk_rows.RISK_KINDS[rule.kind])
    changes = {name: text for name, text in sent.items() if text != kept.get(name)}
    back = f"{visit.base}/risk/rules/{rule.id}"
    if not changes:
        return visit.go(back, "Nothing was changed.")
    _read_rule(visit, contract.render_changed(rule, changes), rule.id)
    return await approvals.perform(
        visit,
        change_rule,
        {"rule": rule.id, "version": str(rule.version), **changes},
        back=back,
        subject=rule.id,
        summary=f"change the risk rule '{rule.name}': {_describe(visit, changes)}",
        channel_id=rule.channel_id,
    )


@approvals.declare_action("change risk rule", _KIND, _MAY)
async def change_rule(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Writes the next version of a rule, if the newest is still the one that was seen.

    The version is part of its key, so of two changes at once one is written and the other told.
    """
    versions = await _list_versions(visit, fields["rule"])
    changes = {name: text for name, text in fields.items() if name not in ("rule", "version")}
    seen = next(each for each in versions if each.version == int(fields["version"]))
    wanted = _read_rule(visit, contract.render_changed(seen, changes), seen.id, seen.version + 1)
    if contract.render_rule(versions[-1]) == contract.render_rule(wanted):
        return f"The risk rule is as you want it, in version {versions[-1].version}."
    form_keys.check_mark(form_keys.make_mark(seen.version), versions[-1].version)
    await visit.record(audit_actions.AuditAction.RISK_RULE_CHANGED, seen.id, version=str(wanted.version), **changes)
    if not await risk.insert_rule(visit.app.database, wanted):
        newest = (await _list_versions(visit, seen.id))[-1]
        form_keys.check_mark(form_keys.make_mark(seen.version), newest.version)
    await visit.app.merchants.refresh(visit.app.database)
    return f"Version {wanted.version} of the risk rule {wanted.name} counts from now on."
