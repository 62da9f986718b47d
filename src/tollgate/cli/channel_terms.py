"""The settings of a channel that belong together: its creditor, how it authenticates shoppers, its token vault.

They are given as single flags and kept as a whole.
"""

from __future__ import annotations

import re
import sys
from typing import Any
from urllib.parse import urlsplit

import click
import msgspec

from tollgate.catalog.countries import COUNTRIES
from tollgate.catalog.ibans import find_bic, is_bic, is_iban
from tollgate.catalog.shape import WEB_SCHEMES, is_unsafe_scheme
from tollgate.config import Settings
from tollgate.hosting.readiness import PLAIN_ADDRESS, list_card_addresses
from tollgate.payments.merchants import Channel, Creditor, ThreeDsTerms, TokenTerms
from tollgate.wire import may_carry_cards

_CREDITOR = {
    "creditor_name": "name",
    "creditor_iban": "iban",
    "creditor_bic": "bic",
    "creditor_id": "identifier",
}
_THREE_DS = {
    "three_ds_test_url": "test_url",
    "three_ds_live_url": "live_url",
    "acquirer_bin": "acquirer_bin",
    "acquirer_merchant_id": "acquirer_merchant_id",
    "requestor_id": "requestor_id",
    "requestor_name": "requestor_name",
    "requestor_url": "requestor_url",
    "merchant_category": "mcc",
    "merchant_country": "country",
    "three_ds_server_reference": "server_reference",
    "requires_3ds": "is_required",
}
_TOKENS = {
    "token_test_url": "test_url",
    "token_live_url": "live_url",
    "token_requestor_id": "requestor_id",
}
_NO_TERMS = ThreeDsTerms()
_NO_TOKEN_TERMS = TokenTerms()
_CATEGORY = re.compile("[0-9]{4}")
_URL = re.compile(r"https?://[^\s/?#]+(/[^\s?#]*)?")
_IDENTIFIER = re.compile("[A-Z]{2}[0-9]{2}[A-Z0-9]{3}[A-Z0-9]{1,28}")


def _check_iban(_context: click.Context, _flag: click.Parameter, value: str | None) -> str | None:
    iban = None if value is None else value.replace(" ", "").upper()
    if iban is not None and not is_iban(iban):
        raise click.BadParameter("not an IBAN: the country, the length or the checksum is wrong")
    return iban


def _check_bic(_context: click.Context, _flag: click.Parameter, value: str | None) -> str | None:
    bic = None if value is None else value.upper()
    if bic is not None and not is_bic(bic):
        raise click.BadParameter("not a BIC: it has 8 or 11 characters with the country in the middle")
    return bic


def _check_category(_context: click.Context, _flag: click.Parameter, value: str | None) -> str | None:
    if value is not None and _CATEGORY.fullmatch(value) is None:
        raise click.BadParameter("not a merchant category: it has four digits")
    return value


def _check_country(_context: click.Context, _flag: click.Parameter, value: str | None) -> str | None:
    country = None if value is None else value.upper()
    if country is not None and country not in COUNTRIES:
        raise click.BadParameter("not a country: it has the two letters of ISO 3166")
    return country


def _check_schemes(_context: click.Context, _flag: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """An empty list takes all of them away."""
    if value is None:
        return None
    schemes = tuple(dict.fromkeys(word.strip().lower() for word in value.split(",") if word.strip()))
    unsafe = [scheme for scheme in schemes if is_unsafe_scheme(scheme) or scheme in WEB_SCHEMES]
    if unsafe:
        raise click.BadParameter(f"not the scheme of an app: {', '.join(unsafe)}")
    return schemes


def check_url(_context: click.Context, _flag: click.Parameter, value: str | None) -> str | None:
    """Refuses what is no web address; an empty one takes the address away."""
    if value and not _is_address(value):
        raise click.BadParameter("not a web address: it begins with https://, or with http:// for tests")
    return value


def _is_address(value: str) -> bool:
    try:
        has_port = urlsplit(value).port != 0
    except ValueError:
        return False
    return has_port and value.isprintable() and _URL.fullmatch(value) is not None


def refuse_plain_addresses(channel: Channel, changes: dict[str, Any], settings: Settings) -> None:
    """Stops the command where a changed address would have a live host send card data without TLS."""
    for flag, address in list_card_addresses(channel):
        is_changed = bool(changes.get(flag.removeprefix("--").replace("-", "_")))
        if (
            address
            and is_changed
            and not may_carry_cards(
                address, is_live=settings.is_live, allows_plain_loopback=settings.allow_plain_loopback
            )
        ):
            raise click.UsageError(f"{flag}: {PLAIN_ADDRESS}")


def _check_identifier(_context: click.Context, _flag: click.Parameter, value: str | None) -> str | None:
    """Its checksum is that of an IBAN, over all but the three characters that are the creditor's own."""
    identifier = None if value is None else value.replace(" ", "").upper()
    if identifier is None:
        return None
    is_formed = _IDENTIFIER.fullmatch(identifier) is not None
    if not is_formed or int("".join(str(int(each, 36)) for each in identifier[7:] + identifier[:4])) % 97 != 1:
        raise click.BadParameter("not a creditor identifier: its form or its checksum is wrong")
    return identifier


TERMS_FLAGS = (
    click.option("--creditor-name", help="Who collects direct debits, as the banks know it."),
    click.option("--creditor-iban", callback=_check_iban, help="The account that collects and pays."),
    click.option("--creditor-bic", callback=_check_bic, help="Its bank; found by the IBAN where a list has it."),
    click.option("--creditor-id", callback=_check_identifier, help="The identifier under which mandates are signed."),
    click.option(
        "--three-ds-test-url", callback=check_url, help="The directory server's test system, for testMode=EXTERNAL."
    ),
    click.option("--three-ds-live-url", callback=check_url, help="The directory server of a live host."),
    click.option("--acquirer-bin", help="The acquirer's number, told to the directory server."),
    click.option("--acquirer-merchant-id", help="The merchant's number at the acquirer."),
    click.option("--requestor-id", help="The merchant's number at the directory server."),
    click.option("--requestor-name", help="Its name there."),
    click.option("--requestor-url", callback=check_url, help="Its web address there."),
    click.option("--merchant-category", callback=_check_category, help="Four digits, told to the directory server."),
    click.option("--merchant-country", callback=_check_country, help="Two letters, told to the directory server."),
    click.option("--three-ds-server-reference", help="The number under which the schemes certified this host."),
    click.option("--require-3ds/--allow-no-3ds", "requires_3ds", default=None, help="Refuse unauthenticated cards."),
    click.option("--token-test-url", callback=check_url, help="The token vault's test system, for testMode=EXTERNAL."),
    click.option("--token-live-url", callback=check_url, help="The networks' token vault of a live host."),
    click.option("--token-requestor-id", help="The merchant's number at the token vault."),
    click.option(
        "--return-schemes",
        callback=_check_schemes,
        help="Schemes of the merchant's apps for shopperResultUrl, as in myapp,com.example.shop; empty for none.",
    ),
)


def merge_terms(channel: Channel, changes: dict[str, Any]) -> Channel:
    """The channel with these changes; of the settings that belong together, those not given stay."""
    plain = {name: value for name, value in changes.items() if name not in {**_CREDITOR, **_THREE_DS, **_TOKENS}}
    creditor = {member: changes[flag] for flag, member in _CREDITOR.items() if flag in changes}
    three_ds = {member: changes[flag] for flag, member in _THREE_DS.items() if flag in changes}
    token_terms = {member: changes[flag] for flag, member in _TOKENS.items() if flag in changes}
    if token_terms:
        plain["token_terms"] = msgspec.structs.replace(channel.token_terms or _NO_TOKEN_TERMS, **token_terms)
    if creditor:
        plain["creditor"] = _merge_creditor(channel.creditor, creditor)
    if three_ds:
        plain["three_ds"] = msgspec.structs.replace(channel.three_ds or _NO_TERMS, **three_ds)
    return msgspec.structs.replace(channel, **plain)


def _merge_creditor(known: Creditor | None, changes: dict[str, str]) -> Creditor:
    merged = (msgspec.structs.asdict(known) if known else {}) | changes
    if "iban" in changes and "bic" not in changes:
        # The bank that was known belongs to the account that was.
        merged["bic"] = find_bic(changes["iban"])
    missing = [flag for flag, member in _CREDITOR.items() if not merged.get(member)]
    if missing:
        sys.exit(f"tollgate: a creditor also needs {', '.join('--' + flag.replace('_', '-') for flag in missing)}")
    return Creditor(**merged)
