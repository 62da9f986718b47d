"""The bytes at rest are searched after the whole life of registrations: no card number, no IBAN, no token, no CVV.

Accounts are registered, charged by schedule, wrapped under other keys, changed, removed and erased.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest
import sqlalchemy as sa

from api.chains import advance
from api.challenges import BILLING, BROWSER, SHOP_URL, open_order, pass_challenge
from api.many_registrations import retire_keys
from api.merchants import add_channel, run_command, wait_until
from api.registration_requests import VIRTUAL, ask_store, change, extend, pay_with, register, remove, store
from api.test_nothing_at_rest import NAMED_CVV, OTHER_DIGITS
from api.traces import Traces, collect, spell_account, spell_keys, spell_number
from gateway import CARD, PAYMENT, Client, GatewayProcess
from postgres import PostgresCluster
from tollgate.store.database import Database
from tollgate.store.statements import Statement

CVV = "7319"
PAYMENTS_WITH_CVV = 120
VISA, MASTER, AMEX, CHALLENGED = "4539578763621486", "5425233430109903", "374245455400126", "4711100000000000"
TOKEN = "4895370012003478"
IBAN, OTHER_IBAN = "DE89370400440532013000", "AT483200000012345864"
HOLDER = "Jane Sweeper"
GONE = {"customer.givenName": "Jim", "customer.surname": "Forgotten"}
DAY_S = 86_400
SCHEDULES = "/scheduling/v1/schedules"
YEARS = 14

STORED: dict[str, dict[str, str | None]] = {
    "visa": {**CARD, "card.number": VISA, "card.cvv": CVV[:3], "card.holder": HOLDER},
    "master": {**CARD, "paymentBrand": "MASTER", "card.number": MASTER, "card.cvv": CVV[:3], "card.holder": HOLDER},
    "amex": {**CARD, "paymentBrand": "AMEX", "card.number": AMEX, "card.cvv": CVV, "card.holder": HOLDER},
    "iban": {
        "paymentBrand": "DIRECTDEBIT_SEPA",
        "bankAccount.holder": HOLDER,
        "bankAccount.iban": IBAN,
        "bankAccount.bic": "COBADEFFXXX",
    },
    "other iban": {
        "paymentBrand": "DIRECTDEBIT_SEPA",
        "bankAccount.holder": HOLDER,
        "bankAccount.iban": OTHER_IBAN,
        "bankAccount.bic": "RLNWATWWXXX",
    },
    "token": {
        "paymentBrand": "VISA",
        "tokenAccount.number": TOKEN,
        "tokenAccount.type": "NETWORK",
        "tokenAccount.expiryMonth": "07",
        "tokenAccount.expiryYear": "2033",
    },
    "virtual": dict(VIRTUAL),
}
REFUSED: tuple[dict[str, str], ...] = (
    {"card.number": VISA[:-1] + "7"},
    {"card.expiryYear": "2020"},
    {"card.cvv": "x73197319x"},
    {"customer.givenName": IBAN},
    {"bankAccount.iban": IBAN},
    {"bankAccount.iban": " ".join(IBAN[at : at + 4] for at in range(0, len(IBAN), 4))},
    {"createRegistration": VISA},
    {"registrationId": VISA * 2},
)
DUMPED = ("registrations", "schedules", "schedule_runs", "payments", "bank_files", "instructions", "outbox", "jobs")
SEALED = Statement(sa.text("SELECT id, state, sealed_account, sealed_token, fingerprint, echo FROM registrations"))


@dataclass(frozen=True)
class Remains:
    traces: Traces
    keys: frozenset[bytes]
    removed: frozenset[str]
    rows: dict[str, tuple[object, ...]]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def remains(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remains]:
    folder = tmp_path_factory.mktemp("stored")
    environment = {"TOLLGATE_LOG_LEVEL": "debug"}
    if request.param == "sqlite":
        with GatewayProcess(folder, environment=environment) as gateway:
            yield live(gateway, [folder], lambda: dump_sqlite(gateway.data / "tollgate.db", folder / "dump.sql"))
        return
    # A cluster of its own: everything in it is searched to the last byte.
    with PostgresCluster() as cluster:
        database = cluster.create_database()

        def dump() -> None:
            name = database.rpartition("/")[2]
            cluster.run_sql("CHECKPOINT")
            rows = [cluster.run_sql(f"SELECT t FROM {table} AS t", name) for table in DUMPED]
            (folder / "dump.txt").write_text("\n".join(rows))

        with GatewayProcess(folder, database, environment=environment) as gateway:
            yield live(gateway, [folder, cluster.folder], dump)


def dump_sqlite(file: Path, target: Path) -> None:
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        target.write_text("\n".join(connection.iterdump()))


def live(gateway: GatewayProcess, folders: list[Path], dump: Callable[[], None]) -> Remains:
    client = gateway.client()
    keys = set(spell_keys(gateway.data / "keys.json"))
    tokenizing = add_channel(gateway, client, "Tokens", "--network-tokens")
    stored = {name: register(client, fields) for name, fields in STORED.items()}
    register(tokenizing, STORED["visa"])
    store_with_payments(client)
    use(client, stored)
    charge_by_plan(client, stored["visa"])
    run_command(gateway, "rotate-keys", "--wait", "1.5")
    keys |= set(spell_keys(gateway.data / "keys.json"))
    removed = {register(client, {**fields, **GONE}) for fields in STORED.values()}
    assert {remove(client, each).status for each in removed} == {200}
    retire_keys(gateway)
    assert pay_with(client, stored["visa"]).status == 200
    outlive(gateway, client)
    dump()
    rows = read_rows(gateway)
    return Remains(collect(folders, without="keys.json"), frozenset(keys), frozenset(removed), rows)


def store_with_payments(client: Client) -> None:
    for name, fields in STORED.items():
        if name != "virtual":
            answer = client.post(
                "/v1/payments", {**PAYMENT, **dict.fromkeys(CARD), **fields, "createRegistration": "true"}
            )
            assert answer.json["registrationId"], answer.body
    challenged = open_order(client, CHALLENGED, createRegistration="true")
    pass_challenge(client, challenged)
    for change_ in REFUSED:
        client.post("/v1/payments", {**PAYMENT, **STORED["visa"], "createRegistration": "true", **change_})
        store(client, {**STORED["visa"], **change_})


def use(client: Client, stored: dict[str, str]) -> None:
    for name, registration_id in stored.items():
        extend(client, registration_id)
        change(client, registration_id, {"customer.givenName": "Jane", "customer.surname": "Sweeper"})
        sent = {"card.cvv": CVV[:3], "shopperResultUrl": SHOP_URL, **BROWSER, **BILLING}
        assert pay_with(client, registration_id, sent if name != "amex" else {}).status in (200, 400)
    assert change(client, stored["visa"], {"card.expiryYear": "2035", "card.expiryMonth": "01"}).status == 200
    with ThreadPoolExecutor(8) as pool:
        paid = pool.map(lambda _: pay_with(client, stored["amex"], {"card.cvv": CVV}).status, range(PAYMENTS_WITH_CVV))
        assert set(paid) == {200}


def charge_by_plan(client: Client, registration_id: str) -> None:
    plan = {"job.hour": "3", "registrationId": registration_id, "merchantTransactionId": "planned-run"}
    answer = client.post(SCHEDULES, {**plan, "paymentType": "SD", "amount": "5.00", "currency": "EUR"})
    assert answer.status == 200, answer.body
    advance(client, 2 * DAY_S)
    wait_until(lambda: client.get("/v1/query", {"merchantTransactionId": "planned-run"}).status == 200)
    assert client.post(f"{SCHEDULES}/{answer.json['id']}/deschedule", {}).status == 200


def outlive(gateway: GatewayProcess, client: Client) -> None:
    """Years later nothing is left."""
    advance(client, YEARS * 366 * DAY_S)
    wait_until(lambda: all(row[0] != 1 for row in read_rows(gateway).values()))


def read_rows(gateway: GatewayProcess) -> dict[str, tuple[object, ...]]:
    async def fetch(database: Database) -> dict[str, tuple[object, ...]]:
        return {str(row[0]): tuple(row[1:]) for row in await database.fetch(SEALED, {})}

    return ask_store(gateway, fetch)


def test_the_search_finds_what_is_there(remains: Remains) -> None:
    """Finding nothing would mean nothing otherwise."""
    assert remains.traces.find(HOLDER.encode())
    assert remains.traces.find(VISA[:6].encode())
    assert remains.traces.count(AMEX[-4:].encode()) >= PAYMENTS_WITH_CVV
    assert len(remains.keys) > 6


@pytest.mark.parametrize("number", [VISA, MASTER, AMEX, CHALLENGED, TOKEN])
def test_no_number_of_a_registered_card_is_at_rest_in_any_spelling(remains: Remains, number: str) -> None:
    found = {needle: remains.traces.find(needle) for needle in spell_number(number)}

    assert {needle: files for needle, files in found.items() if files} == {}


@pytest.mark.parametrize("iban", [IBAN, OTHER_IBAN])
def test_no_registered_bank_account_is_at_rest_in_any_spelling(remains: Remains, iban: str) -> None:
    found = {needle: remains.traces.find(needle) for needle in spell_account(iban)}

    assert {needle: files for needle, files in found.items() if files} == {}


def test_no_cvv_that_came_with_a_registered_card_is_at_rest(remains: Remains) -> None:
    usual = median(remains.traces.count_outside_ids(digits.encode()) for digits in OTHER_DIGITS)

    assert remains.traces.search(NAMED_CVV) == []
    assert remains.traces.count_outside_ids(CVV.encode()) < usual + PAYMENTS_WITH_CVV / 2


def test_no_key_of_any_time_is_at_rest_outside_the_key_file(remains: Remains) -> None:
    assert [needle for needle in remains.keys if remains.traces.find(needle)] == []


def test_what_was_removed_or_outlived_holds_nothing_any_more(remains: Remains) -> None:
    assert remains.removed <= set(remains.rows)
    states = {row[0] for row in remains.rows.values()}
    assert states == {2, 3, 4}
    for _, sealed_account, sealed_token, fingerprint, _ in remains.rows.values():
        assert (sealed_account, sealed_token, fingerprint) == (None, None, None)
    assert {remains.rows[each][-1] for each in remains.removed} == {"{}"}
