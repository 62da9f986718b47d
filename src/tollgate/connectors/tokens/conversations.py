"""What a token requestor asks a token vault, and what the answers mean for a stored card and for one payment.

Every answer, however odd, ends in a value; none of them decides about a payment.
"""

from __future__ import annotations

import msgspec

from tollgate.connectors.acquiring import to_minor_units
from tollgate.connectors.exchange import Conversation, WireReply, WireRequest
from tollgate.connectors.tokens import messages
from tollgate.connectors.tokens.reasons import SILENT, Reason, get_reason
from tollgate.payments.accounts import LAST_DIGITS, CardAccount, Instrument, TokenAccount
from tollgate.payments.registration import CardNews, NetworkToken, TokenState
from tollgate.values import Instant, Money, Secret

_NETWORK = "NETWORK"
_PAN = "PAN"
_EVENT_BYTES_MAX = 4096
_STATES = {
    "active": TokenState.ACTIVE,
    "suspended": TokenState.SUSPENDED,
    "deleted": TokenState.DELETED,
    # A vault that does not know it has none.
    "unknown": TokenState.DELETED,
    "refused": TokenState.REFUSED,
}
_NAMELESS = frozenset({TokenState.DELETED, TokenState.REFUSED})


class TokenTold(msgspec.Struct, frozen=True, kw_only=True):
    """How a token stands. What is passing is asked for again."""

    state: TokenState
    reason: Reason | None = None
    reference: str = ""
    account: TokenAccount | None = None
    """To be paid with; there where the token is active or suspended."""
    card: CardNews | None = None


class Cryptogram(msgspec.Struct, frozen=True):
    """The proof for one payment, or why there is none."""

    text: Secret | None
    reason: Reason | None = None


def can_have_token(brand: str, account: Instrument | None) -> bool:
    """Only a card's own number: what came out of a wallet is a token already."""
    return (
        brand in messages.NETWORKS
        and isinstance(account, CardAccount)
        and account.number_type == _PAN
        and account.wallet is None
        and account.cryptogram is None
    )


def provision(key: str, brand: str, card: CardAccount, *, requestor: str, events_url: str) -> Conversation[TokenTold]:
    """Ask the network for a token; the same key is answered with the same token."""
    message = messages.ProvisionMessage(
        key=key,
        network=messages.NETWORKS[brand],
        number=card.number.reveal(),
        expiry=f"{card.expiry_year}-{card.expiry_month}",
        holder=card.holder,
        requestor=requestor,
        events_url=events_url,
    )
    reply = yield WireRequest(path=messages.PROVISIONS, body=messages.write_message(message), key=f"{key}-token")
    return _read_told(reply, key)


def inquire(key: str, *, requestor: str) -> Conversation[TokenTold]:
    message = messages.KeyMessage(key=key, requestor=requestor)
    reply = yield WireRequest(path=messages.INQUIRIES, body=messages.write_message(message), key=f"{key}-token-inquiry")
    return _read_told(reply, key)


def remove(key: str, *, requestor: str) -> Conversation[bool]:
    """Whether the vault has none any more; what it never had it will not issue later."""
    message = messages.KeyMessage(key=key, requestor=requestor)
    reply = yield WireRequest(
        path=messages.DELETIONS, body=messages.write_message(message), key=f"{key}-token-deletion"
    )
    return _read_told(reply, key).state is TokenState.DELETED


def request_cryptogram(key: str, payment_id: str, money: Money, *, requestor: str) -> Conversation[Cryptogram]:
    message = messages.CryptogramMessage(
        key=key, payment=payment_id, amount=to_minor_units(money), currency=money.currency, requestor=requestor
    )
    reply = yield WireRequest(
        path=messages.CRYPTOGRAMS, body=messages.write_message(message), key=f"{payment_id}-cryptogram"
    )
    answer = None if reply.status >= 500 else messages.read_message(reply.body, messages.CryptogramReply)
    if answer is None or answer.key != key:
        return Cryptogram(None, SILENT)
    if answer.status != "issued" or answer.cryptogram is None:
        return Cryptogram(None, get_reason(answer.reason))
    return Cryptogram(Secret(answer.cryptogram))


def read_event(body: bytes, key: str) -> messages.EventMessage | None:
    """None for what is no event about this key."""
    event = messages.read_message(body, messages.EventMessage) if len(body) <= _EVENT_BYTES_MAX else None
    return event if event is not None and event.key == key else None


def make_network_token(told: TokenTold, now: Instant) -> NetworkToken:
    """What may be stored in clear."""
    code = told.reason.code if told.state is TokenState.REFUSED and told.reason else ""
    if told.account is None:
        return NetworkToken(state=told.state, updated_at=now, reference=told.reference, code=code)
    return NetworkToken(
        state=told.state,
        updated_at=now,
        reference=told.reference,
        last_digits=told.account.number.reveal()[-LAST_DIGITS:],
        expiry_month=told.account.expiry_month or "",
        expiry_year=told.account.expiry_year or "",
    )


def describe_use(token: NetworkToken | None, obstacle: str | None) -> dict[str, str]:
    """What a merchant reads of it: that a token was used and which, or why the card's own number was."""
    if obstacle is None and token is not None:
        return {"NetworkTokenUsed": "true", "NetworkTokenLast4Digits": token.last_digits}
    return {"NetworkTokenUsed": "false", "NetworkTokenResponse": obstacle or ""}


def _read_told(reply: WireReply, key: str) -> TokenTold:
    answer = None if reply.status >= 500 else messages.read_message(reply.body, messages.TokenReply)
    state = None if answer is None or answer.key != key else _STATES.get(answer.status)
    if answer is None or state is None:
        return TokenTold(state=TokenState.REFUSED, reason=SILENT)
    if state in _NAMELESS:
        reason = get_reason(answer.reason) if state is TokenState.REFUSED else None
        return TokenTold(state=state, reason=reason, reference=answer.reference or "")
    if answer.reference is None or answer.number is None or answer.expiry is None:
        # Neither a token nor a reason: nothing can be made of it.
        return TokenTold(state=TokenState.REFUSED, reason=SILENT)
    year, _, month = answer.expiry.partition("-")
    account = TokenAccount(number=Secret(answer.number), type=_NETWORK, expiry_month=month, expiry_year=year)
    return TokenTold(state=state, reference=answer.reference, account=account, card=_read_card(answer))


def _read_card(answer: messages.TokenReply) -> CardNews | None:
    if answer.card is None:
        return None
    year, _, month = answer.card.expiry.partition("-")
    return CardNews(last_digits=answer.card.last_digits, expiry_month=month, expiry_year=year)
