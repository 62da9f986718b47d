"""The bytes at rest are searched after payments of every type: no card number, no CVV, no key and no token.

A number of three or four digits occurs by chance in any large file, so the CVV is looked for in two ways: beside words
that name it, and by counting. Hundreds of payments with one CVV would leave hundreds of copies; chance leaves about as
many as of any other four digits.
"""

from __future__ import annotations

import re
import sqlite3
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import pytest

from api.merchants import add_channel, wait_until
from api.recording import RecordingAcquirer
from api.traces import Traces, collect, spell_keys, spell_number
from gateway import Answer, Client, GatewayProcess
from postgres import PostgresCluster

pytestmark = pytest.mark.both_databases

CVV = "7319"
OTHER_DIGITS = ("7391", "3719", "9137", "1937", "7931", "3917", "1379", "9713", "1793")
PAYMENTS_WITH_CVV = 300
VISA, MASTER, AMEX = "4539578763621486", "5425233430109903", "374245455400126"
BAD_NUMBER = "4539578763621487"
MALFORMED_CVV = "x73197319x"
HOLDER = "Jane Sweeper"
FORCE, FAULT = "customParameters[forceResultCode]", "customParameters[simulatorFault]"
NAMED_CVV = re.compile(rb"(?i)(?:cvv|cvc|cvn|security.?code|verification.?(?:code|value))[^0-9a-z]{0,12}731")

ATTEMPTS: tuple[dict[str, str | None], ...] = (
    {},
    {"paymentType": "PA"},
    {"paymentType": "CD"},
    {FORCE: "800.100.151"},
    {FORCE: "000.200.000"},
    {FAULT: "unsent"},
    {FAULT: "dropped"},
    {FAULT: "lost"},
    {FAULT: "garbled"},
    {FAULT: "lost", "paymentType": "CD"},
    {"card.expiryYear": "2020"},
    {"card.number": BAD_NUMBER},
    {"amount": "0"},
    {"testMode": "EXTERNAL"},
    {"card.cvv": MALFORMED_CVV},
    {"card.number": f"{VISA[:4]} {VISA[4:8]} {VISA[8:12]} {VISA[12:]}"},
    {"card.number": None},
    {"card.numberr": VISA, "card.cvc": CVV},
    {"paymentBrand": "NOSUCHBRAND"},
    {"amount": VISA},
    {"sender.accountNumber": VISA},
    {"card.number": VISA, "card.holder": VISA},
    {"card.number": VISA, "merchantTransactionId": f"{VISA[:4]} {VISA[4:8]} {VISA[8:12]}-{VISA[12:]}"},
    {"tokenAccount.number": VISA, "tokenAccount.type": "NETWORK"},
)

# Of the column, because a payment names the partition of its month and not the table.
HIDE_EVENTS = "ALTER TABLE outbox RENAME COLUMN topic TO hidden"
SHOW_EVENTS = "ALTER TABLE outbox RENAME COLUMN hidden TO topic"
"""A payment starts and cannot be completed while its table of events is hidden: breakage, with a traceback."""

Breakage = Callable[[GatewayProcess, Client], None]


@dataclass(frozen=True)
class Aftermath:
    """An aftermath is what remains when everything has happened that can happen to a payment."""

    traces: Traces
    log: str
    key_file: Path
    client: Client


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def aftermath(
    request: pytest.FixtureRequest, acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Aftermath]:
    folder = tmp_path_factory.mktemp("swept")
    environment = {"TOLLGATE_LOG_LEVEL": "debug", "TOLLGATE_ACQUIRER_TIMEOUT_S": "2"}
    if request.param == "sqlite":
        with GatewayProcess(folder, environment=environment) as gateway:
            yield pay_in_every_way(gateway, acquirer, lock_file, [folder])
        return
    # A cluster of its own: everything in it is searched to the last byte.
    with PostgresCluster() as cluster:

        def restart_cluster(_gateway: GatewayProcess, client: Client) -> None:
            cluster.stop()
            assert pay_with_amex(client).status >= 500
            cluster.start()
            wait_until(lambda: pay_with_amex(client).status == 200)
            cluster.run_sql(HIDE_EVENTS, database)
            assert pay_with_amex(client).status == 500
            cluster.run_sql(SHOW_EVENTS, database)

        dsn = cluster.create_database()
        database = dsn.rpartition("/")[2]
        with GatewayProcess(folder, dsn, environment=environment) as gateway:
            yield pay_in_every_way(
                gateway, acquirer, restart_cluster, [folder, cluster.folder], lambda: cluster.run_sql("CHECKPOINT")
            )


def lock_file(gateway: GatewayProcess, client: Client) -> None:
    """Keeps the file locked for longer than the server waits, then breaks the second write of a payment."""
    with closing(sqlite3.connect(gateway.data / "tollgate.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert pay_with_amex(client).status >= 500
        other.execute("ROLLBACK")
        other.execute(HIDE_EVENTS)
        assert pay_with_amex(client).status == 500
        other.execute(SHOW_EVENTS)


def pay_in_every_way(
    gateway: GatewayProcess,
    acquirer: RecordingAcquirer,
    break_store: Breakage,
    folders: list[Path],
    flush: Callable[[], object] = lambda: None,
) -> Aftermath:
    client = gateway.client()
    external = add_channel(gateway, client, "External", "--test-url", acquirer.url)
    lenient = replace(client, entity_id=client.lenient_entity_id)
    for caller in (external, lenient):
        for index, attempt in enumerate(ATTEMPTS):
            for number, cvv in ((VISA, CVV[:3]), (MASTER, CVV[:3]), (AMEX, CVV)):
                card = {"paymentBrand": None, "card.number": number, "card.cvv": cvv, "card.holder": HOLDER}
                caller.pay({"Idempotency-Key": f"{index}-{number[:2]}"}, **{**card, **attempt})
    with ThreadPoolExecutor(8) as pool:
        codes = {answer.code for answer in pool.map(lambda _: pay_with_amex(client), range(PAYMENTS_WITH_CVV))}
    assert codes == {"000.100.110"}
    break_store(gateway, client)
    wait_until(lambda: pay_with_amex(client).status == 200)
    time.sleep(1)  # The recovery tasks of silent payments are run and written, too.
    flush()
    key_file = gateway.data / "keys.json"
    return Aftermath(collect(folders, without=key_file.name), gateway.log_path.read_text(), key_file, client)


def pay_with_amex(client: Client) -> Answer:
    return client.pay(paymentBrand="AMEX", card__number=AMEX, card__cvv=CVV)


def test_the_search_finds_what_is_there(aftermath: Aftermath) -> None:
    """Finding nothing would mean nothing otherwise: values that may be stored in clear are found as often as stored."""
    assert aftermath.traces.find(HOLDER.encode())
    assert aftermath.traces.find(VISA[:6].encode())
    assert aftermath.traces.count(AMEX[-4:].encode()) >= PAYMENTS_WITH_CVV
    assert '"event":"unhandled error"' in aftermath.log
    assert '"traceback"' in aftermath.log


@pytest.mark.parametrize("number", [VISA, MASTER, AMEX, BAD_NUMBER])
def test_no_card_number_is_at_rest_in_any_spelling(aftermath: Aftermath, number: str) -> None:
    found = {needle: aftermath.traces.find(needle) for needle in spell_number(number)}

    assert {needle: files for needle, files in found.items() if files} == {}


def test_no_cvv_stands_beside_a_word_for_it(aftermath: Aftermath) -> None:
    assert aftermath.traces.search(NAMED_CVV) == []
    assert aftermath.traces.find(MALFORMED_CVV.encode()) == []
    assert NAMED_CVV.search(b'{"cvv":"731"}')
    assert NAMED_CVV.search(b"card.cvv=7319")


def test_the_cvv_occurs_no_more_often_than_any_other_digits(aftermath: Aftermath) -> None:
    usual = median(aftermath.traces.count_outside_ids(digits.encode()) for digits in OTHER_DIGITS)

    assert aftermath.traces.count_outside_ids(CVV.encode()) < usual + PAYMENTS_WITH_CVV / 2


def test_no_key_is_at_rest_outside_the_key_file(aftermath: Aftermath) -> None:
    for spelling in spell_keys(aftermath.key_file):
        assert aftermath.traces.find(spelling) == []


def test_no_token_is_at_rest_but_in_the_greeting(aftermath: Aftermath) -> None:
    """The start of a test host prints its token on purpose; beyond that it is stored hashed and sealed only."""
    token = aftermath.client.token
    password = b64decode(token).decode().partition("|")[2]

    for secret in (token, password):
        assert all(Path(name).name == "server.log" for name in aftermath.traces.find(secret.encode()))
    logged = "\n".join(line for line in aftermath.log.splitlines() if line.startswith("{"))
    assert token not in logged
    assert password not in logged
