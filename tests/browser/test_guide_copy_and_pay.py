"""The page that the guide for shops from COPYandPAY ends with pays, with the options of an older shop."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from browser.shops import BACK, Site
from browser.widget_shop import HostedPage, fill_card, options, pay_button
from gateway import Client
from tollgate.docs import texts

GUIDE = (texts.ROOT / "docs" / "copy-and-pay.md").read_text("utf-8")
DIFFS = re.findall(r"^```diff\n(.*?)^```$", GUIDE, re.M | re.S)
OLD_OPTIONS = {
    "locale": "de-AT",
    "style": "plain",
    "brandDetectionType": "binlist",
    "paypal": {},
    "spinner": {"lines": 12, "color": "#007a3d"},
    "labels": {"cardHolder": "Karteninhaberin"},
}


def apply_diff(diff: str) -> str:
    """Returns the lines that are there after a change."""
    return "\n".join(line[1:] for line in diff.splitlines() if not line.startswith("-"))


def test_a_page_that_changed_its_host_pays_with_its_old_options(page: Page, shop: Site, client: Client) -> None:
    hosted_page = HostedPage(shop, client)
    checkout = hosted_page.prepare()
    [changed] = [apply_diff(diff) for diff in DIFFS if "<script" in diff]
    values = {"https://pay.example": client.base_url, "=ID": f"={checkout.id}", "INTEGRITY": checkout.integrity}
    values["https://shop.example/result"] = f"{shop.url}{BACK}?order=17"
    for name, value in values.items():
        assert changed.count(name) == 1, name
        changed = changed.replace(name, value)
    hosted_page.show(page, options(OLD_OPTIONS), changed)

    card = page.locator(".wpwl-container-card")
    expect(card.locator(".wpwl-label-cardHolder")).to_have_text(re.compile("^Karteninhaberin"))
    fill_card(card)
    pay_button(card).click()

    hosted_page.expect_home(page, checkout)
    assert hosted_page.read_code(checkout) == "000.100.110"


def test_every_change_takes_the_old_host_away() -> None:
    assert len(DIFFS) == 2
    assert [diff for diff in DIFFS if "old.example" not in diff or "old.example" in apply_diff(diff)] == []
