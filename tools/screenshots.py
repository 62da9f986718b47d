"""`make screenshots`: takes the pictures of the payment form, the demo shop, the office and the documentation.

A gateway of its own on a free port, a temporary data folder, Debian's Chromium; everything is stopped afterwards.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

# Started as a file, while the servers and the shopper's hands of the tests are found from their root.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from tools.office_seeding import sell

from browser.conftest import CHROMIUM_FLAGS
from browser.linking import read_own_context
from browser.shopping import CHALLENGED, NUMBER, fill_in_card, open_method, order, pay_button, pay_with_address
from browser.widget_shop import hold_requests
from gateway import Client, GatewayProcess
from office_client import OfficeClient, enter_office

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "images"
BYTES_MAX = 150_000
PATIENCE_MS = 20_000


@dataclass(frozen=True)
class Look:
    """A look is how the browser is set up for a picture."""

    width: int = 1080
    height: int = 900
    is_dark: bool = False


OFFICE = Look(width=1120, height=700)
DOCS = Look(width=1280, height=740)
FORM = Look(width=540)
"""A form is as wide as this in most shops."""


@dataclass(frozen=True)
class Shot:
    name: str
    walk: Callable[[Page, str], Locator | None]
    """Goes to what is shown; the part of the page that is cut out, or None for what fits into the window."""
    look: Look = Look()


# ---- the walks ----


def show_form(page: Page, base_url: str, language: str = "en") -> Locator:
    """A card that is typed in already, so that the picture shows the form at work."""
    order(page, base_url, language)
    fill_in_card(page, NUMBER)
    page.mouse.click(1, 1)
    return page.locator(".wpwl-accordion")


def show_arabic_form(page: Page, base_url: str) -> Locator:
    return show_form(page, base_url, "ar")


def show_errors(page: Page, base_url: str) -> Locator:
    order(page, base_url, "en")
    fill_in_card(page, "4200000000000001")
    pay_button(page).click()
    expect(page.locator(".wpwl-hint")).to_be_visible()
    return page.locator(".wpwl-accordion")


def show_loading(page: Page, base_url: str) -> Locator:
    """The form does not learn what to show, so the grey shapes stay."""
    hold_requests(page, "**/v1/checkouts/*/form?*")
    page.goto(f"{base_url}/sandbox/shop?lang=en")
    page.get_by_role("button", name="Go to payment").click()
    expect(page.locator(".wpwl-skeleton")).to_be_visible()
    return page.locator(".wpwl-skeleton")


def show_shop(page: Page, base_url: str) -> None:
    order(page, base_url, "en")
    for name in ("card.number", "card.cvv"):
        expect(page.frame_locator(f'iframe[name="{name}"]').locator("input[placeholder]")).to_be_visible()


def show_result(page: Page, base_url: str) -> None:
    order(page, base_url, "en")
    fill_in_card(page, NUMBER)
    pay_button(page).click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.get_by_role("heading", name="The event that arrived")).to_be_visible()


def show_inbox(page: Page, base_url: str) -> None:
    show_result(page, base_url)
    page.get_by_role("link", name="Open the inbox of the shop").click()
    expect(page.get_by_role("heading", name="Inbox shop")).to_be_visible()


def show_wallet(page: Page, base_url: str) -> None:
    order(page, base_url, "en")
    open_method(page, "virtualAccount-APPLEPAY")
    pay_button(page).click()
    expect(page.frame_locator("iframe[name=cnpIframe]").get_by_role("button", name="Confirm")).to_be_visible()


def show_challenge(page: Page, base_url: str) -> None:
    order(page, base_url, "en")
    fill_in_card(page, CHALLENGED)
    pay_with_address(page)
    expect(
        page.frame_locator("iframe[name=cnpIframe]")
        .frame_locator("iframe[name=bank]")
        .get_by_role("heading", name="Confirm")
    ).to_be_visible()


def show_cancelled(page: Page, base_url: str) -> Locator:
    show_challenge(page, base_url)
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.locator(".wpwl-message-calm")).to_be_visible()
    return page.locator(".wpwl-accordion")


def show_mandate(page: Page, base_url: str) -> Locator:
    order(page, base_url, "en")
    page.get_by_role("radio", name="SEPA").check()
    page.locator(".wpwl-control-accountHolder").fill("Jane Jones")
    page.locator(".wpwl-control-accountIban").fill("DE89370400440532013000")
    page.mouse.click(1, 1)
    return page.locator(".wpwl-accordion")


def show_link(client: Client, page: Page, _base_url: str) -> None:
    page.goto(read_own_context(client, **{"layout.payButtonColor": "#0b7a53", "layout.merchantNameColor": "#0b7a53"}))
    fill_in_card(page, NUMBER)
    page.mouse.click(1, 1)


def show_receipt(client: Client, page: Page, base_url: str) -> None:
    show_link(client, page, base_url)
    pay_button(page).click()
    expect(page.get_by_role("heading", name="Receipt")).to_be_visible()


def show_front_page(page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/")
    expect(page.get_by_role("main")).to_be_visible()


def show_docs(path: str, page: Page, base_url: str) -> None:
    page.goto(f"{base_url}/docs/{path}")
    expect(page.locator("h1")).not_to_have_text("Page not found")


SHOTS = (
    Shot("accordion", show_form, FORM),
    Shot("accordion-dark", show_form, Look(width=FORM.width, is_dark=True)),
    Shot("accordion-narrow", show_form, Look(width=320)),
    Shot("accordion-ar", show_arabic_form, FORM),
    Shot("errors", show_errors, FORM),
    Shot("loading", show_loading, FORM),
    Shot("shop", show_shop, Look(width=1000, height=900)),
    Shot("shop-result", show_result),
    Shot("inbox", show_inbox, Look(width=1000, height=760)),
    Shot("wallet", show_wallet, Look(width=720, height=760)),
    Shot("cancelled", show_cancelled, FORM),
    Shot("mandate", show_mandate, FORM),
    Shot("challenge", show_challenge, Look(width=720, height=760)),
    Shot("front-page", show_front_page, DOCS),
    Shot("docs-endpoint", partial(show_docs, "api/post-v1-payments#examples"), Look(width=1280, height=540)),
    Shot("docs-result-code", partial(show_docs, "codes/800.100.155"), DOCS),
)


def list_link_shots(client: Client) -> tuple[Shot, ...]:
    return (
        Shot("payment-link", partial(show_link, client), Look(height=760)),
        Shot("payment-link-receipt", partial(show_receipt, client), Look(width=FORM.width, height=780)),
    )


def show_office(office: OfficeClient, path: str, page: Page, _base_url: str) -> None:
    for name, value in office.cookies.items():
        page.context.add_cookies([{"name": name, "value": value, "url": office.base_url}])
    page.goto(f"{office.base_url}{office.base}{path}")
    expect(page.locator("h1")).not_to_have_text("Not found")


def list_office_shots(gateway: GatewayProcess) -> tuple[Shot, ...]:
    """Fills the office's gateway first; its clock is moved for that, so it has one of its own."""
    paid_id, office = sell(gateway), enter_office(gateway)
    paths = {"overview": "/overview", "transactions": "/payments", "webhooks": "/webhooks"}
    paths["payment"] = f"/payments/{paid_id}#chain-title"
    return tuple(Shot(f"office-{name}", partial(show_office, office, path), OFFICE) for name, path in paths.items())


# ---- the camera ----


def take(shot: Shot, browser: Browser, base_url: str) -> Path:
    look = shot.look
    context = browser.new_context(
        viewport={"width": look.width, "height": look.height},
        color_scheme="dark" if look.is_dark else "light",
        reduced_motion="reduce",
    )
    with context:
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        part = shot.walk(page, base_url)
        path = FOLDER / f"{shot.name}.png"
        (part or page).screenshot(path=path, animations="disabled", caret="hide")
    return path


@contextmanager
def open_browser() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("no Chromium is installed: make machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*CHROMIUM_FLAGS, "--hide-scrollbars"])
        yield browser
        browser.close()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = sys.argv[1:]
    with ExitStack() as opened:
        folders = [Path(opened.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        gateway, shop = [opened.enter_context(GatewayProcess(folder)) for folder in folders]
        # Seeding runs loops of its own, so it comes before the browser's.
        shots = [*SHOTS, *list_link_shots(gateway.client()), *list_office_shots(shop)]
        browser = opened.enter_context(open_browser())
        paths = [take(shot, browser, gateway.base_url) for shot in shots if not wanted or shot.name in wanted]
    for path in paths:
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size:,} bytes")
    if too_large := [path.name for path in paths if path.stat().st_size > BYTES_MAX]:
        raise SystemExit(f"too large for a repository: {', '.join(too_large)}")


if __name__ == "__main__":
    main()
