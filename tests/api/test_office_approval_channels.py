"""Requests for a second person: who sees and decides them, what they tell, and what is left of a requester's rights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
import sqlalchemy as sa

from api.registration_requests import ask_store
from gateway import Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import read_key
from office_users import enter_as
from tollgate.catalog.permissions import Role
from tollgate.store.statements import Statement, Write
from tollgate.values import make_id

_FORM = re.compile(r'action="([^"]+/approvals/[0-9a-f]{32})"')


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with GatewayProcess(
        tmp_path_factory.mktemp("approvals"), arguments=["--four-eyes", "refund=10.00,token,routing"]
    ) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def office(gateway: GatewayProcess) -> OfficeClient:
    return enter_office(gateway)


@pytest.fixture(scope="module")
def client(gateway: GatewayProcess) -> Client:
    return gateway.client()


def ask_refund(user: OfficeClient, client: Client) -> str:
    payment_id = client.pay().json["id"]
    page = user.get(f"{user.base}/payments/{payment_id}").body.decode()
    asked = user.post(f"{user.base}/payments/{payment_id}/refund", {"key": read_key(page, "refund"), "amount": "50.00"})
    assert "A second person" in asked.body.decode()
    return str(payment_id)


def list_requests(user: OfficeClient) -> str:
    return unescape(user.get(f"{user.base}/approvals").body.decode())


def find_form(user: OfficeClient, text: str) -> str:
    row = next(row for row in list_requests(user).split("<tr>") if text in row)
    found = _FORM.search(row)
    assert found is not None, row
    return found[1]


def test_a_user_of_one_channel_sees_and_decides_requests_about_it_only(
    gateway: GatewayProcess, office: OfficeClient, client: Client
) -> None:
    def enter(role: Role) -> OfficeClient:
        return enter_as(gateway, role, merchant_id=office.merchant_id, channel_id=client.lenient_entity_id)

    viewer, head = enter(Role.VIEWER), enter(Role.ADMINISTRATOR)
    payment_id = ask_refund(office, client)
    office.get(f"{office.base}/tokens")
    office.post(f"{office.base}/tokens", {"key": make_id(), "label": "for-everything"})
    other = enter_as(gateway, Role.ADMINISTRATOR, merchant_id=office.merchant_id)
    for text in (payment_id, "for-everything"):
        assert text in list_requests(other)
        form = find_form(other, text)
        for limited in (viewer, head):
            assert text not in list_requests(limited)
        assert head.post(form, {"decision": "decline"}).status == 404
        assert "Declined." in other.post(form, {"decision": "decline"}).body.decode()


def test_an_administrator_of_one_channel_asks_for_and_grants_tokens_of_it(
    gateway: GatewayProcess, office: OfficeClient, client: Client
) -> None:
    first, second = (
        enter_as(gateway, Role.ADMINISTRATOR, merchant_id=office.merchant_id, channel_id=client.entity_id)
        for _ in range(2)
    )
    first.get(f"{first.base}/tokens")
    first.post(
        f"{first.base}/tokens",
        {"key": make_id(), "label": "own-channel", "scopes": "read", "channels": client.entity_id},
    )
    granted = second.post(find_form(second, "own-channel"), {"decision": "grant"}).body.decode()
    assert "was made. Show it when you need it" in granted


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE users SET is_disabled = 1 WHERE name = :name",
        "DELETE FROM grants WHERE user_id = (SELECT id FROM users WHERE name = :name)",
    ],
)
def test_what_a_user_may_not_do_any_more_is_not_done_in_its_name(
    gateway: GatewayProcess, office: OfficeClient, client: Client, change: str
) -> None:
    operator = enter_as(gateway, Role.OPERATOR, merchant_id=office.merchant_id)
    payment_id = ask_refund(operator, client)
    list_requests(office)
    form = find_form(office, payment_id)
    row = next(row for row in list_requests(office).split("<tr>") if payment_id in row)
    name = re.search(r"<td>(operator-[0-9a-z]+)</td>", row)
    assert name is not None
    statement = Statement(sa.text(change))
    ask_store(gateway, lambda db: db.write([Write(statement, {"name": name[1]})], label="test"))
    refused = office.post(form, {"decision": "grant"})
    assert refused.status == 400
    assert "may not do it any more" in refused.body.decode()
    assert client.get(f"/v1/payments/{payment_id}").json["id"] == payment_id
    assert "50.00" not in office.get(f"{office.base}/payments/{payment_id}").body.decode().split("Timeline")[0]
    assert "Declined." in office.post(form, {"decision": "decline"}).body.decode()


def test_a_request_tells_the_second_person_what_it_allows_and_no_password(
    gateway: GatewayProcess, office: OfficeClient, client: Client
) -> None:
    path = f"{office.base}/account/channels/{client.entity_id}"
    office.get(path)
    office.post(path, {"test_url": "https://me:sesame@acquirer.example/pay"})
    office.get(f"{office.base}/tokens")
    office.post(
        f"{office.base}/tokens",
        {"key": make_id(), "label": "harmless", "channels": client.entity_id, "expires_days": "30"},
    )
    other = enter_as(gateway, Role.ADMINISTRATOR, merchant_id=office.merchant_id)
    page = list_requests(other)
    assert "set test_url to https://***@acquirer.example/pay" in page
    assert re.search(r"make an access token for all scopes on [^,]+, until 20.*, labelled 'harmless'", page)
    other.post(find_form(other, "acquirer.example"), {"decision": "grant"})
    assert "sesame" not in page + other.get(f"{other.base}/audit-log").body.decode()
    assert "https://***@acquirer.example/pay" in other.get(path).body.decode()
