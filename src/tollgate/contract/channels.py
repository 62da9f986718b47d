"""The settings of a channel as operators give them: their forms, and the channel with those that were given.

Which settings there are is declared where the channel is (`payments/merchants.py`).
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tollgate.catalog import connectors, countries, ibans, shape
from tollgate.payments.merchants import CHANNEL_FLAGS, TERMS, Channel, ChannelFlag, Form
from tollgate.payments.routing import Strategy

PLAIN_ADDRESS = (
    "a live host sends card data to https:// and tls:// only; http:// and tcp:// are for 127.0.0.1 and [::1] with "
    "--allow-plain-loopback"
)

_URL = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
_TCP = re.compile(r"(tls|tcp)://[^\s/?#@]+:[0-9]{1,5}")
_IDENTIFIER = re.compile("[A-Z]{2}[0-9]{2}[A-Z0-9]{3}[A-Z0-9]{1,28}")
_DOMAIN = re.compile(r"(?:\*\.)?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,8}(?::[1-9][0-9]{0,4})?")
_DOMAINS_MAX = 200
HIDDEN_LOGIN = "//***@"
_SWITCHES = {"true": True, "false": False}


class IncompleteTerms(Exception):
    """Settings that belong together were given without some that they need."""

    def __init__(self, group: str, missing: Collection[ChannelFlag]) -> None:
        super().__init__(f"a {group} also needs {', '.join(flag.name for flag in missing)}")
        self.missing = tuple(missing)


def _is_address(value: str, form: re.Pattern[str] = _URL) -> bool:
    """Tells whether the text is a web address; an empty text removes the address of a channel."""
    try:
        has_port = urlsplit(value).port != 0
    except ValueError:
        return False
    return not value or (has_port and value.isprintable() and form.fullmatch(value) is not None)


def _is_acquirer_address(value: str) -> bool:
    return _is_address(value) or _is_address(value, _TCP)


def _is_creditor_id(value: str) -> bool:
    """Checks the checksum, which is that of an IBAN over all but the three characters that are the creditor's own."""
    is_formed = _IDENTIFIER.fullmatch(value) is not None
    return is_formed and int("".join(str(int(each, 36)) for each in value[7:] + value[:4])) % 97 == 1


def _join(value: str) -> str:
    return value.replace(" ", "").upper()


_ADDRESS = (str, _is_address, "a web address: it begins with https://, or with http:// for tests")
_FORMS: Mapping[Form, tuple[Callable[[str], str], Callable[[str], bool], str]] = {
    Form.TEXT: (str, str.isprintable, "a text: it has characters that cannot be printed"),
    Form.WEB_ADDRESS: _ADDRESS,
    Form.CARD_ADDRESS: _ADDRESS,
    Form.ACQUIRER_ADDRESS: (
        str,
        _is_acquirer_address,
        "an address: it begins with https://, or is tls://HOST:PORT; http:// and tcp:// are for tests",
    ),
    Form.CONNECTOR: (
        str.lower,
        lambda value: value in connectors.ACQUIRER_CONNECTORS,
        f"a protocol: it is one of {', '.join(connectors.ACQUIRER_CONNECTORS)}",
    ),
    Form.TERMINAL: (
        str,
        lambda value: re.fullmatch("[A-Za-z0-9]{0,8}", value) is not None,
        "the number of a terminal: it has up to 8 letters and digits",
    ),
    Form.FILE: (
        str,
        lambda value: re.fullmatch("[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}|", value) is not None,
        "the name of a file: it has no path, because the file is in the folder `certificates` of the data folder",
    ),
    Form.IBAN: (_join, ibans.is_iban, "an IBAN: the country, the length or the checksum is wrong"),
    Form.BIC: (str.upper, ibans.is_bic, "a BIC: it has 8 or 11 characters with the country in the middle"),
    Form.CREDITOR_ID: (_join, _is_creditor_id, "a creditor identifier: its form or its checksum is wrong"),
    Form.CATEGORY: (
        str,
        lambda value: re.fullmatch("[0-9]{4}", value) is not None,
        "a merchant category: it has four digits",
    ),
    Form.COUNTRY: (str.upper, countries.COUNTRIES.__contains__, "a country: it has the two letters of ISO 3166"),
    Form.COUNT: (str, lambda value: re.fullmatch("[0-9]{1,9}", value) is not None, "a number: it is 0 or more"),
    Form.PLACE: (str, lambda value: re.fullmatch("[1-9][0-9]{0,2}", value) is not None, "a number from 1 to 999"),
    Form.SHARE: (
        str,
        lambda value: re.fullmatch("[0-9]|[1-4][0-9]|50", value) is not None,
        "a percentage from 0 to 50",
    ),
    Form.STRATEGY: (
        str.lower,
        lambda value: value in list(Strategy),
        f"a strategy: it is one of {', '.join(Strategy)}",
    ),
    Form.SWITCH: (str.lower, _SWITCHES.__contains__, "a switch: it is true or false"),
}
"""The function that normalizes a value, the check, and the words for what a value is not, by form."""


_NUMBERS = frozenset({Form.COUNT, Form.PLACE, Form.SHARE})


def read_channel_value(form: Form, text: str) -> Any:
    """Reads the text of a setting; a ValueError says what it is not."""
    if form is Form.SCHEMES:
        return _read_schemes(text)
    if form is Form.DOMAINS:
        return _read_domains(text)
    normalize, is_sound, expected = _FORMS[form]
    value = normalize(text)
    if not is_sound(value):
        raise ValueError(f"not {expected}")
    if form is Form.SWITCH:
        return _SWITCHES[value]
    if form is Form.CONNECTOR:
        return connectors.ConnectorName(value)
    if form is Form.STRATEGY:
        return Strategy(value)
    return int(value) if form in _NUMBERS else value


def _read_domains(text: str) -> tuple[str, ...]:
    domains = tuple(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))
    if len(domains) > _DOMAINS_MAX:
        raise ValueError(f"not a list of up to {_DOMAINS_MAX} domains")
    wrong = [domain for domain in domains if _DOMAIN.fullmatch(domain) is None or not _is_address(f"http://{domain}")]
    if wrong:
        raise ValueError(f"not a domain such as shop.example or *.shop.example: {', '.join(wrong)}")
    return domains


def _read_schemes(text: str) -> tuple[str, ...]:
    schemes = tuple(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))
    unsafe = [scheme for scheme in schemes if shape.is_unsafe_scheme(scheme) or scheme in shape.WEB_SCHEMES]
    if unsafe:
        raise ValueError(f"not the scheme of an app: {', '.join(unsafe)}")
    return schemes


def get_channel_value(channel: Channel, flag: ChannelFlag) -> Any:
    """Returns the value of a setting; None where the channel has none of its group."""
    holder = getattr(channel, flag.group) if flag.group else channel
    return getattr(holder, flag.member, None)


def render_channel_value(value: Any) -> str:
    """Renders the value of a setting as the text that would set it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)


def list_card_addresses(channel: Channel) -> Iterator[tuple[ChannelFlag, str]]:
    """Yields the flag and the value of every address to which the channel sends card data."""
    for flag in CHANNEL_FLAGS:
        address = get_channel_value(channel, flag)
        if flag.form in (Form.CARD_ADDRESS, Form.ACQUIRER_ADDRESS) and address:
            yield flag, address


def list_unfit_addresses(channel: Channel) -> Iterator[tuple[ChannelFlag, str]]:
    """Yields the flag of every address that the channel's acquirer cannot have, and what is wrong with it."""
    connector = channel.acquirer.connector if channel.acquirer else connectors.ConnectorName.JSON
    schemes = connectors.ACQUIRER_CONNECTORS[connector]
    for flag in CHANNEL_FLAGS:
        address = get_channel_value(channel, flag)
        if flag.form is Form.ACQUIRER_ADDRESS and address and not address.startswith(tuple(f"{s}://" for s in schemes)):
            yield flag, f"the protocol {connector.value} has addresses that begin with {' or '.join(schemes)}://"


def hide_login(text: str) -> str:
    """Hides the user and the password of an address, which nobody needs to see again."""
    return re.sub("//[^/?#]*@", HIDDEN_LOGIN, text)


def merge_flags(channel: Channel, changes: Mapping[str, Any]) -> Channel:
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
        flag
        for flag in CHANNEL_FLAGS
        if flag.group == group and flag.member in required and not merged.get(flag.member)
    ]
    if missing:
        raise IncompleteTerms(group, missing)
    return TERMS[group](**merged)
