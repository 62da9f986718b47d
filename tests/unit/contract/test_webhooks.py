"""The terms of an endpoint are read from requests and commands alike, and every fault is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from tollgate.catalog.events import EVENT_ROWS, EVENTFUL_PAYMENT_TYPES, EventType
from tollgate.contract import webhooks
from tollgate.contract.events import describe_body
from tollgate.payments.webhooks import FieldChoice, Scheme, Webhook, WebhookState, Wrapper
from tollgate.values import InvalidParameters, MerchantId, Secret

URL = ("url", "https://shop.example/hooks")
GUIDE = Path(__file__).parents[3] / "docs" / "webhooks.md"
SECRET = "00ff" * 16
WEBHOOK = Webhook(
    id="8a" + "1" * 30, merchant_id=MerchantId("8a" + "2" * 30), url=URL[1], created_at=0, sealed_secrets=b"sealed"
)


def list_faults(*pairs: tuple[str, str], is_new: bool = False) -> dict[str, str]:
    with pytest.raises(InvalidParameters) as refused:
        webhooks.read_terms([*pairs], is_new=is_new)
    return {fault.name: fault.message for fault in refused.value.faults}


def test_every_term_is_a_member_of_an_endpoint() -> None:
    members = {row.member for row in webhooks.TERMS.values()}
    decided_elsewhere = {"id", "merchant_id", "channel_id", "state", "is_listener", "reason", "created_at", "revision"}

    assert members | decided_elsewhere | {"sealed_secrets"} == set(Webhook.__struct_fields__)
    assert not members & decided_elsewhere


def test_every_term_is_documented() -> None:
    rows = [line.split("|") for line in GUIDE.read_text("utf-8").splitlines() if line.startswith("| `--")]
    documented = {row[2].strip().strip("`") for row in rows}

    assert {*webhooks.TERMS, webhooks.SECRET} <= documented


@pytest.mark.parametrize(
    ("name", "values", "member", "value"),
    [
        ("types", ["PAYMENT, schedule.ended", "RISK,PAYMENT"], "types", ("PAYMENT", "schedule.ended", "RISK")),
        ("types", [""], "types", ()),
        ("paymentTypes", ["DB,PA.CP"], "payment_types", ("DB", "PA.CP")),
        ("resultGroups", ["success", "pending"], "result_groups", ("success", "pending")),
        ("fields", ["NON_CUSTOMER_DATA"], "fields", FieldChoice.NON_CUSTOMER_DATA),
        ("scheme", ["both"], "scheme", Scheme.BOTH),
        ("wrapper", ["json"], "wrapper", Wrapper.JSON),
        ("ordered", ["true"], "is_ordered", True),
        ("ordered", ["false"], "is_ordered", False),
        ("retries", ["1, 5", "2592000"], "retries_s", (1, 5, 2592000)),
        ("retries", [""], "retries_s", ()),
    ],
)
def test_a_term_is_read(name: str, values: list[str], member: str, value: Any) -> None:
    assert webhooks.read_terms([(name, each) for each in values], is_new=False) == {member: value}


def test_an_identity_beside_the_terms_is_no_term() -> None:
    pairs = [URL, ("entityId", "8a"), ("secret", SECRET)]
    terms = webhooks.read_terms(pairs, is_new=True)

    assert {*terms} == {"url", "secret"}
    assert terms["secret"].reveal() == SECRET


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("types", "PAYMENTS", "PAYMENTS is unknown: must be among [PAYMENT, REGISTRATION"),
        ("types", "webhook.test", "webhook.test is unknown"),
        ("paymentTypes", "XX", "XX is unknown: must be among [PA, DB"),
        ("resultGroups", "good", "good is unknown: must be among [success"),
        ("fields", "all", "must be one of [ALL, NON_CUSTOMER_DATA]"),
        ("scheme", "none", "must be one of [encrypted, signed, both]"),
        ("wrapper", "xml", "must be one of [raw, json]"),
        ("ordered", "yes", "must be true or false"),
        ("retries", "0", "must be up to 50 pauses of 1 to 2592000 seconds"),
        ("retries", "1m", "must be up to 50 pauses"),
        ("retries", "2592001", "must be up to 50 pauses"),
        ("retries", ",".join(["1"] * 51), "must be up to 50 pauses"),
        ("url", "", "must have 1 to 2048 characters"),
        ("url", "https://shop.example/" + "x" * 2048, "must have 1 to 2048 characters"),
        ("type", "PAYMENT", "is unknown here; known are [url, types"),
        ("secret", SECRET, "is unknown here"),
    ],
)
def test_a_fault_names_its_parameter_and_the_rule(name: str, value: str, message: str) -> None:
    faults = list_faults((name, value))

    assert {*faults} == {name}
    assert faults[name].startswith(message)


def test_all_faults_of_a_new_endpoint_are_named_at_once() -> None:
    given = ("scheme", "both"), ("scheme", "signed"), ("secret", SECRET[1:])

    assert list_faults(*given, is_new=True) == {
        "url": "is required",
        "scheme": "must not be repeated",
        "secret": "must have 64 hex digits",
    }


def test_little_of_what_was_sent_is_repeated() -> None:
    message = list_faults(("types", ",".join(str(number) * 100 for number in range(9))))["types"]

    assert message.split(" is unknown")[0] == ", ".join(str(number) * 40 for number in range(5))


def test_a_rotation_overlaps_for_a_day_unless_it_says_otherwise() -> None:
    assert webhooks.read_rotation([]) == (24, None)
    overlap_hours, secret = webhooks.read_rotation([("overlap", "0"), ("secret", SECRET)])
    assert overlap_hours == 0
    assert isinstance(secret, Secret)
    for wrong in ("721", "-1", "1.5", ""):
        with pytest.raises(InvalidParameters):
            webhooks.read_rotation([("overlap", wrong)])


def test_an_endpoint_is_shown_with_all_its_terms_and_no_secret() -> None:
    shown = webhooks.render_webhook(WEBHOOK)

    assert {*shown} >= {*webhooks.TERMS}
    assert "sealed" not in repr(shown)
    assert "reason" not in shown


def test_the_reason_is_shown_while_it_lasts() -> None:
    disabled = structs.replace(WEBHOOK, state=WebhookState.DISABLED, reason="the receiver answered 410")
    gone = webhooks.render_webhook(disabled)

    assert (gone["state"], gone["reason"]) == ("disabled", "the receiver answered 410")


def test_every_payment_type_that_causes_events_can_be_chosen() -> None:
    own = {row.name for row in EVENT_ROWS.values() if row.type is EventType.PAYMENT}
    assert len(EVENTFUL_PAYMENT_TYPES) >= len(own - {"payment.pending", "payment.failed", "payment.review"})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            b'{"payload":{"id":"1","paymentType":"DB","amount":"9.00","currency":"EUR","result":{"code":"000.100.110"}}}',
            "DB 9.00 EUR 000.100.110",
        ),
        (b'{"payload":{"id":"8a1","result":{"code":"000.100.110"}}}', "8a1"),
        (b'{"payload":{}}', ""),
    ],
)
def test_a_body_is_described_in_a_few_words(body: bytes, words: str) -> None:
    assert describe_body(body) == words
