"""`tollgate events`, `tollgate listen` and `tollgate trigger`, beside a running test host."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.merchants import find_merchant_id, run_command, wait_until
from gateway import COLD, Client, GatewayProcess, inherit_variables
from ports import find_free_port
from status_receiver import Got, Receiver
from tollgate.catalog.events import EVENT_ROWS
from tollgate.cli.program import program
from tollgate.store.opening import open_database
from tollgate.store.replays import Replay, list_replays

EVENT_ID = re.compile(r"\b[0-9a-f]{16}8a[0-9a-f]{30}\b(\.[0-9]+)?")


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def merchant_id(gateway: GatewayProcess, client: Client) -> str:
    return find_merchant_id(gateway, client)


@pytest.fixture
def hook(gateway: GatewayProcess, merchant_id: str, receiver: Receiver, client: Client) -> Iterator[dict[str, str]]:
    """An active endpoint of the sandbox merchant, which the server knows."""
    options = ("--url", f"{receiver.url}/200", "--merchant", merchant_id, "--json")
    added: dict[str, str] = json.loads(run_command(gateway, "webhook", "add", *options))
    # Tested through the server, which then knows that it is active.
    assert client.post(f"/v1/webhooks/{added['id']}/test", {}).json["state"] == "active"
    receiver.got.clear()
    yield added
    run_command(gateway, "webhook", "remove", added["id"])


def invoke(gateway: GatewayProcess, *command: str, typed: str = "") -> Result:
    store = ["--data", str(gateway.data), *(["--database", gateway.database] if gateway.database else [])]
    return CliRunner().invoke(program, [*command, *store], input=typed, env=dict(gateway.environment))


def read_list(gateway: GatewayProcess, merchant_id: str, *options: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads(
        run_command(gateway, "events", "list", "--merchant", merchant_id, "--json", *options)
    )
    return listed


def pay_and_receive(client: Client, receiver: Receiver) -> Got:
    before = len(receiver.got)
    client.pay()
    wait_until(lambda: len(receiver.got) > before)
    return receiver.got[-1]


def wait_until_delivered(gateway: GatewayProcess, event_id: str) -> dict[str, Any]:
    shown: list[dict[str, Any]] = []

    def is_delivered() -> bool:
        shown.append(json.loads(run_command(gateway, "events", "show", event_id, "--json")))
        return bool(shown[-1]["deliveries"][0]["state"] == "delivered")

    wait_until(is_delivered)
    return shown[-1]


# ---- events ----


def test_an_event_is_listed_and_shown_with_its_attempts(
    gateway: GatewayProcess, client: Client, merchant_id: str, hook: dict[str, str], receiver: Receiver
) -> None:
    got = pay_and_receive(client, receiver)
    shown = wait_until_delivered(gateway, got.event_id)

    newest, *_ = read_list(gateway, merchant_id)
    assert (newest["id"], newest["name"]) == (got.event_id, "payment.succeeded")
    assert newest["deliveries"][0]["webhook"] == hook["id"]
    assert shown["payload"] == got.decrypt(hook["secret"])["payload"]
    (attempt,) = shown["attempts"]
    assert (attempt["status"], attempt["failure"], attempt["replay"]) == (200, None, False)
    assert attempt["headers"]["webhook-id"] == got.event_id
    text = run_command(gateway, "events", "show", got.event_id)
    assert f"delivery to {hook['id']}: delivered after 1 attempts" in text
    assert f"  > webhook-id: {got.event_id}" in text


@pytest.mark.both_databases
@pytest.mark.usefixtures("hook")
def test_a_list_is_filtered_and_newest_first(
    gateway: GatewayProcess, client: Client, merchant_id: str, receiver: Receiver
) -> None:
    first = pay_and_receive(client, receiver)
    second = pay_and_receive(client, receiver)
    wait_until_delivered(gateway, second.event_id)

    both = [each["id"] for each in read_list(gateway, merchant_id, "--limit", "2", "--type", "payment.succeeded")]
    assert both == [second.event_id, first.event_id]
    assert read_list(gateway, merchant_id, "--type", "REGISTRATION", "--since", "2100-01-01") == []
    assert read_list(gateway, merchant_id, "--until", "2001-01-01T00:00:00+02:00") == []
    assert second.event_id in {each["id"] for each in read_list(gateway, merchant_id, "--status", "delivered")}
    assert second.event_id not in {each["id"] for each in read_list(gateway, merchant_id, "--status", "never")}
    assert f"{second.event_id}  " in run_command(gateway, "events", "list", "--merchant", merchant_id)


@pytest.mark.both_databases
def test_an_event_is_sent_again_under_its_id_as_a_replay(
    gateway: GatewayProcess, client: Client, hook: dict[str, str], receiver: Receiver
) -> None:
    got = pay_and_receive(client, receiver)
    wait_until_delivered(gateway, got.event_id)

    assert f"queued for {hook['id']}" in run_command(gateway, "events", "resend", got.event_id)
    wait_until(lambda: len(receiver.got) == 2)

    again = receiver.got[1]
    assert (again.event_id, again.is_replay, got.is_replay) == (got.event_id, True, False)
    assert again.decrypt(hook["secret"]) == got.decrypt(hook["secret"])


def test_a_replay_is_counted_and_confirmed_before_it_runs(
    gateway: GatewayProcess, client: Client, hook: dict[str, str], receiver: Receiver
) -> None:
    events = [pay_and_receive(client, receiver) for _ in range(2)]
    for each in events:
        wait_until_delivered(gateway, each.event_id)
    replay = "events", "replay", "--webhook", hook["id"], "--status", "delivered"

    refused = invoke(gateway, *replay, typed="n\n")
    assert refused.exit_code == 1
    assert f"replay 2 events to {receiver.url}/200?" in refused.output
    assert invoke(gateway, *replay, "--types", "REGISTRATION").stdout == "0\n"
    assert invoke(gateway, *replay, "--by", "Jane", typed="y\n").stdout == "2\n"
    wait_until(lambda: len(receiver.got) == 4)
    assert {each.event_id for each in receiver.got if each.is_replay} == {each.event_id for each in events}
    (record,) = [each for each in read_replays(gateway) if each.webhook_id == hook["id"]]
    assert (record.requested_by, record.deliveries) == ("Jane", 2)
    assert json.loads(record.filter) == {"status": "delivered"}


def read_replays(gateway: GatewayProcess) -> list[Replay]:
    async def read() -> list[Replay]:
        url = gateway.database or f"sqlite:///{gateway.data}/tollgate.db"
        database = await open_database(url, must_exist=True)
        try:
            return await list_replays(database)
        finally:
            await database.close()

    return asyncio.run(read())


def test_events_of_a_paused_endpoint_are_kept_and_counted(
    gateway: GatewayProcess, client: Client, merchant_id: str, hook: dict[str, str], receiver: Receiver
) -> None:
    run_command(gateway, "webhook", "pause", hook["id"])
    client.pay()

    def read_backlog() -> dict[str, Any]:
        listed = json.loads(run_command(gateway, "webhook", "list", "--merchant", merchant_id, "--json"))
        return next(each for each in listed if each["id"] == hook["id"])

    wait_until(lambda: read_backlog()["pendingDeliveries"] > 0)
    assert read_backlog()["oldestPending"]
    run_command(gateway, "webhook", "resume", hook["id"])
    wait_until(lambda: read_backlog()["pendingDeliveries"] == 0)
    assert receiver.got


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (("events", "show", "none"), "no event none"),
        (("events", "resend", "none"), "no event none"),
        (("events", "replay", "--webhook", "none"), "no webhook none"),
        (("events", "list", "--type", "PAYMENTS"), "PAYMENTS is unknown"),
        (("events", "list", "--since", "yesterday"), "write a time such as"),
        (("events", "list", "--status", "lost"), "'lost' is not one of"),
        (("trigger", "payment.made"), "name one of these events: payment.pending"),
        (("trigger", "payment.succeeded", "--environment", "live"), "only a test host"),
        (("listen", "--environment", "live"), "only a test host"),
        (("listen", "--name", "a b"), "a name has 1 to 64"),
    ],
)
def test_what_cannot_be_done_is_said(gateway: GatewayProcess, command: tuple[str, ...], complaint: str) -> None:
    done = invoke(gateway, *command)

    assert done.exit_code != 0
    assert complaint in done.output


# ---- listen ----


def make_listener(gateway: GatewayProcess, client: Client, merchant_id: str, name: str) -> str:
    """Runs the command until the server has told it of a first event, and returns the id of its endpoint."""
    options = ("--name", name, "--merchant", merchant_id, "--once")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(gateway.run, "listen", *options)
        wait_until(lambda: find_listener(gateway, name) is not None or running.done())
        # A change by request makes the server look at all endpoints at once.
        added = client.post("/v1/webhooks", {"url": "https://shop.example"}).json["id"]
        client.send("DELETE", f"/v1/webhooks/{added}", None, client.authorized())
        client.pay()
        done = running.result()
    assert done.returncode == 0, done.stderr
    assert "payment.succeeded" in done.stdout
    found = find_listener(gateway, name)
    assert found is not None
    return found


def find_listener(gateway: GatewayProcess, name: str) -> str | None:
    listed = json.loads(run_command(gateway, "webhook", "list", "--json"))
    return next((each["id"] for each in listed if each["url"] == f"listen:{name}"), None)


def test_a_listener_continues_where_it_was_stopped_and_receives_replays(
    gateway: GatewayProcess, client: Client, merchant_id: str
) -> None:
    listener_id = make_listener(gateway, client, merchant_id, "resumed")
    listen = "listen", "--name", "resumed", "--merchant", merchant_id, "--once"
    paid = [client.pay().json["id"] for _ in range(2)]

    shown = [run_command(gateway, *listen) for _ in paid]
    assert [[each in text for each in paid] for text in shown] == [[True, False], [False, True]]
    assert "DB 92.00 EUR 000.100.110" in shown[0]
    assert "\x1b[" not in shown[0]
    assert len({text.split("Listening")[0] for text in shown}) == 1
    event_id = next(found[0] for found in EVENT_ID.finditer(shown[0]))
    run_command(gateway, "events", "resend", event_id, "--webhook", listener_id)
    again = run_command(gateway, *listen)
    assert (paid[0] in again, "(replay)" in again) == (True, True)
    assert client.get("/v1/webhooks").json["webhooks"] == []
    assert "needs no test" in invoke(gateway, "webhook", "test", listener_id).output
    run_command(gateway, "webhook", "remove", listener_id)


def test_a_listener_forwards_what_the_real_delivery_would_be(
    gateway: GatewayProcess, client: Client, merchant_id: str, receiver: Receiver
) -> None:
    listener_id = make_listener(gateway, client, merchant_id, "forwarding")
    listen = "listen", "--name", "forwarding", "--merchant", merchant_id, "--once"
    receiver.got.clear()

    paid = client.pay().json["id"]
    shown = run_command(gateway, *listen, "--forward-to", f"{receiver.url}/202")
    (got,) = receiver.got
    secret = re.findall("^secret +([0-9a-f]{64})$", shown, re.M)[0]
    assert "-> answered 202" in shown
    assert got.decrypt(secret)["payload"]["id"] == paid
    (attempt,) = json.loads(run_command(gateway, "events", "show", got.event_id, "--json"))["attempts"]
    assert (attempt["webhook"], attempt["status"]) == (listener_id, 202)
    run_command(gateway, "webhook", "remove", listener_id)


def test_a_listener_ends_well_when_it_is_interrupted(gateway: GatewayProcess, merchant_id: str) -> None:
    store = ["--data", str(gateway.data), *(["--database", gateway.database] if gateway.database else [])]
    command = [*COLD, "listen", "--name", "interrupted", "--merchant", merchant_id, *store]
    variables = {**inherit_variables(), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables)
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        shown = list(takewhile(lambda line: "Listening as interrupted" not in line, lines))
        assert any(line.startswith("signingSecret whsec_") for line in shown), shown
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=100)
    finally:
        process.kill()
    assert (process.returncode, "Stopped." in rest) == (0, True), rest
    assert "Traceback" not in rest
    run_command(gateway, "webhook", "remove", find_listener(gateway, "interrupted") or "")


# ---- trigger ----


@pytest.mark.parametrize("name", EVENT_ROWS)
def test_every_event_of_the_catalogue_can_be_triggered(gateway: GatewayProcess, client: Client, name: str) -> None:
    webhook_id = None
    if name == "webhook.test":
        webhook_id = client.post("/v1/webhooks", {"url": "http://127.0.0.1:9/"}).json["id"]

    *_, last = run_command(gateway, "trigger", name).splitlines()

    if webhook_id is not None:
        assert last == webhook_id
        run_command(gateway, "webhook", "remove", webhook_id)
        return
    shown = json.loads(run_command(gateway, "events", "show", last, "--json"))
    assert shown["name"] == name


def test_a_trigger_without_an_endpoint_or_a_server_says_so(gateway: GatewayProcess, tmp_path: Path) -> None:
    assert "there is no webhook to test" in invoke(gateway, "trigger", "webhook.test").output
    assert [line.split()[0] for line in run_command(gateway, "trigger", "--list").splitlines()] == [*EVENT_ROWS]
    store = "--data", str(tmp_path)
    assert CliRunner().invoke(program, ["migrate", *store]).exit_code == 0
    nobody = {"TOLLGATE_PORT": str(find_free_port())}
    done = CliRunner().invoke(program, ["trigger", "payment.succeeded", *store], env=nobody)
    assert (done.exit_code, "the server does not answer" in done.output) == (1, True)
