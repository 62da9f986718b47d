"""The files for containers agree with the gateway and with each other. The image is built by `make prove`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from composing import DEPLOY, list_variables, read_compose, read_services
from tollgate.config import SETTINGS, load_settings
from tollgate.hosting.readiness import list_missing
from tollgate.hosting.server import _SHUTDOWN_S
from tollgate.web.api import ROUTES

ROOT = DEPLOY.parent
CONTAINERFILE = (DEPLOY / "Containerfile").read_text()
DOCUMENT = (ROOT / "docs" / "deployment.md").read_text("utf-8")
GATEWAY = read_services()["gateway"]
USER = "10001:10001"


def read_image_variables() -> dict[str, str]:
    return dict(re.findall(r"(TOLLGATE_\w+)=(\S+)", CONTAINERFILE))


def list_gateway_variables(given: dict[str, str] | None = None) -> dict[str, str]:
    return {**read_image_variables(), **list_variables("gateway", given)}


def list_mounts(service: str) -> dict[str, str]:
    """Lists what is mounted by the place where it is."""
    return {place: what for what, place in (each.split(":") for each in read_services()[service]["volumes"])}


def read_live_variables() -> dict[str, str]:
    """Returns what the document tells to set for a live host."""
    found = re.search(r"```ini\n(TOLLGATE_ENVIRONMENT=live\n.*?)```", DOCUMENT, re.S)
    assert found is not None
    return dict(line.split("=", 1) for line in found[1].splitlines())


def test_every_variable_is_a_setting_and_those_of_a_test_host_suffice() -> None:
    variables = list_gateway_variables()

    assert {name for name in variables if name.startswith("TOLLGATE_")} <= {row.variable for row in SETTINGS}
    settings = load_settings(variables=variables)
    assert list_missing(settings) == []
    assert settings.workers > 1
    assert not settings.uses_sqlite


def test_a_live_host_lacks_its_keys_only(tmp_path: Path) -> None:
    given = read_live_variables()
    assert set(given) <= set(re.findall(r"\$\{(\w+):-", (DEPLOY / "compose.yaml").read_text()))
    variables = list_gateway_variables(given)
    (missing,) = list_missing(load_settings(variables=variables))
    assert variables["TOLLGATE_KEY_FILE"] in missing

    subprocess.run(
        [sys.executable, "-m", "tollgate", "make-keys", tmp_path], check=True, capture_output=True, timeout=300
    )
    key_file = tmp_path / Path(variables["TOLLGATE_KEY_FILE"]).name
    settings = load_settings(variables={**variables, "TOLLGATE_KEY_FILE": str(key_file)})
    assert list_missing(settings) == []
    gateway_of_network = read_compose()["networks"]["default"]["ipam"]["config"][0]["gateway"]
    # The health check comes from the container itself, and is refused by a live host as long as it is a stranger.
    assert settings.trusted_proxy.split(",") == ["127.0.0.1", gateway_of_network]


def test_the_ports_are_those_on_which_the_gateway_listens_and_only_this_machine_reaches_them() -> None:
    variables = list_gateway_variables()
    listening = {variables["TOLLGATE_PORT"], variables["TOLLGATE_METRICS_PORT"]}

    assert {each.split(":")[2] for each in GATEWAY["ports"]} == listening
    assert {each.split(":")[0] for each in GATEWAY["ports"]} == {"127.0.0.1"}
    assert (variables["TOLLGATE_HOST"], variables["TOLLGATE_METRICS_HOST"]) == ("0.0.0.0", "0.0.0.0")
    assert f"\nEXPOSE {variables['TOLLGATE_PORT']}\n" in CONTAINERFILE
    assert [name for name, service in read_services().items() if name != "gateway" and "ports" in service] == []


def test_the_gateway_is_an_unprivileged_user_who_writes_to_its_folders_only() -> None:
    variables, mounts = list_gateway_variables(), list_mounts("gateway")

    assert GATEWAY["user"] == USER
    assert f"\nUSER {USER}\n" in CONTAINERFILE
    number = USER.partition(":")[0]
    assert f"--owner {number} --group {number} {' '.join(sorted(mounts))}\n" in CONTAINERFILE
    assert (GATEWAY["read_only"], GATEWAY["cap_drop"], GATEWAY["tmpfs"]) == (True, ["ALL"], ["/tmp"])
    assert mounts[variables["TOLLGATE_DATA"]] == "data"
    for name in ("TOLLGATE_KEY_FILE", "PGPASSFILE"):
        assert mounts[str(Path(variables[name]).parent)] == "./secrets"


def test_no_service_gets_new_rights_or_writes_to_its_root() -> None:
    for name, service in read_services().items():
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name


def test_the_gateway_finds_the_database_and_redis() -> None:
    services = read_services()
    database = urlsplit(list_gateway_variables()["TOLLGATE_DATABASE"])
    named = list_variables("database")

    assert database.hostname == "database"
    assert (named["POSTGRES_USER"], named["POSTGRES_DB"]) == (database.username, database.path[1:])
    assert f"{database.hostname}:5432:{database.path[1:]}:{database.username}:" in DOCUMENT
    assert GATEWAY["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert "healthcheck" in services["database"]
    secret = read_compose()["secrets"][Path(named["POSTGRES_PASSWORD_FILE"]).name]["file"]
    assert f"deploy/{secret.removeprefix('./')}" in DOCUMENT
    shared = re.search(r"^\$ TOLLGATE_SHARED=(\S+) ", DOCUMENT, re.M)
    assert shared is not None
    assert urlsplit(load_settings(variables={"TOLLGATE_SHARED": shared[1]}).shared).hostname in services
    assert services["redis"]["profiles"] == ["redis"]


def test_health_is_asked_at_a_path_for_probes_and_a_stop_waits_for_requests() -> None:
    (path,) = re.findall(r'"GET", "(\S+)"', GATEWAY["healthcheck"]["test"][-1])

    assert [row.is_for_probes for row in ROUTES if row.path == path] == [True]
    assert int(GATEWAY["stop_grace_period"].removesuffix("s")) > _SHUTDOWN_S


def test_what_the_image_is_built_from_exists() -> None:
    build = GATEWAY["build"]
    context = (DEPLOY / build["context"]).resolve()

    assert context == ROOT
    assert (context / build["dockerfile"]).samefile(DEPLOY / "Containerfile")
    copied = [source for source, _ in re.findall(r"^COPY (?!--from)(\S+) (\S+)$", CONTAINERFILE, re.M)]
    assert copied == ["requirements.lock", "dist/tollgate_payments-*.whl"]
    assert (context / copied[0]).is_file()
    assert 'name = "tollgate-payments"' in (ROOT / "pyproject.toml").read_text()


def test_the_image_has_one_base_that_is_an_argument_and_names_no_index() -> None:
    assert set(re.findall(r"^FROM (\S+)", CONTAINERFILE, re.M)) == {"${BASE}"}
    assert re.findall(r"https?://|index-url|trusted-host", CONTAINERFILE) == []
    assert "--require-hashes" in CONTAINERFILE


def test_the_folder_of_secrets_is_never_committed() -> None:
    assert "/deploy/secrets/" in (ROOT / ".gitignore").read_text().splitlines()
