"""A real Tollgate server in a process of its own, and a client that speaks real HTTP to it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from cleaning import Cleanup
from ports import find_free_port
from warm import Prepare, WarmProcess, run_warm

START_S = 300.0
STOP_S = 300.0
LOOK_EVERY_S = 0.02
COMMAND_S = 300.0
COLD = (sys.executable, "-m", "tollgate")

CARD = {
    "paymentBrand": "VISA",
    "card.number": "4200000000000000",
    "card.holder": "Jane Jones",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
    "card.cvv": "123",
}
PAYMENT = {"amount": "92.00", "currency": "EUR", "paymentType": "DB", **CARD}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        code: str = self.json["result"]["code"]
        return code

    @property
    def faults(self) -> dict[str, str]:
        """Name to message of every parameter error."""
        return {fault["name"]: fault["message"] for fault in self.json["result"].get("parameterErrors", ())}


@dataclass(frozen=True)
class Client:
    """One caller with its token and entity; every request opens a connection of its own, so threads may share it."""

    base_url: str
    token: str
    entity_id: str
    lenient_entity_id: str = ""
    timeout_s: float = 120.0
    merchant_id: str = ""

    def send(
        self, method: str, path: str, body: bytes | str | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Exactly these bytes and headers, nothing added."""
        host = urlsplit(self.base_url).netloc
        connection = http.client.HTTPConnection(host, timeout=self.timeout_s)
        try:
            connection.request(method, path, body, dict(headers or {}))
            reply = connection.getresponse()
            return Answer(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
        finally:
            connection.close()

    def authorized(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", **(extra or {})}

    def post(self, path: str, fields: Mapping[str, str | None], headers: Mapping[str, str] | None = None) -> Answer:
        """A form with the caller's entity; a field given as None is left out."""
        sent = {"entityId": self.entity_id, **fields}
        body = urlencode({name: value for name, value in sent.items() if value is not None})
        form = {"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"}
        return self.send("POST", path, body, self.authorized({**form, **(headers or {})}))

    def get(self, path: str, query: Mapping[str, str | None] | None = None) -> Answer:
        sent = {"entityId": self.entity_id, **(query or {})}
        text = urlencode({name: value for name, value in sent.items() if value is not None})
        return self.send("GET", f"{path}?{text}" if text else path, None, self.authorized())

    def pay(self, headers: Mapping[str, str] | None = None, /, **changes: str | None) -> Answer:
        """The standard payment with changes; `card__cvv="1"` stands for `card.cvv`."""
        renamed = {name.replace("__", "."): value for name, value in changes.items()}
        return self.post("/v1/payments", {**PAYMENT, **renamed}, headers)


@dataclass
class GatewayProcess:
    """Starts on entering, is stopped on leaving; `kill` is the power cord."""

    data: Path
    database: str = ""
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    is_cold: bool = False
    """The program is read from disk as an operator's is, where starting is the subject or it starts others in turn."""
    process: subprocess.Popen[bytes] | WarmProcess | None = None
    _cleanup: Cleanup = field(default_factory=Cleanup)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log_path(self) -> Path:
        return self.data / "server.log"

    @property
    def prepare(self) -> Prepare | None:
        """Returns what is run in the new process before the program begins."""
        return None

    def start(self) -> None:
        self.process = self.launch()
        deadline = time.monotonic() + START_S
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the server did not start:\n{self.read_log()}")
            time.sleep(LOOK_EVERY_S)

    def launch(self) -> subprocess.Popen[bytes] | WarmProcess:
        """Starts the process without waiting until it is ready."""
        self.data.mkdir(parents=True, exist_ok=True)
        self.port = self.port or find_free_port()
        command = [*self._command("serve"), "--port", str(self.port), *self.arguments]
        if self.is_cold:
            with self.log_path.open("ab") as log:
                self.process = subprocess.Popen(
                    [*COLD, *command], stdout=log, stderr=log, env=self._variables(), start_new_session=True
                )
            # A process that has others of its own leads their group.
            self._cleanup = Cleanup(command=["kill", "-9", f"-{self.process.pid}"])
            self._cleanup.start()
        else:
            self.process = WarmProcess(command, self._variables(), self.log_path, self.log_path, self.prepare)
        return self.process

    def stop(self) -> int:
        """Asks it to end and waits; the exit code says whether it went well."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=STOP_S)
        self.process = None
        self._cleanup.finish()
        return code

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(timeout=STOP_S)
            self.process = None
            self._cleanup.finish()

    def read_log(self) -> str:
        return self.log_path.read_text()[-4000:]

    def client(self) -> Client:
        shown = json.loads(self.run("credentials", "--json").stdout)
        return Client(
            self.base_url,
            shown["accessToken"],
            shown["entityId"],
            shown["lenientEntityId"],
            merchant_id=shown["merchantId"],
        )

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Another `tollgate` command on the same store."""
        return run_warm(self._command(*command), self._variables(), COMMAND_S)

    def _command(self, *command: str) -> list[str]:
        return [*command, "--data", str(self.data), *(["--database", self.database] if self.database else [])]

    def _variables(self) -> dict[str, str]:
        return {**inherit_variables(), **self.environment}

    def _is_ready(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def inherit_variables() -> dict[str, str]:
    """Returns all variables but those that are settings of ours."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
