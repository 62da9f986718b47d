"""What a host needs before it may serve: each row is asked, and each complaint says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.config import Environment, Settings
from tollgate.hosting import NEEDS, find_missing, find_missing_acquirer
from tollgate.vault import make_keyring, save_keyring
from unit.premises import CHANNEL


@pytest.fixture
def complete(tmp_path: Path) -> Settings:
    """A live host that lacks nothing."""
    for folder in ("keys", "data"):
        (tmp_path / folder).mkdir()
    save_keyring(make_keyring(), tmp_path / "keys/keys.json")
    for name in ("chain.pem", "key.pem"):
        (tmp_path / name).write_text("")
    return Settings(
        environment=Environment.LIVE,
        data=str(tmp_path / "data"),
        key_file=str(tmp_path / "keys/keys.json"),
        tls_cert=str(tmp_path / "chain.pem"),
        tls_key=str(tmp_path / "key.pem"),
    )


def test_a_laptop_needs_nothing() -> None:
    assert find_missing(Settings()) == []


def test_a_complete_live_host_needs_nothing(complete: Settings) -> None:
    assert find_missing(complete) == []
    behind = replace(complete, tls_cert="", tls_key="", trusted_proxy="10.0.0.1", public_url="https://pay.example")
    assert find_missing(behind) == []


def test_a_live_host_says_where_shoppers_come_back_to(complete: Settings) -> None:
    for unreachable in (
        replace(complete, tls_cert="", tls_key="", trusted_proxy="10.0.0.1"),
        replace(complete, host="0.0.0.0"),
        replace(complete, public_url="http://pay.example"),
    ):
        (missing,) = find_missing(unreachable)
        assert "--public-url" in missing


def test_a_bare_live_host_is_told_everything_at_once() -> None:
    missing = find_missing(Settings(environment=Environment.LIVE))

    assert len(missing) == 2
    assert "TLS" in missing[0]
    assert "--key-file" in missing[1]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda live: replace(live, tls_cert="", tls_key=""), "--trusted-proxy"),
        (lambda live: replace(live, tls_key=""), "--tls-key"),
        (lambda live: replace(live, tls_cert="/nowhere.pem"), "--tls-cert"),
        (lambda live: replace(live, tls_self_signed=True), "--tls-self-signed"),
        (lambda live: replace(live, key_file=""), "--key-file"),
        (lambda live: replace(live, key_file="/nowhere.json"), "cannot read the key file"),
        (lambda live: replace(live, key_file=f"{live.data}/keys.json"), "outside the data folder"),
        (lambda live: replace(live, workers=2), "PostgreSQL"),
        (lambda live: replace(live, workers=0), "--workers"),
        (lambda live: replace(live, throttles="nonsense"), "--throttles"),
    ],
)
def test_each_missing_thing_is_named(
    complete: Settings, change: Callable[[Settings], Settings], complaint: str
) -> None:
    assert any(complaint in line for line in find_missing(change(complete)))


def test_a_key_file_open_to_others_is_refused(complete: Settings) -> None:
    complete.key_path.chmod(0o644)

    assert any("open to others" in line for line in find_missing(complete))


def test_several_processes_are_fine_on_postgresql(complete: Settings) -> None:
    assert find_missing(replace(complete, workers=4, database="postgresql://db/tollgate")) == []


def test_a_live_host_needs_one_channel_with_an_acquirer() -> None:
    live = Settings(environment=Environment.LIVE)

    assert find_missing_acquirer(Settings(), []) == []
    assert "--live-url" in find_missing_acquirer(live, [CHANNEL])[0]
    assert find_missing_acquirer(live, [CHANNEL, replace(CHANNEL, live_url="https://acquirer.example")]) == []


def test_every_need_says_what_to_do() -> None:
    assert len({need.name for need in NEEDS}) == len(NEEDS)
    assert all("--" in need.missing for need in NEEDS)
