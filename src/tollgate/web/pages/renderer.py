"""Turns a template and values into a page with its headers. Every value is escaped, and a missing one is an error.

What a page says is written in its template; what it means is known to whoever renders it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tollgate.web.pages.assets import find_asset_path
from tollgate.web.pages.policy import ANYWHERE, check_address, make_headers
from tollgate.web.request import Reply

TEMPLATES = Path(__file__).parent / "templates"

_HTML = b"text/html;charset=UTF-8"


class Pages:
    """The templates of one room, which may build upon ours and use them; each is compiled once, when first shown."""

    def __init__(self, folder: Path = TEMPLATES) -> None:
        self._environment = Environment(
            loader=FileSystemLoader([folder, TEMPLATES]),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        # An address is checked where it is written into a page: escaping does not make `javascript:` harmless.
        self._environment.filters["address"] = check_address
        self._environment.globals["asset"] = find_asset_path

    def render(
        self,
        name: str,
        *,
        form_targets: Sequence[str] | None = (),
        framed_by: Sequence[str] = (),
        frames: Sequence[str] = (),
        connects: Sequence[str] = (),
        permits: Sequence[str] = (),
        status: int = 200,
        **values: object,
    ) -> Reply:
        """Addresses in `form_targets`, `framed_by`, `frames` and `connects` are reduced to their origins.

        A page whose `form_targets` are None has no form; `connects` are the addresses its scripts may ask, `permits`
        what of a browser's powers its frames may be given.
        A browser holds `form_targets` against every redirect that follows a form as well. A form that ends at an
        address unknown to its page therefore must be answered by a page that goes on by itself (`leave.html`),
        not by a redirect.
        """
        text = self._environment.get_template(name).render(values)
        return Reply(status, text.encode(), _HTML, make_headers(form_targets, framed_by, frames, connects, permits))

    def end(self, title: str, text: str, *, status: int = 200) -> Reply:
        """The last page of a way, in whatever frame or window it ends."""
        return self.render("end.html", framed_by=ANYWHERE, status=status, title=title, text=text, link=None)

    def lose(self) -> Reply:
        """For a shopper whose link leads nowhere any more."""
        return self.end("This link has ended", "Please go back to the shop and look at your order there.", status=404)
