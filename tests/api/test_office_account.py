"""Account data, channels and merchants in the back office."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sqlalchemy as sa

from api.registration_requests import ask_store
from gateway import Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_users import enter_as, forget_confirmations
from tollgate.catalog.permissions import Role
from tollgate.payments.merchants import CHANNEL_FLAGS
from tollgate.store import schema
from tollgate.store.database import Database
from tollgate.store.statements import Statement


def test_the_account_shows_entity_ids_and_seeing_it_is_recorded(client: Client, office: OfficeClient) -> None:
    page = office.get(f"{office.base}/account").body.decode()
    assert client.entity_id in page
    assert client.lenient_entity_id in page
    log = office.get(f"{office.base}/audit-log", action="account data viewed").body.decode()
    assert office.merchant_id in log


def test_a_channel_is_added_and_every_setting_of_the_command_is_on_its_page(
    gateway: GatewayProcess, office: OfficeClient
) -> None:
    page = office.post(f"{office.base}/account/channels", {"name": "Market hall"}).body.decode()
    for flag in CHANNEL_FLAGS:
        assert f'name="{flag.parameter}"' in page
    path = office.path
    office.post(path, {"lenient": "true", "rebills_max": "3", "three_ds_test_url": "https://ds.example"})
    changed = office.get(path).body.decode()
    assert 'value="3"' in changed
    assert 'value="https://ds.example"' in changed
    entity_id = path.rpartition("/")[2]
    assert f"{entity_id}  merchant {office.merchant_id}  Market hall  (lenient" in gateway.run("channel", "list").stdout
    log = office.get(f"{office.base}/audit-log", action="channel changed").body.decode()
    assert entity_id in log
    assert "https://ds.example" in log


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"creditor_iban": "nonsense", "merchant_category": "1"}, ("creditor_iban", "merchant_category")),
        ({"rebills_max": "many"}, ("rebills_max",)),
        ({"live_url": "javascript:alert(1)"}, ("live_url",)),
        ({"lenient": "perhaps"}, ("lenient",)),
        ({"return_schemes": "https"}, ("return_schemes",)),
    ],
)
def test_wrong_settings_are_named_and_nothing_is_changed(
    client: Client, office: OfficeClient, fields: dict[str, str], names: tuple[str, ...]
) -> None:
    path = f"{office.base}/account/channels/{client.entity_id}"
    before = office.get(path).body.decode()
    refused = office.post(path, fields)
    assert refused.status == 400
    for name in names:
        assert f"<strong>{name}</strong>" in refused.body.decode()
    assert _drop_times(office.get(path).body.decode()) == _drop_times(before)


def _drop_times(page: str) -> str:
    return re.sub(r"<div role=\"status\".*?</div>", "", page, flags=re.DOTALL)


def test_half_a_creditor_is_refused_by_naming_the_rest(office: OfficeClient) -> None:
    office.post(f"{office.base}/account/channels", {"name": "No creditor"})
    page = office.post(office.path, {"creditor_name": "Shop"}).body.decode()
    for name in ("creditor_iban", "creditor_id"):
        assert f"<strong>{name}</strong> is needed too" in page


def test_roles_see_and_change_what_the_table_says(gateway: GatewayProcess, client: Client) -> None:
    for role, sees in ((Role.VIEWER, False), (Role.OPERATOR, False), (Role.DEVELOPER, True)):
        office = enter_as(gateway, role)
        path = f"{office.base}/account/channels/{client.entity_id}"
        assert office.get(f"{office.base}/account").status == (200 if sees else 403)
        assert office.get(path).status == (200 if sees else 403)
        assert office.post(path, {"lenient": "true"}).status == 403
        assert office.post(f"{office.base}/account/channels", {"name": "x"}).status == 403
        assert office.get("/office/merchants").status == 403
        assert office.post("/office/merchants", {"name": "x"}).status == 403


def test_an_administrator_of_one_channel_sees_no_other(gateway: GatewayProcess, client: Client) -> None:
    office = enter_as(gateway, Role.ADMINISTRATOR, client.entity_id)
    page = office.get(f"{office.base}/account").body.decode()
    assert client.entity_id in page
    assert client.lenient_entity_id not in page
    other = f"{office.base}/account/channels/{client.lenient_entity_id}"
    assert office.get(other).status == 404
    assert office.post(other, {"closed": "true"}).status == 404
    assert office.post(f"{office.base}/account/channels", {"name": "x"}).status == 403


def test_a_merchants_page_shows_no_channel_of_another(office: OfficeClient, stranger: Client) -> None:
    assert stranger.entity_id not in office.get(f"{office.base}/account").body.decode()
    assert office.get(f"{office.base}/account/channels/{stranger.entity_id}").status == 404


def test_the_platform_role_adds_merchants(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as own:
        office = enter_office(own)
        office.get("/office/merchants")
        page = office.post("/office/merchants", {"name": "Second <shop>"}).body.decode()
        assert "There is no channel yet" in page
        assert "Second &lt;shop&gt;" in page
        assert "Second <shop>" in own.run("merchant", "list").stdout
        assert "Second &lt;shop&gt;" in office.get("/office/merchants").body.decode()
        assert office.post("/office/merchants", {"name": ""}).status == 400
        assert office.post("/office/merchants", {"name": "x", "id": "1"}).status == 400
        assert "merchant added" in office.get("/office/audit-log").body.decode()


def test_with_four_eyes_another_acquirer_waits_for_a_second_person_and_other_settings_do_not(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path, arguments=["--four-eyes", "routing"]) as own:
        office = enter_office(own)
        path = f"{office.base}/account/channels/{own.client().entity_id}"
        office.get(path)
        assert "second person" in office.post(path, {"test_url": "https://other.example"}).body.decode()
        assert "https://other.example" not in office.get(path).body.decode()
        assert "Changed: rebills_max." in office.post(path, {"rebills_max": "5"}).body.decode()


def test_the_login_in_an_address_is_never_shown_again_and_stays_until_it_is_replaced(
    gateway: GatewayProcess, office: OfficeClient
) -> None:
    office.post(f"{office.base}/account/channels", {"name": "With a login"})
    path = office.path
    entity_id = path.rpartition("/")[2]
    office.post(path, {"test_url": "https://shop:p@s3cret@acquirer.example/in"})
    page = office.get(path).body.decode()
    assert 'value="https://***@acquirer.example/in"' in page
    assert "s3cret" not in page

    office.post(path, {"test_url": "https://***@acquirer.example/in", "rebills_max": "3"})
    assert "s3cret" in read_address(gateway, entity_id)

    refused = office.post(path, {"test_url": "https://***@acquirer.example/out"})
    assert refused.status == 400
    assert "<strong>test_url</strong>" in refused.body.decode()


def read_address(gateway: GatewayProcess, entity_id: str) -> str:
    async def read(database: Database) -> str:
        statement = Statement(sa.select(schema.channels.c.test_url).where(schema.channels.c.id == entity_id))
        row = await database.fetch_one(statement, {})
        assert row is not None
        return str(row[0])

    return ask_store(gateway, read)


def test_another_address_for_card_data_needs_a_fresh_factor(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as own:
        office = enter_office(own)
        path = f"{office.base}/account/channels/{own.client().entity_id}"
        forget_confirmations(own)
        refused = office.post(path, {"test_url": "https://elsewhere.example"}, follow=False)
        assert refused.headers["location"] == f"/office/confirm?next={path}"
        assert office.post(path, {"rebills_max": "3"}, follow=False).headers["location"] == path
        assert "elsewhere" not in office.get(path).body.decode()
