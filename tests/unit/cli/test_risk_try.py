"""The command that tries risk rules on stored payments: the file it reads, and what it prints."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tollgate.cli.program import program
from tollgate.operations.app import App
from tollgate.operations.risk_rules import add_rule, change_rule
from tollgate.payments.payment import Payment
from tollgate.store.opening import open_database
from tollgate.values import HOUR, FixedClock, Money, render_timestamp
from tollgate.vault.keyring import save_keyring
from unit.app_fixture import MERCHANT, NOW, ScriptedWire, open_app
from unit.flows.chains import DECLINED, begin, follow, happen

AMOUNTS = (1000, 2000, 3000, 4000, 5000)
ABOVE_15 = {"name": "above 15", "kind": "amount", "amount": "15.00", "currency": "EUR"}
RULE_ID, OFF_ID = "8a" + "7" * 30, "8a" + "8" * 30


async def fill(folder: Path) -> None:
    """Makes a payment an hour, of which the third is refunded, the fourth charged back and the last one declined."""
    wire = ScriptedWire()
    app = await open_app(folder, wire)
    save_keyring(app.keyring, folder / "keys.json")
    await _add(app, RULE_ID, {"kind": "amount", "amount": "35.00", "currency": "EUR", "mode": "shadow"})
    await _add(app, OFF_ID, {"kind": "amount", "amount": "5.00", "currency": "EUR", "mode": "off"})
    made: list[Payment] = []
    for number, amount in enumerate(AMOUNTS):
        assert isinstance(app.clock, FixedClock)
        app.clock.at = NOW + number * HOUR
        wire.script = [DECLINED] if number == len(AMOUNTS) - 1 else []
        made.append(await begin(app, money=Money(amount, "EUR")))
    await follow(app, made[2], "RF", 1200)
    await happen(app, made[3], "CB", 4000)
    await app.database.close()


async def _add(app: App, rule_id: str, sent: dict[str, str]) -> None:
    await add_rule(app.database, MERCHANT.id, sent, by="test", now=NOW, new_id=rule_id)
    await app.merchants.refresh(app.database)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    asyncio.run(fill(tmp_path))
    return tmp_path


def invoke(folder: Path, *arguments: str) -> Result:
    store = ("--data", str(folder), "--database", f"sqlite:///{folder}/store.db")
    return CliRunner().invoke(program, ["risk", "try", MERCHANT.id, *arguments, *store])


def try_text(folder: Path, *arguments: str) -> str:
    done = invoke(folder, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def try_json(folder: Path, *arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(try_text(folder, "--json", *arguments))
    return told


def write_file(folder: Path, rules: object, name: str = "rules.json") -> str:
    path = folder / name
    path.write_text(rules if isinstance(rules, str) else json.dumps(rules))
    return str(path)


def list_counts(tally: dict[str, Any]) -> dict[str, int]:
    return {fate: each["count"] for fate, each in tally.items() if each["count"]}


def list_sums(tally: dict[str, Any]) -> dict[str, str]:
    return {fate: each["amounts"]["EUR"] for fate, each in tally.items() if each["count"]}


def test_payments_are_split_by_what_became_of_them(folder: Path) -> None:
    told = try_json(folder, write_file(folder, [ABOVE_15]))

    assert list_counts(told["payments"]) == {"approved": 4, "declined": 1, "refunded": 1, "charged_back": 1}
    [rule] = told["rules"]
    assert (rule["id"], rule["name"]) == ("1", "above 15")
    assert list_sums(rule["hits"]) == {
        "approved": "90.00",
        "declined": "50.00",
        "refunded": "12.00",
        "charged_back": "40.00",
    }
    assert told["outcomes"]["refuse"] == rule["hits"]
    assert list_counts(told["outcomes"]["accept"]) == {"approved": 1}


def test_the_text_says_the_same_in_lines(folder: Path) -> None:
    lines = try_text(folder, write_file(folder, [ABOVE_15])).splitlines()

    at = lines.index("1 above 15")
    assert [line.split() for line in lines[at + 1 : at + 5]] == [
        ["approved", "3", "90.00", "EUR"],
        ["declined", "1", "50.00", "EUR"],
        ["refunded", "1", "12.00", "EUR"],
        ["charged", "back", "1", "40.00", "EUR"],
    ]
    assert "refuse instead of accept" in lines


def test_rules_may_be_written_in_toml(folder: Path) -> None:
    text = '[[rules]]\nname = "above 15"\nkind = "amount"\namount = "15.00"\ncurrency = "EUR"\n'

    assert try_json(folder, write_file(folder, text, "rules.toml")) == try_json(folder, write_file(folder, [ABOVE_15]))


def test_since_and_until_choose_the_payments(folder: Path) -> None:
    times = ("--since", render_timestamp(NOW + HOUR), "--until", render_timestamp(NOW + 3 * HOUR))
    told = try_json(folder, write_file(folder, [ABOVE_15]), *times)

    assert list_sums(told["payments"]) == {"approved": "50.00", "refunded": "12.00"}


def test_a_payment_before_the_chosen_ones_still_counts_for_them(folder: Path) -> None:
    one_a_day = {"kind": "count", "attribute": "card", "window": "1d", "count": "1"}
    told = try_json(folder, write_file(folder, [one_a_day]), "--since", render_timestamp(NOW + HOUR))

    assert list_counts(told["payments"]) == list_counts(told["rules"][0]["hits"])


def test_without_a_file_the_present_rules_are_tried_as_if_active_but_those_that_are_off(folder: Path) -> None:
    told = try_json(folder)

    [rule] = told["rules"]
    assert rule["id"] == RULE_ID
    assert list_sums(rule["hits"]) == {"approved": "40.00", "declined": "50.00", "charged_back": "40.00"}
    assert rule["noted"] == rule["hits"]
    assert [(each["from"], each["to"], each["payments"]) for each in told["changes"]] == [
        ("accept", "refuse", rule["hits"])
    ]


def test_a_rule_with_the_id_of_a_present_one_is_compared_with_what_that_one_noted(folder: Path) -> None:
    told = try_json(folder, write_file(folder, [{**ABOVE_15, "id": RULE_ID}]))

    [rule] = told["rules"]
    assert list_counts(rule["noted"]) == {"approved": 1, "declined": 1, "charged_back": 1}
    assert list_counts(rule["hits"]) == {"approved": 3, "declined": 1, "refunded": 1, "charged_back": 1}


def test_a_new_version_is_compared_with_what_the_earlier_one_noted(folder: Path) -> None:
    async def change() -> None:
        database = await open_database(str(folder / "store.db"))
        await change_rule(database, MERCHANT.id, RULE_ID, {"amount": "45.00"}, by="test", now=NOW + HOUR)
        await database.close()

    asyncio.run(change())
    [rule] = try_json(folder)["rules"]

    assert list_counts(rule["noted"]) == {"approved": 1, "declined": 1, "charged_back": 1}
    assert list_counts(rule["hits"]) == {"declined": 1}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("rules.json", '[{"kind": "amount",}]', "line 1 column"),
        ("rules.toml", "[[rules]]\nkind = amount\n", "line 2"),
        ("rules.json", '{"kind": "amount"}', "must be a list of rules"),
        ("rules.toml", 'kind = "amount"\n', "must be a list of rules"),
        ("rules.json", '["amount"]', "must be a list of rules"),
        ("rules.json", json.dumps([ABOVE_15, {"kind": "colour"}]), "rule 2: kind must be one of"),
        ("rules.json", json.dumps([ABOVE_15, {"name": "odd", "kind": "amount"}]), "rule 2 (odd): amount"),
        ("rules.json", json.dumps([{**ABOVE_15, "window": "1h"}]), "window is not a term of this kind"),
        ("rules.json", json.dumps([{**ABOVE_15, "channel": "8a"}]), "rule 1: channel must be"),
        ("rules.json", json.dumps([{**ABOVE_15, "id": "x"}] * 2), "rule 2: an earlier one has the same id"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_its_line_or_rule(
    folder: Path, name: str, text: str, words: str
) -> None:
    done = invoke(folder, write_file(folder, text, name))

    assert done.exit_code == 2
    assert words in " ".join(done.output.split())


def test_an_unknown_merchant_is_named(folder: Path) -> None:
    store = ("--data", str(folder), "--database", f"sqlite:///{folder}/store.db")
    done = CliRunner().invoke(program, ["risk", "try", "8a00", *store])

    assert done.exit_code == 1
    assert "no merchant 8a00" in done.output
