"""The simulated provider: sessions are opened once, decided once, expire by the clock, and can be called off."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from empty_store import open_empty_store
from tollgate.catalog.brand_rows import Protocol
from tollgate.catalog.brands import BRANDS
from tollgate.catalog.ibans import is_iban
from tollgate.connectors import redirect
from tollgate.connectors.exchange import WireRequest
from tollgate.sandbox.provider import POSTED_BRANDS, SimulatedProvider, Status, find_session
from tollgate.store.database import Database
from tollgate.store.simulated_sessions import move_simulated_session
from tollgate.values import MINUTE, FixedClock, to_instant
from tollgate.wire import Silent, Unsent

pytestmark = pytest.mark.anyio

NOW = to_instant(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
BASE_URL = "http://127.0.0.1:8080"
PAGE_BRANDS = [code for code, row in BRANDS.items() if row.protocol is Protocol.REDIRECT and row.method != "PP"]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = await open_empty_store(tmp_path / "store.db")
    yield database
    await database.close()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture
def provider(database: Database, clock: FixedClock) -> SimulatedProvider:
    return SimulatedProvider(database, BASE_URL, clock)


async def open_session(
    provider: SimulatedProvider, brand: str = "PAYPAL", key: str = "8a01", account: str = "", **simulator_overrides: str
) -> dict[str, Any]:
    message = {
        "key": key,
        "type": "sale",
        "amount": 9200,
        "currency": "EUR",
        "brand": brand,
        "back_url": f"{BASE_URL}/back",
        "statement": "Shop",
        "reference": "1234.5678.9012",
        "account": {"account_id": account} if account else {},
    }
    body = msgspec.json.encode(message)
    reply = await provider.send(
        WireRequest(path=redirect.SESSIONS, body=body, key=key, simulator_overrides=simulator_overrides), 1.0
    )
    answer: dict[str, Any] = json.loads(reply.body)
    return answer


async def ask(provider: SimulatedProvider, path: str, key: str = "8a01", **more: bool) -> dict[str, Any]:
    body = json.dumps({"key": key, **more}).encode()
    answer: dict[str, Any] = json.loads((await provider.send(WireRequest(path=path, body=body, key=key), 1.0)).body)
    return answer


async def decide(database: Database, clock: FixedClock, status: Status, key: str = "8a01") -> bool:
    session = await find_session(database, key, clock)
    assert session is not None
    return await move_simulated_session(database, session.row, status)


async def test_a_session_leads_to_a_page_that_nobody_can_guess(provider: SimulatedProvider) -> None:
    first, second = await open_session(provider), await open_session(provider, key="8a02")

    assert first["status"] == "redirect"
    secrets = [answer["redirect"]["url"].rpartition("-")[2] for answer in (first, second)]
    assert first["redirect"]["url"].startswith(f"{BASE_URL}/sandbox/provider/8a01-")
    assert secrets[0] != secrets[1]
    assert [len(secret) for secret in secrets] == [32, 32]


async def test_every_brand_with_a_page_has_one(provider: SimulatedProvider) -> None:
    for brand in PAGE_BRANDS:
        forward = (await open_session(provider, brand, key=f"8a01{brand}"))["redirect"]

        assert forward.get("method", "GET") == ("POST" if brand in POSTED_BRANDS else "GET")
        assert ("parameters" in forward) is (brand in POSTED_BRANDS)


async def test_a_repeat_gets_the_same_session(provider: SimulatedProvider) -> None:
    assert await open_session(provider) == await open_session(provider, forceResultCode="800.100.151")


@pytest.mark.parametrize("status", [Status.APPROVED, Status.DECLINED, Status.CANCELLED])
async def test_an_inquiry_answers_what_was_decided(
    provider: SimulatedProvider, database: Database, clock: FixedClock, status: Status
) -> None:
    await open_session(provider)
    assert (await ask(provider, redirect.SESSION_INQUIRIES))["status"] == "pending"

    assert await decide(database, clock, status)

    assert (await ask(provider, redirect.SESSION_INQUIRIES))["status"] == status


async def test_what_one_process_opened_another_knows(
    provider: SimulatedProvider, database: Database, clock: FixedClock
) -> None:
    await open_session(provider)

    other = SimulatedProvider(database, BASE_URL, clock)

    assert (await ask(other, redirect.SESSION_INQUIRIES))["status"] == "pending"


@pytest.mark.parametrize(("brand", "product"), [("IDEAL", redirect.TRANSFER), ("PAYPAL", None)])
async def test_a_session_that_nobody_decides_expires(
    provider: SimulatedProvider, clock: FixedClock, brand: str, product: str | None
) -> None:
    await open_session(provider, brand)

    clock.at += 30 * MINUTE
    assert (await ask(provider, redirect.SESSION_INQUIRIES))["status"] == "pending"
    clock.at += 1
    late = await ask(provider, redirect.SESSION_INQUIRIES)

    assert (late["status"], late.get("product")) == ("expired", product)


async def test_an_approved_transfer_names_the_shoppers_bank(
    provider: SimulatedProvider, database: Database, clock: FixedClock
) -> None:
    await open_session(provider, "SOFORTUEBERWEISUNG")
    await decide(database, clock, Status.APPROVED)

    account = (await ask(provider, redirect.SESSION_INQUIRIES))["account"]

    assert set(account) == {"holder", "iban", "bic", "bank_name"}


@pytest.mark.parametrize(("sent", "received"), [("jane@example.com", "jane@example.com"), ("", "shopper@example.com")])
async def test_an_approved_wallet_names_the_account_there(
    provider: SimulatedProvider, database: Database, clock: FixedClock, sent: str, received: str
) -> None:
    await open_session(provider, account=sent)
    await decide(database, clock, Status.APPROVED)

    account = (await ask(provider, redirect.SESSION_INQUIRIES))["account"]

    assert account == {"holder": "Test Holder", "account_id": received}


@pytest.mark.parametrize(("brand", "digits"), [("PREPAYMENT", 0), ("BOLETO", 47), ("OXXO", 14)])
async def test_a_prepayment_gets_an_account_and_always_the_same(
    provider: SimulatedProvider, brand: str, digits: int
) -> None:
    first = await open_session(provider, brand)

    assert first["status"] == "account"
    assert is_iban(first["account"]["iban"])
    assert first["account"]["reference"] == "1234.5678.9012"
    assert first["account"]["due"] == "2026-11-22"
    assert len(first["account"].get("barcode", "")) == digits
    assert (await ask(provider, redirect.SESSION_INQUIRIES))["account"] == first["account"]
    assert (await open_session(provider, brand, "8a02"))["account"]["iban"] != first["account"]["iban"]


@pytest.mark.parametrize(
    ("decided", "received"),
    [
        (None, "cancelled"),
        (Status.APPROVED, "reversed"),
        (Status.DECLINED, "cancelled"),
        (Status.CANCELLED, "cancelled"),
        (Status.EXPIRED, "cancelled"),
    ],
)
async def test_a_session_can_be_called_off_however_it_stands(
    provider: SimulatedProvider, database: Database, clock: FixedClock, decided: Status | None, received: str
) -> None:
    await open_session(provider)
    if decided is not None:
        await decide(database, clock, decided)

    assert (await ask(provider, redirect.SESSION_CANCELLATIONS))["status"] == received
    assert (await ask(provider, redirect.SESSION_CANCELLATIONS))["status"] == received


async def test_a_prepayment_called_off_is_reversed(provider: SimulatedProvider) -> None:
    await open_session(provider, "PREPAYMENT")

    assert (await ask(provider, redirect.SESSION_CANCELLATIONS))["status"] == "reversed"


@pytest.mark.parametrize("path", [redirect.SESSION_INQUIRIES, redirect.SESSION_CANCELLATIONS])
async def test_a_session_asked_for_before_it_came_is_blocked(provider: SimulatedProvider, path: str) -> None:
    assert (await ask(provider, path))["status"] == "unknown"

    assert (await open_session(provider))["status"] == "unknown"


async def test_a_question_that_blocks_nothing_leaves_the_key_free(provider: SimulatedProvider) -> None:
    assert (await ask(provider, redirect.SESSION_INQUIRIES, blocks=False))["status"] == "unknown"

    assert (await open_session(provider))["status"] == "redirect"


@pytest.mark.parametrize(
    ("code", "brand", "status"),
    [
        ("800.100.151", "PAYPAL", "declined"),
        ("000.000.000", "PAYPAL", "approved"),
        ("000.200.001", "PAYPAL", "redirect"),
        ("800.100.151", "PREPAYMENT", "declined"),
        ("000.100.110", "PREPAYMENT", "account"),
    ],
)
async def test_a_forced_code_decides_without_the_shopper(
    provider: SimulatedProvider, code: str, brand: str, status: str
) -> None:
    answer = await open_session(provider, brand, forceResultCode=code)

    assert (answer["status"], answer["result_code"]) == (status, code)


async def test_nothing_of_the_shoppers_bank_account_is_remembered(
    provider: SimulatedProvider, database: Database, clock: FixedClock
) -> None:
    message = redirect.SessionMessage(
        key="8a01",
        type="sale",
        amount=9200,
        currency="EUR",
        brand="GIROPAY",
        back_url=f"{BASE_URL}/back",
        statement="Shop",
        reference="1234.5678.9012",
        account=redirect.SessionAccount(iban="DE75512108001245126199", holder="Jane Jones"),
    )
    body = msgspec.json.encode(message)

    await provider.send(WireRequest(path=redirect.SESSIONS, body=body, key="8a01"), 1.0)

    session = await find_session(database, "8a01", clock)
    assert session is not None
    assert "5126199" not in session.row.body
    assert "Jones" not in session.row.body


async def test_an_unknown_operation_is_declined(provider: SimulatedProvider) -> None:
    assert (await ask(provider, "/v1/miracles"))["status"] == "declined"


@pytest.mark.parametrize(
    ("fault", "error", "becomes"),
    [("unsent", Unsent, "unknown"), ("dropped", Silent, "unknown"), ("lost", Silent, "pending")],
)
async def test_the_wire_breaks_where_an_override_says(
    provider: SimulatedProvider, fault: str, error: type[Exception], becomes: str
) -> None:
    with pytest.raises(error):
        await open_session(provider, simulatorFault=fault)

    assert (await ask(provider, redirect.SESSION_INQUIRIES))["status"] == becomes


async def test_a_garbled_answer_is_none(provider: SimulatedProvider) -> None:
    with pytest.raises(json.JSONDecodeError):
        await open_session(provider, simulatorFault="garbled")
