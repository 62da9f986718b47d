"""A developer plans outcomes, and saves and loads the sandbox. The lists are looked at with all other pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import list_faults
from browser.conftest import Shoot
from browser.watching import Watch
from gateway import Client, GatewayProcess

DECLINED = "800.100.152"


@pytest.fixture
def office(page: Page, gateway: GatewayProcess) -> Page:
    """A page of the administrator, at the simulator."""
    shown = json.loads(gateway.run("credentials", "--json").stdout)["office"]
    merchant_id = gateway.run("merchant", "list").stdout.split()[0]
    page.goto(f"{gateway.base_url}/office/sign-in?next=/office/merchants/{merchant_id}/simulator")
    page.get_by_label("Name").fill(shown["user"])
    page.get_by_label("Password").fill(shown["password"])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Simulator")).to_be_visible()
    return page


def test_a_planned_decline_is_met_once_and_the_page_is_accessible(office: Page, client: Client, shoot: Shoot) -> None:
    form = office.get_by_role("region", name="Acquirer")
    form.get_by_label("Channel").select_option(client.entity_id)
    form.get_by_label("Outcome").select_option(DECLINED)
    form.get_by_role("button", name="Plan").click()
    expect(office.get_by_role("region", name="Planned outcomes")).to_contain_text("1 of 1")
    shoot(office, "office-simulator")
    faults = list_faults(office)
    assert [client.pay().code, client.pay().code] == [DECLINED, "000.100.110"]
    office.reload()
    expect(office.get_by_role("region", name="Planned outcomes")).to_contain_text("used up")
    office.get_by_role("button", name="Remove").click()
    expect(office.get_by_text("Nothing is planned")).to_be_visible()
    assert faults == []


def test_a_saved_sandbox_is_loaded_after_a_question(office: Page, client: Client) -> None:
    office.get_by_label("Name").fill("browser")
    office.get_by_role("button", name="Save the sandbox").click()
    expect(office.get_by_role("status").first).to_contain_text("Saved")
    paid = client.pay().json["id"]
    faults = list_faults(office)

    office.once("dialog", lambda dialog: dialog.dismiss())
    office.get_by_role("button", name="Load browser").click()
    assert client.get(f"/v1/payments/{paid}").status == 200, "the user said no"

    office.once("dialog", lambda dialog: dialog.accept())
    office.get_by_role("button", name="Load browser").click()
    expect(office.get_by_role("status").first).to_contain_text("Loaded")
    assert client.get(f"/v1/payments/{paid}").status == 404

    office.once("dialog", lambda dialog: dialog.accept())
    office.get_by_role("button", name="Delete browser").click()
    expect(office.get_by_text("There is no snapshot yet")).to_be_visible()
    assert faults == []


def test_the_file_of_a_snapshot_is_sent_and_loaded(
    office: Page, gateway: GatewayProcess, client: Client, shoot: Shoot, watch: Watch, tmp_path: Path
) -> None:
    path = tmp_path / "own.snapshot"
    gateway.run("sandbox", "save", str(path))
    paid = client.pay().json["id"]
    form = office.get_by_role("region", name="Load a file")
    form.get_by_label("Snapshot of this host").set_input_files(path)
    office.evaluate("""() => {
        const bar = document.getElementById("upload-sent");
        new MutationObserver(() => sessionStorage.setItem("seen", `${bar.value}`)).observe(bar, {attributes: true});
    }""")
    office.once("dialog", lambda dialog: dialog.accept())
    form.get_by_role("button", name="Load the file").click()
    expect(office.get_by_role("status").first).to_contain_text("rows of own.snapshot")
    assert office.evaluate("() => sessionStorage.getItem('seen')") is not None, "the bar has moved"
    assert client.get(f"/v1/payments/{paid}").status == 404
    shoot(office, "office-simulator-upload")
    assert list_faults(office) == []

    form.get_by_label("Snapshot of this host").set_input_files(
        {"name": "no.snapshot", "mimeType": "application/octet-stream", "buffer": b"nothing"}
    )
    office.once("dialog", lambda dialog: dialog.accept())
    form.get_by_role("button", name="Load the file").click()
    expect(office.get_by_text("no snapshot of this host")).to_be_visible()
    [complaint] = watch.take()
    assert "400" in complaint
