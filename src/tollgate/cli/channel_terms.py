"""The flags of a channel: the forms of their values, and the channel with the flags that were given.

Which flags there are is declared where the channel is (`payments/merchants.py`).
"""

import re
import sys
from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import urlsplit

import click
import msgspec

from tollgate.catalog import ibans, shape
from tollgate.catalog.countries import COUNTRIES
from tollgate.config import Settings
from tollgate.hosting.readiness import PLAIN_ADDRESS, list_card_addresses
from tollgate.payments.merchants import CHANNEL_FLAGS, TERMS, Channel, ChannelFlag, Form
from tollgate.wire import may_carry_cards

_URL = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
_IDENTIFIER = re.compile("[A-Z]{2}[0-9]{2}[A-Z0-9]{3}[A-Z0-9]{1,28}")


def _is_address(value: str) -> bool:
    """Tells whether the text is a web address; an empty text removes the address of a channel."""
    try:
        has_port = urlsplit(value).port != 0
    except ValueError:
        return False
    return not value or (has_port and value.isprintable() and _URL.fullmatch(value) is not None)


def _is_creditor_id(value: str) -> bool:
    """Checks the checksum, which is that of an IBAN over all but the three characters that are the creditor's own."""
    is_formed = _IDENTIFIER.fullmatch(value) is not None
    return is_formed and int("".join(str(int(each, 36)) for each in value[7:] + value[:4])) % 97 == 1


def _join(value: str) -> str:
    return value.replace(" ", "").upper()


_ADDRESS = (str, _is_address, "a web address: it begins with https://, or with http:// for tests")
_FORMS: dict[Form, tuple[Callable[[str], str], Callable[[str], bool], str]] = {
    Form.WEB_ADDRESS: _ADDRESS,
    Form.CARD_ADDRESS: _ADDRESS,
    Form.IBAN: (_join, ibans.is_iban, "an IBAN: the country, the length or the checksum is wrong"),
    Form.BIC: (str.upper, ibans.is_bic, "a BIC: it has 8 or 11 characters with the country in the middle"),
    Form.CREDITOR_ID: (_join, _is_creditor_id, "a creditor identifier: its form or its checksum is wrong"),
    Form.CATEGORY: (
        str,
        lambda value: re.fullmatch("[0-9]{4}", value) is not None,
        "a merchant category: it has four digits",
    ),
    Form.COUNTRY: (str.upper, COUNTRIES.__contains__, "a country: it has the two letters of ISO 3166"),
}
"""The function that normalizes a value, the check, and the words for what a value is not, by form."""


def _read_value(form: Form, text: str) -> str:
    normalize, is_sound, expected = _FORMS[form]
    value = normalize(text)
    if not is_sound(value):
        raise click.BadParameter(f"not {expected}")
    return value


def _read_schemes(text: str) -> tuple[str, ...]:
    schemes = tuple(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))
    unsafe = [scheme for scheme in schemes if shape.is_unsafe_scheme(scheme) or scheme in shape.WEB_SCHEMES]
    if unsafe:
        raise click.BadParameter(f"not the scheme of an app: {', '.join(unsafe)}")
    return schemes


def _make_option(flag: ChannelFlag) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def read(_context: click.Context, _flag: click.Parameter, value: Any) -> Any:
        if value is None or flag.form in (Form.TEXT, Form.SWITCH, Form.COUNT):
            return value
        return _read_schemes(value) if flag.form is Form.SCHEMES else _read_value(flag.form, value)

    kind = click.IntRange(min=0) if flag.form is Form.COUNT else None
    return click.option(flag.names, type=kind, default=None, callback=read, help=flag.text)


def with_channel_flags(*, without: Collection[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the flags of a channel to a command, but for those of the members named."""

    def add_flags(command: Callable[..., Any]) -> Callable[..., Any]:
        for flag in reversed(CHANNEL_FLAGS):
            if flag.member not in without:
                command = _make_option(flag)(command)
        return command

    return add_flags


def refuse_plain_addresses(channel: Channel, changes: dict[str, Any], settings: Settings) -> None:
    """Stops the command where a changed address would have a live host send card data without TLS."""
    for flag, address in list_card_addresses(channel):
        if changes.get(flag.parameter) and not may_carry_cards(
            address, is_live=settings.is_live, allows_plain_loopback=settings.allow_plain_loopback
        ):
            raise click.UsageError(f"{flag.name}: {PLAIN_ADDRESS}")


def merge_flags(channel: Channel, changes: dict[str, Any]) -> Channel:
    """Returns the channel with these changes; of the settings that belong together, those not given stay."""
    groups: dict[str, dict[str, Any]] = {}
    for flag in CHANNEL_FLAGS:
        if flag.parameter in changes:
            groups.setdefault(flag.group, {})[flag.member] = changes[flag.parameter]
    members = groups.pop("", {})
    return msgspec.structs.replace(
        channel, **members | {group: _merge_terms(channel, group, terms) for group, terms in groups.items()}
    )


def _merge_terms(channel: Channel, group: str, changes: dict[str, Any]) -> Any:
    known = getattr(channel, group)
    merged = (msgspec.structs.asdict(known) if known else {}) | changes
    if "iban" in changes and "bic" not in changes:
        # The bank that was known belongs to the account that was.
        merged["bic"] = ibans.find_bic(changes["iban"])
    required = {field.name for field in msgspec.structs.fields(TERMS[group]) if field.required}
    missing = [
        flag.name
        for flag in CHANNEL_FLAGS
        if flag.group == group and flag.member in required and not merged.get(flag.member)
    ]
    if missing:
        sys.exit(f"tollgate: a {group} also needs {', '.join(missing)}")
    return TERMS[group](**merged)
