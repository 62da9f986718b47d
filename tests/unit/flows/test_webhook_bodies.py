"""A request to an endpoint follows its scheme, wrapper and fields, and uses both secrets while they are rotated."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tollgate.contract.answers import answer_payment
from tollgate.flows import webhooks
from tollgate.operations.app import App
from tollgate.payments.webhooks import FieldChoice, Scheme, Wrapper
from tollgate.values import MINUTE, SECOND, Refusal, Secret
from tollgate.vault.webhooks import WebhookError, verify_signature
from tollgate.wire import Outgoing, Received
from unit.app_fixture import CHANNEL, MERCHANT, NOW
from unit.flows.chains import begin
from unit.flows.delivering import (
    URL,
    RecordingNotifier,
    add_active,
    deliver_all,
    equip,
    list_attempts,
    look_at,
    move_to,
    open_sent,
)

pytestmark = pytest.mark.anyio

CUSTOMER = {
    "customer.givenName": "Jane",
    "billing.city": "Graz",
    "shipping.city": "Wien",
    "customParameters[order]": "7",
}
REFUSED = Received(401)


@pytest.fixture
def equipped(app: App) -> tuple[App, RecordingNotifier]:
    return equip(app)


def is_signed(sent: Outgoing, *secrets: Secret) -> bool:
    headers = sent.headers
    return verify_signature(
        sent.body, headers["webhook-id"], headers["webhook-timestamp"], headers["webhook-signature"], secrets
    )


async def deliver_one(equipped: tuple[App, RecordingNotifier], **terms: Any) -> tuple[Outgoing, Secret, Secret]:
    """Delivers a payment to a new endpoint; returns the request and both secrets."""
    app, notifier = equipped
    new = await add_active(app, **terms)
    await begin(app, echo=CUSTOMER)
    await deliver_all(app, new.webhook)
    [sent] = notifier.sent
    return sent, new.secrets.secret, new.secrets.signing


async def test_an_encrypted_body_is_hex_and_has_no_signature(equipped: tuple[App, RecordingNotifier]) -> None:
    sent, secret, _ = await deliver_one(equipped)

    assert sent.headers["Content-Type"] == "text/plain"
    assert set(sent.body) <= set(b"0123456789ABCDEF")
    assert not {"webhook-signature", "webhook-timestamp"} & sent.headers.keys()
    body = open_sent(sent, secret)
    assert body["type"] == "PAYMENT"
    assert "action" not in body


async def test_a_payload_says_what_a_read_answers_and_more(equipped: tuple[App, RecordingNotifier]) -> None:
    app, notifier = equipped
    new = await add_active(app)
    payment = await begin(app, echo=CUSTOMER)
    await deliver_all(app, new.webhook)

    payload = open_sent(notifier.sent[0], new.secrets.secret)["payload"]

    read = orjson.loads(answer_payment(payment, app.envelope).body)
    assert {name: payload[name] for name in read} == read
    assert payload["authentication"] == {"entityId": CHANNEL.id}
    assert payload["customParameters"] == {"order": "7"}


async def test_the_wrapper_is_json_with_the_encrypted_body(equipped: tuple[App, RecordingNotifier]) -> None:
    sent, secret, _ = await deliver_one(equipped, wrapper=Wrapper.JSON)

    assert sent.headers["Content-Type"] == "application/json"
    assert orjson.loads(sent.body).keys() == {"encryptedBody"}
    assert open_sent(sent, secret)["type"] == "PAYMENT"


async def test_a_signed_body_is_plain_json(equipped: tuple[App, RecordingNotifier]) -> None:
    sent, _, signing = await deliver_one(equipped, scheme=Scheme.SIGNED)

    assert orjson.loads(sent.body).keys() == {"type", "payload"}
    assert sent.headers["Content-Type"] == "application/json"
    assert sent.headers["webhook-timestamp"] == str(NOW // SECOND)
    assert is_signed(sent, signing)
    assert "X-Initialization-Vector" not in sent.headers


async def test_each_attempt_has_the_same_id_and_a_timestamp_and_signature_of_its_own(
    equipped: tuple[App, RecordingNotifier],
) -> None:
    app, notifier = equipped
    new = await add_active(app, scheme=Scheme.SIGNED)
    await begin(app)
    notifier.script = [Received(500)]
    for at in (NOW, NOW + MINUTE):
        move_to(app, at)
        await deliver_all(app, new.webhook)

    first, second = notifier.sent
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    stamps = [int(sent.headers["webhook-timestamp"]) for sent in notifier.sent]
    assert stamps == [NOW // SECOND, NOW // SECOND + 60]
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    assert is_signed(second, new.secrets.signing)


async def test_both_signs_the_encrypted_body(equipped: tuple[App, RecordingNotifier]) -> None:
    sent, secret, signing = await deliver_one(equipped, scheme=Scheme.BOTH)

    assert is_signed(sent, signing)
    assert open_sent(sent, secret)["type"] == "PAYMENT"


async def test_an_endpoint_without_customer_data_is_told_nothing_about_the_shopper(
    equipped: tuple[App, RecordingNotifier],
) -> None:
    sent, secret, _ = await deliver_one(equipped, fields=FieldChoice.NON_CUSTOMER_DATA)

    payload = open_sent(sent, secret)["payload"]
    assert not {"customer", "billing", "shipping"} & payload.keys()
    assert "holder" not in payload["card"]
    assert payload["card"]["last4Digits"] == "0000"
    assert payload["customParameters"] == {"order": "7"}


async def test_the_number_of_the_event_is_a_header_and_only_a_replay_is_marked(
    equipped: tuple[App, RecordingNotifier],
) -> None:
    sent, _, _ = await deliver_one(equipped)

    assert sent.headers["Webhook-Sequence"] == "1"
    assert "Webhook-Replay" not in sent.headers


async def test_the_test_event_is_recorded_and_is_of_type_test(equipped: tuple[App, RecordingNotifier]) -> None:
    app, notifier = equipped
    new = await webhooks.add_webhook(app, MERCHANT.id, URL)

    attempted = await webhooks.test_webhook(app, new.webhook)

    body = open_sent(notifier.sent[0], new.secrets.secret)
    assert (body["type"], body["action"]) == ("test", "webhook activation")
    assert body["payload"]["result"]["code"].startswith("000.")
    assert await list_attempts(app, attempted.record.event_id) == [attempted.record]


# ---- rotation ----


async def test_during_a_rotation_a_signed_body_has_a_signature_for_each_secret(
    equipped: tuple[App, RecordingNotifier],
) -> None:
    app, notifier = equipped
    old = await add_active(app, scheme=Scheme.SIGNED)
    new = await webhooks.rotate_webhook(app, old.webhook, 60)
    assert new is not None
    await begin(app)
    await deliver_all(app, await look_at(app, old.webhook))

    [sent] = notifier.sent
    assert len(sent.headers["webhook-signature"].split(" ")) == 2
    assert is_signed(sent, old.secrets.signing)
    assert is_signed(sent, new.secrets.signing)


async def test_during_a_rotation_a_refused_encrypted_body_is_sent_again_at_once_with_the_previous_secret(
    equipped: tuple[App, RecordingNotifier],
) -> None:
    app, notifier = equipped
    old = await add_active(app)
    new = await webhooks.rotate_webhook(app, old.webhook, 60)
    assert new is not None
    await begin(app)
    notifier.script = [REFUSED]
    [attempted] = await deliver_all(app, await look_at(app, old.webhook))

    first, second = notifier.sent
    assert attempted.is_success
    assert open_sent(first, new.secrets.secret) == open_sent(second, old.secrets.secret)
    with pytest.raises(WebhookError):
        open_sent(second, new.secrets.secret)
    records = await list_attempts(app, attempted.record.event_id)
    assert sorted(record.status or 0 for record in records) == [200, 401]


async def test_a_receiver_that_knows_the_new_secret_is_not_called_twice(
    equipped: tuple[App, RecordingNotifier],
) -> None:
    app, notifier = equipped
    old = await add_active(app)
    await webhooks.rotate_webhook(app, old.webhook, 60)
    await begin(app)
    await deliver_all(app, await look_at(app, old.webhook))

    assert len(notifier.sent) == 1


async def test_after_the_overlap_the_previous_secret_is_not_used(equipped: tuple[App, RecordingNotifier]) -> None:
    app, notifier = equipped
    encrypted, signed = await add_active(app), await add_active(app, scheme=Scheme.SIGNED)
    for each in (encrypted, signed):
        await webhooks.rotate_webhook(app, each.webhook, 60)
    await begin(app)
    move_to(app, NOW + MINUTE)
    notifier.script = [REFUSED, REFUSED]

    for each in (encrypted, signed):
        await deliver_all(app, await look_at(app, each.webhook))

    assert len(notifier.sent) == 2
    assert not is_signed(notifier.sent[1], signed.secrets.signing)


async def test_a_rotation_of_what_somebody_else_changed_is_refused(equipped: tuple[App, RecordingNotifier]) -> None:
    app, _ = equipped
    old = await add_active(app)
    await webhooks.rotate_webhook(app, old.webhook, 60)

    with pytest.raises(Refusal):
        await webhooks.rotate_webhook(app, old.webhook, 60)
