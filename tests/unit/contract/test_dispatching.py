"""Conditions of dispatch rows as operators write them, and what a request tells before a channel has read it."""

from __future__ import annotations

import pytest

from tollgate.catalog.throttles import THROTTLES
from tollgate.contract.dispatching import (
    STARTING,
    TERMS,
    make_misfit_refusal,
    read_conditions,
    read_traits,
    render_conditions,
)
from tollgate.payments.dispatching import Conditions, DispatchRow, Ground, Misfit, Traits
from tollgate.values import ChannelId, InvalidParameters, MerchantId

WRITTEN = {
    "brands": "VISA,MASTER",
    "currencies": "EUR",
    "amount_min": "0.00",
    "amount_max": "100.00",
    "bins": "4200,51",
    "countries": "DE,AT",
    "payment_types": "PA,DB",
    "hours": "22-06",
    "weekdays": "mon,sun",
}


def test_every_condition_has_a_term_and_comes_back_as_it_was_written() -> None:
    assert [term.member for term in TERMS] == list(Conditions.__struct_fields__)
    assert set(WRITTEN) == set(Conditions.__struct_fields__)
    assert render_conditions(read_conditions(WRITTEN)) == WRITTEN


def test_spelling_is_forgiven_and_words_are_taken_once() -> None:
    read = read_conditions({"brands": " visa, VISA ,", "countries": "de", "weekdays": "MON", "currencies": "  "})
    assert read == Conditions(brands=("VISA",), countries=("DE",), weekdays=("mon",))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("brands", "NOBRAND"),
        ("currencies", "EURO"),
        ("currencies", "EUR;USD"),
        ("countries", "XX"),
        ("payment_types", "ZZ"),
        ("weekdays", "monday"),
        ("amount_min", "1,00"),
        ("amount_min", "-1"),
        ("amount_max", "1.005"),
        ("amount_max", "1" * 13),
        ("amount_max", "\u0661"),
        ("bins", "420000000"),
        ("bins", "42x"),
        ("bins", "٤٢"),
        ("bins", ",".join(str(number) for number in range(1000, 1201))),
        ("hours", "8-20"),
        ("hours", "08-25"),
        ("hours", "24-06"),
        ("hours", "08-08"),
        ("hours", "00-24"),
        ("hours", "08-20\n20-22"),
    ],
)
def test_a_condition_that_cannot_be_met_as_it_is_meant_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(InvalidParameters) as refused:
        read_conditions({name: text})
    assert [fault.name for fault in refused.value.faults] == [name]


def test_all_wrong_conditions_are_named_at_once() -> None:
    with pytest.raises(InvalidParameters) as refused:
        read_conditions({"brands": "NOBRAND", "hours": "x", "amount_min": "2.00", "amount_max": "1.00"})
    assert [fault.name for fault in refused.value.faults] == ["brands", "hours", "amount_max"]


def test_operations_that_begin_something_exist() -> None:
    assert set(THROTTLES) >= STARTING


def read(operation: str = "create_payment", /, **sent: str) -> Traits:
    return read_traits([(name.replace("__", "."), value) for name, value in sent.items()], operation, 0)


def test_a_payment_tells_everything() -> None:
    told = read(
        amount="92.00",
        currency="EUR",
        paymentType="DB",
        paymentBrand="VISA",
        card__number="4200000000000000",
        billing__country="DE",
        shipping__country="AT",
    )
    assert told == Traits(
        at=0, brand="VISA", currency="EUR", amount=9200, bin="42000000", country="DE", payment_type="DB"
    )


def test_the_shipping_address_counts_where_there_is_no_billing_country() -> None:
    assert read(shipping__country="at").country == "AT"


def test_a_brand_that_is_not_named_is_that_of_the_number() -> None:
    assert read(card__number="5454 5454-5454 5454").brand == "MASTER"
    assert read(card__number="5454545454545454", paymentBrand="visa").brand == "VISA"


def test_a_checkout_tells_no_brand_and_a_registration_its_type() -> None:
    prepared = read("create_checkout", amount="92.00", currency="EUR", paymentType="PA")
    assert (prepared.brand, prepared.bin, prepared.payment_type) == ("", "", "PA")
    assert read("create_checkout", createRegistration="true").payment_type == "RG"
    assert read("create_registration").payment_type == "RG"
    assert read("create_payment").payment_type == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [("amount", "92,00"), ("amount", "1e3"), ("amount", "٩"), ("card.number", "\uff14\uff12\uff10\uff10")],
)
def test_what_cannot_be_read_is_not_known(name: str, text: str) -> None:
    assert read_traits([(name, text)], "create_payment", 0) == Traits(at=0)


def test_of_repeated_values_the_last_counts_as_on_lenient_channels() -> None:
    assert read_traits([("currency", "USD"), ("currency", "EUR")], "create_payment", 0).currency == "EUR"


@pytest.mark.parametrize(
    ("ground", "condition", "code"),
    [
        (Ground.PAYMENT_TYPE, {"payment_types": ("PA",)}, "600.200.202"),
        (Ground.BRAND, {"brands": ("VISA",)}, "600.200.500"),
        (Ground.CURRENCY, {"currencies": ("USD",)}, "600.200.500"),
        (Ground.COUNTRY, {"countries": ("AT",)}, "600.200.500"),
        (Ground.BIN, {"bins": ("4200",)}, "600.200.201"),
        (Ground.AMOUNT, {"amount_min": 100}, "600.200.201"),
        (Ground.TIME, {"hours": "08-20"}, "600.200.201"),
    ],
)
def test_each_ground_has_its_code_and_says_what_the_row_asks_for(
    ground: Ground, condition: dict[str, object], code: str
) -> None:
    row = DispatchRow(
        merchant_id=MerchantId("8a"),
        id="1",
        position=7,
        channel_id=ChannelId("8b"),
        conditions=Conditions(**condition),  # type: ignore[arg-type]
    )
    refusal = make_misfit_refusal(Misfit(row, 2, (ground,)))
    assert refusal.result.code == code
    assert f"row 2, the nearest, asks for another {ground}: " in refusal.detail
    assert refusal.detail.endswith(" ".join(*render_conditions(row.conditions).items()))
