"""Users of the back office made by the command, and clients that sign them in."""

from __future__ import annotations

import re
from itertools import count
from time import time

import pyotp

from api.merchants import run_command
from gateway import Answer, GatewayProcess
from office_client import OfficeClient

PASSWORD = "correct horse battery"
_numbers = count(1)
_SECRET = re.compile(r"Secret: <code>([A-Z2-7 ]+)</code>")
_SEALED = re.compile(r'name="sealed" value="([^"]+)"')


def add_user(gateway: GatewayProcess, role: str = "platform", *flags: str) -> tuple[str, str]:
    """The name of a new user and the password for the first sign-in."""
    name = f"user{next(_numbers)}"
    return name, run_command(gateway, "user", "add", name, "--role", role, *flags)


def find_merchant_id(gateway: GatewayProcess) -> str:
    return run_command(gateway, "merchant", "list").split()[0]


def choose_password(office: OfficeClient, password: str = PASSWORD, *, follow: bool = False) -> Answer:
    office.get("/office/set-up")
    fields = {"new_password": password, "repeated_password": password}
    return office.post("/office/set-up/password", fields, follow=follow)


def enter(gateway: GatewayProcess, role: str = "platform", *flags: str) -> tuple[OfficeClient, str]:
    """A client of a new user who has chosen a password, and the user's name."""
    name, first = add_user(gateway, role, *flags)
    office = OfficeClient(gateway.base_url, find_merchant_id(gateway))
    office.sign_in(name, first, follow=False)
    choose_password(office)
    return office, name


def sign_in(gateway: GatewayProcess, name: str, password: str = PASSWORD) -> OfficeClient:
    office = OfficeClient(gateway.base_url, find_merchant_id(gateway))
    office.sign_in(name, password, follow=False)
    return office


def read_totp(page: Answer) -> tuple[pyotp.TOTP, str]:
    """The app that scans the secret of a page, and what its form carries."""
    text = page.body.decode()
    secret, sealed = _SECRET.search(text), _SEALED.search(text)
    assert secret is not None
    assert sealed is not None
    return pyotp.TOTP(secret[1].replace(" ", "")), sealed[1]


def read_codes(page: Answer) -> list[str]:
    return re.findall(r"<li><code>([a-z0-9]{5}-[a-z0-9]{5})</code>", page.body.decode())


def set_up_totp(office: OfficeClient, path: str = "/office/profile/totp") -> tuple[pyotp.TOTP, list[str]]:
    """Sets one-time codes up on a page; the code of the next half minute is not used yet."""
    app, sealed = read_totp(office.get("/office/set-up" if "set-up" in path else path))
    page = office.post(path, {"sealed": sealed, "code": app.at(int(time()))})
    assert page.status == 200
    return app, read_codes(page)


def make_next_code(app: pyotp.TOTP) -> str:
    """A code that is taken although the present one was used."""
    return app.at(int(time()) + 30)
