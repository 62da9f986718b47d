"""A server that dies while shoppers open and pay links: each link is paid once or not at all, and says which."""

from __future__ import annotations

import http.client
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from api.linking import LinkVisit, visit_new
from api.merchants import run_command, wait_until
from api.paying_forms import list_made
from gateway import Client, GatewayProcess
from postgres import PostgresCluster

LINKS = 6
KILLS = 3
PAID = 2
APPROVED = "000.100.110"
LOST = (OSError, http.client.HTTPException, AssertionError)
"""A shopper whose server dies meets one of these: no connection, half an answer, or a page without a form."""


def reference(number: int) -> str:
    return f"link-of-a-crash-{number}"


def open_and_pay(visit: LinkVisit) -> str:
    """Returns the code of the answer, or nothing where there was none."""
    with suppress(*LOST):
        return visit.pay(visit.find_checkout()).code
    return ""


def count_approved(client: Client, number: int) -> int:
    """Counts debits alone: what a dead process left open is reversed, and a reversal succeeds as well."""
    debits = [made for made in list_made(client, reference(number)) if made["paymentType"] == "DB"]
    return sum(made["result"]["code"] == APPROVED for made in debits)


def is_decided(client: Client, number: int) -> bool:
    return all(made["result"]["code"] != "000.200.000" for made in list_made(client, reference(number)))


def test_a_link_is_paid_once_whenever_its_server_dies(
    database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    cluster: PostgresCluster | None = request.getfixturevalue("cluster") if database == "postgresql" else None
    environment = {"TOLLGATE_ACQUIRER_TIMEOUT_S": "1", "TOLLGATE_COMPLETION_MARGIN_S": "1"}
    gateway = GatewayProcess(tmp_path, cluster.create_database() if cluster else "", environment=environment)
    with gateway, ThreadPoolExecutor(4) as pool:
        client = gateway.client()
        visits = [visit_new(client, merchantTransactionId=reference(number)) for number in range(LINKS)]
        answers: Counter[int] = Counter()
        for _ in range(KILLS):
            shoppers = [(number, pool.submit(open_and_pay, visit)) for number, visit in enumerate(visits)]
            # As soon as one is answered the others are on their way.
            shoppers[0][1].result()
            gateway.kill()
            answers.update(number for number, shopper in shoppers if shopper.result() == APPROVED)
            gateway.start()
        for visit in visits:
            wait_until(lambda each=visit: open_and_pay(each) == APPROVED or each.read()["status"] == PAID)  # type: ignore[misc]
        for number, visit in enumerate(visits):
            wait_until(lambda each=number: is_decided(client, each))  # type: ignore[misc]
            assert (visit.read()["status"], count_approved(client, number)) == (PAID, 1)
            assert answers[number] <= 1
        run_command(gateway, "verify")
