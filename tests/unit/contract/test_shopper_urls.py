"""Addresses of a shopper's way: what was written is read again, whatever else is nothing, and the way home is whole."""

from __future__ import annotations

import base64
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tollgate.catalog.parameters.nesting import nest_fields
from tollgate.contract import shopper_urls
from tollgate.values import PaymentId, Secret
from unit.payments.samples import make_payment

MERCHANT, PAYMENT = "8a" + "1" * 30, "8a" + "2" * 30
KEY = bytes(range(32))
DEBIT = replace(make_payment("DB", 1), id=PaymentId(PAYMENT))
NAMED = f"id={PAYMENT}&resourcePath=%2Fv1%2Fpayments%2F{PAYMENT}"


@pytest.mark.parametrize("key", [b"", KEY], ids=["bare", "with a key"])
def test_a_shopper_token_is_one_segment_of_a_path_and_reads_as_it_was_written(key: bytes) -> None:
    text = shopper_urls.write_shopper_token(MERCHANT, PAYMENT, key)

    shopper_token = shopper_urls.read_shopper_token(text)

    assert set(text) <= {*string.ascii_letters, *string.digits, "-", "_"}
    assert shopper_token is not None
    assert (shopper_token.merchant_id, shopper_token.payment_id) == (MERCHANT, PAYMENT)
    assert shopper_token.key.matches(Secret(base64.urlsafe_b64encode(key).decode().rstrip("=")))


def test_the_key_of_a_shopper_token_does_not_print() -> None:
    shopper_token = shopper_urls.read_shopper_token(shopper_urls.write_shopper_token(MERCHANT, PAYMENT, KEY))

    assert base64.urlsafe_b64encode(KEY).decode().rstrip("=") not in repr(shopper_token)


@given(st.text(max_size=140))
@example("")
@example("\0")
@example("\ud800")
@example("é" * 43)
@example("=" * 43)
@example("A" * 43 + "\n")
@example("A" * 85)
@example("A" * 129)
@example("A" * 10_000)
def test_a_text_that_was_not_written_here_is_no_shopper_token(text: str) -> None:
    shopper_token = shopper_urls.read_shopper_token(text)

    # Bytes of the right number name somebody, whether or not there is such a one.
    assert shopper_token is None or len(text.rstrip("=")) in (43, 86)


@pytest.mark.parametrize("length", [0, 16, 31, 33, 63, 65, 96])
def test_a_text_of_another_length_is_no_shopper_token(length: int) -> None:
    assert shopper_urls.read_shopper_token(base64.urlsafe_b64encode(bytes(length)).decode().rstrip("=")) is None


@pytest.mark.parametrize(
    ("address", "home"),
    [
        ("https://shop.example", f"https://shop.example?{NAMED}"),
        ("https://shop.example/back", f"https://shop.example/back?{NAMED}"),
        ("https://shop.example/back?order=7", f"https://shop.example/back?order=7&{NAMED}"),
        ("https://shop.example/back?", f"https://shop.example/back?{NAMED}"),
        ("https://shop.example/back?order=7&", f"https://shop.example/back?order=7&{NAMED}"),
        ("https://shop.example/#/back?x=1", f"https://shop.example/?{NAMED}#/back?x=1"),
        ("https://shop.example/back?order=7#top", f"https://shop.example/back?order=7&{NAMED}#top"),
        ("com.shop.app://done", f"com.shop.app://done?{NAMED}"),
        ("shop://done/?a=%2F", f"shop://done/?a=%2F&{NAMED}"),
    ],
)
def test_the_way_home_keeps_what_stood_in_the_address(address: str, home: str) -> None:
    assert shopper_urls.make_return_url(address, DEBIT) == home


def test_an_authentication_by_itself_is_read_at_its_own_path() -> None:
    assert shopper_urls.get_resource_path(DEBIT) == f"/v1/payments/{PAYMENT}"
    assert shopper_urls.get_resource_path(replace(DEBIT, payment_type="3D")) == f"/v1/threeDSecure/{PAYMENT}"


def test_a_handover_names_the_redirect_and_what_comes_before_it() -> None:
    assert nest_fields(shopper_urls.render_handover("https://gate.example/x").items()) == {
        "redirect": {"url": "https://gate.example/x", "method": "GET"}
    }
    [first] = nest_fields(
        shopper_urls.render_handover("https://gate.example/x", "https://bank.example/m", "data").items()
    )["redirect"]["preconditions"]
    assert (first["url"], first["method"]) == ("https://bank.example/m", "POST")
    assert first["parameters"] == [{"name": "threeDSMethodData", "value": "data"}]
