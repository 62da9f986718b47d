"""`tollgate webhook` adds, lists, changes, tests, rotates, pauses and removes endpoints, beside a server or without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from status_receiver import Receiver
from tollgate.cli.program import program
from tollgate.payments.webhooks import WebhookState

SECRET = "0123456789abcdef" * 4
ELSEWHERE = "https://shop.example/hooks"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(tmp_path)
    host.run("migrate")
    host.run("merchant", "add", "Shop")
    return host


class Host:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def invoke(self, *command: str) -> Result:
        return CliRunner().invoke(program, [*command, "--data", str(self.folder)], catch_exceptions=False)

    def run(self, *command: str) -> str:
        done = self.invoke(*command)
        assert done.exit_code == 0, done.output
        return done.stdout.strip()

    def refuse(self, *command: str) -> str:
        done = self.invoke(*command)
        assert done.exit_code != 0, done.output
        return done.output

    def add(self, *options: str) -> dict[str, str]:
        added: dict[str, str] = json.loads(self.run("webhook", "add", *options, "--json"))
        return added

    def list_webhooks(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.run("webhook", "list", "--json"))
        return found

    def read_state(self) -> str:
        state: str = self.list_webhooks()[0]["state"]
        return state


def test_add_prints_four_members_for_scripts(host: Host) -> None:
    added = host.add("--url", ELSEWHERE)

    assert list(added) == ["id", "secret", "signingSecret", "state"]
    assert len(bytes.fromhex(added["secret"])) == 32
    assert added["signingSecret"].startswith("whsec_")
    assert added["state"] == "inactive"


def test_secrets_are_shown_by_add_and_rotate_only(host: Host) -> None:
    added = host.add("--url", ELSEWHERE, "--secret", SECRET)
    rotated = json.loads(host.run("webhook", "rotate", added["id"], "--json"))
    others = [host.run("webhook", "list"), host.run("webhook", "list", "--json")]
    others.append(host.run("webhook", "set", added["id"], "--types", "PAYMENT"))

    assert added["secret"] == SECRET
    assert not {added["secret"], added["signingSecret"]} & {rotated["secret"], rotated["signingSecret"]}
    for shown in others:
        assert not [each for each in (added, rotated) if each["secret"] in shown or each["signingSecret"] in shown]


def test_a_test_that_is_answered_activates_and_ends_with_zero(host: Host, receiver: Receiver) -> None:
    added = host.add("--url", f"{receiver.url}/204")

    assert host.run("webhook", "test", added["id"]) == "answered 204; the webhook is active"
    assert host.read_state() == "active"
    assert receiver.got[0].decrypt(added["secret"])["type"] == "test"


def test_a_test_that_is_not_accepted_ends_with_one_and_the_reason(host: Host, receiver: Receiver) -> None:
    added = host.add("--url", f"{receiver.url}/503")

    done = host.invoke("webhook", "test", added["id"])

    assert done.exit_code == 1
    assert "the test event was not accepted: answered 503" in done.output
    assert host.read_state() == "inactive"


def test_terms_are_kept_and_listed(host: Host) -> None:
    merchant_id = host.run("merchant", "list").split()[0]
    entity_id = host.run("channel", "add", merchant_id, "Shop")
    options = ["--types", "PAYMENT,schedule.ended", "--types", "RISK", "--payment-types", "DB", "--ordered"]
    options += ["--result-groups", "success,pending", "--fields", "NON_CUSTOMER_DATA", "--retries", "1,60"]
    host.add("--url", ELSEWHERE, "--scheme", "both", "--wrapper", "json", "--entity", entity_id, *options)

    (listed,) = host.list_webhooks()

    expected = {
        "types": ["PAYMENT", "schedule.ended", "RISK"],
        "paymentTypes": ["DB"],
        "resultGroups": ["success", "pending"],
        "fields": "NON_CUSTOMER_DATA",
        "scheme": "both",
        "wrapper": "json",
        "ordered": True,
        "retries": [1, 60],
        "entityId": entity_id,
        "merchant": merchant_id,
        "url": ELSEWHERE,
        "pendingDeliveries": 0,
        "oldestPending": None,
    }
    assert {name: listed[name] for name in expected} == expected
    assert f"inactive  {ELSEWHERE}  PAYMENT,schedule.ended,RISK  both  0 pending" in host.run("webhook", "list")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--types", "PAYMENTS"), "--types: PAYMENTS is unknown: must be among [PAYMENT, "),
        (("--payment-types", "QQ"), "--payment-types: QQ is unknown"),
        (("--secret", "abc"), "--secret: must have 64 hex digits"),
        (("--url", "https://user:pw@shop.example"), "--url: a user or password in the address is refused"),
        (("--url", "ftp://shop.example"), "--url: only http and https are allowed"),
        (("--url", "http://127.1/"), "--url: the host is a number in an unusual spelling"),
        (("--url", ""), "--url: must have 1 to 2048 characters"),
    ],
)
def test_what_cannot_be_accepted_is_named_and_adds_nothing(
    host: Host, options: tuple[str, ...], complaint: str
) -> None:
    assert complaint in host.refuse("webhook", "add", "--url", ELSEWHERE, *options)
    assert host.list_webhooks() == []


def test_an_address_is_needed(host: Host) -> None:
    assert "--url: is required" in host.refuse("webhook", "add")


def test_of_several_merchants_a_test_host_takes_the_oldest_and_a_live_host_needs_one(host: Host) -> None:
    first = host.run("merchant", "list").split()[0]
    other = host.run("merchant", "add", "Other")
    live = ("--environment", "live", "--key-file", str(next(host.folder.glob("*key*"))))

    assert "--merchant is needed, because there are 2 merchants" in host.refuse(
        "webhook", "add", "--url", ELSEWHERE, *live
    )
    assert "no merchant 8a" in host.refuse("webhook", "add", "--url", ELSEWHERE, "--merchant", "8a")
    host.add("--url", ELSEWHERE, "--merchant", other)
    host.add("--url", ELSEWHERE)
    assert [row["merchant"] for row in host.list_webhooks()] == [other, first]


def test_a_channel_names_its_merchant_and_no_other(host: Host) -> None:
    first = host.run("merchant", "list").split()[0]
    other = host.run("merchant", "add", "Other")
    entity_id = host.run("channel", "add", other, "Other")

    assert "is not one of merchant" in host.refuse(
        "webhook", "add", "--url", ELSEWHERE, "--merchant", first, "--entity", entity_id
    )
    assert "no channel 8a" in host.refuse("webhook", "add", "--url", ELSEWHERE, "--entity", "8a")
    host.add("--url", ELSEWHERE, "--entity", entity_id)
    assert [row["merchant"] for row in host.list_webhooks()] == [other]


def test_set_changes_terms_and_an_empty_list_stands_for_everything(host: Host) -> None:
    webhook_id = host.add("--url", ELSEWHERE, "--types", "PAYMENT", "--ordered")["id"]

    host.run("webhook", "set", webhook_id, "--types", "", "--scheme", "signed", "--unordered")

    (listed,) = host.list_webhooks()
    assert (listed["types"], listed["scheme"], listed["ordered"]) == ([], "signed", False)
    assert "name at least one option" in host.refuse("webhook", "set", webhook_id)
    assert "only http and https" in host.refuse("webhook", "set", webhook_id, "--url", "ftp://x")


def test_another_address_must_be_tested_and_the_same_one_not(host: Host, receiver: Receiver) -> None:
    webhook_id = host.add("--url", f"{receiver.url}/200")["id"]
    host.run("webhook", "test", webhook_id)

    host.run("webhook", "set", webhook_id, "--url", f"{receiver.url}/200", "--types", "PAYMENT")
    assert host.read_state() == "active"

    host.run("webhook", "set", webhook_id, "--url", f"{receiver.url}/201")
    (listed,) = host.list_webhooks()
    assert (listed["state"], listed["reason"]) == ("inactive", "the address was changed")
    assert "inactive (the address was changed)" in host.run("webhook", "list")
    host.run("webhook", "test", webhook_id)
    assert host.read_state() == "active"


def test_only_an_active_endpoint_is_paused_and_only_a_paused_one_resumed(host: Host, receiver: Receiver) -> None:
    webhook_id = host.add("--url", f"{receiver.url}/200")["id"]

    assert "the webhook is inactive" in host.refuse("webhook", "pause", webhook_id)
    assert "`tollgate webhook test` activates" in host.refuse("webhook", "resume", webhook_id)
    host.run("webhook", "test", webhook_id)
    assert host.run("webhook", "pause", webhook_id) == f"{webhook_id}  paused"
    assert host.read_state() == WebhookState.PAUSED.name.lower()
    host.run("webhook", "test", webhook_id)
    assert host.read_state() == "paused"
    assert host.run("webhook", "resume", webhook_id) == f"{webhook_id}  active"
    assert host.read_state() == "active"


def test_a_rotation_takes_a_secret_and_an_overlap(host: Host) -> None:
    webhook_id = host.add("--url", ELSEWHERE)["id"]
    rotate = "webhook", "rotate", webhook_id

    assert json.loads(host.run(*rotate, "--secret", SECRET, "--overlap", "0", "--json"))["secret"] == SECRET
    assert "--overlap: must be 0 to 720 hours" in host.refuse(*rotate, "--overlap", "721")
    assert "secret        " in host.run(*rotate)


def test_a_removed_endpoint_is_gone(host: Host) -> None:
    webhook_id = host.add("--url", ELSEWHERE)["id"]

    host.run("webhook", "remove", webhook_id)

    assert host.list_webhooks() == []
    for command in ("test", "rotate", "pause", "resume", "remove"):
        assert f"no webhook {webhook_id}" in host.refuse("webhook", command, webhook_id)


def test_a_live_host_refuses_addresses_that_it_can_never_send_to(host: Host) -> None:
    live = "--environment", "live", "--key-file", str(host.folder / "keys.json")

    for url, rule in (
        ("http://shop.example", "http is refused"),
        ("https://shop.example:444", "port 444 is not among"),
    ):
        assert rule in host.refuse("webhook", "add", "--url", url, *live)
    assert host.list_webhooks() == []
    host.run("webhook", "add", "--url", "https://shop.example:444", *live, "--outbound-ports", "444")
    assert len(host.list_webhooks()) == 1
