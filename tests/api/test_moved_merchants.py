"""A merchant that moved from another host is served under its old ids, by its token and by user and password."""

from __future__ import annotations

from base64 import b64encode
from uuid import uuid4

from api.merchants import run_command, wait_until
from api.server import SharedServer
from gateway import PAYMENT, Client


def test_a_moved_merchant_pays_with_what_its_clients_have(embedded_server: SharedServer) -> None:
    gateway = embedded_server.gateway
    merchant_id, strict_id, lenient_id, user_id = (uuid4().hex for _ in range(4))
    password = "sy6KJsT8"
    token = b64encode(f"{user_id}|{password}".encode()).decode()
    run_command(gateway, "merchant", "add", "Moved", "--id", merchant_id)
    run_command(gateway, "channel", "add", merchant_id, "Strict", "--entity-id", strict_id)
    run_command(gateway, "channel", "add", merchant_id, "Lenient", "--entity-id", lenient_id, "--lenient")
    run_command(gateway, "token", "add", merchant_id, "--token", token)
    by_header = Client(gateway.base_url, token, strict_id)
    wait_until(lambda: by_header.get("/v1/query/none").code == "700.400.580")

    def pay_by_login(entity_id: str, password: str) -> tuple[int, str]:
        login = {"userId": user_id, "password": password, "entityId": entity_id}
        fields = {f"authentication.{name}": value for name, value in login.items()}
        answer = NoHeader(gateway.base_url, "", "").post("/v1/payments", {"entityId": None, **fields, **PAYMENT})
        return answer.status, answer.code

    assert by_header.pay().status == 200
    assert pay_by_login(lenient_id, password)[0] == 200
    assert pay_by_login(strict_id, password) == (401, "800.900.300")
    assert pay_by_login(lenient_id, "sy6KJsT9") == (403, "800.900.300")


class NoHeader(Client):
    """Sends no Authorization header."""

    def authorized(self, extra: object = None) -> dict[str, str]:
        assert isinstance(extra, dict)
        return dict(extra)
