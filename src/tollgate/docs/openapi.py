"""The OpenAPI document: every endpoint and every event, made from the rows of the catalogue and of the routes.

Schemas are made in `schemas`. No fact about an endpoint is written here.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from tollgate import __version__
from tollgate.catalog import answers, endpoints, events, limits, results, rules, scopes, throttles
from tollgate.catalog.examples import EXAMPLES, Example, Pairs, fill_holes
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.docs import calls, openapi_events, schemas, site
from tollgate.docs.openapi_events import JSON_TYPE
from tollgate.docs.schemas import Json, refer
from tollgate.operations.app import App
from tollgate.web.request import Access, Reply, Request, Routes

PATH = "/openapi.json"
FORM = "application/x-www-form-urlencoded"
ANSWERS_FILE = Path(__file__).parent / "example_answers.json"
"""The answers of a test host to the examples, with stable ids and times; a test compares them with a server."""

_BEARER = "accessToken"
_ARTICLES = frozenset({"a", "an", "the"})
EXAMPLE_HOST = "http://127.0.0.1:8080"
EXAMPLE_ENTITY = "8ac7a4c79394bdc801939736f17e063d"

_REFUSALS: Mapping[int, tuple[str, str]] = {
    401: ("Unauthenticated", "The access token is missing, unknown or expired."),
    403: ("Forbidden", "The access token does not reach this entity, or lacks the scope."),
    404: ("NotFound", "Nothing has this id."),
    409: ("Conflict", "The same thing is being changed, or the Idempotency-Key was used for another request."),
    413: ("TooLarge", "The request has too many bytes or parameters."),
    429: ("TooManyRequests", "Too many requests; try again after the seconds of Retry-After."),
    500: ("InternalError", "The gateway failed. The operator finds the reason by the ndc."),
    503: ("Unavailable", "The host takes no requests now; try again after the seconds of Retry-After."),
}
_RETRY_AFTER = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
_CHALLENGE = {"WWW-Authenticate": {"description": "What is expected.", "schema": {"type": "string"}}}
_REFUSAL_HEADERS: Mapping[int, Json] = {401: _CHALLENGE, 429: _RETRY_AFTER, 503: _RETRY_AFTER}

_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A request that is repeated with the same key gets the first answer, and does nothing more.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": limits.LIMITS.idempotency_key_length_max,
        "pattern": "^[!-~]+$",
    },
}
_HEADERS: Json = {
    "Idempotency-Replayed": {"description": "This is the first answer again.", "schema": {"const": "true"}},
    "Tollgate-Warning": {
        "description": "Parameters that are unknown here and were ignored; on a test host only.",
        "schema": {"type": "string"},
    },
}


def make_document(base_url: str, is_live: bool, version: str = __version__) -> Json:
    """Makes the document of a host; a live host has no endpoints of the sandbox."""
    shown = endpoints.list_endpoints(is_live=is_live)
    return {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://spec.openapis.org/oas/3.1/dialect/base",
        "info": {
            "title": "Tollgate",
            "version": version,
            "summary": "A payment gateway that anyone can run.",
            "description": "Requests are forms, answers are JSON. Every answer has a result code.",
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "externalDocs": {"url": f"{base_url}/docs", "description": "Guides and reference"},
        "tags": [{"name": section.value} for section in dict.fromkeys(row.section for row in shown)],
        "paths": _render_paths(shown),
        "webhooks": {row.name: openapi_events.render_event(row) for row in events.EVENT_ROWS.values()},
        "components": _render_components(shown),
        "x-rules": {each.name: each.text for each in rules.RULES},
        "x-result-groups": [
            {"id": group.id, "pattern": group.regex, "meaning": group.meaning} for group in results.GROUPS
        ],
    }


@cache
def read_example_answers() -> dict[str, Any]:
    """Reads the answers to the examples: a status and a body for each name."""
    found: dict[str, Any] = orjson.loads(ANSWERS_FILE.read_bytes())
    return found


# ---- endpoints ----


def _render_paths(shown: Iterable[endpoints.Endpoint]) -> Json:
    paths: Json = {}
    for row in shown:
        paths.setdefault(row.path, {})[row.method.lower()] = _render_operation(row)
        for path in row.also_at:
            older = {"operationId": f"{make_operation_id(row)}AtOlderPath", "deprecated": True}
            paths.setdefault(path, {})[row.method.lower()] = {**_render_operation(row), **older}
    return paths


def make_operation_id(row: endpoints.Endpoint) -> str:
    """Makes `createPayment` of the title `Create a payment`, because code is generated with these names."""
    words: list[str] = [word for word in re.findall("[A-Za-z0-9]+", row.title) if word not in _ARTICLES]
    return words[0].lower() + "".join(word[0].upper() + word[1:] for word in words[1:])


def _render_operation(row: endpoints.Endpoint) -> Json:
    throttle = calls.find_throttle(row)
    operation: Json = {
        "operationId": make_operation_id(row),
        "tags": [row.section.value],
        "summary": row.title,
        "description": calls.get_summary(row),
        "security": _render_security(row, throttle),
    }
    parameters = [
        *map(_render_hole, calls.HOLE.findall(row.path)),
        *([refer("key", "parameters")] if row.takes_key else []),
    ]
    if row.method == "POST":
        operation["requestBody"] = _render_body(row)
    else:
        parameters += _render_query(row)
    if parameters:
        operation["parameters"] = parameters
    operation["responses"] = _render_responses(row, is_throttled=throttle is not None)
    if throttle is not None:
        operation["x-rate-limit"] = {
            "requests": throttle.count,
            "seconds": throttle.window_s,
            "countedBy": throttle.counted_by,
            "onTestHosts": throttle.is_on,
        }
    named = [each.name for each in calls.list_rules(row)]
    return operation | ({"x-rules": named} if named else {})


def _render_security(row: endpoints.Endpoint, throttle: throttles.Throttle | None) -> list[Json]:
    if row.access == "open":
        return []
    return [{_BEARER: [throttle.scope.value] if throttle and throttle.scope else []}]


def _render_hole(name: str) -> Json:
    schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[A-Za-z0-9._-]+$"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _render_query(row: endpoints.Endpoint) -> list[Json]:
    sent = dict(pair for example in EXAMPLES.get(row.key, ()) for pair in _fill_pairs(example))
    named = [parameter for word in row.takes for parameter in schemas.list_named(word)]
    if row.access != "open":
        named.insert(0, PARAMETERS[endpoints.ENTITY_ID])
    return [
        {
            "name": each.name,
            "in": "query",
            "required": each.name in _list_needs(row),
            "schema": refer(schemas.get_group_name(each.name))
            if "." not in each.name
            else schemas.render_parameter(each),
            **({"example": sent[each.name]} if each.name in sent else {}),
        }
        for each in named
    ]


def _list_needs(row: endpoints.Endpoint) -> list[str]:
    return [*((endpoints.ENTITY_ID,) if row.access == "entity" else ()), *row.needs]


def _render_body(row: endpoints.Endpoint) -> Json:
    needs = _list_needs(row)
    content: Json = {"schema": schemas.render_form(row, needs)}
    shown = {each.name: {"summary": each.title, "value": dict(_fill_pairs(each))} for each in EXAMPLES.get(row.key, ())}
    if any(each["value"] for each in shown.values()):
        content["examples"] = shown
    is_required = bool(needs) or any(own.is_required for own in row.own)
    return {"required": is_required, "content": {FORM: content}}


def _fill_pairs(example: Example) -> Pairs:
    """Returns the parameters of an example, with the ids of the recorded answers in their holes."""
    recorded = {name: each["body"] for name, each in read_example_answers().items()}
    filled = fill_holes(example, recorded, EXAMPLE_HOST) if recorded.keys() >= set(example.sources) else {}
    return calls.make_call(example).fill({**filled, "entity": EXAMPLE_ENTITY}).pairs


# ---- answers ----


def _render_responses(row: endpoints.Endpoint, *, is_throttled: bool) -> Json:
    kinds = [refer(kind.value) for kind in (row.answer, *row.also)]
    is_declinable = not answers.DECLINABLE.isdisjoint((row.answer, *row.also))
    possible = (("Tollgate-Warning", row.access == "entity"), ("Idempotency-Replayed", row.takes_key))
    headers = {name: refer(name, "headers") for name, is_sent in possible if is_sent}
    responses: Json = {
        "200": {
            "description": "What became of the request, by the code of the result." if is_declinable else "Done.",
            **({"headers": headers} if headers else {}),
            "content": {JSON_TYPE: {"schema": _join(kinds), **_render_examples(row)}},
        },
        "400": {
            "description": "Declined, or refused: every wrong parameter is named." if is_declinable else "Refused.",
            "content": {JSON_TYPE: {"schema": _join([*(kinds if is_declinable else ()), refer("Error")])}},
        },
    }
    if row.answer is endpoints.Answer.SUBMISSION:
        responses["303"] = {"description": "To the next page, unless the header Accept names JSON."}
    if row.answer is endpoints.Answer.STATUS:
        responses["503"] = {
            "description": "Not ready.",
            "content": {JSON_TYPE: {"schema": _join([*kinds, refer("Error")])}},
        }
    statuses = {413, 500, 503}
    statuses |= {404} if "{" in row.path else set()
    statuses |= {401, 403, 429} if row.access != "open" else set()
    statuses |= {429} if is_throttled else set()
    statuses |= {409} if row.method != "GET" and row.access != "open" else set()
    shared = {str(status): refer(_REFUSALS[status][0], "responses") for status in statuses}
    return dict(sorted({**shared, **responses}.items()))


def _join(kinds: list[Json]) -> Json:
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def _render_examples(row: endpoints.Endpoint) -> Json:
    recorded = read_example_answers()
    shown = {
        each.name: {"summary": each.title, "value": recorded[each.name]["body"]}
        for each in EXAMPLES.get(row.key, ())
        if each.name in recorded
    }
    return {"examples": shown} if shown else {}


# ---- components ----


def _render_components(shown: list[endpoints.Endpoint]) -> Json:
    return {
        "securitySchemes": {
            _BEARER: {
                "type": "http",
                "scheme": "bearer",
                "description": "The access token. One with scopes needs the scope that an operation names: "
                + " ".join(f"`{row.scope.value}`: {row.text}" for row in scopes.SCOPE_ROWS),
            }
        },
        "parameters": {"key": _KEY, **openapi_events.HEADERS},
        "headers": _HEADERS,
        "responses": {
            name: {
                "description": text,
                **({"headers": _REFUSAL_HEADERS[status]} if status in _REFUSAL_HEADERS else {}),
                "content": {JSON_TYPE: {"schema": refer("Error")}},
            }
            for status, (name, text) in _REFUSALS.items()
        },
        "schemas": {**_render_answers(), **schemas.render_components(shown)},
    }


def _render_answers() -> Json:
    shared = _get_shared_names()
    kinds = {kind.value: members for kind, members in answers.ANSWERS.items()}
    payloads = {f"{name.capitalize()}Payload": members for name, members in answers.PAYLOADS.items()}
    parts = {name: row.members for name, row in _list_shared().items()}
    described = {"Error": answers.ERROR, **kinds, **payloads, **parts, "AnsweredResult": answers.RESULT_MEMBERS}
    return {
        schemas.RESULT_CODE: {
            "type": "string",
            "description": "A code of the catalogue; later versions have more.",
            "pattern": r"^[0-9]{3}\.[0-9]{3}\.[0-9]{3}$",
            "x-enumDescriptions": {row.code: row.description for row in results.RESULTS.values()},
        },
        "EncryptedText": openapi_events.ENCRYPTED_TEXT,
        "EncryptedEvent": openapi_events.ENCRYPTED_EVENT,
        **{name: schemas.render_members(members, shared) for name, members in described.items()},
    }


@cache
def _list_shared() -> dict[str, answers.Member]:
    """Lists the objects inside of answers that are described once, each as a component."""
    found = [row for members in answers.ANSWERS.values() for row in members if row.kind is answers.Kind.OBJECT]
    return {
        f"Answered{row.name[0].upper()}{row.name[1:]}": row
        for row in found
        if row.members and row.members is not answers.RESULT_MEMBERS
    }


def _get_shared_names() -> Mapping[int, str]:
    named = {id(row.members): name for name, row in _list_shared().items()}
    return {**named, id(answers.RESULT_MEMBERS): "AnsweredResult"}


# ---- the page ----

ROUTES = Routes()


@cache
def _render_document(base_url: str, *, is_live: bool) -> site.Page:
    return site.make_page(Reply(200, orjson.dumps(make_document(base_url, is_live))))


@ROUTES.add("GET", PATH, "docs", Access.OPEN, is_for_any_origin=True)
async def show_document(request: Request, app: App) -> Reply:
    """Returns the OpenAPI document of this host."""
    return await site.serve(request, _render_document, app.base_url, is_live=app.is_live)
