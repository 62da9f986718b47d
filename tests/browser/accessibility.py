"""Axe looks for faults in a page or a frame. Which pages must be free of them is said by the tests."""

from __future__ import annotations

from collections.abc import Sequence

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Frame, Page, ViewportSize

# Frames are judged one by one. What a page loads from elsewhere is not loaded again: its policy would forbid it.
_OPTIONS = {"resultTypes": ["violations"], "iframes": False, "preload": False}
_RUN = "async ([context, options]) => (await axe.run(context.length ? context : document, options)).violations"

WIDE, NARROW = ViewportSize(width=1200, height=800), ViewportSize(width=320, height=800)
_CONTRAST = "color-contrast"
_OPEN = "() => { for (const each of document.querySelectorAll('main details')) each.open = true; }"
_OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def list_violations(
    place: Page | Frame, *selectors: str, without: Sequence[str] = (), only: Sequence[str] = ()
) -> list[str]:
    """Lists every element at fault, within the selectors if there are any; rules are left out, or are the only ones."""
    if not place.evaluate("() => 'axe' in window"):
        # Half a megabyte: a document that is judged again has it already.
        place.evaluate(AXE_SCRIPT)
    options = {**_OPTIONS, "rules": {name: {"enabled": False} for name in without}}
    options |= {"runOnly": list(only)} if only else {}
    found = place.evaluate(_RUN, [list(selectors), options])
    return [f"{fault['id']}: {node['html'][:150]}" for fault in found for node in fault["nodes"]]


def list_faults(page: Page) -> list[str]:
    """Lists what is wrong with a page in light, in dark and on a phone; a look is judged by the rules it changes."""
    page.evaluate(_OPEN)
    faults = []
    for look, size, rules in (
        ("light", WIDE, {}),
        ("dark", WIDE, {"only": [_CONTRAST]}),
        ("narrow", NARROW, {"without": [_CONTRAST]}),
    ):
        page.emulate_media(color_scheme="dark" if look == "dark" else "light", reduced_motion="reduce")
        page.set_viewport_size(size)
        faults += [f"{look}: {fault}" for fault in list_violations(page, **rules)]
        # Tables scroll by themselves; the page never does sideways.
        if page.evaluate(_OVERFLOW) > 0:
            faults.append(f"{look}: the page scrolls sideways")
    page.set_viewport_size(WIDE)
    return faults
