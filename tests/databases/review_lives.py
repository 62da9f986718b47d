"""A store in which reviews were opened, decided and closed. The rows are made by the flows themselves."""

from __future__ import annotations

from databases.lives import Lives, open_lives
from tollgate.flows.reviews import decide
from tollgate.payments.reviews import Decision
from tollgate.store.database import Database
from unit.app_fixture import MERCHANT
from unit.flows.reviewing import LARGE, review_large_amounts

FORCED = b'{"status":"approved","response_code":"00","message":"Fine","result_code":"000.400.000"}'


async def live_through_reviews(db: Database) -> Lives:
    lives = await open_lives(db)
    await lives.pay("plain")
    lives.wire.script = [FORCED]
    await lives.pay("forced", simulator_overrides={"forceResultCode": "000.400.000"})
    await review_large_amounts(lives.app)
    await lives.pay("open", money=LARGE)
    await lives.pay("accepted", money=LARGE)
    await decide_one(lives, "accepted", Decision.ACCEPT)
    await lives.pay("captured", payment_type="PA", money=LARGE)
    await decide_one(lives, "captured", Decision.ACCEPT)
    await lives.follow("capture", "CP", "captured", 1000)
    await lives.pay("rejected", money=LARGE)
    await decide_one(lives, "rejected", Decision.REJECT)
    await lives.run_recovery_tasks()
    await lives.pay("closed", money=LARGE)
    await lives.follow("refund", "RF", "closed", 1000)
    await lives.follow("refund later", "RF", "closed", 2000)
    await lives.pay("charged back", money=LARGE)
    await lives.record("chargeback", "CB", "charged back", 1000)
    await lives.pay("owed", payment_type="PA", money=LARGE)
    await decide_one(lives, "owed", Decision.REJECT)
    return lives


async def decide_one(lives: Lives, name: str, decision: Decision) -> None:
    lives.clock.at += 1
    await decide(lives.app, MERCHANT.id, lives.ids[name], decision, "jo", "the shopper called")
