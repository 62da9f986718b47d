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
from office_users import PASSWORD, OfficeUser, add_users, forget_confirmations
from office_world import PAGE_ROWS, UNKNOWN_ID, OfficeWorld, build_world, has_permission
from tollgate.catalog.permissions import Role
from tollgate.office.visits import OF_MERCHANT
from tollgate.payments.users import Stage

# Pages come before forms, because forms remove what pages show.
ROWS = [pytest.param(row, id=f"{row.method} {row.path}") for row in sorted(PAGE_ROWS, key=lambda row: row.method)]
FORMS = [pytest.param(row, id=row.path) for row in PAGE_ROWS if row.method != "GET" and Stage.SIGNED_IN in row.stages]
SIGN_IN, SIGN_OUT, CONFIRM = "/office/sign-in", "/office/sign-out", "/office/confirm"
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

    def ask(self, user: OfficeUser, row: Any) -> Answer:
        """Opens a page, or sends its form; a user whose session a form has ended signs in again."""
        answer = self._send(user, row)
        if answer.headers.get("location", "").startswith(SIGN_IN) and row.path != SIGN_OUT:
            self._browsers[user.name] = user.enter(self.world.gateway, self.world.merchant_id)
            answer = self._send(user, row)
        return answer

    def _send(self, user: OfficeUser, row: Any) -> Answer:
        browser, path = self._browsers[user.name], self.world.fill(row.path)
        if row.method == "GET":
            return browser.get(path, follow=False)
        # A form with a file has its token in a header, because its body is not read as fields.
        channel_id = self.world.client.entity_id
        fields = {"note": "a note", "role": "viewer", "merchant": self.world.merchant_id}
        fields |= {"channel": channel_id, "channels": channel_id, "entity_id": channel_id}
        body = urlencode({**fields, "form_token": browser.form_token})
        return browser.send("POST", path, body, {"X-Form-Token": browser.form_token}, follow=False)

    def renew(self, user: OfficeUser, row: Any) -> None:
        self.world.renew(row.path, self._browsers[user.name])

    def confirm(self, user: OfficeUser) -> None:
        assert self._browsers[user.name].post("/office/confirm", {"code": PASSWORD}, follow=False).status == 303

    def forget_token(self, user: OfficeUser, path: str) -> Answer:
        browser = self._browsers[user.name]
        return browser.send("POST", path, "", follow=False)


@pytest.fixture(scope="module")
def crowd(world: OfficeWorld) -> Crowd:
    return Crowd(world)


def is_foreign(row: Any, user: OfficeUser, world: OfficeWorld) -> bool:
    return row.path.startswith(OF_MERCHANT) and user.role is not Role.PLATFORM and user.merchant_id != world.merchant_id


def is_for_all_channels(row: Any) -> bool:
    """Tells whether a page is about the merchant as a whole, so that a role for one channel does not open it."""
    section = row.path.removeprefix(OF_MERCHANT).split("/")[1]
    is_whole = row.path == f"{OF_MERCHANT}/account/channels" or row.path.startswith(f"{OF_MERCHANT}/routing/rows")
    return section in ("erasure", "audit-log", "lists") or is_whole


@pytest.mark.parametrize("row", ROWS)
def test_every_role_gets_the_pages_of_its_permissions_and_no_others(row: Any, crowd: Crowd, world: OfficeWorld) -> None:
    if row.needs_confirmation:
        forget_confirmations(world.gateway)
    known, wrong = dict(world.ids), []
    for user in crowd.users:
        expected, is_open = (
            find_refusal(row, user, world),
            has_permission(row, user.role) and not is_foreign(row, user, world),
        )
        if expected is None:
            crowd.renew(user, row)
        answer = crowd.ask(user, row)
        if is_open and row.needs_confirmation:
            assert answer.headers["location"].startswith(CONFIRM)
            crowd.confirm(user)
            answer = crowd.ask(user, row)
        is_right = answer.status == expected if expected else is_allowed(answer, row, world)
        wrong += [] if is_right else [f"{user.name}: {answer.status} {answer.headers.get('location', '')}"]
    world.ids = known
    assert wrong == []


def find_refusal(row: Any, user: OfficeUser, world: OfficeWorld) -> int | None:
    """Returns the status with which a user is refused, or led to where the user belongs; None if it is allowed."""
    if Stage.SIGNED_IN not in row.stages:
        return 303
    if is_foreign(row, user, world):
        return 404
    if not has_permission(row, user.role):
        return 403
    return 403 if user.channel_id and row.path.startswith(OF_MERCHANT) and is_for_all_channels(row) else None


def is_allowed(answer: Answer, row: Any, world: OfficeWorld) -> bool:
    """A form without its fields may be refused as such, with 400."""
    is_led_away = answer.headers.get("location", "").startswith((SIGN_IN, CONFIRM)) and row.path != SIGN_OUT
    is_found = answer.status != 404 or UNKNOWN_ID in world.fill(row.path)
    return answer.status < 500 and answer.status != 403 and is_found and not is_led_away


def test_there_is_an_object_for_every_page(crowd: Crowd, world: OfficeWorld) -> None:
    """Passkeys and sessions belong to one user each, and are not there for all."""
    for row in PAGE_ROWS:
        crowd.renew(crowd.users[0], row)
    unknown = {row.path for row in PAGE_ROWS if UNKNOWN_ID in world.fill(row.path)}
    assert unknown == {"/office/profile/passkeys/{id}/remove", "/office/profile/sessions/{id}/revoke"}


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
