"""Masks messages between the gateway and its partners, so that they can be kept and shown.

Which members are hidden is a table; a value that looks like a card number or an IBAN is hidden wherever it stands.
"""

import re
from typing import Any

import orjson

from tollgate.catalog import card_numbers, ibans
from tollgate.values import is_id

MASK = "***"
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
        "cvv",
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
        "shipping",
        "sender",
        "recipient",
        "cardholderName",
        "email",
        "homePhone",
        "mobilePhone",
        "browserIP",
        *(f"{kind}Addr{part}" for kind in ("bill", "ship") for part in ("Line1", "Line2", "City", "PostCode")),
    }
)
"""The members that name a person, hidden with all that is in them: a message may be written after an erasure."""

_IBAN_LIKE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?: ?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")


def mask_members(body: bytes) -> Any:
    """Returns the value of a JSON text with hidden members; a body that is no JSON is not shown at all."""
    try:
        return _mask(orjson.loads(body))
    except orjson.JSONDecodeError:
        return _NO_JSON if body else None


def _mask(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: MASK if _is_hidden(name, member) else _mask(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_mask(member) for member in value]
    return value


def _is_hidden(name: str, member: Any) -> bool:
    return name in PERSONAL_MEMBERS or (name in HIDDEN_MEMBERS and not isinstance(member, dict | list))


def mask_text(text: str) -> str:
    """Hides what looks like the number of a card or a bank account, whatever it is called."""
    return card_numbers.hide_card_numbers(_IBAN_LIKE.sub(_hide_iban, text))


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
