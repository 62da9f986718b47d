"""Names find their rows: plain, by alias, with holes filled; rows say who may see a value.
Values are tested as properties.
"""

from __future__ import annotations

import re

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters import names
from tollgate.catalog.parameters.row import Parameter, Secrecy
from tollgate.values import Fault

HOLE_FILLING = {"[n]": "[0]", "[key]": "[abc]", "[brand]": "[VISA]"}

SEALED = {
    "card.number",
    "bankAccount.iban",
    "bankAccount.number",
    "tokenAccount.number",
    "walletA.paymentToken",
    "walletB.paymentToken",
    "walletC.paymentToken",
    "sender.accountNumber",
    "recipient.accountNumber",
}
NEVER_STORED = {
    "card.cvv",
    "tokenAccount.dtvc",
    "tokenAccount.cryptogram",
    "authentication.userId",
    "authentication.password",
}


def resolved(name: str) -> names.Resolved:
    found = names.resolve(name)
    assert isinstance(found, names.Resolved)
    return found


def fill(name: str) -> str:
    return re.sub(r"\[(?:n|key|brand)\]", lambda match: HOLE_FILLING[match[0]], name)


def test_no_two_rows_share_a_name() -> None:
    assert len(names.PARAMETERS) == len(names._ROWS)


def test_every_row_is_found_by_its_own_name() -> None:
    assert [
        name for name, row in names.PARAMETERS.items() if resolved(fill(name)) != names.Resolved(row, fill(name))
    ] == []


def test_every_hole_is_used_by_some_row() -> None:
    used = {name[: match.start()] for name in names.PARAMETERS for match in re.finditer(r"\[(?:n|key|brand)\]", name)}

    assert used == set(names.HOLES)


@pytest.mark.parametrize(
    ("sent", "row", "canonical"),
    [
        ("applePay.paymentToken", "walletA.paymentToken", "walletA.paymentToken"),
        ("googlePay.source", "walletB.source", "walletB.source"),
        ("samsungPay.paymentToken", "walletC.paymentToken", "walletC.paymentToken"),
        ("authentication.entityId", "entityId", "entityId"),
        ('customParameters["a.bc"]', "customParameters[key]", "customParameters[a.bc]"),
        ("customParameters['a.bc']", "customParameters[key]", "customParameters[a.bc]"),
        ("customParameters[3DS2_enrolled]", "customParameters[key]", "customParameters[3DS2_enrolled]"),
        ("cart.items[1000].name", "cart.items[n].name", "cart.items[1000].name"),
        (
            "airline.passengers[0].legs[12].taxAmount",
            "airline.passengers[n].legs[n].taxAmount",
            "airline.passengers[0].legs[12].taxAmount",
        ),
        ("overridePaymentType[PAYPAL]", "overridePaymentType[brand]", "overridePaymentType[PAYPAL]"),
        (
            "threeDSecure.schemeData[CB-SCORE_MERCHANT]",
            "threeDSecure.schemeData[key]",
            "threeDSecure.schemeData[CB-SCORE_MERCHANT]",
        ),
    ],
)
def test_a_sent_name_comes_out_canonical(sent: str, row: str, canonical: str) -> None:
    assert resolved(sent) == names.Resolved(names.PARAMETERS[row], canonical)


@pytest.mark.parametrize(
    "name",
    [
        "cart.items[1001].name",
        "cart.items[01].name",
        "cart.items[-1].name",
        "cart.items[].name",
        "cart.items[x].name",
        "cart.items[٣].name",
        "registrations[100].id",
        "airline.passengers[0].legs[100].taxAmount",
        "customParameters[ab]",
        "customParameters[]",
        "customParameters[a b c]",
        'customParameters["ab]',
        f"customParameters[{'k' * 65}]",
        "overridePaymentType[MASTER-CARD]",
    ],
)
def test_a_known_name_with_a_bad_hole_is_a_fault_under_the_sent_name(name: str) -> None:
    found = names.resolve(name)

    assert isinstance(found, Fault)
    assert found.name == name


def test_the_fault_of_a_hole_says_what_would_be_accepted() -> None:
    item, custom = names.resolve("cart.items[1001].name"), names.resolve("customParameters[ab]")

    assert item == Fault("cart.items[1001].name", f"index must be a number from 0 to {LIMITS.item_index_max}")
    assert custom == Fault("customParameters[ab]", "key must match ^[a-zA-Z0-9._]{3,64}$")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "_csrf_token",
        "card",
        "card.Number",
        "cart.items[0",
        "cart.items[0].",
        "foo[0]",
        "lodging.nights",
        "walletA",
        "[]",
    ],
)
def test_an_unknown_name_is_nobodys_fault(name: str) -> None:
    assert names.resolve(name) is None
    assert names.resolve(name) is None


def test_a_parameter_can_be_asked_for_without_its_canonical_name() -> None:
    found = names.resolve("cart.items[7].name")
    assert isinstance(found, names.Resolved)
    assert found.parameter is names.PARAMETERS["cart.items[n].name"]
    assert isinstance(names.resolve("cart.items[07].name"), Fault)


def test_aliases_lead_to_names_that_exist() -> None:
    assert [
        alias
        for alias, canonical in names.ALIASES.items()
        if not any(name == canonical or name.startswith(f"{canonical}.") for name in names.PARAMETERS)
    ] == []


def test_what_must_be_sealed_and_what_must_never_be_stored() -> None:
    assert {name for name, row in names.PARAMETERS.items() if row.secrecy is Secrecy.SEAL} == SEALED
    assert {name for name, row in names.PARAMETERS.items() if row.secrecy is Secrecy.NEVER} == NEVER_STORED


def test_a_row_that_does_not_say_is_masked() -> None:
    row = Parameter("customer.nickname", names.PARAMETERS["customer.email"].shape)

    assert row.secrecy is Secrecy.MASK
    assert row.show("jane") == "***"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("amount", "-20.20", "-20.20"),
        ("card.number", "42", "***"),
        ("card.cvv", "1", "***"),
        ("customer.email", "a", "***"),
    ],
)
def test_a_fault_shows_open_values_only(name: str, value: str, shown: str) -> None:
    fault = names.PARAMETERS[name].check_value(name, value, is_lenient=False)

    assert fault == Fault(name, names.PARAMETERS[name].shape.message, shown)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("amount", "123456789012"),
        ("createRegistration", "1"),
        ("createRegistration", "True"),
        ("merchantTransactionId", "1"),
        ("merchantInvoiceId", "1"),
        ("merchantMemo", "1"),
        ("customer.phone", "(?!?)555-5555"),
        ("shipping.mobile", "x"),
        ("recipient.phone", "x"),
        ("corporate.phone", "+49 30"),
        ("billing.postcode", "TE1 2ST"),
        ("shipping.postcode", "1500-441"),
        ("merchant.postcode", "TE1 2ST"),
        ("billing.state", "North Rhine-Westphalia"),
        ("shipping.city", "Paris 15"),
        ("cart.items[0].price", "5"),
    ],
)
def test_a_lenient_channel_takes_what_a_strict_one_refuses(name: str, value: str) -> None:
    row = resolved(name).parameter

    assert row.check_value(name, value, is_lenient=True) is None
    assert row.check_value(name, value, is_lenient=False) is not None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("amount", "1234567890123"),
        ("card.expiryYear", "30"),
        ("card.number", "4200 0000"),
        ("billing.postcode", "x" * 17),
    ],
)
def test_a_lenient_channel_still_has_its_limits(name: str, value: str) -> None:
    assert names.PARAMETERS[name].check_value(name, value, is_lenient=True) is not None


@pytest.mark.parametrize(
    ("mounted", "is_there"),
    [
        ("shipping.customer.givenName", True),
        ("shipping.customer.browser.language", True),
        ("shipping.customer.browser.deviceId", False),
        ("shipping.customer.browserFingerprint.value", False),
        ("shipping.customer.app.deviceId", False),
        ("merchant.billing.street1", True),
        ("merchant.billing.surname", True),
        ("merchant.shipping.expectedDate", True),
        ("merchant.shipping.customer.givenName", False),
    ],
)
def test_mounts_offer_what_they_say(mounted: str, is_there: bool) -> None:
    assert (mounted in names.PARAMETERS) is is_there
