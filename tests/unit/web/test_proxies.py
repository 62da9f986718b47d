"""Headers of a trusted proxy are believed, those of anybody else are not."""

from __future__ import annotations

import pytest

from tollgate.web.callers import Origin, Proxies, read_networks
from tollgate.web.parsing import Head

PROXIES = Proxies("10.0.0.5, 10.1.0.0/16,2001:db8::/32")


def find(peer: str, forwarded: str = "", scheme: str = "", *, is_secure: bool = False) -> Origin:
    headers = {b"x-forwarded-for": forwarded.encode(), b"x-forwarded-proto": scheme.encode()}
    head = Head("GET", b"/", "/", b"", {k: v for k, v in headers.items() if v}, frozenset(), 0, False, False)
    return PROXIES.get_request_origin(head, peer, is_secure=is_secure)


@pytest.mark.parametrize("peer", ["10.0.0.5", "10.1.2.3", "2001:db8::1", "::ffff:10.0.0.5"])
def test_a_trusted_proxy_is_believed(peer: str) -> None:
    assert find(peer, "192.0.2.9", "https") == Origin("192.0.2.9", is_secure=True, is_through_proxy=True)


@pytest.mark.parametrize("peer", ["10.0.0.6", "10.2.0.1", "192.0.2.1", "", "unknown"])
def test_nobody_else_is(peer: str) -> None:
    origin = find(peer, "192.0.2.9", "https")

    assert (origin.is_secure, origin.is_through_proxy) == (False, False)
    assert origin.address in (peer, "")


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("192.0.2.9", "192.0.2.9"),
        ("203.0.113.1, 192.0.2.9", "192.0.2.9"),
        ("203.0.113.1, 192.0.2.9, 10.1.0.1", "192.0.2.9"),
        ("10.1.0.1, 10.0.0.5", "10.1.0.1"),
        ("192.0.2.9, unknown", ""),
        ("", "10.0.0.5"),
    ],
)
def test_the_last_address_that_no_proxy_has_is_the_callers(forwarded: str, address: str) -> None:
    assert find("10.0.0.5", forwarded, "https").address == address


@pytest.mark.parametrize(
    ("scheme", "is_secure"),
    [("https", True), ("HTTPS", True), ("https, https", True), ("https,http", False), ("http", False), ("", False)],
)
def test_https_counts_where_every_proxy_saw_it(scheme: str, is_secure: bool) -> None:
    assert find("10.0.0.5", "192.0.2.9", scheme).is_secure is is_secure


def test_tls_of_our_own_needs_no_proxy() -> None:
    assert find("192.0.2.1", is_secure=True).is_secure


def test_what_is_no_network_is_refused() -> None:
    assert read_networks("") == ()
    with pytest.raises(ValueError, match="proxy"):
        read_networks("10.0.0.1, proxy.example")
