"""An event about a payment that is not decided yet is delivered again, because a refusal would lose the dispute."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tollgate.contract.record_lines import RecordLine
from tollgate.flows.acquirer_events import take_dispute
from tollgate.operations.app import App
from tollgate.payments.chain import PENDING_STATES
from tollgate.payments.payment import State
from tollgate.values import Conflict
from unit.app_fixture import CHANNEL
from unit.flows.chains import begin, read_chain

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("state", sorted(PENDING_STATES))
async def test_a_dispute_that_is_reported_before_the_payment_is_decided_is_reported_again(
    app: App, state: State
) -> None:
    debit = await begin(app)
    line = RecordLine(number=0, payment_type="CB", amount=100, currency="EUR", result_code="", reference="dp_1")

    with pytest.raises(Conflict):
        await take_dispute(app, CHANNEL, replace(debit, state=state), line, "ndc")

    assert await read_chain(app, debit) == [debit]
