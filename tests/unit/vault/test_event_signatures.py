"""Signatures of a processor's events: one that fits is enough, and everything else is refused."""

from __future__ import annotations

import pytest

from tollgate.values import SECOND, Secret
from tollgate.vault.event_signatures import TOLERANCE, is_signed, sign

BODY = b'{"id": "evt_1"}'
SECRET = Secret("whsec_1")
AT_S = 1_700_000_000
NOW = AT_S * SECOND
GOOD = sign(BODY, str(AT_S), SECRET)
WRONG = "0" * 64


def test_the_signature_is_that_of_the_published_scheme() -> None:
    # printf '1700000000.{"id": "evt_1"}' | openssl dgst -sha256 -hmac whsec_1
    assert GOOD == "e7b45f5e06ace0f8a5e2419d7ddb3d854ce5a054382a69cae818565769abf60a"


@pytest.mark.parametrize(
    "header",
    [
        f"t={AT_S},v1={GOOD}",
        f"v1={GOOD},t={AT_S}",
        f"t={AT_S}, v1={GOOD}",
        f"t={AT_S},v1={WRONG},v1={GOOD}",
        f"t={AT_S},v1={GOOD},v0={WRONG}",
    ],
)
def test_one_signature_that_fits_is_enough(header: str) -> None:
    assert is_signed(BODY, header, SECRET, NOW)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "t",
        "=",
        GOOD,
        f"v1={GOOD}",
        f"t={AT_S}",
        f"t={AT_S},v1=",
        f"t={AT_S},v1={WRONG}",
        f"t={AT_S},v0={GOOD}",
        f"t={AT_S},v1={GOOD.upper()}",
        f"t={AT_S},v1={GOOD[:-1]}",
        f"t={AT_S},t={AT_S},v1={GOOD}",
        f"t=+{AT_S},v1={GOOD}",
        f"t={AT_S}.0,v1={GOOD}",
        f"t={'9' * 5000},v1={GOOD}",
        f"t={AT_S},v1=\u00e4{GOOD}",
        f"t={AT_S}," + "v1=x," * 1000 + f"v1={GOOD}",
    ],
)
def test_what_is_no_such_signature_is_refused(header: str) -> None:
    assert not is_signed(BODY, header, SECRET, NOW)


def test_another_body_secret_or_time_is_refused() -> None:
    header = f"t={AT_S},v1={GOOD}"

    assert not is_signed(BODY + b" ", header, SECRET, NOW)
    assert not is_signed(BODY, header, Secret("whsec_2"), NOW)
    assert not is_signed(BODY, f"t={AT_S + 1},v1={GOOD}", SECRET, NOW)


def test_a_signature_is_as_good_as_five_minutes_and_no_older_or_younger() -> None:
    header = f"t={AT_S},v1={GOOD}"

    assert is_signed(BODY, header, SECRET, NOW + TOLERANCE)
    assert is_signed(BODY, header, SECRET, NOW - TOLERANCE)
    assert not is_signed(BODY, header, SECRET, NOW + TOLERANCE + 1)
    assert not is_signed(BODY, header, SECRET, NOW - TOLERANCE - 1)
