"""Pages of the result codes: what a code means, what to do, and how to get it on a test host. No text is written here.

Codes, causes and advice are rows of the catalogue.
"""

import shlex
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from itertools import pairwise

import msgspec

from tollgate.catalog import advice, events, results
from tollgate.catalog.endpoints import ENDPOINTS, ENTITY_ID
from tollgate.catalog.examples import get_example
from tollgate.catalog.return_reasons import RETURN_REASONS
from tollgate.catalog.test_cards import TEST_CARDS
from tollgate.connectors.acquiring import FORCED_CODE
from tollgate.docs import headings, site, texts
from tollgate.operations.app import App
from tollgate.values import Result
from tollgate.web.request import Access, Reply, Request, Routes

ROUTES = Routes()
_PAGES_KEPT = 64
"""A page is made in a millisecond, while all of them would take ten megabytes."""
_NEAREST_MAX = 8
_SIMILARITY_MIN = 0.6
_CODE_LENGTH_MAX = 32
_CARDS_MAX = 6
_NEIGHBOURS_MAX = 5  # on each side
_CHARGEBACK = "CB"
_PAY = ENDPOINTS["POST /v1/payments"]

GROUPS: Mapping[str, results.Group] = {group.id: group for group in results.GROUPS}
_IN_ORDER = sorted(results.RESULTS)
_BEFORE = {code: before for before, code in pairwise(_IN_ORDER)}
_AFTER = dict(pairwise(_IN_ORDER))


class Card(msgspec.Struct, frozen=True):
    """A test card that gives the code."""

    number: str
    brand: str
    behaviour: str
    runs_3ds: bool
    """The code is given only if the payment runs 3-D Secure."""


@ROUTES.add("GET", texts.CODES, "docs", Access.OPEN)
async def show_codes(request: Request, app: App) -> Reply:
    """Shows all result codes by group."""
    return await site.serve(request, _render_codes, is_live=app.is_live)


@ROUTES.add("GET", f"{texts.CODES}/{{code}}", "docs", Access.OPEN)
async def show_code(request: Request, app: App) -> Reply:
    """Shows a result code, or the nearest ones if there is none with this name."""
    code = request.names[0]
    render = _render_code if code in results.RESULTS else _render_unknown
    return await site.serve(request, render, code, is_live=app.is_live)


@cache
def _render_codes(*, is_live: bool) -> site.Page:
    shown = [(group, list_group(group.id)) for group in results.GROUPS]
    return site.render_page("codes.html", title="Result codes", path=texts.CODES, is_live=is_live, shown=shown)


def list_group(group: str) -> list[Result]:
    return [row for row in results.RESULTS.values() if row.group == group]


@lru_cache(_PAGES_KEPT)
def _render_code(code: str, *, is_live: bool) -> site.Page:
    result = results.get_result(code)
    sections = ("What to do", "Why it is answered", "Get it on a test host", "Events", "Codes of the same group")
    return site.render_page(
        "code.html",
        title=f"{code} {result.description}",
        path=f"{texts.CODES}/{code}",
        is_live=is_live,
        headings=[headings.Heading(2, text, headings.make_anchor(text)) for text in sections],
        before=_make_link(_BEFORE.get(code)),
        after=_make_link(_AFTER.get(code)),
        result=result,
        group=GROUPS[result.group],
        neighbours=list_neighbours(result),
        is_exception=code in results.GROUP_EXCEPTIONS,
        cause=results.CAUSES[code],
        advice=advice.get_advice(code),
        cards=list(list_cards(code))[:_CARDS_MAX],
        reasons=[reason for reason in RETURN_REASONS.values() if reason.notice == code],
        events=list_events(code),
        endpoint=_PAY,
        request=make_request(code),
        reference=texts.get_path("docs/reference/result-codes.md"),
        test_data=texts.get_path("docs/reference/test-data.md"),
        event_rows=texts.get_path("docs/reference/events.md"),
    )


def list_neighbours(result: Result) -> list[Result]:
    """Returns the code with those around it in its group."""
    rows = list_group(result.group)
    place = rows.index(result)
    return rows[max(0, place - _NEIGHBOURS_MAX) : place + _NEIGHBOURS_MAX + 1]


def _make_link(code: str | None) -> site.Link | None:
    return None if code is None else site.Link(f"{texts.CODES}/{code}", code)


def _render_unknown(code: str, *, is_live: bool) -> site.Page:
    near = [results.get_result(each) for each in suggest_codes(code)]
    return site.render_page(
        "unknown_code.html", title="No such result code", path=texts.CODES, is_live=is_live, status=404, near=near
    )


def suggest_codes(code: str) -> list[str]:
    """Returns the nearest codes: those that begin like it, then those that look like it."""
    asked = code[:_CODE_LENGTH_MAX]
    beginning = [known for known in results.RESULTS if known.startswith(asked)]
    near = get_close_matches(asked, results.RESULTS, n=_NEAREST_MAX, cutoff=_SIMILARITY_MIN)
    return list(dict.fromkeys([*beginning, *near]))[:_NEAREST_MAX]


def list_cards(code: str) -> Iterator[Card]:
    """Yields the test cards whose payment has this result, with 3-D Secure or without."""
    for card in TEST_CARDS.values():
        if code in (card.charged_code, card.secured_code):
            yield Card(card.number, card.brand, card.behaviour.value, card.charged_code != code)


def list_events(code: str) -> list[events.EventRow]:
    """Returns the events that announce a payment with this result, each once."""
    is_chargeback = results.get_result(code).group == "chargeback"
    kinds = (kind for kind in events.EVENTFUL_PAYMENT_TYPES if (kind == _CHARGEBACK) is is_chargeback)
    is_approved = is_chargeback or results.is_success(code)
    found = (events.choose_payment_event(kind, code, is_approved=is_approved) for kind in kinds)
    return [events.EVENT_ROWS[name] for name in dict.fromkeys(found)]


def make_request(code: str) -> str:
    """Makes a request that has this result on a test host; the texts use the same variables."""
    fields = dict(get_example("forced_review").pairs) | {f"customParameters[{FORCED_CODE}]": code}
    lines = [f"curl $BASE{_PAY.path}", '-H "Authorization: Bearer $TOKEN"', f"-d {ENTITY_ID}=$ENTITY"]
    return " \\\n  ".join([*lines, *(f"-d {shlex.quote(f'{name}={value}')}" for name, value in fields.items())])
