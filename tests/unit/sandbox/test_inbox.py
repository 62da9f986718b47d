"""An inbox takes anything, shows it without harm, opens what is authentic, and says why the rest does not open."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from html import unescape
from pathlib import Path
from typing import Any, cast

import msgspec
import orjson
import pytest

from tollgate.flows.webhooks import NewWebhook, add_webhook, rotate_webhook
from tollgate.operations.app import App
from tollgate.operations.webhooks import make_request
from tollgate.payments.webhooks import Scheme, Wrapper
from tollgate.sandbox.inbox import pages, reading
from tollgate.sandbox.inbox.behaviour import Behaviour, read_behaviour
from tollgate.store import inboxes
from tollgate.store.events import Event
from tollgate.values import HOUR, SECOND, FixedClock, InvalidParameters, NotFound
from tollgate.vault.body_explaining import UNKNOWN_FAULT
from tollgate.vault.signature_explaining import UNKNOWN_SIGNED_FAULT
from tollgate.web.request import OpenHandler, Reply, Request
from tollgate.web.routes import RouteTable
from unit.app_fixture import MERCHANT, NOW, ScriptedWire, open_app

pytestmark = pytest.mark.anyio

BASE = "http://127.0.0.1:8080"
TABLE = RouteTable(pages.ROUTES)
PAYLOAD = b'{"id":"8a01","amount":"92.00"}'
BODY = {"type": "PAYMENT", "payload": {"id": "8a01", "amount": "92.00"}}
EVENT = Event(
    id="01" * 16, merchant_id=MERCHANT.id, subject_id="8a01", topic="payment.succeeded", created_at=NOW, sequence=2
)
SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = msgspec.structs.replace(await open_app(tmp_path, ScriptedWire()), base_url=BASE)
    yield app
    await app.database.close()


def pass_moment(app: App) -> None:
    """Lets what happens next be later than what happened, because lists are in the order of time."""
    assert isinstance(app.clock, FixedClock)
    app.clock.at += 1


async def ask(
    app: App, method: str, address: str, body: bytes = b"", accept: str = "application/json", **headers: str
) -> Reply:
    pass_moment(app)
    match = TABLE.find(method, address.partition("?")[0])
    sent = {name.replace("_", "-").lower().encode(): value.encode("latin-1") for name, value in headers.items()}
    request = Request(
        method=method,
        path=address.partition("?")[0],
        names=match.names,
        headers={b"accept": accept.encode(), **sent},
        pairs=[],
        trace="1" * 32,
        body=body,
        target=address.encode(),
    )
    return await cast(OpenHandler, match.row.handler)(request, app)


async def list_read(app: App, inbox: str = "hooks") -> list[dict[str, Any]]:
    reply = await ask(app, "GET", f"/sandbox/inbox/{inbox}")
    assert reply.status == 200
    found: list[dict[str, Any]] = orjson.loads(reply.body)
    return found


async def deliver(app: App, new: NewWebhook, change: Callable[[bytes], bytes] = bytes, **replaced: str) -> None:
    """Delivers an event to the inbox of a webhook; the body may be changed on its way."""
    outgoing = make_request(app, new.webhook, new.secrets, EVENT, PAYLOAD, is_replay=True)
    headers = {name.replace("-", "_").lower(): value for name, value in outgoing.headers.items()} | replaced
    path = new.webhook.url.removeprefix(BASE)
    assert (await ask(app, "POST", path, change(outgoing.body), "*/*", **headers)).status == 204


async def add(app: App, inbox: str = "hooks", **terms: Any) -> NewWebhook:
    pass_moment(app)
    return await add_webhook(app, MERCHANT.id, f"{BASE}/sandbox/inbox/{inbox}", **terms)


# ---- what is shown ----


@pytest.mark.parametrize("wrapper", Wrapper)
@pytest.mark.parametrize("scheme", Scheme)
async def test_an_event_is_shown_as_it_was_before_it_was_protected(app: App, scheme: Scheme, wrapper: Wrapper) -> None:
    new = await add(app, scheme=scheme, wrapper=wrapper)
    await deliver(app, new)

    [shown] = await list_read(app)

    assert shown["event"] == BODY
    assert (shown["scheme"], shown["endpoint"]) == (scheme.value, new.webhook.id)
    assert (shown["webhookId"], shown["replay"], shown["sequence"]) == (EVENT.id, True, 2)
    assert (shown["decryption"] is None) is (scheme is Scheme.SIGNED)
    assert (shown["signature"] is None) is (scheme is Scheme.ENCRYPTED)
    assert shown["receivedAt"] == "2026-11-15T12:00:00Z"


async def test_a_previous_secret_still_opens_what_was_sent_with_it(app: App) -> None:
    new = await add(app, scheme=Scheme.BOTH)
    await rotate_webhook(app, new.webhook, HOUR // SECOND)
    await deliver(app, new)

    [shown] = await list_read(app)

    assert shown["event"] == BODY
    assert "previous secret" in shown["decryption"]
    assert "previous signing secret" in shown["signature"]


async def test_each_of_several_webhooks_opens_its_own_events(app: App) -> None:
    both = [await add(app), await add(app)]
    for new in both:
        await deliver(app, new)

    assert [shown["endpoint"] for shown in await list_read(app)] == [new.webhook.id for new in reversed(both)]


async def test_what_is_not_authentic_is_explained_and_no_event(app: App) -> None:
    encrypted, signed = await add(app), await add(app, scheme=Scheme.SIGNED)
    await deliver(app, encrypted, lambda body: body[:-2] + b"00")
    await deliver(app, signed, lambda body: body.replace(b"92", b"93"))

    forged, changed = await list_read(app)

    assert (forged["event"], changed["event"]) == (None, None)
    assert (forged["endpoint"], changed["endpoint"]) == (None, None)
    assert forged["signature"] == UNKNOWN_SIGNED_FAULT
    assert changed["decryption"]
    assert "Opened" not in changed["decryption"]


async def test_a_fault_of_the_sender_is_named(app: App) -> None:
    new = await add(app)
    outgoing = make_request(app, new.webhook, new.secrets, EVENT, PAYLOAD)
    iv, tag = outgoing.headers["X-Initialization-Vector"], outgoing.headers["X-Authentication-Tag"]

    await deliver(app, new, lambda _: outgoing.body, x_initialization_vector=tag, x_authentication_tag=iv)

    [shown] = await list_read(app)
    assert "swapped" in shown["decryption"]
    assert shown["event"] == BODY


async def test_an_inbox_without_webhook_and_one_with_another_secret_say_so(app: App) -> None:
    new = await add(app, "theirs", scheme=Scheme.BOTH)
    await add(app, "other")
    for inbox in ("none", "other"):
        elsewhere = msgspec.structs.replace(new.webhook, url=f"{BASE}/sandbox/inbox/{inbox}")
        await deliver(app, msgspec.structs.replace(new, webhook=elsewhere))

    [alone], [wrong] = await list_read(app, "none"), await list_read(app, "other")

    assert (alone["decryption"], alone["signature"]) == (reading.NO_WEBHOOK, reading.NO_WEBHOOK)
    assert (wrong["decryption"].startswith(UNKNOWN_FAULT), wrong["event"]) == (True, None)


async def test_an_old_timestamp_is_noted_by_the_time_of_arrival(app: App) -> None:
    new = await add(app, scheme=Scheme.SIGNED)
    await deliver(app, new)
    outgoing = make_request(app, new.webhook, new.secrets, EVENT, PAYLOAD)
    assert isinstance(app.clock, FixedClock)
    app.clock.at += HOUR
    await deliver(app, new, bytes, **{name.replace("-", "_"): value for name, value in outgoing.headers.items()})

    late, in_time = await list_read(app)

    assert "too old" in late["signature"]
    assert "too old" not in in_time["signature"]


@pytest.mark.parametrize(
    ("url", "is_it"),
    [
        (f"{BASE}/sandbox/inbox/hooks", True),
        ("https://localhost:9//sandbox/inbox/hooks/?a=b", True),
        (f"{BASE}/sandbox/inbox/hooks2", False),
        (f"{BASE}/sandbox/inbox", False),
        (f"{BASE}/a/sandbox/inbox/hooks", False),
        ("http://[", False),
    ],
)
async def test_a_webhook_belongs_to_an_inbox_by_its_path(url: str, is_it: bool) -> None:
    assert reading.is_address_of(url, "hooks") is is_it


# ---- what is taken ----


async def test_any_bytes_are_taken_and_shown_without_harm(app: App) -> None:
    bodies = [b"\xff\x00\x1b[2J", SCRIPT.encode(), "\u202egnp.exe".encode(), b"[" * 20_000, b"", b'{"a":"\\ud800"}']
    for body in bodies:
        await ask(
            app,
            "POST",
            f"/sandbox/inbox/hooks?{SCRIPT}",
            body,
            X_Authentication_Tag="\xff<b>",
            Webhook_Sequence="9" * 50,
        )
    await ask(app, "PUT", "/sandbox/inbox/hooks", b"x", Webhook_Signature="v1,<i>", Webhook_Sequence="-1")
    await add(app)

    read, page = await list_read(app), await ask(app, "GET", "/sandbox/inbox/hooks", accept="text/html,*/*")

    assert [shown["body"] for shown in read[1:4]] == ['{"a":"\\ud800"}', "", "[" * 20_000]
    assert read[6]["body"] == "\\xff\x00\x1b[2J"
    assert all(shown["event"] is None and shown["sequence"] is None for shown in read)
    text = page.body.decode()
    assert page.status == 200
    assert not any(bad in text for bad in ("<script>alert", "<b>", "<i>", "\x00", "\x1b", "\u202e"))
    assert "\\u202egnp.exe" in text
    assert SCRIPT in unescape(text)
    assert "more characters" in text
    policy = dict(page.headers)[b"content-security-policy"].decode()
    assert "unsafe" not in policy


async def test_a_secret_event_of_hostile_json_is_shown_without_harm(app: App) -> None:
    new = await add(app, scheme=Scheme.SIGNED)
    outgoing = make_request(app, new.webhook, new.secrets, EVENT, orjson.dumps({"a": f"{SCRIPT}\u202e"}))
    await ask(
        app,
        "POST",
        "/sandbox/inbox/hooks",
        outgoing.body,
        **{n.replace("-", "_"): v for n, v in outgoing.headers.items()},
    )

    text = (await ask(app, "GET", "/sandbox/inbox/hooks", accept="text/html")).body.decode()

    assert (await list_read(app))[0]["event"]["payload"] == {"a": f"{SCRIPT}\u202e"}
    assert "<script>alert" not in text
    assert "\u202e" not in text


async def test_credentials_of_the_sender_are_not_kept(app: App) -> None:
    await ask(app, "POST", "/sandbox/inbox/hooks", Authorization="Bearer abc", Cookie="a=b", X_Own="seen")

    [message] = await inboxes.list_messages(app.database, "hooks", 10)

    assert orjson.loads(message.headers) == {
        "accept": "application/json",
        "authorization": "***",
        "cookie": "***",
        "x-own": "seen",
    }


async def test_a_notification_is_recorded_and_a_look_is_not(app: App) -> None:
    await ask(app, "GET", "/sandbox/inbox/hooks?id=8a01", b"")
    reply = await ask(app, "GET", "/sandbox/inbox/hooks?a=%ff&id=8a01&resourcePath=%2Fv1%2Fpayments%2F8a01", b"")

    [shown] = await list_read(app)

    assert reply.status == 200
    assert (shown["method"], shown["scheme"], shown["status"]) == ("GET", "none", 200)
    assert shown["target"].endswith("?a=%ff&id=8a01&resourcePath=%2Fv1%2Fpayments%2F8a01")


@pytest.mark.parametrize("method", ["POST", "PUT", "GET", "DELETE"])
@pytest.mark.parametrize("name", ["a" * 65, "a.b", "ä", "a\n", "a b"])
async def test_a_name_of_another_form_is_refused(app: App, method: str, name: str) -> None:
    with pytest.raises(NotFound):
        await ask(app, method, f"/sandbox/inbox/{name}")


async def test_an_inbox_is_emptied_and_a_limit_is_kept(app: App) -> None:
    for number in range(3):
        await ask(app, "POST", "/sandbox/inbox/hooks", str(number).encode())
    limited = orjson.loads((await ask(app, "GET", "/sandbox/inbox/hooks?limit=2")).body)

    assert [shown["body"] for shown in limited][:1] == [(await list_read(app))[0]["body"]]
    assert len(limited) == 2
    assert (await ask(app, "DELETE", "/sandbox/inbox/hooks")).status == 204
    assert await list_read(app) == []


# ---- what is answered ----


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, Reply(204, b"", b"text/plain")),
        ({"status": "410"}, Reply(410, b"", b"text/plain")),
        ({"status": "503", "retryAfter": "7"}, Reply(503, b"", b"text/plain", ((b"retry-after", b"7"),))),
        ({"redirect": "http://a/b"}, Reply(302, b"", b"text/plain", ((b"location", b"http://a/b"),))),
        ({"redirect": "http://a", "status": "308"}, Reply(308, b"", b"text/plain", ((b"location", b"http://a"),))),
        ({"reset": "true"}, Reply(204, b"", b"text/plain", is_reset=True)),
        ({"reset": "false", "entityId": "8a"}, Reply(204, b"", b"text/plain")),
    ],
)
async def test_a_behaviour_decides_the_answer(fields: dict[str, str], expected: Reply) -> None:
    assert read_behaviour(list(fields.items())).make_reply(204) == expected


async def test_delay_and_count_are_numbers() -> None:
    assert read_behaviour([("delay", "60"), ("count", "2")]) == Behaviour(delay=60, count=2)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("status", "199"),
        ("status", "100"),
        ("status", "299"),
        ("status", "600"),
        ("status", "٢٠٠"),
        ("delay", "61"),
        ("delay", "1.5"),
        ("delay", "-1"),
        ("reset", "yes"),
        ("redirect", "ftp://a/"),
        ("redirect", "http://a/\r\nset-cookie: a=b"),
        ("redirect", "http://ä/"),
        ("redirect", "http://" + "a" * 2048),
        ("retryAfter", ""),
        ("count", "0"),
        ("fail", "true"),
    ],
)
async def test_a_wrong_behaviour_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(InvalidParameters) as refused:
        read_behaviour([(name, text), ("delay", "1") if name != "delay" else ("reset", "true")])

    assert [fault.name for fault in refused.value.faults] == [name]


async def test_a_field_that_is_sent_twice_is_refused() -> None:
    with pytest.raises(InvalidParameters):
        read_behaviour([("status", "500"), ("status", "501")])


async def test_an_inbox_answers_as_told_for_as_many_requests_and_records_what_it_answered(app: App) -> None:
    told = inboxes.Inbox(name="hooks", used_at=NOW, behaviour='{"status":500,"count":2}', requests_left=2)
    await inboxes.put_behaviour(app.database, told)

    statuses = [(await ask(app, "POST", "/sandbox/inbox/hooks")).status for _ in range(3)]

    assert statuses == [500, 500, 204]
    assert sorted(shown["status"] for shown in await list_read(app)) == [204, 500, 500]
    assert (await ask(app, "GET", "/sandbox/inbox/hooks/behaviour")).body == b"{}"


async def test_a_reset_is_recorded_without_a_status(app: App) -> None:
    await inboxes.put_behaviour(app.database, inboxes.Inbox(name="hooks", used_at=NOW, behaviour='{"reset":true}'))

    reply = await ask(app, "POST", "/sandbox/inbox/hooks")

    page = (await ask(app, "GET", "/sandbox/inbox/hooks", accept="text/html")).body.decode()
    assert reply.is_reset
    assert (await list_read(app))[0]["status"] is None
    assert "connection reset" in page
    assert "reset=true" in page
