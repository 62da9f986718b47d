"""Random requests that fit the OpenAPI document, and random ones that do not, are answered as it says.

Addresses that a server would call are those of its own inbox, so that nothing is sent to another host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.example_host import ExampleHost, open_example_host
from tollgate.catalog.endpoints import ENDPOINTS
from tollgate.catalog.examples import EXAMPLES
from tollgate.docs.calls import make_call
from tollgate.docs.openapi import FORM, make_document

pytestmark = pytest.mark.prove

CASES = 20
TIMEOUT_S = 120
UNKNOWN_ID = "8a8294174d0595bb014d05d829cb01cd"
POSITIVE, NEGATIVE = "positive", "negative"
RUNS = [
    (key, mode)
    for mode in (POSITIVE, NEGATIVE)
    for key, row in ENDPOINTS.items()
    # A request without parameters cannot be wrong.
    if mode == POSITIVE or row.access != "open" or row.takes or "{" in row.path
]


@dataclass
class Fuzz:
    """A server, and the document of its interface with the values that it knows."""

    host: ExampleHost
    document: dict[str, Any]
    counts: Counter[str] = field(default_factory=Counter)


@pytest.fixture(scope="module")
def fuzz(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzz]:
    with open_example_host(tmp_path_factory.mktemp("fuzz")) as host:
        document = deepcopy(make_document(host.client.base_url, is_live=False))
        narrow(document, host)
        fuzz = Fuzz(host, document)
        yield fuzz
        print(f"\n{fuzz.counts.total()} requests: {dict(sorted(fuzz.counts.items()))}")


def narrow(document: dict[str, Any], host: ExampleHost) -> None:
    """Replaces what nobody guesses by what the server knows, and addresses that it would call by its own."""
    schemas, base_url = document["components"]["schemas"], host.client.base_url
    schemas["entityId"] = {"enum": [host.client.entity_id, host.client.lenient_entity_id]}
    for name in ("shopperResultUrl", "notificationUrl"):
        schemas[name] = {"enum": [f"{base_url}/sandbox/inbox/fuzz", f"{base_url}/sandbox/inbox/fuzz?a=b#c"]}
    hooks = [f"{base_url}/sandbox/inbox/fuzz", "https://10.0.0.1/", "ftp://a"]
    for key in ("POST /v1/webhooks", "POST /v1/webhooks/{id}"):
        find_form(document, key)["properties"]["url"] = {"enum": hooks}
    # In a later century every card has expired.
    find_form(document, "POST /sandbox/clock")["properties"]["advance"] = {"type": "string", "pattern": "^[0-9]{1,3}$"}


def find_form(document: dict[str, Any], key: str) -> dict[str, Any]:
    schema: dict[str, Any] = find_operation(document, key)["requestBody"]["content"][FORM]["schema"]
    return schema


def find_operation(document: dict[str, Any], key: str) -> dict[str, Any]:
    method, _, path = key.partition(" ")
    operation: dict[str, Any] = document["paths"][path][method.lower()]
    return operation


@pytest.mark.parametrize(("key", "mode"), RUNS)
def test_every_answer_is_as_documented(fuzz: Fuzz, key: str, mode: str) -> None:
    # It is installed for `make prove` only.
    import schemathesis
    from schemathesis.specs.openapi import checks

    host, document = fuzz.host, deepcopy(fuzz.document)
    examples = EXAMPLES[key]
    host.remove_webhooks()
    prepared = host.prepare(examples[0])
    holes = host.fill(examples[0], prepared)
    for parameter in find_operation(document, key).get("parameters", ()):
        if parameter.get("in") == "path":
            parameter["schema"] = {"enum": [holes[parameter["name"]], UNKNOWN_ID]}
    forms = [
        dict(make_call(each).fill(host.fill(each, prepared)).pairs) for each in examples if each.ids == examples[0].ids
    ]
    method, _, path = key.partition(" ")
    operation = schemathesis.openapi.from_dict(document)[path][method]
    wanted = (
        *(schemathesis.checks.not_a_server_error, checks.status_code_conformance),
        *(checks.content_type_conformance, checks.response_schema_conformance),
    )

    @settings(max_examples=CASES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        case=operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode)),
        form=st.sampled_from([{}, *forms]),
        is_script=st.booleans(),
    )
    def answer_as_documented(case: Any, form: dict[str, str], is_script: bool) -> None:
        if method == "POST" and isinstance(case.body, dict):
            # An example with random parameters beside it gets further than random ones alone.
            case.body = {**case.body, **form}
        headers = {"Authorization": f"Bearer {host.client.token}", "Accept": "application/json" if is_script else "*/*"}
        reply = case.call_and_validate(
            base_url=host.client.base_url, headers=headers, checks=wanted, allow_redirects=False, timeout=TIMEOUT_S
        )
        fuzz.counts[f"{mode} {reply.status_code}"] += 1

    answer_as_documented()
