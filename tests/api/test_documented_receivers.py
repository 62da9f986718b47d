"""The receivers of docs/webhooks.md, exactly as they stand there, accept real deliveries and refuse changed ones."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import pytest

from api.merchants import wait_until
from cleaning import Cleanup
from gateway import inherit_variables
from ports import find_free_port
from tollgate.values import SECOND, SystemClock, make_id
from tollgate.vault.webhooks import EncryptedBody, WebhookSecrets, encrypt_body, make_secrets, sign_body

PAGE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w+)\n(?:<\?php )?(?://|#) (\w+\.\w+)\n.*?^```$", re.M | re.S)
RECEIVERS = {found[1]: (found[2], "\n".join(found[0].splitlines()[1:-1]) + "\n") for found in FENCE.finditer(PAGE)}
"""The file name and the text of the receiver of each language."""
COMMANDS: Mapping[str, Callable[[str, int], list[str]]] = {
    "python": lambda file, _port: [sys.executable, file],
    "php": lambda file, port: ["php", "-S", f"127.0.0.1:{port}", file],
    "javascript": lambda file, _port: ["node", file],
    # Started from its source, as the page shows it; short runs are slower with a compiler that optimizes.
    "java": lambda file, _port: ["java", "-XX:TieredStopAtLevel=1", file],
}
TEST_EVENT = {"type": "test", "action": "webhook activation", "payload": {"result": {"code": "000.100.110"}}}
SECRETS = make_secrets()
OTHER = make_secrets()
SCHEMES = ("encrypted", "signed", "both")
REQUEST_S = 60.0


@dataclass(frozen=True)
class Delivery:
    body: bytes
    headers: Mapping[str, str]

    @property
    def event_id(self) -> str:
        return self.headers.get("webhook-id", "")

    def without(self, header: str) -> Delivery:
        return replace(self, headers={name: value for name, value in self.headers.items() if name != header})

    def having(self, **headers: str) -> Delivery:
        spelled = {name.replace("_", "-"): text for name, text in headers.items()}
        return replace(self, headers={**self.headers, **spelled})


def wrap(encrypted: EncryptedBody, wrapper: str) -> Delivery:
    headers = {"X-Initialization-Vector": encrypted.iv, "X-Authentication-Tag": encrypted.tag}
    if wrapper == "json":
        body = json.dumps({"encryptedBody": encrypted.body})
        return Delivery(body.encode(), {**headers, "Content-Type": "application/json"})
    return Delivery(encrypted.body.encode(), {**headers, "Content-Type": "text/plain"})


def make_delivery(
    scheme: str, wrapper: str = "raw", *, secrets: Sequence[WebhookSecrets] = (SECRETS,), age_s: int = 0
) -> Delivery:
    """Gives one delivery of the test event as an endpoint of the scheme gets it, with an id of its own.

    secrets: the first encrypts, and all of them sign.
    """
    plain = json.dumps(TEST_EVENT).encode()
    delivery = Delivery(plain, {"Content-Type": "application/json"})
    if scheme != "signed":
        delivery = wrap(encrypt_body(plain, secrets[0].secret), wrapper)
    delivery = delivery.having(webhook_id=make_id())
    if scheme == "encrypted":
        return delivery
    at_s = SystemClock().wall() // SECOND - age_s
    header = sign_body(delivery.body, delivery.event_id, at_s, [each.signing for each in secrets])
    return delivery.having(webhook_timestamp=str(at_s), webhook_signature=header)


class Receiver:
    """One receiver of the page as a process on a port of its own."""

    def __init__(self, language: str, scheme: str, folder: Path) -> None:
        name, text = RECEIVERS[language]
        (folder / name).write_text(text)
        self.scheme = scheme
        self._port = find_free_port()
        self._printed = folder / "printed"
        variables = {**inherit_variables(), "PORT": str(self._port)}
        if scheme != "signed":
            variables["WEBHOOK_SECRET"] = SECRETS.secret.reveal()
        if scheme != "encrypted":
            variables["WEBHOOK_SIGNING_SECRET"] = SECRETS.signing.reveal()
        with self._printed.open("wb") as printed:
            self.process = subprocess.Popen(
                COMMANDS[language](name, self._port), cwd=folder, env=variables, stdout=printed, stderr=printed
            )

    def is_listening(self) -> bool:
        assert self.process.poll() is None, self.read()
        try:
            return bool(self.send(Delivery(b"", {})))
        except ConnectionRefusedError:
            return False

    def send(self, delivery: Delivery) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=REQUEST_S)
        try:
            connection.request("POST", "/", delivery.body, dict(delivery.headers))
            return connection.getresponse().status
        finally:
            connection.close()

    def read(self) -> str:
        return self._printed.read_text("utf-8")


@pytest.fixture(scope="module", params=product(COMMANDS, SCHEMES), ids="-".join)
def receiver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    language, scheme = request.param
    started = Receiver(language, scheme, tmp_path_factory.mktemp("receiver"))
    with Cleanup(command=["kill", "-9", str(started.process.pid)]):
        wait_until(started.is_listening)
        yield started
    started.process.wait()


def list_wrappers(scheme: str) -> list[str]:
    return ["raw"] if scheme == "signed" else ["raw", "json"]


def test_a_delivery_is_accepted_and_its_id_is_printed(receiver: Receiver) -> None:
    deliveries = [make_delivery(receiver.scheme, wrapper) for wrapper in list_wrappers(receiver.scheme)]

    assert {receiver.send(delivery) for delivery in deliveries} == {204}
    wait_until(lambda: all(f"{delivery.event_id} test" in receiver.read() for delivery in deliveries))


def test_either_of_two_live_secrets_verifies_a_signature(receiver: Receiver) -> None:
    if receiver.scheme == "signed":
        assert receiver.send(make_delivery("signed", secrets=[OTHER, SECRETS])) == 204
        assert receiver.send(make_delivery("signed", secrets=[SECRETS, OTHER])) == 204
    assert receiver.send(make_delivery(receiver.scheme, secrets=[OTHER])) == 400


def change(text: str) -> str:
    """Gives a text with its last digit or letter changed to another one that could stand there."""
    return re.sub(r"\w(?=\W*$)", lambda found: "1" if found[0] == "0" else "0", text)


def list_changed(scheme: str, wrapper: str) -> Iterator[tuple[str, Delivery]]:
    def make() -> Delivery:
        return make_delivery(scheme, wrapper)

    yield "another secret", make_delivery(scheme, wrapper, secrets=[OTHER])
    yield "a changed body", replace(good := make(), body=change(good.body.decode()).encode())
    yield "a body cut short", replace(good := make(), body=good.body[:-1])
    yield "no body", replace(make(), body=b"")
    yield (
        "a body that is not encrypted or signed",
        Delivery(json.dumps(TEST_EVENT).encode(), {"Content-Type": "application/json", "webhook-id": make_id()}),
    )
    for name in make().headers:
        if name != "Content-Type":
            yield f"no {name}", make().without(name)
    if scheme != "signed":
        for name in ("X-Initialization-Vector", "X-Authentication-Tag"):
            value = (good := make()).headers[name]
            yield f"a changed {name}", replace(good, headers={**good.headers, name: change(value)})
            yield f"a {name} cut short", replace(good, headers={**good.headers, name: value[:8]})
            yield f"{name} that is not hex", replace(good, headers={**good.headers, name: "?" * len(value)})
    if scheme != "encrypted":
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
            good = make()
            yield f"a changed {name}", replace(good, headers={**good.headers, name: change(good.headers[name])})
        yield "a timestamp that is too old", make_delivery(scheme, wrapper, age_s=3600)
        yield "a timestamp that is too new", make_delivery(scheme, wrapper, age_s=-3600)


def test_a_changed_delivery_is_refused(receiver: Receiver) -> None:
    refused = [row for wrapper in list_wrappers(receiver.scheme) for row in list_changed(receiver.scheme, wrapper)]

    answers = [(what, receiver.send(delivery)) for what, delivery in refused]

    assert [row for row in answers if row[1] != 400] == []
    last = make_delivery(receiver.scheme)
    assert receiver.send(last) == 204
    wait_until(lambda: last.event_id in receiver.read())
    printed = receiver.read()
    with_id = [(what, delivery.event_id) for what, delivery in refused if delivery.event_id]
    assert [what for what, event_id in with_id if event_id in printed] == []


@pytest.mark.parametrize("language", COMMANDS)
def test_a_receiver_without_any_secret_accepts_nothing(language: str, tmp_path: Path) -> None:
    name, text = RECEIVERS[language]
    (tmp_path / name).write_text(text)
    port = find_free_port()
    variables = {**inherit_variables(), "PORT": str(port)}
    process = subprocess.Popen(COMMANDS[language](name, port), cwd=tmp_path, env=variables, stderr=subprocess.DEVNULL)
    with Cleanup(command=["kill", "-9", str(process.pid)]):
        wait_until(lambda: process.poll() is not None or is_refusing(port))
    process.wait()


def is_refusing(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REQUEST_S)
    try:
        connection.request("POST", "/", json.dumps(TEST_EVENT), {"webhook-id": make_id()})
        assert connection.getresponse().status == 400
    except ConnectionRefusedError:
        return False
    finally:
        connection.close()
    return True


def test_the_page_has_a_receiver_for_each_language() -> None:
    assert set(RECEIVERS) == set(COMMANDS)
