"""The page of a payment in a browser: light, dark and narrow without faults of access, and files that are sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import list_faults
from browser.conftest import Shoot
from browser.watching import Watch
from gateway import Client, GatewayProcess


@pytest.fixture
def office(gateway: GatewayProcess, page: Page) -> Page:
    """A page of the administrator, who is signed in."""
    shown = json.loads(gateway.run("credentials", "--json").stdout)["office"]
    page.goto(f"{gateway.base_url}/office/sign-in?next=/office/merchants/{find_merchant(gateway)}/disputes")
    page.fill("#name", shown["user"])
    page.fill("#password", shown["password"])
    page.click("button")
    expect(page.locator("h1")).to_have_text("Disputes")
    return page


def find_merchant(gateway: GatewayProcess) -> str:
    return gateway.run("merchant", "list").stdout.split()[0]


def follow(client: Client, payment_id: str, payment_type: str, amount: str, prefix: str = "/v1") -> str:
    fields = {"paymentType": payment_type, "amount": amount, "currency": "EUR"}
    answer = client.post(f"{prefix}/payments/{payment_id}", fields)
    assert answer.status == 200, answer.body
    return str(answer.json["id"])


def make_chain(client: Client) -> tuple[str, str]:
    """Makes an authorization with two captures, a refund and a chargeback; returns the first and the last."""
    first = client.pay(paymentType="PA").json["id"]
    captures = [follow(client, first, "CP", amount) for amount in ("40.00", "30.00")]
    follow(client, captures[0], "RF", "10.00")
    return first, follow(client, captures[1], "CB", "30.00", "/sandbox")


def test_the_pages_of_a_long_chain_and_of_a_dispute_have_no_faults(
    gateway: GatewayProcess, client: Client, office: Page, shoot: Shoot
) -> None:
    first, chargeback = make_chain(client)
    for name, payment_id in {"chain": first, "chargeback": chargeback}.items():
        office.goto(f"{gateway.base_url}/office/merchants/{find_merchant(gateway)}/payments/{payment_id}")
        shoot(office, f"office-{name}")
        assert list_faults(office) == []


def test_a_payment_is_refunded_by_a_click_on_its_picture_and_a_form(
    gateway: GatewayProcess, client: Client, office: Page
) -> None:
    base = f"{gateway.base_url}/office/merchants/{find_merchant(gateway)}"
    first = client.pay(paymentType="PA").json["id"]
    follow(client, first, "CP", "40.00")
    office.goto(f"{base}/payments/{first}")
    office.locator("svg.chain a").nth(1).click()
    expect(office.locator("h1")).to_have_text("Capture of 40.00 EUR")
    office.fill("#refund-amount", "15.00")
    office.locator("#refund button").click()
    expect(office.locator(".notice")).to_contain_text("Refund of 15.00 EUR")
    expect(office.locator("svg.chain rect")).to_have_count(3)
    expect(office.locator("#refund-bound")).to_have_text("At most 25.00 EUR.")


def test_files_are_sent_and_faults_of_a_file_are_shown(
    gateway: GatewayProcess, client: Client, office: Page, tmp_path: Path, watch: Watch
) -> None:
    base = f"{gateway.base_url}/office/merchants/{find_merchant(gateway)}"
    _, chargeback = make_chain(client)
    office.goto(f"{base}/payments/{chargeback}")
    proof = tmp_path / "delivery <b>note.pdf"
    proof.write_bytes(b"%PDF-1.7" + b"\0" * 2_000_000)
    office.set_input_files("#evidence-file", proof)
    office.get_by_role("button", name="Add the file").click()
    expect(office.locator(".files li")).to_contain_text("delivery <b>note.pdf")
    expect(office.locator(".notice")).to_contain_text("was added")
    with office.expect_download() as saved:
        office.locator(".files a").click()
    assert Path(saved.value.path()).read_bytes() == proof.read_bytes()

    office.goto(f"{base}/disputes/import")
    payment_id = client.pay().json["id"]
    lines = tmp_path / "lines.csv"
    lines.write_text(f"paymentId,type,amount,currency,reference\n{payment_id},CB,5.00,EUR,{payment_id}\nx,CB,,,r\n")
    office.set_input_files("#record-file", lines)
    office.get_by_role("button", name="Import").click()
    expect(office.locator(".fault")).to_contain_text("Line 3")
    # The browser reports the status of the refusal.
    assert [complaint for complaint in watch.take() if "400" not in complaint] == []
    lines.write_text(f"paymentId,type,amount,currency,reference\n{payment_id},CB,5.00,EUR,{payment_id}\n")
    office.set_input_files("#record-file", lines)
    office.get_by_role("button", name="Import").click()
    expect(office.locator(".notice")).to_contain_text("1 recorded, 0 recorded before, 0 refused.")
