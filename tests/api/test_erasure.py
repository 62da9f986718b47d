"""Erasing a person: nothing in any table names the person afterwards, and the ledger is as before."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from subprocess import CalledProcessError

import pytest
import sqlalchemy as sa

from api.checking_out import PREPARED, ask, prepare, submit
from api.direct_debits import begin_debit
from api.endpoints import add_endpoint, advance, use_store, wait_until_known
from api.linking import read_own_context
from api.merchants import find_merchant_id, wait_until
from api.scheduling import is_active, plan
from api.server import SharedServer
from gateway import CARD, Client, GatewayProcess
from office_client import OfficeClient
from office_users import list_audit
from tollgate.cli.erasing import ACTOR
from tollgate.flows.erase_person import begin_erasure, confirm_erasure, finish_erasure, step_erasure
from tollgate.flows.erase_rows import erase_chain
from tollgate.operations.app import App
from tollgate.payments.erasure import Erasure, Phase, SearchKind
from tollgate.store.schema import METADATA
from tollgate.store.statements import Statement, Write
from tollgate.values import MerchantId, make_id

SHOP = "https://shop.example/back"


@pytest.fixture(scope="module")
def server(own_server: SharedServer) -> SharedServer:
    return own_server


@pytest.fixture(scope="module")
def gateway(server: SharedServer) -> GatewayProcess:
    return server.gateway


def make_person() -> dict[str, str]:
    """Makes the parameters of a person; each value is found nowhere else in the store."""
    mark = "z" + secrets.token_hex(6)
    return {
        "customer.email": f"{mark}@example.com",
        "customer.merchantCustomerId": f"id-{mark}",
        "customer.givenName": f"Given{mark}",
        "customer.surname": f"Surname{mark}",
        "customer.ip": "203.0.113.77",
        "billing.street1": f"Street {mark}",
        "billing.city": "Town",
        "billing.country": "DE",
        "billing.postcode": "10115",
        "shipping.street1": f"Way {mark}",
        "card.holder": f"Holder {mark}",
        "merchantMemo": f"call {mark}",
        "customParameters[SHOPPER_note]": f"note {mark}",
        "cart.items[0].name": "A book",
        "cart.items[0].recipient.firstName": f"Friend{mark}",
    }


def get_mark(person: Mapping[str, str]) -> str:
    return person["customer.email"].partition("@")[0]


def list_places(gateway: GatewayProcess, mark: str) -> set[str]:
    """Lists the columns in which a text stands."""

    async def search(app: App) -> set[str]:
        found = set()
        for table in METADATA.tables.values():
            for row in await app.database.fetch(Statement(sa.select(*table.columns)), {}):
                for column, value in zip(table.columns, row, strict=True):
                    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
                    if mark in text:
                        found.add(f"{table.name}.{column.name}")
        return found

    return use_store(gateway, search)


def erase(gateway: GatewayProcess, client: Client, *arguments: str, status: int = 0) -> dict[str, object]:
    merchant_id = find_merchant_id(gateway, client)
    try:
        printed, ended = gateway.run("erase", merchant_id, *arguments, "--yes", "--json").stdout, 0
    except CalledProcessError as failed:
        printed, ended = failed.stdout, failed.returncode
    assert ended == status, printed
    shown: dict[str, object] = json.loads(printed)
    return shown


def expect_clean(gateway: GatewayProcess) -> None:
    assert "all is well" in gateway.run("verify", "--quiet").stdout


@pytest.mark.both_databases
def test_nothing_names_the_person_afterwards_and_the_ledger_stays(gateway: GatewayProcess, client: Client) -> None:
    person = make_person()
    mark = get_mark(person)
    named = {name: person[name] for name in ("customer.email", "customer.givenName", "customer.surname")}
    endpoint = add_endpoint(gateway, client, f"{client.base_url}/sandbox/inbox/erasing")
    wait_until_known(client, endpoint)
    first = client.pay({"Idempotency-Key": f"key-{mark}"[:30]}, createRegistration="true", **rename(person))
    assert first.status == 200, first.body
    refund = client.post(f"/v1/payments/{first.json['id']}", {"amount": "1.00", "currency": "EUR", "paymentType": "RF"})
    schedule_id = plan(client, first.json["registrationId"])
    checkout_id = prepare(client, {**PREPARED, **named})
    assert submit(client, checkout_id, f"{SHOP}?{mark}", {**CARD, "card.holder": person["card.holder"]}).status == 200
    paid = ask(client, checkout_id).json
    assert read_own_context(client, **rename(named)).status == 200
    before = {
        name: client.get(f"/v1/payments/{name}").json for name in (first.json["id"], refund.json["id"], paid["id"])
    }
    assert list_places(gateway, mark) >= {
        "payments.echo",
        "payments.card",
        "registrations.echo",
        "announcements.payload",
    }

    shown = erase(gateway, client, "--email", person["customer.email"].upper())

    assert shown["erased"] == {"payment_links": 1, "checkouts": 1, "registrations": 1, "payments": 2}
    assert list_places(gateway, mark) - {"idempotency_keys.key", "payments.idempotency_key"} == set()
    assert not is_active(client, schedule_id)
    for payment_id, was in before.items():
        now = client.get(f"/v1/payments/{payment_id}").json
        kept = ("id", "amount", "currency", "paymentBrand", "paymentType", "descriptor", "result", "resultDetails")
        assert {name: now.get(name) for name in kept} == {name: was.get(name) for name in kept}
        assert not {"customer", "billing", "shipping", "customParameters"} & set(now)
    again = client.pay({"Idempotency-Key": f"key-{mark}"[:30]}, createRegistration="true", **rename(person))
    assert (again.status, again.json["id"]) == (200, first.json["id"])
    assert mark not in again.body.decode()
    expect_clean(gateway)


def rename(person: Mapping[str, str]) -> dict[str, str]:
    return {name.replace(".", "__"): value for name, value in person.items()}


def test_a_second_run_finds_nothing(gateway: GatewayProcess, client: Client) -> None:
    person = make_person()
    client.pay(**rename(person))
    assert erase(gateway, client, "--customer", person["customer.merchantCustomerId"])["erased"] == {"payments": 1}
    assert erase(gateway, client, "--customer", person["customer.merchantCustomerId"])["found"] == {}


def test_a_payment_stands_for_the_person_it_names(gateway: GatewayProcess, client: Client) -> None:
    person = make_person()
    ids = [client.pay(**rename(person)).json["id"] for _ in range(2)]
    assert erase(gateway, client, "--payment", ids[0])["erased"] == {"payments": 2}
    assert list_places(gateway, get_mark(person)) == set()


@pytest.mark.both_databases
def test_an_open_authorization_is_postponed_until_it_is_reversed(gateway: GatewayProcess, client: Client) -> None:
    person = make_person()
    held = client.pay(paymentType="PA", **rename(person)).json["id"]
    shown = erase(gateway, client, "--email", person["customer.email"], status=1)
    assert "neither captured nor reversed" in json.dumps(shown["postponed"])
    assert "payments.echo" in list_places(gateway, get_mark(person))

    client.post(f"/v1/payments/{held}", {"paymentType": "RV"})

    assert erase(gateway, client, "--email", person["customer.email"])["erased"] == {"payments": 1}
    assert list_places(gateway, get_mark(person)) == set()
    expect_clean(gateway)


def test_other_people_keep_what_they_said(gateway: GatewayProcess, client: Client, stranger: Client) -> None:
    person, other = make_person(), make_person()
    client.pay(**rename(other))
    stranger.pay(**rename(person))
    erase(gateway, client, "--email", person["customer.email"])
    assert "payments.echo" in list_places(gateway, get_mark(other))
    assert "payments.echo" in list_places(gateway, get_mark(person)), "another merchant's payment is not touched"


def test_the_audit_log_has_counts_and_a_hash_and_no_address(gateway: GatewayProcess, client: Client) -> None:
    person = make_person()
    client.pay(**rename(person))
    shown = erase(gateway, client, "--email", person["customer.email"])

    entries = [entry for entry in list_audit(gateway) if entry.subject == shown["id"]]
    assert [entry.details["stage"] for entry in entries] == ["begun", "done"]
    assert {entry.details["searched"] for entry in entries} == {shown["searched"]}


def test_the_office_shows_what_was_found_before_it_is_erased(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    person = make_person()
    payment_id = client.pay(**rename(person)).json["id"]
    office.post(f"{office.base}/erasure", {"kind": "email", "value": person["customer.email"]})
    page = take_steps(office)
    assert "Erase what names the person" in page
    assert payment_id in page
    assert get_mark(person) not in page
    assert "payments.echo" in list_places(gateway, get_mark(person))

    office.post(f"{office.path}/confirm")
    page = take_steps(office)

    assert list_places(gateway, get_mark(person)) == set()
    assert "done" in page


def take_steps(office: OfficeClient) -> str:
    """Presses the button that goes on until there is none, and returns the last page."""
    page = office.get(office.path).body.decode()
    while 'id="step"' in page:
        page = office.post(office.path).body.decode()
    return page


@pytest.mark.both_databases
def test_a_step_that_is_repeated_after_a_crash_finishes_the_work(gateway: GatewayProcess, client: Client) -> None:
    person = make_person()
    for _ in range(3):
        client.pay(**rename(person))
    merchant_id = MerchantId(find_merchant_id(gateway, client))

    async def crash_and_repeat(app: App) -> Erasure:
        begun = await begin_erasure(app, merchant_id, SearchKind.EMAIL, person["customer.email"])
        confirmed = await confirm_erasure(app, await finish_erasure(app, begun, ACTOR), ACTOR)
        await step_erasure(app, confirmed, ACTOR)
        # A process that dies before it stores how far it came leaves the erasure as it was.
        return await finish_erasure(app, confirmed, ACTOR)

    done = use_store(gateway, crash_and_repeat)
    assert erase(gateway, client, "--email", person["customer.email"])["found"] == {}
    assert (done.phase, done.erased, done.postponed) == (Phase.DONE, {"payments": 3}, ())
    assert list_places(gateway, get_mark(person)) == set()
    expect_clean(gateway)


def test_a_row_with_a_wrong_signature_is_not_signed_again(gateway: GatewayProcess, client: Client) -> None:
    person = make_person()
    paid = client.pay(**rename(person)).json
    payment_id, text = paid["id"], paid["descriptor"]
    use_store(gateway, lambda app: change_descriptor(app, payment_id, "Another"))

    shown = erase(gateway, client, "--email", person["customer.email"], status=1)

    assert "its signature is wrong" in json.dumps(shown["postponed"])
    use_store(gateway, lambda app: change_descriptor(app, payment_id, text))
    expect_clean(gateway)


async def change_descriptor(app: App, payment_id: str, text: str) -> None:
    """Changes a row behind the back of the gateway, and can put it back as it was."""
    table = METADATA.tables["payments"]
    changing = sa.update(table).where(table.c.id == sa.bindparam("of_id")).values(descriptor=sa.bindparam("text"))
    await app.database.write(
        [Write(Statement(changing), {"of_id": payment_id, "text": text}, rows=1)], label="tampered"
    )


def test_a_direct_debit_waits_for_its_bank_file_and_is_erased_then(tmp_path: Path) -> None:
    """A server of its own, because its clock is moved until the file is made."""
    mark = "z" + secrets.token_hex(6)
    email = f"{mark}@example.com"
    with GatewayProcess(tmp_path) as gateway:
        client = gateway.client()
        names = {"customer__email": email, "customer__givenName": "Jane", "customer__surname": mark}
        begin_debit(client, bankAccount__holder=f"Holder {mark}", **names)
        shown = erase(gateway, client, "--email", email, status=1)
        assert "a bank is still to be told of it" in json.dumps(shown["postponed"])

        advance(client, 14 * 24 * 3600)
        wait_until(lambda: gateway.run("bank", "files").stdout.strip() != "")

        assert erase(gateway, client, "--email", email)["erased"] == {"payments": 1}
        assert list_places(gateway, mark) == set()
        expect_clean(gateway)


def test_a_command_goes_on_with_what_an_interrupted_one_left(gateway: GatewayProcess, client: Client) -> None:
    person = make_person()
    payment_id = client.pay(**rename(person)).json["id"]
    merchant_id = MerchantId(find_merchant_id(gateway, client))

    async def crash(app: App) -> None:
        begun = await begin_erasure(app, merchant_id, SearchKind.EMAIL, person["customer.email"])
        await confirm_erasure(app, await finish_erasure(app, begun, ACTOR), ACTOR)
        # The row is erased, and what other tables kept of it is not.
        assert await erase_chain(app, merchant_id, payment_id) is None
        table = METADATA.tables["journal"]
        line = {"merchant_id": merchant_id, "id": make_id(), "payment_id": payment_id, "ndc": "", "at": 0, "kind": ""}
        adding = Statement(sa.insert(table).values({name: sa.bindparam(name) for name in (*line, "text")}))
        await app.database.write([Write(adding, {**line, "text": get_mark(person)}, rows=1)], label="journal")

    use_store(gateway, crash)
    assert "journal.text" in list_places(gateway, get_mark(person))
    assert erase(gateway, client, "--email", person["customer.email"])["erased"] == {"payments": 1}
    assert list_places(gateway, get_mark(person)) == set()
