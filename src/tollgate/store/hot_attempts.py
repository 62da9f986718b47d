"""The end of an attempt to deliver an event as a frequent write: its record, and what it means for the delivery.

When a delivery is tried again is decided in `payments`.
"""

import sqlalchemy as sa

from tollgate.store import hot
from tollgate.store.schema import deliveries, delivery_attempts
from tollgate.store.statements import Statement

DELIVERY_KEY = ("merchant_id", "webhook_id", "subject_id", "event_id")
DELIVERY_MEMBERS = (*DELIVERY_KEY, "lease_owner", "state", "due_at", "tries", "status")
ATTEMPT_MEMBERS = ("attempted_at", "latency_ms", "request_headers", "answer", "failure", "is_replay")
"""The columns of both that are members of them; between them stands the id of the attempt."""
_attempt_columns = hot.type_columns(
    {name: deliveries.c[name] for name in DELIVERY_MEMBERS}
    | {"attempt_id": delivery_attempts.c.id}
    | {name: delivery_attempts.c[name] for name in ATTEMPT_MEMBERS}
)
_attempt_values = hot.make_values("merchant_id", "webhook_id", "event_id", "status", *ATTEMPT_MEMBERS, id="attempt_id")
_end_delivery = (
    "UPDATE deliveries SET state = :state, due_at = :due_at, tries = :tries, status = :status, lease_owner = NULL"
)
# Another worker may have taken the delivery over; then what this one says no longer counts.
_is_held = " AND ".join(
    (*(f"deliveries.{name} = :{name}" for name in (*DELIVERY_KEY, "lease_owner")), "deliveries.state + 0 = 0")
)
_attempt_parts = (
    hot.Part(
        hot.render_insert(delivery_attempts, _attempt_values),
        hot.render_insert(delivery_attempts, _attempt_values, "given"),
    ),
    hot.Part(
        f"{_end_delivery} WHERE {_is_held}", hot.read_from("given", f"{_end_delivery} FROM given WHERE {_is_held}")
    ),
)
_attempt_text = hot.make_text(
    _attempt_columns, [f"recorded AS ({_attempt_parts[0].batch})"], _attempt_parts[1].batch, is_guarded=False
)

END_ATTEMPT: hot.HotWrite[bool] = hot.HotWrite(
    name="attempt",
    columns=_attempt_columns,
    parts=_attempt_parts,
    texts=(_attempt_text,),
    choose_text=lambda _: 0,
    write_row=hot.make_row_writer(_attempt_columns, _attempt_parts),
    is_written=Statement(
        sa.select(sa.true()).where(
            delivery_attempts.c.merchant_id == sa.bindparam("merchant_id"),
            delivery_attempts.c.id == sa.bindparam("attempt_id"),
        )
    ),
    times=(("delivery_attempts", "attempt_id"),),
)
