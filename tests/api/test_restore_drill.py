"""A drill: a gateway is backed up under load, its keys are rotated, its machine is lost, and another one goes on."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from api.balancing import Payers
from api.merchants import wait_until
from gateway import COLD, COMMAND_S, Client, GatewayProcess, inherit_variables
from postgres import PostgresCluster
from warm import run_warm

APPROVED = "000.100.110"
KEY = {"Idempotency-Key": "order-before-the-backup"}


@pytest.fixture(params=["sqlite", "postgresql"])
def machines(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[GatewayProcess, GatewayProcess]:
    """Two machines, of which the second is empty, with a folder of keys each."""
    made = []
    for name in ("first", "second"):
        keys = {"TOLLGATE_KEY_FILE": str(tmp_path / f"{name}-keys" / "keys.json")}
        (tmp_path / f"{name}-keys").mkdir()
        database = ""
        if request.param == "postgresql":
            cluster: PostgresCluster = request.getfixturevalue("cluster")
            database = cluster.create_database()
        made.append(GatewayProcess(tmp_path / name, database, environment=keys))
    return made[0], made[1]


@pytest.fixture
def first(machines: tuple[GatewayProcess, GatewayProcess]) -> Iterator[GatewayProcess]:
    with machines[0]:
        yield machines[0]


def refuse(gateway: GatewayProcess, *command: str) -> str:
    """Returns why a command ended with 1."""
    with pytest.raises(subprocess.CalledProcessError) as failed:
        gateway.run(*command)
    assert failed.value.returncode == 1
    return str(failed.value.stderr)


def run_on_keys(gateway: GatewayProcess, *command: str) -> None:
    """Runs a command that takes no store."""
    run_warm(("key-archive", *command), {**inherit_variables(), **gateway.environment}, COMMAND_S)


def wait_for_payments(payers: Payers, further: int = 20) -> None:
    before = len(payers.paid)
    wait_until(lambda: len(payers.paid) >= before + further or bool(payers.failed))


class Drill:
    """A drill remembers what callers knew before the backup, and where everything is kept."""

    def __init__(self, folder: Path, client: Client) -> None:
        self.backup = folder / "store.backup"
        self.keys = folder / "keys-apart.json"
        archive = folder / "archive"
        archive.mkdir()
        self.archive_key = archive / "wrap.key"
        self.archive = ("--archive", str(archive / "keys.json"), "--archive-key", str(self.archive_key))
        self.keyed = client.pay(KEY)
        self.payment = client.pay(createRegistration="true")
        assert (self.keyed.code, self.payment.code) == (APPROVED, APPROVED)

    def back_up_under_load(self, gateway: GatewayProcess, client: Client) -> list[str]:
        """Returns the payments that were acknowledged before the backup began; keys are rotated after it."""
        with Payers(client) as payers:
            wait_for_payments(payers)
            known = list(payers.paid)
            assert f"rows are in {self.backup}" in gateway.run("backup", str(self.backup)).stdout
            wait_for_payments(payers)
            gateway.run("rotate-keys")
            run_on_keys(gateway, "make-key", str(self.archive_key))
            gateway.run("rotate-keys", "--retire", *self.archive)
            wait_for_payments(payers)
        assert payers.failed == []
        shutil.copy(gateway.environment["TOLLGATE_KEY_FILE"], self.keys)
        return known

    def restore(self, gateway: GatewayProcess) -> None:
        shutil.copy(self.keys, gateway.environment["TOLLGATE_KEY_FILE"])
        assert "`tollgate key-archive restore` puts it back" in refuse(gateway, "restore", str(self.backup))
        run_on_keys(gateway, "restore", *self.archive)
        told = gateway.run("restore", str(self.backup)).stdout
        assert "all is well" in told
        assert "well: 0 chains" not in told
        gateway.run("rotate-keys", "--wait", "0")
        gateway.run("rotate-keys", "--retire", *self.archive)

    def check_goes_on(self, client: Client, known: list[str]) -> None:
        repeated = client.pay(KEY)
        assert repeated.json == self.keyed.json
        payment = self.payment.json
        refund = client.post(
            f"/v1/payments/{payment['id']}", {"amount": "92.00", "currency": "EUR", "paymentType": "RF"}
        )
        assert refund.code == APPROVED
        assert client.pay(KEY).json == self.keyed.json
        by_registration = client.post(
            f"/v1/registrations/{payment['registrationId']}/payments",
            {"amount": "5.00", "currency": "EUR", "paymentType": "DB"},
        )
        assert by_registration.code == APPROVED
        assert client.pay().code == APPROVED
        for payment_id in known:
            assert client.get(f"/v1/payments/{payment_id}").code == APPROVED


def test_a_gateway_goes_on_from_a_backup_on_an_empty_machine(
    machines: tuple[GatewayProcess, GatewayProcess], first: GatewayProcess, tmp_path: Path
) -> None:
    second, client = machines[1], first.client()
    drill = Drill(tmp_path, client)
    known = drill.back_up_under_load(first, client)
    first.kill()
    shutil.rmtree(first.data)
    shutil.rmtree(Path(first.environment["TOLLGATE_KEY_FILE"]).parent)

    drill.restore(second)

    with second:
        assert replace(client, base_url=second.base_url) == second.client(), "ids and access tokens are the same"
        drill.check_goes_on(second.client(), known)
        assert "all is well" in second.run("verify").stdout


def test_a_store_with_rows_is_not_restored_beside_or_without_its_server(first: GatewayProcess, tmp_path: Path) -> None:
    client, path = first.client(), str(tmp_path / "store.backup")
    paid = client.pay().json["id"]
    first.run("backup", path)
    for _ in range(2):
        assert "restore into an empty one" in refuse(first, "restore", path)
        first.stop()
    first.start()
    assert client.get(f"/v1/payments/{paid}").code == APPROVED
    assert "exists: a backup is never overwritten" in refuse(first, "backup", path)


def start_command(gateway: GatewayProcess, *command: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    place = ("--data", str(gateway.data), *(("--database", gateway.database) if gateway.database else ()))
    variables = {**inherit_variables(), **gateway.environment}
    return subprocess.Popen([*before, *COLD, *command, *place], env=variables, stderr=subprocess.PIPE, text=True)


def test_a_killed_backup_leaves_nothing_that_could_be_restored(
    machines: tuple[GatewayProcess, GatewayProcess], first: GatewayProcess, tmp_path: Path
) -> None:
    second, folder = machines[1], tmp_path / "backups"
    folder.mkdir()
    for _ in range(10):
        first.client().pay()
    # At one row in a second it does not end before it is killed.
    with start_command(first, "backup", str(folder / "store.backup"), "--rate", "1") as command:
        wait_until(lambda: bool(list(folder.iterdir())))
        command.kill()
        assert command.wait(COMMAND_S) == -signal.SIGKILL

    (draft,) = folder.iterdir()
    assert draft.name.startswith(".store.backup.")
    shutil.copy(first.environment["TOLLGATE_KEY_FILE"], second.environment["TOLLGATE_KEY_FILE"])
    assert "cut off" in refuse(second, "restore", str(draft))
    assert "all is well" in first.run("verify").stdout
    first.run("backup", str(folder / "store.backup"))
    second.run("restore", str(folder / "store.backup"))


@pytest.mark.parametrize("machines", ["postgresql"], indirect=True)
def test_a_disk_without_room_for_the_backup_is_named_and_nothing_is_left(first: GatewayProcess, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    # A limit for files is no different from a full disk; on PostgreSQL the command writes no other file.
    command = start_command(first, "backup", str(folder / "store.backup"), before=("prlimit", "--fsize=2000"))
    told = command.communicate(timeout=COMMAND_S)[1]
    assert command.returncode == 1
    assert told == f"tollgate: cannot write {folder / 'store.backup'}: File too large\n"
    assert not list(folder.iterdir())
