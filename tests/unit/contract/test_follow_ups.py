"""Fields become a request about an earlier payment: amount, reason, sequence, test mode, objections."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.catalog.rule import Situation
from tollgate.contract import follow_ups
from tollgate.contract.fields import Fields, read_fields
from tollgate.payments.merchants import Channel
from tollgate.payments.order import FollowUp, TestMode
from tollgate.values import ChannelId, InvalidParameters, MerchantId, Refusal

CHANNEL = Channel(id=ChannelId("8a01"), merchant_id=MerchantId("8a02"), name="Shop", created_at=1)
SENT = {"paymentType": "CP", "amount": "92.00", "currency": "EUR"}


def read(is_live: bool = False, channel: Channel = CHANNEL, /, **changes: str) -> FollowUp:
    sent = {name: value for name, value in {**SENT, **changes}.items() if value}
    situation = Situation("follow_up", None, channel.is_lenient, is_live)
    fields = read_fields(list(sent.items()), situation)
    return follow_ups.read_follow_up(fields, channel, short_id="1234.5678.9012", is_live=is_live)


def list_faults(**changes: str) -> dict[str, str]:
    with pytest.raises(InvalidParameters) as refused:
        read(**changes)
    return {fault.name: fault.message for fault in refused.value.faults}


def test_a_plain_request_has_what_was_asked_for() -> None:
    wanted = read()

    assert (wanted.payment_type, wanted.amount, wanted.currency) == ("CP", 9200, "EUR")
    assert (wanted.is_final, wanted.practice, wanted.test_mode, wanted.objection) == (False, None, None, None)
    assert wanted.descriptor == "1234.5678.9012 Shop"
    assert wanted.echo["amount"] == "92.00"


def test_a_reversal_needs_no_amount_and_may_have_one() -> None:
    assert read(paymentType="RV", amount="", currency="").amount is None
    assert read(paymentType="RV").amount == 9200


@pytest.mark.parametrize("payment_type", ["CP", "RF", "RB"])
def test_everything_else_that_moves_money_needs_amount_and_currency(payment_type: str) -> None:
    assert set(list_faults(paymentType=payment_type, amount="", currency="")) == {"amount", "currency"}


def test_an_authorization_on_an_authorization_says_why() -> None:
    assert set(list_faults(paymentType="PA")) == {"standingInstruction.industryPractice"}
    wanted = read(paymentType="PA", **{"standingInstruction.industryPractice": "INCREMENTAL_AUTH"})
    assert wanted.practice == "INCREMENTAL_AUTH"


@pytest.mark.parametrize("payment_type", ["DB", "CD", "PA.CP", "RG", "SD", "XX"])
def test_what_begins_a_chain_or_is_no_payment_follows_none(payment_type: str) -> None:
    assert set(list_faults(paymentType=payment_type)) == {"paymentType"}


def test_only_the_word_final_ends_a_sequence() -> None:
    assert read(sequence="FINAL").is_final
    assert follow_ups.says_final({"sequence": "FINAL"})
    assert not follow_ups.says_final({})


def test_an_authorization_may_say_how_often_it_is_captured() -> None:
    assert follow_ups.count_captures({"numberOfCaptures": "7"}) == 7
    assert follow_ups.count_captures({}) is None


def test_one_id_for_the_whole_life_is_all_that_is_inherited() -> None:
    assert follow_ups.inherit_echo({"lifecycleId": "life-0001", "customer.givenName": "Jane"}) == {
        "lifecycleId": "life-0001"
    }


def test_a_parameter_may_name_the_payment_and_an_unknown_one_is_its_fault() -> None:
    fields = Fields({"referenceUuid": "8a01"}, frozenset(), {})

    assert follow_ups.find_reference(fields) == "8a01"
    assert [(fault.name, fault.value) for fault in follow_ups.make_unknown_reference(fields).faults] == [
        ("referenceUuid", "8a01")
    ]


@pytest.mark.parametrize(("kind_beside_it", "is_lenient"), [("", False), ("", True), ("RV", True)])
def test_the_type_that_counts_says_what_is_needed(kind_beside_it: str, is_lenient: bool) -> None:
    pairs = [("paymentType", kind_beside_it), ("paymentType", "RF"), ("amount", "0.50")]

    with pytest.raises(InvalidParameters) as refused:
        read_fields(pairs, Situation("follow_up", None, is_lenient, False))

    assert [fault.name for fault in refused.value.faults] == ["currency"]


def test_nothing_cannot_be_captured() -> None:
    assert read(amount="0.00").objection == "100.550.300"


def test_a_currency_without_hundredths_takes_whole_units_only() -> None:
    assert read(amount="10.50", currency="JPY").objection == "100.550.303"
    assert read(amount="10.00", currency="JPY").objection is None


def test_the_merchants_words_are_kept() -> None:
    wanted = read(descriptor="Parcel 2", merchantTransactionId="order-0001")

    assert (wanted.descriptor, wanted.merchant_transaction_id) == ("Parcel 2", "order-0001")


def test_a_test_mode_is_read_and_refused_on_a_live_host() -> None:
    assert read(testMode="EXTERNAL").test_mode is TestMode.EXTERNAL
    with pytest.raises(Refusal) as refused:
        read(True, testMode="INTERNAL")
    assert refused.value.result.code == "600.200.701"


def test_overrides_reach_the_simulator_and_are_ordinary_parameters_on_a_live_host() -> None:
    override = {"customParameters[forceResultCode]": "800.100.151"}

    assert read(**override).simulator_overrides == {"forceResultCode": "800.100.151"}
    assert read(True, **override).simulator_overrides == {}
    assert set(list_faults(**{"customParameters[forceResultCode]": "never"})) == {"customParameters[forceResultCode]"}


def test_on_a_lenient_channel_the_mode_of_a_follow_up_is_that_of_its_payment() -> None:
    lenient = replace(CHANNEL, is_lenient=True)

    assert read(testMode="EXTERNAL").test_mode is TestMode.EXTERNAL
    assert read(False, lenient, testMode="EXTERNAL").test_mode is None
    with pytest.raises(Refusal):
        read(True, lenient, testMode="EXTERNAL")
