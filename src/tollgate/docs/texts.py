"""The texts of the documentation: where they lie, in which group of the menu each stands, and how they link.

What a text says is written in its file.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from posixpath import normpath

import msgspec

from tollgate.docs import markdown

DOCS = "/docs"

_PACKAGE = Path(__file__).parent
_PACKED = _PACKAGE / "sources"
"""The folder of the texts in a package that was built; in a checkout they lie at its root."""
ROOT = _PACKED if _PACKED.is_dir() else _PACKAGE.parents[2]

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Get started": ("README.md", "docs/authentication.md", "docs/payment-methods.md", "docs/glossary.md"),
    "Take payments": (
        "docs/payment-form.md",
        "docs/checkouts.md",
        "docs/payment-links.md",
        "docs/three-d-secure.md",
        "docs/wallets.md",
        "docs/sepa.md",
    ),
    "Charge again": (
        "docs/registrations.md",
        "docs/recurring.md",
        "docs/schedules.md",
        "docs/network-tokens.md",
    ),
    "Follow payments": ("docs/webhooks.md", "docs/reports.md", "docs/back-office.md"),
    "Reference": (
        "docs/reference/parameters.md",
        "docs/reference/rules.md",
        "docs/reference/result-codes.md",
        "docs/reference/events.md",
        "docs/reference/follow-ups.md",
        "docs/reference/brands.md",
        "docs/reference/test-data.md",
        "docs/reference/permissions.md",
        "docs/reference/settings.md",
        "docs/openapi.md",
    ),
    "Run a host": (
        "docs/configuration.md",
        "docs/operations.md",
        "docs/pci.md",
        "SECURITY.md",
        "docs/benchmarks.md",
        "docs/benchmarks-history.md",
    ),
    "Work on Tollgate": ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/crash-points.md"),
}
"""The files of each group, in the order of the menu."""

LICENSE = "LICENSE"
"""It is shown as it is."""
FILES = tuple(name for names in GROUPS.values() for name in names)
_OUTSIDE = re.compile(r"[a-z]+:|#|/")


class Text(msgspec.Struct, frozen=True):
    name: str
    path: str
    title: str
    rendered: markdown.Rendered


def get_path(name: str) -> str:
    """Returns the address of the page of a text: `docs/sepa.md` is at `/docs/sepa`."""
    return f"{DOCS}/{name.removeprefix('docs/').removesuffix('.md').lower()}"


BY_PATH: Mapping[str, str] = {get_path(name): name for name in FILES}


@cache
def read_text(name: str) -> Text:
    """Renders a text when its page is first asked for; the texts of a release do not change."""
    rendered = markdown.render((ROOT / name).read_text("utf-8"), partial(lead_to, name))
    return Text(name, get_path(name), rendered.headings[0].text, rendered)


def lead_to(name: str, target: str) -> str:
    """Returns the address of what a text links to: a page or a picture."""
    if _OUTSIDE.match(target):
        return target
    file, hash_sign, anchor = target.partition("#")
    found = normpath(f"{Path(name).parent.as_posix()}/{file}")
    if found in FILES:
        return get_path(found) + hash_sign + anchor
    if found == LICENSE:
        return f"{DOCS}/license"
    if found.startswith("docs/images/"):
        return f"/{found}"
    raise LookupError(f"{name} links to {target}, which no page shows")


def list_texts() -> Iterator[Text]:
    return map(read_text, FILES)
