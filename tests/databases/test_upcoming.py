"""The next due things are listed in order, for one merchant, and not once they are over."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from databases.samples import CHANNEL, MERCHANT, NOON, make_completion, make_payment
from tollgate.payments.ledger import BalanceChange
from tollgate.payments.payment import RecoveryTask, State
from tollgate.store import upcoming
from tollgate.store.balances import balance_change_writes
from tollgate.store.database import Database
from tollgate.store.jobs import Job, insert_job_writes
from tollgate.store.payments import complete_payment, start_payment
from tollgate.values import DAY, HOUR, MerchantId

pytestmark = pytest.mark.anyio

JOB = Job(id="1", merchant_id=MERCHANT, topic=RecoveryTask.INQUIRE, subject_id="a payment", due_at=NOON + HOUR)


async def test_jobs_are_listed_by_their_time_for_one_merchant(db: Database) -> None:
    for job in (
        JOB,
        replace(JOB, id="2", due_at=NOON, topic=RecoveryTask.REVERSE),
        replace(JOB, id="3", due_at=NOON + DAY),
        replace(JOB, merchant_id=MerchantId("another")),
    ):
        assert await db.write(insert_job_writes(job), label="job")

    found = await upcoming.list_upcoming(db, MERCHANT, NOON, 2)

    assert found == [
        upcoming.Upcoming(NOON, RecoveryTask.REVERSE, "a payment"),
        upcoming.Upcoming(NOON + HOUR, RecoveryTask.INQUIRE, "a payment"),
    ]


async def test_an_authorization_is_listed_while_something_of_it_is_left(db: Database) -> None:
    held, spent, declined = (make_payment(payment_type="PA") for _ in range(3))
    for payment in (held, spent, declined, make_payment(payment_type="PA"), taken := make_payment()):
        assert await start_payment(db, payment, None, None)
    for payment in (held, spent, taken):
        assert await complete_payment(db, make_completion(payment), None)
    assert await complete_payment(db, make_completion(declined, state=State.DECLINED), None)
    drawn = BalanceChange(payment_id=spent.id, drawn=spent.money.hundredths)
    assert await db.write(balance_change_writes(MERCHANT, drawn), label="drawn")

    found = await upcoming.list_authorizations(db, MERCHANT, CHANNEL, NOON + HOUR, 7 * DAY, 10)
    late = await upcoming.list_authorizations(db, MERCHANT, CHANNEL, NOON + 8 * DAY, 7 * DAY, 10)

    assert found == [upcoming.Upcoming(held.created_at + 7 * DAY, upcoming.AUTHORIZATION, held.id)]
    assert late == []
