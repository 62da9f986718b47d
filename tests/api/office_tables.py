"""Reads tables of the back office's pages as people see them, and makes users with few rights."""

from __future__ import annotations

from html.parser import HTMLParser

from api.registration_requests import ask_store
from gateway import Answer, GatewayProcess
from office_client import OfficeClient
from tollgate.catalog.permissions import Role
from tollgate.payments.users import Grant, User
from tollgate.store.users import insert_user
from tollgate.values import Secret, SystemClock, make_id
from tollgate.vault.passwords import hash_password

PASSWORD = "a long enough password"


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


def enter_as(gateway: GatewayProcess, merchant_id: str, role: Role, channel_id: str = "") -> OfficeClient:
    """Signs a new user in who has one role, for a merchant or one of its channels."""
    user_id = make_id()
    user = User(
        id=user_id,
        name=f"user-{user_id[-8:]}",
        created_at=SystemClock().now(),
        password_hash=hash_password(Secret(PASSWORD)),
    )
    grant = Grant(user_id=user_id, merchant_id=merchant_id, channel_id=channel_id, role=role)
    assert ask_store(gateway, lambda database: insert_user(database, user, [grant]))
    office = OfficeClient(gateway.base_url, merchant_id=merchant_id)
    office.sign_in(user.name, PASSWORD, follow=False)
    return office
