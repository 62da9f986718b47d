"""Builds the messages of ISO 8583: authorizations, sales, credits, advices, reversals and their repeats.

Each can be built again from its payment alone, so that a repeat after a crash is the same message.
"""

import unicodedata
from collections.abc import Mapping
from hashlib import blake2b

from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.countries import COUNTRIES
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.series import BY_MERCHANT, REPEATED
from tollgate.connectors import acquiring, forwarding
from tollgate.connectors.exchange import AcquirerAccount, Original
from tollgate.connectors.iso8583 import codec
from tollgate.connectors.iso8583.codec import Message
from tollgate.connectors.iso8583.fields import ELEMENTS, PRIVATE, TAGS, Tag
from tollgate.connectors.iso8583.network import render_time
from tollgate.payments.accounts import CardAccount, Instrument, TokenAccount
from tollgate.payments.order import Order, ProcessingCode
from tollgate.payments.payment import Payment
from tollgate.values import Money

AUTHORIZATION, FINANCIAL, ADVICE, REVERSAL, REVERSAL_ADVICE = "0100", "0200", "0220", "0400", "0420"

CHARGE_TYPES = {"authorization": AUTHORIZATION, "sale": FINANCIAL, "credit": FINANCIAL}
"""The message types of first payments, by the words of the gateway."""
FOLLOW_UP_TYPES = {
    "capture": ADVICE,
    "refund": FINANCIAL,
    "reversal": REVERSAL,
    "void": REVERSAL,
    "rebill": FINANCIAL,
    "increment": AUTHORIZATION,
    "renewal": AUTHORIZATION,
}
"""The message types of follow-ups, by their actions."""
ANEW = frozenset({"rebill", "renewal"})
"""The follow-ups that charge an account anew."""

_PURCHASE, _CREDIT = "000000", "200000"
_PROCESSING = {ProcessingCode.FUNDING.value: "100000", ProcessingCode.PAYMENT.value: "260000"}

_MAIL_OR_PHONE, _ELECTRONIC, _STORED_ENTRY = ("08", "012"), ("59", "812"), "102"
"""The condition code (element 25) and the entry mode (element 22) of an order.

The last digit of an entry mode says that no PIN can be entered.
"""

_ONE_TIME = (Tag.CVV2, Tag.CRYPTOGRAM, Tag.DTVC)
"""The proofs that are good for the first request only."""

_APPROVAL_DETAIL, _SCHEME_DETAIL = "ConnectorTxID2", "ConnectorTxID3"
_NAME_LENGTH, _CITY_LENGTH = 25, 13
_NO_INSTITUTION = "0" * 11

_COUNTRY_CODES = {code: row.alpha2 for row in COUNTRIES.values() for code in (row.alpha2, row.alpha3, row.numeric)}


class AmountTooLarge(ValueError):
    """The amount has more digits than element 4."""


def make_stan(key: str) -> str:
    """The trace number is derived from the key of its request, so that a repeat and a reversal find it again."""
    return f"{1 + int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) % codec.STAN_MAX:06d}"


def make_reference(payment_id: str) -> str:
    """The retrieval reference number is twelve hexadecimal digits derived from the id of a payment."""
    return blake2b(payment_id.encode(), digest_size=6).hexdigest().upper()


def get_request_type(payment: Payment) -> str:
    """Returns the type of the message by which a payment was requested."""
    if payment.action is not None:
        return FOLLOW_UP_TYPES[payment.action]
    return CHARGE_TYPES[acquiring.CHARGE_TYPES[payment.payment_type]]


def make_charge(account: AcquirerAccount, order: Order, attempt: Payment) -> Message:
    """Authorizes, sells or credits. This is the only message with a CVV2 or a cryptogram."""
    word = acquiring.CHARGE_TYPES[order.payment_type]
    own: dict[str, str] = {Tag.KEY: attempt.id, **_describe_proof(order.account)}
    forwarded = forwarding.collect(ConnectorName.ISO8583, forwarding.list_order_values(order))
    fields = {
        **_describe_account(order.account),
        **_describe_sale(account, attempt, forwarded, attempt.echo),
        3: _choose_processing(attempt),
        4: render_amount(attempt),
        PRIVATE: _render_private(own, forwarded),
    }
    if forwarded.get(f"{PRIVATE}.{Tag.STORED_MODE}") == REPEATED:
        fields[22] = _STORED_ENTRY
    return Message(CHARGE_TYPES[word], fields)


def make_follow_up(
    account: AcquirerAccount,
    attempt: Payment,
    action: str,
    original: Original,
    *,
    is_final: bool = False,
) -> Message:
    """Captures, refunds, reverses, rebills, raises or renews an earlier payment."""
    named, first = original.payment, original.first
    own: dict[str, str] = {Tag.KEY: attempt.id, Tag.ORIGINAL_KEY: named.id, Tag.ACTION: action}
    if is_final:
        own[Tag.FINAL] = "Y"
    forwarded = forwarding.collect(ConnectorName.ISO8583, forwarding.list_follow_up_values(attempt, first))
    fields = {
        **(_describe_account(original.account) if action in ANEW else _describe_charged(original)),
        **_describe_sale(account, attempt, forwarded, first.echo),
        3: _CREDIT if action == "refund" else _choose_processing(first),
        4: render_amount(attempt),
    }
    if action == "rebill":
        # A new sale of the merchant's own, which the scheme ties to the one that the shopper agreed to.
        scheme_id = first.details.get(_SCHEME_DETAIL, "")
        own.update({Tag.STORED_MODE: REPEATED, Tag.STORED_SOURCE: BY_MERCHANT})
        if scheme_id:
            own[Tag.STORED_REFERENCE] = scheme_id
        fields[22] = _STORED_ENTRY
    else:
        fields |= {90: _render_original(account, named), **_describe_approval(original)}
    if action == "reversal":
        fields |= _describe_reversal(attempt, named)
    fields[PRIVATE] = _render_private(own, forwarded)
    return Message(FOLLOW_UP_TYPES[action], fields)


def make_reversal_advice(account: AcquirerAccount, original: Original) -> Message:
    """Undoes a payment whose outcome is unknown. It has a trace number of its own, and the reference of the payment."""
    payment = original.payment
    key = make_reversal_key(payment)
    fields = {
        **_describe_charged(original),
        **_describe_sale(account, payment, {}, original.first.echo),
        3: _choose_processing(original.first),
        4: render_amount(payment),
        11: make_stan(key),
        90: _render_original(account, payment),
        PRIVATE: codec.render_tags({Tag.KEY: key, Tag.ORIGINAL_KEY: payment.id}),
    }
    return Message(REVERSAL_ADVICE, fields)


def make_reversal_key(payment: Payment) -> str:
    return f"{payment.id}-reversal"


def make_repeat(message: Message) -> Message:
    """Makes the same message as a repeat, without the proofs that are good for one request only."""
    tags = {tag: text for tag, text in message.tags.items() if tag not in _ONE_TIME}
    return Message(f"{message.mti[:3]}1", {**message.fields, PRIVATE: codec.render_tags(tags)})


def _choose_processing(first: Payment) -> str:
    """Returns the processing code of a first payment, which later messages about it repeat."""
    if acquiring.CHARGE_TYPES[first.payment_type] == "credit":
        return _CREDIT
    return _PROCESSING.get(first.echo.get("transactionProcessingCode", ""), _PURCHASE)


def render_amount(payment: Payment) -> str:
    return _render_units(acquiring.to_minor_units(payment.money))


def _render_units(units: int) -> str:
    text = f"{units:0{ELEMENTS[4].length}d}"
    if len(text) > ELEMENTS[4].length:
        raise AmountTooLarge("the amount has more than 12 digits")
    return text


def _describe_sale(
    account: AcquirerAccount, payment: Payment, forwarded: Mapping[str, str], echo: Mapping[str, str]
) -> dict[int, str]:
    """Returns the elements that every message about money has."""
    is_mail_order = forwarding.is_mail_order(echo.get("transactionCategory", ""))
    condition, entry = _MAIL_OR_PHONE if is_mail_order else _ELECTRONIC
    time = render_time(payment.created_at)
    category = forwarded.get("18") or account.category
    return {
        7: time,
        11: make_stan(payment.id),
        12: time[4:],
        13: time[:4],
        **({18: category} if category else {}),
        22: entry,
        25: condition,
        **({32: account.acquirer_number} if account.acquirer_number else {}),
        37: make_reference(payment.id),
        41: codec.pad(41, account.terminal_id),
        **({42: codec.pad(42, account.merchant_number)} if account.merchant_number else {}),
        43: _render_place(account, forwarded),
        49: CURRENCIES[payment.money.currency].numeric,
    }


def _render_place(account: AcquirerAccount, forwarded: Mapping[str, str]) -> str:
    name = to_ascii(forwarded.get("43.1") or account.merchant_name)
    city = to_ascii(forwarded.get("43.2", ""))
    country = _COUNTRY_CODES.get(forwarded.get("43.3", "").upper(), account.country)
    return f"{name[:_NAME_LENGTH]:{_NAME_LENGTH}}{city[:_CITY_LENGTH]:{_CITY_LENGTH}}{country:2}"


def _describe_account(account: Instrument | None) -> dict[int, str]:
    """Returns number and expiry; an account that has been wiped is left out."""
    if not isinstance(account, CardAccount | TokenAccount):
        return {}
    expiry = f"{account.expiry_year[-2:]}{account.expiry_month}" if account.expiry_year and account.expiry_month else ""
    return {2: account.number.reveal(), **({14: expiry} if expiry else {})}


def _describe_charged(original: Original) -> dict[int, str]:
    """Returns the account that a message names again; the number of a network token is not kept with its payment."""
    is_token = original.first.details.get("NetworkTokenUsed") == "true"
    return {} if is_token else _describe_account(original.account)


def _describe_proof(account: Instrument | None) -> dict[str, str]:
    match account:
        case CardAccount():
            tags = {
                Tag.CVV2: acquiring.reveal(account.cvv),
                Tag.CRYPTOGRAM: acquiring.reveal(account.cryptogram),
                Tag.NUMBER_TYPE: account.number_type if account.number_type != "PAN" else None,
                Tag.WALLET: account.wallet,
            }
        case TokenAccount():
            tags = {
                Tag.CRYPTOGRAM: acquiring.reveal(account.cryptogram),
                Tag.DTVC: acquiring.reveal(account.dtvc),
                Tag.NUMBER_TYPE: account.type,
            }
        case _:
            tags = {}
    return {tag: text for tag, text in tags.items() if text}


def _render_private(own: Mapping[str, str], forwarded: Mapping[str, str]) -> str:
    """Writes element 48: the tags that the connector names, then other parameters as far as they fit.

    One that does not fit is left out, because no payment shall fail for a remark.
    """
    tags = dict(own)
    texts: dict[str, list[str]] = {}
    for place, text in forwarded.items():
        element, _, tag = place.partition("[")[0].partition(".")
        if element == str(PRIVATE):
            texts.setdefault(tag, []).append(to_ascii(text))
    # Those that the connector names prove who pays, or tie the payment to a series.
    for tag in sorted(texts, key=lambda tag: (tag not in set(Tag), tag)):
        joined = "/".join(texts[tag])[: TAGS[tag].length_max]
        more = {tag: joined, **tags}
        if joined and len(codec.render_tags(more)) <= ELEMENTS[PRIVATE].length:
            tags = more
    return codec.render_tags(tags)


def to_ascii(text: str) -> str:
    """Writes letters without their marks, and blanks for what ASCII cannot print."""
    letters = unicodedata.normalize("NFKD", text).replace("ß", "ss")
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return "".join(letter if " " <= letter <= "~" else " " for letter in plain)


def _describe_approval(original: Original) -> dict[int, str]:
    """Returns the approval code and the scheme's id of the payment that is followed, or of the first of its chain."""
    known = {**original.first.details, **original.payment.details}
    approval, scheme_id = known.get(_APPROVAL_DETAIL, ""), known.get(_SCHEME_DETAIL, "")
    return {**({38: codec.pad(38, approval)} if approval else {}), **({63: scheme_id} if scheme_id else {})}


def _describe_reversal(attempt: Payment, named: Payment) -> dict[int, str]:
    """Returns the whole amount and, of a reversal in part, the amount that remains."""
    total = acquiring.to_minor_units(Money(named.total, named.money.currency))
    remaining = total - acquiring.to_minor_units(attempt.money)
    if remaining <= 0:
        return {}
    return {4: _render_units(total), 95: f"{_render_units(remaining)}{'0' * 12}C00000000C00000000"}


def _render_original(account: AcquirerAccount, payment: Payment) -> str:
    """Writes element 90: type, trace number and time of the original, then the acquirer."""
    request = f"{get_request_type(payment)}{make_stan(payment.id)}{render_time(payment.created_at)}"
    return f"{request}{account.acquirer_number:0>11}{_NO_INSTITUTION}"
