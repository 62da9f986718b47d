"""Access tokens in the back office: who sees them, when a fresh factor is asked for, and what is recorded."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from api.merchants import wait_until
from gateway import Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_users import PASSWORD, enter_as, forget_confirmations
from tollgate.catalog.permissions import Role
from tollgate.values import make_id

_CLEAR = re.compile(r'id="clear-token">([^<]+)<')


def make_token(office: OfficeClient, label: str, **fields: str) -> str:
    """Makes a token and returns the path of its page."""
    office.get(f"{office.base}/tokens")
    page = office.post(f"{office.base}/tokens", {"key": make_id(), "label": label, **fields}).body.decode()
    found = re.search(rf'href="([^"]+/tokens/[0-9a-f]+)">{label}<', page)
    assert found is not None, page
    return found[1]


def read_log(office: OfficeClient, action: str = "") -> str:
    return office.get(f"{office.base}/audit-log", action=action).body.decode()


def show(office: OfficeClient, path: str) -> str:
    found = _CLEAR.search(office.post(f"{path}/show").body.decode())
    assert found is not None
    return found[1]


def test_a_token_is_made_shown_on_its_own_click_used_rotated_and_revoked(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    path = make_token(office, "shop-one", scopes="payments", channels=client.entity_id, expires_days="30")
    page = office.get(path).body.decode()
    assert _CLEAR.search(page) is None
    assert "payments" in page

    clear = show(office, path)
    shop = replace(client, token=clear)
    wait_until(lambda: shop.pay().status == 200)
    assert shop.get("/v1/payments/none").code == "800.900.301"
    assert replace(shop, entity_id=client.lenient_entity_id).pay().status == 403
    assert clear not in office.get(path).body.decode()
    assert clear not in office.get(f"{office.base}/tokens").body.decode()
    assert path.rpartition("/")[2] in read_log(office, action="access token viewed")

    office.post(path, {"label": "shop-one", "scopes": "read"})
    wait_until(lambda: shop.pay().code == "800.900.301")

    office.post(f"{path}/rotate", {"key": make_id(), "overlap_hours": "0"})
    wait_until(lambda: shop.get("/v1/payments/none").code == "800.900.300")
    assert "ended" in office.get(path).body.decode()

    office.post(f"{path}/revoke")
    assert "revoked" in office.get(path).body.decode()
    for action in ("added", "changed", "rotated", "revoked"):
        assert path.rpartition("/")[2] in read_log(office, action=f"access token {action}")
    for page in (read_log(office), gateway.read_log()):
        assert clear not in page


def test_a_revoked_token_is_refused_by_the_next_request(client: Client, office: OfficeClient) -> None:
    path = make_token(office, "shop-two")
    shop = replace(client, token=show(office, path))
    assert shop.pay().status == 200
    office.post(f"{path}/revoke")
    assert shop.pay().code == "800.900.300"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.DEVELOPER])
def test_roles_below_the_administrator_neither_see_nor_change_tokens(
    gateway: GatewayProcess, office: OfficeClient, role: Role
) -> None:
    path = make_token(office, f"secret-{role}")
    other = enter_as(gateway, role)
    for method, target in (
        ("GET", f"{office.base}/tokens"),
        ("GET", path),
        ("POST", f"{office.base}/tokens"),
        ("POST", f"{path}/show"),
        ("POST", path),
        ("POST", f"{path}/rotate"),
        ("POST", f"{path}/revoke"),
    ):
        answer = other.get(target) if method == "GET" else other.post(target)
        assert answer.status == 403, (method, target)
        assert f"secret-{role}" not in answer.body.decode()


def test_a_stale_second_factor_is_asked_for_again_before_anything_is_shown_or_done(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as own:
        office = enter_office(own)
        path = make_token(office, "guarded")
        forget_confirmations(own)
        for answer in (
            office.get(f"{office.base}/tokens", follow=False),
            office.get(path, follow=False),
            office.post(f"{path}/show", follow=False),
            office.post(f"{path}/revoke", follow=False),
        ):
            assert answer.status == 303
            assert answer.headers["location"].startswith(f"/office/confirm?next={office.base}/tokens")
        assert "access token viewed" not in read_log(office).partition("<tbody>")[2]

        page = office.get(f"{office.base}/tokens").body.decode()
        assert "Confirm that it is you" in page
        password = re.search('"password":"([^"]+)"', own.run("credentials", "--json").stdout)
        assert password is not None
        office.post("/office/confirm", {"code": password[1], "next": f"{office.base}/tokens"})
        assert office.path == f"{office.base}/tokens"
        assert len(show(office, path)) > 40


def test_an_administrator_of_one_channel_manages_tokens_of_that_channel_only(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    everywhere = make_token(office, "everywhere")
    elsewhere = make_token(office, "elsewhere", channels=client.lenient_entity_id)
    narrow = enter_as(gateway, Role.ADMINISTRATOR, client.entity_id)
    own = make_token(narrow, "here", channels=client.entity_id)
    listed = narrow.get(f"{narrow.base}/tokens").body.decode()
    assert ">here<" in listed
    assert ">everywhere<" not in listed
    assert ">elsewhere<" not in listed
    assert narrow.get(own).status == 200
    for path in (everywhere, elsewhere):
        assert narrow.get(path).status == 404
        assert narrow.post(f"{path}/show").status == 404
    assert narrow.post(f"{narrow.base}/tokens", {"key": make_id(), "label": "x"}).status == 403
    assert (
        narrow.post(
            f"{narrow.base}/tokens", {"key": make_id(), "label": "x", "channels": client.lenient_entity_id}
        ).status
        == 400
    )


def test_with_four_eyes_a_second_person_grants_a_token_and_only_views_show_it(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, arguments=["--four-eyes", "token"]) as own:
        first, second = enter_office(own), enter_as(own, Role.ADMINISTRATOR)
        first.get(f"{first.base}/tokens")
        asked = first.post(
            f"{first.base}/tokens", {"key": make_id(), "label": "two-eyes", "scopes": "read"}
        ).body.decode()
        assert "A second person has to confirm this" in asked
        assert ">two-eyes<" not in asked

        waiting = second.get(f"{second.base}/approvals").body.decode()
        found = re.search(r'action="([^"]+/approvals/[0-9a-f]+)"', waiting)
        assert found is not None
        granted = second.post(found[1], {"decision": "grant"}).body.decode()
        assert "was made. Show it when you need it" in granted

        listed = first.get(f"{first.base}/tokens").body.decode()
        path = re.search(r'href="([^"]+/tokens/[0-9a-f]+)">two-eyes<', listed)
        assert path is not None
        clear = show(first, path[1])
        assert clear not in second.get(f"{second.base}/approvals").body.decode()

        assert "second person" in first.post(path[1], {"label": "two-eyes", "scopes": ""}).body.decode()
        assert (
            "The access token was changed" in first.post(path[1], {"label": "renamed", "scopes": "read"}).body.decode()
        )
        assert PASSWORD not in own.read_log()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"label": "x" * 61}, "<strong>label</strong>"),
        ({"scopes": "everything"}, "<strong>scopes</strong>"),
        ({"channels": "8a" + "0" * 30}, "<strong>channels</strong>"),
        ({"expires_days": "soon"}, "<strong>expires_days</strong>"),
        ({"key": ""}, "<strong>key</strong>"),
        ({"key": "x" * 65}, "<strong>key</strong>"),
    ],
)
def test_a_wrong_term_is_refused_and_named(office: OfficeClient, fields: dict[str, str], words: str) -> None:
    answer = office.post(f"{office.base}/tokens", {"key": make_id(), **fields})
    assert answer.status == 400
    assert words in answer.body.decode()


def test_a_form_that_is_sent_twice_makes_one_token(office: OfficeClient) -> None:
    path = make_token(office, "the first")
    key = make_id()
    for label in ("sent twice", "sent twice"):
        office.post(f"{office.base}/tokens", {"key": key, "label": label})
    for _ in range(2):
        office.post(f"{path}/rotate", {"key": key, "overlap_hours": "24"})
    listed = office.get(f"{office.base}/tokens").body.decode()
    assert listed.count(">sent twice<") == 1
    assert listed.count(">the first<") == 2


def test_a_second_person_is_asked_once_for_a_form_that_is_sent_twice(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, arguments=["--four-eyes", "token"]) as own:
        first = enter_office(own)
        form = {"key": make_id(), "label": "sent twice"}
        assert "second person" in first.post(f"{first.base}/tokens", form).body.decode()
        assert "sent before" in first.post(f"{first.base}/tokens", form).body.decode()
        assert first.get(f"{first.base}/approvals").body.decode().count("labelled &#39;sent twice&#39;") == 1
