"""Writes the search index and the tallies behind the payments, by walking their events.

No payment waits for it: whoever searches or counts adds what is not indexed yet.
"""

from collections.abc import Iterable, Mapping

from tollgate.catalog.limits import LIMITS
from tollgate.contract.searching import list_terms
from tollgate.operations.app import App
from tollgate.operations.signing import is_trusted
from tollgate.payments.payment import Payment, State
from tollgate.store import search_index
from tollgate.store.events import Event, list_events
from tollgate.store.payments import make_event, recall_before_review
from tollgate.store.search_index import HourTally, Term
from tollgate.values import HOUR, MerchantId, make_timed_id

_COMPLETED = frozenset({State.APPROVED, State.DECLINED})


async def index_payments(app: App, merchant_id: MerchantId) -> int:
    """Indexes the next events of a merchant in one commit, and returns how many there were.

    The commit moves the cursor from where it was read, so of two processes at the same events one writes nothing. If
    payments were erased or removed since they were read, nothing is written either, and the next call goes on.
    """
    cursor = await search_index.get_cursor(app.database, merchant_id)
    horizon = make_timed_id(app.clock.now() - LIMITS.index_delay, "")
    events = await list_events(app.database, merchant_id, cursor, horizon, LIMITS.index_batch)
    if not events:
        return 0
    removals = await search_index.get_removals(app.database, merchant_id)
    if not cursor or not removals:
        await search_index.begin_cursor(app.database, merchant_id)
    ids = search_index.list_payment_ids(events)
    payments = await search_index.load_payments(app.database, merchant_id, ids)
    terms = sorted(term for payment in payments.values() if payment is not None for term in make_terms(payment))
    writes = [
        *search_index.move_cursor_writes(merchant_id, cursor, events[-1].id, removals or "0"),
        *search_index.insert_terms_writes(terms),
        *search_index.add_tallies_writes(merchant_id, _tally(app, events, payments)),
    ]
    await app.database.write(writes, label="payments indexed")
    return len(events)


def make_terms(payment: Payment) -> list[Term]:
    return [Term(payment.merchant_id, text, payment.created_at, payment.id) for text in list_terms(payment)]


def _tally(app: App, events: Iterable[Event], payments: Mapping[str, Payment | None]) -> list[HourTally]:
    """Counts each payment by the event that completed it, and by no earlier one; a tampered payment is not counted.

    The event of a review moves its payment from one result to another.
    """
    sums: dict[tuple[int, str, str, str, str, str], list[int]] = {}
    for event in events:
        payment = payments.get(event.subject_id)
        if payment is None or payment.completed_at is None or payment.state not in _COMPLETED:
            continue
        completed = recall_before_review(payment)
        if event.id == make_event(completed).id:
            signs = {completed.result_code: 1}
        elif event.id == make_event(payment).id:
            signs = {completed.result_code: -1, payment.result_code: 1}
        else:
            continue
        if not is_trusted(app, payment):
            continue
        for code, sign in signs.items():
            key = (
                payment.completed_at // HOUR,
                payment.channel_id,
                payment.payment_type,
                payment.brand,
                code,
                payment.money.currency,
            )
            counted = sums.setdefault(key, [0, 0])
            counted[0] += sign
            counted[1] += sign * payment.money.hundredths
    return [
        HourTally(
            hour=hour,
            channel_id=channel_id,
            payment_type=payment_type,
            brand=brand,
            result_code=result_code,
            currency=currency,
            payments=count,
            amount=amount,
        )
        for (hour, channel_id, payment_type, brand, result_code, currency), (count, amount) in sorted(sums.items())
    ]
