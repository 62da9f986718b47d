"""Finds out why the encrypted body of a webhook does not open, and says so in one sentence.

It is for the owner of the secret: a receiver never explains to a sender what it refuses.
"""

import base64
import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from tollgate.values import Secret
from tollgate.vault.webhooks import (
    IV_BYTES,
    KEY_BYTES,
    SIGNING_PREFIX,
    TAG_BYTES,
    encode_text,
    find_bytes,
    find_plain,
)

WRAPPER_MEMBER = "encryptedBody"

NOT_JSON = (msgspec.DecodeError, UnicodeError, RecursionError)
"""Decoding any text may end with one of these."""

_READABLE_MIN = 8
_READABLE_BYTES = 16
_FIRST_COUNTER = b"\x00\x00\x00\x02"
"""GCM encrypts with CTR, whose first block of data has this number."""


class Explanation(msgspec.Struct, frozen=True):
    plain: bytes | None
    """The verified body, also one that opened only after a correction; None if nothing opens it."""
    fault: str | None = None
    """The reason why it does not open, or is not verified, as it was given; None if it is."""
    notes: tuple[str, ...] = ()
    """These were noticed and are not the reason."""


class _Given(NamedTuple):
    """The texts are what somebody pasted."""

    body: str
    iv: str
    tag: str
    key: str


class _Parts(NamedTuple):
    """The bytes go into the cipher, in the order of `find_plain`."""

    key: bytes
    iv: bytes
    tag: bytes
    body: bytes


def _find_hex(given: _Given) -> _Parts | None:
    return _join(find_bytes(given.key), find_bytes(given.iv), find_bytes(given.tag), find_bytes(given.body))


def _join(*parts: bytes | None) -> _Parts | None:
    known = [part for part in parts if part is not None]
    return _Parts(*known) if len(known) == len(parts) else None


def _swap(given: _Given) -> _Parts | None:
    return _find_hex(given._replace(iv=given.tag, tag=given.iv))


def _split_tag(given: _Given) -> _Parts | None:
    digits = 2 * TAG_BYTES
    return _find_hex(given._replace(body=given.body[:-digits], tag=given.body[-digits:]))


def _find_base64(text: str) -> bytes | None:
    plain = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError:
        return None


def _find_mixed(text: str) -> bytes | None:
    found = find_bytes(text)
    return _find_base64(text) if found is None else found


def _read_base64(given: _Given) -> _Parts | None:
    return _join(*(_find_mixed(text) for text in (given.key, given.iv, given.tag, given.body)))


def _take_raw(given: _Given) -> _Parts | None:
    return _with_body(given, given.body, "utf-8")


def _take_characters(given: _Given) -> _Parts | None:
    return _with_body(given, given.body, "latin-1")


def _with_body(given: _Given, body: str, encoding: str) -> _Parts | None:
    try:
        raw = body.encode(encoding, "surrogateescape")
    except UnicodeEncodeError:
        return None
    return _join(find_bytes(given.key), find_bytes(given.iv), find_bytes(given.tag), raw)


def _take_key_as_text(given: _Given) -> _Parts | None:
    return _find_hex(given._replace(key=encode_text(given.key)[:KEY_BYTES].hex()))


def _decode_key_twice(given: _Given) -> _Parts | None:
    return _find_hex(given._replace(key=(find_bytes(given.key) or b"").decode("ascii", "replace")))


HYPOTHESES: tuple[tuple[Callable[[_Given], _Parts | None], str], ...] = (
    (_swap, "IV and tag are swapped: the IV has 24 hex digits, the tag has 32."),
    (_split_tag, "The tag is appended to the body: the last 16 bytes of this body are the tag, not part of the body."),
    (_read_base64, "Base64 stands where hex belongs: body, IV, tag and secret are all hex."),
    (_take_raw, "The body was already decoded from hex to bytes; decode it once only."),
    (_take_characters, "The body was decoded to bytes and these were read as text; keep it as bytes or as hex."),
    (
        _take_key_as_text,
        "The text of the secret, cut to 32 characters, was the key; decode its 64 hex digits to 32 bytes.",
    ),
    (_decode_key_twice, "The secret was turned into hex twice; its own 64 digits are the hex."),
)
"""These corrections are tried in this order, and the first that opens the body is the fault."""


def _read_unverified(given: _Given) -> bytes:
    """Returns what the body decrypts to whatever its tag is, to be judged and never shown."""
    parts = _find_hex(given)
    if parts is None or len(parts.body) < _READABLE_MIN:
        return b""
    decryptor = Cipher(AES(parts.key), CTR(parts.iv + _FIRST_COUNTER)).decryptor()
    return decryptor.update(parts.body)


def _is_readable(given: _Given) -> bool:
    """Tells whether key and IV are right: otherwise the first bytes are noise and not the start of an object."""
    start = _read_unverified(given)[:_READABLE_BYTES]
    return start.startswith(b"{") and start.isascii() and start.decode().isprintable()


def _is_whole(given: _Given) -> bool:
    return _is_readable(given) and _is_object(_read_unverified(given))


def _is_truncated(given: _Given) -> bool:
    try:
        msgspec.json.decode(_read_unverified(given))
    except NOT_JSON as error:
        return _is_readable(given) and "truncated" in str(error)
    return False


def _is_object(text: str | bytes) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except NOT_JSON:
        return False


def _is_hex_of_hex(given: _Given) -> bool:
    key = find_bytes(given.key) or b""
    return re.fullmatch(rb"[0-9A-Fa-f]+", key) is not None


def _has_length(text: str, size: int) -> bool:
    return len(text) == 2 * size


FAULTS: tuple[tuple[Callable[[_Given], bool], str], ...] = (
    (
        lambda given: given.key.startswith(SIGNING_PREFIX),
        "This is the signing secret: bodies open with the other secret, which has 64 hex digits.",
    ),
    (lambda given: find_bytes(given.key) is None, "The secret is not hex: it has 64 digits of 0-9 and A-F."),
    (lambda given: not _has_length(given.key, KEY_BYTES), "The secret does not have 64 hex digits."),
    (lambda given: not given.body, "The body is empty: read it before a framework parses or consumes it."),
    (
        lambda given: _is_object(given.body),
        "The body is JSON without encryptedBody, so it is not encrypted: its endpoint has the scheme signed.",
    ),
    (
        lambda given: "\N{REPLACEMENT CHARACTER}" in given.body,
        "The body was decoded as text and lost bytes that are no text: read the bytes of the request as they came.",
    ),
    (lambda given: not given.iv, "The IV is missing: it is in the header X-Initialization-Vector."),
    (lambda given: not given.tag, "The tag is missing: it is in the header X-Authentication-Tag."),
    (lambda given: find_bytes(given.iv) is None, "The IV is not hex: it has 24 digits of 0-9 and A-F."),
    (lambda given: find_bytes(given.tag) is None, "The tag is not hex: it has 32 digits of 0-9 and A-F."),
    (
        lambda given: _has_length(given.iv, TAG_BYTES) and _has_length(given.tag, IV_BYTES),
        "IV and tag look swapped (the IV has 24 hex digits, the tag has 32), and the secret or the body is wrong, too.",
    ),
    (lambda given: not _has_length(given.iv, IV_BYTES), "The IV does not have 24 hex digits."),
    (lambda given: not _has_length(given.tag, TAG_BYTES), "The tag does not have 32 hex digits."),
    (
        lambda given: re.fullmatch("[0-9A-Fa-f]+", given.body) is None,
        "The body is not hex: it has characters other than 0-9 and A-F.",
    ),
    (
        lambda given: len(given.body) % 2 == 1,
        "The body has an odd number of hex digits: it was truncated, or a character is missing.",
    ),
    (
        _is_whole,
        "Secret and IV are right, and the tag is not that of this body: one was changed, or is of another delivery.",
    ),
    (_is_truncated, "Secret and IV are right, and the end of the body is missing: it was truncated."),
    (_is_readable, "Secret and IV are right, and the body was changed on its way."),
    (
        _is_hex_of_hex,
        "The secret is hex of text, and that text is hex again: use the 64 digits that were shown, as they are.",
    ),
)
"""If no correction opens the body, these are checked in this order, and the first that is true is the fault."""

UNKNOWN_FAULT = (
    "The secret is of another endpoint or was rotated, or IV, tag and body are not of one delivery: all have the right "
    "form, and no correction opens the body (swapped, tag appended, base64, decoded twice, secret as text); upper or "
    "lower case of the hex digits does not matter."
)

JSON_NOTE = f"The body came in the JSON wrapper: take {WRAPPER_MEMBER} out of it before you decode the hex."
RAW_NOTE = "The body came as raw hex, without the JSON wrapper."


def strip_space(text: str) -> str:
    return text.strip("\ufeff \t\r\n")


def strip_quotes(text: str) -> str:
    try:
        return msgspec.json.decode(text, type=str)
    except NOT_JSON:
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


class _Wrapper(msgspec.Struct, rename={"body": WRAPPER_MEMBER}):
    body: str


def _unwrap(text: str) -> str:
    try:
        return msgspec.json.decode(text, type=_Wrapper).body
    except NOT_JSON:
        return text


def _join_lines(text: str) -> str:
    joined = "".join(text.split())
    return joined if find_bytes(joined) is not None else text


CLEANINGS: tuple[tuple[Callable[[str], str], str], ...] = (
    (strip_space, "There is whitespace around the body, which was removed."),
    (strip_quotes, "There are quotes around the body, which were removed."),
    (_unwrap, JSON_NOTE),
    (_join_lines, "There is whitespace within the hex digits, which was removed."),
)
"""These steps are always taken, and one that changes the body leaves its note."""


def explain_body(body: bytes | str, iv: str | None, tag: str | None, secret: Secret) -> Explanation:
    """Opens a body, or finds the first correction that opens it, or says what is known to be wrong."""
    text = body if isinstance(body, str) else body.decode("utf-8", "surrogateescape")
    cleaned, notes = _clean(text)
    iv, tag, key = (strip_quotes(strip_space(each or "")) for each in (iv, tag, secret.reveal()))
    given = _Given(cleaned, iv, tag, key)
    plain = _open(_find_hex(given))
    if plain is not None:
        return Explanation(plain, None, notes if JSON_NOTE in notes else (*notes, RAW_NOTE))
    for correct, fault in HYPOTHESES:
        # What looks like whitespace or quotes may be bytes of a body that was decoded, so it is also tried as it came.
        for candidate in (given, given._replace(body=text)):
            plain = _open(correct(candidate))
            if plain is not None:
                return Explanation(plain, fault, notes if candidate is given else ())
    fault = next((fault for is_so, fault in FAULTS if is_so(given)), UNKNOWN_FAULT)
    return Explanation(None, fault, notes)


def _clean(text: str) -> tuple[str, tuple[str, ...]]:
    notes: tuple[str, ...] = ()
    for clean, note in CLEANINGS:
        before, text = text, clean(text)
        notes += (note,) if text != before else ()
    return text, notes


def _open(parts: _Parts | None) -> bytes | None:
    return None if parts is None else find_plain(*parts)
