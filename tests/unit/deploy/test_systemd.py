"""The files for systemd are accepted by systemd and by the gateway. What it tells systemd is elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tollgate.config import SETTINGS, load_settings
from tollgate.hosting.readiness import list_missing
from tollgate.hosting.server import _SHUTDOWN_S

FOLDER = Path(__file__).parents[3] / "deploy" / "systemd"
UNIT = FOLDER / "tollgate.service"
EXPOSURE_TENTHS_MAX = 20
"""Systemd's figure for what a service could do to the machine, from 0 to 100; a service without any limit has 96."""


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300)


def read_variables() -> dict[str, str]:
    lines = (FOLDER / "tollgate.env").read_text().splitlines()
    pairs = [line.partition("=")[::2] for line in lines if line and not line.startswith("#")]
    return dict(pairs)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit with a program that exists on this machine."""
    program = Path(sys.executable).with_name("tollgate")
    text = UNIT.read_text()
    assert "ExecStart=/opt/tollgate/bin/tollgate serve\n" in text
    path = tmp_path / UNIT.name
    path.write_text(text.replace("/opt/tollgate/bin/tollgate", str(program)))
    return path


def test_systemd_accepts_the_unit_without_a_warning(unit: Path) -> None:
    verified = run("systemd-analyze", "verify", unit)

    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")


def test_systemd_complains_of_a_wrong_unit(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("NoNewPrivileges=yes", "NoNewPrivilege=yes"))

    assert "'NoNewPrivilege'" in run("systemd-analyze", "verify", unit).stderr


def test_the_service_can_do_little_to_its_machine(unit: Path) -> None:
    judge = ["systemd-analyze", "security", "--offline=true", f"--threshold={EXPOSURE_TENTHS_MAX}"]
    assert run(*judge, unit).returncode == 0

    unit.write_text(re.sub("(?m)^(Restrict|Protect|Private|SystemCall).*$", "", unit.read_text()))
    assert run(*judge, unit).returncode == 1


def test_systemd_waits_longer_than_requests_in_flight_may_take() -> None:
    stop_s = re.search(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(), re.M)

    assert stop_s is not None
    assert int(stop_s[1]) > _SHUTDOWN_S


def test_the_settings_are_those_of_a_live_host_that_lacks_its_keys_only(tmp_path: Path) -> None:
    variables = read_variables()
    assert {name for name in variables if name.startswith("TOLLGATE_")} <= {row.variable for row in SETTINGS}
    (missing,) = list_missing(load_settings(variables=variables))
    assert variables["TOLLGATE_KEY_FILE"] in missing

    (tmp_path / "data").mkdir()
    assert run(sys.executable, "-m", "tollgate", "make-keys", tmp_path).returncode == 0
    key_file = tmp_path / Path(variables["TOLLGATE_KEY_FILE"]).name
    there = {"TOLLGATE_KEY_FILE": str(key_file), "TOLLGATE_DATA": str(tmp_path / "data")}
    settings = load_settings(variables={**variables, **there})

    assert list_missing(settings) == []
    assert settings.workers > 1
    assert not settings.uses_sqlite


def test_the_folders_of_the_unit_are_those_of_the_settings() -> None:
    """`StateDirectory=tollgate` is /var/lib/tollgate, and the user needs no other folder to write to."""
    variables, text = read_variables(), UNIT.read_text()

    assert "StateDirectory=tollgate\n" in text
    assert variables["TOLLGATE_DATA"] == "/var/lib/tollgate"
    assert "EnvironmentFile=/etc/tollgate/tollgate.env\n" in text
    assert "ReadWritePaths" not in text


def test_the_user_and_the_folder_are_made(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    users = run("systemd-sysusers", f"--root={tmp_path}", FOLDER / "tollgate.sysusers.conf")
    assert users.returncode == 0, users.stderr
    made = (tmp_path / "etc" / "passwd").read_text()
    assert re.search("^tollgate:x:[0-9]+:[0-9]+:[^:]*:/var/lib/tollgate:/usr/sbin/nologin$", made, re.M)
    assert "User=tollgate\nGroup=tollgate\n" in UNIT.read_text()

    folders = run("systemd-tmpfiles", "--create", f"--root={tmp_path}", FOLDER / "tollgate.tmpfiles.conf")
    assert (folders.returncode, folders.stderr) == (0, "")
    assert (tmp_path / "etc" / "tollgate").stat().st_mode & 0o777 == 0o700


def test_every_file_for_systemd_is_described() -> None:
    text = (FOLDER.parents[1] / "docs" / "deployment.md").read_text("utf-8")
    assert [path.name for path in FOLDER.iterdir() if f"deploy/systemd/{path.name}" not in text] == []
