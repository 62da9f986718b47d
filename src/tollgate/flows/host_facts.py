"""The facts of a running host for an assessor: versions, settings, keys, roles, retention, findings.

There is no secret and no personal data among them; `docs/pci.md` says which requirement each fact is for.
"""

import platform
import ssl
from collections import Counter
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509

from tollgate import DISTRIBUTION, __version__
from tollgate.catalog import limits, permissions, throttles
from tollgate.config import SETTINGS, Settings
from tollgate.flows.rotate_keys import count_retired
from tollgate.flows.verify import verify
from tollgate.operations import audit_log, build_number
from tollgate.operations.app import App
from tollgate.payments.merchants import Credential
from tollgate.store import ages, merchants, opening, users
from tollgate.store.audit_log import AUDIT_HEAD
from tollgate.values import DAY, HOUR, MINUTE, SECOND, Instant, render_timestamp, to_instant

Facts = dict[str, Any]

_AGES_DAYS = (30, 90, 180, 365)


async def gather_facts(
    app: App, settings: Settings, tls_minimum: str, report_progress: Callable[[str, int], None]
) -> Facts:
    """Gathers all facts; `verify` reads the whole store, which takes the time that this takes.

    tls_minimum: the oldest version of TLS that is served.
    """
    wall = app.clock.wall()
    return {
        "taken_at": render_timestamp(wall),
        "versions": await _list_versions(app),
        "environment": "live" if app.is_live else "test",
        "settings": list_settings(settings),
        "tls": _describe_tls(settings, tls_minimum),
        "keys": await _describe_keys(app, wall),
        "merchants": await _count_merchants(app),
        "users": await _describe_users(app),
        "sign_in": _describe_sign_in(),
        "roles": {
            role.value: sorted(each.value for each in held) for role, held in permissions.ROLE_PERMISSIONS.items()
        },
        "permissions": {row.permission.value: row.text for row in permissions.PERMISSION_ROWS},
        "four_eyes": [
            {"action": row.kind.value, "text": row.text, "above_hundredths": row.above}
            for row in app.four_eyes.values()
        ],
        "access_tokens": _describe_tokens(await merchants.list_credentials(app.database), wall),
        "retention": await _describe_retention(app),
        "throttles": [
            {"operation": row.operation, "counted_by": row.counted_by, "count": row.count, "window_s": row.window_s}
            | {"is_on": app.is_live or row.is_on}
            for row in throttles.THROTTLES.values()
        ],
        "verify": await _verify(app, report_progress),
        "audit_log": await _describe_audit_log(app),
    }


async def _list_versions(app: App) -> dict[str, str]:
    always = [each for each in metadata.requires(DISTRIBUTION) or () if "extra ==" not in each]
    needed = [each.partition(">")[0].partition(";")[0].strip() for each in always]
    return {
        "tollgate": __version__,
        "build": build_number.get_build_number(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "database": await ages.get_version(app.database),
        "openssl": ssl.OPENSSL_VERSION,
        **{name: metadata.version(name) for name in sorted(needed) if "[" not in name},
    }


def list_settings(settings: Settings) -> dict[str, str]:
    """Returns the settings by their flags; the user and the password of the database are left out."""
    shown = {row.flag: str(getattr(settings, row.member)) for row in SETTINGS}
    parts = urlsplit(settings.database_url)
    host = parts.netloc.rpartition("@")[2]
    return {**shown, "--database": f"{parts.scheme}://{host}{parts.path}"}


def _describe_tls(settings: Settings, minimum: str) -> Facts:
    if not settings.serves_tls:
        ended_by = f"the proxy {settings.trusted_proxy}" if settings.trusted_proxy else "nobody: plain HTTP"
        return {"ended_by": ended_by, "minimum": None, "certificate": None}
    shown = None
    if settings.tls_cert:
        certificate = x509.load_pem_x509_certificates(Path(settings.tls_cert).read_bytes())[0]
        shown = {
            "serial": f"{certificate.serial_number:x}",
            "not_after": render_timestamp(to_instant(certificate.not_valid_after_utc)),
        }
    return {"ended_by": "this process", "minimum": minimum, "certificate": shown}


async def _describe_keys(app: App, wall: Instant) -> Facts:
    """The key file does not say when a key was made, so its own age is that of the newest key."""
    path = app.key_path
    changed_at = None if path is None else int(path.stat().st_mtime * SECOND)
    return {
        "active_id": app.keyring.active_id.hex(),
        "file_changed_at": None if changed_at is None else render_timestamp(changed_at),
        "age_days": None if changed_at is None else (wall - changed_at) // DAY,
        "retired_ids": sorted(each.hex() for each in app.keyring.key_ids if each != app.keyring.active_id),
        "is_retired_key_in_use": await count_retired(app.database, app.keyring) > 0,
        "algorithms": "AES-256-GCM with a key for each record; BLAKE2b and HMAC-SHA-256 for signatures",
    }


async def _count_merchants(app: App) -> Facts:
    channels = await merchants.list_channels(app.database)
    return {
        "merchants": len(await merchants.list_merchants(app.database)),
        "channels": len(channels),
        "closed_channels": sum(channel.is_closed for channel in channels),
    }


async def _describe_users(app: App) -> Facts:
    """Users are named by their ids, because names of people do not belong into a report."""
    known = await users.list_users(app.database)
    with_passkey = [user.id for user in known if await users.list_passkeys(app.database, user.id)]
    grants = await users.list_all_grants(app.database)
    active = [user for user in known if not user.is_disabled]
    return {
        "count": len(known),
        "by_role": dict(Counter(grant.role.value for grant in grants)),
        "without_second_factor": [
            user.id for user in active if user.sealed_totp is None and user.id not in with_passkey
        ],
        "with_passkey": len(with_passkey),
        "disabled": [user.id for user in known if user.is_disabled],
        "must_change_password": [user.id for user in active if user.must_change_password],
    }


def _describe_sign_in() -> Facts:
    return {
        "idle_minutes": limits.LIMITS.session_idle // MINUTE,
        "session_hours": limits.LIMITS.session_lifetime // HOUR,
        "failures_max": limits.LIMITS.sign_in_failures_max,
        "lockout_minutes": limits.LIMITS.sign_in_lockout // MINUTE,
        "confirmation_minutes": limits.LIMITS.confirmation_lifetime // MINUTE,
    }


def _describe_tokens(found: list[Credential], wall: Instant) -> Facts:
    valid = [each for each in found if each.revoked_at is None and (each.expires_at is None or each.expires_at > wall)]
    by_age: dict[str, int] = {}
    for each in valid:
        days = (wall - each.created_at) // DAY
        limit = next((limit for limit in _AGES_DAYS if days < limit), None)
        name = f"under {limit} days" if limit else f"{_AGES_DAYS[-1]} days or more"
        by_age[name] = by_age.get(name, 0) + 1
    return {
        "valid": len(valid),
        "revoked_or_expired": len(found) - len(valid),
        "by_age": by_age,
        "by_scope": dict(Counter(scope.value for each in valid for scope in each.scopes)),
        "for_everything": sum(not each.scopes for each in valid),
        "without_end": sum(each.expires_at is None for each in valid),
    }


async def _describe_retention(app: App) -> list[Facts]:
    periods: dict[str, str] = {
        "accounts of payments": f"{app.retention.payment_days} days after the last payment of the chain",
        "accounts of registrations": (
            f"{app.retention.card_months} months after the card's expiry, "
            f"{app.retention.idle_months} months after the last use of others"
        ),
        "fields of checkouts": _spell(limits.LIMITS.checkout_fields_memory, "after their end"),
        "fields of payment links": _spell(limits.LIMITS.checkout_fields_memory, "after their end"),
        "idempotency keys": _spell(limits.LIMITS.idempotency_lifetime),
        "payloads of events": _spell(limits.LIMITS.delivery_lifetime + DAY),
        "deliveries": _spell(limits.LIMITS.delivery_lifetime),
        "wallet uses": _spell(limits.LIMITS.wallet_use_lifetime),
        "sessions of users": _spell(limits.LIMITS.session_lifetime),
        "audit log": "for ever",
    }
    oldest = await ages.list_oldest(app.database)
    return [
        {"what": name, "kept": text, "oldest": None if oldest[name] is None else render_timestamp(oldest[name] or 0)}
        for name, text in periods.items()
    ]


def _spell(period: Instant, what: str = "") -> str:
    return f"{period // HOUR} hours {what}".strip()


async def _verify(app: App, report_progress: Callable[[str, int], None]) -> Facts:
    report = await verify(app.database, app.keyring, report_progress)
    return {"findings": report.findings_count, "lines": [finding.render() for finding in report.findings]}


async def _describe_audit_log(app: App) -> Facts:
    number, head = audit_log.read_head(await opening.get_setting(app.database, AUDIT_HEAD))
    return {"entries": number, "head": head.hex()}
