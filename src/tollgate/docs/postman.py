"""The examples as a collection for Postman, format 2.1: a folder for each section, and a request for each example.

A request that others need keeps ids of its answer as variables, so that a folder can be run from top to bottom.
"""

import re
from collections.abc import Iterator

from tollgate.catalog.endpoints import ENTITY_ID, Endpoint
from tollgate.catalog.examples import BASE, DAY, EXAMPLES, Example
from tollgate.docs import calls
from tollgate.docs.openapi import list_shown
from tollgate.docs.schemas import Json

_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_NO_WORD = re.compile("[^A-Za-z0-9]+")
_INDEX = re.compile(r"\.([0-9]+)(?=\.|$)")


def make_collection(base_url: str, is_live: bool, version: str) -> Json:
    """Makes the collection of a host; a live host has no requests of the sandbox."""
    shown = list_shown(is_live=is_live)
    return {
        "info": {"name": "Tollgate", "description": f"Version {version}, at {base_url}", "schema": _SCHEMA},
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{accessToken}}", "type": "string"}]},
        "variable": [
            {"key": "baseUrl", "value": base_url},
            {"key": ENTITY_ID, "value": ""},
            {"key": "accessToken", "value": ""},
        ],
        "item": [
            {
                "name": section.value,
                "item": [item for row in shown if row.section is section for item in _list_items(row)],
            }
            for section in dict.fromkeys(row.section for row in shown)
        ],
    }


def _list_items(row: Endpoint) -> Iterator[Json]:
    for example in EXAMPLES.get(row.key, ()):
        kept = list(dict.fromkeys(_list_kept(example)))
        script = {"type": "text/javascript", "exec": kept}
        yield {
            "name": example.title,
            "request": _render_request(row, example),
            **({"event": [{"listen": "test", "script": script}]} if kept else {}),
        }


def _render_request(row: Endpoint, example: Example) -> Json:
    holes = {hole: f"{{{{{_get_variable(hole, source)}}}}}" for hole, source in example.ids.items()}
    holes |= {"entity": f"{{{{{ENTITY_ID}}}}}", BASE: "{{baseUrl}}"}
    call = calls.make_call(example).fill(holes)
    headers = [pair for pair in call.headers if pair[0] != "Authorization"]
    pairs = [{"key": name, "value": value} for name, value in call.pairs]
    query = "&".join(f"{each['key']}={each['value']}" for each in pairs) if call.has_query else ""
    url: Json = {
        "raw": "{{baseUrl}}" + call.path + (f"?{query}" if query else ""),
        "host": ["{{baseUrl}}"],
        "path": call.path.strip("/").split("/"),
        **({"query": pairs} if query else {}),
    }
    return {
        "method": row.method,
        "description": " ".join(filter(None, (calls.get_summary(row), example.condition))),
        **({"auth": {"type": "noauth"}} if row.access == "open" else {}),
        "header": [{"key": name, "value": value} for name, value in headers],
        **({"body": {"mode": "urlencoded", "urlencoded": pairs}} if call.has_body else {}),
        "url": url,
    }


def _get_variable(hole: str, source: str) -> str:
    """Returns the variable of a member that is kept: `debit_id`, or `debit_timestamp_day` for its day."""
    return _NO_WORD.sub("_", f"{source}_day" if hole == DAY else source)


def _list_kept(example: Example) -> Iterator[str]:
    """Lists the lines of a script that keeps the members which other examples need."""
    for rows in EXAMPLES.values():
        for other in rows:
            for hole, source in other.ids.items():
                name, _, path = source.partition(".")
                if name == example.name:
                    member = _INDEX.sub(r"[\1]", f"pm.response.json().{path}")
                    value = f"{member}.slice(0, 10)" if hole == DAY else member
                    yield f'pm.collectionVariables.set("{_get_variable(hole, source)}", {value});'
