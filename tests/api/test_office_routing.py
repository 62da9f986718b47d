"""Dispatching and acquirer accounts in the back office: changed once, by those who may, from a page that is current."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest

from api.merchants import add_channel, add_merchant, find_merchant_id, wait_until
from gateway import Answer, GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import find_id, read_rows
from office_users import enter_as, list_audit
from tollgate.catalog.permissions import Role
from tollgate.values import make_id

_MARK = re.compile(r'name="mark" value="([0-9a-f]{32})"')


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A host of its own, because its channels get further accounts."""
    with GatewayProcess(tmp_path_factory.mktemp("routing")) as own:
        yield own


@pytest.fixture(scope="module")
def boss(own: GatewayProcess) -> OfficeClient:
    return enter_office(own)


def read(page: Answer) -> str:
    return unescape(page.body.decode())


def read_mark(page: Answer) -> str:
    found = _MARK.search(page.body.decode())
    assert found is not None, "the page has no form that may be outdated"
    return found[1]


def list_rows(office: OfficeClient) -> list[tuple[str, str]]:
    """Lists the conditions and the channel of each dispatch row."""
    rows = read_rows(office.get(f"{office.base}/routing"))
    return [(row[1], row[2]) for row in rows if len(row) >= 3 and row[0].isdigit()]


def add_row(office: OfficeClient, channel_id: str, key: str | None = None, **conditions: str) -> Answer:
    return office.post(f"{office.base}/routing/rows", {"channel": channel_id, "key": key or make_id(), **conditions})


def add_account(office: OfficeClient, channel_id: str, key: str | None = None, **fields: str) -> Answer:
    path = f"{office.base}/routing/channels/{channel_id}/accounts"
    return office.post(path, {"key": key or make_id(), "name": "Second", **fields})


def test_a_dispatch_row_is_added_once_moved_and_removed(own: GatewayProcess, boss: OfficeClient) -> None:
    channel = add_channel(own, own.client(), "Dispatched")
    add_row(boss, channel.entity_id, brands="AMEX")
    before, key = list_rows(boss), make_id()
    first = read(add_row(boss, channel.entity_id, key, currencies="eur", amount_min="10.00"))
    again = read(add_row(boss, channel.entity_id, key, currencies="eur", amount_min="10.00"))
    assert "was added behind the others" in first
    assert "had been added before" in again
    added = ("currencies: EUR; amount min: 10.00", "Dispatched")
    assert list_rows(boss) == [*before, added]

    page = boss.get(f"{boss.base}/routing")
    row_id = re.findall(r"/routing/rows/([0-9a-f]{32})/remove", page.body.decode())[-1]
    boss.post(f"{boss.base}/routing/rows/{row_id}/move", {"to": "up", "mark": read_mark(page)})
    assert list_rows(boss).index(added) == len(before) - 1
    page = boss.get(f"{boss.base}/routing")
    assert "was removed" in read(boss.post(f"{boss.base}/routing/rows/{row_id}/remove", {"mark": read_mark(page)}))
    assert list_rows(boss) == before
    assert [entry.action for entry in list_audit(own) if entry.subject == row_id] == [
        "dispatch row added",
        "dispatch row moved",
        "dispatch row removed",
    ]


def test_a_page_with_rows_that_were_changed_since_moves_nothing(own: GatewayProcess, boss: OfficeClient) -> None:
    channel = add_channel(own, own.client(), "Stale")
    add_row(boss, channel.entity_id, brands="VISA")
    page = boss.get(f"{boss.base}/routing")
    row_id = re.findall(r"/routing/rows/([0-9a-f]{32})/remove", page.body.decode())[-1]
    add_row(boss, channel.entity_id, brands="MASTER")
    rows = list_rows(boss)
    refused = boss.post(f"{boss.base}/routing/rows/{row_id}/remove", {"mark": read_mark(page)})
    assert refused.status == 409
    assert "changed this after you opened the page" in read(refused)
    assert list_rows(boss) == rows


@pytest.mark.parametrize(("conditions", "name"), [({"brands": "CAKE"}, "brands"), ({"hours": "8"}, "hours")])
def test_a_wrong_condition_is_named(
    own: GatewayProcess, boss: OfficeClient, conditions: dict[str, str], name: str
) -> None:
    refused = add_row(boss, own.client().entity_id, **conditions)
    assert refused.status == 400
    assert f"<strong>{name}</strong>" in read(refused)


def test_an_account_is_added_once_even_by_two_clicks_at_once(own: GatewayProcess, boss: OfficeClient) -> None:
    channel = add_channel(own, own.client(), "Two clicks")
    key, others = make_id(), [enter_as(own, merchant_id=boss.merchant_id) for _ in range(2)]
    with ThreadPoolExecutor(2) as both:
        list(
            both.map(lambda office: add_account(office, channel.entity_id, key, live_url="https://two.example"), others)
        )
    page = read(boss.get(f"{boss.base}/routing/channels/{channel.entity_id}"))
    assert page.count(">Second</a>") == 1
    assert "live: https://two.example" in page


def test_an_account_is_changed_closed_and_opened_again(own: GatewayProcess, boss: OfficeClient) -> None:
    channel = add_channel(own, own.client(), "Changed")
    page = add_account(boss, channel.entity_id, live_url="https://user:word@one.example", acquirer_weight="30")
    assert "user:word" not in read(page)
    account_id = find_id(page, "accounts", ">Second<")
    path = f"{boss.base}/routing/accounts/{account_id}"
    mark = read_mark(boss.get(path))
    assert "Changed: acquirer_weight, name" in read(
        boss.post(path, {"mark": mark, "acquirer_weight": "70", "name": "Better"})
    )
    outdated = boss.post(path, {"mark": mark, "acquirer_weight": "80"})
    assert outdated.status == 409
    assert "is closed" in read(boss.post(f"{path}/state", {"mark": read_mark(boss.get(path))}))
    assert "is open" in read(boss.post(f"{path}/state", {"mark": read_mark(boss.get(path))}))
    rows = read_rows(boss.get(f"{boss.base}/routing/channels/{channel.entity_id}"))
    assert [row[2:4] for row in rows if row[0] == "Better"] == [["1", "70"]]


def test_the_first_account_is_changed_with_its_channel_and_cannot_be_closed(
    own: GatewayProcess, boss: OfficeClient
) -> None:
    channel = add_channel(own, own.client(), "First")
    path = f"{boss.base}/routing/accounts/{channel.entity_id}"
    mark = read_mark(boss.get(path))
    assert "Changed: acquirer_cost_fixed" in read(boss.post(path, {"mark": mark, "acquirer_cost_fixed": "25"}))
    page = boss.get(path)
    assert "0.25 + 0.00 %" in read(page)
    assert boss.post(f"{path}/state", {"mark": read_mark(page)}).status == 400


def test_the_strategy_is_changed_and_a_page_from_before_is_told(own: GatewayProcess, boss: OfficeClient) -> None:
    channel = add_channel(own, own.client(), "Strategy")
    path = f"{boss.base}/routing/channels/{channel.entity_id}"
    mark = read_mark(boss.get(path))
    assert "Changed: routing" in read(boss.post(path, {"mark": mark, "routing": "cost", "exploration_share": "5"}))
    assert boss.post(path, {"mark": mark, "routing": "success"}).status == 409


def test_a_payment_shows_the_accounts_that_were_considered(own: GatewayProcess, boss: OfficeClient) -> None:
    channel = add_channel(own, own.client(), "Considered")
    add_account(boss, channel.entity_id, acquirer_priority="2")
    payment_id = channel.pay().json["id"]
    page = boss.get(f"{boss.base}/payments/{payment_id}")
    rows = {row[0]: row[1] for row in read_rows(page) if len(row) == 3}
    assert (rows["Considered (first account)"], rows["Second"]) == ("chosen", "later priority")
    viewer = enter_as(own, Role.VIEWER, merchant_id=boss.merchant_id)
    assert "later priority" not in read(viewer.get(f"{viewer.base}/payments/{payment_id}"))


def test_a_role_for_one_channel_sees_that_channel_and_no_dispatch_rows(own: GatewayProcess, boss: OfficeClient) -> None:
    mine, other = (add_channel(own, own.client(), name) for name in ("Mine", "Not mine"))
    add_account(boss, other.entity_id)
    limited = enter_as(own, Role.ADMINISTRATOR, mine.entity_id, merchant_id=boss.merchant_id)
    page = read(limited.get(f"{limited.base}/routing"))
    assert "Mine" in page
    assert "Not mine" not in page
    assert "Dispatching" not in page
    account_id = find_id(boss.get(f"{boss.base}/routing/channels/{other.entity_id}"), "accounts", ">Second<")
    for path in (f"channels/{other.entity_id}", f"accounts/{account_id}", f"accounts/{other.entity_id}"):
        assert limited.get(f"{limited.base}/routing/{path}").status == 404
        assert limited.post(f"{limited.base}/routing/{path}", {"mark": "0"}).status == 404
    assert add_row(limited, mine.entity_id).status == 403


def test_accounts_and_rows_of_another_merchant_are_unknown(own: GatewayProcess, boss: OfficeClient) -> None:
    stranger = add_merchant(own, "Stranger")
    stranger_id = find_merchant_id(own, stranger)
    elsewhere = enter_as(own, Role.ADMINISTRATOR, merchant_id=stranger_id)
    channel_id = own.client().entity_id
    wait_until(lambda: elsewhere.get(f"{elsewhere.base}/routing").status == 200)
    assert elsewhere.get(f"{boss.base}/routing").status == 404
    for path in (f"channels/{channel_id}", f"accounts/{channel_id}"):
        assert elsewhere.get(f"{elsewhere.base}/routing/{path}").status == 404
    assert add_row(elsewhere, channel_id).status == 404
    row_id = re.findall(r"/routing/rows/([0-9a-f]{32})/remove", read(boss.get(f"{boss.base}/routing")))[0]
    assert elsewhere.post(f"{elsewhere.base}/routing/rows/{row_id}/remove", {"mark": "0"}).status == 404


def test_an_operator_sees_routing_and_changes_nothing(own: GatewayProcess, boss: OfficeClient) -> None:
    operator = enter_as(own, Role.OPERATOR, merchant_id=boss.merchant_id)
    channel_id = own.client().entity_id
    page = read(operator.get(f"{operator.base}/routing/channels/{channel_id}"))
    assert 'method="post"' not in page.partition("<main")[2]
    assert add_row(operator, channel_id).status == 403
    assert add_account(operator, channel_id).status == 403
    assert enter_as(own, Role.VIEWER, merchant_id=boss.merchant_id).get(f"{boss.base}/routing").status == 403
