"""A URL with several hosts is split into the address of each."""

from __future__ import annotations

import pytest

from tollgate.store.postgres_connecting import split_hosts


@pytest.mark.parametrize(
    ("url", "urls"),
    [
        ("postgresql://h1/db", ["postgresql://h1/db"]),
        ("postgresql://h1,h2:5433/db", ["postgresql://h1/db", "postgresql://h2:5433/db"]),
        (
            "postgres://u:p%2C@h1,h2/db?ssl=require",
            ["postgres://u:p%2C@h1/db?ssl=require", "postgres://u:p%2C@h2/db?ssl=require"],
        ),
        ("postgresql://u:a,b@h1/db", ["postgresql://u:a,b@h1/db"]),
        ("postgresql://[::1]:5432,[::2]/db", ["postgresql://[::1]:5432/db", "postgresql://[::2]/db"]),
        ("postgresql://u@/db?host=/run/a,/run/b", ["postgresql://u@/db?host=/run/a,/run/b"]),
        (
            "postgresql://h1,h2/db?target_session_attrs=prefer-standby",
            ["postgresql://h1,h2/db?target_session_attrs=prefer-standby"],
        ),
    ],
)
def test_each_host_of_a_url_gets_an_address_of_its_own(url: str, urls: list[str]) -> None:
    assert split_hosts(url) == urls
