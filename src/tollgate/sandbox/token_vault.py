"""The simulated vault of network tokens, which behaves by the expiry year of the card.

The gateway learns of events as it would from a real vault.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from tollgate.connectors import exchange, tokens
from tollgate.contract.shopper_urls import read_shopper_token
from tollgate.store import jobs, simulated_sessions
from tollgate.store.database import Database
from tollgate.store.registrations import make_token_job
from tollgate.values import MINUTE, Clock, Instant, RandomBytes, RegistrationId, get_month_end, system_random_bytes
from tollgate.vault.keyring import Keyring
from tollgate.vault.signing import make_mac


class Event(StrEnum):
    """An event of a token."""

    SUSPENDED = "SUSPENDED"
    RESUMED = "RESUMED"
    DELETED = "DELETED"
    CARD_UPDATED = "CARD_UPDATED"
    """The issuer renewed the card: another number, a later expiry, the same token."""


@dataclass(frozen=True)
class Year:
    refusal: str = ""
    """The vault's reason for issuing no token."""
    proof_refusal: str = ""
    """The vault's reason for issuing no cryptogram."""
    planned: tuple[tuple[Instant, Event], ...] = ()
    """Events that happen by themselves, with their delay after the token was issued."""


YEARS: Mapping[str, Year] = {
    "2032": Year(refusal="not_eligible"),
    "2033": Year(refusal="issuer_unsupported"),
    "2034": Year(
        planned=((MINUTE, Event.SUSPENDED), (2 * MINUTE, Event.RESUMED), (3 * MINUTE, Event.DELETED)),
    ),
    "2035": Year(planned=((MINUTE, Event.CARD_UPDATED),)),
    "2036": Year(refusal="not_tokenizable"),
    "2041": Year(proof_refusal="wrong_state"),
}
"""Cards of any other year get a token that stays as it is until an event is fired by hand."""


_ID_PREFIX = "token-"
_NUMBER_LENGTH = 16
_PROOF_BYTES = 21
_RENEWAL_YEARS = 4
_EVENTS_MAX = 100
"""The limit for events of one token that are fired by hand."""


class Status(StrEnum):
    ACTIVE = "active"
    SUSPENDED = "suspended"
    DELETED = "deleted"


_AFTER: Mapping[Event, Status | None] = {
    Event.SUSPENDED: Status.SUSPENDED,
    Event.RESUMED: Status.ACTIVE,
    Event.DELETED: Status.DELETED,
    Event.CARD_UPDATED: None,
}


class Happening(msgspec.Struct, frozen=True, array_like=True):
    id: str
    event: Event
    at: Instant


class Issued(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The facts about a token that do not change."""

    key: str
    year: str
    expiry: str
    last_digits: str
    first_digit: str
    events_url: str = ""
    planned: tuple[Happening, ...] = ()


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """A token as it is now."""

    issued: Issued
    row: simulated_sessions.SimulatedSession
    fired: tuple[Happening, ...]
    status: Status
    expiry: str
    last_digits: str

    @property
    def shopper_token(self) -> str:
        """The shopper token of the address that takes events."""
        return self.issued.events_url.rpartition("/")[2]


_read_provision = msgspec.json.Decoder(tokens.ProvisionMessage).decode
_read_question = msgspec.json.Decoder(tokens.CryptogramMessage).decode
_read_key = msgspec.json.Decoder(tokens.KeyMessage).decode
_read_issued = msgspec.json.Decoder(Issued).decode
_read_fired = msgspec.json.Decoder(tuple[Happening, ...]).decode


class SimulatedTokenVault:
    """A wire with a token vault at the other end."""

    def __init__(
        self, database: Database, keyring: Keyring, clock: Clock, random_bytes: RandomBytes = system_random_bytes
    ) -> None:
        self._database = database
        self._keyring = keyring
        self._clock = clock
        self._random_bytes = random_bytes

    async def send(self, request: exchange.WireRequest, timeout_s: float) -> exchange.WireReply:  # noqa: ARG002, it is never late
        match request.path:
            case tokens.PROVISIONS:
                reply: msgspec.Struct = await self._provision(_read_provision(request.body))
            case tokens.CRYPTOGRAMS:
                reply = await self._prove(_read_question(request.body).key)
            case tokens.INQUIRIES:
                reply = await self._get_reply(_read_key(request.body).key)
            case tokens.DELETIONS:
                key = _read_key(request.body).key
                await let_happen(self._database, key, Event.DELETED, "deletion", self._clock.now())
                reply = await self._get_reply(key)
            case _:
                return exchange.WireReply(404, b"")
        return exchange.WireReply(200, exchange.encode_message(reply))

    async def _provision(self, message: tokens.ProvisionMessage) -> tokens.TokenReply:
        year, now = message.expiry[:4], self._clock.now()
        facts = YEARS.get(year, Year())
        if facts.refusal:
            return tokens.TokenReply(key=message.key, status="refused", reason=facts.refusal)
        issued = Issued(
            key=message.key,
            year=year,
            expiry=message.expiry,
            last_digits=message.number[-4:],
            first_digit=message.number[:1],
            events_url=message.events_url,
            planned=tuple(Happening(f"{event.lower()}-{after}", event, now + after) for after, event in facts.planned),
        )
        await simulated_sessions.insert_simulated_session(self._database, _make_row(issued))
        # The same key is the same token: a repeat gets the first one, whose planned calls may be missing.
        standing = await find_standing(self._database, message.key, now)
        await self._plan_calls(issued if standing is None else standing.issued)
        return await self._get_reply(message.key)

    async def _plan_calls(self, issued: Issued) -> None:
        """Inserts the vault's later calls as jobs of the gateway, so that moving the clock runs them."""
        shopper_token = read_shopper_token(issued.events_url.rpartition("/")[2])
        for each in issued.planned:
            if shopper_token is not None:
                job = make_token_job(shopper_token.merchant_id, RegistrationId(issued.key), each.at, each.id)
                await self._database.write(jobs.ensure_job_writes(job), label="simulated token event")

    async def _prove(self, key: str) -> tokens.CryptogramReply:
        standing = await find_standing(self._database, key, self._clock.now())
        reason = "unknown_token" if standing is None else _check_request(standing)
        if reason:
            return tokens.CryptogramReply(key=key, status="refused", reason=reason)
        proof = base64.b64encode(self._random_bytes(_PROOF_BYTES)).decode()
        return tokens.CryptogramReply(key=key, status="issued", cryptogram=proof)

    async def _get_reply(self, key: str) -> tokens.TokenReply:
        standing = await find_standing(self._database, key, self._clock.now())
        if standing is None:
            return tokens.TokenReply(key=key, status="unknown", reason="unknown_token")
        return tokens.TokenReply(
            key=key,
            status=standing.status,
            reference=f"sim-{key}",
            number=make_token_number(standing.issued, self._keyring),
            expiry=standing.expiry,
            card=tokens.CardReply(last_digits=standing.last_digits, expiry=standing.expiry),
        )


def make_token_number(issued: Issued, keyring: Keyring) -> str:
    """Makes a number of the card's network with a check digit, as acquirers expect it."""
    dice = int.from_bytes(make_mac("simulated token", (issued.key,), keyring)[1:], "big")
    digits = issued.first_digit + f"{dice % 10 ** (_NUMBER_LENGTH - 2):0{_NUMBER_LENGTH - 2}d}"
    doubled = sum(int(digit) * 2 // 10 + int(digit) * 2 % 10 for digit in digits[::-2])
    return digits + str(-(doubled + sum(int(digit) for digit in digits[-2::-2])) % 10)


async def find_standing(database: Database, key: str, now: Instant) -> Standing | None:
    row = await simulated_sessions.find_simulated_session(database, _ID_PREFIX + key)
    if row is None:
        return None
    issued, fired = _read_issued(row.body), _read_fired(row.status)
    status, expiry, last_digits = Status.ACTIVE, issued.expiry, issued.last_digits
    happened = [each for each in (*fired, *issued.planned) if each.at <= now]
    for each in sorted(happened, key=lambda each: each.at):
        if status is Status.DELETED:
            break
        status = _AFTER[each.event] or status
        if each.event is Event.CARD_UPDATED:
            expiry = f"{int(expiry[:4]) + _RENEWAL_YEARS}{expiry[4:]}"
            last_digits = f"{(int(last_digits) + 1111) % 10000:04d}"
    return Standing(issued=issued, row=row, fired=fired, status=status, expiry=expiry, last_digits=last_digits)


async def let_happen(database: Database, key: str, event: Event, event_id: str, now: Instant) -> Standing | None:
    """Applies an event once, however often it is fired, and returns the token; None if there is no token."""
    while (standing := await find_standing(database, key, now)) is not None:
        is_known = any(each.id == event_id for each in standing.fired)
        if is_known or standing.status is Status.DELETED or len(standing.fired) >= _EVENTS_MAX:
            return standing
        fired = (*standing.fired, Happening(event_id, event, now))
        await simulated_sessions.move_simulated_session(database, standing.row, msgspec.json.encode(fired).decode())
    return None


def _check_request(standing: Standing) -> str:
    match standing.status:
        case Status.SUSPENDED:
            return "suspended"
        case Status.DELETED:
            return "unknown_token"
        case _:
            return YEARS.get(standing.issued.year, Year()).proof_refusal


def _make_row(issued: Issued) -> simulated_sessions.SimulatedSession:
    """Makes the row of a token, dated by its expiry, because rows are purged some time after their date."""
    year, month = issued.expiry.split("-")
    return simulated_sessions.SimulatedSession(
        id=_ID_PREFIX + issued.key,
        status="[]",
        created_at=get_month_end(int(year), int(month)),
        body=msgspec.json.encode(issued).decode(),
    )
