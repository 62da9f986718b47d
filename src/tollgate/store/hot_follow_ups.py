"""The start and the completion of a follow-up as frequent writes, with the balances that they move in their commit.

Both move at most two payments: the one named, and the first one of the chain, which may be the same. What a follow-up
moves, and under which conditions, is decided in `payments`.
"""

from operator import itemgetter

from tollgate.payments.reviews import ReviewState
from tollgate.store import hot
from tollgate.store.hot import Columns, HotWrite, Part, Row, Run, read_from
from tollgate.store.hot_attempts import END_ATTEMPT
from tollgate.store.payment_months import render_month_mark
from tollgate.store.schema import idempotency_keys, ledger, payment_months, payments
from tollgate.store.statements import Dialect

NAMED_SUMS = ("added", "drawn", "reserved", "disputed", "counted", "closed")
CHAIN_SUMS = ("chain_length", "chain_net")
"""The sums of a balance that are kept of every payment, and those kept of the first one of a chain only."""
NAMED_BOUNDS = ("left_min", "left_max", "counted_max", "disputed_max", "barred_by")
CHAIN_BOUNDS = ("net_min", "length_max")

_NAMED_FITS = """payments.amount + payments.added + :added - payments.drawn - :drawn - payments.reserved - :reserved
 BETWEEN :left_min AND :left_max AND payments.counted + :counted <= :counted_max
 AND payments.disputed <= :disputed_max AND (payments.closed & :barred_by) = 0"""
_CHAIN_FITS = """payments.chain_net + :chain_net >= :net_min
 AND payments.chain_length + :chain_length <= :length_max"""


def _render_change(payment_id: str, sums: tuple[str, ...], *conditions: str) -> str:
    added = ", ".join(f"{name} = payments.{name} + :{name}" for name in sums)
    found = (
        f"payments.merchant_id = :merchant_id AND payments.id = :{payment_id}{render_month_mark(payment_id)}",
        *conditions,
    )
    return f"UPDATE payments SET {added} WHERE {' AND '.join(found)}"


CHANGE_BALANCE = hot.make_statement(_render_change("changed_id", (*NAMED_SUMS, *CHAIN_SUMS), _NAMED_FITS, _CHAIN_FITS))
"""Adds to all sums of one payment where it fits, for what moves more than two payments."""


def _render_changes(rows: str) -> str:
    """Changes both payments of each row. PostgreSQL changes a payment once, so one that is both gets all of it."""
    changes = [
        f"{name} = payments.{name} + CASE payments.id WHEN :{payment_id} THEN :{name} ELSE 0 END"
        for payment_id, sums in (("named_id", NAMED_SUMS), ("first_id", CHAIN_SUMS))
        for name in sums
    ]
    return read_from(
        rows,
        f"UPDATE @moved AS payments SET {', '.join(changes)} FROM {rows} WHERE {_IS_MOVED}",
    )


_IS_MOVED = (
    "payments.merchant_id = :merchant_id AND payments.id = ANY (ARRAY[:named_id, :first_id])/*@moved: AND"
    " payments.created_at = ANY (ARRAY[:named_at, :first_at])*/"
)
# Where the partition of the payments is not known before, the statement asks for it.
_GIVEN = "SELECT asked.*/*@moved:{}*/ FROM ({{}}) AS asked".format(
    "".join(
        f", (SELECT created_at FROM payment_months WHERE merchant_id = asked.merchant_id AND id = asked.{name}_id)"
        f" AS {name}_at"
        for name in ("named", "first")
    )
)


_changed_columns = hot.type_columns(
    {"named_id": payments.c.id, "first_id": payments.c.id}
    | {name: payments.c[name] for name in (*NAMED_SUMS, *CHAIN_SUMS)}
)
_APART = ("merchant_id", "chain_id")
_MOVED = ("named_id", "first_id")

# ---- start: the reservation, the attempt with its number in the chain, and its idempotency key ----

START_MEMBERS = (*hot.START_MEMBERS, "result_code", "chain_id", "action", "releases", "closes")
"""The members of a started follow-up; one that was refused at once has its result code already."""

_lean_start: Columns = (
    *hot.type_columns({name: payments.c[name] for name in START_MEMBERS}),
    *_changed_columns,
    *hot.type_columns(dict.fromkeys((*NAMED_BOUNDS, *CHAIN_BOUNDS), payments.c.amount)),
    *hot.type_columns({"idempotency_key": payments.c.idempotency_key}),
)
START_COLUMNS: Columns = (
    *_lean_start,
    *hot.type_columns({"fingerprint": idempotency_keys.c.fingerprint, "key_created_at": idempotency_keys.c.created_at}),
)
_started_values = hot.AT_START | hot.make_values(*START_MEMBERS, "idempotency_key")
_reserve_parts = (
    Part(_render_change("named_id", NAMED_SUMS, _NAMED_FITS), needs="named_id", is_guard=True),
    Part(_render_change("first_id", CHAIN_SUMS, _CHAIN_FITS), needs="first_id", is_guard=True),
    # A repeated request waits for the balance before it waits for its key, as the completion does.
    hot.TAKE_KEY,
)
# Changing the balance of the first payment has numbered the follow-up before.
_NUMBER = (
    "(SELECT payments.chain_length FROM payments"
    f" WHERE payments.merchant_id = :merchant_id AND payments.id = :chain_id{render_month_mark('chain_id')})"
)
_month_values = hot.make_values("merchant_id", "id", "created_at", "chain_id")
_insert_numbered = hot.insert_payment(_started_values | {"position": _NUMBER}, _month_values)
_reserve = hot.make_row_writer(START_COLUMNS, _reserve_parts)
_insertion = _insert_numbered.statement.compiled_for(Dialect.SQLITE)
_pick_inserted = itemgetter(*([name for name, _ in START_COLUMNS].index(name) for name in _insertion.names))


def _start_row(run: Run, row: Row) -> int:
    """Starts a follow-up within a savepoint, because a later guard may fail after an earlier one has written."""
    run("SAVEPOINT follow_up", ())
    position = run(f"{_insertion.text} RETURNING position", _pick_inserted(row)) if _reserve(run, row) else 0
    if not position:
        run("ROLLBACK TO follow_up", ())
    run("RELEASE follow_up", ())
    return position


def _make_start(columns: Columns, taking: list[str], accepted: str) -> hot.BatchText:
    """Locks the balances before anything is judged: what fits is decided by the rows as they are, not as they were when
    the statement began, and either both change or none."""
    sums = ", ".join(f"payments.{name}" for name in ("id", "amount", *NAMED_SUMS, *CHAIN_SUMS))
    named_fits, chain_fits = (
        read_from("given", text.replace("payments.", f"{alias}."))
        for alias, text in (("named", _NAMED_FITS), ("head", _CHAIN_FITS))
    )
    values = _started_values | {"position": "numbered.chain_length"}
    return hot.make_text(
        columns,
        [
            f"locked AS (SELECT given.n, {sums} FROM given JOIN @moved AS payments ON {read_from('given', _IS_MOVED)}"
            " ORDER BY given.merchant_id, given.chain_id, payments.id = given.first_id FOR NO KEY UPDATE OF payments)",
            "fitting AS (SELECT given.* FROM given JOIN locked AS head ON head.n = given.n AND head.id = given.first_id"
            " LEFT JOIN locked AS named ON named.n = given.n AND named.id = given.named_id"
            f" WHERE {chain_fits} AND (given.named_id IS NULL OR {named_fits}))",
            *taking,
            f"accepted AS (SELECT * FROM fitting{accepted})",
            f"numbered AS ({_render_changes('accepted')} RETURNING accepted.n, payments.id, payments.chain_length)",
            *[
                f"{name} AS ({insert} JOIN numbered ON numbered.n = accepted.n AND numbered.id = accepted.first_id"
                f" RETURNING {returned})"
                for name, insert, returned in (
                    ("kept", hot.render_insert(payment_months, _month_values, "accepted"), "id"),
                    ("started", hot.render_insert(payments, values, "accepted"), "id, position"),
                )
            ],
        ],
        "SELECT given.n, started.position FROM given JOIN started ON started.id = given.id",
        is_guarded=True,
        apart=_APART,
        wrap=_GIVEN,
    )


_key_at = len(_lean_start) - 1

START_FOLLOW_UP: HotWrite[int] = HotWrite(
    name="follow_up",
    columns=START_COLUMNS,
    parts=(*_reserve_parts, _insert_numbered),
    texts=(
        _make_start(_lean_start, [], ""),
        _make_start(
            START_COLUMNS,
            [f"first AS ({hot.FIRST_KEYS.format('fitting')})", f"taken AS ({hot.TAKE_KEY.batch})"],
            " WHERE idempotency_key IS NULL OR id = ANY (ARRAY(SELECT payment_id FROM taken))",
        ),
    ),
    choose_text=lambda row: int(row[_key_at] is not None),
    write_row=_start_row,
    is_written=hot.make_started_search(payments.c.position),
    apart=_APART,
    times=hot.START.times,
    moved=_MOVED,
)
"""The answer is the number within the chain. Most follow-ups have no key."""

# ---- complete: what a payment completes, the balances, a second ledger entry, the end of a review ----

_COMPLETED_BEFORE: Columns = (
    *hot.type_columns({"chain_id": payments.c.chain_id}),
    *_changed_columns,
    *hot.type_columns({"reviewed_id": payments.c.id}),
    *hot.type_columns({f"other_{name}": ledger.c[name] for name in ("id", "source", "target", "amount")}),
)
_CLOSED = f"UPDATE reviews SET state = {int(ReviewState.CLOSED)}, decided_at = :completed_at"
_IS_OPEN = "reviews.merchant_id = :merchant_id AND reviews.id = :reviewed_id AND reviews.state = 0"
CLOSE_REVIEW = Part(
    f"{_CLOSED} WHERE {_IS_OPEN}",
    read_from("completed", f"{_CLOSED} FROM completed WHERE {_IS_OPEN}"),
    needs="reviewed_id",
)
_other_entry = hot.make_values(
    *("merchant_id", "channel_id", "currency"),
    id="other_id",
    payment_id="id",
    source="other_source",
    target="other_target",
    amount="other_amount",
    posted_at="completed_at",
)
_own_parts = (CLOSE_REVIEW, hot.insert_completed(ledger, _other_entry, "other_id"))
_move_parts = (
    Part(_render_change("named_id", NAMED_SUMS), "", needs="named_id"),
    Part(_render_change("first_id", CHAIN_SUMS), "", needs="first_id"),
)
_levels = tuple(((*_COMPLETED_BEFORE, *columns), (*_own_parts, *parts)) for columns, parts in hot.COMPLETION_LEVELS)
COMPLETION_COLUMNS, _rich_parts = _levels[-1]
_completion_parts = (hot.SET_RESULT, *_move_parts, *_rich_parts)


_completing = (
    f"ended AS ({hot.SET_RESULT.batch})",
    f"moved AS ({_render_changes('ended')} RETURNING ended.n)",
    # Counted, so that every balance is locked before the answer of a key is.
    "completed AS (SELECT ended.* FROM ended, (SELECT count(*) FROM moved) AS counted_moves)",
)

COMPLETE_FOLLOW_UP: HotWrite[bool] = HotWrite(
    name="follow_up_complete",
    columns=COMPLETION_COLUMNS,
    parts=_completion_parts,
    texts=tuple(hot.make_completion(*each, *_completing, apart=_APART, wrap=_GIVEN) for each in _levels),
    choose_text=hot.choose_completion,
    write_row=hot.make_row_writer(COMPLETION_COLUMNS, _completion_parts),
    is_written=hot.find_completed,
    apart=_APART,
    times=hot.COMPLETION_TIMES,
    moved=_MOVED,
)

HOT_WRITES = (hot.START, hot.COMPLETE, START_FOLLOW_UP, COMPLETE_FOLLOW_UP, END_ATTEMPT)
