"""The messages of the Stripe API: forms that are sent, and the members of its JSON objects that are read.

What an answer means for a payment is decided in `verdicts`.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, TypeAlias
from urllib.parse import urlencode

import msgspec

from tollgate.connectors.acquiring import to_minor_units
from tollgate.connectors.exchange import WireReply, read_reply
from tollgate.connectors.forwarding import is_mail_order
from tollgate.payments.accounts import CardAccount
from tollgate.payments.payment import Payment
from tollgate.values import Money

VERSION = "2024-06-20"
"""The version of the API; without it the processor answers in the version that its account happens to have."""

METHODS = "/v1/payment_methods"
INTENTS = "/v1/payment_intents"
REFUNDS = "/v1/refunds"

_OPTIONS = "payment_method_options[card]"
_MOTO = f"{_OPTIONS}[moto]"

KEY = "tollgate"
"""The name of the metadata by which an object is found again; its value is the id of the payment."""

Pairs: TypeAlias = tuple[tuple[str, str], ...]
Id = Annotated[str, msgspec.Meta(max_length=100, pattern=r"^[A-Za-z0-9_]+\Z")]
"""The id of an object, which becomes a word of paths."""
_ShortText = Annotated[str, msgspec.Meta(max_length=255)]
_LongText = Annotated[str, msgspec.Meta(max_length=2048)]
_Metadata = Mapping[str, str] | None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The reason of a refusal or a decline."""

    type: _ShortText | None = None
    code: _ShortText | None = None
    decline_code: _ShortText | None = None
    advice_code: _ShortText | None = None
    network_advice_code: _ShortText | None = None
    message: _LongText | None = None
    charge: Id | None = None


class FailureMessage(msgspec.Struct, frozen=True):
    error: Failure


class Checks(msgspec.Struct, frozen=True, kw_only=True):
    """The result of comparing what the shopper typed with what the issuer knows."""

    address_line1_check: _ShortText | None = None
    address_postal_code_check: _ShortText | None = None
    cvc_check: _ShortText | None = None


class ChargedCard(msgspec.Struct, frozen=True):
    checks: Checks | None = None
    network_transaction_id: _ShortText | None = None


class ChargedMethod(msgspec.Struct, frozen=True):
    card: ChargedCard | None = None


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    id: Id
    amount: int
    amount_captured: int | None = None
    amount_refunded: int = 0
    refunded: bool = False
    payment_method_details: ChargedMethod | None = None
    metadata: _Metadata = None


class Method(msgspec.Struct, frozen=True):
    id: Id


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    id: Id
    status: _ShortText
    amount: int
    currency: _ShortText
    amount_received: int | None = None
    metadata: _Metadata = None
    latest_charge: Id | Charge | None = None
    """It is an object where the request asked for it with `expand`."""
    last_payment_error: Failure | None = None

    @property
    def charge(self) -> Charge | None:
        return self.latest_charge if isinstance(self.latest_charge, Charge) else None

    @property
    def amount_captured(self) -> int | None:
        """The amount that was taken; a partial capture gives the rest back."""
        if self.amount_received is not None or self.charge is None:
            return self.amount_received
        if self.charge.amount_captured is not None:
            return self.charge.amount_captured
        return self.charge.amount - self.charge.amount_refunded


class IntentPage(msgspec.Struct, frozen=True):
    data: tuple[Intent, ...]
    has_more: bool


class Refund(msgspec.Struct, frozen=True, kw_only=True):
    id: Id
    status: _ShortText | None
    amount: int
    currency: _ShortText
    metadata: _Metadata = None


class RefundPage(msgspec.Struct, frozen=True):
    data: tuple[Refund, ...]
    has_more: bool


def read_failure(reply: WireReply) -> Failure | None:
    """Returns None for what is no refusal of this API."""
    message = read_reply(reply, FailureMessage)
    return None if message is None else message.error


def find_key(metadata: _Metadata) -> str | None:
    return (metadata or {}).get(KEY)


def has_money(found: Intent | Refund, money: Money) -> bool:
    """Tells whether an object is about this amount; the API writes currencies in small letters."""
    return found.amount == to_minor_units(money) and found.currency.upper() == money.currency


def encode_form(pairs: Iterable[tuple[str, str]]) -> bytes:
    return urlencode([*pairs]).encode()


# ---- what is sent ----

_OF_METHOD = "billing_details["
_NAME = "billing_details[name]"
_OF_PROOF = f"{_OPTIONS}[three_d_secure]["
_OF_SHIPPING = "shipping["
_OF_METADATA = "metadata["
_STATEMENT = "statement_descriptor_suffix"
_STATEMENT_LENGTH_MAX = 22
_NO_STATEMENT = str.maketrans("", "", "<>\\'\"*")
"""Characters that no statement may have."""


def make_method(card: CardAccount, forwarded: Mapping[str, str]) -> Pairs:
    """Makes the form of a payment method; the issuer compares the address with its own."""
    sent = {
        "type": "card",
        "card[number]": card.number.reveal(),
        "card[exp_month]": card.expiry_month,
        "card[exp_year]": card.expiry_year,
        "card[cvc]": card.cvv.reveal() if card.cvv else "",
        **_keep(forwarded, _OF_METHOD),
    }
    return _leave_out({**sent, _NAME: card.holder or sent.get(_NAME, "")})


def make_terms(forwarded: Mapping[str, str]) -> dict[str, str]:
    """Makes the parameters of an intent out of what is forwarded; the processor refuses incomplete groups."""
    terms = _drop(forwarded, _OF_METHOD)
    if f"{_OF_PROOF}cryptogram]" not in terms:
        terms = _drop(terms, _OF_PROOF)
    if f"{_OF_SHIPPING}name]" not in terms:
        terms = _drop(terms, _OF_SHIPPING)
    if _STATEMENT in terms:
        terms[_STATEMENT] = terms[_STATEMENT].translate(_NO_STATEMENT)[:_STATEMENT_LENGTH_MAX]
    if is_mail_order(terms.pop(_MOTO, "")):
        terms[_MOTO] = "true"
    return dict(_leave_out(terms))


def make_intent(attempt: Payment, method_id: str, *, is_hold: bool, terms: Mapping[str, str]) -> Pairs:
    """Makes the form of an intent, which takes no money before it is confirmed.

    terms: further parameters; none of them replaces one that is written here.
    """
    own = {
        "amount": str(to_minor_units(attempt.money)),
        "currency": attempt.money.currency.lower(),
        "payment_method": method_id,
        # Without it a processor may choose methods that need a page of its own.
        "payment_method_types[]": "card",
        "capture_method": "manual" if is_hold else "automatic",
        f"metadata[{KEY}]": attempt.id,
    }
    return tuple({**terms, **own}.items())


def make_repeated(network_transaction_id: str | None) -> dict[str, str]:
    """Names the first payment of a series, to which the shopper agreed."""
    name = f"{_OPTIONS}[mit_exemption][network_transaction_id]"
    return {name: network_transaction_id} if network_transaction_id else {}


STORES_CARD = {"setup_future_usage": "off_session"}


def make_refund(attempt: Payment, intent_id: str, forwarded: Mapping[str, str]) -> Pairs:
    own = {
        "payment_intent": intent_id,
        "amount": str(to_minor_units(attempt.money)),
        f"metadata[{KEY}]": attempt.id,
    }
    return tuple({**_keep(forwarded, _OF_METADATA), **own}.items())


def _keep(sent: Mapping[str, str], group: str) -> dict[str, str]:
    return {name: value for name, value in sent.items() if name.startswith(group)}


def _drop(sent: Mapping[str, str], group: str) -> dict[str, str]:
    return {name: value for name, value in sent.items() if not name.startswith(group)}


def _leave_out(sent: Mapping[str, str]) -> Pairs:
    return tuple((name, value) for name, value in sent.items() if value)
