"""The reference pages of result codes: all of them with their causes, and the declines with the advice on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tools.reference_markdown import code, page, section, table

from tollgate.catalog.advice import Retry, get_advice
from tollgate.catalog.result_rows.row import Origin
from tollgate.catalog.results import CAUSES, GROUPS, RESULTS
from tollgate.payments.schedule import PAUSES, Reaction, choose_reaction
from tollgate.values import HOUR

NO_DECLINES = frozenset({"success", "success_review", "pending", "pending_long", "job_validation", "chargeback"})
"""The groups of payments that went through or are open, of schedules, and of money that was taken back later."""

TITLES = {
    Retry.LATER: "Try again later",
    Retry.CHANGED: "Change something first",
    Retry.NEVER: "Do not try again",
}

SCHEDULES = {Reaction.SOFT: "tried again", Reaction.HARD: "not tried again", Reaction.STOP: "ends"}


def render_result_codes() -> str:
    by_group = {group.id: [row for row in RESULTS.values() if row.group == group.id] for group in GROUPS}
    parts = (
        line
        for group in GROUPS
        for line in (
            *section(code(group.id), group.meaning, f"Pattern: {code(group.regex)}"),
            *table(
                ("code", "HTTP", "meaning", "cause"),
                (
                    (code(row.code), str(row.http_status), row.text, describe_cause(row.code))
                    for row in by_group[group.id]
                ),
            ),
        )
    )
    intro = ["A code belongs to the first group whose pattern matches it, but for the few that stand elsewhere.", ""]
    counted = Counter(cause.origin for cause in CAUSES.values())
    causes = (
        *section(
            "Causes",
            "What makes the gateway answer a code, or why nothing does. On a test host any code can be forced "
            "by `customParameters[forceResultCode]`.",
        ),
        *table(("cause", "codes"), ((origin.value, str(counted[origin])) for origin in Origin)),
    )
    return page(f"Result codes ({len(RESULTS)})", intro, causes, parts)


def describe_cause(result_code: str) -> str:
    cause = CAUSES[result_code]
    return cause.words if cause.origin is Origin.GATEWAY else f"{cause.origin.value} ({cause.words})"


def list_declines() -> list[str]:
    """Lists the codes of declines that the gateway or a partner answers without being forced to."""
    return [
        row.code for row in RESULTS.values() if row.group not in NO_DECLINES and CAUSES[row.code].origin.is_answered
    ]


def _describe_schedule(result_code: str) -> str:
    reaction = SCHEDULES[choose_reaction(result_code)]
    pause = PAUSES.get(result_code)
    return f"{reaction}, after {pause // HOUR} hours or more" if pause else reaction


def _describe_declines(retry: Retry) -> Iterator[tuple[str, ...]]:
    for result_code in list_declines():
        advice = get_advice(result_code)
        if advice.retry is retry:
            text = RESULTS[result_code].text
            yield code(result_code), text, advice.action, advice.shopper, _describe_schedule(result_code)


def render_declines() -> str:
    intro = [
        "Every code that a payment may be declined with: whether to try again, what you do, and what to tell the",
        "shopper. [Which declines to retry](../declines.md) is the guide to it, and",
        "[result codes](result-codes.md) has all codes, also those that only a sandbox can be made to answer.",
        "",
        "*Schedules*: what a [schedule](../schedules.md) does with a payment that is declined like this.",
        "",
    ]
    head = ("code", "meaning", "what you do", "tell the shopper", "schedules")
    parts = (
        line
        for retry, title in TITLES.items()
        for line in (*section(title, retry.value), *table(head, _describe_declines(retry)))
    )
    return page(f"Declines ({len(list_declines())})", intro, parts)
