"""The wheel serves by itself: uvx starts it in another folder, with an empty environment."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from cleaning import Cleanup
from gateway import LOOK_EVERY_S, START_S, Client
from installing import build_wheel, list_uv_variables, translate_settings
from ports import find_free_port

UVX = str(Path(sys.executable).with_name("uvx"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    home = str(tmp_path_factory.mktemp("home"))
    return {"HOME": home, "PATH": "/usr/bin:/bin", "TMPDIR": home, **list_uv_variables()}


@pytest.fixture
def client(wheel: Path, variables: Mapping[str, str], tmp_path: Path) -> Iterator[Client]:
    """A caller of a server that uvx started: both are in a folder that has nothing but the store."""
    port = find_free_port()
    log_path = tmp_path / "server.log"
    with log_path.open("wb") as log:
        command = [UVX, "--from", str(wheel), "tollgate", "serve", "--port", str(port)]
        server = subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=log, stderr=log, start_new_session=True)
    with Cleanup(command=["kill", "-9", f"-{server.pid}"]):
        try:
            wait_until_ready(server, Client(f"http://127.0.0.1:{port}", "", ""), log_path)
            show = [UVX, "--from", str(wheel), "tollgate", "credentials", "--json"]
            ran = subprocess.run(show, cwd=tmp_path, env=variables, check=True, capture_output=True, timeout=START_S)
            told = json.loads(ran.stdout)
            yield Client(told["baseUrl"], told["accessToken"], told["entityId"])
        finally:
            server.terminate()
            server.wait(timeout=START_S)


def wait_until_ready(server: subprocess.Popen[bytes], client: Client, log_path: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        is_waiting = server.poll() is None and time.monotonic() < deadline
        assert is_waiting, log_path.read_text()[-4000:]
        try:
            if client.send("GET", "/readyz").status == 200:
                return
        except OSError:
            pass
        time.sleep(LOOK_EVERY_S)


def test_a_wheel_started_by_uvx_takes_a_payment_and_shows_every_page(client: Client, tmp_path: Path) -> None:
    paid = client.pay()

    assert (paid.status, paid.code) == (200, "000.100.110")
    assert client.get(f"/v1/payments/{paid.json['id']}").json["amount"] == "92.00"
    for path in ("/v1/paymentWidgets.js", "/docs", "/docs/deployment", "/docs/api", "/", "/office", "/sandbox/shop"):
        assert client.send("GET", path).status in (200, 303), path
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "server.log"]


def test_a_wheel_has_the_package_and_nothing_of_the_checkout_besides(wheel: Path) -> None:
    assert wheel.name.startswith("tollgate_payments-")
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
    described = {name for name in names if name.partition("/")[0].endswith(".dist-info")}

    assert {name.partition("/")[0] for name in set(names) - described} == {"tollgate"}
    assert [name for name in names if "/tests/" in name or name.endswith(("conftest.py", ".pyc"))] == []


def test_the_same_files_give_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    assert build_wheel(tmp_path).read_bytes() == wheel.read_bytes()


def test_settings_of_pip_are_translated_for_uv() -> None:
    listed = """
:env:.find-links='/first'
global.cert='/etc/ca.pem'
global.extra-index-url='https://a.example/index\\nhttps://b.example/index'
global.find-links='/second'
global.timeout='9'
"""
    assert translate_settings(listed) == {
        "SSL_CERT_FILE": "/etc/ca.pem",
        "UV_INDEX": "https://a.example/index https://b.example/index",
        "UV_FIND_LINKS": "/first",
    }
