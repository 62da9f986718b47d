"""A channel with two acquirers over HTTP: whom a payment reaches, where it is followed up, and how it is explained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from acquirer import AcquirerProcess, Fate, Manner
from api.merchants import add_channel, run_command, wait_until
from gateway import GatewayProcess
from office_client import enter_office
from stripe_process import API_KEY, LocalStripe
from tollgate.connectors.card import CHARGES

ENVIRONMENT = {"TOLLGATE_ACQUIRER_TIMEOUT_S": "2", "TOLLGATE_COMPLETION_MARGIN_S": "1"}


class Shop:
    """A channel with two accounts, of which the first has the earlier priority."""

    def __init__(self, gateway: GatewayProcess, first: AcquirerProcess, second: AcquirerProcess, name: str) -> None:
        self.gateway, self.first, self.second, self.name = gateway, first, second, name
        self.client = add_channel(gateway, gateway.client(), name, "--test-url", first.url)
        added = ["account", "add", self.client.entity_id, f"{name} in reserve", "--test-url", second.url]
        self.second_id = run_command(gateway, *added, "--acquirer-priority", "2", "--acquirer-cost-fixed", "30")
        wait_until(lambda: len(self.explain(self.pay()["id"])) == 2)

    def pay(self, **changes: str) -> Any:
        return self.client.pay(None, testMode="EXTERNAL", **changes).json

    def follow(self, payment_id: str, payment_type: str) -> Any:
        fields = {"entityId": self.client.entity_id, "paymentType": payment_type, "testMode": "EXTERNAL"}
        money = {"amount": "92.00", "currency": "EUR"}
        return self.client.post(f"/v1/payments/{payment_id}", {**fields, **money}).json

    def explain(self, payment_id: str) -> list[str]:
        return run_command(self.gateway, "route", "explain", payment_id).splitlines()


@pytest.fixture(scope="module")
def first() -> Iterator[AcquirerProcess]:
    with AcquirerProcess() as acquirer:
        yield acquirer


@pytest.fixture(scope="module")
def second() -> Iterator[AcquirerProcess]:
    with AcquirerProcess() as acquirer:
        yield acquirer


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with GatewayProcess(tmp_path_factory.mktemp("gateway"), environment=ENVIRONMENT) as gateway:
        yield gateway


@pytest.fixture
def shop(
    gateway: GatewayProcess, first: AcquirerProcess, second: AcquirerProcess, request: pytest.FixtureRequest
) -> Iterator[Shop]:
    yield Shop(gateway, first, second, request.node.name[:40])
    first.shut()
    first.open()
    first.behave(CHARGES, Manner.ANSWER)


def test_the_first_that_refuses_connections_is_left_for_the_second_which_has_all_follow_ups(shop: Shop) -> None:
    shop.first.shut()
    paid = shop.pay(paymentType="PA")
    shop.first.open()
    captured = shop.follow(paid["id"], "CP")
    refunded = shop.follow(captured["id"], "RF")

    at_the_second = shop.second.read_ledger()
    for each in (paid, captured, refunded):
        assert each["result"]["code"] == "000.100.112"
        assert each["id"] in at_the_second
    assert not {paid["id"], captured["id"], refunded["id"]} & set(shop.first.read_ledger())
    assert shop.explain(paid["id"]) == [
        f"{shop.client.entity_id}  {shop.name}  could not be reached, score 100",
        f"* {shop.second_id}  {shop.name} in reserve  chosen next, score 100",
    ]


def test_the_first_that_stays_silent_is_reversed_there_and_the_second_never_hears_of_it(shop: Shop) -> None:
    shop.first.behave(CHARGES, Manner.ACT_AND_DROP, times=1)

    paid = shop.pay()

    wait_until(lambda: shop.first.read_ledger()[paid["id"]].fate is Fate.REVERSED)
    assert paid["result"]["code"].startswith("900.100.")
    assert paid["id"] not in shop.second.read_ledger()
    assert shop.explain(paid["id"])[0] == f"* {shop.client.entity_id}  {shop.name}  chosen, score 100"


def test_a_decline_of_the_first_is_not_tried_at_the_second(shop: Shop) -> None:
    shop.first.behave(CHARGES, Manner.DECLINE, times=1)

    paid = shop.pay()

    assert paid["result"]["code"].startswith("800.100.")
    assert paid["id"] not in shop.second.read_ledger()


def test_a_proposal_is_tried_on_the_payments_there_were(shop: Shop, tmp_path: Path) -> None:
    shop.first.behave(CHARGES, Manner.DECLINE, times=2)
    for _ in range(6):
        shop.pay(amount="10.00")
    proposal = tmp_path / "proposal.toml"
    proposal.write_text(
        f'channel = "{shop.client.entity_id}"\n'
        f'[[accounts]]\nid = "{shop.client.entity_id}"\npriority = 2\n'
        f'[[accounts]]\nid = "{shop.second_id}"\npriority = 1\napproves = 50\n'
    )

    tried = run_command(shop.gateway, "route", "try", str(proposal), "--last", "6")

    assert tried.splitlines() == [
        f"{shop.client.entity_id} -> {shop.second_id}  6 payments",
        "EUR: 6 payments, 6 elsewhere; approved 4, expected 3.0 (-1.0); cost 0.00, expected 1.80 (+1.80)",
    ]


def test_the_timeline_names_the_account_and_why_the_other_was_left(shop: Shop) -> None:
    shop.first.shut()
    paid = shop.pay()
    shop.first.open()

    office = enter_office(shop.gateway)
    page = office.get(f"{office.base}/payments/{paid['id']}").body.decode()

    assert f"Route: card connector to {shop.second.url} (EXTERNAL), account {shop.second_id}" in page
    assert "could not be reached, score 100" in page
    assert "chosen next, score 100" in page


def test_a_further_account_is_paid_with_the_secret_that_only_it_has(
    gateway: GatewayProcess, first: AcquirerProcess, processor: LocalStripe
) -> None:
    client = add_channel(gateway, gateway.client(), "Secretive", "--test-url", first.url)
    address = f"http://127.0.0.1:{processor.port}"
    added = ["account", "add", client.entity_id, "Stripe", "--acquirer", "stripe", "--test-url", address]
    account_id = run_command(gateway, *added, "--acquirer-priority", "2")
    run_command(gateway, "account", "secret", account_id, "api-key", given=API_KEY)
    first.shut()

    def pay() -> Any:
        return client.pay(None, testMode="EXTERNAL", card__number="4242424242424242").json

    try:
        wait_until(lambda: pay()["result"]["code"] == "000.100.112")
        paid = pay()
    finally:
        first.open()

    explained = run_command(gateway, "route", "explain", paid["id"]).splitlines()
    assert explained[1] == f"* {account_id}  Stripe  chosen next, score 100"
    assert API_KEY not in gateway.log_path.read_text()
    refund = {"entityId": client.entity_id, "paymentType": "RF", "testMode": "EXTERNAL"}
    refunded = client.post(f"/v1/payments/{paid['id']}", {**refund, "amount": "92.00", "currency": "EUR"})
    assert refunded.code == "000.100.112"
