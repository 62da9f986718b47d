"""Access tokens with scopes, channels and an end, made by the command and used over HTTP."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from subprocess import CalledProcessError
from urllib.parse import urlencode

import pytest

from api.merchants import run_command, wait_until
from gateway import PAYMENT, Client, GatewayProcess

OUT_OF_SCOPE, UNKNOWN_CHANNEL, UNAUTHENTICATED = "800.900.301", "800.900.201", "800.900.300"


def add_token(gateway: GatewayProcess, client: Client, *flags: str) -> Client:
    """A client with a token of the sandbox merchant, once the server knows it."""
    merchant_id = run_command(gateway, "merchant", "list").split()[0]
    token = run_command(gateway, "token", "add", merchant_id, *flags)
    made = replace(client, token=token)
    wait_until(lambda: made.get("/v1/payments/none").code != UNAUTHENTICATED)
    return made


def find_token_id(gateway: GatewayProcess, label: str) -> str:
    lines = run_command(gateway, "token", "list").splitlines()
    return next(line for line in lines if f"  {label}" in line).split()[0]


def test_a_token_does_what_its_scopes_name_and_is_told_which_one_is_missing(
    gateway: GatewayProcess, client: Client
) -> None:
    paid = client.pay().json["id"]
    reader, payer, refunder, reporter = (
        add_token(gateway, client, "--scopes", scope) for scope in ("read", "payments", "refunds", "reports")
    )

    refused = reader.pay()
    assert (refused.status, refused.code) == (403, OUT_OF_SCOPE)
    assert "payments" in refused.json["result"]["description"]
    assert reader.get(f"/v1/payments/{paid}").json["id"] == paid
    assert payer.get(f"/v1/payments/{paid}").code == OUT_OF_SCOPE
    assert payer.pay().status == 200
    refund = {"amount": "1.00", "currency": "EUR", "paymentType": "RF"}
    assert payer.post(f"/v1/payments/{paid}", refund).code == OUT_OF_SCOPE
    assert payer.post("/v1/payments", {**refund, "referenceUuid": paid}).code == OUT_OF_SCOPE
    assert payer.pay(paymentType="CD").code == OUT_OF_SCOPE
    assert refunder.post(f"/v1/payments/{paid}", refund).status == 200
    assert refunder.pay().code == OUT_OF_SCOPE
    assert reporter.get(f"/v1/query/{paid}").json["id"] == paid
    assert reader.get(f"/v1/query/{paid}").code == OUT_OF_SCOPE
    for limited in (reader, payer, refunder, reporter):
        assert limited.get("/v1/webhooks", {"entityId": None}).code == OUT_OF_SCOPE


def test_a_captured_authorization_needs_the_scope_of_payments(gateway: GatewayProcess, client: Client) -> None:
    held = client.pay(paymentType="PA").json["id"]
    capture = {"amount": "92.00", "currency": "EUR", "paymentType": "CP"}
    assert add_token(gateway, client, "--scopes", "refunds").post(f"/v1/payments/{held}", capture).code == OUT_OF_SCOPE
    assert add_token(gateway, client, "--scopes", "payments").post(f"/v1/payments/{held}", capture).status == 200


def test_a_token_for_one_channel_reaches_nothing_of_another(
    gateway: GatewayProcess, client: Client, lenient: Client
) -> None:
    limited = add_token(gateway, client, "--channels", client.entity_id)
    own, foreign = limited.pay(), lenient.pay(createRegistration="true").json
    assert own.status == 200

    refused = replace(limited, entity_id=lenient.entity_id).pay()
    unknown = replace(limited, entity_id="8a" + "0" * 30).pay()
    assert (refused.status, refused.code) == (403, UNKNOWN_CHANNEL)
    assert refused.json["result"] == unknown.json["result"]

    assert limited.get(f"/v1/payments/{own.json['id']}", {"entityId": None}).status == 200
    registration_id = foreign["registrationId"]
    for path in (f"/v1/payments/{foreign['id']}", f"/v1/registrations/{registration_id}"):
        assert limited.get(path, {"entityId": None}).status == 404
        assert limited.get(path).status == 404
        assert client.get(path).status == 200
    paying = {"amount": "1.00", "currency": "EUR", "paymentType": "DB"}
    assert limited.post(f"/v1/registrations/{registration_id}/payments", paying).status == 404
    assert limited.post("/v1/payments", {**paying, "registrationId": registration_id}).status == 404
    assert client.post(f"/v1/registrations/{registration_id}/payments", paying).status == 200


def test_a_login_by_parameters_has_the_scopes_of_its_token(gateway: GatewayProcess, lenient: Client) -> None:
    reader = add_token(gateway, lenient, "--scopes", "read")
    user_id, password = b64decode(reader.token).decode().split("|")
    body = {**PAYMENT, "authentication.userId": user_id, "authentication.password": password}
    sent = urlencode({**body, "entityId": lenient.entity_id})
    answer = lenient.send("POST", "/v1/payments", sent, {"Content-Type": "application/x-www-form-urlencoded"})
    assert (answer.status, answer.code) == (403, OUT_OF_SCOPE)


def test_a_revoked_token_is_refused(gateway: GatewayProcess, client: Client) -> None:
    made = add_token(gateway, client, "--label", "to-revoke")
    assert made.pay().status == 200
    run_command(gateway, "token", "revoke", find_token_id(gateway, "to-revoke"))
    wait_until(lambda: made.get("/v1/payments/none").code == UNAUTHENTICATED)


def test_tokens_end_and_overlap_by_the_clock_of_the_sandbox(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as own:
        client = own.client()
        short = add_token(own, client, "--label", "short", "--expires-days", "1")
        rotated = add_token(own, client, "--label", "rotated", "--scopes", "payments")
        merchant_id = own.run("merchant", "list").stdout.split()[0]
        follower_token = own.run(
            "token", "rotate", find_token_id(own, "rotated"), "--overlap-hours", "2"
        ).stdout.strip()
        follower = replace(client, token=follower_token)
        wait_until(lambda: follower.pay().status == 200)
        assert rotated.pay().status == 200
        assert follower.get("/v1/payments/none").code == OUT_OF_SCOPE

        own.run("clock", "--advance", str(2 * 3600))
        wait_until(lambda: rotated.pay().code == UNAUTHENTICATED)
        assert follower.pay().status == 200
        assert short.pay().status == 200

        own.run("clock", "--advance", str(22 * 3600))
        wait_until(lambda: short.pay().code == UNAUTHENTICATED)
        assert client.pay().status == 200

        listed = own.run("token", "list").stdout
        assert merchant_id in listed
        assert "scopes payments" in listed
        assert "  ended 20" in listed
        for token in (short.token, rotated.token, follower_token):
            assert token not in listed
            assert token not in own.log_path.read_text()


def test_the_command_names_what_is_wrong_with_the_terms(gateway: GatewayProcess) -> None:
    merchant_id = gateway.run("merchant", "list").stdout.split()[0]
    for flags, words in (
        (("--scopes", "everything"), "--scopes: everything is unknown"),
        (("--channels", "8a" + "0" * 30), "--channels: must be channels of this merchant"),
        (("--expires-days", "0"), "--expires-days: must be a number of days from 1 to 3650"),
        (("--label", "x" * 61), "--label: must have up to 60"),
    ):
        with pytest.raises(CalledProcessError) as failed:
            gateway.run("token", "add", merchant_id, *flags)
        assert failed.value.returncode == 2
        assert words in failed.value.stderr
