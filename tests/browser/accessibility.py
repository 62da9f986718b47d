"""Axe looks for faults in a page or a frame. Which pages must be free of them is said by the tests."""

from __future__ import annotations

from collections.abc import Sequence

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Frame, Page

# Frames are judged one by one. What a page loads from elsewhere is not loaded again: its policy would forbid it.
_OPTIONS = {"resultTypes": ["violations"], "iframes": False, "preload": False}
_RUN = "async ([context, options]) => (await axe.run(context.length ? context : document, options)).violations"


def list_violations(place: Page | Frame, *selectors: str, without: Sequence[str] = ()) -> list[str]:
    """Lists every element at fault, within the selectors if there are any; `without` names rules that do not count."""
    if not place.evaluate("() => 'axe' in window"):
        # Half a megabyte: a document that is judged again has it already.
        place.evaluate(AXE_SCRIPT)
    options = {**_OPTIONS, "rules": {name: {"enabled": False} for name in without}}
    found = place.evaluate(_RUN, [list(selectors), options])
    return [f"{fault['id']}: {node['html'][:150]}" for fault in found for node in fault["nodes"]]
