"""Which wire a request takes and which code its success has."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tollgate.payments import TestMode
from tollgate.steps import choose_route
from tollgate.values import Refusal
from unit.premises import CHANNEL, ScriptedWire, open_house

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("is_live", "mode", "code"),
    [
        (False, TestMode.INTERNAL, "000.100.110"),
        (False, TestMode.EXTERNAL, "000.100.112"),
        (True, None, "000.000.000"),
    ],
)
async def test_success_has_the_code_of_its_mode(
    tmp_path: Path, is_live: bool, mode: TestMode | None, code: str
) -> None:
    wire = ScriptedWire()
    house = await open_house(tmp_path, wire, is_live=is_live)
    channel = replace(CHANNEL, test_url="http://test.example", live_url="http://live.example")

    route = choose_route(house, channel, mode, "VISA")

    assert (route.wire, route.approved_code) == (wire, code)
    await house.database.close()


@pytest.mark.parametrize(("is_live", "mode"), [(False, TestMode.EXTERNAL), (True, None)])
async def test_a_channel_without_an_address_is_not_set_up(tmp_path: Path, is_live: bool, mode: TestMode | None) -> None:
    house = await open_house(tmp_path, ScriptedWire(), is_live=is_live)

    with pytest.raises(Refusal) as refused:
        choose_route(house, CHANNEL, mode, "VISA")

    assert refused.value.result.code == "600.200.700"
    await house.database.close()


@pytest.mark.parametrize(("is_live", "mode"), [(False, None), (True, TestMode.INTERNAL), (True, TestMode.EXTERNAL)])
async def test_no_payment_is_followed_in_the_other_environment(
    tmp_path: Path, is_live: bool, mode: TestMode | None
) -> None:
    house = await open_house(tmp_path, ScriptedWire(), is_live=is_live)
    channel = replace(CHANNEL, test_url="http://test.example", live_url="http://live.example")

    with pytest.raises(Refusal) as refused:
        choose_route(house, channel, mode, "VISA")

    assert refused.value.result.code == "600.200.700"
    await house.database.close()
