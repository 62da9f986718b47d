"""Further acquirer accounts are added, changed and closed by commands, and routes are explained and tried."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from tollgate.cli.program import program
from tollgate.operations.signing import make_signature
from tollgate.payments.completion import complete
from tollgate.payments.payment import Outcome, Payment, State, Verdict
from tollgate.payments.routing import Considered
from tollgate.payments.users import AuditEntry
from tollgate.store.audit_log import ENTRIES
from tollgate.store.merchants import list_accounts
from tollgate.store.opening import open_database
from tollgate.store.payments import complete_payment, start_payment
from tollgate.store.statements import Statement
from tollgate.values import SECOND, ChannelId, MerchantId, PaymentId
from tollgate.vault.keyring import load_keyring
from unit.app_fixture import NOW, ORDER

UNKNOWN = "8a" + "0" * 30


def run(folder: Path, *command: str, sent: str = "") -> Result:
    return CliRunner().invoke(program, [*command, "--data", str(folder)], input=sent, catch_exceptions=False)


@pytest.fixture
def entity_id(tmp_path: Path) -> str:
    run(tmp_path, "migrate")
    merchant_id = run(tmp_path, "merchant", "add", "Shop").stdout.strip()
    return run(tmp_path, "channel", "add", merchant_id, "Shop").stdout.strip()


@pytest.fixture
def account_id(tmp_path: Path, entity_id: str) -> str:
    flags = ("--acquirer", "stripe", "--test-url", "https://second.example", "--acquirer-priority", "2")
    return run(tmp_path, "account", "add", entity_id, "Second", *flags).stdout.strip()


def test_accounts_are_listed_with_the_first_one(tmp_path: Path, entity_id: str, account_id: str) -> None:
    run(tmp_path, "account", "set", account_id, "--acquirer-weight", "7", "--acquirer-cost-rate", "95")

    lines = run(tmp_path, "account", "list", "--channel", entity_id).stdout.splitlines()

    assert lines == [
        f"{entity_id}  channel {entity_id}  Shop  (json, priority 1, weight 100, cost 0 + 0 %)",
        f"{account_id}  channel {entity_id}  Second  "
        "(stripe, priority 2, weight 7, cost 0 + 0.95 %, test https://second.example)",
    ]
    assert run(tmp_path, "account", "list", "--channel", UNKNOWN).stdout == ""


def test_an_account_is_closed_and_opened_again(tmp_path: Path, account_id: str) -> None:
    assert run(tmp_path, "account", "close", account_id).exit_code == 0
    closed = run(tmp_path, "account", "list").stdout
    assert run(tmp_path, "account", "set", account_id, "--reopen").exit_code == 0
    opened = run(tmp_path, "account", "list").stdout

    assert ("closed" in closed, "closed" in opened) == (True, False)


def test_the_address_of_an_account_is_no_flag_of_set(tmp_path: Path, account_id: str) -> None:
    done = run(tmp_path, "account", "set", account_id, "--test-url", "https://other.example")

    assert done.exit_code == 2
    assert "No such option" in done.output


def test_the_audit_log_has_no_password_of_an_address(tmp_path: Path, entity_id: str) -> None:
    flags = ("--test-url", "https://shop:pass@acquirer.example")
    assert run(tmp_path, "account", "add", entity_id, "Second", *flags).exit_code == 0
    assert run(tmp_path, "channel", "set", entity_id, *flags).exit_code == 0

    told = [entry.details.get("test_url") for entry in asyncio.run(_list_entries(tmp_path))]

    assert [each for each in told if each] == ["https://***@acquirer.example"] * 2


async def _list_entries(folder: Path) -> list[AuditEntry]:
    database = await open_database(f"sqlite:///{folder}/tollgate.db")
    try:
        return await ENTRIES.fetch(database, Statement(ENTRIES.select()), {})
    finally:
        await database.close()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--acquirer-priority", "0"), "--acquirer-priority: not a number from 1 to 999"),
        (("--acquirer", "iso8583", "--test-url", "https://x.example"), "--test-url: the protocol iso8583"),
    ],
)
def test_a_wrong_flag_is_named(tmp_path: Path, entity_id: str, flags: tuple[str, ...], told: str) -> None:
    done = run(tmp_path, "account", "add", entity_id, "Second", *flags)

    assert done.exit_code == 2
    assert told in done.output


def test_what_does_not_exist_is_named(tmp_path: Path, entity_id: str) -> None:
    commands = (
        ("account", "add", UNKNOWN, "Second"),
        ("account", "set", entity_id, "--acquirer-weight", "1"),
        ("account", "close", UNKNOWN),
        ("account", "secret", UNKNOWN, "api-key"),
        ("route", "explain", UNKNOWN),
    )

    for command in commands:
        done = run(tmp_path, *command)
        assert done.exit_code == 1
        assert done.output.startswith("tollgate: no ")


def test_a_secret_belongs_to_its_account(tmp_path: Path, entity_id: str, account_id: str) -> None:
    assert run(tmp_path, "account", "secret", account_id, "api-key", sent="sk_test_1\n").exit_code == 0
    # The first account speaks a protocol without secrets.
    assert run(tmp_path, "account", "secret", entity_id, "api-key", sent="sk_test_1\n").exit_code == 1


# ---- routes ----


async def _store_payments(folder: Path, entity_id: str, account_id: str, brand: str = "VISA") -> None:
    """Stores 100 charges of the first account, of which it declined 40, and 100 of the second, which declined 10."""
    keyring = load_keyring(folder / "keys.json")
    database = await open_database(f"sqlite:///{folder}/tollgate.db")
    [account] = await list_accounts(database)
    for number in range(200):
        is_second = number % 2 == 1
        started = Payment(
            id=PaymentId(f"8a{number:030d}"),
            merchant_id=MerchantId(account.merchant_id),
            channel_id=ChannelId(entity_id),
            payment_type="DB",
            state=State.STARTED,
            money=ORDER.money,
            brand=brand,
            method="CC",
            descriptor="Shop",
            short_id="1234.5678.9012",
            ndc="ndc",
            created_at=NOW + number * SECOND,
            deadline_at=NOW,
            card=ORDER.card_summary,
            account_id=account_id if is_second else None,
            routing=(Considered(account_id, "chosen", 9000), Considered(entity_id, "not chosen", 6000)),
        )
        assert await start_payment(database, started, None, None)
        is_declined = number % 20 == 1 if is_second else number % 10 in (0, 2)
        outcome = Outcome.DECLINED if is_declined else Outcome.APPROVED
        code = "800.100.152" if is_declined else "000.000.000"
        completion = complete(started, Verdict(outcome=outcome, code=code), NOW + number * SECOND)
        signed = msgspec.structs.replace(completion.payment, mac=make_signature(completion.payment, keyring))
        assert await complete_payment(database, msgspec.structs.replace(completion, payment=signed))
    await database.close()


@pytest.fixture
def paid(tmp_path: Path, entity_id: str, account_id: str) -> None:
    asyncio.run(_store_payments(tmp_path, entity_id, account_id))


@pytest.mark.usefixtures("paid")
def test_a_route_is_explained_account_by_account(tmp_path: Path, entity_id: str, account_id: str) -> None:
    first, second = (run(tmp_path, "route", "explain", f"8a{number:030d}").stdout for number in (0, 1))

    assert second == f"* {account_id}  Second  chosen, score 9000\n  {entity_id}  Shop  not chosen, score 6000\n"
    assert first.splitlines()[1].startswith(f"* {entity_id}")


@pytest.mark.usefixtures("paid")
def test_a_proposal_is_tried_against_the_last_payments(tmp_path: Path, entity_id: str, account_id: str) -> None:
    proposal = tmp_path / "proposal.toml"
    proposal.write_text(
        f'channel = "{entity_id}"\nstrategy = "success"\nexploration = 0\n'
        f'[[accounts]]\nid = "{entity_id}"\n[[accounts]]\nid = "{account_id}"\npriority = 1\ncost_fixed = 10\n'
    )

    moved, sums = run(tmp_path, "route", "try", str(proposal), "--last", "100").stdout.splitlines()

    # It takes some payments to learn which account is better.
    assert moved.startswith(f"{entity_id} -> {account_id}  ")
    count = int(moved.split()[3])
    assert 40 <= count <= 50
    assert sums.startswith(f"EUR: 100 payments, {count} elsewhere")
    assert "approved 75, expected 8" in sums
    assert f"cost 5.00, expected {(count + 50) / 10:.2f} (+{count / 10:.2f})" in sums
    # The same file has the same result, and nothing was changed.
    assert run(tmp_path, "route", "try", str(proposal), "--last", "100").stdout.splitlines() == [moved, sums]


def test_a_proposal_sends_nothing_to_an_account_that_cannot_take_it(
    tmp_path: Path, entity_id: str, account_id: str
) -> None:
    """The second account speaks a protocol for cards alone."""
    asyncio.run(_store_payments(tmp_path, entity_id, account_id, "PAYPAL"))
    proposal, moved = tmp_path / "proposal.toml", []
    for accounts in ((entity_id, account_id), (account_id,)):
        rows = [
            f'[[accounts]]\nid = "{each}"\ncost_fixed = {len(accounts) - place}' for place, each in enumerate(accounts)
        ]
        proposal.write_text("\n".join([f'channel = "{entity_id}"\nstrategy = "cost"', *rows]))
        moved.append(run(tmp_path, "route", "try", str(proposal), "--last", "100").stdout.splitlines())

    assert moved[0][0] == f"{account_id} -> {entity_id}  50 payments"
    assert [lines[-1].split(";")[0] for lines in moved] == [
        "EUR: 100 payments, 50 elsewhere",
        "EUR: 100 payments, 0 elsewhere",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("channel", "proposal.toml"),
        ('channel = "x"\nspeed = 1', "unknown field"),
        ('channel = "x"\nexploration = 51', "from 0 to 50"),
        ('channel = "x"\n[[accounts]]\nid = "a"\n[[accounts]]\nid = "a"', "different ids"),
        ('channel = "x"\n[[accounts]]\nid = "a"\ncost_rate = -1', "0 or more"),
        ('channel = "x"', "is not the entity id of a channel"),
    ],
)
@pytest.mark.usefixtures("entity_id")
def test_a_wrong_proposal_is_refused_with_the_reason(tmp_path: Path, text: str, told: str) -> None:
    proposal = tmp_path / "proposal.toml"
    proposal.write_text(text)

    done = run(tmp_path, "route", "try", str(proposal))

    assert done.exit_code == 2
    assert told in done.output


def test_a_channel_without_payments_says_so(tmp_path: Path, entity_id: str) -> None:
    proposal = tmp_path / "proposal.toml"
    proposal.write_text(f'channel = "{entity_id}"')

    assert run(tmp_path, "route", "try", str(proposal)).stdout.startswith("no payment")
