"""A client of the back office without a browser: it keeps cookies, follows redirects and fills in form tokens."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPSConnection
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from gateway import Answer, GatewayProcess

_TOKEN = re.compile(r'name="form[_-]token" (?:value|content)="([0-9a-f]{64})"')
_REDIRECTS_MAX = 5


@dataclass
class OfficeClient:
    """One browser of one user; `follow=False` shows a redirect itself."""

    base_url: str
    merchant_id: str = ""
    cookies: dict[str, str] = field(default_factory=dict)
    form_token: str = ""
    authority: Path | None = None
    """The certificate to trust, for a host that serves TLS."""
    name: str = ""
    """The user who signed in last."""
    path: str = ""
    """The page at which the last request ended."""

    @property
    def base(self) -> str:
        return f"/office/merchants/{self.merchant_id}"

    def send(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        follow: bool = True,
    ) -> Answer:
        for _ in range(_REDIRECTS_MAX):
            answer = self._send_once(method, path, body, headers or {})
            if answer.status != 303 or not follow:
                return answer
            method, path, body = "GET", answer.headers["location"], None
        raise AssertionError(f"more than {_REDIRECTS_MAX} redirects, the last one to {path}")

    def _send_once(self, method: str, path: str, body: bytes | str | None, headers: Mapping[str, str]) -> Answer:
        connection = self._connect()
        try:
            cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            form = {"Content-Type": "application/x-www-form-urlencoded"} if isinstance(body, str) else {}
            connection.request(method, path, body, {**form, **({"Cookie": cookie} if cookie else {}), **headers})
            reply = connection.getresponse()
            answer = Answer(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
            for sent in reply.headers.get_all("set-cookie", []):
                for name, morsel in SimpleCookie(sent).items():
                    self.cookies[name] = morsel.value
                    if morsel["max-age"] == "0":
                        del self.cookies[name]
        finally:
            connection.close()
        self.path = path.partition("?")[0]
        found = _TOKEN.search(answer.body.decode("utf-8", "replace"))
        if found is not None:
            self.form_token = found[1]
        return answer

    def _connect(self) -> HTTPConnection:
        address = urlsplit(self.base_url).netloc
        if self.authority is None:
            return HTTPConnection(address, timeout=120)
        return HTTPSConnection(address, timeout=120, context=ssl.create_default_context(cafile=str(self.authority)))

    def get(self, path: str, *, follow: bool = True, **query: str) -> Answer:
        return self.send("GET", f"{path}?{urlencode(query)}" if query else path, follow=follow)

    def post(self, path: str, fields: Mapping[str, str] | None = None, *, follow: bool = True) -> Answer:
        """Sends a form with the token of the last page."""
        return self.send("POST", path, urlencode({"form_token": self.form_token, **(fields or {})}), follow=follow)

    def sign_in(self, name: str, password: str, *, follow: bool = True) -> Answer:
        self.name = name
        self.get("/office/sign-in")
        return self.post("/office/sign-in", {"name": name, "password": password}, follow=follow)


def enter_office(gateway: GatewayProcess) -> OfficeClient:
    """Signs the first administrator of a sandbox in; the client knows the sandbox merchant."""
    shown = json.loads(gateway.run("credentials", "--json").stdout)["office"]
    office = OfficeClient(gateway.base_url)
    office.sign_in(shown["user"], shown["password"], follow=False)
    # A page, so that the browser has the token for forms.
    office.get("/office/confirm", follow=False)
    merchants = gateway.run("merchant", "list").stdout.split()
    office.merchant_id = merchants[0]
    return office
