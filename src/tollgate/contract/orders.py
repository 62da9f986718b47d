"""Checked fields to a typed order. What is asked for is understood here; whether it may happen is decided elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import msgspec

from tollgate.catalog import AUTHENTICATION, BRANDS, Account, Brand, Protocol, detect_brand, find_brand, get_result
from tollgate.contract.accounts import read_account, show_account
from tollgate.contract.authentications import read_authentication_wish
from tollgate.contract.fields import Fields, first_word
from tollgate.contract.levers import read_levers
from tollgate.contract.objections import (
    find_account_objection,
    find_amount_objection,
    find_fraction_objection,
    find_proof_objection,
)
from tollgate.contract.structures import read_details
from tollgate.payments import (
    Authentication,
    CardFace,
    Channel,
    Instrument,
    OpenedCard,
    Order,
    Payment,
    ProcessingCode,
    Sequence,
    TestMode,
    list_amounts,
)
from tollgate.values import Fault, InvalidParameters, Money, Refusal, read_hundredths

_DESCRIPTOR_MAX = 127
_PARTIES = frozenset({"sender", "recipient"})
_NOTHING: Mapping[str, str] = {}


def read_order(
    fields: Fields,
    channel: Channel,
    *,
    today: date,
    short_id: str,
    is_live: bool,
    opened: OpenedCard | str | None = None,
) -> Order:
    """`opened` is the card inside a wallet's token, or the code that says why it did not open."""
    values = fields.values
    # An authentication by itself needs no type: it is one.
    kind, currency = values.get("paymentType", AUTHENTICATION), values["currency"]
    money = Money(read_hundredths(values["amount"]), currency)
    brand = choose_brand(values, channel.is_lenient, opened)
    check_fit(brand, kind, money, channel, values)
    account, face, objection = _take_account(fields, brand, channel, today, opened)
    details = read_details(fields, currency)
    if isinstance(opened, OpenedCard) and opened.eci and details.authentication is None:
        # The wallet has authenticated its owner, and says how.
        details = msgspec.structs.replace(details, authentication=Authentication(eci=opened.eci))
    descriptor = make_descriptor(values.get("descriptor"), short_id, channel)
    return Order(
        kind=kind,
        money=money,
        brand=brand.code,
        method=brand.method,
        account=account,
        face=face,
        network=find_network(brand, values, opened),
        statement=values.get("merchant.name") or descriptor,
        descriptor=descriptor,
        short_id=short_id,
        processing_code=read_processing_code(values),
        test_mode=read_test_mode(values.get("testMode"), is_live) or (None if is_live else TestMode.INTERNAL),
        merchant_transaction_id=values.get("merchantTransactionId"),
        return_url=values.get("shopperResultUrl"),
        due_on=_read_date(values.get("transactionDueDate")),
        sequence=read_sequence(values),
        authentication=read_authentication_wish(fields, kind, account),
        details=details,
        levers=read_levers(values) if "customParameters" in fields.groups and not is_live else {},
        objection=find_amount_objection(kind, money)
        or find_fraction_objection(list_amounts(details))
        or objection
        or find_proof_objection(details.authentication),
        echo=show_account(fields, account),
        hidden=find_hidden(fields),
    )


def _take_account(
    fields: Fields, brand: Brand, channel: Channel, today: date, opened: OpenedCard | str | None
) -> tuple[Instrument | None, CardFace | None, str | None]:
    if isinstance(opened, str):
        return None, None, opened
    if opened is not None:
        expiry = int(opened.account.expiry_year), int(opened.account.expiry_month)
        return opened.account, opened.face, "100.100.303" if expiry < (today.year, today.month) else None
    account, face = read_account(fields, brand)
    objection = find_account_objection(fields.values, account, brand, cvv_required=channel.requires_cvv, today=today)
    return account, face, objection


def find_hidden(fields: Fields) -> Mapping[str, str]:
    """Numbers of accounts between which money is sent, which may be those of cards."""
    if fields.groups.isdisjoint(_PARTIES):
        return _NOTHING
    names = (f"{party}.accountNumber" for party in sorted(_PARTIES))
    return {name: fields.values[name] for name in names if name in fields.values}


def recall_order(payment: Payment, account: Instrument, hidden: Mapping[str, str] = _NOTHING) -> Order:
    """The order again from what was stored with its payment, to go on with it where the shopper came back.

    What may be used once only is not among it; whoever kept it aside puts it into the account.
    """
    values = {**payment.echo, **hidden}
    fields = Fields(values, frozenset(map(first_word, values)), values)
    number = {"card.number": payment.card.bin} if payment.card else {}
    return Order(
        kind=payment.kind,
        money=payment.money,
        brand=payment.brand,
        method=payment.method,
        account=account,
        face=payment.card,
        network=find_network(BRANDS[payment.brand], number, None),
        statement=values.get("merchant.name") or payment.descriptor,
        descriptor=payment.descriptor,
        short_id=payment.short_id,
        processing_code=read_processing_code(values),
        test_mode=payment.test_mode,
        merchant_transaction_id=payment.merchant_transaction_id,
        return_url=values.get("shopperResultUrl"),
        authentication=read_authentication_wish(fields, payment.kind, account),
        details=read_details(fields, payment.money.currency),
        levers={} if payment.test_mode is None else read_levers(values),
        echo=payment.echo,
        hidden=hidden,
    )


def find_window(echo: Mapping[str, str]) -> str | None:
    """The size of window that the merchant has for a challenge."""
    return echo.get("customer.browser.challengeWindow")


def find_return_url(echo: Mapping[str, str]) -> str | None:
    """Where the shopper of a stored payment comes back to."""
    return echo.get("shopperResultUrl")


def choose_brand(values: Mapping[str, str], is_lenient: bool, opened: OpenedCard | str | None = None) -> Brand:
    """The brand named, or else the one its number shows; a lenient channel's odd spelling is settled by the number."""
    code = values.get("paymentBrand")
    brand = find_brand(code, lenient=is_lenient) if code else None
    if brand is None and (code is None or is_lenient):
        brand = _detect(values, opened)
    if brand is None:
        message = "is not a brand of this gateway" if code else "cannot be told from the card number"
        raise InvalidParameters(get_result("200.300.404"), [Fault("paymentBrand", message, code)])
    if brand.account is Account.WALLET and not brand.wallet:
        raise Refusal(get_result("600.200.100"), f"{brand.code} is not available on this channel")
    return brand


def find_network(brand: Brand, values: Mapping[str, str], opened: OpenedCard | str | None) -> str | None:
    network = _detect(values, opened) if brand.account is Account.WALLET else None
    return network.code if network else None


def _detect(values: Mapping[str, str], opened: OpenedCard | str | None) -> Brand | None:
    if isinstance(opened, OpenedCard):
        return find_brand(opened.network) if opened.network else None
    return detect_brand(values.get("card.number") or values.get("tokenAccount.number") or "")


def check_fit(brand: Brand, kind: str, money: Money, channel: Channel, values: Mapping[str, str]) -> None:
    """Whether the brand can do what is asked for, on this channel."""
    if kind == AUTHENTICATION:
        if brand.protocol is not Protocol.CARD:
            raise Refusal(get_result("600.200.310"), f"{brand.code} has no authentication of its own")
        return
    if kind not in brand.kinds:
        raise Refusal(get_result("600.200.310"), f"{brand.code} does not take paymentType {kind}")
    if brand.account is Account.CARD:
        return
    if brand.currencies and money.currency not in brand.currencies:
        raise Refusal(get_result("600.200.500"), f"{brand.code} is paid in {', '.join(brand.currencies)}")
    if brand.protocol is Protocol.SEPA and channel.creditor is None:
        raise Refusal(get_result("600.200.201"), "the channel has no creditor for direct debits")
    if brand.needs_return and "shopperResultUrl" not in values:
        raise InvalidParameters(get_result("200.300.404"), [Fault("shopperResultUrl", "may not be empty")])


def read_sequence(values: Mapping[str, str]) -> Sequence:
    mode = values.get("standingInstruction.mode") or values.get("recurringType")
    if mode == "INITIAL":
        return Sequence.FIRST
    if mode == "REPEATED":
        return Sequence.LAST if values.get("sequence") == "FINAL" else Sequence.LATER
    return Sequence.ONCE


def read_processing_code(values: Mapping[str, str]) -> ProcessingCode:
    return ProcessingCode(values.get("transactionProcessingCode", ProcessingCode.PURCHASE))


def read_test_mode(text: str | None, is_live: bool) -> TestMode | None:
    """None where nothing was said."""
    if text is None:
        return None
    if is_live:
        raise Refusal(get_result("600.200.701"))
    return TestMode(text)


def make_descriptor(sent: str | None, short_id: str, channel: Channel) -> str:
    return sent or f"{short_id} {channel.name}"[:_DESCRIPTOR_MAX]


def _read_date(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)
