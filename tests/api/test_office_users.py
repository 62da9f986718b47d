"""The pages of users, and the commands beside them."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest

from api.merchants import run_command
from gateway import GatewayProcess
from office_client import OfficeClient
from office_pages import choose_password
from office_users import PASSWORD, add_user, enter_as, find_first_merchant, list_audit, sign_in
from tollgate.catalog.permissions import Role

_SHOWN = re.compile(r'class="shown-once"><code>([A-Za-z0-9]{20})</code>')


def list_users_from(office: OfficeClient, base: str, name: str) -> str:
    """Returns the page of the list on which a name would come first, because other tests add users too."""
    return office.get(f"{base}/users", after=name[:-1]).body.decode()


def find_user_id(office: OfficeClient, base: str, name: str) -> str:
    page = list_users_from(office, base, name)
    found = re.search(rf'{base}/users/([0-9a-f]{{32}})">{name}<', page)
    assert found is not None
    return found[1]


def read_shown(page: str) -> str:
    found = _SHOWN.search(page)
    assert found is not None
    return found[1]


@pytest.fixture
def administrator(gateway: GatewayProcess) -> OfficeClient:
    return enter_as(gateway, Role.ADMINISTRATOR)


def test_an_administrator_adds_changes_resets_and_disables_a_user(
    gateway: GatewayProcess, administrator: OfficeClient
) -> None:
    office, base = administrator, administrator.base
    name = f"clerk.{uuid4().hex[:8]}"
    office.get(f"{base}/users")
    added = office.post(f"{base}/users", {"name": name, "role": "operator", "channel": "", "refund_limit": "100.00"})
    first = read_shown(added.body.decode())
    assert first not in office.get(f"{base}/users").body.decode()
    user_id = find_user_id(office, base, name)
    assert "refunds up to 100.00" in office.get(f"{base}/users/{user_id}").body.decode()

    clerk = OfficeClient(gateway.base_url, office.merchant_id)
    clerk.sign_in(name, first, follow=False)
    choose_password(clerk, PASSWORD)
    assert clerk.get(f"{base}/approvals").status == 200
    assert clerk.get(f"{base}/users").status == 403

    page = office.post(f"{base}/users/{user_id}/roles", {"role": "developer", "channel": ""}).body.decode()
    assert "Take developer" in page
    page = office.post(f"{base}/users/{user_id}/roles/take", {"role": "operator", "channel": ""}).body.decode()
    assert ("Take operator" in page, "Take developer" in page) == (False, True)

    office.post(f"{base}/users/{user_id}/disable")
    assert clerk.get(f"{base}/approvals", follow=False).status == 303
    assert OfficeClient(gateway.base_url).sign_in(name, PASSWORD).status == 400
    office.post(f"{base}/users/{user_id}/enable")
    assert sign_in(gateway, name).get(f"{base}/approvals").status == 200
    again = read_shown(office.post(f"{base}/users/{user_id}/reset").body.decode())
    assert OfficeClient(gateway.base_url).sign_in(name, PASSWORD).status == 400
    assert OfficeClient(gateway.base_url).sign_in(name, again, follow=False).status == 303


def test_an_administrator_reaches_neither_the_platform_nor_another_merchant(
    gateway: GatewayProcess, administrator: OfficeClient
) -> None:
    office, base = administrator, administrator.base
    other_id = run_command(gateway, "merchant", "add", "Neighbour")
    foreign, root = add_user(gateway, Role.VIEWER, merchant_id=other_id), add_user(gateway)

    assert office.get("/office/users").status == 403
    assert office.get(f"/office/merchants/{other_id}/users").status == 404
    office.get(f"{base}/users")
    assert office.post(f"{base}/users", {"name": "x.y", "role": "platform"}).status in (400, 403)
    for user_id in (foreign.id, root.id):
        assert office.get(f"{base}/users/{user_id}").status == 404
        office.get(f"{base}/users")
        for action in ("roles", "roles/take", "reset", "disable", "enable"):
            answer = office.post(f"{base}/users/{user_id}/{action}", {"role": "viewer", "channel": ""})
            assert answer.status == 404, action
    for user in (foreign, root):
        assert user.name not in list_users_from(office, base, user.name)


def test_the_platform_gives_a_user_roles_for_several_merchants(gateway: GatewayProcess) -> None:
    own = add_user(gateway)
    platform = own.enter(gateway)
    other_id = run_command(gateway, "merchant", "add", "Second shop")
    user_id = add_user(gateway, Role.VIEWER).id
    platform.get(f"/office/users/{user_id}")
    wanted = {"role": "operator", "merchant": other_id}
    # The server learns of the new merchant within a second.
    while platform.post(f"/office/users/{user_id}/roles", wanted).status == 400:
        platform.get(f"/office/users/{user_id}")

    page = platform.get(f"/office/users/{user_id}").body.decode()
    assert ("Take viewer" in page, "Take operator" in page, "Second shop" in page) == (True, True, True)
    assert "Another user has to change what you may do" in platform.get(f"/office/users/{own.id}").body.decode()
    assert platform.post(f"/office/users/{own.id}/disable").status == 403


def test_commands_change_users_and_the_log_names_the_operator(gateway: GatewayProcess) -> None:
    merchant_id, name = find_first_merchant(gateway), f"clerk-{uuid4().hex[:8]}"
    role = ("--role", "operator", "--merchant", merchant_id, "--refund-limit", "25.00")
    first = run_command(gateway, "user", "add", name, *role)
    line = next(line for line in run_command(gateway, "user", "list").splitlines() if line.startswith(f"{name} "))
    assert line == f"{name}  (no second factor, operator of {merchant_id}, refunds up to 25.00)"

    again = run_command(gateway, "user", "reset", name)
    assert again != first
    assert OfficeClient(gateway.base_url).sign_in(name, first).status == 400
    run_command(gateway, "user", "disable", name)
    assert OfficeClient(gateway.base_url).sign_in(name, again).status == 400
    assert f"{name}  (disabled" in run_command(gateway, "user", "list")
    run_command(gateway, "user", "enable", name)
    assert OfficeClient(gateway.base_url).sign_in(name, again, follow=False).status == 303

    entries = [each for each in list_audit(gateway) if each.subject == name and each.action.startswith("user ")]
    assert [(entry.action, entry.user_name, entry.user_id) for entry in entries] == [
        ("user added", "operator", ""),
        ("user reset", "operator", ""),
        ("user disabled", "operator", ""),
        ("user enabled", "operator", ""),
    ]
    assert (entries[0].merchant_id, entries[0].details["role"]) == (merchant_id, "operator")
    for password in (first, again):
        assert password not in str(entries)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("add", "x", "--role", "viewer"), "needs a merchant"),
        (("add", "x", "--role", "platform", "--merchant", "m"), "needs a merchant"),
        (("add", "x", "--role", "viewer", "--merchant", "m"), "no such merchant"),
        (("add", "x y", "--role", "platform"), "letters, digits"),
        (("add", "x", "--role", "platform", "--refund-limit", "1,5"), "two decimals"),
        (("add", "x", "--role", "king"), "platform"),
    ],
)
def test_a_command_says_what_is_wrong(gateway: GatewayProcess, command: tuple[str, ...], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        run_command(gateway, "user", *command)


@pytest.mark.parametrize("action", ["reset", "disable", "enable"])
def test_a_command_refuses_a_user_that_nobody_has(gateway: GatewayProcess, action: str) -> None:
    with pytest.raises(RuntimeError, match="no user nobody"):
        run_command(gateway, "user", action, "nobody")
