"""Granted actions whose process was killed: they are shown as unfinished, and to carry them out again is safe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape

import pytest
import sqlalchemy as sa

from api.registration_requests import ask_store
from gateway import Answer, GatewayProcess
from office_client import OfficeClient, enter_office
from office_pages import read_key
from office_users import enter_as
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.permissions import Role
from tollgate.payments.users import ApprovalState
from tollgate.store import schema
from tollgate.store.statements import Statement, Write
from tollgate.values import MINUTE, SystemClock, make_id

_FORM = re.compile(r'action="([^"]+/approvals/[0-9a-f]+)"')
_ROUTING = "https://acquirer.example"
LONG_AGO = LIMITS.approval_run + MINUTE


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A host on which a second person confirms everything that may need one."""
    arguments = ("--four-eyes", "refund=10.00,record,token,key_rotation,routing")
    with GatewayProcess(tmp_path_factory.mktemp("careful"), arguments=arguments) as careful:
        yield careful


def set_granted(gateway: GatewayProcess, subject: str, before: int = LONG_AGO) -> None:
    """Leaves a request as a process does that is killed after the decision: granted, without an outcome."""
    approvals = schema.approvals
    values = {
        "state": int(ApprovalState.GRANTED),
        "decided_by": "somebody",
        "decided_at": SystemClock().now() - before,
        "outcome": "",
    }
    change = Write(Statement(sa.update(approvals).where(approvals.c.subject == subject).values(values)), {}, 1)
    assert ask_store(gateway, lambda database: database.write([change], label="test"))


def forget_idempotency_keys(gateway: GatewayProcess) -> None:
    change = Write(Statement(sa.delete(schema.idempotency_keys)), {})
    assert ask_store(gateway, lambda database: database.write([change], label="test"))


def read_rows(gateway: GatewayProcess, select: sa.Select[tuple[str]]) -> list[str]:
    return [str(row[0]) for row in ask_store(gateway, lambda database: database.fetch(Statement(select), {}))]


def show_approvals(office: OfficeClient) -> str:
    return unescape(office.get(f"{office.base}/approvals").body.decode())


def grant(office: OfficeClient) -> str:
    """Sends the first form of the page: what is unfinished comes before what waits."""
    form = _FORM.search(show_approvals(office))
    assert form is not None, "nothing can be decided"
    return unescape(office.post(form[1], {"decision": "grant"}).body.decode())


def pay(gateway: GatewayProcess) -> str:
    payment_id: str = gateway.client().pay().json["id"]
    return payment_id


def ask_refund(gateway: GatewayProcess, office: OfficeClient) -> str:
    """Asks for a refund of all that was paid, and returns the payment."""
    payment_id = pay(gateway)
    path = f"{office.base}/payments/{payment_id}"
    key = read_key(office.get(path).body.decode(), "refund")
    assert "second person" in office.post(f"{path}/refund", {"key": key, "amount": "92.00"}).body.decode()
    return payment_id


def list_follow_ups(gateway: GatewayProcess, payment_id: str) -> list[str]:
    payments = schema.payments
    return read_rows(gateway, sa.select(payments.c.payment_type).where(payments.c.chain_id == payment_id))


def test_what_was_cut_off_is_shown_as_unfinished_and_another_approver_carries_it_out(careful: GatewayProcess) -> None:
    first = enter_office(careful)
    operator, third = (
        enter_as(careful, role, merchant_id=first.merchant_id) for role in (Role.OPERATOR, Role.ADMINISTRATOR)
    )
    payment_id = ask_refund(careful, first)
    set_granted(careful, payment_id)
    for office in (first, operator):
        page = show_approvals(office)
        assert ">unfinished<" in page
        assert "Another user with the permission has to carry it out" in page
        assert _FORM.search(page) is None

    assert "Carry out again" in show_approvals(third)
    assert "Refund of 92.00 EUR" in grant(third)
    assert list_follow_ups(careful, payment_id) == ["RF"]
    page = show_approvals(third)
    assert ">unfinished<" not in page
    assert "Request successfully processed" in page
    log = unescape(third.get(f"{third.base}/audit-log", action="approval granted").body.decode())
    assert "again_after" in log


def test_an_action_is_not_run_again_while_it_may_still_run(careful: GatewayProcess) -> None:
    first = enter_office(careful)
    second = enter_as(careful, Role.ADMINISTRATOR, merchant_id=first.merchant_id)
    payment_id = ask_refund(careful, first)
    form = _FORM.search(show_approvals(second))
    assert form is not None
    set_granted(careful, payment_id, before=0)
    assert ">being carried out<" in show_approvals(second)
    assert second.post(form[1], {"decision": "grant"}).status == 400
    assert list_follow_ups(careful, payment_id) == []

    set_granted(careful, payment_id)
    show_approvals(second)
    assert second.post(form[1], {"decision": "decline"}).status == 400
    assert first.post(form[1], {"decision": "grant"}).status == 400
    assert list_follow_ups(careful, payment_id) == []
    grant(second)
    assert list_follow_ups(careful, payment_id) == ["RF"]
    assert second.post(form[1], {"decision": "grant"}).status == 400


def test_a_refund_is_not_sent_twice_although_its_idempotency_key_is_forgotten(careful: GatewayProcess) -> None:
    first = enter_office(careful)
    second = enter_as(careful, Role.ADMINISTRATOR, merchant_id=first.merchant_id)
    payment_id = pay(careful)
    path = f"{first.base}/payments/{payment_id}"
    key = read_key(first.get(path).body.decode(), "refund")
    first.post(f"{path}/refund", {"key": key, "amount": "20.00"})
    grant(second)
    assert list_follow_ups(careful, payment_id) == ["RF"]

    set_granted(careful, payment_id)
    forget_idempotency_keys(careful)
    assert "refund of 20.00 EUR had been sent before" in grant(second)
    assert list_follow_ups(careful, payment_id) == ["RF"]


# ---- every other action ----


@dataclass(frozen=True)
class Asked:
    answer: Answer
    subject: str
    count: Callable[[GatewayProcess], list[str]]
    """Reads what the action changes."""


def ask_record(gateway: GatewayProcess, office: OfficeClient) -> Asked:
    payment_id = pay(gateway)
    path = f"{office.base}/payments/{payment_id}"
    key = read_key(office.get(path).body.decode(), "record")
    sent = {"key": key, "type": "CB", "amount": "5.00"}
    return Asked(office.post(f"{path}/record", sent), payment_id, lambda host: list_follow_ups(host, payment_id))


def ask_import(gateway: GatewayProcess, office: OfficeClient) -> Asked:
    payment_id = pay(gateway)
    office.get(f"{office.base}/disputes/import")
    body = f"paymentId,type,amount,currency,reference\n{payment_id},CB,5.00,EUR,file-{payment_id}\n".encode()
    headers = {"x-form-token": office.form_token, "x-file-name": "file.csv"}
    answer = office.send("POST", f"{office.base}/disputes/import", body, headers)
    return Asked(answer, "", lambda host: list_follow_ups(host, payment_id))


def list_tokens(gateway: GatewayProcess) -> list[str]:
    return sorted(read_rows(gateway, sa.select(schema.credentials.c.id)))


def ask_token(_gateway: GatewayProcess, office: OfficeClient) -> Asked:
    office.get(f"{office.base}/tokens")
    return Asked(office.post(f"{office.base}/tokens", {"key": make_id(), "label": "cut-off"}), "cut-off", list_tokens)


def ask_token_rotation(gateway: GatewayProcess, office: OfficeClient) -> Asked:
    token_id = list_tokens(gateway)[0]
    office.get(f"{office.base}/tokens")
    return Asked(
        office.post(f"{office.base}/tokens/{token_id}/rotate", {"key": make_id(), "overlap_hours": "24"}),
        token_id,
        list_tokens,
    )


def ask_webhook_rotation(_gateway: GatewayProcess, office: OfficeClient) -> Asked:
    office.get(f"{office.base}/webhooks")
    office.post(f"{office.base}/webhooks", {"url": "http://127.0.0.1:9/hooks"})
    path = office.path
    secrets = sa.select(schema.webhooks.c.sealed_secrets)
    return Asked(
        office.post(f"{path}/rotate", {"overlap": "5"}),
        path.rpartition("/")[2],
        lambda host: read_rows(host, secrets),
    )


def ask_routing(gateway: GatewayProcess, office: OfficeClient) -> Asked:
    channel_id = gateway.client().entity_id
    path = f"{office.base}/account/channels/{channel_id}"
    office.get(path)
    addresses = sa.select(sa.func.coalesce(schema.channels.c.live_url, "")).order_by(schema.channels.c.id)
    return Asked(office.post(path, {"live_url": _ROUTING}), channel_id, lambda host: read_rows(host, addresses))


@pytest.mark.parametrize(
    "ask",
    [ask_record, ask_import, ask_token, ask_token_rotation, ask_webhook_rotation, ask_routing],
    ids=lambda ask: ask.__name__.removeprefix("ask_"),
)
def test_an_action_that_was_cut_off_is_done_once(
    careful: GatewayProcess, ask: Callable[[GatewayProcess, OfficeClient], Asked]
) -> None:
    first = enter_office(careful)
    second = enter_as(careful, Role.ADMINISTRATOR, merchant_id=first.merchant_id)
    asked = ask(careful, first)
    assert "second person" in asked.answer.body.decode()
    before = asked.count(careful)

    set_granted(careful, asked.subject)
    grant(second)
    done = asked.count(careful)
    assert done != before

    set_granted(careful, asked.subject)
    again = grant(second)
    assert "Not done" not in again
    assert asked.count(careful) == done
    assert ">unfinished<" not in show_approvals(second)
