"""Role by route by permission: every page answers those whose role has its permission, and nobody else.

The matrix is built from the rows of the pages, so a new page is part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from gateway import Answer, GatewayProcess
from office_client import OfficeClient
from office_users import OfficeUser, add_users
from office_world import PAGE_ROWS, UNKNOWN_ID, OfficeWorld, build_world
from tollgate.catalog.permissions import ROLE_PERMISSIONS, Role
from tollgate.office.visits import OF_MERCHANT
from tollgate.payments.users import Stage

ROWS = [pytest.param(row, id=f"{row.method} {row.path}") for row in PAGE_ROWS]
FORMS = [pytest.param(row, id=row.path) for row in PAGE_ROWS if row.method != "GET" and Stage.SIGNED_IN in row.stages]
SIGN_IN = "/office/sign-in"
_MERCHANT_ROLES = [role for role in Role if role is not Role.PLATFORM]


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A server of its own, because forms of all pages are sent to it."""
    with GatewayProcess(tmp_path_factory.mktemp("matrix")) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def world(gateway: GatewayProcess) -> OfficeWorld:
    return build_world(gateway)


class Crowd:
    """One browser for each kind of user: of the merchant, of one of its channels, of another merchant, and of none."""

    def __init__(self, world: OfficeWorld) -> None:
        self.world = world
        self.users = [OfficeUser("everywhere", Role.PLATFORM)]
        for role in _MERCHANT_ROLES:
            self.users += [
                OfficeUser(f"{role} of all", role, world.merchant_id),
                OfficeUser(f"{role} of one", role, world.merchant_id, world.client.entity_id),
                OfficeUser(f"{role} elsewhere", role, world.other_merchant_id),
            ]
        add_users(world.gateway, *self.users)
        self._browsers = {user.name: user.enter(world.gateway, world.merchant_id) for user in self.users}
        world.learn_paths(self._browsers[self.users[0].name], PAGE_ROWS)

    def ask(self, user: OfficeUser, method: str, path: str) -> Answer:
        """Opens a page, or sends its form without fields; a user whose session a form has ended signs in again."""
        answer = self._send(self._browsers[user.name], method, path)
        if answer.headers.get("location", "").startswith(SIGN_IN) and path != "/office/sign-out":
            self._browsers[user.name] = user.enter(self.world.gateway, self.world.merchant_id)
            answer = self._send(self._browsers[user.name], method, path)
        return answer

    def _send(self, browser: OfficeClient, method: str, path: str) -> Answer:
        if method == "GET":
            return browser.get(path, follow=False)
        # A form with a file has its token in a header, because its body is not read as fields.
        fields = urlencode({"form_token": browser.form_token})
        return browser.send("POST", path, fields, {"X-Form-Token": browser.form_token}, follow=False)

    def forget_token(self, user: OfficeUser, path: str) -> Answer:
        browser = self._browsers[user.name]
        return browser.send("POST", path, "", follow=False)


@pytest.fixture(scope="module")
def crowd(world: OfficeWorld) -> Crowd:
    return Crowd(world)


def is_foreign(row: Any, user: OfficeUser, world: OfficeWorld) -> bool:
    return row.path.startswith(OF_MERCHANT) and user.role is not Role.PLATFORM and user.merchant_id != world.merchant_id


def has_permission(row: Any, user: OfficeUser) -> bool:
    if row.permission is None:
        return True
    is_for_platform = not row.path.startswith(OF_MERCHANT)
    return row.permission in ROLE_PERMISSIONS[user.role] and (user.role is Role.PLATFORM or not is_for_platform)


@pytest.mark.parametrize("row", ROWS)
def test_every_role_gets_the_pages_of_its_permissions_and_no_others(row: Any, crowd: Crowd, world: OfficeWorld) -> None:
    path = world.fill(row.path)
    wrong = []
    for user in crowd.users:
        answer = crowd.ask(user, row.method, path)
        text = f"{user.name}: {answer.status} {answer.headers.get('location', '')}"
        if Stage.SIGNED_IN not in row.stages:
            is_right = answer.status == 303
        elif is_foreign(row, user, world):
            is_right = answer.status == 404
        elif not has_permission(row, user):
            is_right = answer.status == 403
        else:
            # What a page shows may belong to all channels, or to another than the one that the role is for.
            may_be_unknown = row.method == "POST" or UNKNOWN_ID in path or user.channel_id
            refusals = ({403} if not user.channel_id else set()) | (set() if may_be_unknown else {404})
            is_right = answer.status < 500 and answer.status not in refusals
        wrong += [] if is_right else [text]
    assert wrong == []


@pytest.mark.parametrize("row", ROWS)
def test_a_visitor_who_is_not_signed_in_is_led_to_sign_in(row: Any, world: OfficeWorld) -> None:
    browser = OfficeClient(world.gateway.base_url)
    path = world.fill(row.path)
    answer = browser.get(path, follow=False) if row.method == "GET" else browser.post(path, follow=False)
    assert answer.status == 303
    assert answer.headers["location"].startswith(SIGN_IN)


@pytest.mark.parametrize("row", FORMS)
def test_a_form_without_its_token_is_refused_whoever_sends_it(row: Any, crowd: Crowd, world: OfficeWorld) -> None:
    answers = {user.name: crowd.forget_token(user, world.fill(row.path)).status for user in crowd.users}
    assert {name: status for name, status in answers.items() if status != 403} == {}


def test_every_page_of_a_merchant_is_in_the_matrix_with_a_permission() -> None:
    assert [row.path for row in PAGE_ROWS if row.path.startswith(OF_MERCHANT) and row.permission is None] == []
