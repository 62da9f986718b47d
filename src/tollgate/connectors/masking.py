"""Masks messages between the gateway and its partners, so that they can be kept and shown.

Which members are hidden is a table, and in the details of a payment the secrecy of their parameters; a value that looks
like a card number or an IBAN is hidden wherever it stands.
"""

import re
from typing import Any
from urllib.parse import parse_qsl

import orjson

from tollgate.catalog import card_numbers, ibans
from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.parameters.row import Secrecy
from tollgate.connectors.exchange import FORM, JSON
from tollgate.connectors.iso8583 import transcript
from tollgate.values import MASK, is_id

_LARGE = 10 ** (card_numbers.CARD_NUMBER_MIN - 1)
_NO_JSON = {"hidden": "the body is not JSON"}

HIDDEN_MEMBERS = frozenset(
    {
        # Accounts: numbers of cards, tokens and banks, and what proves that somebody has them.
        "number",
        "account_number",
        "acctNumber",
        "acctID",
        "iban",
        "account_id",
        "fingerprint",
        "cvv",
        "cvc",
        "cryptogram",
        "dtvc",
        "cavv",
        "verification_id",
        "xid",
        "authenticationValue",
        "barcode",
        # Addresses that end with a key, or that lead into the session of a shopper.
        "back_url",
        "url",
        "value",
        "events_url",
        "notificationURL",
        "threeDSServerURL",
        "threeDSMethodNotificationURL",
        # What an app encrypted for the directory server.
        "sdkEncData",
        # Credentials, which no protocol here has and a partner may answer.
        "token",
        "password",
        "secret",
        "client_secret",
        "access_token",
        "authorization",
    }
)
"""The members of messages whose values are secret. Objects and lists are looked into."""

PERSONAL_MEMBERS = frozenset(
    {
        "holder",
        "customer",
        "billing",
        "billing_details",
        "shipping",
        "sender",
        "recipient",
        "merchantCustomerId",
        "cardholderName",
        "email",
        "homePhone",
        "mobilePhone",
        "browserIP",
        *(f"{kind}Addr{part}" for kind in ("bill", "ship") for part in ("Line1", "Line2", "City", "PostCode")),
    }
)
"""The members that name a person, hidden with all that is in them: a message may be written after an erasure."""

_JUDGED = HIDDEN_MEMBERS | PERSONAL_MEMBERS | {"details"}

_BRACKETS = re.compile(r"\[[a-z]+\]")
_Path = tuple[str, ...]


def _list_shown_paths() -> frozenset[_Path]:
    return frozenset(
        tuple(_BRACKETS.sub("", row.to[connector]).split("."))
        for row in PARAMETERS.values()
        for connector in (ConnectorName.JSON, ConnectorName.REDIRECT)
        if row.secrecy is Secrecy.OPEN and connector in row.to
    )


_SHOWN_PATHS = _list_shown_paths()
_BRANCHES = frozenset(path[:length] for path in _SHOWN_PATHS for length in range(len(path)))
"""The paths in `details`, without indices, that lead to a value that may be shown. All others are hidden."""

_IBAN_LIKE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?: ?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")
_SUSPECT = re.compile(
    rf'[0-9](?:[^A-Za-z"]{{{card_numbers.CARD_NUMBER_MIN - 1}}}'
    r"|(?<=[^A-Za-z0-9][A-Za-z]{2}[0-9])[0-9](?: ?[A-Za-z0-9]){11})"
)
"""Finds every place in a JSON text where a card number or an IBAN can begin, and few others.

The text is ASCII and has no escapes, so that a quotation mark always begins or ends a string.
"""


def mask_members(body: bytes, content_type: str = JSON) -> Any:
    """Returns the value of a JSON text or a form with hidden members, or the transcript of a message of ISO 8583.

    Any other body is not shown at all.
    """
    if content_type == transcript.CONTENT_TYPE and body:
        return transcript.describe(body)
    if content_type == FORM:
        return _mask_form(body)
    try:
        return _mask(orjson.loads(body))
    except orjson.JSONDecodeError:
        return _NO_JSON if body else None


def _mask_form(body: bytes) -> dict[str, str]:
    """Names such as `card[number]` are paths, of which each word counts as a member."""
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: MASK if _has_hidden_word(name) else value for name, value in pairs}


def _has_hidden_word(name: str) -> bool:
    words = name.replace("]", "").split("[")
    return words[-1] in HIDDEN_MEMBERS or not PERSONAL_MEMBERS.isdisjoint(words)


def _mask(value: Any) -> Any:
    """Hides members in place: the value was parsed for this, and has nothing but what JSON has."""
    if type(value) is dict:
        for name, member in value.items():
            if name in _JUDGED:
                value[name] = _mask_member(name, member)
            elif type(member) is dict or type(member) is list:
                _mask(member)
    elif type(value) is list:
        for member in value:
            _mask(member)
    return value


def _mask_member(name: str, member: Any) -> Any:
    if _is_hidden(name, member):
        return MASK
    return _mask_details(member, ()) if name == "details" else _mask(member)


def _mask_details(value: Any, path: _Path) -> Any:
    """Shows the values of parameters that may be logged; a member that has no row is hidden."""
    if isinstance(value, list):
        return [_mask_details(member, path) for member in value]
    if path in _SHOWN_PATHS:
        return value
    if not isinstance(value, dict) or path not in _BRANCHES:
        return MASK
    return {
        name: MASK if _is_hidden(name, member) else _mask_details(member, (*path, name))
        for name, member in value.items()
    }


def _is_hidden(name: str, member: Any) -> bool:
    return name in PERSONAL_MEMBERS or (name in HIDDEN_MEMBERS and not isinstance(member, dict | list))


def mask_text(text: str) -> str:
    """Hides what looks like the number of a card or a bank account, whatever it is called."""
    return card_numbers.hide_card_numbers(_IBAN_LIKE.sub(_hide_iban, text))


def mask_numbers(text: str) -> str:
    """Does what `mask_values` does in a compact JSON text; most texts are not even parsed for it."""
    return orjson.dumps(mask_values(orjson.loads(text))).decode() if _has_number(text) else text


def _has_number(text: str) -> bool:
    """Tells whether `mask_values` may change something in a JSON text."""
    # A large number may be written as 1e+16.
    if not text.isascii() or "\\" in text or "e+" in text:
        return True
    end = 0
    while match := _SUSPECT.search(text, end):
        before, end = text.rfind('"', 0, match.start()), text.find('"', match.end())
        part = text[before + 1 : end]
        # A string may begin like what stands between two strings, but hardly any does.
        if before < 0 or part[0] in ":,]}" or mask_values(part) != part:
            return True
    return False


def mask_values(value: Any) -> Any:
    """Hides such numbers in a value as JSON has it, whatever they are called; most texts are too short for one."""
    if isinstance(value, str):
        return value if len(value) < card_numbers.CARD_NUMBER_MIN or is_id(value) else mask_text(value)
    if isinstance(value, dict):
        return {mask_values(name): mask_values(member) for name, member in value.items()}
    if isinstance(value, list):
        return [mask_values(member) for member in value]
    if isinstance(value, int | float) and abs(value) >= _LARGE:
        return mask_text(str(value))
    return value


def _hide_iban(match: re.Match[str]) -> str:
    return MASK if ibans.is_iban(match[0].replace(" ", "").upper()) else match[0]
