"""The needs of a host before it may serve, as rows that say what to do. Needs of the store are checked elsewhere."""

import ssl
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from tollgate.config import Settings, is_loopback, wants_traces
from tollgate.contract.channels import PLAIN_ADDRESS, list_card_addresses
from tollgate.payments.merchants import Channel
from tollgate.vault.keyring import KeyringError, load_keyring
from tollgate.wire import list_tls_faults, may_carry_cards


class Need(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    missing: str
    """The message if the need is not met."""
    is_met: Callable[[Settings], bool]
    live_only: bool = False


def _has_sound_certificate(settings: Settings) -> bool:
    if not settings.tls_cert and not settings.tls_key:
        return True
    if settings.tls_self_signed:
        return False
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            settings.tls_cert, settings.tls_key, _no_password
        )
    except (OSError, ValueError):
        return False
    return True


def _no_password() -> str:
    """Answers for a key that is locked by a password, because OpenSSL would ask the terminal and wait."""
    return ""


def _has_readable_authorities(settings: Settings) -> bool:
    try:
        if settings.outbound_ca:
            ssl.create_default_context().load_verify_locations(settings.outbound_ca)
    except OSError:
        return False
    return True


def _has_distinct_ports(settings: Settings) -> bool:
    ports = [port for port in (settings.port, settings.http_port, settings.metrics_port) if port]
    return len(ports) == len(set(ports))


def _has_keys_outside_data(settings: Settings) -> bool:
    if not settings.key_file:
        return False
    return not Path(settings.key_file).resolve().is_relative_to(settings.data_folder.resolve())


def _has_public_address(settings: Settings) -> bool:
    if not settings.tls_cert and not settings.trusted_proxy:
        # The need for TLS is reported already.
        return True
    return settings.base_url.startswith("https://") and bool(settings.public_url or not settings.listens_everywhere)


def _has_traces(settings: Settings) -> bool:
    if not wants_traces(settings):
        return True
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None and bool(find_spec("opentelemetry.sdk"))
    except ModuleNotFoundError:
        return False


NEEDS = (
    Need(
        name="workers",
        missing="--workers above 1 needs PostgreSQL: name one with --database postgresql://...",
        is_met=lambda settings: settings.workers == 1 or not settings.uses_sqlite,
    ),
    Need(
        name="replica",
        missing="--read-database names a streaming standby of the PostgreSQL database of --database; SQLite has none",
        is_met=lambda settings: not settings.read_database or not settings.uses_sqlite,
    ),
    Need(
        name="certificate",
        missing="--tls-cert and --tls-key name a PEM certificate and its key without a password, or neither is given; "
        "--tls-self-signed stands alone",
        is_met=_has_sound_certificate,
    ),
    Need(
        name="authorities",
        missing="--outbound-ca names a PEM file with one or more certificates",
        is_met=_has_readable_authorities,
    ),
    Need(
        name="ports",
        missing="--port, --http-port and --metrics-port are different ports",
        is_met=_has_distinct_ports,
    ),
    Need(
        name="traces",
        missing="--traces, or OTEL_EXPORTER_OTLP_ENDPOINT, needs the extra `traces`: install tollgate-payments[traces]",
        is_met=_has_traces,
    ),
    Need(
        name="redirects",
        missing="--http-port sends clients to HTTPS: give --tls-cert and --tls-key, or --public-url https://...",
        is_met=lambda settings: not settings.http_port or settings.base_url.startswith("https://"),
    ),
    Need(
        name="tls",
        missing="a live host serves TLS: give --tls-cert and --tls-key, or --trusted-proxy that ends TLS before it",
        is_met=lambda settings: bool(settings.tls_cert or settings.trusted_proxy),
        live_only=True,
    ),
    Need(
        name="own certificate",
        missing="a live host does not use --tls-self-signed",
        is_met=lambda settings: not settings.tls_self_signed,
        live_only=True,
    ),
    Need(
        name="public address",
        missing="a live host sends shoppers back to itself: give --public-url https://..., as their browsers reach it",
        is_met=_has_public_address,
        live_only=True,
    ),
    Need(
        name="key file",
        missing="a live host needs --key-file, a file outside the data folder",
        is_met=_has_keys_outside_data,
        live_only=True,
    ),
)


def list_missing(settings: Settings) -> list[str]:
    """Lists the needs that settings and files do not meet, and what is wrong with the key file."""
    missing = [need.missing for need in NEEDS if (settings.is_live or not need.live_only) and not need.is_met(settings)]
    if settings.is_live and settings.key_file:
        try:
            load_keyring(settings.key_path)
        except KeyringError as error:
            missing.append(str(error))
    return missing


def list_warnings(settings: Settings) -> list[str]:
    """Lists what the operator should know although the host can serve."""
    is_protected = settings.serves_tls or settings.trusted_proxy or is_loopback(settings.host)
    if settings.is_live or is_protected:
        return []
    return [
        f"this test host listens on {settings.host} without TLS: everybody on that network can read what is sent to "
        "it, tokens included; use --host 127.0.0.1, --tls-self-signed, or --tls-cert and --tls-key"
    ]


def list_unready_channels(settings: Settings, channels: Sequence[Channel]) -> list[str]:
    """Says what keeps channels from taking payments: files for TLS that cannot be used.

    A live host also needs an acquirer, and none without TLS.

    channels: each as every acquirer account of it has it.
    """
    missing = [
        f"channel {channel.id} {fault}"
        for channel in channels
        if channel.acquirer is not None
        for fault in list_tls_faults(channel.acquirer.tls, settings.certificate_folder)
    ]
    if not settings.is_live:
        return missing
    if not any(channel.live_url for channel in channels):
        return [
            "a live host needs a real acquirer: give a channel one with `tollgate channel set ENTITY --live-url URL`"
        ]
    plain = [
        f"channel {channel.id} {flag.name}: {PLAIN_ADDRESS}"
        for channel in channels
        for flag, url in list_card_addresses(channel)
        if not may_carry_cards(url, is_live=True, allows_plain_loopback=settings.allow_plain_loopback)
    ]
    # The accounts of a channel share some of its settings.
    return list(dict.fromkeys(missing + plain))
