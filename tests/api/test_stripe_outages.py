"""A stopped processor and a killed gateway: whatever localstripe did, a failed payment leaves no money taken."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.chains import APPROVED_EXTERNAL, debit, refund, result_of
from api.merchants import wait_until
from api.stripe_channels import EXTERNAL, add_stripe_channel
from gateway import Client, GatewayProcess
from stripe_process import LocalStripe, Manner, Proxy

QUICK = {"TOLLGATE_ACQUIRER_TIMEOUT_S": "5", "TOLLGATE_COMPLETION_MARGIN_S": "3"}


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with GatewayProcess(tmp_path_factory.mktemp("quick"), environment=QUICK) as gateway:
        yield gateway


def test_a_charge_of_a_stopped_processor_fails_and_nothing_is_left_of_it(
    quick: GatewayProcess, processor: LocalStripe
) -> None:
    direct = add_stripe_channel(quick, quick.client(), "Direct", f"http://127.0.0.1:{processor.port}")
    processor.pause()
    try:
        answer = direct.pay(None, **EXTERNAL)
    finally:
        processor.resume()

    assert result_of(answer) == (400, "900.100.300")
    wait_until(lambda: has_reversal(direct, answer.json["id"]))
    assert [each["status"] for each in processor.list_intents(answer.json["id"]) if each["latest_charge"]] == []


def test_a_confirmation_that_is_executed_after_the_time_out_is_refunded(
    quick: GatewayProcess, processor: LocalStripe, proxy: Proxy
) -> None:
    merchant = add_stripe_channel(quick, quick.client(), "Late", proxy.address)
    proxy.treat("/confirm", Manner.ACT_AND_HOLD)

    answer = merchant.pay(None, **EXTERNAL, amount="100.00")
    proxy.released.set()

    assert result_of(answer) == (400, "900.100.300")
    wait_until(lambda: processor.list_refunds(answer.json["id"]) == [10000])
    wait_until(lambda: has_reversal(merchant, answer.json["id"]))


@pytest.mark.parametrize(("payment_type", "status"), [("DB", "succeeded"), ("PA", "canceled")])
def test_a_gateway_killed_after_the_confirmation_undoes_the_charge_when_it_is_back(
    tmp_path: Path, processor: LocalStripe, proxy: Proxy, payment_type: str, status: str
) -> None:
    with GatewayProcess(tmp_path, environment=QUICK) as gateway:
        merchant = add_stripe_channel(gateway, gateway.client(), "Killed", proxy.address)
        proxy.treat("/confirm", Manner.ACT_AND_HOLD)
        before = {each["id"] for each in processor.get("/v1/payment_intents", limit="10000")["data"]}
        asking = threading.Thread(target=pay_in_vain, args=(merchant, payment_type))
        asking.start()
        assert proxy.held.wait(300)

        gateway.kill()
        proxy.released.set()
        asking.join()
        gateway.start()

        listed = processor.get("/v1/payment_intents", limit="10000")["data"]
        (intent,) = [each for each in listed if each["id"] not in before]
        payment_id = intent["metadata"]["tollgate"]
        wait_until(lambda: has_reversal(merchant, payment_id))
        assert processor.get_intent(payment_id)["status"] == status
        assert payment_type == "PA" or processor.list_refunds(payment_id) == [10000]


def test_a_gateway_killed_after_a_refund_does_not_refund_twice(
    tmp_path: Path, processor: LocalStripe, proxy: Proxy
) -> None:
    with GatewayProcess(tmp_path, environment=QUICK) as gateway:
        merchant = add_stripe_channel(gateway, gateway.client(), "Killed", proxy.address)
        taken = debit(merchant, **EXTERNAL)
        proxy.treat("/v1/refunds", Manner.ACT_AND_HOLD)
        asking = threading.Thread(target=refund_in_vain, args=(merchant, taken))
        asking.start()
        assert proxy.held.wait(300)

        gateway.kill()
        proxy.released.set()
        asking.join()
        gateway.start()

        def is_refunded() -> bool:
            rows = list_chain(merchant, taken)
            return [row["result"]["code"] for row in rows if row["paymentType"] == "RF"] == [APPROVED_EXTERNAL[1]]

        wait_until(is_refunded)
        assert processor.list_refunds(taken) == [3000]


def pay_in_vain(merchant: Client, payment_type: str) -> None:
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        merchant.pay(None, **EXTERNAL, paymentType=payment_type, amount="100.00")


def refund_in_vain(merchant: Client, payment_id: str) -> None:
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        refund(merchant, payment_id, "30.00")


def has_reversal(merchant: Client, payment_id: str) -> bool:
    """Tells whether the gateway has recorded that a failed payment was undone."""
    return any(row["paymentType"] == "RV" for row in list_chain(merchant, payment_id))


def list_chain(merchant: Client, payment_id: str) -> list[dict[str, Any]]:
    answer = merchant.get(f"/v1/query/{payment_id}", {"includeLinkedTransactions": "true"})
    rows: list[dict[str, Any]] = answer.json.get("payments", [])
    return rows
