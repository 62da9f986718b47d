"""Reviews beside everything else that may happen to a payment: at the same moment, and through every way in."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from acquirer_host import AcquirerHostProcess
from api import scheduling
from api.endpoints import add_endpoint, use_store, wait_until_known
from api.marketplaces import THIRDS, spell
from api.merchants import add_channel, add_merchant, find_merchant_id, run_command, wait_until
from api.registration_requests import CHARGE, register
from api.reviewing import FORCE, REJECTED, REVIEW, SUCCESS, decide, follow, list_chain, list_later, pay_reviewed
from api.server import SharedServer
from gateway import Client, GatewayProcess
from office_client import OfficeClient
from receiving import Receiver
from tollgate.flows import reviews
from tollgate.operations.app import App
from tollgate.payments.payment import Payment
from tollgate.payments.reviews import Decision
from tollgate.store.reviews import find_review
from tollgate.values import Conflict, MerchantId

pytestmark = pytest.mark.both_databases

ROUNDS = 6


@pytest.fixture(scope="module")
def server(own_server: SharedServer) -> SharedServer:
    """A server of this file alone, because its clock is moved and its store is verified."""
    return own_server


@pytest.fixture(scope="module")
def gateway(server: SharedServer) -> GatewayProcess:
    return server.gateway


@pytest.fixture(autouse=True)
def verified(gateway: GatewayProcess) -> Iterator[None]:
    yield
    assert "all is well" in run_command(gateway, "verify", "--quiet")


def sum_given_back(client: Client, payment_id: str) -> float:
    approved = [each for each in list_later(client, payment_id) if each["result"]["code"] == SUCCESS]
    return sum(float(each["amount"]) for each in approved if each["paymentType"] in ("RV", "RF"))


def wait_until_given_back(client: Client, payment_id: str) -> None:
    wait_until(lambda: sum_given_back(client, payment_id) == 92.0)


# ---- at the same moment ----


def test_a_capture_and_a_rejection_at_once_never_take_the_money(client: Client) -> None:
    for _ in range(ROUNDS):
        payment_id = pay_reviewed(client, "PA")

        with ThreadPoolExecutor(8) as pool:
            captures = [pool.submit(follow, client, payment_id, "CP", "92.00") for _ in range(4)]
            rejection = pool.submit(decide, client, payment_id, "REJECT")
            captures += [pool.submit(follow, client, payment_id, "CP", "92.00") for _ in range(3)]

        assert rejection.result().code == REJECTED
        assert {each.result().code for each in captures} <= {"700.400.570", "700.400.510"}
        wait_until_given_back(client, payment_id)


def test_a_capture_and_an_acceptance_at_once_take_the_money_once_at_most(client: Client) -> None:
    for _ in range(ROUNDS):
        payment_id = pay_reviewed(client, "PA")

        with ThreadPoolExecutor(8) as pool:
            acceptance = pool.submit(decide, client, payment_id, "ACCEPT")
            captures = [pool.submit(follow, client, payment_id, "CP", "92.00") for _ in range(7)]

        taken = [each.result().code for each in captures].count(SUCCESS)
        assert acceptance.result().code == SUCCESS
        assert taken <= 1
        assert follow(client, payment_id, "CP", "92.00").code == ("700.400.100" if taken else SUCCESS)


@pytest.mark.parametrize("amount", ["92.00", "40.00"])
def test_a_refund_and_a_rejection_at_once_give_back_each_cent_once(client: Client, amount: str) -> None:
    for _ in range(ROUNDS):
        payment_id = pay_reviewed(client)

        with ThreadPoolExecutor(2) as pool:
            refund = pool.submit(follow, client, payment_id, "RF", amount)
            rejection = pool.submit(decide, client, payment_id, "REJECT")

        if rejection.result().code == REJECTED:
            wait_until_given_back(client, payment_id)
        else:
            # The refund was first and closed the review.
            assert (rejection.result().status, rejection.result().code) == (409, "700.300.300")
            assert refund.result().code == SUCCESS
            assert sum_given_back(client, payment_id) == float(amount)


def test_two_processes_that_decide_at_once_agree(gateway: GatewayProcess, client: Client) -> None:
    """One operator accepts beside the server, another rejects through it."""
    merchant_id = MerchantId(find_merchant_id(gateway, client))
    for _ in range(ROUNDS):
        payment_id = pay_reviewed(client)

        async def accept(app: App, named: str = payment_id) -> Payment | None:
            try:
                return await reviews.decide(app, merchant_id, named, Decision.ACCEPT, "jo")
            except Conflict:
                return None

        with ThreadPoolExecutor(2) as pool:
            accepted = pool.submit(use_store, gateway, accept)
            rejected = pool.submit(decide, client, payment_id, "REJECT")

        is_accepted = accepted.result() is not None
        assert rejected.result().code == ("700.300.300" if is_accepted else REJECTED)
        assert client.get(f"/v1/payments/{payment_id}").code == (SUCCESS if is_accepted else REJECTED)
        if not is_accepted:
            wait_until_given_back(client, payment_id)


# ---- money of every kind ----


def test_a_partial_refund_closes_the_review_and_the_rest_is_refunded_by_the_merchant(client: Client) -> None:
    payment_id = pay_reviewed(client)
    follow(client, payment_id, "RF", "40.00")

    late = decide(client, payment_id, "REJECT")

    assert (late.status, late.code) == (409, "700.300.300")
    assert follow(client, payment_id, "RF", "52.00").code == SUCCESS
    assert sum_given_back(client, payment_id) == 92.0


def test_a_currency_without_decimals_is_given_back_whole(client: Client) -> None:
    payment_id = pay_reviewed(client, amount="9200", currency="JPY")

    assert decide(client, payment_id, "REJECT").code == REJECTED

    wait_until(lambda: list_chain(client, payment_id) == [("RV", SUCCESS)])
    [reversal] = list_later(client, payment_id)
    assert (reversal["amount"], reversal["currency"]) == (
        client.get(f"/v1/payments/{payment_id}").json["amount"],
        "JPY",
    )


def test_every_seller_gives_back_the_share(client: Client) -> None:
    payment_id = pay_reviewed(client, "DB", amount="100.00", **spell(THIRDS))

    decide(client, payment_id, "REJECT")

    wait_until(lambda: list_chain(client, payment_id) == [("RV", SUCCESS)])
    [reversal] = list_later(client, payment_id)
    assert {each["id"]: each["amount"] for each in reversal["marketPlace"]["sellers"]} == THIRDS


# ---- what a payment has made ----


def test_a_registration_stays_when_its_first_payment_is_rejected(client: Client) -> None:
    answer = client.pay(createRegistration="true", **{FORCE: REVIEW})
    registration_id = answer.json["registrationId"]

    decide(client, answer.json["id"], "REJECT")

    wait_until(lambda: list_chain(client, answer.json["id"]) == [("RV", SUCCESS)])
    assert client.post(f"/v1/registrations/{registration_id}/payments", CHARGE).code == SUCCESS
    assert (
        client.send(
            "DELETE", f"/v1/registrations/{registration_id}?entityId={client.entity_id}", headers=client.authorized()
        ).status
        == 200
    )


def test_a_rejected_run_of_a_schedule_is_given_back_and_the_series_goes_on(
    gateway: GatewayProcess, client: Client
) -> None:
    timetable = scheduling.Timetable(gateway, client)
    schedule_id = scheduling.plan(client, register(client), {"job.dayOfMonth": "1", "job.hour": "10", FORCE: REVIEW})
    timetable.pass_to_next_run(schedule_id)
    timetable.wait_for_runs(schedule_id, 1)
    [run] = scheduling.list_runs(client, schedule_id)
    payment_id = run["paymentId"]

    assert decide(client, payment_id, "REJECT").code == REJECTED

    wait_until(lambda: list_chain(client, payment_id) == [("RV", SUCCESS)])
    timetable.pass_to_next_run(schedule_id)
    timetable.wait_for_runs(schedule_id, 2)
    assert scheduling.is_active(client, schedule_id)


# ---- other ways in ----


def test_the_office_does_not_capture_what_nobody_has_decided(client: Client, office: OfficeClient) -> None:
    payment_id = pay_reviewed(client, "PA")
    path = f"{office.base}/payments/{payment_id}"

    page = office.get(path).body.decode()
    office.post(f"{path}/capture", {"key": "a1b2c3", "amount": "1.00"})

    assert "/capture" not in page
    assert ("CP", SUCCESS) not in list_chain(client, payment_id)


def test_a_decision_arrives_at_a_receiver(gateway: GatewayProcess) -> None:
    shop = add_merchant(gateway, "Receiving")
    wait_until(lambda: shop.get("/v1/query/none").code == "700.400.580")
    with Receiver() as receiver:
        endpoint = add_endpoint(gateway, shop, f"{receiver.url}/hook")
        wait_until_known(shop, endpoint)
        wait_until(endpoint.is_quiet)
        receiver.calls.clear()
        payment_id = pay_reviewed(shop)
        wait_until(lambda: len(receiver.list_calls()) == 1)

        decided = decide(shop, payment_id, "REJECT")

        wait_until(lambda: len(receiver.list_calls()) == 3)
        bodies = {call.event_id: call.open(endpoint.secrets.secret)["payload"] for call in receiver.list_calls()}
        told = sorted(
            (call.sequence, bodies[call.event_id]["result"]["code"])
            for call in receiver.list_calls()
            if bodies[call.event_id]["id"] == payment_id
        )
        [second] = [each for each in bodies.values() if each["result"]["code"] == REJECTED]
        assert told == [(1, REVIEW), (2, REJECTED)]
        assert {name: second[name] for name in decided.json} == decided.json
        assert sorted(each["paymentType"] for each in bodies.values()) == ["DB", "DB", "RV"]


def test_the_note_of_a_review_goes_with_the_person_it_may_name(gateway: GatewayProcess, client: Client) -> None:
    merchant_id = MerchantId(find_merchant_id(gateway, client))
    shopper = {"customer.email": "reviewed@example.com", "customer.givenName": "Ann", "customer.surname": "Jones"}
    payment_id = pay_reviewed(client, **shopper)

    async def accept(app: App) -> Payment:
        return await reviews.decide(app, merchant_id, payment_id, Decision.ACCEPT, "jo", "Ms Jones rang")

    async def read_note(app: App) -> tuple[str, str]:
        review = await find_review(app.database, merchant_id, payment_id)
        assert review is not None
        return review.note, review.decided_by

    use_store(gateway, accept)
    before = use_store(gateway, read_note)
    gateway.run("erase", merchant_id, "--email", "reviewed@example.com", "--yes", "--json")

    assert before == ("Ms Jones rang", "jo")
    assert use_store(gateway, read_note) == ("", "jo")


@pytest.mark.parametrize(
    ("kind", "amount", "member", "code"),
    [("avs", "101.09", "avsResponse", "000.400.010"), ("cvv", "101.10", "cvvResponse", "000.400.020")],
)
def test_letters_of_an_iso8583_host_open_a_review(
    gateway: GatewayProcess, client: Client, tmp_path: Path, kind: str, amount: str, member: str, code: str
) -> None:
    with AcquirerHostProcess(tmp_path) as host:
        address = f"tcp://127.0.0.1:{host.port}"
        terms = ("--acquirer", "iso8583", "--test-url", address, "--terminal-id", "TERM0001")
        shop = add_channel(gateway, client, f"ISO 8583 {kind}", *terms)
        rule = ("--kind", kind, "--outcome", "review", "--mode", "active", "--answers", "N", "--points", "30")
        run_command(gateway, "risk", "add", find_merchant_id(gateway, client), "--channel", shop.entity_id, *rule)

        wait_until(lambda: shop.pay(testMode="EXTERNAL", amount=amount).code == code)
        hit = shop.pay(testMode="EXTERNAL", amount=amount)
        other = shop.pay(testMode="EXTERNAL", amount="10.00")

        assert (hit.code, hit.json["result"][member], hit.json["risk"]["score"]) == (code, "N", "30")
        assert (other.code, other.json["result"].get("cvvResponse")) == ("000.100.112", "M")
        assert decide(shop, hit.json["id"], "REJECT").code == REJECTED
        wait_until(lambda: list_chain(shop, hit.json["id"]) == [("RV", "000.100.112")])
