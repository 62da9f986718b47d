"""A signature that is not right is explained, and every row of the tables has its example."""

from __future__ import annotations

import json

import pytest

from tollgate.values import Secret
from tollgate.vault.body_explaining import Explanation
from tollgate.vault.signature_explaining import (
    SIGNED_FAULTS,
    SIGNED_HYPOTHESES,
    TOLERANCE_S,
    UNKNOWN_SIGNED_FAULT,
    explain_signature,
)
from tollgate.vault.webhooks import sign_body

SIGNING = "whsec_" + "QUJD" * 10 + "QUI="
OTHER = "whsec_" + "WFla" * 10 + "WFk="
BODY = '{"type":"PAYMENT","payload":{"id":"8ac7","holder":"Jürgen"}}'.encode()
HEX = b"F8E2F759E528"
WRAPPED = b'{"encryptedBody":"F8E2F759E528"}'
ID = "8a" + "7" * 30
NOW_S = 1794740000
NOW = str(NOW_S)
HEADER = sign_body(BODY, ID, NOW_S, [Secret(SIGNING)])

Given = tuple[bytes, str, str, str, str]


def explain(given: Given, now_s: int = NOW_S) -> Explanation:
    body, event_id, timestamp, header, signing = given
    return explain_signature(body, event_id, timestamp, header, Secret(signing), now_s)


ROWS: tuple[tuple[str, Given], ...] = (
    ("There is whitespace around the body", (BODY + b"\n", ID, NOW, HEADER, SIGNING)),
    ("The body was parsed and written again", (json.dumps(json.loads(BODY)).encode(), ID, NOW, HEADER, SIGNING)),
    ("The body was taken out", (HEX, ID, NOW, sign_body(WRAPPED, ID, NOW_S, [Secret(SIGNING)]), SIGNING)),
    ("Id and timestamp are swapped", (BODY, NOW, ID, HEADER, SIGNING)),
    ("The timestamp is in milliseconds", (BODY, ID, NOW + "000", HEADER, SIGNING)),
    ("The signature is missing", (BODY, ID, NOW, "", SIGNING)),
    ("The header has the wrong format", (BODY, ID, NOW, HEADER.removeprefix("v1,"), SIGNING)),
    ("The header has the wrong format", (BODY, ID, NOW, HEADER.replace("v1,", "v1a,"), SIGNING)),
    ("The header has the wrong format", (BODY, ID, NOW, HEADER.replace(",", "="), SIGNING)),
    ("The header has the wrong format", (BODY, ID, NOW, HEADER[:-4], SIGNING)),
    ("The id is missing", (BODY, "", NOW, HEADER, SIGNING)),
    ("The timestamp is missing or not a number", (BODY, ID, "", HEADER, SIGNING)),
    ("The timestamp is missing or not a number", (BODY, ID, "2026-11-15", HEADER, SIGNING)),
    ("The signing secret is of another endpoint", (BODY, ID, NOW, HEADER, OTHER)),
    ("The signing secret is of another endpoint", (BODY.replace(b"8ac7", b"8ac8"), ID, NOW, HEADER, SIGNING)),
    ("The signing secret is of another endpoint", (BODY, "8a" + "6" * 30, NOW, HEADER, SIGNING)),
    ("The signing secret is of another endpoint", (BODY, ID, str(NOW_S + 1), HEADER, SIGNING)),
    ("The signing secret is of another endpoint", (b"\xff" + b"[" * 5000, ID, NOW, HEADER, SIGNING)),
    ("This is the secret of the encryption", (BODY, ID, NOW, HEADER, "00" * 32)),
    ("The signing secret is not whsec_", (BODY, ID, NOW, HEADER, SIGNING.removeprefix("whsec_"))),
    ("The signing secret is not whsec_", (BODY, ID, NOW, HEADER, "whsec_!")),
)


def test_a_good_signature_is_verified_among_others_and_with_whitespace() -> None:
    both = sign_body(BODY, ID, NOW_S, [Secret(OTHER), Secret(SIGNING)])

    assert explain((BODY, ID, NOW, HEADER, SIGNING)) == Explanation(BODY)
    assert explain((BODY, f" {ID}", f"{NOW}\n", f"{both} ", f'"{SIGNING}"\n')) == Explanation(BODY)


@pytest.mark.parametrize(("beginning", "given"), ROWS)
def test_a_wrong_signature_is_explained(beginning: str, given: Given) -> None:
    explained = explain(given)

    assert explained.plain is None
    assert explained.fault is not None
    assert explained.fault.startswith(beginning)
    assert given[4] not in explained.fault


def test_every_row_has_an_example() -> None:
    rows = {sentence for _, sentence in (*SIGNED_HYPOTHESES, *SIGNED_FAULTS)}

    assert rows | {UNKNOWN_SIGNED_FAULT} <= {explain(given).fault for _, given in ROWS}
    assert len(rows) == len(SIGNED_HYPOTHESES) + len(SIGNED_FAULTS)


@pytest.mark.parametrize(
    ("later_s", "note"),
    [(0, ""), (TOLERANCE_S, ""), (-TOLERANCE_S, ""), (TOLERANCE_S + 1, "too old"), (-TOLERANCE_S - 1, "too new")],
)
def test_the_age_of_a_timestamp_is_a_note_only(later_s: int, note: str) -> None:
    explained = explain((BODY, ID, NOW, HEADER, SIGNING), NOW_S + later_s)

    assert (explained.plain, explained.fault) == (BODY, None)
    assert len(explained.notes) == bool(note)
    assert all(note in each for each in explained.notes)
