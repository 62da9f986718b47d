"""The domains that a channel lists: which web addresses and pages they allow.

The list itself is a setting of the channel.
"""

import re
from collections.abc import Collection, Mapping

from tollgate.catalog import codes
from tollgate.catalog.results import get_result
from tollgate.values import Refusal

# Whatever a browser could read in another way (a user name, a backslash, an escape, letters beyond ASCII, a number in
# place of a name) does not match, and so is not listed.
_ADDRESS = re.compile(
    r"(https?)://([a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[a-f0-9:.]+\])\.?(?::([0-9]{1,5}))?(?:[/?#].*)?",
    re.DOTALL | re.IGNORECASE | re.ASCII,
)
_ENTRY = re.compile(r"(\[.*\]|[^:]*):?(.*)")
_PORTS = {"https": "443", "http": "80"}

_CODES: Mapping[str, str] = {
    "shopperResultUrl": codes.RESULT_URL_NOT_LISTED,
    "merchant.app.schemeUrl": codes.RESULT_URL_NOT_LISTED,
    "shopOrigin": codes.RESULT_URL_NOT_LISTED,
    "notificationUrl": codes.NOTIFICATION_URL_NOT_LISTED,
}
_WEB = re.compile("(?i:https?):")


def is_listed(url: str, domains: Collection[str]) -> bool:
    """Tells whether a web address belongs to one of the domains.

    `shop.example` is that host at the usual port, `shop.example:8443` at another one, and `*.shop.example` every host
    below it.
    """
    match = _ADDRESS.fullmatch(url)
    if match is None:
        return False
    scheme, host = match[1].lower(), match[2].lower()
    port = str(int(match[3])) if match[3] else _PORTS[scheme]
    return any(_fits(host, port, scheme, domain) for domain in domains)


def _fits(host: str, port: str, scheme: str, domain: str) -> bool:
    entry = _ENTRY.fullmatch(domain)
    if entry is None or port != (entry[2] or _PORTS[scheme]):
        return False
    name = entry[1]
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def may_lead_to(url: str, domains: Collection[str]) -> bool:
    """Tells whether a channel allows an address. Addresses of apps have a list of their own, that of schemes."""
    return not domains or _WEB.match(url) is None or is_listed(url, domains)


def check_addresses(values: Mapping[str, str], domains: Collection[str]) -> None:
    """Refuses the first address that is not listed."""
    for name, code in _CODES.items():
        address = values.get(name)
        if address is not None and not may_lead_to(address, domains):
            raise Refusal(get_result(code), f"{name} is not on a domain that the channel lists")


def check_page(origin: str | None, domains: Collection[str]) -> None:
    """Refuses the form to a page that is not listed.

    Browsers name the origin of every page but those of this host itself, and `null` for a page that hides its own.
    """
    if domains and origin is not None and not is_listed(origin, domains):
        raise Refusal(get_result(codes.RESULT_URL_NOT_LISTED), "this page is not on a domain that the channel lists")
