"""The simulated issuer: challenges of shoppers, and the pages on which they are answered.

Which cards are challenged is decided by the directory server.
"""

import base64
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.currencies import CURRENCIES
from tollgate.connectors.exchange import encode_message
from tollgate.connectors.threeds import messages
from tollgate.flows.resume import accept_challenge_result
from tollgate.operations.app import App
from tollgate.store.database import Database
from tollgate.store.simulated_sessions import (
    SimulatedSession,
    find_simulated_session,
    insert_simulated_session,
    move_simulated_session,
)
from tollgate.values import Instant, RandomBytes
from tollgate.vault.keyring import Keyring, KeyringError
from tollgate.vault.sealing import EnvelopeError, open_sealed, seal
from tollgate.web.pages.rendering import ANYWHERE, Pages
from tollgate.web.request import Access, Reply, Request, Routes

OPEN = "open"
"""The first status of a challenge; later it is the count of wrong codes, or the ending."""
ONE_TIME_CODE = "1234"
TRIES_MAX = 3

_PATH = "/sandbox/acs/challenge/"
_ID_PREFIX = "acs-"
_TOKEN_BYTES = 16
_CURRENCIES_BY_NUMBER = {currency.numeric: currency for currency in CURRENCIES.values()}


class Challenge(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    results_url: str
    notification_url: str | None = None
    """It is None if the shopper is asked outside of the browser."""
    version: str
    category: str
    server_id: str
    ds_id: str
    acs_id: str
    proof: str
    indicators: tuple[str, ...]
    merchant: str
    amount: str
    """The amount in minor units; empty if nothing is paid."""
    currency: str
    """The number of the currency."""
    last_digits: str

    @property
    def shopper_token(self) -> str:
        """The shopper token of the address that takes the result."""
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
    """The index into the indicators: authenticated, attempted, neither."""
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
"""The endings that the page offers, by the result code of the payment."""

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
    """Inserts a challenge and returns the random token that opens its page."""
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
        # The key was retired since; no challenge lasts that long.
        return None
    return OpenChallenge(row, _read(plain))


def locate_challenge(base_url: str, token: str) -> str:
    return f"{base_url}{_PATH}{token}"


def make_result(challenge: Challenge, ending: Ending) -> bytes:
    """Makes the RReq for the 3DS server, which is the same however often it is sent."""
    passed = ending.status in ("Y", "A")
    return encode_message(
        messages.RReq(
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
    """Makes the CRes that the browser carries back; it decides nothing without the RReq."""
    return messages.wrap(
        messages.CRes(
            message_version=challenge.version,
            three_ds_server_trans_id=challenge.server_id,
            acs_trans_id=challenge.acs_id,
            trans_status="Y" if ending.status in ("Y", "A") else "N",
        )
    )


_PAGES = Pages(Path(__file__).parent / "pages")
_SESSION_LENGTH_MAX = 1024


ROUTES = Routes()


@ROUTES.add("POST", "/sandbox/acs/method", "visit_method", Access.OPEN)
async def visit_method(request: Request, app: App) -> Reply:
    """The simulated issuer inspects the shopper's device in a hidden frame.

    A real issuer would run scripts. This one reports at once, and to this host only, so that nobody can use it to send
    browsers elsewhere.
    """
    frame = messages.unwrap(request.find("threeDSMethodData"), messages.MethodFrame)
    url = (frame and frame.three_ds_method_notification_url) or ""
    if frame is None or not url.startswith(f"{app.base_url}/"):
        return _show_end("No device check", "The fields of the hidden frame are not as they should be.", 400)
    notice = messages.wrap(messages.MethodFrame(three_ds_server_trans_id=frame.three_ds_server_trans_id))
    return _forward("Device check", "Your device was looked at.", url, {"threeDSMethodData": notice})


@ROUTES.add("GET", "/sandbox/acs/challenge/{token}", "show_challenge", Access.OPEN, hides_path=True)
async def show_challenge(request: Request, app: App) -> Reply:
    """Shows the simulated issuer's challenge page of one authentication."""
    found = await find_challenge(app.database, app.keyring, request.names[0])
    return _show_nothing() if found is None else await _show(found, request, app)


@ROUTES.add("POST", "/sandbox/acs/challenge/{token}", "answer_challenge", Access.OPEN, hides_path=True)
async def answer_challenge(request: Request, app: App) -> Reply:
    """Opens the simulated issuer's challenge with a `creq`, or ends it with a `returnCode` or an `otp`."""
    found = await find_challenge(app.database, app.keyring, request.names[0])
    if found is None or not _is_meant(request, found):
        return _show_nothing()
    status = _choose_status(request, found)
    if status is not None and found.ending is None:
        # The first answer decides: another tab or the back button shows the ending that was chosen.
        await move_simulated_session(app.database, found.row, status)
        found = await find_challenge(app.database, app.keyring, request.names[0]) or found
    return await _show(found, request, app)


def _is_meant(request: Request, found: OpenChallenge) -> bool:
    text = request.find("creq")
    message = messages.unwrap(text, messages.CReq)
    named = message and (message.three_ds_server_trans_id, message.acs_trans_id)
    return not text or named == (found.challenge.server_id, found.challenge.acs_id)


def _choose_status(request: Request, found: OpenChallenge) -> str | None:
    """Returns the ending, or the count of wrong codes; None if nothing was answered."""
    code, one_time_code = request.find("returnCode"), request.find("otp")
    if code in ENDINGS:
        return code
    if not one_time_code:
        return None
    if one_time_code.strip() == ONE_TIME_CODE:
        return AUTHENTICATED
    tries = found.tries + 1
    return TOO_MANY_TRIES if tries >= TRIES_MAX else str(tries)


async def _show(found: OpenChallenge, request: Request, app: App) -> Reply:
    session = request.find("threeDSSessionData")[:_SESSION_LENGTH_MAX]
    if found.ending is not None:
        return await _end(found, found.ending, session, app)
    challenge = found.challenge
    return _PAGES.render(
        "challenge.html",
        framed_by=ANYWHERE,
        title="Confirm your payment",
        merchant=challenge.merchant,
        amount=challenge.render_amount(),
        last_digits=challenge.last_digits,
        endings=ENDINGS,
        code=ONE_TIME_CODE,
        tries_left=TRIES_MAX - found.tries,
        is_wrong=found.tries > 0,
        session=session,
    )


async def _end(found: OpenChallenge, code: str, session: str, app: App) -> Reply:
    """Sends the result whenever the ending is shown, because a process may have died before; a repeat has no effect."""
    challenge, ending = found.challenge, ENDINGS[code]
    await accept_challenge_result(app, challenge.shopper_token, make_result(challenge, ending))
    if challenge.notification_url is None:
        return _show_end(ending.label, "You may close this window.")
    fields = {"cres": make_browser_answer(challenge, ending)}
    if session:
        fields["threeDSSessionData"] = session
    return _forward(ending.label, "You are brought back to the shop.", challenge.notification_url, fields)


def _forward(title: str, text: str, url: str, fields: dict[str, str]) -> Reply:
    return _PAGES.render(
        "forward.html",
        form_targets=(url,),
        framed_by=ANYWHERE,
        title=title,
        text=text,
        url=url,
        method="post",
        fields=fields,
    )


def _show_end(title: str, text: str, status: int = 200) -> Reply:
    return _PAGES.render("end.html", framed_by=ANYWHERE, title=title, text=text, link="", status=status)


def _show_nothing() -> Reply:
    return _show_end("No such challenge", "The address is not complete, or the challenge is long over.", 404)
