"""The simulated payment provider to which shoppers are redirected.

Its pages are in `provider_pages`.
"""

import hashlib
from collections.abc import Mapping
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from tollgate.catalog import brand_rows, brands
from tollgate.catalog.limits import LIMITS
from tollgate.connectors import acquiring, exchange, redirect
from tollgate.payments.payment import Outcome
from tollgate.sandbox.acquirer import misbehave
from tollgate.store import simulated_sessions
from tollgate.store.database import Database
from tollgate.values import DAY, Clock, Instant, RandomBytes, system_random_bytes, to_datetime

_BANK_CODE = "10000000"
_BIC = "MARKDEF1100"
_BANK_NAME = "Test Bank"
_HOLDER = "Test Holder"
_SHOPPERS_ID = "shopper@example.com"

SHOPPERS_BANK_ACCOUNT = redirect.ProviderAccount(
    holder=_HOLDER, iban="DE23100000001234567890", bic=_BIC, bank_name=_BANK_NAME
)

_ACCOUNT_DIGITS = 10
_DUE_AFTER = 7 * DAY

_BARCODE_LENGTHS = {"BOLETO": 47, "OXXO": 14}
"""Brands whose shoppers pay with a slip of paper, and how many digits it has."""


def make_collecting_account(key: str, brand: str, reference: str, created_at: Instant) -> redirect.ProviderAccount:
    """Makes the account of one session, which is always the same."""
    digits = str(int.from_bytes(hashlib.sha256(key.encode()).digest(), "big")).zfill(78)
    return redirect.ProviderAccount(
        holder="Tollgate Simulator",
        iban=make_german_iban(_BANK_CODE, digits[:_ACCOUNT_DIGITS]),
        bic=_BIC,
        bank_name=_BANK_NAME,
        reference=reference,
        due=to_datetime(created_at + _DUE_AFTER).date().isoformat(),
        barcode=digits[_ACCOUNT_DIGITS:][: _BARCODE_LENGTHS.get(brand, 0)],
    )


def make_german_iban(bank_code: str, number: str) -> str:
    """Makes an IBAN with its check digits (ISO 7064, modulo 97)."""
    rest = int(f"{bank_code}{number}131400") % 97
    return f"DE{98 - rest:02d}{bank_code}{number}"


class Status(StrEnum):
    """The status of a session; all but the first and the last are also sent in replies."""

    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    ACCOUNT = "account"
    """The shopper got an account to pay into."""
    REVERSED = "reversed"
    BLOCKED = "blocked"
    """Asked for or called off before it came: it never happens."""


_SECRET_BYTES = 16

POSTED_BRANDS = frozenset({"EPS", "GIROPAY"})
"""Their pages want to be posted to, so that shops meet both ways."""

_FORCED_STATUSES = {
    Outcome.APPROVED: Status.APPROVED,
    Outcome.DECLINED: Status.DECLINED,
    Outcome.WAITING: Status.OPEN,
}

MESSAGES = {
    Status.OPEN: "The shopper has not decided yet",
    Status.APPROVED: "Approved on the simulated page",
    Status.DECLINED: "Declined on the simulated page",
    Status.CANCELLED: "Called off",
    Status.EXPIRED: "Nobody decided in time",
    Status.ACCOUNT: "Waiting for the money",
    Status.REVERSED: "Reversed by the simulator",
    Status.BLOCKED: "No such session",
}

_AFTER_CANCELLATION = {
    Status.OPEN: Status.CANCELLED,
    Status.APPROVED: Status.REVERSED,
    Status.ACCOUNT: Status.REVERSED,
}
"""The status after a cancellation; a session with another status took no money and stays as it is."""

_UNKNOWN = redirect.SessionReply(status="unknown", message="no such session; its key is blocked")

_read_opening = msgspec.json.Decoder(redirect.SessionMessage).decode
_read_key = msgspec.json.Decoder(acquiring.KeyMessage).decode
_write = msgspec.json.Encoder().encode


class SessionBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The facts that the page and the replies need; the shopper's bank account is not among them."""

    secret: str = ""
    """The secret part of the page's address; the key alone is known to every reader of the payment."""
    brand: str = ""
    amount: int = 0
    currency: str = ""
    merchant: str = ""
    reference: str = ""
    back_url: str = ""
    account_id: str = ""
    result_code: str = ""


_read_body = msgspec.json.Decoder(SessionBody).decode


class Session(msgspec.Struct, frozen=True):
    row: simulated_sessions.SimulatedSession
    body: SessionBody

    @property
    def status(self) -> Status:
        return Status(self.row.status)

    @property
    def token(self) -> str:
        return f"{self.row.id}-{self.body.secret}"


class SimulatedProvider:
    """A wire with a provider at the other end."""

    def __init__(
        self, database: Database, base_url: str, clock: Clock, random_bytes: RandomBytes = system_random_bytes
    ) -> None:
        self._database = database
        self._base_url = base_url
        self._clock = clock
        self._random_bytes = random_bytes

    async def send(self, request: exchange.WireRequest, timeout_s: float) -> exchange.WireReply:
        return await (misbehave(request, timeout_s, self._act) if request.simulator_overrides else self._act(request))

    async def _act(self, request: exchange.WireRequest) -> exchange.WireReply:
        match request.path:
            case redirect.SESSIONS:
                reply = await self._open(_read_opening(request.body), request.simulator_overrides)
            case redirect.SESSION_INQUIRIES:
                reply = await self._inquire(_read_key(request.body))
            case redirect.SESSION_CANCELLATIONS:
                reply = await self._cancel(_read_key(request.body).key)
            case _:
                reply = redirect.SessionReply(status="declined", response_code="12", message="no such operation")
        return exchange.WireReply(200, _write(reply))

    async def _open(
        self, message: redirect.SessionMessage, simulator_overrides: Mapping[str, str]
    ) -> redirect.SessionReply:
        body = SessionBody(
            secret=self._random_bytes(_SECRET_BYTES).hex(),
            brand=message.brand,
            amount=message.amount,
            currency=message.currency,
            merchant=message.merchant or message.statement,
            reference=message.reference,
            back_url=message.back_url,
            account_id=message.account.account_id or "",
            result_code=simulator_overrides.get(acquiring.FORCED_CODE, ""),
        )
        forced = _FORCED_STATUSES[acquiring.classify(body.result_code)] if body.result_code else None
        status = forced or Status.OPEN
        if brands.BRANDS[body.brand].method == "PP" and forced in (None, Status.APPROVED):
            status = Status.ACCOUNT
        await self._insert(message.key, status, body)
        # The same key is the same session: a repeat gets the first one.
        session = await find_session(self._database, message.key, self._clock)
        return _UNKNOWN if session is None else self._make_reply(session, is_opening=True)

    async def _inquire(self, question: acquiring.KeyMessage) -> redirect.SessionReply:
        if question.blocks:
            await self._insert(question.key, Status.BLOCKED, SessionBody())
        session = await find_session(self._database, question.key, self._clock)
        return _UNKNOWN if session is None else self._make_reply(session)

    async def _cancel(self, key: str) -> redirect.SessionReply:
        await self._insert(key, Status.BLOCKED, SessionBody())
        while (session := await find_session(self._database, key, self._clock)) is not None:
            status = _AFTER_CANCELLATION.get(session.status)
            if status is None:
                took_nothing = session.status in (Status.DECLINED, Status.EXPIRED)
                return redirect.SessionReply(status=Status.CANCELLED) if took_nothing else self._make_reply(session)
            await simulated_sessions.move_simulated_session(self._database, session.row, status)
        return _UNKNOWN

    async def _insert(self, key: str, status: Status, body: SessionBody) -> None:
        row = simulated_sessions.SimulatedSession(
            id=key, status=status, created_at=self._clock.now(), body=_write(body).decode()
        )
        await simulated_sessions.insert_simulated_session(self._database, row)

    def _make_reply(self, session: Session, *, is_opening: bool = False) -> redirect.SessionReply:
        row, body, status = session.row, session.body, session.status
        if status is Status.BLOCKED:
            return _UNKNOWN
        brand = brands.BRANDS[body.brand]
        reply = redirect.SessionReply(
            status=status,
            response_code="05" if status is Status.DECLINED else "",
            message=MESSAGES[status],
            reference=row.id[-12:],
            institute="Tollgate Simulator",
            result_code=body.result_code,
            product=redirect.TRANSFER if brand.method == "OT" else "",
        )
        if status is Status.OPEN and is_opening:
            return replace(reply, status="redirect", redirect=self._make_forward(session))
        if status is Status.OPEN:
            return replace(reply, status="pending")
        if status is Status.ACCOUNT:
            account = make_collecting_account(row.id, body.brand, body.reference, row.created_at)
            return replace(reply, account=account)
        if status is Status.APPROVED:
            if brand.account is not brand_rows.AccountType.VIRTUAL:
                return replace(reply, account=SHOPPERS_BANK_ACCOUNT)
            account_id = body.account_id or _SHOPPERS_ID
            return replace(reply, account=redirect.ProviderAccount(holder=_HOLDER, account_id=account_id))
        return reply

    def _make_forward(self, session: Session) -> redirect.ForwardReply:
        url = f"{self._base_url}/sandbox/provider/{session.token}"
        if session.body.brand not in POSTED_BRANDS:
            return redirect.ForwardReply(url=url)
        fields = (redirect.FieldReply("transaction", session.row.id), redirect.FieldReply("brand", session.body.brand))
        return redirect.ForwardReply(url=url, method="POST", parameters=fields)


async def find_session(database: Database, key: str, clock: Clock) -> Session | None:
    """Finds a session; one that was not decided in time expires when it is read."""
    row = await simulated_sessions.find_simulated_session(database, key)
    if (
        row is not None
        and row.status == Status.OPEN
        and clock.now() - row.created_at > LIMITS.simulated_session_lifetime
    ):
        await simulated_sessions.move_simulated_session(database, row, Status.EXPIRED)
        row = await simulated_sessions.find_simulated_session(database, key)
    return None if row is None else Session(row, _read_body(row.body))
