"""Draws `favicon.ico` from the icon of the pages, in the two sizes that browsers ask for. Run it when the icon changes.

The drawing itself is `icon.svg`.
"""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "src" / "tollgate" / "web" / "pages" / "assets"
SIZES = (16, 32)


def draw(browser: Browser, size: int) -> bytes:
    """Returns the icon as PNG, on a transparent ground."""
    page = browser.new_page(viewport={"width": size, "height": size})
    svg = (ASSETS / "icon.svg").read_text("utf-8").replace("<svg ", f'<svg width="{size}" height="{size}" ')
    page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{svg}")
    return page.screenshot(omit_background=True)


def join(pictures: dict[int, bytes]) -> bytes:
    """Joins pictures into one file: a head, one entry for each picture, and the pictures."""
    head = struct.pack("<HHH", 0, 1, len(pictures))
    entries, place = b"", len(head) + 16 * len(pictures)
    for size, png in pictures.items():
        entries += struct.pack("<BBBBHHII", size, size, 0, 0, 1, 32, len(png), place)
        place += len(png)
    return head + entries + b"".join(pictures.values())


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        icon = join({size: draw(browser, size) for size in SIZES})
        browser.close()
    (ASSETS / "favicon.ico").write_bytes(icon)


if __name__ == "__main__":
    main()
