"""Card testing is stopped: payments wait, then are refused, and nobody holds more than a bounded number of slots."""

from __future__ import annotations

import asyncio
import logging
from itertools import count

import msgspec
import pytest

from tollgate.catalog.card_testing import CHANGES_MAX, CHANGES_PER_ROW, COUNTERS, SERVERS_MAX, WAITING_PER_KEY_MAX
from tollgate.contract.answers import Answer
from tollgate.operations.card_testing import CardTesting, Payer, find_network, make_payer
from tollgate.payments.accounts import CardSummary
from tollgate.payments.order import Details, Order, StandingInstruction
from tollgate.values import HOUR, FixedClock, TooMany
from tollgate.vault.keyring import make_keyring
from unit.app_fixture import NOW, ORDER

pytestmark = pytest.mark.anyio

KEYRING = make_keyring()
DECLINED, APPROVED = "800.100.152", "000.000.000"
IP, FORM, BIN = COUNTERS["i"], COUNTERS["f"], COUNTERS["b"]
_numbers = count()


class Case:
    """A guard whose waits are noted and take no time."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.clock = FixedClock(NOW)
        self.guard = CardTesting(KEYRING, self.clock, pause=self._pause)

    async def _pause(self, seconds: float) -> None:
        self.waits.append(seconds)

    async def pay(self, payer: Payer, code: str = DECLINED) -> str:
        """Returns the objection that the payment got, or "" if it was sent."""
        objections: list[str] = []

        async def run(order: Order) -> Answer:
            objections.append(order.objection or "")
            return Answer(200, b"", order.objection or code)

        await self.guard.guard(ORDER, payer, run)
        return objections[0]


def make_shopper(ip: str | None = "203.0.113.9", bin_digits: str = "", form_address: str = "") -> Payer:
    """A shopper whose card has a BIN of its own, unless one is named."""
    number = next(_numbers)
    summary = CardSummary(
        bin=bin_digits or f"{400_000 + number % 99_999}",
        last_digits=f"{number % 10_000:04}",
        expiry_month="05",
        expiry_year=str(2030 + number // 10_000),
    )
    return Payer(merchant_id="8a", ndc="trace", ip=ip, form_address=form_address, card=summary)


async def test_an_address_with_many_declines_is_slowed_down_and_then_refused() -> None:
    case = Case()
    answers = [await case.pay(make_shopper()) for _ in range(IP.refuse_from + 1)]

    assert answers == [""] * IP.refuse_from + ["800.120.102"]
    assert len(case.waits) == IP.refuse_from - IP.slow_from
    assert await case.pay(make_shopper("203.0.113.10")) == ""


async def test_a_block_ends_by_itself() -> None:
    case = Case()
    for _ in range(IP.refuse_from):
        await case.pay(make_shopper())
    assert await case.pay(make_shopper()) == "800.120.102"

    case.clock.at += HOUR

    assert await case.pay(make_shopper()) == ""


async def test_whoever_changes_customer_ip_hits_the_counter_of_the_form() -> None:
    case = Case()
    answers = [
        await case.pay(make_shopper(f"198.51.100.{number}", form_address="203.0.113.9"))
        for number in range(FORM.refuse_from + 1)
    ]

    assert answers[-2:] == ["", "800.120.102"]


async def test_whoever_changes_the_address_hits_the_counter_of_the_bin() -> None:
    case = Case()
    answers = [
        await case.pay(make_shopper(f"198.51.{number // 250}.{number % 250}", bin_digits="411111"))
        for number in range(BIN.refuse_from + 1)
    ]

    assert answers[-2:] == ["", "800.300.401"]


async def test_ipv6_addresses_are_counted_by_their_network() -> None:
    case = Case()
    for number in range(IP.refuse_from):
        await case.pay(make_shopper(f"2001:db8::{number + 1:x}"))

    assert await case.pay(make_shopper("2001:db8::ffff:1")) == "800.120.102"
    assert await case.pay(make_shopper("2001:db8:0:1::1")) == ""


@pytest.mark.parametrize("same", ["203.0.113.9", "::ffff:203.0.113.9", "::ffff:cb00:7109"])
def test_an_ipv4_address_is_the_same_in_every_spelling(same: str) -> None:
    assert find_network(same) == find_network("203.0.113.9") is not None


@pytest.mark.parametrize(
    "text", ["10.1.2.3", "100.64.0.1", "127.0.0.1", "192.168.0.1", "::1", "fd00::1", "fe80::1%eth0", "", "\x00"]
)
async def test_private_addresses_and_nonsense_count_nobody(text: str) -> None:
    case = Case()
    answers = [await case.pay(make_shopper(text, form_address=text)) for _ in range(IP.refuse_from + 5)]

    assert set(answers) == {""}


async def test_the_merchants_own_server_never_counts() -> None:
    case = Case()
    case.guard.note_server("8a", "203.0.113.9")
    answers = [await case.pay(make_shopper(form_address="203.0.113.9")) for _ in range(IP.refuse_from + 5)]

    assert set(answers) == {""}
    case.guard.note_server("8b", "203.0.113.10")
    others = [await case.pay(make_shopper("203.0.113.10")) for _ in range(IP.refuse_from + 1)]
    assert others[-1] == "800.120.102"


async def test_good_shoppers_behind_the_same_address_keep_it_open() -> None:
    case = Case()
    for _ in range(10 * IP.refuse_from):
        assert await case.pay(make_shopper()) == ""
        assert await case.pay(make_shopper(), APPROVED) == ""

    assert case.waits == []


async def test_one_good_card_does_not_hide_tests_of_others() -> None:
    case = Case()
    good = make_shopper()
    answers = []
    for _ in range(IP.refuse_from + 1):
        answers.append(await case.pay(make_shopper()))
        await case.pay(good, APPROVED)

    assert "800.120.102" in [*answers, await case.pay(make_shopper()), await case.pay(make_shopper())]


@pytest.mark.parametrize(
    "code", ["600.200.100", "800.100.190", "800.100.156", "100.390.111", "100.390.112", "100.390.116", "900.100.100"]
)
async def test_a_channel_that_is_set_up_wrongly_and_an_outage_block_nobody(code: str) -> None:
    case = Case()
    answers = [await case.pay(make_shopper(), code) for _ in range(IP.refuse_from + 5)]

    assert set(answers) == {""}


async def test_a_replayed_answer_counts_nothing() -> None:
    case = Case()
    for _ in range(IP.refuse_from + 5):
        await case.pay(make_shopper(), "")

    assert len(case.guard.levels) == 0


def test_charges_of_the_merchant_itself_and_payouts_are_not_guarded() -> None:
    agreed = Details(standing_instruction=StandingInstruction(mode="REPEATED", source="MIT"))

    assert make_payer(ORDER, "8a", "trace", "") is not None
    assert make_payer(msgspec.structs.replace(ORDER, details=agreed), "8a", "trace", "") is None
    assert make_payer(msgspec.structs.replace(ORDER, payment_type="CD"), "8a", "trace", "") is None


async def test_no_more_than_some_wait_for_one_address_and_the_rest_is_sent_away() -> None:
    release = asyncio.Event()

    async def pause(_seconds: float) -> None:
        await release.wait()

    guard = CardTesting(KEYRING, FixedClock(NOW), pause=pause)

    async def run(_order: Order) -> Answer:
        return Answer(200, b"", DECLINED)

    for _ in range(IP.slow_from):
        await guard.guard(ORDER, make_shopper(), run)
    waiting = [asyncio.create_task(guard.guard(ORDER, make_shopper(), run)) for _ in range(WAITING_PER_KEY_MAX)]
    await asyncio.sleep(0)
    with pytest.raises(TooMany) as refused:
        await guard.guard(ORDER, make_shopper(), run)
    assert refused.value.retry_after_s >= 1
    assert guard.actions == {("ip", "slowed down"): WAITING_PER_KEY_MAX, ("ip", "sent away"): 1}

    waiting[0].cancel()
    release.set()
    done = await asyncio.gather(*waiting, return_exceptions=True)
    assert isinstance(done[0], asyncio.CancelledError)
    assert {answer.code for answer in done[1:] if isinstance(answer, Answer)} == {DECLINED}
    await guard.guard(ORDER, make_shopper(), run)


async def test_a_burst_is_stopped_before_its_first_result_is_known() -> None:
    release = asyncio.Event()
    sent = []

    async def pause(_seconds: float) -> None:
        await release.wait()

    async def run(_order: Order) -> Answer:
        sent.append(1)
        await release.wait()
        return Answer(200, b"", DECLINED)

    guard = CardTesting(KEYRING, FixedClock(NOW), pause=pause)
    burst = [asyncio.create_task(guard.guard(ORDER, make_shopper(), run)) for _ in range(1000)]
    await asyncio.sleep(0)
    assert len(sent) < IP.undecided_max + IP.slow_from
    release.set()
    done = await asyncio.gather(*burst, return_exceptions=True)

    assert sum(isinstance(answer, TooMany) for answer in done) > 900


async def test_a_payment_that_waited_while_others_were_declined_is_refused_after_all() -> None:
    case = Case()
    for _ in range(IP.slow_from):
        await case.pay(make_shopper())

    async def pause(_seconds: float) -> None:
        for _ in range(IP.refuse_from):
            case.guard.note_result(make_shopper(), DECLINED)

    late = CardTesting(KEYRING, case.clock, pause=pause)
    late.levels = case.guard.levels
    case.guard = late

    assert await case.pay(make_shopper()) == "800.120.102"


async def test_what_one_process_counted_another_adds_and_nothing_shows_an_address() -> None:
    first, second = Case(), Case()
    for _ in range(IP.refuse_from):
        await first.pay(make_shopper())
    first.guard.note_server("8a", "198.51.100.1")
    changes = first.guard.take_changes()
    assert first.guard.take_changes() == {}
    assert not [key for key in changes if "203.0.113" in key or "cb007109" in key]

    second.guard.merge({**changes, "?unknown": 1, "": 1}, NOW)

    assert await second.pay(make_shopper()) == "800.120.102"
    answers = [await second.pay(make_shopper("198.51.100.1")) for _ in range(IP.refuse_from + 1)]
    assert set(answers) == {""}


async def test_the_memory_for_changes_and_servers_is_bounded() -> None:
    case = Case()
    for number in range(CHANGES_MAX + SERVERS_MAX):
        case.guard.note_server("8a", f"11.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    taken = 0
    while changes := case.guard.take_changes():
        assert len(changes) <= CHANGES_PER_ROW
        taken += len(changes)

    assert taken == CHANGES_MAX


async def test_an_operator_is_told_when_a_counter_begins_to_refuse(caplog: pytest.LogCaptureFixture) -> None:
    case = Case()
    with caplog.at_level(logging.WARNING, "tollgate.card_testing"):
        for _ in range(IP.refuse_from + 5):
            await case.pay(make_shopper())

    assert [record.message for record in caplog.records] == ["card testing slowed down", "card testing refused"]
    assert "203.0.113" not in caplog.text
