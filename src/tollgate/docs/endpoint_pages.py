"""Pages of the endpoints: what each takes and answers, and examples that a reader can send on a test host.

Facts come from rows. Pages are the same for everybody; a script fills in the reader's credentials.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby

import msgspec
import orjson

from tollgate.catalog.endpoints import ENDPOINTS, Endpoint, list_endpoints
from tollgate.catalog.examples import BASE, EXAMPLES, Example, get_example, list_steps
from tollgate.docs import calls, endpoint_facts, headings, openapi, site, snippets
from tollgate.operations.app import App
from tollgate.web.request import Access, Reply, Request, Routes

ROUTES = Routes()
_BY_SLUG: Mapping[str, Endpoint] = {endpoint.slug: endpoint for endpoint in ENDPOINTS.values()}
_KEY_READ = "The header `Idempotency-Key` makes a repeated request safe: it gets the first answer again."


class Field(msgspec.Struct, frozen=True):
    """A value that a reader may change before sending."""

    name: str
    value: str
    hole: str = ""
    """The hole that the value fills; empty values are taken from the steps before."""
    source: str = ""
    """The title of the step whose answer has the value."""
    is_parameter: bool = True
    """It is a parameter of the request; a hole of the path is not."""


class Program(msgspec.Struct, frozen=True):
    language: snippets.Language
    pieces: tuple[snippets.Piece, ...]


class ShownAnswer(msgspec.Struct, frozen=True):
    status: int
    text: str


class ShownExample(msgspec.Struct, frozen=True, kw_only=True):
    example: Example
    programs: tuple[Program, ...]
    fields: tuple[Field, ...]
    steps: tuple[Example, ...]
    """The examples that are sent before, in their order."""
    sent_json: str
    """The steps as the script that sends them reads them, the example itself last."""
    answer: ShownAnswer | None
    """The answer that a test host once gave."""


@ROUTES.add("GET", site.API, "docs", Access.OPEN)
async def show_endpoints(request: Request, app: App) -> Reply:
    """Shows all endpoints by section."""
    return await site.serve(request, _render_list, is_live=app.is_live)


@ROUTES.add("GET", f"{site.API}/{{slug}}", "docs", Access.OPEN)
async def show_endpoint(request: Request, app: App) -> Reply:
    """Shows an endpoint."""
    endpoint = _BY_SLUG.get(request.names[0])
    if endpoint is None or (app.is_live and endpoint.is_for_tests):
        raise site.make_not_found("endpoint")
    return await site.serve(request, _render_endpoint, endpoint.key, app.base_url, is_live=app.is_live)


@cache
def _render_list(*, is_live: bool) -> site.Page:
    sections = [
        (section, [(row, _get_sentence(row)) for row in rows])
        for section, rows in groupby(list_endpoints(is_live=is_live), key=lambda row: row.section)
    ]
    return site.render_page(
        "endpoints.html",
        title="Endpoints",
        path=site.API,
        is_live=is_live,
        headings=_make_headings(section for section, _ in sections),
        listed=sections,
    )


def _get_sentence(endpoint: Endpoint) -> str:
    return calls.get_summary(endpoint).partition("\n")[0]


@lru_cache(len(ENDPOINTS))
def _render_endpoint(key: str, base_url: str, *, is_live: bool) -> site.Page:
    endpoint = ENDPOINTS[key]
    parts = {
        "Examples": True,
        "Parameters": endpoint_facts.list_parameters(endpoint),
        "Rules": calls.list_rules(endpoint),
        "Answer": True,
        "Result codes": endpoint_facts.list_result_groups(endpoint),
    }
    return site.render_page(
        "endpoint.html",
        title=endpoint.title,
        path=f"{site.API}/{endpoint.slug}",
        is_live=is_live,
        headings=_make_headings(title for title, content in parts.items() if content),
        endpoint=endpoint,
        summary=calls.get_summary(endpoint).split("\n\n"),
        access=endpoint_facts.describe_access(endpoint),
        limit=endpoint_facts.describe_limit(endpoint),
        idempotency=_KEY_READ if endpoint.takes_key else "",
        examples=[show_example(example, base_url) for example in EXAMPLES[key]],
        parameters=parts["Parameters"],
        rules=parts["Rules"],
        answers=[(kind, endpoint_facts.list_members(kind)) for kind in (endpoint.answer, *endpoint.also)],
        result_groups=parts["Result codes"],
    )


def _make_headings(titles: Iterable[str]) -> list[headings.Heading]:
    return [headings.Heading(2, title, headings.make_anchor(title)) for title in titles]


# ---- examples ----


def show_example(example: Example, base_url: str) -> ShownExample:
    call = calls.make_call(example)
    steps = list_steps(example)
    return ShownExample(
        example=example,
        programs=tuple(Program(each, snippets.render_snippet(each, call, base_url)) for each in snippets.LANGUAGES),
        fields=tuple(_list_fields(example, call.fill({BASE: base_url}))),
        steps=tuple(steps[:-1]),
        sent_json=orjson.dumps([_render_step(step, base_url) for step in steps]).decode(),
        answer=_find_answer(example),
    )


def _find_answer(example: Example) -> ShownAnswer | None:
    recorded = openapi.read_example_answers().get(example.name)
    if recorded is None:
        return None
    body = recorded["body"]
    text = body if isinstance(body, str) else orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()
    return ShownAnswer(recorded["status"], text)


def _list_fields(example: Example, call: calls.Call) -> Iterator[Field]:
    for hole in calls.HOLE.findall(call.path):
        yield Field(hole, "", hole, _get_source(example, hole), is_parameter=False)
    for name, value in call.pairs:
        hole = calls.HOLE.fullmatch(value)
        if hole is None:
            yield Field(name, value)
        else:
            yield Field(name, "", hole[1], _get_source(example, hole[1]))


def _get_source(example: Example, hole: str) -> str:
    source = example.ids.get(hole)
    return "" if source is None else get_example(source.partition(".")[0]).title


def _render_step(step: Example, base_url: str) -> dict[str, object]:
    call = calls.make_call(step).fill({BASE: base_url})
    return {
        "name": step.name,
        "title": step.title,
        "method": call.method,
        "path": call.path,
        "pairs": call.pairs,
        "ids": step.ids,
        "isPage": step.endpoint not in ENDPOINTS,
    }
