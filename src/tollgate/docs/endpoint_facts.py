"""The facts about an endpoint as its page shows them: parameters, rules, answers, result codes and limits.

How they are laid out is written in the templates.
"""

from collections.abc import Iterator

import msgspec

from tollgate.catalog import results
from tollgate.catalog.answers import ANSWERS, Member
from tollgate.catalog.endpoints import ENTITY_ID, Answer, Endpoint, Section
from tollgate.catalog.parameters.names import PARAMETERS, first_word
from tollgate.catalog.parameters.row import Need, Parameter
from tollgate.catalog.scopes import REFUND_TYPES, Scope
from tollgate.docs.calls import find_throttle
from tollgate.payments.following import SYSTEM_ONLY

_UNITS = ((3600, "hour"), (60, "minute"))
_COUNTED_BY = {"entity": "entity", "id": "id", "row": "id", "address": "address of the caller"}
_RESULT_OF_A_PAYMENT = frozenset(
    {Answer.PAYMENT, Answer.AUTHENTICATION, Answer.SUBMISSION, Answer.REGISTRATION, Answer.SCHEDULE}
)
_REFUSALS = frozenset({"success", "format_validation"})


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter, or a member of an answer."""

    name: str
    format: str
    need: str
    note: str
    lenient: str = ""


class Group(msgspec.Struct, frozen=True):
    name: str
    lines: tuple[Line, ...]


# ---- parameters ----


def list_parameters(endpoint: Endpoint) -> list[Group]:
    """Lists the parameters of an endpoint: first those without a group, then each group by its first word."""
    words = (*((ENTITY_ID,) if endpoint.access != "open" else ()), *endpoint.takes)
    by_word: dict[str, list[Parameter]] = {word: [] for word in words}
    for row in PARAMETERS.values():
        if first_word(row.name) in by_word:
            by_word[first_word(row.name)].append(row)
    plain = [row for rows in by_word.values() for row in rows if row.name in by_word]
    needed = sorted(plain, key=lambda row: row.name != ENTITY_ID and row.name not in endpoint.needs)
    own = [
        Line(
            name=each.name,
            format=each.shape.notation,
            need=_render_need(is_required=each.is_required),
            note=each.note,
        )
        for each in endpoint.own
    ]
    top = Group("", (*(_show_parameter(row, endpoint) for row in needed), *own))
    groups = [
        Group(word, tuple(_show_parameter(row, endpoint) for row in rows if row.name != word))
        for word, rows in by_word.items()
    ]
    return [group for group in (top, *groups) if group.lines]


def _show_parameter(row: Parameter, endpoint: Endpoint) -> Line:
    return Line(
        name=row.name,
        format=row.shape.notation,
        need=_choose_need(row, endpoint),
        note=row.note,
        lenient=row.lenient.notation if row.lenient and row.lenient.notation != row.shape.notation else "",
    )


def _choose_need(row: Parameter, endpoint: Endpoint) -> str:
    if row.name == ENTITY_ID:
        return _render_need(is_required=endpoint.access == "entity")
    if row.name in endpoint.needs:
        return Need.REQUIRED.value
    # The row of a parameter without a group says what a payment needs; other endpoints can do without it.
    is_payments_own = row.need is Need.REQUIRED and not row.group
    return Need.CONDITIONAL.value if is_payments_own else row.need.value


def _render_need(*, is_required: bool) -> str:
    need = Need.REQUIRED if is_required else Need.OPTIONAL
    return need.value


# ---- who may call it, and how often ----


def describe_access(endpoint: Endpoint) -> str:
    """Says which credentials an endpoint demands."""
    if endpoint.is_for_shoppers:
        return "The payment form in the shopper's browser, without a token; the id of the checkout is the key."
    if endpoint.access == "open":
        return "Everybody who reaches the host, without a token."
    entity = "an `entityId` that it reaches" if endpoint.access == "entity" else "no `entityId`, or one that it reaches"
    return f"A client with an access token and {entity}. {_describe_scope(endpoint)}"


def _describe_scope(endpoint: Endpoint) -> str:
    throttle = find_throttle(endpoint)
    if throttle is None or throttle.scope is None:
        return "A token with scopes is refused."
    needed = f"A token with scopes needs `{throttle.scope}`"
    if throttle.scope is Scope.PAYMENTS and endpoint.section is Section.PAYMENTS:
        kinds = ", ".join(f"`{kind}`" for kind in sorted(REFUND_TYPES.difference(SYSTEM_ONLY)))
        return f"{needed}; for {kinds} it needs `{Scope.REFUNDS}`."
    return f"{needed}."


def describe_limit(endpoint: Endpoint) -> str:
    """Says how often an endpoint may be asked."""
    throttle = find_throttle(endpoint)
    if throttle is None:
        return "None."
    window = next((f"in {_count(throttle.window_s // s, word)}" for s, word in _UNITS if throttle.window_s >= s), "")
    often = f"{throttle.count:,} requests {window} for each {_COUNTED_BY[throttle.counted_by]}"
    return f"{often}." if throttle.is_on else f"{often}. A test host has no limit unless its operator switches it on."


def _count(number: int, word: str) -> str:
    return f"one {word}" if number == 1 else f"{number} {word}s"


# ---- the answer ----


def list_members(answer: Answer) -> list[Group]:
    """Lists the members of an answer: first its own, then those of each object in it."""
    members = ANSWERS[answer]
    groups = (Group(member.name, tuple(_walk(member, f"{member.name}."))) for member in members)
    return [Group("", tuple(map(_show_member, members))), *(group for group in groups if group.lines)]


def _walk(member: Member, prefix: str) -> Iterator[Line]:
    for inner in member.members:
        yield _show_member(inner, prefix)
        yield from _walk(inner, f"{prefix}{inner.name}.")


def _show_member(member: Member, prefix: str = "") -> Line:
    more = [f"each like {member.like}"] if member.like else []
    more += [f"one of {', '.join(f'`{choice}`' for choice in member.choices)}"] if member.choices else []
    return Line(
        name=f"{prefix}{member.name}",
        format=f"{member.kind} or null" if member.may_be_null else member.kind,
        need="always" if member.is_always else "sometimes",
        note="; ".join([*([member.note] if member.note else []), *more]),
    )


def list_result_groups(endpoint: Endpoint) -> list[results.Group]:
    """Lists the groups of result codes that an endpoint may answer; none where its answer has no result.

    No row says which code comes from where, so the kind of the answer decides, and a group may be listed of which the
    endpoint answers a few codes only.
    """
    if not any(member.name == "result" for member in ANSWERS[endpoint.answer]):
        return []
    possible = set(_REFUSALS)
    if endpoint.answer in _RESULT_OF_A_PAYMENT:
        possible.update(group.id for group in results.GROUPS)
        possible.difference_update(_list_impossible(endpoint))
    if endpoint.section in (Section.CHECKOUTS, Section.LINKS):
        possible.add("pending")
    if "{" in endpoint.path:
        possible.add("reference_validation")
    if find_throttle(endpoint) is not None:
        possible.add("risk_validation")
    return [group for group in results.GROUPS if group.id in possible]


def _list_impossible(endpoint: Endpoint) -> Iterator[str]:
    """Lists the groups that belong to other endpoints: of schedules, and of what banks report."""
    if endpoint.section is not Section.SCHEDULES:
        yield "job_validation"
    if endpoint.method == "POST" and not endpoint.is_for_tests:
        yield "chargeback"
