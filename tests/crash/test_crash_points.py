"""Every labelled step of the source is killed before and after in some crash test, or is listed here with a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from crash import background_crashes, further_crashes, method_crashes
from crash.checkout_crashes import CHECKOUT_CRASHES
from crash.crash_point import Moment
from crash.delivery_crashes import DELIVERY_CRASHES
from crash.endpoint_crashes import ENDPOINT_CRASHES
from crash.follow_up_crashes import FACT_CRASHES, RECOVERY_CRASHES, REVERSAL_CRASHES, SENDING_CRASHES
from crash.office_crashes import OFFICE_CRASHES
from crash.payment_crashes import PAYMENT_CRASHES, PAYMENT_RECOVERIES, STORING_CRASHES
from crash.review_crashes import REVIEW_CRASHES
from crash.routing_crashes import ROUTING_CRASHES

SOURCE = Path(__file__).parents[2] / "src" / "tollgate"
PACKAGES = ("store", "operations", "flows", "workers", "sandbox")
STEPS = ("write", "submit", "dispatch", "converse")
"""The functions that write to the database or send a request; each takes a label."""

ALL_CRASHES = (
    *PAYMENT_CRASHES,
    *PAYMENT_RECOVERIES,
    *CHECKOUT_CRASHES,
    *DELIVERY_CRASHES,
    *ENDPOINT_CRASHES,
    *OFFICE_CRASHES,
    *STORING_CRASHES,
    *ROUTING_CRASHES,
    *SENDING_CRASHES,
    *FACT_CRASHES,
    *RECOVERY_CRASHES,
    *REVERSAL_CRASHES,
    *REVIEW_CRASHES,
    *(
        crash
        for shares in (background_crashes.SHARES, background_crashes.FURTHER_SHARES)
        for share in shares
        for crash in share
    ),
    *(crash for rows in (method_crashes, further_crashes) for share in rows.SHARES for crash in share),
)
KILLED = {kill.point for crash in ALL_CRASHES for kill in (crash.kill, *crash.recoveries)}
HELD_BY_ACQUIRER = "during the wait for"
"""Such a kill comes from outside, while the acquirer holds the request, and needs no crash point."""

SAME_STATE = {
    "before approval carried out": "after follow-up completion",
    "before authentication pending": "after authentication request",
    "before challenge result": "after authentication pending",
    "before charge request": "after payment started",
    "before completion": "after charge request",
    "before completion on return": "after inquiry on return",
    "before decided completion": "after fact recorded",
    "before delivery attempt recorded": "after delivery request",
    "before delivery ended": "after delivery request",
    "before follow-up completion": "after follow-up request",
    "before follow-up request": "after follow-up started",
    "before instruction cancelled": "before reversal request",
    "before issuer answered": "after authentication request",
    "before issuer asked": "after authentication pending",
    "before job postponed": "after run result",
    "before recovery completion": "after recovery request",
    "before reminder recorded": "after reminder call",
    "before run dropped": "after run due",
    "before token stored": "after token request",
}
"""The point on the left is not used, because the store and the other systems are then as they are at the other one."""

ONE_COMMIT = "one commit that moves no money; a caller who got no answer asks again"
REPEATABLE = "only tidies up after what was decided, and may do so again"
CONFIGURATION = "one commit of an operator's command, which reports whether it was done"
SIGN_IN = "one commit of a sign-in, which a user without an answer begins again with another code"
TEST_HOST = "exists on a test host only"

SPARED = {
    "3DS method done": "a hint to the issuer, on which nothing depends",
    "account wiped": REPEATABLE,
    "approval requested": "one commit; a form that is sent again is recognized, or listed as asked twice",
    "archive lease": "one note of who may move payments, which lapses 30 seconds after its process",
    "attempt abandoned": "one commit guarded by the waiting state; until then a worker asks the provider",
    "audit log": "one commit with the end of the log, before the action: without it the action was not begun",
    "authentication closed": REPEATABLE,
    "bank file exported": REPEATABLE,
    "card ranges request": "asks for public facts, which are kept in memory only",
    "challenge made": SIGN_IN,
    "challenge taken": SIGN_IN,
    "challenge unanswered": "one note, which is made again when the shopper comes back",
    "checkout cancelled": ONE_COMMIT,
    "checkout changed": ONE_COMMIT,
    "checkout prepared": ONE_COMMIT,
    "checkout read": ONE_COMMIT,
    "checkout read counted": ONE_COMMIT,
    "cryptogram request": "nothing is charged yet, as after the payment was started",
    "delivery postponed": "only puts off a delivery that stays pending, after an attempt that ended by an exception",
    "delivery worker alive": "one note, without which others deliver what the worker has leased",
    "delivery worker stopped": "gives back what others take over anyway when the worker is not heard of for 5 seconds",
    "evidence added": ONE_COMMIT,
    "inbox": TEST_HOST,
    "inbox emptied": TEST_HOST,
    "inbox message": TEST_HOST,
    "job finished": REPEATABLE,
    "journal": "what it loses nobody relies on",
    "key rotation": "one row guarded by its old value; the command continues where it stopped",
    "link checkout": ONE_COMMIT,
    "one-time code used": SIGN_IN,
    "one-time codes rewrapped": "one row guarded by its revision; the command continues where it stopped",
    "overdue completion postponed": REPEATABLE,
    "overdue completion queued": "a payment without this job is overdue again in the next round",
    "passkey used": SIGN_IN,
    "payment link created": ONE_COMMIT,
    "payment link ended": ONE_COMMIT,
    "planned outcome taken": TEST_HOST,
    "registration changed": ONE_COMMIT,
    "registration erased": REPEATABLE,
    "registration used": "one note of the last use, which only prolongs the retention",
    "risk sightings": "derived again from the payments by the next process, as `test_risk_sightings.py` shows",
    "role given": ONE_COMMIT,
    "role taken": ONE_COMMIT,
    "routing counts": "counts of charges, by which accounts are compared, and on which no money depends",
    "run refused": "one commit, before and after which nothing is paid",
    "schedule changed": ONE_COMMIT,
    "imported rows": "rows of an import that was cut off never count, and the next import deletes them",
    "recent declines": "one row of counters; without it other processes learn less of one half second",
    "payment of an event": "one question to the processor, which delivers an event again that was not answered",
    "schedule created": ONE_COMMIT,
    "schedule ended": ONE_COMMIT,
    "schedule halted": "stops a schedule whose row was tampered with, and may do so again",
    "session": SIGN_IN,
    "session confirmed": SIGN_IN,
    "session revoked": ONE_COMMIT,
    "session used": "one note of the last use; without it the session ends earlier",
    "setting": CONFIGURATION,
    "sign-in failures forgotten": "one row; if it stays, the user is locked out earlier and for 30 minutes at most",
    "simulated session": TEST_HOST,
    "simulated token event": TEST_HOST,
    "token check queued": "one note; the token is checked again with the next payment",
    "token event": "one note; a vault that was not answered tells again",
    "user added": "one commit; the first password that nobody saw is reset",
    "user changed": "one commit; a password or recovery codes that nobody saw are made again",
    "view deleted": ONE_COMMIT,
    "view saved": ONE_COMMIT,
    "wallet token used": "nothing is started yet; the shopper has to authorize another wallet token",
    "widget script": "one row, which the next round stores",
    "write check": "a probe row without meaning",
}
"""Labels that are not killed at all, each with the reason."""


def list_labels(text: str) -> Iterator[str]:
    """Labels stand at calls, as defaults of parameters, and at direct calls of the probe."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "probe":
            yield from _read_texts(*node.args[:1])
        elif isinstance(node, ast.Call):
            yield from _read_texts(*(keyword.value for keyword in node.keywords if keyword.arg == "label"))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            yield from _read_texts(*(default for name, default in named if name.arg == "label" and default))


def _read_texts(*nodes: ast.expr) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def list_unlabelled(text: str) -> Iterator[int]:
    """A label is a literal, or the parameter `label` of the function around."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in STEPS:
            for label in (keyword.value for keyword in node.keywords if keyword.arg == "label"):
                if not _read_texts(label) and ast.unparse(label) != "label":
                    yield node.lineno


TEXTS = {path: path.read_text("utf-8") for package in PACKAGES for path in (SOURCE / package).rglob("*.py")}
LABELS = {label for text in TEXTS.values() for label in list_labels(text)}


def test_every_label_can_be_read_from_the_source() -> None:
    assert [(path.name, line) for path, text in TEXTS.items() for line in list_unlabelled(text)] == []


def test_every_label_is_killed_before_and_after_or_has_a_reason() -> None:
    points = {f"{moment} {label}" for label in LABELS - SPARED.keys() for moment in (Moment.BEFORE, Moment.AFTER)}
    assert points - KILLED - SAME_STATE.keys() == set()


def test_every_kill_names_a_label_of_the_source() -> None:
    kills = {point for point in KILLED if not point.startswith(HELD_BY_ACQUIRER)}
    assert {point for point in kills if point.partition(" ")[2] not in LABELS} == set()
    assert {point.partition(" ")[0] for point in kills} == set(Moment)


def test_every_reason_is_still_needed() -> None:
    labels_killed = {point.partition(" ")[2] for point in KILLED}
    assert SPARED.keys() - LABELS == set()
    assert SPARED.keys() & labels_killed == set()
    assert SAME_STATE.keys() & KILLED == set()
    assert set(SAME_STATE.values()) - KILLED == set()


def test_the_reader_sees_planted_labels() -> None:
    text = """
async def complete(db, *, label: str = "completion"):
    await db.write([], label="payment started")
    await dispatch(1, label=make_label())
    db.probe("reminder call", "before")
"""
    assert set(list_labels(text)) == {"completion", "payment started", "reminder call"}
    assert [*list_unlabelled(text)] == [4]
