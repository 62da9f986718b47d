"""Metrics: requests of one turn of the loop are counted together, and each is counted once and in its bucket."""

from __future__ import annotations

import asyncio

import pytest
from prometheus_client import REGISTRY

from tollgate.web import telemetry

pytestmark = pytest.mark.anyio


def read(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"tollgate_{name}", labels) or 0.0


async def test_every_request_of_a_turn_is_counted_by_its_operation_and_status() -> None:
    for status in (200, 200, 400):
        telemetry.count_request("counted", status, 0.0)
    telemetry.count_request("other", 200, 0.0)
    await asyncio.sleep(0)
    telemetry.count_request("counted", 200, 0.0)
    await asyncio.sleep(0)

    assert read("requests_total", operation="counted", status="200") == 3
    assert read("requests_total", operation="counted", status="400") == 1
    assert read("requests_total", operation="other", status="200") == 1


async def test_a_time_counts_in_the_first_bucket_that_is_not_shorter() -> None:
    for seconds in (0.001, 0.0011, 0.03, 99.0):
        telemetry.count_request("timed", 200, seconds)
    await asyncio.sleep(0)

    bounds = ("0.001", "0.0025", "0.025", "0.05", "30.0", "+Inf")
    counts = [read("request_seconds_bucket", operation="timed", le=bound) for bound in bounds]
    assert counts == [1, 2, 2, 3, 3, 4]
    assert read("request_seconds_count", operation="timed") == 4
    assert read("request_seconds_sum", operation="timed") == pytest.approx(99.0321)


async def test_metrics_show_what_was_answered_in_the_same_turn() -> None:
    telemetry.count_payment("DB", "counted")
    telemetry.count_request("shown", 200, 0.5)

    shown = telemetry.render_metrics()
    await asyncio.sleep(0)

    assert b'tollgate_payments_total{group="counted",kind="DB"} 1.0' in shown
    assert b'tollgate_requests_total{operation="shown",status="200"} 1.0' in shown
    assert read("requests_total", operation="shown", status="200") == 1
