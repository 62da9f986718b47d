"""The report of `make prove-ha` as Markdown, and its place in docs/failover.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from tools.bench.machine import ROOT, describe_commit, describe_machine
from tools.ha.paying import Load

TEXT = ROOT / "docs" / "failover.md"
HEADING = "## What was measured"


@dataclass(frozen=True)
class Recovery:
    accident: str
    before: str
    after: str
    seconds: float
    """It is counted from the accident until both gateways had answered a payment that began after it."""
    until_whole_s: float


@dataclass(frozen=True)
class Report:
    recoveries: Sequence[Recovery]
    payments: int
    repeated: int
    longest_s: float
    statuses: Sequence[tuple[int, int]]

    @classmethod
    def make(cls, recoveries: Sequence[Recovery], load: Load) -> Report:
        return cls(
            recoveries=recoveries,
            payments=len(load.payments),
            repeated=sum(each.tries > 1 for each in load.payments),
            longest_s=max(each.answered_at - each.sent_at for each in load.payments),
            statuses=sorted(load.statuses.items()),
        )


def render(report: Report) -> str:
    times = [each.seconds for each in report.recoveries]
    kinds = Counter(each.accident for each in report.recoveries)
    summary = [
        "| what happened to the primary | times | median | worst |",
        "|---|---|---|---|",
        *(_render_row(kind, [each.seconds for each in report.recoveries if each.accident == kind]) for kind in kinds),
        _render_row("all", times),
    ]
    each = [
        "| | accident | primary before | after | seconds until payments ran | seconds until the cluster was whole |",
        "|---|---|---|---|---|---|",
        *(
            f"| {number} | {row.accident} | {row.before} | {row.after} | {row.seconds:.1f} | {row.until_whole_s:.1f} |"
            for number, row in enumerate(report.recoveries, 1)
        ),
    ]
    answers = ", ".join(f"{status or 'none'} {count:,} times" for status, count in report.statuses)
    return "\n".join(
        [
            HEADING,
            "",
            f"`make prove-ha` wrote this part at {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {describe_commit()}, "
            f"on {describe_machine().kind}. The three hosts share this machine's processors and disk.",
            "",
            f"The primary was lost {len(times)} times. {report.payments:,} payments were made through two gateways, "
            f"and {report.repeated:,} of them were repeated with their `Idempotency-Key` until the answer was "
            f"definite (statuses: {answers}; 400 is a declined payment). "
            f"The longest wait for a definite answer was {report.longest_s:.1f} seconds. Afterwards:",
            "",
            "- every payment that was answered is in the store, once, with the result that was answered",
            "- the ledger of the simulated acquirer agrees with the store, and took nothing twice",
            "- a repeated key gets the same answer to the byte",
            "- `tollgate verify` has no findings",
            "",
            "Seconds from the accident until both gateways answered payments that were sent after it:",
            "",
            *summary,
            "",
            "Each accident:",
            "",
            *each,
            "",
        ]
    )


def _render_row(kind: str, times: Sequence[float]) -> str:
    return f"| {kind} | {len(times)} | {median(times):.1f} | {max(times):.1f} |"


def write_into_docs(report: Report) -> None:
    """Replaces the last part of the text."""
    text = TEXT.read_text("utf-8").partition(HEADING)[0]
    TEXT.write_text(text + render(report), "utf-8")
