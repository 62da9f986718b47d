"""localstripe, a public stand-in for a payment API, creating charges on this machine. Nothing is judged here."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlencode

from tools.bench.wrk import Call

from gateway import CARD
from ports import find_free_port

START_S = 20
PAUSE_S = 0.1
HEADERS = {"Authorization": "Bearer sk_test_12345"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def name_rival() -> str:
    return f"localstripe {version('localstripe')}"


@contextmanager
def run_rival() -> Iterator[Call]:
    """A fresh one each time: it writes all it knows with every charge, so it slows down as it fills."""
    port = find_free_port()
    with tempfile.TemporaryDirectory(prefix="tollgate-rival-") as folder:
        command = [sys.executable, str(Path(__file__).with_name("rival_server.py")), str(port), folder]
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        try:
            yield _prepare(port)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _prepare(port: int) -> Call:
    card = {
        "card[number]": "4242424242424242",
        "card[exp_month]": CARD["card.expiryMonth"],
        "card[exp_year]": CARD["card.expiryYear"],
        "card[cvc]": CARD["card.cvv"],
    }
    _wait_until_up(port)
    token = _post(port, "/v1/tokens", card)
    customer = _post(port, "/v1/customers", {"source": token, "email": "jane.jones@example.com"})
    body = urlencode({"amount": "9200", "currency": "eur", "customer": customer})
    return Call(f"http://127.0.0.1:{port}", "/v1/charges", HEADERS, [body], "description")


def _wait_until_up(port: int) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            _post(port, "/v1/customers", {})
        except OSError:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{name_rival()} did not start") from None
            time.sleep(PAUSE_S)
        else:
            return


def _post(port: int, path: str, fields: dict[str, str]) -> str:
    """Returns the id of what was made."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", path, urlencode(fields), {**HEADERS, **FORM})
        reply = connection.getresponse()
        answer = json.loads(reply.read())
    finally:
        connection.close()
    if reply.status != 200:
        raise RuntimeError(f"{name_rival()} refused {path}: {answer}")
    made: str = answer["id"]
    return made
