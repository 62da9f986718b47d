"""A body that does not open is explained by what is wrong with it, and every row of the tables has its example."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest

from tollgate.values import Secret
from tollgate.vault.body_explaining import (
    CLEANINGS,
    FAULTS,
    HYPOTHESES,
    JSON_NOTE,
    RAW_NOTE,
    UNKNOWN_FAULT,
    Explanation,
    explain_body,
)
from tollgate.vault.webhooks import encrypt_body

KEY = "000102030405060708090a0b0c0d0e0f" * 2
PLAIN = '{"type":"PAYMENT","payload":{"id":"8ac7","holder":"Jürgen"}}'.encode()
IV = bytes(range(1, 13))
GOOD = encrypt_body(PLAIN, Secret(KEY), lambda size: IV[:size])
OTHER = encrypt_body(PLAIN + b" ", Secret(KEY), lambda size: bytes(size))

Given = tuple[bytes | str, str | None, str | None, str]


def explain(given: Given) -> Explanation:
    body, iv, tag, key = given
    return explain_body(body, iv, tag, Secret(key))


def to_base64(digits: str) -> str:
    return base64.b64encode(bytes.fromhex(digits)).decode()


def encrypt_under(key: bytes) -> Given:
    """Gives what a sender makes that uses this key, beside the secret that it should have decoded."""
    made = encrypt_body(PLAIN, Secret(key.hex()))
    return made.body, made.iv, made.tag, KEY


CORRECTED: tuple[tuple[str, Given], ...] = (
    ("IV and tag are swapped", (GOOD.body, GOOD.tag, GOOD.iv, KEY)),
    ("The tag is appended", (GOOD.body + GOOD.tag, GOOD.iv, GOOD.tag, KEY)),
    ("The tag is appended", (GOOD.body + GOOD.tag, GOOD.iv, None, KEY)),
    ("Base64", (to_base64(GOOD.body), GOOD.iv, GOOD.tag, KEY)),
    ("Base64", (f"{to_base64(GOOD.body)[:40]}\n{to_base64(GOOD.body)[40:]}", GOOD.iv, GOOD.tag, KEY)),
    ("Base64", (to_base64(GOOD.body), to_base64(GOOD.iv), to_base64(GOOD.tag), KEY)),
    ("Base64", (GOOD.body, GOOD.iv, GOOD.tag, to_base64(KEY))),
    ("Base64", (base64.urlsafe_b64encode(bytes.fromhex(GOOD.body)).decode().rstrip("="), GOOD.iv, GOOD.tag, KEY)),
    ("The body was already decoded", (bytes.fromhex(GOOD.body), GOOD.iv, GOOD.tag, KEY)),
    ("The body was decoded to bytes", (bytes.fromhex(GOOD.body).decode("latin-1"), GOOD.iv, GOOD.tag, KEY)),
    ("The body was decoded to bytes", (bytes.fromhex(GOOD.body).decode("latin-1").encode(), GOOD.iv, GOOD.tag, KEY)),
    ("The text of the secret", encrypt_under(KEY[:32].encode())),
    ("The secret was turned into hex twice", (GOOD.body, GOOD.iv, GOOD.tag, KEY.encode().hex())),
)

UNOPENED: tuple[tuple[str, Given], ...] = (
    ("This is the signing secret", (GOOD.body, GOOD.iv, GOOD.tag, "whsec_" + to_base64(KEY))),
    ("The secret is not hex", (GOOD.body, GOOD.iv, GOOD.tag, "secret!")),
    ("The secret does not have 64", (GOOD.body, GOOD.iv, GOOD.tag, KEY[2:])),
    ("The body is empty", ("", GOOD.iv, GOOD.tag, KEY)),
    ("The body is JSON without encryptedBody", (PLAIN, None, None, KEY)),
    ("The body was decoded as text", (bytes.fromhex(GOOD.body).decode(errors="replace"), GOOD.iv, GOOD.tag, KEY)),
    ("The IV is missing", (GOOD.body, None, GOOD.tag, KEY)),
    ("The tag is missing", (GOOD.body, GOOD.iv, "", KEY)),
    ("The IV is not hex", (GOOD.body, GOOD.iv[:-1] + "!", GOOD.tag, KEY)),
    ("The tag is not hex", (GOOD.body, GOOD.iv, GOOD.tag[1:], KEY)),
    ("IV and tag look swapped", (GOOD.body, GOOD.tag, GOOD.iv, "ff" * 32)),
    ("The IV does not have 24", (GOOD.body, GOOD.iv + "0000", GOOD.tag, KEY)),
    ("The tag does not have 32", (GOOD.body, GOOD.iv, GOOD.tag[2:], KEY)),
    ("The body is not hex", (GOOD.body[:10] + "?" + GOOD.body[11:], GOOD.iv, GOOD.tag, KEY)),
    ("The body has an odd number", (GOOD.body[:-1], GOOD.iv, GOOD.tag, KEY)),
    ("Secret and IV are right, and the tag", (GOOD.body, GOOD.iv, OTHER.tag, KEY)),
    ("Secret and IV are right, and the end", (GOOD.body[:-2], GOOD.iv, GOOD.tag, KEY)),
    ("Secret and IV are right, and the end", (GOOD.body[: len(GOOD.body) // 4 * 2], GOOD.iv, GOOD.tag, KEY)),
    ("Secret and IV are right, and the body was", (GOOD.body[:60] + "0000" + GOOD.body[64:], GOOD.iv, GOOD.tag, KEY)),
    ("The secret is hex of text", (GOOD.body, GOOD.iv, GOOD.tag, KEY[:32].encode().hex())),
    ("The secret is of another endpoint", (GOOD.body, GOOD.iv, GOOD.tag, "ff" * 32)),
    ("The secret is of another endpoint", (GOOD.body, OTHER.iv, GOOD.tag, KEY)),
    ("The secret is of another endpoint", (OTHER.body[:4], GOOD.iv, GOOD.tag, KEY)),
)


@pytest.mark.parametrize("spell", [str.upper, str.lower])
def test_a_good_body_opens_in_either_case(spell: Callable[[str], str]) -> None:
    given = (spell(GOOD.body), spell(GOOD.iv), spell(GOOD.tag), spell(KEY))

    assert explain(given) == Explanation(PLAIN, None, (RAW_NOTE,))


@pytest.mark.parametrize(("beginning", "given"), CORRECTED)
def test_a_correction_that_opens_the_body_is_the_reason(beginning: str, given: Given) -> None:
    explained = explain(given)

    assert explained.plain == PLAIN
    assert explained.fault is not None
    assert explained.fault.startswith(beginning)


@pytest.mark.parametrize(("beginning", "given"), UNOPENED)
def test_a_body_that_nothing_opens_is_explained(beginning: str, given: Given) -> None:
    explained = explain(given)

    assert explained.plain is None
    assert explained.fault is not None
    assert explained.fault.startswith(beginning)


WRAPPED = json.dumps({"encryptedBody": GOOD.body})


@pytest.mark.parametrize(
    ("body", "notes"),
    [
        (WRAPPED, [JSON_NOTE]),
        (WRAPPED.encode(), [JSON_NOTE]),
        (json.dumps(WRAPPED), ["There are quotes", JSON_NOTE]),
        (f"\ufeff{WRAPPED}\r\n", ["There is whitespace around", JSON_NOTE]),
        (f" {GOOD.body}\n", ["There is whitespace around", RAW_NOTE]),
        (f'"{GOOD.body}"', ["There are quotes", RAW_NOTE]),
        (f"'{GOOD.body}'", ["There are quotes", RAW_NOTE]),
        (f"{GOOD.body[:20]}\n{GOOD.body[20:]}", ["There is whitespace within", RAW_NOTE]),
    ],
)
def test_what_surrounds_a_body_is_removed_and_noted(body: bytes | str, notes: list[str]) -> None:
    explained = explain((body, f" {GOOD.iv}", f'"{GOOD.tag}"', f"{KEY}\n"))

    assert (explained.plain, explained.fault) == (PLAIN, None)
    assert len(explained.notes) == len(notes)
    assert all(note.startswith(start) for note, start in zip(explained.notes, notes, strict=True))


def test_a_correction_is_found_inside_the_wrapper() -> None:
    explained = explain((WRAPPED, GOOD.tag, GOOD.iv, KEY))

    assert (explained.plain, explained.notes) == (PLAIN, (JSON_NOTE,))
    assert explained.fault == HYPOTHESES[0][1]


@pytest.mark.parametrize("edge", [b" ", b"\n", b'"'])
def test_bytes_that_look_like_whitespace_or_quotes_stay_part_of_a_decoded_body(edge: bytes) -> None:
    """The plain text is chosen so that the ciphertext begins and ends with the byte."""
    stream = encrypt_body(bytes(40), Secret(KEY), lambda size: IV[:size]).body
    last = bytes.fromhex(stream)
    plain = bytes([last[0] ^ edge[0]]) + b"x" * 38 + bytes([last[39] ^ edge[0]])
    made = encrypt_body(plain, Secret(KEY), lambda size: IV[:size])

    explained = explain((bytes.fromhex(made.body), made.iv, made.tag, KEY))

    assert explained.plain == plain
    assert explained.notes == ()


def test_every_row_has_an_example_and_says_one_thing() -> None:
    rows = [sentence for _, sentence in (*HYPOTHESES, *FAULTS)]
    reached = {explain(given).fault for _, given in (*CORRECTED, *UNOPENED)}

    assert reached == {*rows, UNKNOWN_FAULT}
    sentences = [*rows, UNKNOWN_FAULT, RAW_NOTE, *(note for _, note in CLEANINGS)]
    assert len(set(sentences)) == len(sentences)
    assert [each for each in sentences if each.count(". ") or not each.endswith(".")] == []


def test_the_unknown_fault_says_that_case_is_not_the_cause() -> None:
    assert "upper or lower case of the hex digits does not matter" in UNKNOWN_FAULT


@pytest.mark.parametrize("body", [b"", b"\x00", b"\xff" * 50, b"{", b"[" * 5000, "\ud800", b'{"encryptedBody":1}'])
@pytest.mark.parametrize("part", ["", "\ud800", "é", "00" * 16])
def test_whatever_is_given_is_explained(body: bytes | str, part: str) -> None:
    explained = explain((body, part, part, part or KEY))

    assert explained.plain is None
    assert explained.fault is not None


def test_no_explanation_repeats_the_secret() -> None:
    for _, given in (*CORRECTED, *UNOPENED):
        assert given[3] not in str(explain(given).fault)
