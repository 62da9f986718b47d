"""One Chromium for the whole suite and a fresh profile for every test, which must end without a complaint."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from browser.shops import Site, open_shop
from browser.watching import Watch
from gateway import Client, GatewayProcess

CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
"""The first of them is the second without windows, and takes half the time."""
PATIENCE_MS = 120_000

expect.set_options(timeout=PATIENCE_MS)

OpenContext = Callable[..., BrowserContext]
Shoot = Callable[[Page, str], None]


def find_chromium() -> str:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    assert program is not None, "no Chromium is installed: make machine"
    return program


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=list(CHROMIUM_FLAGS), timeout=PATIENCE_MS
        )
        yield browser
        browser.close()


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    assert watch.complaints == []


@pytest.fixture
def open_context(browser: Browser, watch: Watch) -> Iterator[OpenContext]:
    """A profile with options of Playwright, such as `java_script_enabled=False`."""
    with ExitStack() as opened:

        def open_one(**options: Any) -> BrowserContext:
            context = opened.enter_context(browser.new_context(**options))
            context.set_default_timeout(PATIENCE_MS)
            watch.over(context)
            return context

        yield open_one
        for page in (page for context in browser.contexts for page in context.pages):
            # A handler may still fetch for a page whose test has ended; its error would fail the next test.
            # And a window may close itself at this moment.
            with suppress(PlaywrightError):
                page.unroute_all(behavior="ignoreErrors")


@pytest.fixture
def page(open_context: OpenContext) -> Page:
    return open_context().new_page()


@pytest.fixture
def plain_page(open_context: OpenContext) -> Page:
    """A page in a browser that runs no scripts."""
    return open_context(java_script_enabled=False).new_page()


@pytest.fixture
def shop() -> Iterator[Site]:
    with open_shop() as site:
        yield site


@pytest.fixture
def site() -> Iterator[Site]:
    """A server that belongs to no shop."""
    with Site() as site:
        yield site


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with GatewayProcess(tmp_path_factory.mktemp("gateway")) as gateway:
        yield gateway


@pytest.fixture(scope="session")
def client(gateway: GatewayProcess) -> Client:
    return gateway.client()


@pytest.fixture(scope="session")
def shoot() -> Shoot:
    """Takes pictures where BROWSER_SHOTS names a folder for them: light, dark and narrow."""
    folder = os.environ.get("BROWSER_SHOTS")

    def take(page: Page, name: str) -> None:
        if folder is None:
            return
        usual = page.viewport_size
        for look, scheme, width in (("light", "light", 900), ("dark", "dark", 900), ("narrow", "light", 320)):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.set_viewport_size({"width": width, "height": 640})
            page.screenshot(path=Path(folder) / f"{name}-{look}.png", full_page=True)
        page.emulate_media(color_scheme=None)
        if usual is not None:
            page.set_viewport_size(usual)

    return take
