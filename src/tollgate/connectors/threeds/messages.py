"""The messages of EMV 3-D Secure 2: the names and lengths of their members. What an answer means is not known here."""

import base64
import binascii
from typing import Annotated, TypeVar

import msgspec

from tollgate.connectors import exchange

RANGES = "/3ds/preq"
AUTHENTICATIONS = "/3ds/areq"

VERSIONS = ("2.2.0", "2.1.0")
"""The versions that are supported, the newest first."""

_ACRONYMS = {"ds": "DS", "id": "ID", "url": "URL", "bin": "BIN", "tz": "TZ", "ip": "IP", "ri": "RI"}


def spell(member: str) -> str:
    """Turns `three_ds_server_trans_id` into `threeDSServerTransID`; the first word is always written small."""
    first, *others = member.split("_")
    return first + "".join(_ACRONYMS.get(word, word.capitalize()) for word in others)


_Uuid = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")]
_Version = Annotated[str, msgspec.Meta(pattern=r"\A[0-9](\.[0-9]{1,2}){1,2}\Z")]
_Number = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{13,19}\Z")]
_TwoDigits = Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{2}\Z")]
_Indicator = Annotated[str, msgspec.Meta(pattern=r"\A[0-9A-Z]{2}\Z")]
_Letter = Annotated[str, msgspec.Meta(pattern=r"\A[A-Z]\Z")]
_Base64 = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9+/]{1,62}={0,2}\Z")]
_Address = Annotated[str, msgspec.Meta(pattern=r"\Ahttps?://[\x21-\x7e]{1,2040}\Z")]
"""The web address of a page or a server, and no script."""
_Text = Annotated[str, msgspec.Meta(max_length=128)]
_LongText = Annotated[str, msgspec.Meta(max_length=2048)]

RANGES_MAX = 100_000


class Part(msgspec.Struct, frozen=True, omit_defaults=True, rename=spell):
    """A structure inside of messages."""


class Message(Part, frozen=True, tag=True, tag_field="messageType"):
    """A whole message, which says of which type it is."""


class Erro(Message, frozen=True, kw_only=True):
    message_version: _Text = ""
    error_code: _Text
    error_component: _Text = ""
    """C app, S 3DS server, D directory server, A issuer"""
    error_description: _LongText = ""
    error_detail: _LongText = ""
    error_message_type: _Text = ""
    three_ds_server_trans_id: _Text | None = None
    ds_trans_id: _Text | None = None
    acs_trans_id: _Text | None = None


class PReq(Message, frozen=True, kw_only=True):
    message_version: str
    three_ds_server_ref_number: str
    three_ds_server_trans_id: str


class Range(Part, frozen=True, kw_only=True):
    start_range: _Number
    end_range: _Number
    acs_start_protocol_version: _Version
    acs_end_protocol_version: _Version
    three_ds_method_url: _Address | None = None


class PRes(Message, frozen=True, kw_only=True):
    message_version: _Version
    three_ds_server_trans_id: _Uuid
    ds_trans_id: _Uuid | None = None
    serial_num: _Text | None = None
    card_range_data: Annotated[tuple[Range, ...], msgspec.Meta(max_length=RANGES_MAX)] = ()


class Phone(Part, frozen=True, kw_only=True):
    cc: str
    subscriber: str


class AReq(Message, frozen=True, kw_only=True):
    """Members without a default are required of every request; the others depend on where the shopper is."""

    message_version: str
    message_category: str
    """01 payment, 02 no payment"""
    device_channel: str
    """01 app, 02 browser, 03 without the shopper"""
    three_ds_server_trans_id: str
    three_ds_server_ref_number: str
    three_ds_server_url: str
    three_ds_requestor_id: str
    three_ds_requestor_name: str
    three_ds_requestor_url: str
    three_ds_requestor_authentication_ind: str | None = None
    three_ds_requestor_challenge_ind: str | None = None
    three_ds_requestor_dec_req_ind: str | None = None
    three_ds_requestor_dec_max_time: str | None = None
    three_ri_ind: str | None = None
    three_ds_comp_ind: str | None = None
    notification_url: str | None = None

    acquirer_bin: str | None = None
    acquirer_merchant_id: str | None = None
    merchant_name: str | None = None
    merchant_country_code: str | None = None
    mcc: str | None = None

    acct_number: str
    card_expiry_date: str | None = None
    cardholder_name: str | None = None
    acct_id: str | None = None
    email: str | None = None
    home_phone: Phone | None = None
    mobile_phone: Phone | None = None

    purchase_amount: str | None = None
    purchase_currency: str | None = None
    purchase_exponent: str | None = None
    purchase_date: str | None = None
    purchase_instal_data: str | None = None
    recurring_expiry: str | None = None
    recurring_frequency: str | None = None

    browser_accept_header: str | None = None
    browser_ip: str | None = None
    browser_java_enabled: bool | None = None
    browser_javascript_enabled: bool | None = None
    browser_language: str | None = None
    browser_color_depth: str | None = None
    browser_screen_height: str | None = None
    browser_screen_width: str | None = None
    browser_tz: str | None = None
    browser_user_agent: str | None = None

    bill_addr_line1: str | None = None
    bill_addr_line2: str | None = None
    bill_addr_city: str | None = None
    bill_addr_post_code: str | None = None
    bill_addr_state: str | None = None
    bill_addr_country: str | None = None
    ship_addr_line1: str | None = None
    ship_addr_line2: str | None = None
    ship_addr_city: str | None = None
    ship_addr_post_code: str | None = None
    ship_addr_state: str | None = None
    ship_addr_country: str | None = None

    device_render_options: object = None
    sdk_app_id: str | None = None
    sdk_enc_data: str | None = None
    sdk_ephem_pub_key: object = None
    sdk_max_timeout: str | None = None
    sdk_reference_number: str | None = None
    sdk_trans_id: str | None = None


class ARes(Message, frozen=True, kw_only=True):
    message_version: _Version
    three_ds_server_trans_id: _Uuid
    ds_trans_id: _Uuid
    acs_trans_id: _Uuid
    trans_status: _Letter
    trans_status_reason: _TwoDigits | None = None
    eci: _Indicator | None = None
    authentication_value: _Base64 | None = None
    acs_url: _Address | None = None
    acs_challenge_mandated: _Letter | None = None
    acs_reference_number: _Text | None = None
    acs_operator_id: _Text | None = None
    acs_dec_con_ind: _Letter | None = None
    authentication_type: _TwoDigits | None = None
    cardholder_info: _Text | None = None
    ds_reference_number: _Text | None = None


class CReq(Message, frozen=True, kw_only=True):
    message_version: str
    three_ds_server_trans_id: str
    acs_trans_id: str
    challenge_window_size: str


class CRes(Message, frozen=True, kw_only=True):
    message_version: _Version
    three_ds_server_trans_id: _Uuid
    acs_trans_id: _Uuid
    trans_status: _Letter


class RReq(Message, frozen=True, kw_only=True):
    message_version: _Version
    message_category: _TwoDigits
    three_ds_server_trans_id: _Uuid
    ds_trans_id: _Uuid
    acs_trans_id: _Uuid
    trans_status: _Letter
    trans_status_reason: _TwoDigits | None = None
    eci: _Indicator | None = None
    authentication_value: _Base64 | None = None
    authentication_type: _TwoDigits | None = None
    challenge_cancel: _TwoDigits | None = None
    interaction_counter: _TwoDigits | None = None


class RRes(Message, frozen=True, kw_only=True):
    message_version: str
    three_ds_server_trans_id: str
    ds_trans_id: str
    acs_trans_id: str
    results_status: str
    """01 received"""


class MethodFrame(Part, frozen=True, kw_only=True):
    """The hidden frame posts it to the issuer, and the issuer posts it back."""

    three_ds_server_trans_id: _Text
    three_ds_method_notification_url: _LongText | None = None


class _Named(Part, frozen=True):
    """The type that every message must name; the decoder alone would also take one without."""

    message_type: _Text


_Read = TypeVar("_Read", bound=Part)


def read_message(body: bytes, kind: type[_Read]) -> _Read | None:
    """Returns None for whatever is not this very message: an error message, another one, half of one, or none."""
    try:
        # The decoder does not check the bytes of unknown names.
        text = body.decode()
    except UnicodeDecodeError:
        return None
    if issubclass(kind, Message) and exchange.read_message(text, _Named) is None:
        return None
    return exchange.read_message(text, kind)


def wrap(message: Part) -> str:
    """Encodes a message for a form field of the shopper's browser: base64url without padding."""
    return base64.urlsafe_b64encode(exchange.encode_message(message)).decode().rstrip("=")


def unwrap(text: str, kind: type[_Read]) -> _Read | None:
    bare = text.rstrip("=")
    try:
        return read_message(base64.b64decode(bare + "=" * (-len(bare) % 4), b"-_", validate=True), kind)
    except (binascii.Error, ValueError):
        return None
