"""Disputes and receipts: recorded by people and by files, once, and by two people where the host asks for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path
from subprocess import CalledProcessError
from uuid import uuid4

import pytest

from api.registration_requests import ask_store
from gateway import Answer, Client, GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import read_key
from office_users import enter_as
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.permissions import Role
from tollgate.payments.payment import Payment
from tollgate.store.payments import list_chain
from tollgate.values import MerchantId

HEAD = "paymentId,type,amount,currency,resultCode,reference,date"
PDF = b"%PDF-1.7 a delivery note"


def show(office: OfficeClient, path: str) -> str:
    answer = office.get(f"{office.base}/{path}")
    assert answer.status == 200, answer.body.decode()
    return unescape(answer.body.decode())


def read_chain(gateway: GatewayProcess, office: OfficeClient, payment_id: str) -> list[Payment]:
    return ask_store(gateway, lambda db: list_chain(db, MerchantId(office.merchant_id), payment_id, 100))


def list_types(gateway: GatewayProcess, office: OfficeClient, payment_id: str) -> list[tuple[str, int]]:
    return [(each.payment_type, each.money.hundredths) for each in read_chain(gateway, office, payment_id)]


def record(office: OfficeClient, payment_id: str, **fields: str) -> Answer:
    key = read_key(show(office, f"payments/{payment_id}"), "record")
    return office.post(f"{office.base}/payments/{payment_id}/record", {"key": key, **fields})


def send_bytes(office: OfficeClient, path: str, body: bytes, name: str = "file", **headers: str) -> Answer:
    """Sends a file as the script of a page does, with the ticket of the page that was opened last."""
    sent = {"x-form-token": office.form_token, "x-file-name": name, **headers}
    return office.send("POST", f"{office.base}/{path}", body, sent)


def find_ticket(page: str) -> str:
    return page.split('data-upload="')[1].split('"')[0]


def charge_back(gateway: GatewayProcess, client: Client, office: OfficeClient) -> str:
    payment_id = client.pay().json["id"]
    assert record(office, payment_id, type="CB", amount="92.00", reason="000.100.203").status == 200
    return read_chain(gateway, office, payment_id)[-1].id


@pytest.mark.both_databases
def test_a_chargeback_and_its_reversal_are_recorded_and_listed(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    chargeback_id = charge_back(gateway, client, office)
    page = show(office, "disputes")
    assert chargeback_id in page
    row = page.split("<tbody>")[1].split("</tr>")[0]
    assert "open" in row
    assert "Returned: the account could not cover the amount." in row

    assert "was recorded" in record(office, chargeback_id, type="CR", amount="92.00").body.decode()
    page = show(office, "disputes")
    assert "reversed" in page.split("<tbody>")[1].split("</tr>")[0]


@pytest.mark.parametrize("change", ["amount = amount + 1", "state = 99"], ids=["changed", "unreadable"])
def test_a_chargeback_that_was_changed_is_listed_as_such_beside_the_others(tmp_path: Path, change: str) -> None:
    with GatewayProcess(tmp_path) as own:
        office, client = enter_office(own), own.client()
        changed, sound = (charge_back(own, client, office) for _ in range(2))
        with closing(sqlite3.connect(tmp_path / "tollgate.db")) as store, store:
            store.execute(f"UPDATE payments SET {change} WHERE id = ?", (changed,))
        rows = show(office, "disputes").split("<tbody>")[1].split("</tr>")
        assert [("row was changed" in row, "open" in row) for row in rows if changed in row] == [(True, False)]
        assert [("row was changed" in row, "open" in row) for row in rows if sound in row] == [(False, True)]


@pytest.mark.both_databases
def test_a_form_that_is_sent_twice_records_once(gateway: GatewayProcess, client: Client, office: OfficeClient) -> None:
    payment_id = client.pay().json["id"]
    key = read_key(show(office, f"payments/{payment_id}"), "record")
    fields = {"key": key, "type": "CB", "amount": "10.00", "reason": "000.100.203"}
    answers = [office.post(f"{office.base}/payments/{payment_id}/record", fields) for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 200]
    assert "is not recorded twice" in answers[1].body.decode()
    assert list_types(gateway, office, payment_id) == [("DB", 9200), ("CB", 1000)]


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "RC", "amount": "1.00"},
        {"type": "CR", "amount": "1.00"},
        {"type": "RF", "amount": "1.00"},
        {"type": "CB", "amount": "92.01"},
        {"type": "CB", "amount": "nonsense"},
        {"type": "CB", "amount": "1.00", "reason": "000.000.000"},
    ],
)
def test_a_fact_that_does_not_fit_is_refused(
    gateway: GatewayProcess, client: Client, office: OfficeClient, fields: dict[str, str]
) -> None:
    payment_id = client.pay().json["id"]
    assert record(office, payment_id, **fields).status == 400
    assert list_types(gateway, office, payment_id) == [("DB", 9200)]


@pytest.mark.both_databases
def test_evidence_is_added_listed_and_downloaded_as_it_was(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    chargeback_id = charge_back(gateway, client, office)
    page = show(office, f"payments/{chargeback_id}")
    large = PDF + b"\0" * (LIMITS.evidence_bytes_max - len(PDF))
    ticket = {"x-upload-ticket": find_ticket(page)}
    name = "%3Cscript%3E%22..%2F..%2Fnote%0D%0A.pdf"
    assert send_bytes(office, f"payments/{chargeback_id}/evidence", large, name, **ticket).status == 200
    note = "called 4200 0000 0000 0000 <script>"
    assert office.post(f"{office.base}/payments/{chargeback_id}/notes", {"note": note}).status == 200

    shown = office.get(f"{office.base}/payments/{chargeback_id}").body.decode()
    assert "<script>_" not in shown
    assert "<script>_.._.._note__.pdf" in unescape(shown)
    links = [part.split('"')[0] for part in shown.split('href="')[1:] if "/evidence/" in part.split('"')[0]]
    files = [office.get(link) for link in links]
    assert [len(answer.body) for answer in files] == [len(large), len(note)]
    assert files[0].body == large
    assert files[1].body.decode() == "called ******************* <script>"
    for answer in files:
        assert answer.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
    assert files[0].headers["content-type"] == "application/pdf"
    assert "evidence viewed" in show(office, f"payments/{chargeback_id}")


@pytest.mark.parametrize("content", [b"", b"GIF89a\x80", b"\x00\x01\x02", b"MZ\x90\x00\xff", b"\xff\xfe<script>"])
def test_other_kinds_of_files_are_refused(
    gateway: GatewayProcess, client: Client, office: OfficeClient, content: bytes
) -> None:
    chargeback_id = charge_back(gateway, client, office)
    show(office, f"payments/{chargeback_id}")
    assert send_bytes(office, f"payments/{chargeback_id}/evidence", content).status == 400


@pytest.mark.both_databases
def test_a_dispute_has_a_highest_number_of_pieces_of_evidence(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    chargeback_id = charge_back(gateway, client, office)
    for number in range(LIMITS.evidence_per_dispute_max):
        assert office.post(f"{office.base}/payments/{chargeback_id}/notes", {"note": f"{number}"}).status == 200
    assert office.post(f"{office.base}/payments/{chargeback_id}/notes", {"note": "more"}).status == 400


def test_a_large_body_needs_the_ticket_of_a_page_of_the_session(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    chargeback_id = charge_back(gateway, client, office)
    path = f"payments/{chargeback_id}/evidence"
    ticket = find_ticket(show(office, f"payments/{chargeback_id}"))
    large = PDF + b"\0" * LIMITS.body_bytes_max
    assert send_bytes(office, path, large).status == 413
    assert send_bytes(office, path, large, **{"x-upload-ticket": "1" + ticket}).status == 413
    other = enter_as(gateway, Role.OPERATOR)
    show(other, f"payments/{chargeback_id}")
    assert send_bytes(other, path, large, **{"x-upload-ticket": ticket}).status == 413
    too_large = PDF + b"\0" * LIMITS.evidence_bytes_max
    assert send_bytes(office, path, too_large, **{"x-upload-ticket": ticket}).status == 413
    stranger = OfficeClient(gateway.base_url, office.merchant_id)
    assert send_bytes(stranger, path, large, **{"x-upload-ticket": ticket}).status == 413


def test_evidence_belongs_to_its_chargeback(gateway: GatewayProcess, client: Client, office: OfficeClient) -> None:
    first, second = (charge_back(gateway, client, office) for _ in range(2))
    office.post(f"{office.base}/payments/{first}/notes", {"note": "a note"})
    page = office.get(f"{office.base}/payments/{first}").body.decode()
    link = next(part.split('"')[0] for part in page.split('href="')[1:] if "/evidence/" in part.split('"')[0])
    assert office.get(link).status == 200
    assert office.get(link.replace(first, second)).status == 404
    assert office.get(link[:-4] + "0000").status == 404
    payment_id = client.pay().json["id"]
    assert office.post(f"{office.base}/payments/{payment_id}/notes", {"note": "no dispute"}).status == 404


def make_file(client: Client) -> tuple[bytes, list[str]]:
    name, run = f"order-{uuid4().hex}", uuid4().hex
    first, second = client.pay(merchantTransactionId=name).json["id"], client.pay().json["id"]
    third = client.pay().json["id"]
    lines = [
        "paymentId,merchantTransactionId,type,amount,currency,resultCode,reference,date",
        f",{name},CB,12.50,EUR,000.100.203,{run}-1,2026-11-15",
        f"{second},,CB,,,,{run}-2,",
        f"{second},,CR,,,,{run}-3,",
        f"{third},,CB,5.00,EUR,,{run}-4,",
    ]
    return "\n".join(lines).encode(), [first, second, third]


@pytest.mark.both_databases
def test_a_file_is_imported_once_however_often_it_is_sent(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    body, ids = make_file(client)
    ticket = {"x-upload-ticket": find_ticket(show(office, "disputes/import"))}
    pages = [unescape(send_bytes(office, "disputes/import", body, **ticket).body.decode()) for _ in range(2)]

    assert "4 recorded, 0 recorded before, 0 refused" in pages[0]
    assert "0 recorded, 4 recorded before, 0 refused" in pages[1]
    assert [list_types(gateway, office, each) for each in ids] == [
        [("DB", 9200), ("CB", 1250)],
        [("DB", 9200), ("CB", 9200), ("CR", 9200)],
        [("DB", 9200), ("CB", 500)],
    ]


def test_the_command_and_the_office_count_the_same_references(
    gateway: GatewayProcess, client: Client, office: OfficeClient, tmp_path: Path
) -> None:
    body, ids = make_file(client)
    path = tmp_path / "file.csv"
    path.write_bytes(body)
    done = gateway.run("record", "--file", str(path))
    assert "4 recorded\n" in done.stdout, done.stderr
    show(office, "disputes/import")
    assert "4 recorded before" in send_bytes(office, "disputes/import", body).body.decode()
    assert list_types(gateway, office, ids[2]) == [("DB", 9200), ("CB", 500)]


def test_nothing_is_recorded_if_one_line_does_not_fit(
    gateway: GatewayProcess, client: Client, office: OfficeClient, stranger: Client
) -> None:
    payment_id, run, foreign = client.pay().json["id"], uuid4().hex, stranger.pay().json["id"]
    body = "\n".join(
        (
            HEAD,
            f"{payment_id},CB,1.00,EUR,,{run}-1,",
            f"{payment_id},CB,1.00,USD,,{run}-2,",
            f"{foreign},CB,1.00,EUR,,{run}-3,",
            f"{payment_id},CR,1.00,EUR,,{run}-1,",
            f"{payment_id},RC,1.00,EUR,,{run}-5,",
        )
    ).encode()
    show(office, "disputes/import")
    answer = send_bytes(office, "disputes/import", body)
    page = unescape(answer.body.decode())
    assert answer.status == 400
    assert [f"Line {number}" in page for number in range(2, 7)] == [False, True, True, False, True]
    assert list_types(gateway, office, payment_id) == [("DB", 9200)]


@pytest.mark.both_databases
def test_a_reference_that_stands_for_another_fact_is_refused(gateway: GatewayProcess, client: Client) -> None:
    first, second = (client.pay().json["id"] for _ in range(2))
    reference = uuid4().hex
    assert gateway.run("record", first, "--type", "CB", "--reference", reference).returncode == 0
    with pytest.raises(CalledProcessError) as refused:
        gateway.run("record", second, "--type", "CB", "--reference", reference)
    assert refused.value.returncode == 2
    assert "reference of another fact" in refused.value.stderr
    again = gateway.run("record", first, "--type", "CB", "--reference", reference, "--amount", "92.00")
    assert "1 recorded before" in again.stdout


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A host on which a second person confirms larger refunds and all records."""
    arguments = ("--four-eyes", "refund=10.00,record")
    with GatewayProcess(tmp_path_factory.mktemp("careful"), arguments=arguments) as careful:
        yield careful


def confirm(office: OfficeClient) -> str:
    page = office.get(f"{office.base}/approvals").body.decode()
    path = page.split('action="')
    form = next(part.split('"')[0] for part in path[1:] if "/approvals/" in part.split('"')[0])
    return unescape(office.post(form, {"decision": "grant"}).body.decode())


def test_a_second_person_confirms_a_refund_and_it_is_made_once(careful: GatewayProcess) -> None:
    client, office = careful.client(), enter_office(careful)
    operator = enter_as(careful, Role.OPERATOR)
    payment_id = client.pay().json["id"]
    key = read_key(show(operator, f"payments/{payment_id}"), "refund")
    path = f"{operator.base}/payments/{payment_id}/refund"
    asked = operator.post(path, {"key": key, "amount": "50.00"})
    assert "A second person has to confirm this: refund of 50.00 EUR" in asked.body.decode()
    assert "sent before" in operator.post(path, {"key": key, "amount": "50.00"}).body.decode()
    assert list_types(careful, office, payment_id) == [("DB", 9200)]

    confirm(office)
    assert list_types(careful, office, payment_id) == [("DB", 9200), ("RF", 5000)]
    assert "sent before" in operator.post(path, {"key": key, "amount": "50.00"}).body.decode()


def test_parts_of_a_refund_need_a_second_person_when_they_exceed_the_limit_together(careful: GatewayProcess) -> None:
    client, office = careful.client(), enter_office(careful)
    operator = enter_as(careful, Role.OPERATOR, merchant_id=office.merchant_id)
    payment_id = client.pay().json["id"]
    told = []
    for amount in ("6.00", "4.00", "0.01"):
        key = read_key(show(operator, f"payments/{payment_id}"), "refund")
        page = operator.post(f"{operator.base}/payments/{payment_id}/refund", {"key": key, "amount": amount})
        told.append("A second person" in page.body.decode())
    assert told == [False, False, True]
    assert list_types(careful, office, payment_id) == [("DB", 9200), ("RF", 600), ("RF", 400)]
    confirm(office)
    assert list_types(careful, office, payment_id)[-1] == ("RF", 1)


def test_a_request_about_one_channel_is_not_shown_to_those_of_another(careful: GatewayProcess) -> None:
    client, office = careful.client(), enter_office(careful)
    payment_id = client.pay().json["id"]
    record(office, payment_id, type="CB", amount="5.00")
    own, other = (
        enter_as(careful, Role.ADMINISTRATOR, channel) for channel in (client.entity_id, client.lenient_entity_id)
    )
    page = own.get(f"{own.base}/approvals").body.decode()
    form = page.split("/approvals/")[1].split('"')[0]
    assert payment_id in page
    assert payment_id not in other.get(f"{other.base}/approvals").body.decode()
    assert other.post(f"{other.base}/approvals/{form}", {"decision": "decline"}).status == 404
    assert own.post(f"{own.base}/approvals/{form}", {"decision": "decline"}).status == 200


def test_a_second_person_confirms_a_reversal_of_taken_money(careful: GatewayProcess) -> None:
    client, office = careful.client(), enter_office(careful)
    operator = enter_as(careful, Role.OPERATOR)
    payment_id = client.pay().json["id"]
    key = read_key(show(operator, f"payments/{payment_id}"), "reverse")
    operator.post(f"{operator.base}/payments/{payment_id}/reverse", {"key": key})
    assert list_types(careful, office, payment_id) == [("DB", 9200)]
    confirm(office)
    assert list_types(careful, office, payment_id) == [("DB", 9200), ("RV", 9200)]


def test_a_second_person_confirms_a_record_and_a_file(careful: GatewayProcess) -> None:
    client, office = careful.client(), enter_office(careful)
    operator = enter_as(careful, Role.OPERATOR)
    payment_id = client.pay().json["id"]
    assert "A second person" in record(operator, payment_id, type="CB", amount="5.00").body.decode()
    assert list_types(careful, office, payment_id) == [("DB", 9200)]
    confirm(office)
    assert list_types(careful, office, payment_id) == [("DB", 9200), ("CB", 500)]

    body, ids = make_file(client)
    show(operator, "disputes/import")
    assert "A second person" in send_bytes(operator, "disputes/import", body).body.decode()
    assert list_types(careful, office, ids[0]) == [("DB", 9200)]
    assert "4 recorded, 0 recorded before, 0 refused." in confirm(office)
    assert list_types(careful, office, ids[0]) == [("DB", 9200), ("CB", 1250)]
