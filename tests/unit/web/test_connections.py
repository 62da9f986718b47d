"""Caps on connections: per peer and in all, counted and logged, never in a flood."""

from __future__ import annotations

import logging

import pytest
from prometheus_client import REGISTRY

from tollgate.catalog.limits import LIMITS
from tollgate.web.callers import Proxies
from tollgate.web.connections import Connections

MANY = LIMITS.connections_per_peer_max + 1


def count(limit: str) -> float:
    return REGISTRY.get_sample_value("tollgate_connection_limits_total", {"limit": limit}) or 0.0


def test_a_peer_has_a_share_and_gets_it_back(caplog: pytest.LogCaptureFixture) -> None:
    connections, before = Connections(10_000, Proxies()), count("peer")
    with caplog.at_level(logging.WARNING, "tollgate.connections"):
        entered = [connections.enter("192.0.2.1", 0.0) for _ in range(MANY + 10)]

    assert entered.count(None) == 11
    assert connections.enter("192.0.2.2", 0.0) == "192.0.2.2"
    assert count("peer") == before + 11
    assert [record.__dict__["limit"] for record in caplog.records] == ["peer"]
    connections.leave("192.0.2.1")
    assert connections.enter("192.0.2.1", 0.0) == "192.0.2.1"


def test_addresses_of_one_network_share() -> None:
    connections = Connections(10_000, Proxies())
    entered = [connections.enter(f"2001:db8::{number:x}", 0.0) for number in range(MANY)]

    assert entered.count(None) == 1


def test_a_trusted_proxy_has_no_share() -> None:
    connections = Connections(10_000, Proxies("192.0.2.0/24"))

    assert None not in [connections.enter("192.0.2.1", 0.0) for _ in range(MANY)]


def test_a_process_has_room_for_so_many_and_a_proxy_is_no_exception() -> None:
    connections, before = Connections(3, Proxies("192.0.2.1")), count("host")

    assert [connections.enter("192.0.2.1", 0.0) for _ in range(4)].count(None) == 1
    assert count("host") == before + 1


def test_a_limit_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    connections = Connections(0, Proxies())
    with caplog.at_level(logging.WARNING, "tollgate.connections"):
        for now in (0.0, 1.0, 59.0, 60.0, 61.0):
            connections.enter("192.0.2.1", now)

    assert len(caplog.records) == 2


class Broken:
    def __init__(self) -> None:
        self.events: list[str] = []

    def check(self, now: float) -> None:  # noqa: ARG002
        raise RuntimeError("broken")

    def stop(self) -> None:
        self.events.append("stopped")

    def abort(self) -> None:
        self.events.append("aborted")


def test_a_connection_that_breaks_does_not_keep_others_from_being_looked_at() -> None:
    connections, broken = Connections(10, Proxies()), [Broken(), Broken()]
    connections.open |= set(broken)

    connections.check(0.0)
    assert [each.events for each in broken] == [["aborted"], ["aborted"]]
    connections.stop()
    assert [each.events for each in broken] == [["aborted", "stopped"]] * 2
