"""The examples as a collection for Postman, format 2.1: a folder for each section, and in it one for each example.

The folder of an example has all requests that it needs, so that Postman can run it from top to bottom, or all of them.
"""

import re
from collections.abc import Iterator

from tollgate.catalog.endpoints import ENDPOINTS, ENTITY_ID, Endpoint, list_endpoints
from tollgate.catalog.examples import BASE, DAY, EXAMPLES, Example, list_steps
from tollgate.docs import calls
from tollgate.docs.schemas import Json

_SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
_NO_WORD = re.compile("[^A-Za-z0-9]+")
_INDEX = re.compile(r"\.([0-9]+)(?=\.|$)")


def make_collection(base_url: str, is_live: bool, version: str) -> Json:
    """Makes the collection of a host; a live host has no requests of the sandbox."""
    shown = list_endpoints(is_live=is_live)
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
    for example in EXAMPLES[row.key]:
        steps = list_steps(example)
        requests = [_render_item(step, steps) for step in steps]
        described = " ".join(filter(None, (calls.get_summary(row), example.condition)))
        yield {"name": example.title, "description": described, "item": requests}


def _render_item(step: Example, steps: list[Example]) -> Json:
    kept = list(dict.fromkeys(_list_kept(step, steps)))
    script = {"type": "text/javascript", "exec": kept}
    events = [{"listen": "test", "script": script}] if kept else []
    return {"name": step.title, "request": _render_request(step), **({"event": events} if events else {})}


def _render_request(step: Example) -> Json:
    holes = {hole: f"{{{{{_get_variable(hole, source)}}}}}" for hole, source in step.ids.items()}
    holes |= {"entity": f"{{{{{ENTITY_ID}}}}}", BASE: "{{baseUrl}}"}
    call = calls.make_call(step).fill(holes)
    endpoint = ENDPOINTS.get(step.endpoint)
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
        "method": call.method,
        **({"auth": {"type": "noauth"}} if endpoint is None or endpoint.access == "open" else {}),
        "header": [{"key": name, "value": value} for name, value in headers],
        **({"body": {"mode": "urlencoded", "urlencoded": pairs}} if call.has_body else {}),
        "url": url,
    }


def _get_variable(hole: str, source: str) -> str:
    """Returns the variable of a member that is kept: `debit_id`, or `debit_timestamp_day` for its day."""
    return _NO_WORD.sub("_", f"{source}_day" if hole == DAY else source)


def _list_kept(step: Example, steps: list[Example]) -> Iterator[str]:
    """Lists the lines of a script that keeps the members which later steps need."""
    for other in steps:
        for hole, source in other.ids.items():
            name, _, path = source.partition(".")
            if name == step.name:
                member = _INDEX.sub(r"[\1]", f"pm.response.json().{path}")
                value = f"{member}.slice(0, 10)" if hole == DAY else member
                yield f'pm.collectionVariables.set("{_get_variable(hole, source)}", {value});'
