"""Whole lives of payments on the real store: any requests in any order, with any answer, delay or death in between.

After every step the tables must agree with plain words and with the acquirer's own ledger.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from property.moody_wire import DEADLY, Mood
from property.plain_words import CAN_DO, LEADS_NOWHERE, Deed, Fate, Wanted
from property.world import World, begin_world, furnish
from tollgate.store.database import Database
from tollgate.store.opening import open_database
from tollgate.values import DAY, HOUR, SECOND, Money

# What is drawn never depends on what happened, because two requests at once may end in either order.
kinds = st.sampled_from(("PA", "PA", "DB", "PA.CP", "CD"))
merchant_kinds = st.sampled_from(("CP", "RF", "PA", "RB", "RV", "CP", "RF", "PA", "RB", "RV", "CP", "RF", "CB"))
system_kinds = st.sampled_from(("RC", "CB", "CR"))
practices = st.sampled_from(("INCREMENTAL_AUTH", "INCREMENTAL_AUTH", "REAUTHORIZATION"))
handy = st.integers(1, 200).map(lambda euros: euros * 100)
amounts = handy | st.sampled_from((9200, 100, 2, 10**12, 5, 0)) | st.integers(1, 20_000)
bounds = st.sampled_from(
    ("half", "rest", "whole", "half", "rest", "1", "rest-1", "rest+1", "half", "rest", "unsaid", "half", "nothing")
)
tight_bounds = st.sampled_from(("rest", "whole", "half", "rest", "rest-1", "unsaid", "1", "rest+1"))
"""Two of these do not fit beside each other."""
currencies = st.sampled_from(("EUR",) * 9 + ("USD",))
_CALM = [mood for mood in Mood if mood not in (*DEADLY, Mood.OVERTAKEN)]
moods = st.sampled_from([Mood.WILLING] * len(Mood) + list(Mood))
calm_moods = st.sampled_from([Mood.WILLING] * len(_CALM) + _CALM)
deaths = st.sampled_from((None,) * 14 + (0, 1))
"""A process dies after so many writes; None lets it survive."""
keys = st.sampled_from((None,) * 6 + ("key-1", "key-2"))
sellers = st.sampled_from(((), (), (1, 1, 1), (7, 2, 1)))
places = st.integers(0, 127)
pauses = st.sampled_from((SECOND, 11 * SECOND, 11 * SECOND, HOUR, HOUR, 11 * SECOND, 12 * HOUR, DAY, 7 * DAY))
HAPPENINGS = ("recover", "recovery tasks", "late messages")


class Lives(RuleBasedStateMachine):
    database: Database
    runner: asyncio.Runner

    def __init__(self) -> None:
        super().__init__()
        self.is_over = False
        self.world: World = self.run_async(begin_world(self.database))
        self.clicks = 0

    def run_async(self, story: Coroutine[Any, Any, Any]) -> Any:
        try:
            return self.runner.run(story)
        except BaseException:
            self.is_over = True
            raise

    def find(self, place: int, payment_type: str) -> Deed:
        """Seven times of eight one that the request could follow, if there is any; the newest come first."""
        memory = self.world.past.memory
        deeds = list(memory.deeds.values())
        fitting = [
            deed
            for deed in deeds
            if deed.fate is Fate.DONE and (payment_type, deed.payment_type) in CAN_DO and deed.does not in LEADS_NOWHERE
            if memory.left(deed) > 0
        ]
        choice = fitting if fitting and place % 8 < 7 else deeds
        return choice[-1 - (place // 8) % len(choice)]

    def size(self, bound: str, named: Deed, *, may_be_unsaid: bool) -> int | None:
        left = self.world.past.memory.left(named)
        if bound == "unsaid" and may_be_unsaid:
            return None
        sizes = {
            "nothing": 0,
            "1": 1,
            "rest-1": left - 1,
            "rest+1": left + 1,
            "half": (left + 1) // 2,
            "whole": named.amount,
        }
        return max(0, sizes.get(bound, left))

    def want(self, payment_type: str, named: Deed, bound: str, currency: str, is_final: bool, practice: str) -> Wanted:
        amount = self.size(bound, named, may_be_unsaid=payment_type == "RV")
        other = currency if currency == "USD" or amount is not None else None
        return Wanted(payment_type, amount, other, is_final, practice if payment_type == "PA" else None)

    @initialize(held=handy, taken=handy)
    def begin(self, held: int, taken: int) -> None:
        self.run_async(self.world.start("DB", Money(taken, "EUR"), None, Mood.WILLING, None, None))
        self.run_async(self.world.start("PA", Money(held, "EUR"), None, Mood.WILLING, None, None, (5, 3, 1)))

    @rule(
        payment_type=kinds,
        amount=amounts,
        currency=currencies,
        captures=st.sampled_from((None, 1, 2)),
        mood=moods,
        death=deaths,
        key=keys,
        weights=sellers,
    )
    def start(
        self,
        payment_type: str,
        amount: int,
        currency: str,
        captures: int | None,
        mood: Mood,
        death: int | None,
        key: str,
        weights: tuple[int, ...],
    ) -> None:
        self.run_async(self.world.start(payment_type, Money(amount, currency), captures, mood, death, key, weights))

    @rule(
        place=places,
        payment_type=merchant_kinds,
        bound=bounds,
        currency=currencies,
        is_final=st.booleans(),
        practice=practices,
        mood=moods,
        death=deaths,
        key=keys,
    )
    def follow(
        self,
        place: int,
        payment_type: str,
        bound: str,
        currency: str,
        is_final: bool,
        practice: str,
        mood: Mood,
        death: int | None,
        key: str,
    ) -> None:
        named = self.find(place, payment_type)
        wanted = self.want(payment_type, named, bound, currency, is_final, practice)
        self.run_async(self.world.follow(wanted, named, mood, death, key))

    @rule(place=places, payment_type=system_kinds, bound=bounds, death=deaths)
    def record(self, place: int, payment_type: str, bound: str, death: int | None) -> None:
        named = self.find(place, payment_type)
        self.run_async(self.world.follow(self.want_fact(payment_type, named, bound), named, Mood.WILLING, death))

    def want_fact(self, payment_type: str, named: Deed, bound: str) -> Wanted:
        return Wanted(payment_type, self.size(bound, named, may_be_unsaid=True), by_merchant=False)

    @rule(
        place=places,
        payment_type=merchant_kinds,
        bound=bounds,
        is_final=st.booleans(),
        practice=practices,
        mood=calm_moods,
    )
    def click_twice(self, place: int, payment_type: str, bound: str, is_final: bool, practice: str, mood: Mood) -> None:
        named = self.find(place, payment_type)
        self.clicks += 1
        wanted = self.want(payment_type, named, bound, "EUR", is_final, practice)
        self.run_async(self.world.click_twice(wanted, named, mood, f"click-{self.clicks}"))

    @rule(
        place=places,
        kinds=st.tuples(merchant_kinds, merchant_kinds | system_kinds),
        bounds=st.tuples(tight_bounds, tight_bounds),
        finals=st.tuples(st.booleans(), st.booleans()),
        practice=practices,
        moods=st.tuples(calm_moods, calm_moods),
        differ=st.booleans(),
    )
    def follow_both(
        self,
        place: int,
        kinds: tuple[str, str],
        bounds: tuple[str, str],
        finals: tuple[bool, bool],
        practice: str,
        moods: tuple[Mood, Mood],
        differ: bool,
    ) -> None:
        first, second = kinds if differ else (kinds[0], kinds[0])
        named = self.find(place, first)
        one = self.want(first, named, bounds[0], "EUR", finals[0], practice)
        if second in ("RC", "CB", "CR"):
            other = self.want_fact(second, named, bounds[1])
        else:
            other = self.want(second, named, bounds[1], "EUR", finals[1], practice)
        self.run_async(self.world.follow_both((one, named, moods[0]), (other, named, moods[1])))

    @rule(pause=pauses, happenings=st.sets(st.sampled_from(HAPPENINGS)), mood=moods, death=deaths)
    def time_passes(self, pause: int, happenings: set[str], mood: Mood, death: int | None) -> None:
        self.world.clock.at += pause
        for name in HAPPENINGS:
            if name in happenings:
                self.happen(name, mood, death)

    def happen(self, name: str, mood: Mood, death: int | None) -> None:
        if name == "late messages":
            self.world.wire.deliver_belated()
        else:
            self.run_async(self.world.work(name, mood, death))

    @invariant()
    def everything_agrees(self) -> None:
        self.run_async(self.world.check())

    def teardown(self) -> None:
        """A life that failed has no end to judge, and judging it would hide how it failed."""
        try:
            if not self.is_over:
                self.run_async(self.world.finish())
        finally:
            self.world.end()


LIVES_MAX = 1_500
"""A life takes a third of a second, so even a long proof has no more of them."""


def choose_settings() -> settings:
    return settings(max_examples=min(settings().max_examples * 6 // 5, LIVES_MAX), stateful_step_count=30)


# The time-out of the suite guards it in `make test`; a proof takes longer than the limit of a single test.
@pytest.mark.timeout(3600)
def test_whatever_happens_to_payments_no_hundredth_is_lost_or_made(url: str) -> None:
    with asyncio.Runner() as runner:
        database = runner.run(open_database(url))
        try:
            runner.run(furnish(database))
            lives = type("LivesOnOneStore", (Lives,), {"database": database, "runner": runner})
            run_state_machine_as_test(lives, settings=choose_settings())
        finally:
            runner.run(database.close())
