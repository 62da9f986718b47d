"""A host needs each of these before it may serve, and each complaint says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.config import Environment, Settings
from tollgate.hosting.certificate import get_local_certificate
from tollgate.hosting.readiness import NEEDS, list_missing, list_unready_channels, list_warnings
from tollgate.payments.merchants import Channel, ThreeDsTerms, TokenTerms
from tollgate.values import SystemClock
from tollgate.vault.keyring import make_keyring, save_keyring
from unit.app_fixture import CHANNEL


@pytest.fixture
def complete(tmp_path: Path) -> Settings:
    """A live host that lacks nothing."""
    for folder in ("keys", "data"):
        (tmp_path / folder).mkdir()
    save_keyring(make_keyring(), tmp_path / "keys/keys.json")
    certificate, key = get_local_certificate(tmp_path, SystemClock().now())
    return Settings(
        environment=Environment.LIVE,
        data=str(tmp_path / "data"),
        key_file=str(tmp_path / "keys/keys.json"),
        tls_cert=str(certificate),
        tls_key=str(key),
    )


def test_a_laptop_needs_nothing() -> None:
    assert list_missing(Settings()) == []


def test_a_complete_live_host_needs_nothing(complete: Settings) -> None:
    assert list_missing(complete) == []
    behind = replace(complete, tls_cert="", tls_key="", trusted_proxy="10.0.0.1", public_url="https://pay.example")
    assert list_missing(behind) == []


def test_a_live_host_says_where_shoppers_come_back_to(complete: Settings) -> None:
    for unreachable in (
        replace(complete, tls_cert="", tls_key="", trusted_proxy="10.0.0.1"),
        replace(complete, host="0.0.0.0"),
        replace(complete, public_url="http://pay.example"),
    ):
        (missing,) = list_missing(unreachable)
        assert "--public-url" in missing


def test_a_bare_live_host_lists_everything_that_is_missing_at_once() -> None:
    missing = list_missing(Settings(environment=Environment.LIVE))

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
        (lambda live: replace(live, http_port=live.port), "different ports"),
        (lambda live: replace(live, http_port=81, metrics_port=81), "different ports"),
        (lambda live: replace(live, tls_key=live.tls_cert), "--tls-key"),
        (lambda live: replace(live, outbound_ca="/nowhere.pem"), "--outbound-ca"),
        (lambda live: replace(live, outbound_ca=live.key_file), "--outbound-ca"),
    ],
)
def test_each_missing_thing_is_named(
    complete: Settings, change: Callable[[Settings], Settings], complaint: str
) -> None:
    assert any(complaint in line for line in list_missing(change(complete)))


def test_an_authority_for_receivers_is_a_certificate(complete: Settings) -> None:
    assert list_missing(replace(complete, outbound_ca=complete.tls_cert)) == []


def test_a_key_file_open_to_others_is_refused(complete: Settings) -> None:
    complete.key_path.chmod(0o644)

    assert any("open to others" in line for line in list_missing(complete))


def test_several_processes_are_fine_on_postgresql(complete: Settings) -> None:
    assert list_missing(replace(complete, workers=4, database="postgresql://db/tollgate")) == []


def test_a_live_host_needs_one_channel_with_an_acquirer() -> None:
    live = Settings(environment=Environment.LIVE)

    assert list_unready_channels(Settings(), []) == []
    assert "--live-url" in list_unready_channels(live, [CHANNEL])[0]
    assert list_unready_channels(live, [CHANNEL, replace(CHANNEL, live_url="https://acquirer.example")]) == []


@pytest.mark.parametrize(
    ("flag", "channel"),
    [
        ("--live-url", replace(CHANNEL, live_url="http://acquirer.example")),
        ("--test-url", replace(CHANNEL, test_url="http://acquirer.example")),
        ("--three-ds-live-url", replace(CHANNEL, three_ds=ThreeDsTerms(live_url="http://ds.example"))),
        ("--three-ds-test-url", replace(CHANNEL, three_ds=ThreeDsTerms(test_url="http://ds.example"))),
        ("--token-live-url", replace(CHANNEL, token_terms=TokenTerms(live_url="http://tokens.example"))),
        ("--token-test-url", replace(CHANNEL, token_terms=TokenTerms(test_url="http://tokens.example"))),
    ],
)
def test_a_live_host_sends_card_data_to_nobody_in_clear(flag: str, channel: Channel) -> None:
    sound = replace(CHANNEL, live_url="https://acquirer.example")

    for allows in (True, False):
        live = Settings(environment=Environment.LIVE, allow_plain_loopback=allows)
        (complaint,) = list_unready_channels(live, [sound, channel])
        assert f"channel {channel.id} {flag}: " in complaint
    assert list_unready_channels(Settings(), [sound, channel]) == []


def test_a_setting_that_accounts_share_is_told_once() -> None:
    plain = replace(CHANNEL, live_url="https://a.example", three_ds=ThreeDsTerms(live_url="http://ds.example"))
    second = replace(plain, account_id="8a" + "5" * 30, live_url="https://b.example")

    assert len(list_unready_channels(Settings(environment=Environment.LIVE), [plain, second])) == 1


def test_a_live_host_may_reach_loopback_in_clear_when_set_so() -> None:
    near = replace(CHANNEL, live_url="http://127.0.0.1:8080")

    assert list_unready_channels(Settings(environment=Environment.LIVE, allow_plain_loopback=True), [near]) == []
    assert list_unready_channels(Settings(environment=Environment.LIVE), [near]) != []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "gateway.example"])
def test_a_test_host_without_tls_on_a_network_warns(host: str) -> None:
    exposed = Settings(host=host)

    (warning,) = list_warnings(exposed)
    assert host in warning
    assert "--tls-self-signed" in warning
    assert list_warnings(replace(exposed, tls_self_signed=True)) == []
    assert list_warnings(replace(exposed, trusted_proxy="10.0.0.5")) == []
    assert list_warnings(replace(exposed, environment=Environment.LIVE)) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_a_test_host_on_loopback_is_nobodys_business(host: str) -> None:
    assert list_warnings(Settings(host=host)) == []


def test_every_need_says_what_to_do() -> None:
    assert len({need.name for need in NEEDS}) == len(NEEDS)
    assert all("--" in need.missing for need in NEEDS)
