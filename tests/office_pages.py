"""Reads pages of the back office as people do: tables, keys of forms, and secrets that are shown once."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from time import time

import pyotp

from gateway import Answer
from office_client import OfficeClient

_SECRET = re.compile(r"Secret: <code>([A-Z2-7 ]+)</code>")
_SEALED = re.compile(r'name="sealed" value="([^"]+)"')


class _Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._cell: list[str] | None = None
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self._cell = []
        elif tag == "span" and given.get("aria-hidden") == "true":
            self._hidden = 1
        elif tag == "time" and self._cell is not None:
            self._cell.append(given["datetime"] or "")
            self._hidden = 1

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None:
            self.rows[-1].append("".join(self._cell).strip())
            self._cell = None
        elif tag in ("time", "span"):
            self._hidden = 0

    def handle_data(self, data: str) -> None:
        if self._cell is not None and not self._hidden:
            self._cell.append(data)


def read_rows(page: Answer) -> list[list[str]]:
    """Returns the cells of all tables of a page, headings included."""
    parser = _Tables()
    parser.feed(page.body.decode())
    return parser.rows


def find_id(page: Answer, word: str, end: str = "") -> str:
    """Returns the first id that stands after a word in an address of a page."""
    found = re.search(rf'="/office/[^"]+/{word}/([0-9a-z]+)[^"]*"{end}', page.body.decode())
    assert found is not None, f"there is no address with {word}: {page.body.decode()}"
    return found[1]


def read_key(page: str, action: str) -> str:
    """Returns the key of a form on the page of a payment."""
    found = re.search(rf'action="[^"]*/{action}">.*?name="key" value="([0-9a-z]+)"', page, re.DOTALL)
    assert found is not None, f"the page has no form to {action}"
    return found[1]


def read_totp(page: Answer) -> tuple[pyotp.TOTP, str]:
    """Returns the app that scans the secret of a page, and what its form carries."""
    text = page.body.decode()
    secret, sealed = _SECRET.search(text), _SEALED.search(text)
    assert secret is not None
    assert sealed is not None
    return pyotp.TOTP(secret[1].replace(" ", "")), sealed[1]


def read_codes(page: Answer) -> list[str]:
    """Lists the recovery codes that a page shows."""
    return re.findall(r"<li><code>([a-z0-9]{5}-[a-z0-9]{5})</code>", page.body.decode())


def set_up_totp(office: OfficeClient, path: str = "/office/profile/totp") -> tuple[pyotp.TOTP, list[str]]:
    """Sets one-time codes up on a page; the code of the next half minute is not used yet."""
    app, sealed = read_totp(office.get("/office/set-up" if "set-up" in path else path))
    page = office.post(path, {"sealed": sealed, "code": app.at(int(time()))})
    assert page.status == 200
    return app, read_codes(page)


def make_next_code(app: pyotp.TOTP) -> str:
    """Makes a code that is taken although the present one was used."""
    return app.at(int(time()) + 30)


def choose_password(office: OfficeClient, password: str, *, follow: bool = False) -> Answer:
    """Chooses the password that a new user has to choose."""
    office.get("/office/set-up")
    fields = {"new_password": password, "repeated_password": password}
    return office.post("/office/set-up/password", fields, follow=follow)
