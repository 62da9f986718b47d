"""The image is built on a plain Debian and serves as its compose file says. What the files agree on is tested apart."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cleaning import Cleanup
from composing import DEPLOY, list_variables, read_services
from gateway import LOOK_EVERY_S, START_S, STOP_S, Client
from installing import build_wheel
from ports import find_free_port
from postgres import PostgresCluster
from redis_server import RedisServer

pytestmark = [
    pytest.mark.prove,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a base and isolate a process without a runtime"),
]

STEP_S = 3000
IMAGE = "localhost/tollgate"
LOCK = DEPLOY.parent / "requirements.lock"
SUITE, PYTHON = "bookworm", "3.11"
PASSWORD = "a password of this test"
# A container that drops all capabilities and has a read-only root, with what isolation by chroot offers.
SERVE = """
mount -o remount,bind,ro /
touch /written 2>/dev/null && exit 1
echo $$ >/var/lib/tollgate/pid
export HOME="$(getent passwd "$1" | cut -d: -f6)"
exec setpriv --reuid "$1" --regid "$2" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- {command}
"""


@dataclass(frozen=True)
class Store:
    """Images and containers in a folder of their own; those of the machine are not touched."""

    folder: Path

    def command(self, verb: str, *arguments: object) -> list[str]:
        places = ["--root", str(self.folder / "images"), "--runroot", str(self.folder / "run")]
        return ["buildah", *places, "--storage-driver", "vfs", verb, *map(str, arguments)]

    def run(self, verb: str, *arguments: object) -> str:
        return run(*self.command(verb, *arguments))

    @contextmanager
    def make_container(self, image: str) -> Iterator[str]:
        name = self.run("from", "--pull-never", image).strip()
        try:
            yield name
        finally:
            self.run("rm", name)


def run(*command: object) -> str:
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=STEP_S, stdin=subprocess.DEVNULL)
    assert ran.returncode == 0, f"{command}\n{ran.stdout[-4000:]}\n{ran.stderr[-4000:]}"
    return ran.stdout


@pytest.fixture(scope="module")
def store(disk: Path) -> Iterator[Store]:
    folder = Path(tempfile.mkdtemp(prefix="tollgate-image-", dir=disk))
    with Cleanup(folder):
        built = Store(folder)
        make_base(built)
        build_image(built)
        yield built


def make_base(store: Store) -> None:
    """Makes the least Debian that has apt, as the public image is."""
    packed = store.folder / "base.tar"
    run("mmdebstrap", "--quiet", "--variant=minbase", SUITE, packed)
    with store.make_container("scratch") as container:
        store.run("add", container, packed, "/")
        store.run("commit", container, "localhost/base")
    packed.unlink()


def build_image(store: Store) -> None:
    context, packages = store.folder / "context", store.folder / "packages"
    shutil.copytree(DEPLOY, context / "deploy")
    shutil.copy(LOCK, context)
    build_wheel(context / "dist")
    # This machine's pip knows where packages are found; the build is given what it found.
    fetch = ["download", "--no-deps", "--require-hashes", "--only-binary=:all:", f"--python-version={PYTHON}"]
    run(sys.executable, "-m", "pip", *fetch, "--quiet", "--requirement", LOCK, "--dest", packages)
    settings = store.folder / "pip.conf"
    settings.write_text("[global]\nno-index = true\nfind-links = /packages\n")
    mounts = [f"--volume={settings}:/etc/pip.conf:ro", f"--volume={packages}:/packages:ro"]
    given = ["--isolation", "chroot", "--layers=false", "--build-arg", "BASE=localhost/base", "--tag", IMAGE]
    store.run("build", *given, *mounts, "--file", context / "deploy" / "Containerfile", context)


@pytest.fixture
def container(store: Store) -> Iterator[str]:
    with store.make_container(IMAGE) as name:
        yield name


@dataclass(frozen=True)
class ComposedGateway:
    """The gateway's service of the compose file, in a container of the image, on the network of this machine."""

    store: Store
    container: str
    folder: Path
    variables: Mapping[str, str]

    def __post_init__(self) -> None:
        for each in (*self._volumes.values(), self.folder / "tmp"):
            each.mkdir(parents=True)
            each.chmod(0o700)
            os.chown(each, *self.user)

    @property
    def user(self) -> tuple[int, int]:
        user, _, group = self.config["User"].partition(":")
        return int(user), int(group)

    @property
    def config(self) -> dict[str, Any]:
        inspected = json.loads(self.store.run("inspect", self.container))
        config: dict[str, Any] = inspected["OCIv1"]["config"]
        return config

    @property
    def _volumes(self) -> dict[str, Path]:
        places = [each.split(":")[1] for each in read_services()["gateway"]["volumes"]]
        return {place: self.folder / Path(place).relative_to("/") for place in places}

    def write_secret(self, place: str, text: str) -> None:
        path = self.folder / Path(place).relative_to("/")
        path.write_text(text)
        path.chmod(0o600)
        os.chown(path, *self.user)

    def command(self, *command: str, options: tuple[str, ...] = ()) -> list[str]:
        mounts = {**self._volumes, "/tmp": self.folder / "tmp"}
        given = [f"--volume={source}:{place}" for place, source in mounts.items()]
        given += [f"--env={name}={value}" for name, value in self.variables.items()]
        return self.store.command("run", "--isolation", "chroot", *given, *options, self.container, "--", *command)

    def execute(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs a command beside the gateway, as the user of the image."""
        return subprocess.run(self.command(*command), capture_output=True, text=True, timeout=STEP_S)

    def probe(self) -> int:
        """Asks for health as the compose file does."""
        kind, *command = read_services()["gateway"]["healthcheck"]["test"]
        assert kind == "CMD"
        return self.execute(*command).returncode

    @contextmanager
    def serve(self) -> Iterator[subprocess.Popen[bytes]]:
        program = shlex.join([*self.config["Entrypoint"], *self.config["Cmd"]])
        limits = ["sh", "-euc", SERVE.format(command=program), "sh", *map(str, self.user)]
        command = self.command(*limits, options=("--user=root", "--cap-add=CAP_SYS_ADMIN"))
        with (self.folder / "log").open("wb") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            with Cleanup(command=["kill", "-9", f"-{server.pid}"]):
                yield server
        finally:
            server.wait(timeout=STOP_S)

    def stop(self) -> None:
        """Tells the first process of the container, which isolation by chroot gives no number of its own."""
        os.kill(int((self._volumes["/var/lib/tollgate"] / "pid").read_text()), signal.SIGTERM)


@pytest.fixture
def gateway(store: Store, container: str) -> Iterator[ComposedGateway]:
    with PostgresCluster() as cluster, RedisServer() as redis:
        cluster.run_sql(f"CREATE ROLE tollgate LOGIN PASSWORD '{PASSWORD}'")
        cluster.run_sql("CREATE DATABASE tollgate OWNER tollgate")
        rules = cluster.folder / "db" / "pg_hba.conf"
        rules.write_text(f"host all tollgate 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        cluster.run_sql("SELECT pg_reload_conf()")
        variables = list_variables("gateway", {"TOLLGATE_SHARED": redis.url})
        # There is no network with names, and the ports of this machine may be taken.
        here = f"127.0.0.1:{cluster.port}"
        variables["TOLLGATE_DATABASE"] = variables["TOLLGATE_DATABASE"].replace("@database/", f"@{here}/")
        variables |= {"TOLLGATE_PORT": str(find_free_port()), "TOLLGATE_METRICS_PORT": str(find_free_port())}
        made = ComposedGateway(store, container, store.folder / "service", variables)
        made.write_secret(variables["PGPASSFILE"], f"{here}:tollgate:tollgate:{PASSWORD}\n")
        yield made


def wait_until_healthy(gateway: ComposedGateway, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while gateway.probe() != 0:
        is_waiting = server.poll() is None and time.monotonic() < deadline
        assert is_waiting, (gateway.folder / "log").read_text()[-4000:]
        time.sleep(LOOK_EVERY_S)


def test_a_gateway_of_the_image_takes_a_payment(gateway: ComposedGateway) -> None:
    with gateway.serve() as server:
        wait_until_healthy(gateway, server)
        told = json.loads(gateway.execute("tollgate", "credentials", "--json").stdout)
        port = gateway.variables["TOLLGATE_PORT"]
        client = Client(f"http://127.0.0.1:{port}", told["accessToken"], told["entityId"])
        paid = client.pay()
        assert (paid.status, paid.code) == (200, "000.100.110")
        assert client.get(f"/v1/payments/{paid.json['id']}").json["amount"] == "92.00"
        assert told["baseUrl"] == list_variables("gateway")["TOLLGATE_PUBLIC_URL"]
        assert client.send("GET", "/readyz").json["throttles"] == "shared"
        checked = gateway.execute("tollgate", "check")
        assert checked.returncode == 0, checked.stdout

        gateway.stop()
        assert server.wait(timeout=STOP_S) == 0
        assert gateway.probe() != 0

    keys = (gateway.folder / Path(gateway.variables["TOLLGATE_KEY_FILE"]).relative_to("/")).stat()
    assert (keys.st_uid, keys.st_gid, keys.st_mode & 0o777) == (*gateway.user, 0o600)


def test_the_user_of_the_image_owns_two_folders_and_has_no_installer(store: Store, container: str) -> None:
    def execute(*command: str) -> str:
        return store.run("run", "--isolation", "chroot", container, "--", *command)

    assert execute("id", "-u").strip() == "10001"
    search = store.command("run", "--isolation", "chroot", "--user=root", container, "--")
    found = "find / -xdev ( -path /proc -o -path /dev -o -path /sys ) -prune -o -user tollgate -print"
    assert sorted(run(*search, *found.split()).split()) == ["/etc/tollgate", "/var/lib/tollgate"]
    assert "pip" not in execute("ls", "/opt/tollgate/bin")
    authorities = "import ssl; print(len(ssl.create_default_context().get_ca_certs()))"
    assert int(execute("/opt/tollgate/bin/python", "-c", authorities)) > 100
