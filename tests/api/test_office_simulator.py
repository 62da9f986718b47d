"""The simulator in the back office: planned outcomes, lost answers, the clock, and who may use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from api.chains import list_payments, refund
from api.challenges import FRICTIONLESS, order
from api.endpoints import use_store
from api.merchants import add_merchant, run_command, wait_until
from gateway import PAYMENT, Answer, Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_users import enter_as, list_audit
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.permissions import Role
from tollgate.operations.app import App
from tollgate.store.schema import user_sessions
from tollgate.store.statements import Statement, Write

DECLINED = "800.100.152"
APPROVED = "000.100.110"
FORCE = "customParameters[forceResultCode]"
PLAN = {"partner": "acquirer", "type": "", "result": "", "delay": "0", "answer": "", "count": "1"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A server whose clock and outcomes belong to these tests alone."""
    environment = {"TOLLGATE_ACQUIRER_TIMEOUT_S": "5"}
    with GatewayProcess(tmp_path_factory.mktemp("simulator"), environment=environment) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def shop(host: GatewayProcess) -> Client:
    return host.client()


@pytest.fixture(scope="module")
def office(host: GatewayProcess) -> OfficeClient:
    return enter_office(host)


def plan(office: OfficeClient, client: Client, **fields: str) -> Answer:
    office.get(f"{office.base}/simulator")
    return office.post(f"{office.base}/simulator/outcomes", {**PLAN, "channel": client.entity_id, **fields})


def test_the_next_payments_meet_what_was_planned_and_then_no_more(office: OfficeClient, shop: Client) -> None:
    page = plan(office, shop, result=DECLINED, count="2")
    assert "2 of 2" in page.body.decode()
    codes = [shop.pay().code, shop.pay().code, shop.pay().code]
    assert codes == [DECLINED, DECLINED, APPROVED]
    assert "used up" in office.get(f"{office.base}/simulator").body.decode()


def test_a_request_that_forces_its_result_uses_up_nothing(office: OfficeClient, shop: Client) -> None:
    plan(office, shop, result=DECLINED)
    forced = shop.post("/v1/payments", {**PAYMENT, FORCE: "800.100.203"})
    assert forced.code == "800.100.203"
    assert shop.pay().code == DECLINED


def test_a_plan_for_one_type_waits_for_that_type(office: OfficeClient, shop: Client) -> None:
    plan(office, shop, result=DECLINED, type="RF")
    paid = shop.pay()
    assert paid.code == APPROVED
    assert refund(shop, paid.json["id"], "10.00").code == DECLINED
    assert refund(shop, paid.json["id"], "10.00").code == APPROVED


@pytest.mark.parametrize("answer", ["lost", "dropped"])
def test_a_lost_answer_fails_the_payment_and_leads_to_a_reversal(
    office: OfficeClient, shop: Client, host: GatewayProcess, answer: str
) -> None:
    plan(office, shop, answer=answer)
    reference = f"{answer}-answer"
    failed = shop.pay(merchantTransactionId=reference)
    assert failed.code.startswith("900.100.")
    wait_until(lambda: {"DB", "RV"} <= list_types(shop, failed.json["id"], reference))
    assert "all is well" in run_command(host, "verify")


def list_types(client: Client, payment_id: str, reference: str) -> set[str]:
    found = list_payments(client, reference)
    chain = client.get(f"/v1/query/{payment_id}", {"includeLinkedTransactions": "true"}).json.get("payments", [])
    return {each["paymentType"] for each in [*found, *chain]}


def test_a_cancelled_plan_is_not_met(office: OfficeClient, shop: Client) -> None:
    page = plan(office, shop, result=DECLINED, count="5").body.decode()
    path = page.split("/simulator/outcomes/")[1].split("/cancel")[0]
    office.post(f"{office.base}/simulator/outcomes/{path}/cancel")
    assert shop.pay().code == APPROVED


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"result": "NOT_PARTICIPATING"}, "000.400.101"),
        ({"result": "CHALLENGE"}, "000.200.000"),
        ({"answer": "lost"}, "100.390.111"),
        ({"answer": "dropped"}, "100.390.111"),
    ],
)
def test_the_directory_server_meets_what_was_planned_and_then_acts_as_usual(
    office: OfficeClient, shop: Client, fields: dict[str, str], code: str
) -> None:
    plan(office, shop, partner="directory server", **fields)
    assert [order(shop, FRICTIONLESS).code, order(shop, FRICTIONLESS).code] == [code, APPROVED]


def test_the_clock_moves_forward_by_what_was_asked(office: OfficeClient, shop: Client, host: GatewayProcess) -> None:
    before = shop.get("/sandbox/clock").json["now"]
    office.get(f"{office.base}/simulator")
    page = office.post(f"{office.base}/simulator/clock", {"forward": "40", "unit": "days"})
    assert "moved forward by 40 days" in page.body.decode()
    after = shop.get("/sandbox/clock").json["now"]
    assert after[:7] > before[:7]
    assert list_audit(host, "clock moved")[-1].user_name == office.name


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "choose an outcome"),
        ({"result": "000.000"}, "a code of the result catalogue"),
        ({"delay": "31"}, "from 0 to 30"),
        ({"count": "0"}, "from 1 to"),
        ({"answer": "perhaps"}, "one of those listed"),
        ({"partner": "bank"}, "one of [acquirer"),
        ({"type": "XX"}, "a payment type"),
        ({"channel": "8a" + "0" * 30}, "a channel that you may simulate"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    office: OfficeClient, shop: Client, fields: dict[str, str], told: str
) -> None:
    answer = plan(office, shop, **fields)
    assert answer.status == 400
    assert told in answer.body.decode().replace("&#39;", "'")


def test_a_change_is_recorded_before_it_is_made(office: OfficeClient, shop: Client, host: GatewayProcess) -> None:
    plan(office, shop, delay="1", type="CP")
    assert list_audit(host, "simulator changed")[-1].subject == shop.entity_id


def test_only_builders_see_the_simulator_and_only_their_own_channels(host: GatewayProcess, shop: Client) -> None:
    other = add_merchant(host, "Other")
    viewer = enter_as(host, Role.VIEWER)
    assert viewer.get(f"{viewer.base}/simulator").status == 403
    developer = enter_as(host, Role.DEVELOPER, shop.lenient_entity_id)
    page = developer.get(f"{developer.base}/simulator")
    assert page.status == 200
    text = page.body.decode()
    assert shop.lenient_entity_id in text
    assert shop.entity_id not in text
    assert "Snapshots" not in text, "a snapshot is about all merchants of the host"
    assert plan(developer, shop, result=DECLINED).status == 400
    assert plan(developer, other, result=DECLINED).status == 400
    for path in ("snapshots", "snapshots/a/load", "snapshots/a/delete"):
        assert developer.post(f"{developer.base}/simulator/{path}", {"name": "a"}).status == 403
    assert developer.get(f"{developer.base}/simulator/snapshots/a").status == 403


def test_a_snapshot_is_saved_loaded_downloaded_and_deleted(
    office: OfficeClient, shop: Client, host: GatewayProcess
) -> None:
    kept = shop.pay()
    office.get(f"{office.base}/simulator")
    assert "Saved" in office.post(f"{office.base}/simulator/snapshots", {"name": "before"}).body.decode()
    lost = shop.pay()
    assert "Loaded" in office.post(f"{office.base}/simulator/snapshots/before/load").body.decode()
    assert shop.get(f"/v1/payments/{kept.json['id']}").code == APPROVED
    assert shop.get(f"/v1/payments/{lost.json['id']}").status == 404
    file = office.get(f"{office.base}/simulator/snapshots/before")
    assert file.headers["content-disposition"] == 'attachment; filename="before.snapshot"'
    assert file.body == (Path(host.data) / "snapshots" / "before.snapshot").read_bytes()
    office.get(f"{office.base}/simulator")
    assert "Deleted" in office.post(f"{office.base}/simulator/snapshots/before/delete").body.decode()
    assert office.get(f"{office.base}/simulator/snapshots/before").status == 404
    assert list_audit(host, "sandbox saved")[-1].subject == "before.snapshot"
    assert list_audit(host, "sandbox loaded")[-1].subject == "before.snapshot"


@pytest.mark.parametrize("name", ["", "../keys", ".hidden", "a/b", "x" * 61])
def test_a_snapshot_has_a_plain_name(office: OfficeClient, name: str) -> None:
    office.get(f"{office.base}/simulator")
    assert office.post(f"{office.base}/simulator/snapshots", {"name": name}).status == 400


def send_snapshot(office: OfficeClient, body: bytes, *, with_ticket: bool = True) -> Answer:
    """Sends a file as the script of the page does."""
    page = office.get(f"{office.base}/simulator").body.decode()
    ticket = page.split('data-ticket="')[1].split('"')[0] if with_ticket else ""
    headers = {"x-form-token": office.form_token, "x-upload-ticket": ticket, "x-file-name": "my%20file.snapshot"}
    return office.send("POST", f"{office.base}/simulator/snapshot-file", body, headers, follow=False)


def test_a_snapshot_that_is_sent_is_loaded_and_not_kept(
    office: OfficeClient, shop: Client, host: GatewayProcess, tmp_path: Path
) -> None:
    kept = shop.pay()
    run_command(host, "sandbox", "save", str(tmp_path / "own.snapshot"))
    lost = shop.pay()
    answer = send_snapshot(office, (tmp_path / "own.snapshot").read_bytes())
    assert (answer.status, answer.headers["location"]) == (201, f"{office.base}/simulator")
    assert "rows of my file.snapshot." in office.get(answer.headers["location"]).body.decode()
    assert shop.get(f"/v1/payments/{kept.json['id']}").code == APPROVED
    assert shop.get(f"/v1/payments/{lost.json['id']}").status == 404
    assert [entry.subject for entry in list_audit(host, "sandbox loaded")][-1] == "my file.snapshot"
    assert [*(Path(host.data) / "snapshots").glob("*")] == []


def test_the_clock_and_the_search_go_back_with_a_snapshot(
    office: OfficeClient, shop: Client, host: GatewayProcess, tmp_path: Path
) -> None:
    jane = {"customer__email": "back@example.com", "customer__givenName": "Jane", "customer__surname": "Doe"}
    first = shop.pay(**jane).json["id"]
    before = shop.get("/sandbox/clock").json["now"]
    run_command(host, "sandbox", "save", str(tmp_path / "own.snapshot"))
    office.get(f"{office.base}/simulator")
    office.post(f"{office.base}/simulator/clock", {"forward": "90", "unit": "days"})
    lost = shop.pay(**jane).json["id"]
    assert send_snapshot(office, (tmp_path / "own.snapshot").read_bytes()).status == 201
    assert shop.get("/sandbox/clock").json["now"][:7] == before[:7]
    second = shop.pay(**jane).json["id"]
    found = office.get(f"{office.base}/payments", q="back@example.com").body.decode()
    assert [each in found for each in (first, lost, second)] == [True, False, True]


def test_a_large_or_foreign_file_is_refused_and_changes_nothing(office: OfficeClient, shop: Client) -> None:
    paid = shop.pay().json["id"]
    foreign = b"tollgate snapshot 1\n" + b"x" * 2 * LIMITS.body_bytes_max
    answer = send_snapshot(office, foreign)
    assert answer.status == 400
    assert "no snapshot of this host" in answer.body.decode()
    assert send_snapshot(office, foreign, with_ticket=False).status == 413
    assert send_snapshot(office, b"").status == 400
    assert shop.get(f"/v1/payments/{paid}").code == APPROVED


def test_a_file_needs_a_fresh_confirmation_and_the_permission(host: GatewayProcess, office: OfficeClient) -> None:
    developer = enter_as(host, Role.DEVELOPER, office.merchant_id)
    assert "data-ticket" not in developer.get(f"{developer.base}/simulator").body.decode()
    assert send_snapshot(developer, b"x", with_ticket=False).status == 403

    late = enter_office(host)
    use_store(host, forget_confirmations)
    page = late.get(f"{late.base}/simulator").body.decode()
    assert "data-ticket" not in page
    assert "confirm that it is you" in page
    answer = send_snapshot(late, b"x", with_ticket=False)
    assert (answer.status, answer.headers["location"].partition("?")[0]) == (303, "/office/confirm")


async def forget_confirmations(app: App) -> None:
    forgetting = Statement(sa.update(user_sessions).values(confirmed_at=sa.literal_column("0")))
    await app.database.write([Write(forgetting, {})], label="test")
