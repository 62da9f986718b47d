"""A host serves its OpenAPI document to everybody, compressed, and the command prints the same."""

from __future__ import annotations

import gzip
import json

from gateway import COMMAND_S, Client, inherit_variables
from warm import run_warm


def test_the_document_is_served_without_a_token_and_to_any_origin(client: Client) -> None:
    answer = client.send("GET", "/openapi.json")

    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json;charset=UTF-8"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.json["servers"] == [{"url": client.base_url}]


def test_the_document_is_compressed_for_those_who_accept_it_and_sent_once(client: Client) -> None:
    answer = client.send("GET", "/openapi.json", None, {"Accept-Encoding": "gzip"})

    assert answer.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(answer.body)) == client.send("GET", "/openapi.json").json
    assert client.send("GET", "/openapi.json", None, {"If-None-Match": answer.headers["etag"]}).status == 304


def test_the_command_prints_the_document_of_the_host(client: Client) -> None:
    printed = run_warm(["openapi", "--public-url", client.base_url], inherit_variables(), COMMAND_S)

    assert json.loads(printed.stdout) == client.send("GET", "/openapi.json").json


def test_the_command_prints_a_collection_for_postman() -> None:
    printed = run_warm(["openapi", "--postman", "--environment", "live"], inherit_variables(), COMMAND_S)

    assert json.loads(printed.stdout)["info"]["schema"].endswith("/collection/v2.1.0/collection.json")
    assert "/sandbox/clock" not in printed.stdout
