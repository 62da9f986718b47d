"""Finds out why the signature of a webhook is wrong, and says so in one sentence.

It is for the owner of the secret, like the explanation of bodies.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from tollgate.values import Secret
from tollgate.vault.body_explaining import NOT_JSON, WRAPPER_MEMBER, Explanation, strip_quotes, strip_space
from tollgate.vault.webhooks import (
    SIGNATURE_VERSION,
    SIGNING_PREFIX,
    WebhookError,
    find_bytes,
    read_signing_key,
    verify_signature,
)

TOLERANCE_S = 300
"""Libraries for Standard Webhooks refuse a timestamp that is further away than this."""


class _Signed(NamedTuple):
    body: bytes
    event_id: str
    timestamp: str
    header: str


def _write_again(body: bytes) -> bytes:
    try:
        return msgspec.json.encode(msgspec.json.decode(body))
    except NOT_JSON:
        return body


def _wrap(body: bytes) -> bytes:
    return msgspec.json.encode({WRAPPER_MEMBER: body.decode("ascii", "replace")})


SIGNED_HYPOTHESES: tuple[tuple[Callable[[_Signed], _Signed], str], ...] = (
    (
        lambda signed: signed._replace(body=signed.body.strip()),
        "There is whitespace around the body that was not signed, such as a line break at its end.",
    ),
    (
        lambda signed: signed._replace(body=_write_again(signed.body)),
        "The body was parsed and written again: verify the bytes of the request as they came.",
    ),
    (
        lambda signed: signed._replace(body=_wrap(signed.body)),
        f"The body was taken out of its JSON wrapper: the signature covers the wrapper with {WRAPPER_MEMBER}, too.",
    ),
    (
        lambda signed: signed._replace(event_id=signed.timestamp, timestamp=signed.event_id),
        "Id and timestamp are swapped.",
    ),
    (
        lambda signed: signed._replace(timestamp=signed.timestamp.removesuffix("000")),
        "The timestamp is in milliseconds: the header has seconds, and its text is signed as it came.",
    ),
)
"""These corrections are tried in this order, and the first that verifies the signature is the fault."""

_SIGNATURE = re.compile(rf"{SIGNATURE_VERSION},[A-Za-z0-9+/]{{43}}=")

SIGNED_FAULTS: tuple[tuple[Callable[[_Signed], bool], str], ...] = (
    (lambda signed: not signed.header, "The signature is missing: it is in the header webhook-signature."),
    (
        lambda signed: not any(_SIGNATURE.fullmatch(each) for each in signed.header.split(" ")),
        "The header has the wrong format: a signature is v1, a comma and base64 of 32 bytes; spaces separate several.",
    ),
    (lambda signed: not signed.event_id, "The id is missing: it is in the header webhook-id."),
    (
        lambda signed: re.fullmatch("[0-9]+", signed.timestamp) is None,
        "The timestamp is missing or not a number: it is in the header webhook-timestamp, in seconds since 1970.",
    ),
)
"""If no correction verifies the signature, these are checked in this order, and the first that is true is the fault."""

UNKNOWN_SIGNED_FAULT = (
    "The signing secret is of another endpoint or was rotated, or the body, id or timestamp was changed or belongs to "
    "another delivery: the header has the right format, and no signature in it is right."
)


def explain_signature(
    body: bytes, event_id: str, timestamp: str, header: str, signing: Secret, now_s: int
) -> Explanation:
    """Verifies a signed body, or finds the first correction with which it is verified, or says what is wrong."""
    signed = _Signed(body, event_id.strip(), timestamp.strip(), header.strip())
    key = Secret(strip_quotes(strip_space(signing.reveal())))
    fault = _find_key_fault(key)
    if fault is not None:
        return Explanation(None, fault)
    notes = _list_age_notes(signed.timestamp, now_s)
    if verify_signature(*signed, [key]):
        return Explanation(body, None, notes)
    found = (why for correct, why in SIGNED_HYPOTHESES if verify_signature(*correct(signed), [key]))
    known = (why for is_so, why in SIGNED_FAULTS if is_so(signed))
    return Explanation(None, next(found, None) or next(known, UNKNOWN_SIGNED_FAULT), notes)


def _find_key_fault(signing: Secret) -> str | None:
    if find_bytes(signing.reveal()) is not None:
        return f"This is the secret of the encryption: signatures need the one that begins with {SIGNING_PREFIX}."
    try:
        read_signing_key(signing)
    except WebhookError:
        return f"The signing secret is not {SIGNING_PREFIX} and base64."
    return None


def _list_age_notes(timestamp: str, now_s: int) -> tuple[str, ...]:
    if re.fullmatch("[0-9]{1,11}", timestamp) is None or abs(now_s - int(timestamp)) <= TOLERANCE_S:
        return ()
    side = "old" if int(timestamp) < now_s else "new"
    return (f"The timestamp is too {side}: a receiver refuses it, because it is more than {TOLERANCE_S} seconds away.",)
