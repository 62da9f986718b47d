"""A checkout's status is unpaid, failed, pending or paid; it can be read twice a minute, and not after its end."""

from __future__ import annotations

import pytest

from api.chains import FORCE, result_of
from api.checking_out import STORING, ask, prepare
from api.paying_forms import (
    GONE,
    PAYPAL,
    SHOP_URL,
    TOO_MANY,
    find_next,
    open_checkout,
    pass_seconds,
    post,
    read_home,
    show,
)
from gateway import CARD, Client

pytestmark = pytest.mark.both_databases

UNPAID = (200, "000.200.000")
PAID = (200, "000.100.110")
DECLINED_CARD = {**CARD, "card.expiryYear": "2020"}
NO_SESSION = "No payment session found for the requested id"
LIFE_S = 30 * 60


def test_unpaid_then_declined_then_paid_then_gone(client: Client) -> None:
    """A success is reported once, and a failure spends nothing."""
    checkout_id = open_checkout(client)

    assert result_of(ask(client, checkout_id)) == UNPAID
    declined = post(client, checkout_id, DECLINED_CARD)
    status = ask(client, checkout_id)
    assert declined.status == status.status == 400
    assert declined.code == status.code == "100.100.303"
    assert read_home(find_next(declined, "result")) == {
        "order": "7",
        "id": checkout_id,
        "resourcePath": f"/v1/checkouts/{checkout_id}/payment",
    }

    pass_seconds(client, 60)
    paid = post(client, checkout_id)
    assert result_of(paid) == PAID
    assert (paid.json["id"], paid.json["ndc"]) == (checkout_id, checkout_id)
    assert set(paid.json) == {"id", "ndc", "result", "buildNumber", "timestamp", "next"}
    success = ask(client, checkout_id)
    assert result_of(success) == PAID
    assert (success.json["ndc"], success.json["amount"], success.json["card"]["last4Digits"]) == (
        checkout_id,
        "92.00",
        "0000",
    )
    assert client.get(f"/v1/payments/{success.json['id']}").code == "000.100.110"

    gone = ask(client, checkout_id)
    assert result_of(gone) == GONE
    assert NO_SESSION in gone.json["result"]["description"]
    assert result_of(post(client, checkout_id)) == GONE


def test_head_does_not_spend_the_success_of_a_checkout(client: Client) -> None:
    """A HEAD request does not report the result, so the GET that follows still does."""
    checkout_id = open_checkout(client)
    post(client, checkout_id)
    path = f"/v1/checkouts/{checkout_id}/payment?entityId={client.entity_id}"

    head = client.send("HEAD", path, None, client.authorized())

    assert (head.status, head.body) == (200, b"")
    assert result_of(ask(client, checkout_id)) == PAID


def test_a_paid_checkout_cannot_be_paid_again_even_before_it_is_read(client: Client) -> None:
    checkout_id = open_checkout(client)
    post(client, checkout_id)

    assert result_of(post(client, checkout_id)) == result_of(post(client, checkout_id, PAYPAL)) == GONE
    assert result_of(ask(client, checkout_id)) == PAID


def test_a_review_spends_and_what_is_pending_does_not(client: Client) -> None:
    reviewed = open_checkout(client, **{FORCE: "000.400.000"})
    pending = open_checkout(client)

    assert result_of(post(client, reviewed)) == result_of(ask(client, reviewed)) == (200, "000.400.000")
    assert result_of(ask(client, reviewed)) == GONE
    assert result_of(post(client, pending, PAYPAL)) == UNPAID
    assert result_of(ask(client, pending)) == result_of(ask(client, pending)) == UNPAID


def test_the_third_question_in_a_minute_is_too_many(client: Client) -> None:
    checkout_id, other = open_checkout(client), open_checkout(client)

    assert result_of(ask(client, checkout_id)) == result_of(ask(client, checkout_id)) == UNPAID
    third = ask(client, checkout_id)
    assert result_of(third) == TOO_MANY
    assert third.json["id"] == checkout_id
    assert 1 <= int(third.headers["retry-after"]) <= 60
    assert result_of(ask(client, other)) == UNPAID

    pass_seconds(client, 59)
    assert result_of(ask(client, checkout_id)) == TOO_MANY
    pass_seconds(client, 1)
    assert result_of(ask(client, checkout_id)) == UNPAID


def test_who_may_not_ask_takes_no_question_away(client: Client, lenient: Client, stranger: Client) -> None:
    checkout_id = open_checkout(client)

    for other in (stranger, lenient, stranger, lenient):
        assert result_of(ask(other, checkout_id)) == GONE
    assert result_of(ask(client, checkout_id, kind="registration")) == GONE
    assert result_of(ask(client, "0" * 32 + checkout_id[32:])) == GONE

    assert result_of(ask(client, checkout_id)) == result_of(ask(client, checkout_id)) == UNPAID


def test_after_thirty_minutes_it_is_dead(client: Client) -> None:
    unpaid, paid, stored = open_checkout(client), open_checkout(client), prepare(client, STORING)
    post(client, paid)

    pass_seconds(client, LIFE_S - 10)
    assert result_of(ask(client, unpaid)) == UNPAID
    assert show(client, unpaid).json["state"] == "open"
    pass_seconds(client, 10)

    for checkout_id in (unpaid, paid):
        dead = ask(client, checkout_id)
        assert result_of(dead) == GONE
        assert NO_SESSION in dead.json["result"]["description"]
        assert result_of(post(client, checkout_id)) == GONE
        assert result_of(client.post(f"/v1/checkouts/{checkout_id}", {"amount": "1.00"})) == GONE
    assert result_of(show(client, unpaid)) == GONE
    assert result_of(ask(client, stored, kind="registration")) == GONE
    assert result_of(post(client, stored, kind="registration")) == GONE


def test_an_account_is_registered_and_answered_once(client: Client) -> None:
    checkout_id = prepare(client, {**STORING, "shopperResultUrl": SHOP_URL})

    shown = show(client, checkout_id).json
    assert (shown["kind"], "amount" in shown) == ("registration", False)
    assert result_of(ask(client, checkout_id, kind="registration")) == UNPAID
    assert result_of(post(client, checkout_id)) == GONE
    failed = post(client, checkout_id, DECLINED_CARD, kind="registration")
    assert failed.status == 400
    stored = post(client, checkout_id, kind="registration")
    assert result_of(stored) == PAID
    assert read_home(find_next(stored, "result"))["resourcePath"] == f"/v1/checkouts/{checkout_id}/registration"
    assert result_of(post(client, checkout_id, kind="registration")) == GONE

    status = ask(client, checkout_id, kind="registration")
    assert result_of(status) == PAID
    assert status.json["ndc"] == checkout_id
    assert result_of(client.get(f"/v1/registrations/{status.json['id']}")) == PAID
    assert result_of(ask(client, checkout_id, kind="registration")) == GONE
