"""Masking of messages: every member of every message is judged, and numbers are found under any name."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tollgate.catalog.connectors import ConnectorName
from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.parameters.nesting import nest_fields
from tollgate.catalog.parameters.row import Parameter, Secrecy
from tollgate.connectors.exchange import FORM
from tollgate.connectors.iso8583 import fields
from tollgate.connectors.masking import (
    HIDDEN_MEMBERS,
    PERSONAL_MEMBERS,
    mask_members,
    mask_numbers,
    mask_text,
    mask_values,
)
from tollgate.payments import order
from tollgate.values import MASK

MODULES = ("acquiring", "card", "redirect", "sepa", "tokens", "threeds.messages", "stripe.messages", "stripe.events")
FORM_WORDS = {"billing_details", "merchantCustomerId"}
"""Words of forms, which have no members."""
SECRET = {
    "number",
    "iban",
    "account_id",
    "account_number",
    "cvv",
    "cryptogram",
    "dtvc",
    "verification_id",
    "xid",
    "barcode",
    "back_url",
    "url",
    "value",
    "events_url",
    "notificationURL",
    "threeDSServerURL",
    "threeDSMethodNotificationURL",
    "acctNumber",
    "acctID",
    "authenticationValue",
    "sdkEncData",
}
"""Every member of a message that must be hidden; a new secret member is added here and to the table."""
KEYS = ("secret", "password", "crypt", "cvv", "iban", "number", "_url", "URL", "token", "Value", "EncData", "proof")
HARMLESS = {
    # A counter, a name of a type, the result of a check, or an address that anybody may know.
    "cvv_response",
    "number_type",
    "account_number_type",
    "number_of_installments",
    "acsReferenceNumber",
    "dsReferenceNumber",
    "sdkReferenceNumber",
    "threeDSServerRefNumber",
    "house_number1",
    "house_number2",
    "acsURL",
    "threeDSMethodURL",
    "threeDSRequestorURL",
    "serialNum",
    "item_number",
    "part_number",
    "number_of_captures",
    "image_url",
    "product_url",
    "vat_reference_number",
    "return_url",
}

WIDE_NUMBER = "4200000000000000".translate({ord("0") + digit: 0xFF10 + digit for digit in range(10)})
"""A card number in the wide digits of Asian texts."""
PIECES = st.sampled_from(
    [
        *(
            "4200000000000000",
            "4200 0000-0000.0000",
            "4200\n0000\t0000\\r0000",
            "42000000",
            "676770000005",
            WIDE_NUMBER,
        ),
        *(
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "gb33BUKB20201555555555",
            "DE89",
            "0594.2617.0535 Sandbox",
        ),
        *('"', "\\", ":", ",", "]", "{", "\0", " ", "e+16", "ß", "8a" + "4" * 30, "2026-11-15T12:00:00Z", "a-3e+5"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=4).map("".join)
NAMES = st.sampled_from(sorted(HIDDEN_MEMBERS | PERSONAL_MEMBERS | {"details", "cart", "items", "name"})) | TEXTS
NUMBERS = st.sampled_from(
    [4200000000000000, -4200000000000000, 676770000005, 10**11, 10**11 - 1, 1e11, 1e16, -1.5e20, 9200]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    TEXTS
    | NUMBERS
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.none()
    | st.booleans(),
    lambda inner: st.lists(inner, max_size=13) | st.dictionaries(NAMES, inner, max_size=5),
)


def mask_plainly(value: Any) -> Any:
    """Hides members as the tables say, without a thought of what it costs; details are compared elsewhere."""
    if isinstance(value, list):
        return [mask_plainly(member) for member in value]
    if not isinstance(value, dict):
        return value
    return {
        name: MASK
        if name in PERSONAL_MEMBERS or (name in HIDDEN_MEMBERS and not isinstance(member, dict | list))
        else mask_members(orjson.dumps({name: member}))[name]
        if name == "details"
        else mask_plainly(member)
        for name, member in value.items()
    }


def list_members() -> Iterator[tuple[str, str]]:
    modules = [importlib.import_module(f"tollgate.connectors.{name}") for name in MODULES]
    for module in (*modules, order):
        for name, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, msgspec.Struct) and kind.__module__ == module.__name__:
                yield from ((name, field.encode_name) for field in msgspec.structs.fields(kind))


def list_places(*, is_open: bool) -> Iterator[str]:
    """Lists the places in the details of values that may be logged, or of the others."""
    for row in PARAMETERS.values():
        if (row.secrecy is Secrecy.OPEN) is is_open:
            yield from {row.to[connector] for connector in (ConnectorName.JSON, ConnectorName.REDIRECT) & row.to.keys()}


def make_message(place: str) -> dict[str, Any]:
    return {"key": "8a01", "details": nest_fields([(re.sub(r"\[n\]", "[0]", place), "Jane")])}


def test_every_member_whose_name_sounds_secret_is_hidden_or_known_to_be_harmless() -> None:
    members = {member for _, member in list_members()} | {place.split(".")[-1] for place in list_places(is_open=True)}
    suspicious = {member for member in members if any(key in member for key in KEYS)}
    assert suspicious - HIDDEN_MEMBERS - HARMLESS == set()


def test_the_members_that_are_known_to_be_secret_are_hidden_and_exist() -> None:
    assert SECRET <= HIDDEN_MEMBERS
    members = {word for place in list_places(is_open=False) for word in place.split(".")}
    assert members | {member for _, member in list_members()} | FORM_WORDS >= SECRET | PERSONAL_MEMBERS


def test_a_member_that_names_a_person_is_hidden_with_all_that_is_in_it() -> None:
    body = (
        b'{"card": {"holder": "Jane Jones", "expiry": "2034-05"}, "details": {"customer": {"email": "j@example.com"}}}'
    )
    assert mask_members(body) == {"card": {"holder": MASK, "expiry": "2034-05"}, "details": {"customer": MASK}}


def test_a_forwarded_value_that_may_not_be_logged_is_hidden() -> None:
    hidden = list(list_places(is_open=False))

    assert {"sender.account_number", "airline.passengers[n].name", "acceptor.tax_id", "corporate.vat_id"} < set(hidden)
    for place in hidden:
        assert "Jane" not in json.dumps(mask_members(json.dumps(make_message(place)).encode())), place


def test_a_forwarded_value_that_may_be_logged_is_shown_unless_its_name_is_hidden() -> None:
    for place in list_places(is_open=True):
        message = make_message(place)
        words = set(re.sub(r"\[n\]", "", place).split("."))
        if words.isdisjoint(HIDDEN_MEMBERS | PERSONAL_MEMBERS):
            assert mask_members(json.dumps(message).encode()) == message, place


def test_details_that_no_row_describes_are_hidden() -> None:
    body = b'{"details": {"odd": "Jane", "cart": [{"odd": "Jane"}, "Jane"], "acceptor": "Jane"}}'

    assert mask_members(body) == {"details": {"odd": MASK, "cart": [{"odd": MASK}, MASK], "acceptor": MASK}}


@pytest.mark.parametrize("value", ["4200000000000000", 4200000000000000, None, True])
def test_a_hidden_member_is_masked_at_any_depth_and_whatever_its_type(value: object) -> None:
    body = json.dumps({"a": [{"number": value, "kept": "yes"}], "token": {"type": "x", "cvv": value}}).encode()
    assert mask_members(body) == {"a": [{"number": MASK, "kept": "yes"}], "token": {"type": "x", "cvv": MASK}}


def test_a_name_that_is_spelled_with_escapes_is_hidden_too() -> None:
    assert mask_members(b'{"\\u0063vv": "123"}') == {"cvv": MASK}


def test_a_form_is_shown_without_its_secrets() -> None:
    sent = {
        "type": "card",
        "card[number]": "4200000000000000",
        "card[cvc]": "731",
        "card[exp_month]": "05",
        "billing_details[address][line1]": "Main Street 1",
        "payment_method_options[card][three_d_secure][cryptogram]": "AAAB",
        "empty": "",
    }

    assert mask_members(urlencode(sent).encode(), FORM) == {
        "type": "card",
        "card[number]": MASK,
        "card[cvc]": MASK,
        "card[exp_month]": "05",
        "billing_details[address][line1]": MASK,
        "payment_method_options[card][three_d_secure][cryptogram]": MASK,
        "empty": "",
    }


@pytest.mark.parametrize(
    "row", [row for row in PARAMETERS.values() if row.secrecy is not Secrecy.OPEN], ids=lambda row: row.name
)
def test_what_may_not_be_logged_is_hidden_in_the_messages_of_every_protocol(row: Parameter) -> None:
    place = row.to.get(ConnectorName.STRIPE)
    if place:
        assert mask_members(urlencode({place: "x"}).encode(), FORM) == {place: MASK}
    element, _, tag = row.to.get(ConnectorName.ISO8583, "").partition("[")[0].partition(".")
    if element == str(fields.PRIVATE):
        assert fields.TAGS[tag].secrecy is fields.Secrecy.HIDDEN


def test_what_a_processor_repeats_of_a_customer_is_hidden() -> None:
    assert mask_members(b'{"metadata": {"merchantCustomerId": "jane"}}') == {"metadata": {"merchantCustomerId": MASK}}


@pytest.mark.parametrize("body", [b"", b"\xff=\xfe", b"&&&=", b"card%5Bnumber%5D", b"a[=1&]=2&[]=3"])
def test_a_form_of_any_bytes_is_masked(body: bytes) -> None:
    assert isinstance(mask_members(body, FORM), dict)


def test_the_key_by_which_a_browser_confirms_an_intent_is_hidden() -> None:
    assert mask_members(b'{"client_secret": "pi_1_secret_2", "id": "pi_1"}') == {"client_secret": MASK, "id": "pi_1"}


def test_a_body_that_is_no_json_is_not_shown() -> None:
    assert "4200" not in str(mask_members(b"<html>4200000000000000</html>"))
    assert mask_members(b"") is None


def test_numbers_of_cards_and_banks_are_found_in_any_text() -> None:
    text = mask_text('{"message":"card 4200 0000 0000 0000 of DE89 3704 0044 0532 0130 00, DE89370400440532013000"}')
    assert "4200" not in text
    assert "3704" not in text
    assert mask_text("order DE12ABCDEFGHIJKLM of 2026-11-15") == "order DE12ABCDEFGHIJKLM of 2026-11-15"


def test_numbers_are_found_in_every_value_and_name() -> None:
    value = {"4200000000000000": ["4200000000000000", 4200000000000000, "DE89370400440532013000"], "a": {"b": "short"}}
    hidden = mask_values(value)
    assert "4200" not in str(hidden)
    assert "3704" not in str(hidden)
    assert hidden["a"] == {"b": "short"}
    kept = {"id": "8a" + "4" * 30, "at": "2026-11-15T12:00:00Z", "amount": 9200, "is_final": True, "none": None}
    assert mask_values(kept) == kept


@given(value=VALUES)
@example(value={"a": 1e16})
@example(value={"a": "b", "c": 100_000_000_000})
@example(value={"a": "b", "c": [0.5, -4200000000000000]})
@example(value=["b", "676770000005"])
@example(value=["b", "4200\n0000\n0000\n0000"])
@example(value=["b", WIDE_NUMBER])
@example(value=["b", "NL91ABNA0417164300"])
@example(value={"b": "c", "is NO93 8601 1117 947.": "d"})
@example(value=["b", ":4200000000000000"])
def test_numbers_are_hidden_in_a_text_as_in_its_values(value: Any) -> None:
    assert mask_numbers(orjson.dumps(value).decode()) == orjson.dumps(mask_values(value)).decode()


@given(value=VALUES)
def test_members_are_hidden_in_any_value_as_the_tables_say(value: Any) -> None:
    assert mask_members(orjson.dumps(value)) == mask_plainly(value)
