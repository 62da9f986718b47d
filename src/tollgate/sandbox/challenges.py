"""Challenges that the simulated issuer has open: what its page shows, how one may end, what is told of it then.

They stand in the store, because the page may be served by another process than the payment, and sealed, because the
address to which the shopper goes back opens what waits there. No HTTP is known here.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.currencies import CURRENCIES
from tollgate.connectors import threeds
from tollgate.store.database import Database
from tollgate.store.simulated_sessions import SimulatedSession, find_simulated_session, insert_simulated_session
from tollgate.values import Instant, RandomBytes
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import EnvelopeError, open_sealed, seal

OPEN = "open"
"""The status of a challenge in the store; later it is how often a wrong code was given, or how it ended."""
ONE_TIME_CODE = "1234"
TRIES_MAX = 3

_PATH = "/sandbox/acs/challenge/"
_ID_PREFIX = "acs-"
_TOKEN_BYTES = 16
_CURRENCIES_BY_NUMBER = {currency.numeric: currency for currency in CURRENCIES.values()}


class Challenge(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    results_url: str
    notification_url: str | None = None
    """None where the shopper is asked outside of the browser."""
    version: str
    category: str
    server_id: str
    ds_id: str
    acs_id: str
    proof: str
    indicators: tuple[str, ...]
    merchant: str
    amount: str
    """In minor units; empty where nothing is paid."""
    currency: str
    """Its number."""
    last_digits: str

    @property
    def shopper_token(self) -> str:
        """Opens the door at which the result is told."""
        return self.results_url.rpartition("/")[2]

    def render_amount(self) -> str:
        currency = _CURRENCIES_BY_NUMBER.get(self.currency)
        if currency is None or not self.amount:
            return "nothing, only your consent"
        return f"{Decimal(self.amount).scaleb(-currency.exponent):.{currency.exponent}f} {currency.code}"


class Ending(msgspec.Struct, frozen=True):
    label: str
    status: str
    shift: int
    """As an index into the indicators: authenticated, attempted, neither."""
    reason: str | None = None
    cancelled: str | None = None


ENDINGS: Mapping[str, Ending] = MappingProxyType(
    {
        codes.SUCCEEDED: Ending("Authenticated", "Y", 0),
        codes.AUTHENTICATION_FAILED: Ending("Failed: not the card holder", "N", 2, "01"),
        codes.AUTHENTICATION_DECLINED: Ending("Rejected by the issuer", "R", 2, "12"),
        codes.SUSPECTED_FRAUD: Ending("Rejected: fraud suspected", "R", 2, "11"),
        codes.AUTHENTICATED_TOO_OFTEN: Ending("Too many tries", "N", 2, "19"),
        codes.AUTHENTICATION_ERROR: Ending("Unavailable: technical problem", "U", 2, "22"),
        codes.AUTHENTICATION_CANCELLED: Ending("Cancelled by the shopper", "N", 2, "01", "01"),
        codes.AUTHENTICATION_EXPIRED: Ending("Timed out", "N", 2, "14", "04"),
    }
)
"""What the page offers, by the result code that the payment ends with; the first lets it go on."""

AUTHENTICATED, TOO_MANY_TRIES = codes.SUCCEEDED, codes.AUTHENTICATED_TOO_OFTEN

_read = msgspec.json.Decoder(Challenge).decode


class OpenChallenge(msgspec.Struct, frozen=True):
    row: SimulatedSession
    challenge: Challenge

    @property
    def ending(self) -> str | None:
        return self.row.status if self.row.status in ENDINGS else None

    @property
    def tries(self) -> int:
        return int(self.row.status) if self.row.status.isdigit() else 0


async def insert_challenge(
    database: Database, keyring: Keyring, challenge: Challenge, now: Instant, random_bytes: RandomBytes
) -> str:
    """The token that opens its page; nobody can guess it."""
    token = random_bytes(_TOKEN_BYTES).hex()
    session_id = _ID_PREFIX + token
    sealed = seal(msgspec.json.encode(challenge), owner=session_id, keyring=keyring, random_bytes=random_bytes)
    body = base64.b64encode(sealed).decode()
    await insert_simulated_session(database, SimulatedSession(id=session_id, status=OPEN, created_at=now, body=body))
    return token


async def find_challenge(database: Database, keyring: Keyring, token: str) -> OpenChallenge | None:
    row = await find_simulated_session(database, _ID_PREFIX + token)
    if row is None:
        return None
    try:
        plain = open_sealed(base64.b64decode(row.body), owner=row.id, keyring=keyring)
    except (EnvelopeError, KeyringError):
        # Sealed under a key that is gone: nobody waits that long for a challenge.
        return None
    return OpenChallenge(row, _read(plain))


def locate_challenge(base_url: str, token: str) -> str:
    return f"{base_url}{_PATH}{token}"


def make_result(challenge: Challenge, ending: Ending) -> bytes:
    """What the 3DS server is told; the same however often it is told."""
    passed = ending.status in ("Y", "A")
    return threeds.write_message(
        threeds.RReq(
            message_version=challenge.version,
            message_category=challenge.category,
            three_ds_server_trans_id=challenge.server_id,
            ds_trans_id=challenge.ds_id,
            acs_trans_id=challenge.acs_id,
            trans_status=ending.status,
            trans_status_reason=ending.reason,
            eci=challenge.indicators[ending.shift],
            authentication_value=challenge.proof if passed else None,
            authentication_type="02",
            challenge_cancel=ending.cancelled,
            interaction_counter="01",
        )
    )


def make_browser_answer(challenge: Challenge, ending: Ending) -> str:
    """What the browser carries back: less than the 3DS server is told, and worth nothing without it."""
    return threeds.wrap(
        threeds.CRes(
            message_version=challenge.version,
            three_ds_server_trans_id=challenge.server_id,
            acs_trans_id=challenge.acs_id,
            trans_status="Y" if ending.status in ("Y", "A") else "N",
        )
    )
