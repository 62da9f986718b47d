"""There is a knife for every seam, and every knife is used: a write or a sending that is added gets one or a reason."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module

import pytest

from crash import further_crashes, method_crashes, stored_crashes
from crash.checkout_crashes import CHECKOUT_CRASHES
from crash.follow_up_crashes import FACT_CRASHES, RECOVERY_CRASHES, REVERSAL_CRASHES, SENDING_CRASHES
from crash.knife import CUTS
from crash.payment_crashes import PAYMENT_CRASHES, PAYMENT_RECOVERIES, STORING_CRASHES

MODULES = (
    "tollgate.flows.pay",
    "tollgate.flows.follow_up",
    "tollgate.flows.record",
    "tollgate.flows.recover",
    "tollgate.operations.chaining",
    "tollgate.operations.charging",
    "tollgate.operations.queue",
    "tollgate.flows.authenticate",
    "tollgate.flows.collect",
    "tollgate.flows.hear",
    "tollgate.flows.resume",
    "tollgate.flows.run_schedules",
    "tollgate.flows.tokenize",
    "tollgate.flows.check_out",
    "tollgate.flows.remind",
)
OUTWARD = (
    "cancel_instruction",
    "converse",
    "dispatch",
    "finish_job",
    "halt_schedule",
    "insert_instruction",
    "move_authentication",
    "note_read",
    "postpone_due",
    "complete_follow_up",
    "complete_payment",
    "spend_checkout",
    "start_payment",
)
"""By these names the stories send and write; what else they write is a unit of their own."""

SPARED = {
    ("tollgate.flows.recover", "finish_job"): "only clears a job about what was decided already, and may do so again",
    ("tollgate.flows.run_schedules", "finish_job"): "only clears the job of a run that was decided already",
    ("tollgate.flows.run_schedules", "halt_schedule"): "stops what somebody tampered with, and may do so again",
    ("tollgate.flows.run_schedules", "end_unpayable"): "one commit, before which and after which nothing is paid",
    ("tollgate.flows.tokenize", "finish_job"): "only clears a job about what is in step already",
    ("tollgate.flows.tokenize", "hear_token_event"): "one note; a vault that was not answered tells again",
    ("tollgate.flows.collect", "postpone_due"): "only moves the day of what stays open, and may do so again",
    ("tollgate.flows.check_out", "prepare_checkout"): "one commit; a shop that was not answered prepares another",
    ("tollgate.flows.check_out", "change_checkout"): "one commit, before which and after which nothing is paid",
    ("tollgate.flows.check_out", "note_read"): "one note; a shop that was not answered asks again, or is called",
    ("tollgate.flows.remind", "finish_job"): "only clears a job about what was decided already",
}
"""Seams without a knife, each with the reason."""

ALL_CRASHES = (
    *PAYMENT_CRASHES,
    *PAYMENT_RECOVERIES,
    *CHECKOUT_CRASHES,
    *STORING_CRASHES,
    *SENDING_CRASHES,
    *FACT_CRASHES,
    *RECOVERY_CRASHES,
    *REVERSAL_CRASHES,
    *(
        crash
        for shares in (stored_crashes.SHARES, stored_crashes.FURTHER_SHARES)
        for share in shares
        for crash in share
    ),
    *(crash for rows in (method_crashes, further_crashes) for share in rows.SHARES for crash in share),
)


def list_seams(module: str, text: str) -> Iterator[tuple[str, str]]:
    """(module, name) of all that a story sends or writes: called by its own name, or a unit by the function around."""
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in OUTWARD:
                yield module, node.id
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("database.write"):
                yield module, function.name


@pytest.mark.parametrize("module", MODULES)
def test_a_knife_lies_at_every_seam(module: str) -> None:
    seams = set(list_seams(module, inspect.getsource(import_module(module))))
    assert seams
    assert seams - {(cut.module, cut.name) for cut in CUTS.values()} - SPARED.keys() == set()


@pytest.mark.parametrize("seam", CUTS)
def test_a_knife_finds_its_seam(seam: str) -> None:
    """Also one that only the long runs use, or else a renamed function would be noticed late."""
    cut = CUTS[seam]
    module = import_module(cut.module)
    assert callable(getattr(module, cut.name))
    assert not cut.is_unit or (cut.module, cut.name) in set(list_seams(cut.module, inspect.getsource(module)))


def test_every_knife_kills_somebody() -> None:
    used = {kill.seam for crash in ALL_CRASHES for kill in (crash.kill, *crash.recoveries)}
    assert CUTS.keys() - used == set()


def test_the_reader_sees_a_planted_seam() -> None:
    text = "async def story(house):\n    await house.database.write([])\n    await dispatch(1)\n"
    assert set(list_seams("m", text)) == {("m", "story"), ("m", "dispatch")}
