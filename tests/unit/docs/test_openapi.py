"""The OpenAPI document is valid, complete and of a moderate size. What a server answers is compared elsewhere."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate

from tollgate.catalog.endpoints import ENDPOINTS, Endpoint
from tollgate.catalog.events import EVENT_ROWS
from tollgate.catalog.examples import EXAMPLES
from tollgate.catalog.parameters.names import PARAMETERS, first_word
from tollgate.catalog.results import RESULTS
from tollgate.catalog.rules import RULES
from tollgate.docs import schemas
from tollgate.docs.openapi import make_document
from tollgate.web.pages.packing import pack

BASE = "https://pay.example"
DOCUMENT = make_document(BASE, is_live=False)
LIVE = make_document(BASE, is_live=True)
BYTES_MAX, PACKED_BYTES_MAX = 450_000, 100_000

CHECK_PATTERNS = """
const wrong = []
for (const pattern of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
  try { new RegExp(pattern, "u") } catch (error) { wrong.push(`${pattern}: ${error.message}`) }
}
console.log(JSON.stringify(wrong))
"""


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def walk(value: Any) -> Iterator[dict[str, Any]]:
    """Yields every object inside of the document."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from walk(member)
    elif isinstance(value, list):
        for entry in value:
            yield from walk(entry)


def list_sent(operation: dict[str, Any]) -> set[str]:
    """Lists the names, and the patterns of names, that an operation takes as a form or in its query."""
    sent = {each["name"] for each in operation.get("parameters", ()) if each.get("in") == "query"}
    if "requestBody" not in operation:
        return sent
    (content,) = operation["requestBody"]["content"].values()
    for part in content["schema"].get("allOf", [content["schema"]]):
        name = part.get("$ref", "").rpartition("/")[2]
        schema = DOCUMENT["components"]["schemas"][name] if name else part
        sent |= {*schema.get("properties", ()), *schema.get("patternProperties", ())}
    return sent


@pytest.mark.parametrize("document", [DOCUMENT, LIVE])
def test_the_document_is_valid(document: dict[str, Any]) -> None:
    validate(json.loads(json.dumps(document)))


def test_the_document_is_small_enough_to_be_loaded_by_a_browser() -> None:
    body = json.dumps(DOCUMENT, separators=(",", ":")).encode()

    assert len(body) < BYTES_MAX
    assert len(pack(body)) < PACKED_BYTES_MAX


def test_every_endpoint_is_described() -> None:
    older = {f"{row.method} {path}" for row in ENDPOINTS.values() for path in row.also_at}

    assert operations(DOCUMENT).keys() == ENDPOINTS.keys() | older


def test_a_live_host_has_no_endpoint_of_the_sandbox() -> None:
    assert ENDPOINTS.keys() - operations(LIVE).keys() == {key for key, row in ENDPOINTS.items() if row.is_for_tests}


def test_every_operation_has_words_and_an_id_of_its_own() -> None:
    described = [*operations(DOCUMENT).values(), *(item["post"] for item in DOCUMENT["webhooks"].values())]

    assert [each["operationId"] for each in described if not each["summary"] or len(each["description"]) < 20] == []
    assert len({each["operationId"] for each in described}) == len(described)
    assert [each["operationId"] for each in described if not each["operationId"].isidentifier()] == []


@pytest.mark.parametrize("row", ENDPOINTS.values(), ids=list(ENDPOINTS))
def test_every_parameter_of_an_endpoint_is_described(row: Endpoint) -> None:
    sent = list_sent(operations(DOCUMENT)[row.key])
    taken = [name for name in PARAMETERS if first_word(name) in row.takes]

    assert {schemas.render_name_pattern(name) if "[" in name else name for name in taken} <= sent
    assert {own.name for own in row.own} <= sent
    assert ("entityId" in sent) == (row.access != "open")


@pytest.mark.parametrize("key", EXAMPLES)
def test_every_example_has_the_schema_of_its_place(key: str) -> None:
    operation = operations(DOCUMENT)[key]
    contents = [*operation.get("requestBody", {}).get("content", {}).values()]
    contents += operation["responses"]["200"].get("content", {}).values()
    shown = [
        (content["schema"], each["value"]) for content in contents for each in content.get("examples", {}).values()
    ]
    shown += [(each["schema"], each["example"]) for each in operation.get("parameters", ()) if "example" in each]

    assert shown
    for schema, value in shown:
        whole = {**schema, "components": DOCUMENT["components"]}
        assert [fault.message for fault in OAS31Validator(whole).iter_errors(value)] == []


@pytest.mark.parametrize("key", EXAMPLES)
def test_every_parameter_of_an_example_is_described(key: str) -> None:
    sent = list_sent(operations(DOCUMENT)[key])
    patterns = [re.compile(each) for each in sent if each.startswith("^")]
    names = {name for example in EXAMPLES[key] for name, _ in example.pairs}

    assert [name for name in names if name not in sent and not any(each.match(name) for each in patterns)] == []


def test_a_parameter_with_a_place_in_a_list_is_known_by_a_pattern() -> None:
    pattern = re.compile(schemas.render_name_pattern("cart.items[n].name"))

    assert pattern.search("cart.items[12].name")
    assert not pattern.search("cart.items[x].name")
    assert not pattern.search("cart.items[12].names")


def test_every_pattern_is_one_of_ecmascript() -> None:
    patterns = {each["pattern"] for each in walk(DOCUMENT) if isinstance(each.get("pattern"), str)}
    patterns |= {name for each in walk(DOCUMENT) for name in each.get("patternProperties", ())}

    checked = subprocess.run(
        ["node", "-e", CHECK_PATTERNS], input=json.dumps(sorted(patterns)), capture_output=True, text=True, check=True
    )

    assert len(patterns) > 50
    assert json.loads(checked.stdout) == []


@pytest.mark.parametrize("name", [name for name, row in PARAMETERS.items() if row.shape.pattern])
def test_a_pattern_decides_like_the_shape_of_its_parameter(name: str) -> None:
    shape = PARAMETERS[name].shape
    shown = schemas.render_shape(shape).get("pattern")
    texts = ("", "1", "01", "92.00", "EUR", "AT", "2030-01-31", "ASC", "dEsC", "https://shop.example/a", "Jane Jones",
             "https://a b", "#fff", "DE89370400440532013000", "+43 1 234", "123", "a\x00b", "x" * 40)  # fmt: skip
    assert shape.pattern is not None
    if shown is not None:
        for text in texts:
            assert bool(re.search(shown, text)) == bool(shape.pattern.fullmatch(text)), text


def test_every_event_is_a_webhook() -> None:
    assert DOCUMENT["webhooks"].keys() == EVENT_ROWS.keys()


def test_every_result_code_and_every_rule_is_told() -> None:
    assert DOCUMENT["components"]["schemas"]["ResultCode"]["x-enumDescriptions"].keys() == RESULTS.keys()
    assert DOCUMENT["x-rules"].keys() == {rule.name for rule in RULES}
    named = {name for operation in operations(DOCUMENT).values() for name in operation.get("x-rules", ())}
    # These two refuse parameters at endpoints that do not take them.
    assert DOCUMENT["x-rules"].keys() - named == {"link_parameters", "override_at_creation"}


def test_every_component_is_used() -> None:
    used = {each["$ref"] for each in walk(DOCUMENT) if isinstance(each.get("$ref"), str)}
    made = {f"#/components/{kind}/{name}" for kind, rows in DOCUMENT["components"].items() for name in rows}

    assert made - used == {"#/components/securitySchemes/accessToken"}
    assert used <= made


def test_an_operation_names_its_scope_and_its_limit() -> None:
    refund = operations(DOCUMENT)["POST /v1/payments/{id}"]

    assert refund["security"] == [{"accessToken": ["payments"]}]
    assert refund["x-rate-limit"] == {"requests": 200, "seconds": 60, "countedBy": "id", "onTestHosts": False}
    assert "429" in refund["responses"]
