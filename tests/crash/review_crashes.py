"""The crash points of a rejected review, as rows. No engine here."""

from __future__ import annotations

from crash.crashes import Crash, Kill, Request

REJECTION = Request("DB", title="rejection of a payment under review")

REVIEW_CRASHES = tuple(
    Crash(number, REJECTION, Kill(point), ())
    for number, point in enumerate(
        (
            "before review decided",
            "during review decided",
            "after review decided",
            "after follow-up started",
            "after follow-up request",
            "after follow-up completion",
        ),
        901,
    )
)
