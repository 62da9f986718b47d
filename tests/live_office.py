"""The back office of a live host on PostgreSQL, over TLS, with one merchant and no user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.merchants import add_merchant, run_command
from api.secure import SecureClient, SecureGateway, make_certificate
from api.test_live_host import make_keys, make_variables
from office_client import OfficeClient
from office_pages import set_up_totp
from office_users import PASSWORD, add_user
from ports import find_free_port
from tollgate.catalog.permissions import Role


@dataclass(frozen=True)
class LiveOffice:
    gateway: SecureGateway
    client: SecureClient

    def open(self, merchant_id: str = "") -> OfficeClient:
        return OfficeClient(self.gateway.base_url, merchant_id, authority=self.client.authority)

    def enter_as(self, role: Role) -> OfficeClient:
        """Signs in a user who has set up a second factor, without which nobody is let in."""
        user = add_user(self.gateway, role)
        office = self.open(user.merchant_id)
        office.sign_in(user.name, PASSWORD)
        set_up_totp(office, "/office/set-up/totp")
        return office


@contextmanager
def open_live_office(folder: Path, database: str, acquirer_url: str) -> Iterator[LiveOffice]:
    certificate = make_certificate(folder / "tls")
    gateway = SecureGateway(folder / "data", database, is_cold=True)
    gateway.environment = make_variables(certificate, make_keys(folder / "keys"), find_free_port())
    run_command(gateway, "migrate")
    known = add_merchant(gateway, "Live shop")
    run_command(gateway, "channel", "set", known.entity_id, "--live-url", acquirer_url)
    with gateway:
        client = SecureClient(gateway.base_url, known.token, known.entity_id, authority=certificate.authority)
        yield LiveOffice(gateway, client)
