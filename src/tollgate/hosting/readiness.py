"""What a host needs before it may serve, as rows: each names what is missing and what to do.

Live hosts need the most.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from tollgate.config import Settings
from tollgate.payments import Channel
from tollgate.vault import KeyringError, load_keyring
from tollgate.web import configure_throttles


class Need(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    missing: str
    """What to say when it is not met."""
    is_met: Callable[[Settings], bool]
    live_only: bool = False


def _has_readable_certificate(settings: Settings) -> bool:
    named = (settings.tls_cert, settings.tls_key)
    return not any(named) or all(name and Path(name).is_file() for name in named)


def _has_keys_outside_data(settings: Settings) -> bool:
    if not settings.key_file:
        return False
    return not Path(settings.key_file).resolve().is_relative_to(settings.data_folder.resolve())


def _has_public_address(settings: Settings) -> bool:
    if not settings.tls_cert and not settings.trusted_proxy:
        # It is told that it needs TLS; its address follows from that.
        return True
    return settings.base_url.startswith("https://") and bool(settings.public_url or not settings.listens_everywhere)


def _has_sound_throttles(settings: Settings) -> bool:
    try:
        configure_throttles(settings.throttles)
    except ValueError:
        return False
    return True


NEEDS = (
    Need(
        name="workers",
        missing="--workers above 1 needs PostgreSQL: name one with --database postgresql://...",
        is_met=lambda settings: settings.workers >= 1 and (settings.workers == 1 or not settings.uses_sqlite),
    ),
    Need(
        name="certificate",
        missing="--tls-cert and --tls-key name two readable files, or neither is given",
        is_met=_has_readable_certificate,
    ),
    Need(
        name="throttles",
        missing="--throttles is written OPERATION=COUNT/SECONDS,... with operations of the throttle table",
        is_met=_has_sound_throttles,
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


def find_missing(settings: Settings) -> list[str]:
    """What stands in the way as far as settings and files tell; the key file's own complaint is passed on."""
    missing = [need.missing for need in NEEDS if (settings.is_live or not need.live_only) and not need.is_met(settings)]
    if settings.is_live and settings.key_file:
        try:
            load_keyring(settings.key_path)
        except KeyringError as error:
            missing.append(str(error))
    return missing


def find_missing_acquirer(settings: Settings, channels: list[Channel]) -> list[str]:
    if not settings.is_live or any(channel.live_url for channel in channels):
        return []
    return ["a live host needs a real acquirer: give a channel one with `tollgate channel set ENTITY --live-url URL`"]
