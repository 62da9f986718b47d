"""The simulated ISO 8583 host: its ledger acts once, and its rules do what their table says."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from tollgate.connectors.exchange import WireRequest
from tollgate.connectors.iso8583 import codec, network
from tollgate.connectors.iso8583.codec import Message
from tollgate.connectors.iso8583.fields import PRIVATE, Tag
from tollgate.docs import texts
from tollgate.sandbox.iso8583_host.host import HostTerms, SimulatedHost
from tollgate.sandbox.iso8583_host.ledger import HostLedger, Sums
from tollgate.sandbox.iso8583_host.rules import DEFAULT_RULES, Act, Rule, RuleBook, read_rules
from tollgate.values import Secret
from tollgate.wire import Iso8583Wire, Silent, Unsent
from unit.wire.iso8583_hosts import ACCOUNT, SOON_S, make_wire

CREDIT = "200000"
WRAPPING_KEY = bytes(range(16))


def make_message(mti: str, key: str, amount: int = 9200, original: str = "", **more: str) -> Message:
    """more: elements such as f3, and tags such as t73."""
    tags: dict[str, str] = {Tag.KEY: key, **({Tag.ORIGINAL_KEY: original} if original else {})}
    tags |= {name[1:]: text for name, text in more.items() if name.startswith("t")}
    fields = {2: "4200000000000000", 3: "000000", 4: f"{amount:012d}", 7: "0115080000", 11: f"{sum(key.encode()):06d}"}
    fields |= {37: "REFERENCE001", 41: "TERM0001", 49: "978", PRIVATE: codec.render_tags(tags)}
    return Message(mti, fields | {int(name[1:]): text for name, text in more.items() if name.startswith("f")})


def act(ledger: HostLedger, mti: str, key: str, amount: int = 9200, original: str = "", **more: str) -> str:
    return ledger.act(make_message(mti, key, amount, original, **more)).response


def test_an_authorization_is_held_until_it_is_captured_or_reversed() -> None:
    ledger = HostLedger()
    assert act(ledger, "0100", "a", 9200) == "00"
    assert act(ledger, "0220", "c", 5000, "a") == "00"
    assert act(ledger, "0400", "v", 9200, "a", f95=f"{5000:012d}" + "0" * 12 + "C00000000C00000000") == "00"

    assert ledger.sum_up("a") == Sums(authorized=9200, captured=5000, reversed=4200, held=0, earned=5000)


def test_a_final_capture_gives_the_rest_back() -> None:
    ledger = HostLedger()
    act(ledger, "0100", "a", 9200)
    act(ledger, "0220", "c", 5000, "a", t73="Y")

    assert (ledger.sum_up("a").held, ledger.sum_up("a").earned) == (0, 5000)
    assert act(ledger, "0220", "d", 100, "a") == "13"


def test_a_sale_is_refunded_up_to_its_amount_and_a_credit_needs_none() -> None:
    ledger = HostLedger()
    act(ledger, "0200", "s", 9200)
    assert act(ledger, "0200", "r", 9200, "s", f3=CREDIT) == "00"
    assert act(ledger, "0200", "q", 1, "s", f3=CREDIT) == "13"
    assert act(ledger, "0200", "c", 700, f3=CREDIT) == "00"

    assert ledger.sum_totals()["978"] == Sums(captured=9200, refunded=9200, credited=700, earned=-700)


def test_an_increment_raises_the_authorization_and_a_renewal_is_its_own() -> None:
    ledger = HostLedger()
    act(ledger, "0100", "a", 100)
    act(ledger, "0100", "i", 50, "a", t72="increment")
    act(ledger, "0100", "n", 70, "a", t72="renewal")

    assert [ledger.sum_up(root).held for root in ("a", "n")] == [150, 70]
    assert act(ledger, "0100", "j", 50, "unknown", t72="increment") == "25"


@pytest.mark.parametrize("mti", ["0220", "0200"])
def test_a_follow_up_of_an_unknown_payment_is_not_found(mti: str) -> None:
    assert act(HostLedger(), mti, "c", 5000, "unknown", f3=CREDIT) == "25"


def test_a_repeat_gets_the_same_answer_and_acts_once() -> None:
    ledger = HostLedger()
    for mti in ("0200", "0200", "0201"):
        assert act(ledger, mti, "s", 9200) == "00"

    assert (ledger.entries["s"].seen, ledger.sum_up("s").earned) == (3, 9200)


def test_a_declined_request_stays_declined() -> None:
    ledger = HostLedger()
    assert ledger.act(make_message("0200", "s"), "51").response == "51"
    assert act(ledger, "0201", "s") == "51"
    assert ledger.sum_up("s") == Sums()


def test_a_request_without_a_key_is_known_by_terminal_trace_number_and_reference() -> None:
    ledger = HostLedger()
    sale = make_message("0200", "s")
    bare = Message(sale.mti, {number: text for number, text in sale.fields.items() if number != PRIVATE})
    assert [ledger.act(bare).seen for _ in range(2)] == [1, 2]

    original = f"0200{bare.fields[11]}{bare.fields[7]}{'0' * 22}"
    advice = {**bare.fields, 11: "000099", 37: "REFERENCE002", 90: original}
    assert ledger.act(Message("0420", advice)).response == "00"
    assert ledger.sum_totals() == {}


def test_a_reversal_advice_undoes_a_payment_once_and_for_all() -> None:
    ledger = HostLedger()
    act(ledger, "0200", "s")
    for mti in ("0420", "0421"):
        assert act(ledger, mti, "s-reversal", 9200, "s") == "00"

    assert ledger.sum_up("s") == Sums()
    assert act(ledger, "0201", "s") == "12"
    assert ledger.sum_up("s") == Sums()


@pytest.mark.parametrize("mti", ["0400", "0420"])
def test_an_original_that_arrives_after_its_reversal_is_declined(mti: str) -> None:
    ledger = HostLedger()
    assert act(ledger, mti, "s-reversal", 9200, "s") == "00"
    assert act(ledger, "0200", "s") == "12"
    assert ledger.sum_totals() == {}


def test_rules_meet_what_their_members_say_and_the_first_counts() -> None:
    book = RuleBook(
        read_rules("""
        [[rule]]
        act = "drop"
        pan_end = "0119"
        [[rule]]
        act = "decline"
        amount = 700
        mti = ["0100"]
        code = "51"
        times = 1
        [[rule]]
        act = "late"
        stan_modulus = 10
        stan_remainder = 3
        """)
    )
    meet = make_message

    assert book.choose(meet("0100", "a", 700, f2="4200000000000119")).act is Act.DROP
    assert book.choose(meet("0200", "a", 700, f11="000001")).act is Act.APPROVE
    assert [book.choose(meet("0100", "a", 700, f11="000001")).act for _ in range(2)] == [Act.DECLINE, Act.APPROVE]
    assert book.choose(meet("0420", "a", 700, f11="000013")).act is Act.LATE


@pytest.mark.parametrize(
    "text",
    [
        "rule = 1",
        "[[rule]]",
        '[[rule]]\nact = "explode"',
        '[[rule]]\nact = "drop"\nodd = 1',
        "[[rule",
        "[[rule]]\nact=1",
    ],
)
def test_a_file_that_is_no_table_of_rules_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_rules(text)


def test_every_act_has_an_amount_and_the_documentation_names_it() -> None:
    document = (texts.ROOT / "docs/iso8583.md").read_text("utf-8")
    shown = re.findall(r"^\| (1\d\d\.\d\d) \| (.*) \|$", document, re.MULTILINE)
    rules = {f"{rule.amount // 100}.{rule.amount % 100:02d}": rule for rule in DEFAULT_RULES if rule.amount}

    assert {rule.act for rule in DEFAULT_RULES} == set(Act)
    assert [amount for amount, _text in shown] == list(rules)
    for amount, text in shown:
        rule = rules[amount]
        expected = f"declines with {rule.code}" if rule.act is Act.DECLINE else f"(`{rule.act}`)"
        assert expected in text
        assert rule.act not in (Act.DELAY, Act.LATE) or f"after {rule.seconds:g} seconds" in text


@asynccontextmanager
async def running(
    *rules: Rule, wrapping_key: bytes | None = None, secret: bytes | None = None
) -> AsyncIterator[tuple[SimulatedHost, Iso8583Wire, list[str]]]:
    lines: list[str] = []
    terms = HostTerms(address="127.0.0.1", port=0, rules=rules, wrapping_key=wrapping_key)
    host = SimulatedHost(terms, show=lines.append, keep=lambda _ledger: None, random_bytes=bytes)
    stopped = asyncio.Event()
    serving = asyncio.create_task(host.serve(stopped))
    while not lines:
        await asyncio.sleep(0.001)
    secrets = {network.KEY_SECRET: Secret(secret.hex())} if secret else {}
    wire = make_wire(int(lines[0].rpartition(":")[2]), replace(ACCOUNT, secrets=secrets))
    try:
        yield host, wire, lines
    finally:
        await wire.close()
        stopped.set()
        await serving


async def send(wire: Iso8583Wire, message: Message, timeout_s: float = SOON_S) -> Message:
    return codec.decode((await wire.send(WireRequest(path="", body=codec.encode(message), key="k"), timeout_s)).body)


@pytest.mark.anyio
async def test_a_payment_is_approved_and_shown_masked() -> None:
    async with running() as (host, wire, lines):
        answer = await send(wire, make_message("0200", "s", t74="123"))

    assert (answer.mti, answer.fields[39], len(answer.fields[38])) == ("0210", "00", 6)
    assert 2 not in answer.fields
    assert host.ledger.sum_up("s").earned == 9200
    assert any("420000******0000" in line for line in lines)
    assert "4200000000000000" not in "".join(lines)
    assert any("earned 9200" in line for line in host.list_sums())


@pytest.mark.anyio
@pytest.mark.parametrize("act_of_rule", [Act.DROP, Act.ACT_AND_DROP, Act.GARBAGE, Act.CLOSE, Act.LATE])
async def test_silence_has_many_forms(act_of_rule: Act) -> None:
    async with running(Rule(act=act_of_rule, seconds=SOON_S, times=1)) as (host, wire, _lines):
        with pytest.raises(Silent):
            await send(wire, make_message("0200", "s"), 0.3)
        has_acted = "s" in host.ledger.entries
        assert (await send(wire, make_message("0201", "s"))).fields[39] == "00"

    assert has_acted is (act_of_rule is not Act.DROP)
    assert host.ledger.sum_up("s").earned == 9200


@pytest.mark.anyio
@pytest.mark.parametrize("act_of_rule", [Act.DELAY, Act.DUPLICATE, Act.APPROVE])
async def test_an_answer_may_be_delayed_or_come_twice(act_of_rule: Act) -> None:
    async with running(Rule(act=act_of_rule, seconds=0.01)) as (host, wire, _lines):
        for key in ("s", "t"):
            assert (await send(wire, make_message("0200", key))).fields[39] == "00"

    assert host.ledger.sum_totals()["978"].earned == 18400


@pytest.mark.anyio
async def test_a_decline_has_the_code_of_its_rule_and_a_wrong_amount_is_another() -> None:
    rules = (Rule(act=Act.DECLINE, code="51", amount=1), Rule(act=Act.WRONG_AMOUNT, amount=2))
    async with running(*rules) as (_host, wire, _lines):
        assert (await send(wire, make_message("0200", "s", 1))).fields[39] == "51"
        assert int((await send(wire, make_message("0200", "t", 2))).fields[4]) == 3


@pytest.mark.anyio
async def test_messages_have_authentication_codes_under_the_working_key() -> None:
    async with running(wrapping_key=WRAPPING_KEY, secret=WRAPPING_KEY) as (host, wire, _lines):
        answer = await send(wire, make_message("0200", "s"))
        advice = make_message("0420", "s-reversal", 9200, "s", f90="0200" + "0" * 38)
        undone = await send(wire, advice)

    for each in (answer, undone):
        assert each.fields[39] == "00"
        assert not each.fields.keys().isdisjoint({64, 128})
    assert host.ledger.sum_totals() == {}


@pytest.mark.anyio
async def test_a_message_without_its_authentication_code_is_refused_and_does_nothing() -> None:
    async with running(wrapping_key=WRAPPING_KEY) as (host, wire, lines):
        assert (await send(wire, make_message("0200", "s"))).fields[39] == "63"

    assert host.ledger.entries == {}
    assert any("authentication code refused" in line for line in lines)


@pytest.mark.anyio
async def test_another_key_than_the_hosts_ends_the_sign_on(caplog: pytest.LogCaptureFixture) -> None:
    async with running(wrapping_key=WRAPPING_KEY, secret=bytes(16)) as (host, wire, _lines):
        with pytest.raises(Unsent, match="sign-on"):
            await send(wire, make_message("0200", "s"))

    assert host.ledger.entries == {}
    assert "acquirer gave no working key" in caplog.text


@pytest.mark.anyio
async def test_bytes_that_are_no_message_close_the_connection_and_are_named() -> None:
    async with running() as (_host, wire, lines):
        await send(wire, make_message("0200", "s"))
        reader, writer = await asyncio.open_connection("127.0.0.1", int(lines[0].rpartition(":")[2]))
        writer.write(b"\x00\x05hello")
        assert await reader.read() == b""
        writer.close()
        await send(wire, make_message("0200", "t"))

    assert any("UNREADABLE" in line for line in lines)
