"""Network tokens: the messages of their requestor to a token vault, and the meaning of the answers.

No answer decides about a payment.
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from tollgate.catalog.brands import BRANDS
from tollgate.connectors.acquiring import LongText, ShortText, to_minor_units
from tollgate.connectors.exchange import Conversation, WireReply, make_request, read_message, read_reply
from tollgate.payments.accounts import LAST_DIGITS, CardAccount, Instrument, TokenAccount
from tollgate.payments.registration import CardNews, NetworkToken, TokenState
from tollgate.values import Instant, Money, Secret

PROVISIONS = "/v1/network-tokens"
CRYPTOGRAMS = "/v1/network-token-cryptograms"
INQUIRIES = "/v1/network-token-inquiries"
DELETIONS = "/v1/network-token-deletions"

NETWORKS = {code: row.token_network for code, row in BRANDS.items() if row.token_network}
"""The brands whose cards can have a token, and the network that issues it."""

# The patterns are searched for, not matched, so each says where the text begins and where it ends.
TokenNumber = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{12,19}\Z")]
Expiry = Annotated[str, msgspec.Meta(pattern=r"\A20[0-9]{2}-(0[1-9]|1[0-2])\Z")]
LastDigits = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{4}\Z")]
Name = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9._-]{1,64}\Z")]
CryptogramText = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9+/]{25,31}={0,2}\Z", min_length=28, max_length=32)]


class ProvisionMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    """The key of a stored card; a second request with it is answered with the same token."""
    network: str
    number: str
    expiry: str
    """yyyy-MM"""
    holder: str | None = None
    requestor: str = ""
    events_url: str = ""
    """The vault announces changes of the token there; nobody else knows the address."""


class KeyMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    requestor: str = ""


class CryptogramMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    payment: str
    """The id of the only payment that the cryptogram is good for."""
    amount: int
    """The amount in minor units."""
    currency: str
    requestor: str = ""


class CardReply(msgspec.Struct, frozen=True, kw_only=True):
    """The card behind a token, as its issuer has it now."""

    last_digits: LastDigits
    expiry: Expiry


class TokenReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: Name
    status: str
    """active, suspended, deleted, refused or unknown"""
    reason: ShortText = ""
    message: LongText = ""
    reference: Name | None = None
    number: TokenNumber | None = None
    expiry: Expiry | None = None
    card: CardReply | None = None


class CryptogramReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: Name
    status: str
    """issued or refused"""
    reason: ShortText = ""
    cryptogram: CryptogramText | None = None


class EventMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change of a token was announced. The change itself is asked for, so that nobody can make it up."""

    id: Name
    key: Name
    event: ShortText = ""


class Reason(msgspec.Struct, frozen=True):
    code: str
    is_passing: bool = False
    """The same request may be answered otherwise later."""


REASONS: Mapping[str, Reason] = {
    "invalid_card": Reason("800.100.300"),
    "not_eligible": Reason("800.100.301"),
    "issuer_unsupported": Reason("800.100.302"),
    "session_expired": Reason("800.100.303", is_passing=True),
    "network_unsupported": Reason("800.100.304"),
    "requestor_unknown": Reason("800.100.305"),
    "undecryptable": Reason("800.100.306"),
    "wrong_state": Reason("800.100.307"),
    "doubtful": Reason("800.100.308"),
    "aborted": Reason("800.100.309", is_passing=True),
    "in_progress": Reason("800.100.311", is_passing=True),
    "not_tokenizable": Reason("800.100.312"),
    "incomplete": Reason("800.100.313"),
    "exists": Reason("800.100.314"),
    "missing_field": Reason("800.100.315"),
    "misconfigured": Reason("800.100.316"),
    "suspended": Reason("800.100.317"),
    "cryptogram_first": Reason("800.100.318"),
    "provider_failed": Reason("800.100.320"),
    "provider_busy": Reason("800.100.321", is_passing=True),
    "network_busy": Reason("800.100.322", is_passing=True),
    "network_failed": Reason("800.100.323"),
    "malformed": Reason("800.100.324"),
    "unauthorized": Reason("800.100.325"),
    "unknown_token": Reason("800.100.326"),
    "too_many": Reason("800.100.327", is_passing=True),
    "expired": Reason("800.100.330"),
}

SILENT = REASONS["provider_busy"]
"""The reason where no answer came, or none that can be understood."""

_UNKNOWN = Reason("800.100.310")


def get_reason(reason: str) -> Reason:
    return REASONS.get(reason, _UNKNOWN)


_NETWORK = "NETWORK"
_PAN = "PAN"
_EVENT_BYTES_MAX = 4096
_STATES = {
    "active": TokenState.ACTIVE,
    "suspended": TokenState.SUSPENDED,
    "deleted": TokenState.DELETED,
    # A vault that does not know a token has none.
    "unknown": TokenState.DELETED,
    "refused": TokenState.REFUSED,
}
_WITHOUT_NUMBER = frozenset({TokenState.DELETED, TokenState.REFUSED})


class TokenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a token as its vault answered it."""

    state: TokenState
    reason: Reason | None = None
    reference: str = ""
    account: TokenAccount | None = None
    """The account to pay with, where the token is active or suspended."""
    card: CardNews | None = None


class Cryptogram(msgspec.Struct, frozen=True):
    """The proof for one payment, or the reason why there is none."""

    text: Secret | None
    reason: Reason | None = None


def can_have_token(brand: str, account: Instrument | None) -> bool:
    """Tells whether an account can have a token. An account from a wallet is a token already."""
    return (
        brand in NETWORKS
        and isinstance(account, CardAccount)
        and account.number_type == _PAN
        and account.wallet is None
        and account.cryptogram is None
    )


def provision(key: str, brand: str, card: CardAccount, *, requestor: str, events_url: str) -> Conversation[TokenAnswer]:
    """Asks the network for a token; the same key is answered with the same token."""
    message = ProvisionMessage(
        key=key,
        network=NETWORKS[brand],
        number=card.number.reveal(),
        expiry=f"{card.expiry_year}-{card.expiry_month}",
        holder=card.holder,
        requestor=requestor,
        events_url=events_url,
    )
    return _read_state((yield make_request(PROVISIONS, message, f"{key}-token")), key)


def inquire(key: str, *, requestor: str) -> Conversation[TokenAnswer]:
    message = KeyMessage(key=key, requestor=requestor)
    return _read_state((yield make_request(INQUIRIES, message, f"{key}-token-inquiry")), key)


def remove(key: str, *, requestor: str) -> Conversation[bool]:
    """Returns True when the vault has no such token any more, nor will issue one later."""
    message = KeyMessage(key=key, requestor=requestor)
    reply = yield make_request(DELETIONS, message, f"{key}-token-deletion")
    return _read_state(reply, key).state is TokenState.DELETED


def request_cryptogram(key: str, payment_id: str, money: Money, *, requestor: str) -> Conversation[Cryptogram]:
    message = CryptogramMessage(
        key=key, payment=payment_id, amount=to_minor_units(money), currency=money.currency, requestor=requestor
    )
    reply = yield make_request(CRYPTOGRAMS, message, f"{payment_id}-cryptogram")
    answer = read_reply(reply, CryptogramReply)
    if answer is None or answer.key != key:
        return Cryptogram(None, SILENT)
    if answer.status != "issued" or answer.cryptogram is None:
        return Cryptogram(None, get_reason(answer.reason))
    return Cryptogram(Secret(answer.cryptogram))


def read_event(body: bytes, key: str) -> EventMessage | None:
    """Returns None for what is no event about this key."""
    event = read_message(body, EventMessage) if len(body) <= _EVENT_BYTES_MAX else None
    return event if event is not None and event.key == key else None


def make_network_token(answer: TokenAnswer, now: Instant) -> NetworkToken:
    """Returns what may be stored of a token in clear."""
    code = answer.reason.code if answer.state is TokenState.REFUSED and answer.reason else ""
    if answer.account is None:
        return NetworkToken(state=answer.state, updated_at=now, reference=answer.reference, code=code)
    return NetworkToken(
        state=answer.state,
        updated_at=now,
        reference=answer.reference,
        last_digits=answer.account.number.reveal()[-LAST_DIGITS:],
        expiry_month=answer.account.expiry_month or "",
        expiry_year=answer.account.expiry_year or "",
    )


def describe_use(token: NetworkToken | None, obstacle: str | None) -> dict[str, str]:
    """Tells a merchant which token was used, or why the card's own number was."""
    if obstacle is None and token is not None:
        return {"NetworkTokenUsed": "true", "NetworkTokenLast4Digits": token.last_digits}
    return {"NetworkTokenUsed": "false", "NetworkTokenResponse": obstacle or ""}


def _read_state(reply: WireReply, key: str) -> TokenAnswer:
    answer = read_reply(reply, TokenReply)
    state = None if answer is None or answer.key != key else _STATES.get(answer.status)
    if answer is None or state is None:
        return TokenAnswer(state=TokenState.REFUSED, reason=SILENT)
    if state in _WITHOUT_NUMBER:
        reason = get_reason(answer.reason) if state is TokenState.REFUSED else None
        return TokenAnswer(state=state, reason=reason, reference=answer.reference or "")
    if answer.reference is None or answer.number is None or answer.expiry is None:
        return TokenAnswer(state=TokenState.REFUSED, reason=SILENT)
    year, _, month = answer.expiry.partition("-")
    account = TokenAccount(number=Secret(answer.number), type=_NETWORK, expiry_month=month, expiry_year=year)
    card = None
    if answer.card is not None:
        year, _, month = answer.card.expiry.partition("-")
        card = CardNews(last_digits=answer.card.last_digits, expiry_month=month, expiry_year=year)
    return TokenAnswer(state=state, reference=answer.reference, account=account, card=card)
