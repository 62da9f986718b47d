"""Answers to the examples, and what is sent to webhooks, have the schemas of the OpenAPI document.

With `EXAMPLE_ANSWERS=write` the answers that the document shows are recorded again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator

from api.example_answers import Recorded, outline, record_answers
from api.example_host import ALL, ExampleHost, open_example_host
from api.merchants import wait_until
from tollgate.catalog import answers
from tollgate.catalog.answers import Kind, Member
from tollgate.catalog.endpoints import ENDPOINTS
from tollgate.catalog.events import EVENT_ROWS
from tollgate.docs.openapi import ANSWERS_FILE, make_document, read_example_answers

DOCUMENT = make_document("http://127.0.0.1:8080", is_live=False)
IS_RECORDING = os.environ.get("EXAMPLE_ANSWERS") == "write"
INBOX = "/sandbox/inbox/documented"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleHost]:
    with open_example_host(tmp_path_factory.mktemp("documented")) as host:
        yield host


@pytest.fixture(scope="module")
def recorded(host: ExampleHost) -> dict[str, Recorded]:
    found = {each.name: each for each in record_answers(host)}
    if IS_RECORDING:
        shown = {name: {"status": each.status, "body": each.shown} for name, each in sorted(found.items())}
        ANSWERS_FILE.write_text(json.dumps(shown, indent=1) + "\n")
        read_example_answers.cache_clear()
    return found


def list_faults(schema: dict[str, Any], value: object) -> list[str]:
    whole = {**schema, "components": DOCUMENT["components"]}
    return [f"{fault.json_path}: {fault.message}" for fault in OAS31Validator(whole).iter_errors(value)]


def list_unknown(value: Any, members: tuple[Member, ...], place: str = "") -> list[str]:
    """Lists the members of an answer that no row describes."""
    rows, unknown = {row.name: row for row in members}, []
    for word, inside in value.items():
        row = rows.get(word)
        if row is None:
            unknown.append(f"{place}{word}")
            continue
        within = row.members or (answers.ANSWERS[row.like] if row.like else ())
        entries = inside if row.kind is Kind.LIST else [inside]
        for entry in entries if within else ():
            if isinstance(entry, dict):
                unknown += list_unknown(entry, within, f"{place}{word}.")
    return unknown


@pytest.mark.parametrize("name", ALL)
def test_an_answer_has_the_documented_status_and_schema(recorded: dict[str, Recorded], name: str) -> None:
    example, answered = ALL[name], recorded[name]
    method, _, path = example.endpoint.partition(" ")
    described = DOCUMENT["paths"][path][method.lower()]["responses"]["200"]

    assert answered.status == 200
    assert list_faults(described["content"]["application/json"]["schema"], answered.body) == []


@pytest.mark.parametrize("name", ALL)
def test_every_member_of_an_answer_has_a_row(recorded: dict[str, Recorded], name: str) -> None:
    endpoint = ENDPOINTS[ALL[name].endpoint]
    kinds = (endpoint.answer, *endpoint.also)

    assert [] in [list_unknown(recorded[name].body, answers.ANSWERS[kind]) for kind in kinds]


def test_the_answers_that_the_document_shows_are_those_of_a_server(recorded: dict[str, Recorded]) -> None:
    shown = {name: outline(each["body"]) for name, each in read_example_answers().items()}
    answered = {name: outline(each.shown) for name, each in recorded.items()}

    assert shown == answered, "run `make answers`"


@pytest.mark.parametrize("key", [key for key, row in ENDPOINTS.items() if row.method != "GET" and row.access != "open"])
def test_an_endpoint_reads_the_idempotency_key_if_its_row_says_so(host: ExampleHost, key: str) -> None:
    host.remove_webhooks()
    example = next(each for each in ALL.values() if each.endpoint == key)

    answer = host.send(example, host.prepare(example), {"Idempotency-Key": "x" * 300})

    assert ("Idempotency-Key" in answer.body.decode()) == ENDPOINTS[key].takes_key


@pytest.fixture(scope="module")
def received(host: ExampleHost) -> list[dict[str, Any]]:
    """The messages of an inbox that got the events of payments, registrations and schedules, plain and encrypted."""
    client = host.client
    host.remove_webhooks()
    for terms in ({"scheme": "signed"}, {"scheme": "encrypted"}, {"scheme": "both", "wrapper": "json"}):
        added = client.post("/v1/webhooks", {"url": f"{client.base_url}{INBOX}", **terms, "entityId": None})
        client.post(f"/v1/webhooks/{added.json['id']}/test", {"entityId": None})
    for name in ("capture", "deleted_registration", "ended_schedule", "chargeback"):
        host.send(ALL[name], host.prepare(ALL[name]))
    wanted = {"PAYMENT", "REGISTRATION", "SCHEDULE", "test"}

    def list_messages() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = client.send("GET", f"{INBOX}?limit=1000").json
        return found

    wait_until(lambda: {(each["event"] or {}).get("type") for each in list_messages()} >= wanted)
    return list_messages()


def test_webhooks_have_the_documented_bodies_and_headers(received: list[dict[str, Any]]) -> None:
    described = {name: DOCUMENT["webhooks"][name]["post"] for name in EVENT_ROWS}
    for message in received:
        event = message["event"]
        fitting = [
            name for name, row in EVENT_ROWS.items() if row.type == event["type"] and row.action == event.get("action")
        ]
        post = described[fitting[0]]
        plain = post["requestBody"]["content"]["application/json"]["schema"]["anyOf"][0]
        assert list_faults(plain, event) == []
        assert list_unknown(event["payload"], answers.PAYLOADS[EVENT_ROWS[fitting[0]].object]) == []
        headers = {name.lower(): value for name, value in message["headers"].items()}
        kind = headers["content-type"].partition(";")[0]
        sent = message["body"] if kind == "text/plain" else json.loads(message["body"])
        assert list_faults(post["requestBody"]["content"][kind]["schema"], sent) == []
        for reference in post["parameters"]:
            row = DOCUMENT["components"]["parameters"][reference["$ref"].rpartition("/")[2]]
            assert not row["required"] or row["name"].lower() in headers
