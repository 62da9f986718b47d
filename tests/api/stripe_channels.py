"""Channels whose acquirer is a processor with the Stripe API, set up as an operator does it. No test lives here."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import Any

from click.testing import CliRunner

from api.merchants import add_channel, wait_until
from gateway import Answer, Client, GatewayProcess
from stripe_process import API_KEY
from tollgate.cli.program import program

WEBHOOK_SECRET = "whsec_a_secret_of_the_tests"
CARD = {"card.number": "4242424242424242"}
DECLINED_CARD = {"card.number": "4000000000000341"}
CHALLENGED_CARD = {"card.number": "4000002500003155"}
EXTERNAL = {"testMode": "EXTERNAL", **CARD}


def add_stripe_channel(gateway: GatewayProcess, client: Client, name: str, address: str) -> Client:
    added = add_channel(gateway, client, name, "--acquirer", "stripe", "--test-url", address)
    put_secret(gateway, added, "api-key", API_KEY)
    put_secret(gateway, added, "webhook-secret", WEBHOOK_SECRET)
    # The secrets are in the memory of the server as soon as an event is not refused as unknown.
    wait_until(lambda: report(added, {"id": "evt_1", "type": "ping", "data": {"object": {"id": "x"}}}).status == 200)
    return added


def put_secret(gateway: GatewayProcess, client: Client, name: str, value: str) -> None:
    store = ["--data", str(gateway.data), *(["--database", gateway.database] if gateway.database else [])]
    command = ["channel", "acquirer-secret", client.entity_id, name, *store]
    done = CliRunner().invoke(program, command, input=value, env=dict(gateway.environment), catch_exceptions=False)
    assert done.exit_code == 0, done.output


def report(
    client: Client, event: dict[str, Any] | bytes, *, secret: str = WEBHOOK_SECRET, age_s: int = 0, extra: str = ""
) -> Answer:
    """Delivers an event as the processor does, signed with a secret."""
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    at = str(int(time.time()) - age_s)
    signature = hmac.new(secret.encode(), at.encode() + b"." + body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "Stripe-Signature": f"t={at},v1={signature}{extra}"}
    return client.send("POST", f"/v1/acquirers/{client.entity_id}/events", body, headers)


def make_dispute(intent_id: str, dispute_id: str, amount: int = 10000, **changes: Any) -> dict[str, Any]:
    """Returns a dispute of a debit of 100 euros."""
    shown = {"id": dispute_id, "object": "dispute", "amount": amount, "currency": "eur", "reason": "fraudulent"}
    return {**shown, "status": "needs_response", "payment_intent": intent_id, "charge": "ch_1", **changes}


def make_event(name: str, about: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"id": "evt_2", "type": name, "livemode": False, "data": {"object": about}, **changes}
