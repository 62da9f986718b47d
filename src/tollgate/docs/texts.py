"""The texts of the documentation: where they lie, in which group of the menu each stands, and how they link.

What a text says is written in its file.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from posixpath import normpath

import msgspec

from tollgate.catalog.parameters.names import PARAMETERS
from tollgate.catalog.results import RESULTS
from tollgate.docs.headings import Rendered

DOCS = "/docs"
CODES = f"{DOCS}/codes"

_PACKAGE = Path(__file__).parent
_PACKED = _PACKAGE / "sources"
"""The folder of the texts in a package that was built; in a checkout they lie at its root."""
ROOT = _PACKED if _PACKED.is_dir() else _PACKAGE.parents[2]

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Get started": ("README.md", "docs/authentication.md", "docs/payment-methods.md", "docs/glossary.md"),
    "Take payments": (
        "docs/payment-form.md",
        "docs/copy-and-pay.md",
        "docs/frameworks.md",
        "docs/checkouts.md",
        "docs/payment-links.md",
        "docs/three-d-secure.md",
        "docs/wallets.md",
        "docs/sepa.md",
        "docs/marketplace.md",
    ),
    "Charge again": (
        "docs/registrations.md",
        "docs/recurring.md",
        "docs/schedules.md",
        "docs/network-tokens.md",
    ),
    "Follow payments": (
        "docs/webhooks.md",
        "docs/declines.md",
        "docs/shopper-never-returns.md",
        "docs/reports.md",
        "docs/back-office.md",
    ),
    "Route and judge payments": (
        "docs/dispatching.md",
        "docs/routing.md",
        "docs/risk.md",
        "docs/reviews.md",
        "docs/card-testing.md",
    ),
    "Go live": ("docs/going-live.md", "docs/saq.md"),
    "Reference": (
        "docs/reference/parameters.md",
        "docs/reference/rules.md",
        "docs/reference/result-codes.md",
        "docs/reference/declines.md",
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
        "docs/deployment.md",
        "docs/operations.md",
        "docs/failover.md",
        "docs/scale.md",
        "docs/archiving.md",
        "docs/connectors.md",
        "docs/iso8583.md",
        "docs/stripe-api.md",
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
_PARAMETERS = "docs/reference/parameters.md"
_SENTENCE_END = re.compile(r"(?<=\.) ")
_OUTSIDE = re.compile(r"[a-z]+:|#|/")


class Text(msgspec.Struct, frozen=True):
    name: str
    path: str
    title: str
    rendered: Rendered

    @property
    def summary(self) -> str:
        """The first sentence, which says what the text is about."""
        return _SENTENCE_END.split(self.rendered.lead, maxsplit=1)[0]


def get_path(name: str) -> str:
    """Returns the address of the page of a text: `docs/sepa.md` is at `/docs/sepa`."""
    return f"{DOCS}/{name.removeprefix('docs/').removesuffix('.md').lower()}"


BY_PATH: Mapping[str, str] = {get_path(name): name for name in FILES}


@cache
def read_text(name: str) -> Text:
    """Renders a text when its page is first asked for; the texts of a release do not change."""
    from tollgate.docs import markdown

    places = markdown.Places(partial(lead_to, name), partial(find_page, name), partial(measure, name))
    rendered = markdown.render((ROOT / name).read_text("utf-8"), places)
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


def find_page(name: str, code: str) -> str | None:
    """Finds the page of what a text writes as code: of a result code, or the row of a parameter."""
    if code in RESULTS:
        return f"{CODES}/{code}"
    if code in PARAMETERS and name != _PARAMETERS:
        return f"{get_path(_PARAMETERS)}#{code}"
    return None


def measure(name: str, target: str) -> tuple[int, int]:
    """Returns width and height of a picture, which stand at the beginning of a PNG file."""
    with (ROOT / Path(name).parent / target).open("rb") as file:
        return struct.unpack(">16x2I", file.read(24))


def read_title(name: str) -> str:
    """Reads the first heading alone, because menus need no more of a text."""
    with (ROOT / name).open(encoding="utf-8") as file:
        return next(line for line in file if line.startswith("# ")).removeprefix("# ").strip()


def list_texts() -> Iterator[Text]:
    return map(read_text, FILES)
