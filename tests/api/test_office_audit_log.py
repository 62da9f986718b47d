"""The audit log in the back office: pages, filters, and the file that a spreadsheet may open."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from gateway import GatewayProcess
from office_client import OfficeClient, enter_office
from office_users import enter_as
from tollgate.catalog.permissions import Role


def export(office: OfficeClient, path: str, **filters: str) -> list[dict[str, str]]:
    answer = office.post(f"{path}/export", filters)
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.body.decode())))


def list_numbers(page: str) -> list[int]:
    return [int(part.partition("<")[0]) for part in page.split('<td class="number">')[1:]]


def test_entries_are_listed_newest_first_in_pages_by_key(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as own:
        office = enter_office(own)
        for _ in range(55):
            office.get(f"{office.base}/account")
        first = office.get(f"{office.base}/audit-log").body.decode()
        numbers = list_numbers(first)
        assert len(numbers) == 50
        assert numbers == sorted(numbers, reverse=True)
        assert f"before={numbers[-1]}" in first
        office.get(f"{office.base}/account")
        older = list_numbers(office.get(f"{office.base}/audit-log", before=str(numbers[-1])).body.decode())
        assert older[0] == numbers[-1] - 1
        assert len(older) >= 5

        host = office.get("/office/audit-log", action="signed in").body.decode()
        assert "admin" in host
        assert list_numbers(office.get(f"{office.base}/audit-log", user="nobody").body.decode()) == []
        assert list_numbers(office.get(f"{office.base}/audit-log", until="2020-01-01").body.decode()) == []
        assert list_numbers(office.get(f"{office.base}/audit-log", since="2020-01-01").body.decode()) != []
        for wrong in ("since=yesterday", "action=nonsense", "before=x"):
            assert office.get(f"{office.base}/audit-log?{wrong}").status == 400

        assert own.run("verify").stdout.splitlines()[-1].startswith("all is well")


def test_an_export_is_whole_recorded_and_runs_no_formula(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as own:
        office = enter_office(own)
        own.run("channel", "add", office.merchant_id, "=1+1")
        office.get(f"{office.base}/account")
        for name in ("=1+1", "+cmd", "-2", "@sum", "plain", "<script>"):
            office.post(f"{office.base}/account/channels", {"name": name})
            office.get(f"{office.base}/account")
        rows = export(office, f"{office.base}/audit-log")
        assert rows[0]["action"] == "audit log exported"
        assert [int(row["number"]) for row in rows] == sorted((int(row["number"]) for row in rows), reverse=True)
        assert {row["user"] for row in rows if row["action"] == "channel added"} == {"admin", "operator"}
        for row in rows:
            assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row.values())
        assert "<script>" not in office.get(f"{office.base}/audit-log").body.decode().partition("<tbody>")[2]

        for wrong in ("=x", "+x", "-x", "@x"):
            OfficeClient(own.base_url).sign_in(wrong, "a wrong password")
        host = export(office, "/office/audit-log", action="sign-in failed")
        # A name that nobody has may be a password in the wrong field.
        assert {(row["user"], row["subject"]) for row in host} == {("", "unknown name")}
        # It is sent in parts, so that memory does not hold all of it.
        sent = office.post("/office/audit-log/export")
        assert sent.headers["transfer-encoding"] == "chunked"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.DEVELOPER])
def test_roles_below_the_administrator_neither_see_nor_export_it(gateway: GatewayProcess, role: Role) -> None:
    office = enter_as(gateway, role)
    for path in (f"{office.base}/audit-log", "/office/audit-log"):
        assert office.get(path).status == 403
        assert office.post(f"{path}/export").status == 403


def test_an_administrator_sees_the_log_of_its_merchant_and_not_of_the_host(gateway: GatewayProcess) -> None:
    office = enter_as(gateway, Role.ADMINISTRATOR)
    rows = export(office, f"{office.base}/audit-log") if office.get(f"{office.base}/audit-log").status == 200 else []
    assert {row["merchant"] for row in rows} == {office.merchant_id}
    assert office.get("/office/audit-log").status == 403


def test_commands_of_the_operator_are_recorded_before_they_are_done(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as own:
        office = enter_office(own)
        merchant_id = own.run("merchant", "add", "Other").stdout.strip()
        entity_id = own.run("channel", "add", merchant_id, "Shop").stdout.strip()
        own.run("channel", "set", entity_id, "--closed")
        token = own.run("token", "add", merchant_id, "--label", "shop").stdout.strip()
        token_id = own.run("token", "list").stdout.splitlines()[-1].split()[0]
        own.run("token", "rotate", token_id)
        own.run("token", "revoke", token_id)
        added = own.run("webhook", "add", "--merchant", merchant_id, "--url", "http://127.0.0.1:9/").stdout
        webhook_id = added.split()[1]
        own.run("webhook", "set", webhook_id, "--types", "PAYMENT")
        own.run("webhook", "rotate", webhook_id)
        own.run("webhook", "remove", webhook_id)
        own.run("rotate-keys", "--wait", "0")
        office.get("/office/audit-log")
        rows = export(office, "/office/audit-log", user="operator")
        assert [row["action"] for row in reversed(rows)] == [
            "merchant added",
            "channel added",
            "channel changed",
            "access token added",
            "access token rotated",
            "access token revoked",
            "webhook changed",
            "webhook changed",
            "webhook changed",
            "webhook changed",
            "keys rotated",
        ]
        assert token not in str(rows)
        assert own.run("verify").stdout.splitlines()[-1].startswith("all is well")
