"""Orders, read from the fields of a request or recalled from a stored payment. Nothing is sent here."""

from collections.abc import Mapping
from datetime import date

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import AccountType, Brand, Protocol
from tollgate.catalog.brand_terms import find_obstacle
from tollgate.catalog.brands import BRANDS, detect_brand, find_brand
from tollgate.catalog.parameters.names import first_word
from tollgate.catalog.payment_types import AUTHENTICATION
from tollgate.catalog.results import get_result, make_invalid
from tollgate.catalog.test_cards import SIMULATOR_OVERRIDES
from tollgate.contract import objections, registered
from tollgate.contract.accounts import read_account, show_account
from tollgate.contract.authentications import read_authentication_request
from tollgate.contract.details import read_details
from tollgate.contract.fields import Fields
from tollgate.contract.sellers import read_split
from tollgate.contract.standing import find_series_objection, is_by_merchant, read_sequence, select_series_fields
from tollgate.payments.accounts import CardSummary, Instrument, OpenedCard
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Authentication, Details, Order, ProcessingCode, TestMode
from tollgate.payments.payment import Payment
from tollgate.payments.registration import RegisteredAccount
from tollgate.values import Fault, Money, Refusal, read_hundredths

# Bound once, because looking a member up in its enumeration takes as long as a call.
_CARD, _WALLET = AccountType.CARD, AccountType.WALLET
_PURCHASE, _INTERNAL = ProcessingCode.PURCHASE, TestMode.INTERNAL
_TEST_MODES = {mode.value: mode for mode in TestMode}
_OVERRIDES = {override.name: override for override in SIMULATOR_OVERRIDES}


def read_simulator_overrides(values: Mapping[str, str]) -> dict[str, str]:
    """Returns the overrides by their keys. A malformed one would silently test nothing, so it is refused."""
    if values.keys().isdisjoint(_OVERRIDES):
        return {}
    simulator_overrides: dict[str, str] = {}
    faults: list[Fault] = []
    for name, override in _OVERRIDES.items():
        value = values.get(name)
        if value is None:
            continue
        if not override.shape.accepts(value):
            faults.append(Fault(name, override.shape.message, value))
        simulator_overrides[override.key] = value
    if faults:
        raise make_invalid(*faults)
    return simulator_overrides


class Source(msgspec.Struct, frozen=True, kw_only=True):
    brand: Brand
    account: Instrument | None
    """An account that could not be opened is None, and has an objection."""
    card_summary: CardSummary | None
    objection: str | None
    network: str | None
    echo: dict[str, str]


def take_source(
    fields: Fields,
    channel: Channel,
    *,
    today: date,
    opened: OpenedCard | str | None = None,
    on_file: RegisteredAccount | None = None,
) -> Source:
    if on_file is not None:
        return _take_registered(fields, channel, on_file, today)
    brand = choose_brand(fields.values, channel.is_lenient, opened)
    account, card_summary, objection = _take_account(fields, brand, channel, today, opened)
    return Source(
        brand=brand,
        account=account,
        card_summary=card_summary,
        objection=objection,
        network=find_network(brand, fields.values, opened),
        echo=show_account(fields, account),
    )


def _take_registered(fields: Fields, channel: Channel, on_file: RegisteredAccount, today: date) -> Source:
    brand = BRANDS[on_file.registration.brand]
    registered.check_brand(fields, brand, is_lenient=channel.is_lenient)
    registered.check_needs(fields, brand, is_lenient=channel.is_lenient)
    account, card_summary = registered.take_registered(fields, on_file)
    network = find_network(brand, render_card_prefix(card_summary), None)
    issuer = BRANDS[network] if network else brand
    needs_cvv = _needs_cvv(fields, channel)
    return Source(
        brand=brand,
        account=account,
        card_summary=card_summary,
        objection=registered.find_registration_objection(fields, account, issuer, cvv_required=needs_cvv, today=today),
        network=network,
        echo=registered.show_registered(fields, on_file, account),
    )


def _take_account(
    fields: Fields,
    brand: Brand,
    channel: Channel,
    today: date,
    opened: OpenedCard | str | None,
) -> tuple[Instrument | None, CardSummary | None, str | None]:
    if isinstance(opened, str):
        return None, None, opened
    if opened is not None:
        expiry = int(opened.account.expiry_year), int(opened.account.expiry_month)
        return opened.account, opened.card_summary, codes.CARD_EXPIRED if expiry < (today.year, today.month) else None
    account, card_summary = read_account(fields, brand)
    needs_cvv = _needs_cvv(fields, channel)
    objection = objections.find_account_objection(fields.values, account, brand, cvv_required=needs_cvv, today=today)
    return account, card_summary, objection


def _needs_cvv(fields: Fields, channel: Channel) -> bool:
    """A merchant that charges without the shopper has no security code, because nobody may store it."""
    return channel.requires_cvv and not is_by_merchant(fields.values)


def render_card_prefix(card_summary: CardSummary | None) -> Mapping[str, str]:
    """Returns the digits that show the network of a card."""
    return {"card.number": card_summary.bin} if card_summary else {}


def choose_brand(values: Mapping[str, str], is_lenient: bool, opened: OpenedCard | str | None = None) -> Brand:
    """Returns the named brand, or that of the number; on a lenient channel it also decides about odd spellings."""
    code = values.get("paymentBrand")
    brand = find_brand(code, lenient=is_lenient) if code else None
    if brand is None and (code is None or is_lenient):
        brand = _detect(values, opened)
    if brand is None:
        message = "is not a brand of this gateway" if code else "cannot be told from the card number"
        raise make_invalid(Fault("paymentBrand", message, code))
    if brand.account is _WALLET and not brand.wallet:
        raise Refusal(get_result(codes.METHOD_UNAVAILABLE), f"{brand.code} is not available on this channel")
    return brand


def find_network(brand: Brand, values: Mapping[str, str], opened: OpenedCard | str | None) -> str | None:
    network = _detect(values, opened) if brand.account is _WALLET else None
    return network.code if network else None


def _detect(values: Mapping[str, str], opened: OpenedCard | str | None) -> Brand | None:
    if isinstance(opened, OpenedCard):
        return find_brand(opened.network) if opened.network else None
    return detect_brand(values.get("card.number") or values.get("tokenAccount.number") or "")


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
    on_file: RegisteredAccount | None = None,
) -> Order:
    """`opened` is the card inside a wallet's token, or the code that says why it did not open."""
    fields = _join_series(fields, on_file)
    values = fields.values
    payment_type = values.get("paymentType", AUTHENTICATION)
    makes_registration = on_file is None and registered.asks_to_register(values)
    money = Money(read_hundredths(values["amount"]), values["currency"])
    source = take_source(fields, channel, today=today, opened=opened, on_file=on_file)
    _check_source(source, payment_type, values, channel, money)
    details = _add_wallet_proof(read_details(fields), opened)
    return Order(
        payment_type=payment_type,
        money=money,
        brand=source.brand.code,
        method=source.brand.method,
        account=source.account,
        card_summary=source.card_summary,
        network=source.network,
        descriptor=(descriptor := make_descriptor(values.get("descriptor"), short_id, channel)),
        statement=values.get("merchant.name") or descriptor,
        merchant_name=choose_merchant_name(values, channel),
        short_id=short_id,
        processing_code=read_processing_code(values),
        test_mode=read_test_mode(values.get("testMode"), is_live) or (None if is_live else _INTERNAL),
        merchant_transaction_id=values.get("merchantTransactionId"),
        lifecycle_id=values.get("lifecycleId"),
        registration_id=None if on_file is None else on_file.registration.id,
        return_url=values.get("shopperResultUrl"),
        due_on=date.fromisoformat(values["transactionDueDate"]) if "transactionDueDate" in values else None,
        sequence=read_sequence(values, is_registered=on_file is not None, makes_registration=makes_registration),
        registers=makes_registration and payment_type != AUTHENTICATION,
        authentication=read_authentication_request(fields, payment_type, source.account),
        details=details,
        split=read_split(fields),
        simulator_overrides={} if is_live else read_simulator_overrides(values),
        objection=_find_objection(payment_type, money, fields, details, source, on_file)
        or objections.find_content_objection(fields, channel, today, source.brand),
        echo=source.echo,
        hidden=select_hidden_numbers(fields),
    )


def _join_series(fields: Fields, on_file: RegisteredAccount | None) -> Fields:
    """Adds the reference to the first payment of the series to a repeat that does not name it."""
    known = None if on_file is None else select_series_fields(fields.values, on_file)
    if not known:
        return fields
    groups = fields.groups | {first_word(name) for name in known}
    return Fields({**fields.values, **known}, groups, {**fields.echo, **known})


def _add_wallet_proof(details: Details, opened: OpenedCard | str | None) -> Details:
    if not isinstance(opened, OpenedCard) or not opened.eci or details.authentication is not None:
        return details
    # The wallet has authenticated its owner, and says how.
    return msgspec.structs.replace(details, authentication=Authentication(eci=opened.eci))


def _find_objection(
    payment_type: str,
    money: Money,
    fields: Fields,
    details: Details,
    source: Source,
    on_file: RegisteredAccount | None,
) -> str | None:
    found = (
        objections.find_amount_objection(payment_type, money)
        or objections.find_detail_objection(fields.values, money.currency)
        or source.objection
        or objections.find_proof_objection(details.authentication)
    )
    if found or payment_type == AUTHENTICATION:
        return found
    return find_series_objection(details.standing_instruction, source.account, on_file)


def select_hidden_numbers(fields: Fields) -> Mapping[str, str]:
    """Returns the account numbers of sender and recipient, which may be card numbers."""
    if fields.groups.isdisjoint(_PARTIES):
        return _NOTHING
    names = (f"{party}.accountNumber" for party in sorted(_PARTIES))
    return {name: fields.values[name] for name in names if name in fields.values}


def choose_merchant_name(values: Mapping[str, str], channel: Channel) -> str:
    """Returns the name that a payment gives its merchant, or else that of the channel."""
    return values.get("merchant.name") or channel.name


def recall_order(
    payment: Payment, account: Instrument, channel: Channel, hidden: Mapping[str, str] = _NOTHING
) -> Order:
    """Rebuilds the order from its stored payment, to continue when the shopper has come back.

    Values that may be used only once are not stored with it; the caller puts them into the account.
    """
    values = {**payment.echo, **hidden}
    fields = Fields(values, frozenset(map(first_word, values)), values)
    return Order(
        payment_type=payment.payment_type,
        money=payment.money,
        brand=payment.brand,
        method=payment.method,
        account=account,
        card_summary=payment.card,
        network=find_network(BRANDS[payment.brand], render_card_prefix(payment.card), None),
        statement=values.get("merchant.name") or payment.descriptor,
        merchant_name=choose_merchant_name(values, channel),
        descriptor=payment.descriptor,
        short_id=payment.short_id,
        processing_code=read_processing_code(values),
        test_mode=payment.test_mode,
        merchant_transaction_id=payment.merchant_transaction_id,
        checkout_id=payment.checkout_id,
        registration_id=payment.registration_id,
        return_url=payment.return_url,
        authentication=read_authentication_request(fields, payment.payment_type, account),
        details=read_details(fields),
        simulator_overrides={} if payment.test_mode is None else read_simulator_overrides(values),
        echo=payment.echo,
        hidden=hidden,
    )


def find_window(echo: Mapping[str, str]) -> str | None:
    return echo.get("customer.browser.challengeWindow")


def find_return_url(values: Mapping[str, str]) -> str | None:
    """Returns the address that the merchant named for the shopper to come back to."""
    return values.get("shopperResultUrl")


def get_shop_origin(echo: Mapping[str, str]) -> str:
    """Returns the origin of the page with the payment form; it is empty where there was none."""
    return echo.get("shopOrigin", "")


def check_terms(brand: Brand, values: Mapping[str, str], currency: str | None) -> None:
    """Refuses a currency or a country that the brand does not take."""
    obstacle = find_obstacle(brand, values, currency)
    if obstacle is not None:
        raise Refusal(get_result(codes.CURRENCY_NOT_CONFIGURED), obstacle)


def check_fit(brand: Brand, payment_type: str, values: Mapping[str, str], channel: Channel, money: Money) -> None:
    """Refuses a type, a currency or a country that the brand does not take on this channel."""
    if payment_type == AUTHENTICATION:
        if brand.protocol is not Protocol.CARD:
            raise Refusal(get_result(codes.TYPE_NOT_SUPPORTED), f"{brand.code} has no authentication of its own")
        return
    if payment_type not in brand.list_payment_types(lenient=channel.is_lenient):
        raise Refusal(get_result(codes.TYPE_NOT_SUPPORTED), f"{brand.code} does not take paymentType {payment_type}")
    if brand.account is _CARD:
        return
    check_terms(brand, values, money.currency)
    if brand.protocol is Protocol.SEPA and channel.creditor is None:
        raise Refusal(get_result(codes.NO_CONTRACT), "the channel has no creditor for direct debits")


def _check_source(source: Source, payment_type: str, values: Mapping[str, str], channel: Channel, money: Money) -> None:
    # The echo has the country of a stored account too.
    check_fit(source.brand, payment_type, source.echo, channel, money)
    if source.brand.needs_return and payment_type != AUTHENTICATION and "shopperResultUrl" not in values:
        raise make_invalid(Fault("shopperResultUrl", "may not be empty"))


def read_processing_code(values: Mapping[str, str]) -> ProcessingCode:
    code = values.get("transactionProcessingCode")
    return _PURCHASE if code is None else ProcessingCode(code)


def read_test_mode(text: str | None, is_live: bool) -> TestMode | None:
    """Returns None where no mode was sent."""
    if text is None:
        return None
    if is_live:
        raise Refusal(get_result(codes.TEST_MODE_ON_LIVE_HOST))
    return _TEST_MODES[text]


def make_descriptor(sent: str | None, short_id: str, channel: Channel) -> str:
    return sent or f"{short_id} {channel.name}"[:_DESCRIPTOR_MAX]
