"""The command line: what it prints for scripts, and what it says when something is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.merchants import run_command
from gateway import Client, GatewayProcess
from ports import find_free_port
from tollgate.cli.program import program

pytestmark = pytest.mark.both_databases


def invoke(*command: str, **variables: str) -> Result:
    given = {f"TOLLGATE_{name.upper()}": value for name, value in variables.items()}
    return CliRunner().invoke(program, list(command), env=given)


def test_credentials_are_printed_as_json_for_scripts(gateway: GatewayProcess, client: Client) -> None:
    shown = json.loads(gateway.run("credentials", "--json").stdout)

    assert shown == {
        "frontUrl": f"{gateway.base_url}/",
        "baseUrl": gateway.base_url,
        "entityId": client.entity_id,
        "lenientEntityId": client.lenient_entity_id,
        "merchantId": client.merchant_id,
        "accessToken": client.token,
        "shopUrl": f"{gateway.base_url}/sandbox/shop",
    } | ({"office": shown["office"]} if "office" in shown else {})


def test_check_says_ready_and_touches_nothing(gateway: GatewayProcess, client: Client) -> None:
    client.pay()

    # Warnings come first.
    assert run_command(gateway, "check").splitlines()[-1].startswith("ready: test host on http://")
    assert client.pay().status == 200


@pytest.mark.parametrize(
    ("flags", "missing"),
    [
        (("--workers", "2"), "--workers above 1 needs PostgreSQL"),
        (("--tls-cert", "/nowhere.pem"), "--tls-cert and --tls-key"),
        (("--environment", "live"), "a live host needs --key-file"),
        (("--tls-cert", "/nowhere.pem", "--tls-self-signed"), "--tls-self-signed stands alone"),
        (("--http-port", "8080"), "are different ports"),
        (("--metrics-port", "8080"), "are different ports"),
        (("--http-port", "8081"), "--http-port sends clients to HTTPS"),
    ],
)
def test_check_names_what_is_missing(tmp_path: Path, flags: tuple[str, ...], missing: str) -> None:
    done = invoke("check", "--data", str(tmp_path), *flags)

    assert done.exit_code == 1
    assert missing in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_migrate_may_be_run_again_and_beside_a_running_server(gateway: GatewayProcess, client: Client) -> None:
    for _ in range(2):
        assert run_command(gateway, "migrate") == "the store is up to date"
    assert client.pay().status == 200


def test_lists_show_ids_and_no_token(gateway: GatewayProcess, client: Client) -> None:
    channels, tokens = run_command(gateway, "channel", "list"), run_command(gateway, "token", "list")

    assert client.entity_id in channels
    assert "(lenient" in channels
    assert "Sandbox merchant" in run_command(gateway, "merchant", "list")
    assert client.token not in tokens


@pytest.mark.parametrize(
    "command",
    [
        ("channel", "add", "8a" + "0" * 30, "Nobody's"),
        ("channel", "set", "8a" + "0" * 30, "--closed"),
        ("token", "add", "8a" + "0" * 30),
        ("token", "revoke", "8a" + "0" * 30),
    ],
)
def test_a_missing_row_is_reported_in_one_line(gateway: GatewayProcess, command: tuple[str, ...]) -> None:
    with pytest.raises(RuntimeError, match=r"no (merchant|channel|token) 8a0000"):
        run_command(gateway, *command)


def test_variables_stand_in_for_flags_and_flags_win(tmp_path: Path) -> None:
    by_variable = invoke("check", data=str(tmp_path), port="9191")
    by_flag = invoke("check", "--port", "9292", data=str(tmp_path), port="9191")

    assert "127.0.0.1:9191" in by_variable.stdout
    assert "127.0.0.1:9292" in by_flag.stdout


@pytest.mark.parametrize(("variable", "value"), [("port", "eighty"), ("environment", "staging"), ("workers", "two")])
def test_a_variable_of_the_wrong_type_is_named(tmp_path: Path, variable: str, value: str) -> None:
    done = invoke("check", "--data", str(tmp_path), **{variable: value})

    assert done.exit_code == 2
    assert variable in done.stderr


def test_a_key_file_is_never_overwritten(tmp_path: Path) -> None:
    first = invoke("make-keys", str(tmp_path))
    written = (tmp_path / "tollgate-keys.json").read_bytes()
    second = invoke("make-keys", str(tmp_path))

    assert first.stdout.strip() == str(tmp_path / "tollgate-keys.json")
    assert second.exit_code == 1
    assert (tmp_path / "tollgate-keys.json").read_bytes() == written
    assert (tmp_path / "tollgate-keys.json").stat().st_mode & 0o777 == 0o600


def test_a_store_that_cannot_be_reached_is_reported_in_one_line(tmp_path: Path) -> None:
    nowhere = f"postgresql://nobody@127.0.0.1:{find_free_port()}/none"
    command = [sys.executable, "-m", "tollgate", "migrate", "--data", str(tmp_path), "--database", nowhere]

    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 1
    assert done.stderr.startswith("tollgate: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("database", ["mysql://tollgate:secret@host/x", "secret.db"])
def test_a_database_of_another_kind_is_not_taken_for_a_file(tmp_path: Path, database: str) -> None:
    done = invoke("migrate", "--data", str(tmp_path), "--database", database)

    assert done.exit_code == 2
    assert "postgresql://" in done.stderr
    assert "secret" not in done.output


def test_a_data_folder_that_cannot_be_made_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    done = invoke("migrate", "--data", str(tmp_path / "file" / "folder"))

    assert done.exit_code == 1
    assert "as data folder" in done.stderr
    assert "Traceback" not in done.output
