"""The list of payments in the back office: search, filters, pages, saved views and files of it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest

from api.registration_requests import tampered_amount
from gateway import Answer, Client, GatewayProcess
from office_client import OfficeClient
from office_pages import read_rows
from office_users import enter_as, list_audit
from tollgate.catalog.audit_actions import AuditAction
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.permissions import Role

CANARIES = ("=1+1+1+1", "+1234567", "-1234567", "@SUM(A1)", "<script>alert(1)</script>", '","x","y"')
DECLINED = "4000000000000002"


def make_email() -> str:
    return f"{uuid4().hex}@example.com"


def pay(client: Client, email: str, **fields: str) -> str:
    names = {"customer.givenName": "Jane", "customer.surname": "Jones", "customer.email": email}
    renamed = {name.replace("__", "."): text for name, text in fields.items()}
    answer = client.post("/v1/payments", {**PAYMENT_FIELDS, **names, **renamed})
    return str(answer.json["id"])


PAYMENT_FIELDS = {
    "amount": "92.00",
    "currency": "EUR",
    "paymentType": "DB",
    "paymentBrand": "VISA",
    "card.number": "4200000000000000",
    "card.holder": "Jane Jones",
    "card.expiryMonth": "05",
    "card.expiryYear": "2034",
    "card.cvv": "123",
}


def list_ids(page: Answer) -> list[str]:
    assert page.status == 200
    rows = read_rows(page)
    return [row[rows[0].index("Payment id")] for row in rows[1:]]


def find_link(page: Answer, text: str) -> str:
    before = page.body.decode().partition(f">{text}</a>")[0]
    return before.rpartition('href="')[2].partition('"')[0].replace("&amp;", "&")


def test_a_payment_is_listed_at_once_with_a_link_to_its_page(office: OfficeClient, client: Client) -> None:
    email = make_email()
    payment_id = pay(client, email, merchantTransactionId="order-77")

    page = office.get(f"{office.base}/payments", q=email)

    head, row = read_rows(page)
    cells = dict(zip(head, row, strict=True))
    assert cells["Payment id"] == payment_id
    assert (cells["Amount"], cells["Currency"], cells["Type"], cells["State"]) == ("92.00", "EUR", "DB", "approved")
    assert (cells["Account"], cells["merchantTransactionId"], cells["E-mail"]) == ("0000", "order-77", email)
    assert f'href="{office.base}/payments/{payment_id}"' in page.body.decode()
    assert "e-mail or merchantTransactionId" in page.body.decode()


@pytest.mark.parametrize(
    ("narrowed", "finds"),
    [
        ({"type": "DB"}, [0, 1]),
        ({"type": "PA"}, [2]),
        ({"brand": "MASTER"}, [2]),
        ({"result": "declined"}, [1]),
        ({"result": "rejected_by_bank"}, [1]),
        ({"result": "approved"}, [0, 2]),
        ({"min": "92.01"}, [2]),
        ({"max": "92.00"}, [0, 1]),
        ({"from": "2000-01-01", "to": "2000-12-31"}, []),
        ({"from": "2000-01-01"}, [0, 1, 2]),
        ({"q": "800.100"}, [1]),
        ({"q": "today 93"}, [2]),
        ({"q": "yesterday"}, []),
        ({"q": "USD"}, []),
        ({"channel": "8a00"}, []),
    ],
)
def test_filters_narrow_the_list(
    office: OfficeClient, client: Client, narrowed: dict[str, str], finds: Sequence[int]
) -> None:
    email = make_email()
    paid = [
        pay(client, email),
        pay(client, email, card__number=DECLINED),
        pay(client, email, paymentType="PA", amount="93.00", paymentBrand="MASTER", card__number="5454545454545454"),
    ]
    query: dict[str, Any] = {**narrowed, "q": f"{email} {narrowed.get('q', '')}".strip()}

    assert set(list_ids(office.get(f"{office.base}/payments", **query))) == {paid[place] for place in finds}


@pytest.mark.parametrize(
    "query", [{"from": "tomorrow"}, {"min": "1.5"}, {"before": "x"}, {"q": "a" * 201}, {"q": "\0"}, {"result": "fine"}]
)
def test_a_filter_that_cannot_be_read_is_refused(office: OfficeClient, query: dict[str, Any]) -> None:
    assert office.get(f"{office.base}/payments", **query).status == 400


@pytest.mark.both_databases
def test_pages_and_files_have_all_payments_in_the_same_order(
    office: OfficeClient, client: Client, lenient: Client
) -> None:
    email = make_email()
    count = LIMITS.office_page + 3
    paid = [pay(lenient if n % 2 else client, email, merchantTransactionId=f"order-{n:04}") for n in range(count)]

    first = office.get(f"{office.base}/payments", q=email)
    second = office.get(find_link(first, "Older"))
    assert list_ids(first) + list_ids(second) == paid[::-1]
    assert "Older</a>" not in second.body.decode()
    assert list_ids(office.get(find_link(second, "Newer"))) == list_ids(first)

    shown = [read_rows(first)[0], *read_rows(first)[1:], *read_rows(second)[1:]]
    exported = office.get(f"{office.base}/payments/export.csv", q=email)
    assert exported.headers["transfer-encoding"] == "chunked"
    rows = list(csv.reader(io.StringIO(exported.body.decode(), newline="")))
    sellers = rows[0].index("Sellers")
    assert [[*row[:sellers], *row[sellers + 1 :]] for row in rows] == shown
    as_json = json.loads(office.get(f"{office.base}/payments/export.json", q=email).body)
    assert [[text for title, text in row.items() if title != "Sellers"] for row in as_json] == shown[1:]


def test_an_export_of_nothing_is_a_whole_file(office: OfficeClient) -> None:
    query: dict[str, Any] = {"q": make_email()}
    assert len(office.get(f"{office.base}/payments/export.csv", **query).body.splitlines()) == 1
    assert json.loads(office.get(f"{office.base}/payments/export.json", **query).body) == []


def test_text_of_callers_is_neither_a_formula_in_a_file_nor_a_tag_in_a_page(
    office: OfficeClient, client: Client
) -> None:
    email = make_email()
    for text in CANARIES:
        pay(client, email, merchantTransactionId=text)

    exported = office.get(f"{office.base}/payments/export.csv", q=email).body.decode()
    cells = [cell for row in csv.reader(io.StringIO(exported, newline="")) for cell in row]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@")]
    assert {f"'{text}" for text in CANARIES[:4]} < set(cells)
    assert "<script>alert" not in office.get(f"{office.base}/payments", q=email).body.decode()


def test_an_export_is_recorded_with_its_query_before_it_begins(office: OfficeClient, gateway: GatewayProcess) -> None:
    email = make_email()
    office.get(f"{office.base}/payments/export.csv", q=email, type="DB")

    entry = list_audit(gateway, AuditAction.PAYMENTS_EXPORTED)[-1]
    assert entry.details == {"format": "csv", "q": email, "type": "DB"}


def test_a_view_is_saved_listed_used_and_deleted(office: OfficeClient, gateway: GatewayProcess, client: Client) -> None:
    email, name = make_email(), f"view {uuid4().hex}"
    payment_id = pay(client, email)
    office.get(f"{office.base}/payments", q=email)

    saved = office.post(f"{office.base}/saved-views", {"name": name, "q": email, "type": "DB"})
    assert f"The view {name} is saved." in saved.body.decode()
    assert list_ids(saved) == [payment_id]
    page = office.get(f"{office.base}/payments")
    assert list_ids(office.get(find_link(page, name))) == [payment_id]
    other = enter_as(gateway, Role.VIEWER)
    assert name not in other.get(f"{office.base}/payments").body.decode()

    text = page.body.decode().partition(f">{name}</a>")[2]
    deletion = text.partition('action="')[2].partition('"')[0]
    assert other.post(deletion).status == 404
    assert name not in office.post(deletion).body.decode()


def test_a_view_needs_a_name(office: OfficeClient) -> None:
    office.get(f"{office.base}/payments")
    assert office.post(f"{office.base}/saved-views", {"name": " ", "q": "x"}).status == 400


def test_a_viewer_sees_the_payments_of_the_own_channel_and_exports_none(
    gateway: GatewayProcess, client: Client, lenient: Client
) -> None:
    email = make_email()
    mine, _other = pay(client, email), pay(lenient, email)
    viewer = enter_as(gateway, Role.VIEWER, client.entity_id)

    page = viewer.get(f"{viewer.base}/payments", q=email)

    assert list_ids(page) == [mine]
    assert "Save as CSV" not in page.body.decode()
    assert list_ids(viewer.get(f"{viewer.base}/payments", q=email, channel=lenient.entity_id)) == []
    assert viewer.get(f"{viewer.base}/payments/export.csv", q=email).status == 403


def test_an_operator_of_one_channel_exports_that_one_only(
    gateway: GatewayProcess, client: Client, lenient: Client
) -> None:
    email = make_email()
    mine, _other = pay(client, email), pay(lenient, email)
    operator = enter_as(gateway, Role.OPERATOR, client.entity_id)

    exported = json.loads(operator.get(f"{operator.base}/payments/export.json", q=email).body)
    assert [row["Payment id"] for row in exported] == [mine]


def test_a_user_of_another_merchant_finds_no_such_merchant(
    office: OfficeClient, gateway: GatewayProcess, stranger: Client
) -> None:
    known = gateway.run("merchant", "list").stdout.splitlines()
    other_id = next(line.split()[0] for line in known if line.endswith("Second merchant"))
    other = enter_as(gateway, Role.ADMINISTRATOR, merchant_id=other_id)
    assert stranger.entity_id
    for page in ("payments", "overview", "payments/export.csv"):
        assert other.get(f"{office.base}/{page}").status == 404


def test_a_tampered_payment_is_marked_and_not_hidden(
    office: OfficeClient, gateway: GatewayProcess, client: Client
) -> None:
    email = make_email()
    payment_id = pay(client, email)
    with tampered_amount(gateway, payment_id):
        head, row = read_rows(office.get(f"{office.base}/payments", q=email))
        assert dict(zip(head, row, strict=True))["Integrity"] == "tampered"
        exported = json.loads(office.get(f"{office.base}/payments/export.json", q=email).body)
        assert [each["Integrity"] for each in exported] == ["tampered"]


def test_an_empty_list_says_what_to_do(office: OfficeClient) -> None:
    assert "No payment fits" in office.get(f"{office.base}/payments", q=make_email()).body.decode()
