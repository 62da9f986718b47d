"""Which elements an authentication request must have, and how each is written: one row each, as the schemes have it.

What is answered to a good request is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

_BROWSER = ("02",)
_APP = ("01",)
_PRESENT = ("01", "02")
_ALWAYS = ("01", "02", "03")
_NEVER = ()

_UUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_URL = r"https?://[\x21-\x7e]{1,2040}"
_SIZE = r"[0-9]{1,6}"


class Element(msgspec.Struct, frozen=True):
    name: str
    pattern: str
    channels: tuple[str, ...] = _NEVER
    """The channels in which it is mandatory: 01 app, 02 browser, 03 without the shopper."""
    is_for_payments: bool = False
    """Mandatory only where money is asked for."""


# A merchant's country and category are known to the directory from its enrolment, so they are no duty here.
ELEMENTS = (
    Element("messageType", "AReq", _ALWAYS),
    Element("messageVersion", r"2\.[12]\.0", _ALWAYS),
    Element("messageCategory", "01|02", _ALWAYS),
    Element("deviceChannel", "01|02|03", _ALWAYS),
    Element("threeDSServerTransID", _UUID, _ALWAYS),
    Element("threeDSServerRefNumber", ".{1,32}", _ALWAYS),
    Element("threeDSServerURL", _URL, _ALWAYS),
    Element("threeDSRequestorID", ".{1,35}", _ALWAYS),
    Element("threeDSRequestorName", ".{1,40}", _ALWAYS),
    Element("threeDSRequestorURL", _URL, _ALWAYS),
    Element("threeDSRequestorAuthenticationInd", "0[1-9]", _PRESENT),
    Element("threeDSRequestorChallengeInd", "0[1-9]"),
    Element("threeDSRequestorDecReqInd", "[YN]"),
    Element("threeDSRequestorDecMaxTime", "[0-9]{5}"),
    Element("threeRIInd", "0[1-9]|1[01]", ("03",)),
    Element("threeDSCompInd", "[YNU]", _BROWSER),
    Element("notificationURL", _URL, _BROWSER),
    Element("acquirerBIN", "[0-9]{1,11}", _ALWAYS, is_for_payments=True),
    Element("acquirerMerchantID", ".{1,35}", _ALWAYS, is_for_payments=True),
    Element("merchantName", ".{1,40}", _ALWAYS, is_for_payments=True),
    Element("merchantCountryCode", "[0-9]{3}"),
    Element("mcc", "[0-9]{4}"),
    Element("acctNumber", "[0-9]{13,19}", _ALWAYS),
    Element("cardExpiryDate", "[0-9]{2}(0[1-9]|1[0-2])"),
    Element("cardholderName", ".{2,45}"),
    Element("purchaseAmount", "[0-9]{1,48}", _ALWAYS, is_for_payments=True),
    Element("purchaseCurrency", "[0-9]{3}", _ALWAYS, is_for_payments=True),
    Element("purchaseExponent", "[0-9]", _ALWAYS, is_for_payments=True),
    Element("purchaseDate", "[0-9]{14}", _ALWAYS, is_for_payments=True),
    Element("browserAcceptHeader", ".{1,2048}", _BROWSER),
    Element("browserIP", r"[0-9a-fA-F.:]{2,45}"),
    Element("browserJavascriptEnabled", "true|false", _BROWSER),
    Element("browserLanguage", ".{1,8}", _BROWSER),
    Element("browserUserAgent", ".{1,2048}", _BROWSER),
    Element("browserColorDepth", "1|4|8|15|16|24|32|48"),
    Element("browserJavaEnabled", "true|false"),
    Element("browserScreenHeight", _SIZE),
    Element("browserScreenWidth", _SIZE),
    Element("browserTZ", r"[+-]?[0-9]{1,4}"),
    Element("billAddrCountry", "[0-9]{3}"),
    Element("billAddrState", ".{1,3}"),
    Element("shipAddrCountry", "[0-9]{3}"),
    Element("shipAddrState", ".{1,3}"),
    Element("sdkEncData", ".{1,64000}", _APP),
)

SCRIPTED = ("browserColorDepth", "browserJavaEnabled", "browserScreenHeight", "browserScreenWidth", "browserTZ")
"""Mandatory in a browser that runs scripts: no other can know them."""

_PATTERNS = {element.name: re.compile(element.pattern, re.DOTALL) for element in ELEMENTS}


def find_faults(body: bytes) -> tuple[list[str], list[str]]:
    """The names of what is missing, and of what is there and wrong."""
    try:
        message = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return [], ["messageType"]
    missing = [name for name in _list_duties(message) if message.get(name) in (None, "")]
    wrong = [
        name
        for name, pattern in _PATTERNS.items()
        if message.get(name) not in (None, "") and not pattern.fullmatch(_write(message[name]))
    ]
    return missing, wrong


def _list_duties(message: Mapping[str, Any]) -> list[str]:
    channel, is_payment = message.get("deviceChannel", "02"), message.get("messageCategory", "01") == "01"
    duties = [
        element.name
        for element in ELEMENTS
        if channel in element.channels and (is_payment or not element.is_for_payments)
    ]
    runs_scripts = channel == "02" and message.get("browserJavascriptEnabled") is True
    return [*duties, *SCRIPTED] if runs_scripts else duties


def _write(value: object) -> str:
    """Yes and no are written without quotes; all else that is no text is wrong, whatever it says."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else ""
