"""Webhooks in the back office: endpoints, secrets shown once, events, attempts and replays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.endpoints import add_endpoint, wait_until_known
from api.merchants import wait_until
from gateway import Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import read_rows
from office_users import enter_as, forget_confirmations
from status_receiver import REFUSAL, Receiver
from tollgate.catalog.permissions import Role

_SECRET = re.compile(r'id="webhook-secret">([0-9a-f]{64})<')


def add_webhook(office: OfficeClient, url: str, **terms: str) -> str:
    """Adds an endpoint and returns the path of its page."""
    office.get(f"{office.base}/webhooks")
    answer = office.post(f"{office.base}/webhooks", {"url": url, **terms})
    assert answer.status == 200, answer.body.decode()
    return office.path


def show_secret(office: OfficeClient, path: str) -> str | None:
    found = _SECRET.search(office.post(f"{path}/secrets").body.decode())
    return None if found is None else found[1]


def test_an_endpoint_is_added_tested_and_delivered_to_and_a_delivery_is_made_again(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    with Receiver() as receiver:
        path = add_webhook(office, f"{receiver.url}/office/200", types="PAYMENT")
        secret = show_secret(office, path)
        assert secret is not None
        assert show_secret(office, path) is None
        assert secret not in office.get(path).body.decode()

        assert "answered with 200" in office.post(f"{path}/test").body.decode()
        paid = client.pay().json["id"]
        events: list[str] = []

        def is_delivered() -> bool:
            page = office.get(f"{path}/events", status="delivered").body.decode()
            events[:] = re.findall(rf'href="({path}/events/[0-9a-f]+)"', page)
            return paid in page

        wait_until(is_delivered)
        got = [each for each in receiver.got if each.path == "/office/200"]
        assert got[-1].decrypt(secret)["payload"]["id"] == paid

        event = office.get(events[0]).body.decode()
        assert "delivered" in event
        assert " ms</td>" in event
        office.post(f"{events[0]}/replay")
        wait_until(lambda: any(each.is_replay for each in receiver.got))

        counted = office.post(f"{path}/replay", {"status": "delivered"}).body.decode()
        found = re.search(r"<strong>(\d+) events</strong>", counted)
        assert found is not None
        done = office.post(f"{path}/replay", {"status": "delivered", "count": found[1]}).body.decode()
        assert f"{found[1]} events are delivered again" in done
        office.get(path)
        office.post(f"{path}/remove")

    log = office.get(f"{office.base}/audit-log").body.decode()
    for words in ("webhook changed", "webhook secrets viewed", "events replayed"):
        assert words in log
    for page in (log, gateway.read_log()):
        assert secret not in page


def test_a_failed_delivery_says_why(gateway: GatewayProcess, client: Client, office: OfficeClient) -> None:
    with Receiver() as receiver:
        endpoint = add_endpoint(gateway, client, f"{receiver.url}/failing/503")
        path = f"{office.base}/webhooks/{endpoint.id}"
        wait_until_known(client, endpoint)
        [event, *_] = list_events(office, path)
        wait_until(lambda: bool(list_attempts(office, event)))

    failed = list_attempts(office, event)[0]
    assert failed["Status"] == "503"
    assert failed["Outcome"].startswith("failed")
    assert "503" in failed["Outcome"], "the reason is missing"
    assert failed["Answer"] == REFUSAL.decode()
    assert REFUSAL.decode() not in office.get(event).body.decode()
    office.post(f"{path}/remove")


def list_attempts(office: OfficeClient, event: str) -> list[dict[str, str]]:
    rows = read_rows(office.get(event))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def list_events(office: OfficeClient, path: str) -> list[str]:
    return re.findall(rf'href="({path}/events/[0-9a-f]+)"', office.get(f"{path}/events").body.decode())


def test_an_endpoint_is_active_after_a_test_that_it_accepts_and_can_be_paused(office: OfficeClient) -> None:
    with Receiver() as receiver:
        path = add_webhook(office, f"{receiver.url}/failing/500")
        assert "not accepted" in office.post(f"{path}/test").body.decode()
        assert "inactive" in office.get(path).body.decode()
        office.post(path, {"url": f"{receiver.url}/failing/200"})
        office.post(f"{path}/test")
    assert "paused" in office.post(f"{path}/state", {"move": "pause"}).body.decode()
    assert office.post(f"{path}/state", {"move": "pause"}).status == 400
    assert "active" in office.post(f"{path}/state", {"move": "resume"}).body.decode()
    office.post(f"{path}/remove")
    assert office.get(path).status == 404


def test_secrets_are_rotated_with_an_overlap_and_shown_once_to_who_asked(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, arguments=["--four-eyes", "key_rotation"]) as own:
        first, second = enter_office(own), enter_as(own, Role.ADMINISTRATOR)
        path = add_webhook(first, "http://127.0.0.1:9/hooks")
        old = show_secret(first, path)
        asked = first.post(f"{path}/rotate", {"overlap": "5"}).body.decode()
        assert "second person" in asked
        waiting = second.get(f"{second.base}/approvals").body.decode()
        found = re.search(r'action="([^"]+/approvals/[0-9a-f]+)"', waiting)
        assert found is not None
        granted = second.post(found[1], {"decision": "grant"}).body.decode()
        assert "shown once to who asked" in granted
        second.get(path)
        assert show_secret(second, path) is None
        first.get(path)
        new = show_secret(first, path)
        assert new not in (None, old)
        assert show_secret(first, path) is None

        forget_confirmations(own)
        for action in ("secrets", "rotate"):
            location = first.post(f"{path}/{action}", {"overlap": "5"}, follow=False).headers["location"]
            assert location == f"/office/confirm?next={first.base}/webhooks"
        moved = first.post(path, {"url": "http://127.0.0.1:9/elsewhere"}, follow=False)
        assert moved.headers["location"] == f"/office/confirm?next={path}"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_roles_without_the_permission_are_refused(gateway: GatewayProcess, office: OfficeClient, role: Role) -> None:
    path = add_webhook(office, "http://127.0.0.1:9/roles")
    other = enter_as(gateway, role)
    for target in (f"{office.base}/webhooks", path, f"{path}/events"):
        assert other.get(target).status == 403
    for target in (
        f"{office.base}/webhooks",
        path,
        *[f"{path}/{word}" for word in ("test", "secrets", "remove", "replay")],
    ):
        assert other.post(target).status == 403
    office.post(f"{path}/remove")


def test_a_developer_of_one_channel_manages_endpoints_of_that_channel_only(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    everywhere = add_webhook(office, "http://127.0.0.1:9/everywhere")
    narrow = enter_as(gateway, Role.DEVELOPER, client.entity_id)
    own = add_webhook(narrow, "http://127.0.0.1:9/own", entity_id=client.entity_id)
    assert "/everywhere" not in narrow.get(f"{narrow.base}/webhooks").body.decode()
    assert narrow.get(everywhere).status == 404
    assert narrow.post(f"{narrow.base}/webhooks", {"url": "http://127.0.0.1:9/all"}).status == 403
    assert narrow.post(f"{own}/remove").status == 200
    office.post(f"{everywhere}/remove")


def test_wrong_terms_are_named(office: OfficeClient) -> None:
    page = office.post(f"{office.base}/webhooks", {"url": "ftp://shop.example", "types": "NONSENSE", "retries": "soon"})
    assert page.status == 400
    for name in ("types", "retries"):
        assert f"<strong>{name}</strong>" in page.body.decode()
