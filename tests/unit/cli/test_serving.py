"""Starting a host: what is said before it serves."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from ports import find_free_port
from tollgate.cli import serving
from tollgate.cli.program import program


@pytest.mark.parametrize(("host", "count"), [("0.0.0.0", 1), ("127.0.0.1", 0)])
def test_a_test_host_that_is_open_to_a_network_warns_in_its_log_and_on_standard_error(
    host: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(serving, "run", lambda _settings, sockets: [each.close() for _, each in sockets])
    monkeypatch.setattr(serving, "set_up_logs", lambda _level, _format: None)

    command = ["serve", "--host", host, "--port", str(find_free_port()), "--data", str(tmp_path)]
    done = CliRunner().invoke(program, command, catch_exceptions=False)

    assert done.exit_code == 0
    assert done.stderr.count("tollgate: warning: this test host listens on 0.0.0.0 without TLS") == count
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == (
        ["test host without TLS is open to the network"] * count
    )


@pytest.mark.parametrize("flag", ["--port", "--http-port", "--metrics-port"])
def test_a_port_in_use_is_named_before_anything_is_made_or_printed(flag: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ports = {"--port": str(find_free_port()), flag: str(port)}
        flags = [each for pair in ports.items() for each in pair]

        done = CliRunner().invoke(program, ["serve", "--tls-self-signed", "--data", str(tmp_path), *flags])

    assert done.exit_code == 1
    assert done.output == f"tollgate: cannot listen on 127.0.0.1 port {port}: Address already in use\n"
    assert list(tmp_path.iterdir()) == []
