"""Hostile values in every form and every query of the back office: each is refused or kept, and none breaks a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import pytest

import tollgate
from gateway import Answer, GatewayProcess
from office_client import OfficeClient
from office_users import OfficeUser, add_users
from office_world import PAGE_ROWS, OfficeWorld, build_world
from tollgate.catalog.permissions import Role
from tollgate.payments.users import Stage

SIGN_IN = "/office/sign-in"
_ENDS_SESSIONS = ("/sign-out", "/revoke", "/revoke-others", "/disable", "/reset", "/load")
_USER = OfficeUser("fuzzer", Role.PLATFORM)
_ODD = (
    "9" * 30,
    "9" * 5000,
    "000000000001" + "9" * 20,
    "-1",
    "٣",
    "²",
    "1e400",
    "NaN",
    "0000-00-00",
    "0001-01-01",
    "9999-12-31",
    "\x01\r\nSet-Cookie: x=1",
    "\ufeff\u202e\U0001f4b3" * 200,
    "' OR 1=1 --",
    '<svg onload="x">',
    "../../etc/passwd",
    "{{7*7}}",
)
_MALFORMED = ("%00", "%ED%A0%80", "%ff", "%zz")
"""Escapes that are no text: NUL, half of a surrogate pair, no UTF-8, no escape."""


@dataclass
class Form:
    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)


class FormReader(HTMLParser):
    """Collects the forms of a page with the values that a browser would send."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "form":
            self.forms.append(Form(found.get("action") or "", (found.get("method") or "get").upper()))
        elif self.forms and tag in ("input", "select", "textarea", "button") and found.get("name"):
            self.forms[-1].fields.append((str(found["name"]), found.get("value") or ""))
        elif self.forms and tag == "option" and "selected" in found:
            name = self.forms[-1].fields[-1][0]
            self.forms[-1].fields[-1] = (name, found.get("value") or "")


def list_names() -> list[str]:
    """Lists every field that a handler looks for, as its source spells it."""
    root = Path(tollgate.__file__).parent
    sources = [*(root / "office").glob("*.py"), root / "sandbox" / "office_pages.py"]
    text = "\n".join(path.read_text() for path in sources)
    return sorted({*re.findall(r'(?:\.find|_read_number|_list_sent)\((?:visit, )?"(\w+)"', text), "min", "max", "type"})


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A server of its own, because forms of all pages are sent to it."""
    with GatewayProcess(tmp_path_factory.mktemp("hostile")) as gateway:
        yield gateway


class Attacker:
    """A user with all permissions who sends what no browser would send."""

    def __init__(self, world: OfficeWorld) -> None:
        self.world = world
        add_users(world.gateway, _USER)
        self.browser = self._enter()
        world.learn_ids(self.browser)

    def _enter(self) -> OfficeClient:
        return _USER.enter(self.world.gateway, self.world.merchant_id)

    def list_forms(self) -> list[Form]:
        """Lists the forms of all pages, each once."""
        forms: dict[tuple[str, ...], Form] = {}
        for row in PAGE_ROWS:
            if row.method == "GET" and Stage.SIGNED_IN in row.stages and "export" not in row.path:
                reader = FormReader()
                reader.feed(self.browser.get(self.world.fill(row.path)).body.decode("utf-8", "replace"))
                for form in reader.forms:
                    form.action = form.action or self.browser.path
                    forms.setdefault((form.method, form.action, *[name for name, _ in form.fields]), form)
        return [form for form in forms.values() if not form.action.endswith(_ENDS_SESSIONS)]

    def submit(self, method: str, path: str, fields: str) -> int:
        """Sends a form with a right token; a session that has ended is begun again."""
        answer = self._send(method, path, fields)
        if answer.headers.get("location", "").startswith(SIGN_IN):
            self.browser = self._enter()
            answer = self._send(method, path, fields)
            assert not answer.headers.get("location", "").startswith(SIGN_IN), "nothing is tried without a session"
        return answer.status

    def _send(self, method: str, path: str, fields: str) -> Answer:
        if method == "GET":
            return self.browser.send("GET", f"{urlsplit(path).path}?{fields}", follow=False)
        token = self.browser.form_token
        return self.browser.send("POST", path, f"form_token={token}&{fields}", {"X-Form-Token": token}, follow=False)


@pytest.fixture(scope="module")
def attacker(gateway: GatewayProcess) -> Attacker:
    return Attacker(build_world(gateway))


def spoil(form: Form, name: str) -> Iterator[str]:
    """Yields the fields of a form with one that is hostile, left out, or sent twice."""
    others = [(key, value) for key, value in form.fields if key not in (name, "form_token")]
    rest = urlencode(others)
    for odd in _ODD:
        # A query is shorter than a form may be.
        yield f"{urlencode({name: odd if form.method == 'POST' else odd[:400]})}&{rest}"
    for escape in _MALFORMED:
        yield f"{name}={escape}&{rest}"
    yield rest
    yield urlencode([(name, "1"), (name, "2"), *others])


def test_no_field_of_any_form_breaks_its_page(attacker: Attacker) -> None:
    forms = attacker.list_forms()
    assert len(forms) > 20
    broken = []
    for form in forms:
        for name in {name for name, _ in form.fields} - {"form_token"}:
            sent = list(spoil(form, name))
            broken += [
                f"{form.method} {form.action} {each[:120]}"
                for each in sent
                if attacker.submit(form.method, form.action, each) >= 500
            ]
    assert broken == []


@pytest.mark.parametrize("value", [*map(quote, _ODD), *_MALFORMED])
def test_no_value_of_every_field_at_once_breaks_a_page(attacker: Attacker, value: str) -> None:
    names, broken = list_names(), []
    assert len(names) > 40
    for row in PAGE_ROWS:
        if Stage.SIGNED_IN not in row.stages or row.path.endswith(_ENDS_SESSIONS):
            continue
        shown = value[:60] if row.method == "GET" else value[:1000]
        fields = "&".join(f"{name}={shown.removesuffix('%').removesuffix('%E')}" for name in names)
        if attacker.submit(row.method, attacker.world.fill(row.path), fields) >= 500:
            broken.append(f"{row.method} {row.path}")
    assert broken == []


@pytest.mark.parametrize("word", ["%00", "%0d%0aX-Injected:1", "%ff", "%F0%9F%92%B3", "..%2f..", "9" * 400])
def test_no_word_of_a_path_breaks_a_page(attacker: Attacker, word: str) -> None:
    broken = []
    for row in PAGE_ROWS:
        if row.path.count("{") < 2:
            continue
        parts = row.path.replace("{merchant}", attacker.world.merchant_id)
        path = re.sub(r"\{\w+\}", word, parts)
        status = attacker.submit(row.method, path, "name=x")
        broken += [] if status in (303, 400, 403, 404) else [f"{status} {row.method} {path}"]
    assert broken == []


def test_a_monstrous_host_does_not_break_the_picture_of_a_secret(attacker: Attacker) -> None:
    # Wrong passwords of other tests have locked the name of the attacker.
    user = OfficeUser("watcher", Role.PLATFORM)
    add_users(attacker.world.gateway, user)
    browser = user.enter(attacker.world.gateway, attacker.world.merchant_id)
    answer = browser.send("GET", "/office/profile/totp", headers={"Host": "h" * 4000}, follow=False)
    assert answer.status == 200


def test_a_ticket_with_a_monstrous_time_is_no_ticket(attacker: Attacker) -> None:
    path = f"/office/merchants/{attacker.world.merchant_id}/disputes/import"
    headers = {"X-Upload-Ticket": "9" * 6000 + ".0", "X-Form-Token": attacker.browser.form_token}
    assert attacker.browser.send("POST", path, b"type", headers, follow=False).status < 500
