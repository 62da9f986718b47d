"""Lists of checkouts, registrations, schedules and bank files: what they show, to whom, and what can be done there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from api.chains import advance
from api.direct_debits import IBAN, begin_debit
from api.merchants import add_merchant, run_command, wait_until
from api.scheduling import plan
from gateway import CARD, Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_users import enter_as, list_audit
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.permissions import Role

MONTHLY = {"job.second": "0", "job.minute": "30", "job.hour": "8", "job.dayOfMonth": "1"}
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A server whose clock belongs to these tests alone."""
    with GatewayProcess(tmp_path_factory.mktemp("lists")) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def shop(host: GatewayProcess) -> Client:
    return host.client()


@pytest.fixture(scope="module")
def office(host: GatewayProcess) -> OfficeClient:
    return enter_office(host)


def see(office: OfficeClient, path: str, **query: str) -> str:
    answer = office.get(f"{office.base}/{path}?{urlencode(query)}")
    assert answer.status == 200, answer.body
    return answer.body.decode()


def register(client: Client, **changes: str | None) -> tuple[str, str]:
    """Pays and registers; returns the ids of the registration and of the payment."""
    answer = client.pay(createRegistration="true", **changes)
    return answer.json["registrationId"], answer.json["id"]


def prepare(client: Client) -> str:
    answer = client.post("/v1/checkouts", {"amount": "12.00", "currency": "EUR", "paymentType": "DB"})
    checkout_id: str = answer.json["id"]
    return checkout_id


def list_names(page: str, path: str) -> list[str]:
    return re.findall(rf'href="/office/merchants/[0-9a-f]+/{path}/([^"/?]+)"', page)


def test_a_checkout_is_shown_with_its_payments_and_never_with_its_whole_id(office: OfficeClient, shop: Client) -> None:
    checkout_id = prepare(shop)
    page = see(office, "checkouts")
    [name, *_] = list_names(page, "checkouts")
    one = see(office, f"checkouts/{name}")
    found = see(office, "checkouts", q=checkout_id)
    assert office.path.endswith(f"/checkouts/{name}")
    for text in (page, one, found):
        assert checkout_id[:8] in text
        assert checkout_id not in text
    assert "12.00 EUR" in one
    assert "No payment was made from this checkout yet" in one


def test_the_payments_of_a_checkout_lead_to_their_pages(office: OfficeClient, shop: Client) -> None:
    checkout_id = prepare(shop)
    fields = {**CARD, "shopperResultUrl": "https://shop.example/back"}
    shop.post(f"/v1/checkouts/{checkout_id}/payment", {**fields, "entityId": None})
    status = shop.get(f"/v1/checkouts/{checkout_id}/payment").json
    see(office, "checkouts", q=checkout_id)
    one = office.get(office.path).body.decode()
    assert list_names(one, "payments") == [status["id"]]


def test_a_list_has_pages_that_miss_and_repeat_nothing(office: OfficeClient, shop: Client) -> None:
    for _ in range(LIMITS.office_page + 5):
        prepare(shop)
    known = len({*list_names(see(office, "checkouts"), "checkouts")})
    seen: list[str] = []
    query: dict[str, str] = {}
    while True:
        page = see(office, "checkouts", **query)
        seen += list_names(page, "checkouts")
        older = re.search(r'\?before=([^"&]+)', page)
        if older is None:
            break
        query = {"before": older[1]}
    assert known == LIMITS.office_page
    assert len(seen) == len(set(seen)) > LIMITS.office_page
    times = [int(name.partition("-")[0]) for name in seen]
    assert times == sorted(times, reverse=True)


def test_a_list_is_narrowed_by_state(office: OfficeClient, shop: Client) -> None:
    registration_id, _ = register(shop)
    assert registration_id in see(office, "registrations", state="1")
    assert registration_id not in see(office, "registrations", state="3")
    assert office.get(f"{office.base}/registrations", state="9").status == 400


def test_a_registration_shows_its_masked_account_payments_and_schedules(office: OfficeClient, shop: Client) -> None:
    registration_id, payment_id = register(shop, merchantTransactionId="order-of-registration")
    schedule_id = plan(shop, registration_id, MONTHLY)
    found = see(office, "registrations", q="order-of-registration")
    assert list_names(found, "registrations") == [registration_id]
    one = see(office, f"registrations/{registration_id}")
    assert "420000•••0000" in one
    assert CARD["card.number"] not in one
    assert payment_id in list_names(one, "payments")
    assert list_names(one, "schedules") == [schedule_id]


def test_a_registration_is_deleted_as_by_the_interface(
    office: OfficeClient, shop: Client, host: GatewayProcess
) -> None:
    registration_id, _ = register(shop)
    schedule_id = plan(shop, registration_id, MONTHLY)
    operator = enter_as(host, Role.OPERATOR)
    see(operator, f"registrations/{registration_id}")
    assert operator.post(f"{operator.base}/registrations/{registration_id}/delete").status == 403
    see(office, f"registrations/{registration_id}")
    assert "was deleted" in office.post(f"{office.base}/registrations/{registration_id}/delete").body.decode()
    assert shop.get(f"/v1/registrations/{registration_id}").code == "100.150.202"
    assert "ended" in see(office, f"schedules/{schedule_id}")
    assert list_audit(host, "registration deleted")[-1].subject == registration_id


def test_a_schedule_says_its_plan_in_words_and_shows_its_runs(office: OfficeClient, shop: Client) -> None:
    registration_id, _ = register(shop)
    schedule_id = plan(shop, registration_id, MONTHLY)
    assert list_names(see(office, "schedules", q=registration_id), "schedules") == [schedule_id]
    one = see(office, f"schedules/{schedule_id}")
    assert "at 08:30:00 UTC on day 1 of the month" in one
    assert one.count("08:30:00 UTC</time>") == 5
    advance(shop, 70 * 86400)
    wait_until(lambda: "made</span>" in see(office, f"schedules/{schedule_id}"))
    one = see(office, f"schedules/{schedule_id}")
    assert "missed</span>" in one
    assert len(list_names(one, "payments")) == 1


def test_a_schedule_is_ended_as_by_the_interface(office: OfficeClient, shop: Client, host: GatewayProcess) -> None:
    registration_id, _ = register(shop)
    schedule_id = plan(shop, registration_id, MONTHLY)
    viewer = enter_as(host, Role.VIEWER)
    assert "/end" not in see(viewer, f"schedules/{schedule_id}")
    assert viewer.post(f"{viewer.base}/schedules/{schedule_id}/end").status == 403
    see(office, f"schedules/{schedule_id}")
    assert "has ended" in office.post(f"{office.base}/schedules/{schedule_id}/end").body.decode()
    assert "It is not due again" in see(office, f"schedules/{schedule_id}")
    assert list_audit(host, "schedule ended")[-1].subject == schedule_id


def test_a_bank_file_is_downloaded_by_those_who_may_export(
    office: OfficeClient, shop: Client, host: GatewayProcess
) -> None:
    begin_debit(shop)
    advance(shop, 20 * 86400)
    wait_until(lambda: list_names(see(office, "bank-files"), "bank-files") != [])
    [file_id, *_] = list_names(see(office, "bank-files"), "bank-files")
    one = see(office, f"bank-files/{file_id}")
    assert IBAN not in one
    viewer = enter_as(host, Role.VIEWER)
    assert "download</a>" not in see(viewer, f"bank-files/{file_id}")
    assert viewer.post(f"{viewer.base}/bank-files/{file_id}/download").status == 403
    see(office, f"bank-files/{file_id}")
    file = office.post(f"{office.base}/bank-files/{file_id}/download")
    assert file.headers["content-disposition"] == f'attachment; filename="{file_id}.xml"'
    assert IBAN in file.body.decode()
    assert file.body.decode().strip() == run_command(host, "bank", "export", file_id)
    assert list_audit(host, "bank file viewed")[-1].subject == file_id


@pytest.mark.parametrize("path", ["checkouts", "registrations", "schedules", "bank-files"])
def test_what_does_not_exist_is_not_found_and_no_text_of_a_search_runs(office: OfficeClient, path: str) -> None:
    assert office.get(f"{office.base}/{path}/{'8a' + '0' * 30}").status == 404
    page = see(office, path, q=HOSTILE)
    assert HOSTILE not in page
    assert "Nothing was found" in page


def test_nobody_sees_rows_of_another_merchant_or_channel(
    office: OfficeClient, shop: Client, host: GatewayProcess
) -> None:
    registration_id, _ = register(shop)
    schedule_id = plan(shop, registration_id, MONTHLY)
    checkout_id = prepare(shop)
    [checkout, *_] = list_names(see(office, "checkouts"), "checkouts")
    add_merchant(host, "Neighbour")
    neighbour_id = next(
        line.split()[0] for line in run_command(host, "merchant", "list").splitlines() if line.endswith("Neighbour")
    )
    wait_until(lambda: office.get(f"/office/merchants/{neighbour_id}/checkouts").status == 200)
    neighbour = enter_as(host, Role.ADMINISTRATOR, merchant_id=neighbour_id)
    narrow = enter_as(host, Role.ADMINISTRATOR, shop.lenient_entity_id)
    for each, refused in ((neighbour, 404), (narrow, 403)):
        paths = (f"registrations/{registration_id}", f"schedules/{schedule_id}", f"checkouts/{checkout}")
        for path in paths:
            assert each.get(f"{each.base}/{path}").status == refused
        for path, text in zip(("registrations", "schedules"), (registration_id, schedule_id), strict=True):
            assert list_names(see(each, path), path) == []
            assert list_names(see(each, path, q=text), path) == []
        assert "Nothing was found" in see(each, "checkouts", q=checkout_id)
        assert each.post(f"{each.base}/registrations/{registration_id}/delete").status == refused
        assert each.post(f"{each.base}/schedules/{schedule_id}/end").status == refused
    assert neighbour.get(f"{office.base}/checkouts").status == 404
