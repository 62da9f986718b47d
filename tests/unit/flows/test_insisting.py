"""A channel that insists on authentication: what it takes for a proof, and whom it lets pass without one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.operations.app import App
from tollgate.payments.merchants import ThreeDsTerms
from unit.app_fixture import CHANNEL, ScriptedWire
from unit.flows.shopping import PROOF, Bank, go_shopping, make_order, open_bank

pytestmark = pytest.mark.anyio


@pytest.fixture
def both(app: App, wire: ScriptedWire) -> tuple[App, Bank]:
    return open_bank(app, wire)


@pytest.mark.parametrize(
    "changes",
    [{"threeDSecure.eci": "07"}, {"threeDSecure.eci": "05"}, {"card.numberType": "DPAN"}],
    ids=str,
)
async def test_a_channel_that_insists_wants_a_proof_and_not_a_word(
    both: tuple[App, Bank], wire: ScriptedWire, changes: dict[str, str | None]
) -> None:
    app, bank = both
    insisting = replace(CHANNEL, three_ds=ThreeDsTerms(is_required=True))

    refused = await go_shopping(app, bank, order=make_order(changes), channel=insisting)
    assert (refused.code, wire.sent) == ("300.100.100", [])

    proven = make_order({**changes, "threeDSecure.verificationId": PROOF})
    assert (await go_shopping(app, bank, order=proven, channel=insisting)).code == "000.100.110"


async def test_a_channel_that_insists_lets_pass_what_no_shopper_is_there_for(
    both: tuple[App, Bank], wire: ScriptedWire
) -> None:
    app, bank = both
    insisting = replace(CHANNEL, three_ds=ThreeDsTerms(is_required=True))
    agreed = {
        "standingInstruction.source": "MIT",
        "standingInstruction.mode": "REPEATED",
        "standingInstruction.initialTransactionId": "MCC123",
    }

    for changes in (agreed, {"paymentType": "CD"}):
        assert (await go_shopping(app, bank, order=make_order(changes), channel=insisting)).code == "000.100.110"

    assert len(wire.sent) == 2
