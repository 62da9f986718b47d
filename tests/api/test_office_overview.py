"""The overview of the back office: sums that have a payment at once, by currency, code, brand, type and channel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway import PAYMENT, Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import read_rows
from office_users import enter_as
from tollgate.catalog.permissions import Role
from tollgate.catalog.results import get_result

DECLINED = {**PAYMENT, "card.number": "4000000000000002"}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A server of its own, because other tests pay on the one that is shared."""
    folder: Path = tmp_path_factory.mktemp("overview")
    with GatewayProcess(folder) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def office(own: GatewayProcess) -> OfficeClient:
    office = enter_office(own)
    empty = office.get(f"{office.base}/overview").body.decode()
    assert "No payment was completed in this period" in empty
    assert "/sandbox/shop" in empty
    assert f"curl {own.base_url}/v1/payments" in empty
    client = own.client()
    assert any(f"entityId={entity_id}" in empty for entity_id in (client.entity_id, client.lenient_entity_id))
    paid = [client.post("/v1/payments", PAYMENT), client.post("/v1/payments", {**PAYMENT, "currency": "USD"})]
    client.post("/v1/payments", DECLINED)
    refunded = client.post(
        f"/v1/payments/{paid[0].json['id']}", {"paymentType": "RF", "amount": "2.00", "currency": "EUR"}
    )
    assert refunded.status == 200
    return office


def list_row(rows: list[list[str]], first: str) -> list[list[str]]:
    return [[" ".join(cell.split()) for cell in row] for row in rows if row and row[0].split()[:1] == [first]]


@pytest.mark.parametrize("period", ["today", "7", "30"])
def test_payments_count_at_once_and_currencies_stay_apart(office: OfficeClient, period: str) -> None:
    page = office.get(f"{office.base}/overview", period=period)
    rows = read_rows(page)

    assert list_row(rows, "VISA") == [
        ["VISA", "2", "50.0 %", "92.00", "100 %"],
        ["VISA", "1", "100.0 %", "92.00", "100 %"],
    ]
    assert list_row(rows, "RF") == [["RF refund", "1", "100.0 %", "2.00", "33 %"]]
    assert [row[1] for row in list_row(rows, "DB")] == ["2", "1"]
    [decline] = list_row(rows, "800.100.152")
    assert decline == ["800.100.152", get_result("800.100.152").text, "1", "100 %"]
    text = page.body.decode()
    assert text.count('<svg class="chart"') == 4
    assert ">92.00 EUR<" in text
    assert ">92.00 USD<" in text
    assert "184.00" not in text


def test_the_numbers_over_time_stand_beside_the_charts(office: OfficeClient) -> None:
    rows = read_rows(office.get(f"{office.base}/overview", period="today"))
    hours = [row for row in rows if row and row[0].endswith(":00")]
    assert len(hours) == 48
    assert sorted(row[1:4] for row in hours if row[1] != "0") == [["1", "1", "0"], ["2", "1", "1"]]


def test_a_chosen_period_is_shown_and_a_wrong_one_refused(office: OfficeClient) -> None:
    chosen: dict[str, Any] = {"period": "custom", "from": "2020-01-01", "to": "2020-01-31"}
    assert "No payment was completed" in office.get(f"{office.base}/overview", **chosen).body.decode()
    for wrong in ({"to": "2019-12-31"}, {"to": "2024-01-01"}, {"from": "soon"}, {"period": "always"}):
        assert office.get(f"{office.base}/overview", **{**chosen, **wrong}).status == 400


@pytest.mark.usefixtures("office")
def test_a_user_sees_the_sums_of_the_own_channels_only(own: GatewayProcess) -> None:
    client: Client = own.client()
    viewer = enter_as(own, Role.VIEWER, client.lenient_entity_id)
    page = viewer.get(f"{viewer.base}/overview").body.decode()
    assert "No payment was completed in this period" in page
    assert "entityId=$ENTITY" in page
