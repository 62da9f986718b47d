"""Pairs become checked fields: every fault at once, nothing secret in what may be stored."""

from __future__ import annotations

import pytest

from tollgate.catalog.rule import Situation
from tollgate.contract.fields import Fields, is_never_stored, merge_echo, read_fields
from tollgate.values import Fault, InvalidParameters

STRICT, LENIENT = Situation("create_payment", None), Situation("create_payment", None, is_lenient=True)
PAIRS = [
    ("amount", "92.00"),
    ("currency", "EUR"),
    ("paymentType", "DB"),
    ("card.number", "4200000000000000"),
    ("card.expiryMonth", "05"),
    ("card.expiryYear", "2034"),
    ("card.cvv", "731"),
]


def read_faults(pairs: list[tuple[str, str]], situation: Situation = STRICT) -> dict[str, Fault]:
    with pytest.raises(InvalidParameters) as refused:
        read_fields(pairs, situation)
    return {fault.name: fault for fault in refused.value.faults}


def read(*more: tuple[str, str], situation: Situation = STRICT) -> Fields:
    return read_fields([*PAIRS, *more], situation)


def test_what_may_be_stored_has_no_card_number_and_no_cvv() -> None:
    fields = read(("card.holder", "Jane Jones"), ("customer.givenName", "Jane"), ("customer.surname", "Jones"))

    assert fields.values["card.number"] == "4200000000000000"
    assert "card.number" not in fields.echo
    assert "card.cvv" not in fields.echo
    assert fields.echo["customer.givenName"] == "Jane"


def test_what_is_never_stored_is_known_by_its_row_and_unknown_names_are_never_stored() -> None:
    assert is_never_stored("card.cvv")
    assert is_never_stored("authentication.password")
    assert is_never_stored("no.such.name")
    assert not is_never_stored("card.number")
    assert not is_never_stored("amount")


def test_aliases_and_quoted_keys_are_read_under_their_own_name() -> None:
    fields = read(('customParameters["abc"]', "1"))

    assert fields.values["customParameters[abc]"] == "1"
    assert "customParameters" in fields.groups


def test_unknown_names_and_empty_values_vanish() -> None:
    assert read(("csrf", "x"), ("descriptor", "")).values == dict(PAIRS)


def test_two_spellings_of_one_name_are_a_repetition() -> None:
    pairs = [*PAIRS, ("customParameters[abc]", "1"), ('customParameters["abc"]', "2")]

    assert list(read_faults(pairs)) == ['customParameters["abc"]']
    assert read_fields(pairs, LENIENT).values["customParameters[abc]"] == "2"


def test_a_repeated_secret_is_not_shown() -> None:
    assert read_faults([*PAIRS, ("card.cvv", "732")])["card.cvv"].value == "***"


def test_a_faulty_field_is_complained_about_once() -> None:
    faults = read_faults([pair if pair[0] != "card.number" else ("card.number", "x") for pair in PAIRS])

    assert list(faults) == ["card.number"]


def test_faults_of_fields_and_of_rules_come_together() -> None:
    faults = read_faults([("amount", "x"), ("customer.email", "jane@example.org"), ("cart.items[x].name", "Lamp")])

    assert set(faults) == {
        "amount",
        "cart.items[x].name",
        "currency",
        "paymentType",
        "paymentBrand",
        "customer.givenName",
        "customer.surname",
    }


ADDRESSES = ("billing", "shipping", "merchant.billing", "merchant.shipping")


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("second", ["Second floor", "x" * 101])
def test_a_house_number_takes_the_place_of_the_second_street_line(address: str, second: str) -> None:
    fields = read(
        (f"{address}.street2", second), (f"{address}.street1", "Main Street"), (f"{address}.houseNumber1", "17")
    )

    for kept in (fields.values, fields.echo):
        assert f"{address}.street2" not in kept
        assert kept[f"{address}.houseNumber1"] == "17"
    assert read((f"{address}.street2", "Floor 2")).values[f"{address}.street2"] == "Floor 2"


def test_a_street_of_digits_is_not_saved_by_a_line_that_is_ignored() -> None:
    street = [("billing.street1", "17"), ("billing.street2", "Main Street"), ("billing.houseNumber1", "5")]

    assert list(read_faults([*PAIRS, *street])) == ["billing.street1"]


def test_a_later_house_number_takes_a_stored_second_line_away() -> None:
    kept = {"billing.street1": "Main Street", "billing.street2": "Floor 2"}

    assert merge_echo(kept, {"billing.houseNumber1": "17"}) == {
        "billing.street1": "Main Street",
        "billing.houseNumber1": "17",
    }


def test_a_field_that_two_rules_miss_is_named_once() -> None:
    slip = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "PA"), ("paymentBrand", "BOLETO")]
    customer = [("customer.givenName", "Ana"), ("customer.surname", "Lima")]
    with pytest.raises(InvalidParameters) as refused:
        read_fields([*slip, *customer, ("customer.identificationDocType", "IDCARD")], STRICT)

    assert [fault.name for fault in refused.value.faults] == ["customer.identificationDocId"]
