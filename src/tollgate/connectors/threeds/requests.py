"""Authentication requests: an order as a message of EMV 3-D Secure. Values that do not fit a field are left out.

Whether an authentication happens is decided elsewhere.
"""

import base64
import binascii
import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tollgate.catalog.brands import BRANDS
from tollgate.catalog.countries import COUNTRIES
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.shape import is_true
from tollgate.connectors.acquiring import to_minor_units
from tollgate.connectors.threeds.messages import AReq, Phone
from tollgate.payments.accounts import CardAccount
from tollgate.payments.authentication import AuthenticationCase, AuthenticationRequest, Browser
from tollgate.payments.merchants import ThreeDsTerms
from tollgate.payments.order import Address, Customer, Order
from tollgate.values import MINUTE, Instant, Money, read_hundredths, to_datetime

COUNTRY_NUMBERS = {code: country.numeric for country in COUNTRIES.values() for code in (country.alpha2, country.alpha3)}

_WEB_ADDRESS = re.compile(r"https?://[\x21-\x7e]{1,2040}")


def _cut(length: int) -> Callable[[str], str | None]:
    return lambda text: text[:length]


# The parameter (a star is the scheme), the member of the request, and the function that writes it.
_ROWS: tuple[tuple[str, str, Callable[[str], str | None]], ...] = (
    ("threeDSecure.merchant.name", "merchant_name", _cut(40)),
    ("threeDSecure.merchant.country", "merchant_country_code", COUNTRY_NUMBERS.get),
    ("threeDSecure.v2.*.requestorId", "three_ds_requestor_id", _cut(35)),
    ("threeDSecure.v2.*.requestorName", "three_ds_requestor_name", _cut(40)),
)


def read_requests(order: Order) -> dict[str, str]:
    """Returns the members of the request that the merchant chose."""
    scheme = BRANDS[order.network or order.brand].scheme
    chosen = ((member, order.echo.get(name.replace("*", scheme)), write) for name, member, write in _ROWS)
    return {member: text for member, sent, write in chosen if sent and (text := write(sent))}


def find_shop_url(order: Order) -> str | None:
    """Finds the address of the shop; shops often leave out the scheme, or write something that is no address."""
    acceptor = order.details.acceptor
    sent = order.echo.get("threeDSecure.merchant.url") or (acceptor and acceptor.url) or ""
    whole = sent if "://" in sent else f"https://{sent}"
    return whole if _WEB_ADDRESS.fullmatch(whole) else None


def find_indicator(order: Order) -> str | None:
    """Finds the reason for the authentication that the merchant sent."""
    indicator = order.echo.get("threeDSecure.authenticationInd")
    return None if indicator is None else indicator.zfill(2)


def get_money(order: Order) -> Money:
    """Returns the amount that the shopper is shown, which may differ from the amount of the payment."""
    amount = order.echo.get("threeDSecure.amount")
    currency = order.echo.get("threeDSecure.currency", order.money.currency)
    if amount is None or currency not in CURRENCIES:
        return order.money
    shown = Money(read_hundredths(amount), currency)
    try:
        to_minor_units(shown)
    except ValueError:
        return order.money
    return shown


SERVER_REFERENCE = "TOLLGATE_020200"
"""The name of this 3DS server in every message; a scheme that certifies an installation assigns another."""

_UNREGISTERED = "UNREGISTERED"
"""The value where the channel has none yet: a directory server refuses it more clearly than an empty field."""

_APP, _BROWSER, _NOBODY = "01", "02", "03"
_PAYMENT, _NO_PAYMENT = "01", "02"

# The reasons of authentications without the shopper.
_REASONS = {"RECURRING": "01", "INSTALLMENT": "02", "SPLIT_SHIPMENT": "06", "DELAYED_SHIPMENT": "06"}
_OTHER_REASON = "11"

_PAYS, _PAYS_OFTEN, _PAYS_PARTS, _ADDS_CARD = "01", "02", "03", "04"

_SINCE_2_2 = ("browser_javascript_enabled", "three_ds_requestor_dec_req_ind", "three_ds_requestor_dec_max_time")
"""The older version does not have these members."""

_COLOR_DEPTHS = (48, 32, 24, 16, 15, 8, 4, 1)
_PHONE = re.compile(r"\+([0-9]{1,3})[ .()/-]+([0-9 .()/-]+)")
_SEPARATORS = re.compile(r"[ .()/-]")

_Members = dict[str, Any]
"""Members of the request by name."""

NO_REQUEST = AuthenticationRequest()


_ABSENT = msgspec.Raw()


class _Device(msgspec.Struct, frozen=True, kw_only=True):
    """The data of the SDK inside an app, as merchants send it; a bare text is its encrypted part."""

    render_options: msgspec.Raw = msgspec.field(name="deviceRenderOptions", default=_ABSENT)
    app_id: str | None = msgspec.field(name="sdkAppID", default=None)
    enc_data: str | None = msgspec.field(name="sdkEncData", default=None)
    ephem_pub_key: msgspec.Raw = msgspec.field(name="sdkEphemPubKey", default=_ABSENT)
    max_timeout: str | None = msgspec.field(name="sdkMaxTimeout", default=None)
    reference_number: str | None = msgspec.field(name="sdkReferenceNumber", default=None)
    trans_id: str | None = msgspec.field(name="sdkTransID", default=None)


def compose(
    order: Order,
    account: CardAccount,
    case: AuthenticationCase,
    *,
    terms: ThreeDsTerms,
    browser: Browser | None,
    method_done: str,
    now: Instant,
    notification_url: str,
    results_url: str,
) -> AReq:
    asked = order.authentication or NO_REQUEST
    named_url = find_shop_url(order) or terms.requestor_url
    requestor_url = named_url or _find_origin(order.return_url or "") or _find_origin(results_url)
    request = AReq(
        message_version=case.version,
        message_category=choose_category(order),
        device_channel=choose_channel(asked),
        three_ds_server_trans_id=case.server_id,
        three_ds_server_ref_number=terms.server_reference or SERVER_REFERENCE,
        three_ds_server_url=results_url,
        three_ds_requestor_id=terms.requestor_id or _UNREGISTERED,
        three_ds_requestor_name=(terms.requestor_name or order.statement or _UNREGISTERED)[:40],
        three_ds_requestor_url=requestor_url or results_url,
        three_ds_requestor_challenge_ind=asked.challenge_indicator and asked.challenge_indicator.zfill(2),
        acct_number=account.number.reveal(),
        card_expiry_date=account.expiry_year[-2:] + account.expiry_month,
        cardholder_name=_fit(account.holder, 2, 45),
        **_describe_shop(order, terms),
        **_describe_purchase(order, now),
        **_describe_intent(order, asked),
        **_describe_customer(order.details.customer),
        **_describe_address("bill", order.details.billing),
        **_describe_address("ship", order.details.shipping),
    )
    seen: _Members = {}
    if request.device_channel == _APP:
        seen = _describe_device(asked.device or "")
    elif request.device_channel == _BROWSER:
        came = {"three_ds_comp_ind": method_done, "notification_url": notification_url}
        seen = came | _describe_browser(browser, order.details.customer)
    unsaid = dict.fromkeys(_SINCE_2_2) if case.version == "2.1.0" else {}
    return msgspec.structs.replace(request, **seen | read_requests(order) | unsaid)


def choose_channel(request: AuthenticationRequest) -> str:
    if request.requestor_reason is not None:
        return _NOBODY
    return _APP if request.device is not None else _BROWSER


def choose_category(order: Order) -> str:
    is_payment = order.money.hundredths and not is_true(order.echo.get("threeDSecure.npa", ""))
    return _PAYMENT if is_payment else _NO_PAYMENT


def _describe_shop(order: Order, terms: ThreeDsTerms) -> _Members:
    acceptor = order.details.acceptor
    country = (acceptor and (acceptor.country_code or acceptor.country)) or terms.country
    name = (acceptor and acceptor.name) or order.merchant_name or order.statement or terms.requestor_name
    return {
        "acquirer_bin": terms.acquirer_bin,
        "acquirer_merchant_id": terms.acquirer_merchant_id or _UNREGISTERED,
        "merchant_name": name[:40] or None,
        "merchant_country_code": COUNTRY_NUMBERS.get(country),
        "mcc": (acceptor and acceptor.mcc) or terms.mcc or None,
    }


def _describe_purchase(order: Order, now: Instant) -> _Members:
    if choose_category(order) == _NO_PAYMENT:
        return {}
    money = get_money(order)
    currency = CURRENCIES[money.currency]
    return {
        "purchase_amount": str(to_minor_units(money)),
        "purchase_currency": currency.numeric,
        "purchase_exponent": str(currency.exponent),
        "purchase_date": to_datetime(now).strftime("%Y%m%d%H%M%S"),
    }


def _describe_intent(order: Order, request: AuthenticationRequest) -> _Members:
    """Describes the reason (this payment, a series, or storing the card) and whether it may be decoupled."""
    intent: _Members = {}
    if request.is_decoupled:
        minutes = LIMITS.challenge_lifetime // MINUTE
        intent |= {"three_ds_requestor_dec_req_ind": "Y", "three_ds_requestor_dec_max_time": f"{minutes:05d}"}
    if request.requestor_reason is not None:
        return intent | {"three_ri_ind": _REASONS.get(request.requestor_reason, _OTHER_REASON)}
    if choose_category(order) == _NO_PAYMENT:
        return intent | {"three_ds_requestor_authentication_ind": find_indicator(order) or _ADDS_CARD}
    standing = order.details.standing_instruction
    if standing is None or standing.expiry is None or standing.frequency is None:
        return intent | {"three_ds_requestor_authentication_ind": find_indicator(order) or _PAYS}
    parts = standing.number_of_installments
    return intent | {
        "three_ds_requestor_authentication_ind": _PAYS_PARTS if parts else _PAYS_OFTEN,
        "purchase_instal_data": parts and parts[-3:],
        "recurring_expiry": standing.expiry.strftime("%Y%m%d"),
        "recurring_frequency": standing.frequency,
    }


def _describe_customer(customer: Customer | None) -> _Members:
    if customer is None:
        return {}
    return {
        "acct_id": _fit(customer.merchant_customer_id, 1, 64),
        "email": _fit(customer.email, 1, 254),
        "home_phone": _read_phone(customer.phone),
        "mobile_phone": _read_phone(customer.mobile),
    }


def _describe_address(prefix: str, address: Address | None) -> _Members:
    if address is None:
        return {}
    country = COUNTRY_NUMBERS.get(address.country or "")
    line1 = " ".join(part for part in (address.street1, address.house_number1) if part)
    line2 = " ".join(part for part in (address.street2, address.house_number2) if part)
    members = {
        "line1": line1[:50] or None,
        "line2": line2[:50] or None,
        "city": (address.city or "")[:50] or None,
        "post_code": _fit(address.postcode, 1, 16),
        # The protocol takes only the short code of a state, and only beside its country.
        "state": _fit(address.state, 1, 3) if country else None,
        "country": country,
    }
    return {f"{prefix}_addr_{name}": value for name, value in members.items()}


def _describe_browser(browser: Browser | None, customer: Customer | None) -> _Members:
    if browser is None:
        return {}
    address = browser.ip or (None if customer is None else customer.ip) or ""
    runs_scripts = browser.javascript_enabled != "false"
    return {
        "browser_accept_header": browser.accept_header,
        "browser_ip": address if _is_ip_address(address) else None,
        "browser_java_enabled": None if browser.java_enabled is None else browser.java_enabled == "true",
        "browser_javascript_enabled": runs_scripts,
        "browser_language": browser.language and browser.language[:8],
        "browser_color_depth": _round_color_depth(browser.screen_color_depth) if runs_scripts else None,
        "browser_screen_height": browser.screen_height,
        "browser_screen_width": browser.screen_width,
        "browser_tz": browser.timezone,
        "browser_user_agent": browser.user_agent,
    }


def _describe_device(text: str) -> _Members:
    device = _read_device(text)
    return {
        "device_render_options": _find_written(device.render_options),
        "sdk_app_id": device.app_id,
        "sdk_enc_data": device.enc_data,
        "sdk_ephem_pub_key": _find_written(device.ephem_pub_key),
        "sdk_max_timeout": device.max_timeout,
        "sdk_reference_number": device.reference_number,
        "sdk_trans_id": device.trans_id,
    }


def _read_device(text: str) -> _Device:
    for written in (text.encode(), _decode_base64(text)):
        try:
            return msgspec.json.decode(written, type=_Device)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    return _Device(enc_data=text)


def _find_written(part: msgspec.Raw) -> msgspec.Raw | None:
    return part if bytes(part) else None


def _decode_base64(text: str) -> bytes:
    bare = text.rstrip("=")
    try:
        return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    except (binascii.Error, ValueError):
        return b""


def _round_color_depth(depth: str | None) -> str:
    """Rounds down to one of the eight depths of the protocol; a browser that sends none has 24."""
    bits = int(depth) if depth and depth.isascii() and depth.isdigit() else 24
    return str(next((known for known in _COLOR_DEPTHS if known <= bits), 1))


def _read_phone(phone: str | None) -> Phone | None:
    """Reads a number whose country code is set apart; others could only be guessed."""
    match = _PHONE.fullmatch(phone or "")
    if match is None:
        return None
    subscriber = _SEPARATORS.sub("", match[2])
    return Phone(cc=match[1], subscriber=subscriber[:15]) if subscriber else None


def _is_ip_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _find_origin(url: str) -> str | None:
    """Returns the origin of an address, without the order in its path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    is_spellable = parts.netloc.isascii() and parts.netloc.isprintable() and " " not in parts.netloc
    is_web = parts.scheme in ("http", "https") and parts.netloc and is_spellable
    return f"{parts.scheme}://{parts.netloc}" if is_web else None


def _fit(text: str | None, length_min: int, length_max: int) -> str | None:
    return text if text and length_min <= len(text) <= length_max else None
