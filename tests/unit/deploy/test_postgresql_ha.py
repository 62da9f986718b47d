"""The files of the PostgreSQL cluster say what its walk-through promises. `make prove-ha` shows that they work."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "postgresql-ha"
HOSTS = ("db1", "db2", "db3", "gateway")


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster")
    for host in HOSTS:
        run_render(FOLDER / "cluster.env", folder / host, host)
    return folder


def run_render(variables: Path, folder: Path, host: str) -> None:
    subprocess.run([FOLDER / "render.sh", variables, folder, host], check=True, timeout=60)


def test_every_place_is_filled_in(rendered: Path) -> None:
    texts = {path: path.read_text() for path in rendered.glob("*/*")}

    assert {path.name for path in texts} == {path.name for path in FOLDER.iterdir()} - {"cluster.env", "render.sh"}
    assert [str(path) for path, text in texts.items() if re.search(r"@[A-Z]\w*@", text)] == []


def test_a_variable_that_is_missing_is_refused(tmp_path: Path) -> None:
    variables = tmp_path / "cluster.env"
    variables.write_text((FOLDER / "cluster.env").read_text().replace("DB2=", "DB4="))

    with pytest.raises(subprocess.CalledProcessError):
        run_render(variables, tmp_path / "db1", "db1")


def test_nobody_else_reads_a_password(rendered: Path) -> None:
    assert {path.stat().st_mode & 0o077 for path in rendered.glob("*/*")} == {0}


@pytest.mark.parametrize("host", HOSTS[:3])
def test_an_acknowledged_commit_is_on_two_hosts(rendered: Path, host: str) -> None:
    settings = yaml.safe_load((rendered / host / "patroni.yml").read_text())
    shared = settings["bootstrap"]["dcs"]

    assert (settings["name"], shared["synchronous_mode"], shared["synchronous_mode_strict"]) == (host, True, True)
    assert shared["postgresql"]["parameters"]["synchronous_commit"] == "on"


def test_patroni_compares_before_it_renews_its_lock(rendered: Path) -> None:
    """Patroni 3.0.2 does so with version 2 of etcd's interface alone."""
    assert "etcd3" not in yaml.safe_load((rendered / "db1" / "patroni.yml").read_text())
    assert 'ETCD_ENABLE_V2="true"' in (rendered / "db1" / "etcd").read_text().splitlines()


def test_the_pooler_keeps_sessions(rendered: Path) -> None:
    assert "pool_mode = session" in (rendered / "db1" / "pgbouncer.ini").read_text().splitlines()


def test_the_walk_through_uses_every_file() -> None:
    text = (ROOT / "docs" / "failover.md").read_text()

    assert [path.name for path in FOLDER.iterdir() if path.name not in text] == []
