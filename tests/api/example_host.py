"""A test host that answers the examples of the documentation. The tests that send them are elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from api.merchants import wait_until
from gateway import Answer, Client, GatewayProcess
from tollgate.catalog.examples import EXAMPLES, Example, fill_holes, list_steps
from tollgate.catalog.results import RESULTS, is_pending
from tollgate.catalog.results import is_success as is_approved
from tollgate.docs.calls import make_call

ALL = {example.name: example for rows in EXAMPLES.values() for example in rows}
Answers = Mapping[str, Any]
"""The answers to the steps of an example, by their names."""


@dataclass(frozen=True)
class ExampleHost:
    client: Client

    def fill(self, example: Example, answers: Answers) -> dict[str, str]:
        """Returns the value of every hole of an example."""
        own = {"token": self.client.token, "entity": self.client.entity_id}
        return {**fill_holes(example, answers, self.client.base_url), **own}

    def send(self, example: Example, answers: Answers, more: Mapping[str, str] = {}) -> Answer:
        """more: headers besides those of the example."""
        call = make_call(example).fill(self.fill(example, answers))
        form = urlencode(call.pairs)
        path = f"{call.path}?{form}" if call.has_query else call.path
        return self.client.send(call.method, path, form if call.has_body else None, {**dict(call.headers), **more})

    def prepare(self, example: Example) -> Answers:
        """Sends the steps before an example, and waits for what it needs."""
        answers: dict[str, Any] = {}
        for step in list_steps(example)[:-1]:
            answer = self.send(step, answers)
            assert answer.status == 200, (step.name, answer.body)
            answers[step.name] = answer.json if answer.body.startswith(b"{") else None
        if example.condition:
            wait_until(lambda: self.send(ALL["network_token"], answers).json["vaultStatus"] is not None)
        return answers

    def remove_webhooks(self) -> None:
        """Makes room, because a merchant has a limited number of them."""
        for webhook in self.client.get("/v1/webhooks").json["webhooks"]:
            answer = self.client.send("DELETE", f"/v1/webhooks/{webhook['id']}", None, self.client.authorized())
            assert answer.status == 200, answer.body


def is_success(body: bytes) -> bool:
    """Tells whether an answer has the result that an example is shown with; pages and some answers have none."""
    answer = json.loads(body) if body.startswith(b"{") else {}
    code = answer["result"]["code"] if "result" in answer else None
    return code is None or is_approved(code) or is_pending(code) or RESULTS[code].group == "chargeback"


@contextmanager
def open_example_host(folder: Path) -> Iterator[ExampleHost]:
    """Starts a server of its own, because examples move its clock; its channel has network tokens, as one needs."""
    with GatewayProcess(folder) as gateway:
        client = gateway.client()
        gateway.run("channel", "set", client.entity_id, "--network-tokens")
        gateway.stop()
        gateway.start()
        yield ExampleHost(client)
