"""The JSON answers about payments and refusals. The order of keys is the one that clients have recorded."""

from collections.abc import Mapping
from typing import Any

import msgspec
import orjson

from tollgate.catalog import card_checks, codes
from tollgate.catalog.card_numbers import hide_card_numbers
from tollgate.catalog.parameters.names import first_word
from tollgate.catalog.parameters.nesting import nest_fields
from tollgate.catalog.results import RESULTS, get_result
from tollgate.catalog.shape import is_true
from tollgate.catalog.wallets import Wallet
from tollgate.contract.standing import find_scheme_reference, render_series_reference
from tollgate.payments.accounts import CardSummary
from tollgate.payments.payment import Payment, State
from tollgate.payments.splits import render_split
from tollgate.values import Instant, InvalidParameters, Refusal, Result, TooMany, render_timestamp

Json = dict[str, Any]

# Groups of fields that an answer repeats as they were sent, in the order of the answer: before and after the result.
_REFERENCES = ("merchantTransactionId", "merchantInvoiceId", "merchantMemo")
_ECHOED = (
    "taxAmount",
    "transactionCategory",
    "recurringType",
    "lifecycleId",
    "integrationType",
    "customer",
    "billing",
    "shipping",
    "cart",
    "marketPlace",
    "bankAccount",
    "virtualAccount",
    "tokenAccount",
    *(wallet.value for wallet in Wallet),
    "threeDSecure",
    "standingInstruction",
    "customParameters",
    "redirect",
    "risk",
)
_ECHOED_WORDS = frozenset(_ECHOED)
_CHECKS = {name: name.removeprefix("result.") for name in card_checks.MEMBERS}
_find_place = {word: place for place, word in enumerate(_ECHOED)}.__getitem__


class Answer(msgspec.Struct, frozen=True):
    """A finished answer, which is sent, and replayed for an idempotency key."""

    status: int
    body: bytes
    code: str = ""
    """The result code inside the body; empty when the answer is a replay."""


class Envelope(msgspec.Struct, frozen=True):
    """The members that every answer of this process has."""

    build_number: str

    def wrap(self, result: Result, ndc: str, now: int, **more: Any) -> Json:
        answer: Json = {"result": render_result(result), "buildNumber": self.build_number}
        return {**answer, "timestamp": render_timestamp(now), "ndc": ndc, **more}


def encode_answer(status: int, body: Json) -> Answer:
    return Answer(status, orjson.dumps(body), body["result"]["code"])


def render_result(result: Result) -> Json:
    return {"code": result.code, "description": result.description}


def answer_payment(payment: Payment, envelope: Envelope, handover: Mapping[str, str] = {}, **more: Any) -> Answer:
    """Renders the answer from the payment's row alone, so that a later read gives the same.

    A handover that holds a key is the exception: it is answered once and stored nowhere.
    """
    return finish_answer(render_payment(payment, handover), envelope, payment.created_at, payment.ndc, **more)


def render_answered(payment: Payment, envelope: Envelope) -> Json:
    """Renders the body of that answer, from which the event of the payment is made too."""
    return end_body(render_payment(payment), envelope, payment.created_at, payment.ndc)


def finish_answer(body: Json, envelope: Envelope, at: Instant, ndc: str, **more: Any) -> Answer:
    """Adds the members that every answer has; the status is that of the result."""
    end_body(body, envelope, at, ndc)
    body |= more
    return encode_answer(get_result(body["result"]["code"]).http_status, body)


def end_body(body: Json, envelope: Envelope, at: Instant, ndc: str) -> Json:
    body["buildNumber"] = envelope.build_number
    body["timestamp"] = render_timestamp(at)
    body["ndc"] = ndc
    return body


def render_payment(payment: Payment, handover: Mapping[str, str] = {}) -> Json:
    body: Json = {"id": payment.id}
    registration_id = payment.registration_id
    # A declined payment has stored nothing: the registration that it was to make cannot be used.
    is_lost = payment.state is State.DECLINED and is_true(payment.echo.get("createRegistration"))
    if registration_id and not is_lost:
        # Clients look for it in either place.
        body |= {"registrationId": registration_id, "registration": {"id": registration_id}}
    if payment.referenced_id:
        body["referencedId"] = payment.referenced_id
    body["paymentType"] = payment.payment_type
    if payment.brand:
        body["paymentBrand"] = payment.brand
    body["amount"] = payment.money.render()
    body["currency"] = payment.money.currency
    body["descriptor"] = payment.descriptor
    echo = payment.echo
    if payment.state is State.APPROVED:
        reference = render_series_reference(echo, find_scheme_reference(payment.details))
        echo = {**echo, **reference} if reference else echo
    if payment.split:
        echo = {**echo, **render_split(payment.split)}
    body |= render_rest(payment.result_code, payment.card, echo, payment.details, handover)
    if payment.risk is not None:
        body["risk"]["score"] = str(payment.risk.score)
    return body


def render_rest(
    code: str,
    card: CardSummary | None,
    echo: Mapping[str, str],
    details: Mapping[str, str] = {},
    handover: Mapping[str, str] = {},
) -> Json:
    """Renders the members that every answer about an account ends with."""
    body: Json = {name: echo[name] for name in _REFERENCES if name in echo}
    # A payment that is started and not complete has no code yet, and reads as pending.
    body["result"] = render_result(RESULTS[code or codes.PENDING])
    body["result"] |= {place: details[name] for name, place in _CHECKS.items() if name in details}
    plain = {name: text for name, text in details.items() if "." not in name}
    if plain:
        body["resultDetails"] = plain
    if card:
        body["card"] = render_card(card)
    shown = {name: text for name, text in echo.items() if first_word(name) in _ECHOED_WORDS}
    if handover or len(plain) != len(details):
        # What the acquirer or the issuer answered replaces what the merchant sent.
        shown |= {name: text for name, text in details.items() if "." in name} | dict(handover)
    echoed = nest_fields(shown.items())
    body |= {word: echoed[word] for word in sorted(echoed.keys() & _ECHOED_WORDS, key=_find_place)}
    if "redirect" in body:
        # Clients read the list without asking whether it is there.
        body["redirect"].setdefault("parameters", [])
    body.setdefault("risk", {})["score"] = "0"
    return body


def render_card(card: CardSummary) -> Json:
    card_summary = {"bin": card.bin, "last4Digits": card.last_digits}
    if card.holder:
        card_summary["holder"] = card.holder
    card_summary["expiryMonth"] = card.expiry_month
    card_summary["expiryYear"] = card.expiry_year
    return card_summary


def answer_refusal(refusal: Refusal, envelope: Envelope, ndc: str, now: int) -> Answer:
    body = envelope.wrap(refusal.result, ndc, now)
    if refusal.detail:
        body["result"]["description"] += f" - {refusal.detail}"
    if isinstance(refusal, InvalidParameters):
        # A name or a value may be a card number in the wrong place.
        body["result"]["parameterErrors"] = [
            {
                "name": hide_card_numbers(fault.name),
                "value": fault.value and hide_card_numbers(fault.value),
                "message": fault.message,
            }
            for fault in refusal.faults
        ]
    if isinstance(refusal, TooMany):
        body["id"] = refusal.subject_id or ndc
    return encode_answer(refusal.status, body)
