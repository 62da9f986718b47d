"""Whole lives of checkouts: windows, providers, challenges, changes, deaths and time in any order pay each once."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from property.checkout_world import (
    A_WHILE,
    CHECKOUTS,
    ENROLLED_CARD,
    LIFETIME,
    PLAIN_CARD,
    CheckoutWorld,
    Story,
    open_checkout_world,
)
from property.moody_wire import Mood
from tollgate.store.database import Database
from tollgate.store.merchants import insert_channel, insert_merchant
from tollgate.store.opening import open_database
from unit.app_fixture import CHANNEL, MERCHANT

PAYPAL = {"paymentBrand": "PAYPAL"}

Deed = tuple[str, int, Mood]
Write = tuple[Deed, Deed | None]

PAYING = ("provider", "enrolled", "card", "pass", "approve", "back")
DEEDS = (*PAYING, *PAYING, "decline", "change", "ask", "work")
moods = st.sampled_from([Mood.WILLING] * 6 + [Mood.OVERTAKEN] * 4 + list(Mood))
deeds = st.tuples(st.sampled_from(DEEDS), st.integers(0, 3), moods)
steps = st.tuples(deeds, st.none() | deeds)
pauses = st.sampled_from((0,) * 30 + (A_WHILE, A_WHILE, LIFETIME))


def tell(world: CheckoutWorld, deed: Deed) -> Story:
    name, place, _ = deed
    checkout = place % CHECKOUTS
    stories: dict[str, Story] = {
        "card": partial(world.press_pay, checkout, PLAIN_CARD),
        "enrolled": partial(world.press_pay, checkout, ENROLLED_CARD),
        "provider": partial(world.press_pay, checkout, PAYPAL),
        "pass": partial(world.pass_challenge, place),
        "approve": partial(world.decide, place, "approved"),
        "decline": partial(world.decide, place, "declined"),
        "back": partial(world.come_back, place),
        "change": partial(world.change, checkout, f"{place + 1}.00"),
        "ask": partial(world.ask, checkout),
        "work": world.work,
    }
    return stories[name]


async def live(database: Database, life: list[tuple[Write, int]]) -> None:
    world = await open_checkout_world(database)
    for (one, other), pause in life:
        both = [deed for deed in (one, other) if deed is not None]
        await asyncio.gather(*[world.attempt(tell(world, deed), deed[2]) for deed in both])
        await world.check()
        world.clock.at += pause
    await world.finish()


@pytest.mark.timeout(3600)
def test_whatever_happens_a_checkout_is_paid_once_or_not_at_all(url: str) -> None:
    with asyncio.Runner() as runner:
        database = runner.run(open_database(url))
        willing = Mood.WILLING

        @settings(max_examples=min(settings().max_examples, 1000))
        @given(life=st.lists(st.tuples(steps, pauses), min_size=8, max_size=20))
        @example(
            life=[
                ((("provider", 0, willing), None), 0),
                ((("card", 0, Mood.OVERTAKEN), None), 0),
            ]
        )
        @example(
            life=[
                ((("enrolled", 0, willing), ("enrolled", 0, willing)), 0),
                ((("enrolled", 0, willing), None), 0),
                ((("enrolled", 0, willing), None), 0),
                ((("pass", 0, willing), ("pass", 1, willing)), 0),
            ]
        )
        @example(
            life=[
                ((("provider", 0, willing), None), 0),
                ((("provider", 0, willing), None), 0),
                ((("approve", 0, willing), ("approve", 0, willing)), 0),
                ((("back", 0, willing), ("back", 1, willing)), 0),
            ]
        )
        def check(life: list[tuple[Write, int]]) -> None:
            runner.run(live(database, life))

        try:
            runner.run(insert_merchant(database, MERCHANT))
            runner.run(insert_channel(database, CHANNEL))
            check()
        finally:
            runner.run(database.close())
