"""Changes of routing and risk that a second person confirms: nothing counts before, and nothing outdated is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
import sqlalchemy as sa

from api.merchants import add_channel
from api.registration_requests import ask_store
from gateway import Answer, GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import find_id, read_rows
from office_users import enter_as
from tollgate.catalog.permissions import Role
from tollgate.store import schema
from tollgate.store.statements import Statement
from tollgate.values import make_id

_FORM = re.compile(r'action="([^"]+/approvals/[0-9a-f]+)"')
_MARK = re.compile(r'name="mark" value="([0-9a-f]{32})"')
_RULE = {"kind": "proxy", "outcome": "refuse", "mode": "active"}


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    arguments = ("--four-eyes", "refund=10.00,routing,risk")
    with GatewayProcess(tmp_path_factory.mktemp("careful"), arguments=arguments) as careful:
        yield careful


@pytest.fixture(scope="module")
def first(careful: GatewayProcess) -> OfficeClient:
    return enter_office(careful)


@pytest.fixture(scope="module")
def second(careful: GatewayProcess, first: OfficeClient) -> OfficeClient:
    return enter_as(careful, Role.ADMINISTRATOR, merchant_id=first.merchant_id)


def read(page: Answer) -> str:
    return unescape(page.body.decode())


def read_mark(page: Answer) -> str:
    found = _MARK.search(page.body.decode())
    assert found is not None
    return found[1]


def expect_asked(page: Answer) -> None:
    assert "A second person has to confirm this" in read(page)


def grant(second: OfficeClient) -> str:
    form = _FORM.search(read(second.get(f"{second.base}/approvals")))
    assert form is not None, "nothing can be decided"
    return read(second.post(form[1], {"decision": "grant"}))


def test_a_dispatch_row_counts_when_it_is_confirmed(
    careful: GatewayProcess, first: OfficeClient, second: OfficeClient
) -> None:
    fields = {"channel": careful.client().entity_id, "brands": "JCB", "key": make_id()}
    expect_asked(first.post(f"{first.base}/routing/rows", fields))
    assert "not carried out twice" in read(first.post(f"{first.base}/routing/rows", fields))
    assert "brands: JCB" not in str(read_rows(first.get(f"{first.base}/routing")))
    assert "dispatch brands JCB to the channel" in read(second.get(f"{second.base}/approvals"))
    assert "was added" in grant(second)
    assert "brands: JCB" in str(read_rows(first.get(f"{first.base}/routing")))


def test_an_account_is_added_with_the_address_that_was_confirmed(
    careful: GatewayProcess, first: OfficeClient, second: OfficeClient
) -> None:
    channel = add_channel(careful, careful.client(), "Careful")
    path = f"{first.base}/routing/channels/{channel.entity_id}"
    fields = {"name": "Backup", "live_url": "https://backup.example", "key": make_id()}
    expect_asked(first.post(f"{path}/accounts", fields))
    assert "Backup" not in str(read_rows(first.get(path)))
    assert "https://backup.example" in read(second.get(f"{second.base}/approvals"))
    assert "was added" in grant(second)
    assert "Backup" in str(read_rows(first.get(path)))


def test_a_change_that_was_overtaken_is_not_carried_out(
    careful: GatewayProcess, first: OfficeClient, second: OfficeClient
) -> None:
    channel = add_channel(careful, careful.client(), "Overtaken")
    path = f"{first.base}/routing/accounts/{channel.entity_id}"
    for weight in ("10", "20"):
        expect_asked(first.post(path, {"mark": read_mark(first.get(path)), "acquirer_weight": weight}))
    told = grant(second)
    assert "Changed: acquirer_weight" in told
    assert "somebody changed this after" not in told
    assert "somebody changed this after" in grant(second)


def test_a_rule_gets_its_version_when_it_is_confirmed(first: OfficeClient, second: OfficeClient) -> None:
    expect_asked(first.post(f"{first.base}/risk/rules", {**_RULE, "name": "Proxies", "key": make_id()}))
    assert ">Proxies<" not in read(first.get(f"{first.base}/risk"))
    assert "It is active" in grant(second)
    path = f"{first.base}/risk/rules/{find_id(first.get(f'{first.base}/risk'), 'rules', '>Proxies<')}"
    mark = read_mark(first.get(path))
    for points in ("10", "20"):
        expect_asked(first.post(path, {"mark": mark, "points": points}))
    earlier = read(second.get(f"{second.base}/approvals")).count("somebody changed this after")
    assert "Version 2" in grant(second)
    assert grant(second).count("somebody changed this after") > earlier


def test_a_strategy_that_was_overtaken_is_not_chosen(
    careful: GatewayProcess, first: OfficeClient, second: OfficeClient
) -> None:
    channel = add_channel(careful, careful.client(), "Strategies")
    path = f"{first.base}/routing/channels/{channel.entity_id}"
    for strategy in ("cost", "success"):
        expect_asked(first.post(path, {"mark": read_mark(first.get(path)), "routing": strategy}))
    told = grant(second)
    assert "Changed: routing" in told
    earlier = told.count("somebody changed this after")
    assert grant(second).count("somebody changed this after") > earlier


def test_nobody_is_asked_about_what_cannot_be_done(
    careful: GatewayProcess, first: OfficeClient, second: OfficeClient
) -> None:
    payment_id = careful.client().pay().json["id"]
    entry = {"list": "block", "attribute": "email", "key": make_id()}
    channel = f"{first.base}/routing/channels/{careful.client().entity_id}"
    account = f"{first.base}/routing/accounts/{careful.client().entity_id}"
    for path, fields in (
        (f"{first.base}/lists/entries", {**entry, "value": "a@example.com", "end": "2020-01-31"}),
        (f"{first.base}/lists/entries", {**entry, "value": "a@example.com", "end": "soon"}),
        (f"{first.base}/lists/entries", {**entry, "value": "a@example.com", "note": "n" * 300}),
        (f"{first.base}/lists/entries", {**entry, "payment": payment_id}),
        (f"{channel}/accounts", {"name": "n" * 200, "key": make_id()}),
        (f"{channel}/accounts", {"key": make_id()}),
        (account, {"mark": read_mark(first.get(account)), "acquirer_weight": "many"}),
    ):
        assert first.post(path, fields).status == 400, fields
    assert _FORM.search(read(second.get(f"{second.base}/approvals"))) is None


def test_a_value_that_waits_for_a_list_is_stored_where_nobody_reads_it(
    careful: GatewayProcess, first: OfficeClient, second: OfficeClient
) -> None:
    value = f"waiting-{make_id()}@example.com"
    fields = {"list": "block", "attribute": "email", "value": value, "key": make_id()}
    expect_asked(first.post(f"{first.base}/lists/entries", fields))
    select = Statement(sa.select(schema.approvals.c.fields, schema.approvals.c.summary))
    stored = str(ask_store(careful, lambda database: database.fetch(select, {})))
    assert value not in stored
    assert "w***@example.com" in stored
    assert "is on the block list" in grant(second)
    assert "w***@example.com" in read(first.get(f"{first.base}/lists"))


def test_a_rejected_payment_is_reversed_when_a_second_person_agrees(
    careful: GatewayProcess, first: OfficeClient, second: OfficeClient
) -> None:
    client = careful.client()
    payment_id = client.pay(**{"customParameters[forceResultCode]": "000.400.000"}).json["id"]
    expect_asked(first.post(f"{first.base}/reviews/{payment_id}", {"decision": "REJECT", "key": make_id()}))
    assert client.get(f"/v1/payments/{payment_id}").code == "000.400.000"
    assert "is rejected" in grant(second)
    assert client.get(f"/v1/payments/{payment_id}").code == "000.400.100"
