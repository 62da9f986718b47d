"""When a failed delivery is due again, and which events an endpoint wants."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.payments.webhooks import RETRIES_S, Delivery, Webhook, find_retry
from tollgate.values import DAY, HOUR, MINUTE, SECOND, ChannelId, Instant, MerchantId

QUEUED: Instant = 1_790_000_000_000_000
MERCHANT = MerchantId("8a" + "1" * 30)
SHOP, OTHER = ChannelId("8a" + "2" * 30), ChannelId("8a" + "3" * 30)
DELIVERY = Delivery(
    merchant_id=MERCHANT, webhook_id="w", subject_id="s", event_id="e", sequence=1, queued_at=QUEUED, due_at=QUEUED
)
WEBHOOK = Webhook(id="w", merchant_id=MERCHANT, url="https://shop.example", created_at=QUEUED, sealed_secrets=b"")


def climb(retries_s: tuple[int, ...] = ()) -> list[Instant]:
    """Returns how long after the event each attempt is made where all fail at once."""
    at, tries, found = QUEUED, 0, []
    while True:
        found.append(at - QUEUED)
        tries += 1
        due_at = find_retry(replace(DELIVERY, tries=tries), retries_s, at)
        if due_at is None:
            return found
        at = due_at


def test_the_usual_retries_go_to_thirty_days() -> None:
    minutes = [minute * MINUTE for minute in (0, 1, 3, 7, 15, 30, 60)]
    days = [2 * HOUR + day * DAY for day in range(30)]

    assert climb() == [*minutes, *days]
    assert climb()[-1] <= LIMITS.delivery_lifetime < climb()[-1] + DAY


def test_the_pauses_are_those_of_the_table() -> None:
    assert RETRIES_S == (60, 120, 240, 480, 900, 1800, 3600, 86400)


def test_an_endpoint_may_have_pauses_of_its_own_of_which_the_last_is_repeated() -> None:
    assert climb((5, 10 * 86400)) == [0, 5 * SECOND, *(5 * SECOND + days * DAY for days in (10, 20))]


def test_a_retry_at_the_very_end_is_made_and_one_after_it_is_not() -> None:
    failed, end = replace(DELIVERY, tries=1), QUEUED + LIMITS.delivery_lifetime

    assert find_retry(failed, (60,), end - MINUTE) == end
    assert find_retry(failed, (60,), end - MINUTE + 1) is None


@pytest.mark.parametrize(
    ("asked_s", "pause_s"),
    [(None, 60), (0, 60), (59, 60), (61, 61), (3600, 3600), (86400, 86400), (86401, 86400), (10**60, 86400)],
)
def test_a_receiver_may_ask_for_a_longer_pause_up_to_a_day(asked_s: int | None, pause_s: int) -> None:
    assert find_retry(replace(DELIVERY, tries=1), (), QUEUED, asked_s) == QUEUED + pause_s * SECOND


@pytest.mark.parametrize(
    ("changes", "is_wanted"),
    [
        ({}, True),
        ({"channel_id": SHOP}, True),
        ({"channel_id": OTHER}, False),
        ({"types": ("PAYMENT",)}, True),
        ({"types": ("payment.succeeded",)}, True),
        ({"types": ("payment.failed", "REGISTRATION")}, False),
        ({"payment_types": ("PA", "DB")}, True),
        ({"payment_types": ("RF",)}, False),
        ({"result_groups": ("success",)}, True),
        ({"result_groups": ("pending", "rejected_by_bank")}, False),
        ({"types": ("PAYMENT",), "payment_types": ("DB",), "result_groups": ("pending",)}, False),
    ],
)
def test_an_endpoint_chooses_by_channel_type_payment_type_and_result(changes: dict[str, Any], is_wanted: bool) -> None:
    assert replace(WEBHOOK, **changes).wants("payment.succeeded", SHOP, "DB", "000.100.110") is is_wanted


@pytest.mark.parametrize(("name", "result_code"), [("registration.created", "000.100.110"), ("schedule.created", "")])
def test_payment_types_and_results_choose_among_payments_only(name: str, result_code: str) -> None:
    webhook = replace(WEBHOOK, payment_types=("RF",), result_groups=("pending",))

    assert webhook.wants(name, SHOP, "", result_code)
