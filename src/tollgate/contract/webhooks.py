"""The terms of an endpoint for webhooks as requests and commands give them, and endpoints as answers show them.

Whether an address may be sent to is decided in `wire`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.events import EVENTFUL_PAYMENT_TYPES, SUBSCRIPTIONS
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import GROUPS, get_result, make_invalid
from tollgate.contract.answers import Answer, Envelope, Json, encode_answer
from tollgate.contract.fields import Pairs, is_identity_name
from tollgate.payments.webhooks import FieldChoice, Scheme, Webhook, WebhookState, Wrapper
from tollgate.values import SECOND, Fault, Instant, Secret, render_timestamp

_SECRET = re.compile("[0-9A-Fa-f]{64}")
_BOOLEANS = {"true": True, "false": False}
_RETRY_S_MAX = LIMITS.delivery_lifetime // SECOND

_SHOWN_WORDS, _SHOWN_LENGTH = 5, 40
"""So much of what was sent is repeated in an answer."""

_Read = Callable[[Sequence[str]], Any]


class Term(msgspec.Struct, frozen=True):
    """One term of an endpoint; a ValueError of `read` is the rule that a value breaks."""

    name: str
    """Its name in requests; commands spell it with hyphens."""
    member: str
    read: _Read
    text: str
    notation: str
    is_list: bool = False
    words: tuple[str, ...] = ()
    """The words of a list; empty where any may be given."""


def _read_single(values: Sequence[str]) -> str:
    if len(values) != 1:
        raise ValueError("must not be repeated")
    return values[0]


def _split(values: Sequence[str]) -> tuple[str, ...]:
    """Splits lists, which may be repeated and separated by commas, and leaves out what was given twice."""
    words = (word.strip() for value in values for word in value.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def _make_words_reader(valid: Iterable[str]) -> _Read:
    known = tuple(valid)

    def read(values: Sequence[str]) -> tuple[str, ...]:
        words = _split(values)
        unknown = [word for word in words if word not in known]
        if unknown:
            shown = ", ".join(word[:_SHOWN_LENGTH] for word in unknown[:_SHOWN_WORDS])
            raise ValueError(f"{shown} is unknown: must be among [{', '.join(known)}]")
        return words

    return read


def _make_choice_reader(kind: type[StrEnum]) -> _Read:
    def read(values: Sequence[str]) -> StrEnum:
        value = _read_single(values)
        if value not in list(kind):
            raise ValueError(f"must be one of [{', '.join(kind)}]")
        return kind(value)

    return read


def _read_url(values: Sequence[str]) -> str:
    url = _read_single(values)
    if not 1 <= len(url) <= LIMITS.webhook_url_length_max:
        raise ValueError(f"must have 1 to {LIMITS.webhook_url_length_max} characters")
    return url


def _read_boolean(values: Sequence[str]) -> bool:
    value = _read_single(values)
    if value not in _BOOLEANS:
        raise ValueError("must be true or false")
    return _BOOLEANS[value]


def _read_retries(values: Sequence[str]) -> tuple[int, ...]:
    words = [word.strip() for value in values for word in value.split(",") if word.strip()]
    seconds = [int(word) for word in words if re.fullmatch("[0-9]{1,7}", word)]
    is_good = len(seconds) == len(words) and all(1 <= pause_s <= _RETRY_S_MAX for pause_s in seconds)
    if not is_good or len(words) > LIMITS.webhook_retries_max:
        raise ValueError(f"must be up to {LIMITS.webhook_retries_max} pauses of 1 to {_RETRY_S_MAX} seconds")
    return tuple(seconds)


def _read_secret(values: Sequence[str]) -> Secret:
    value = _read_single(values)
    if _SECRET.fullmatch(value) is None:
        raise ValueError("must have 64 hex digits")
    return Secret(value)


def _make_list_term(name: str, member: str, words: Sequence[str], text: str, notation: str) -> Term:
    return Term(name, member, _make_words_reader(words), text, notation, is_list=True, words=tuple(words))


SECRET = "secret"
_ROWS = (
    Term("url", "url", _read_url, "The address that events are sent to.", "URL"),
    _make_list_term("types", "types", sorted(SUBSCRIPTIONS), "Types or names of events.", "WORDS"),
    _make_list_term(
        "paymentTypes", "payment_types", EVENTFUL_PAYMENT_TYPES, "The payment types whose events it gets.", "CODES"
    ),
    _make_list_term(
        "resultGroups",
        "result_groups",
        [group.id for group in GROUPS],
        "The groups of result codes whose events it gets.",
        "GROUPS",
    ),
    Term("fields", "fields", _make_choice_reader(FieldChoice), "Whether customer data is sent.", "|".join(FieldChoice)),
    Term("scheme", "scheme", _make_choice_reader(Scheme), "The protection of a body.", "|".join(Scheme)),
    Term("wrapper", "wrapper", _make_choice_reader(Wrapper), "The form of an encrypted body.", "|".join(Wrapper)),
    Term("ordered", "is_ordered", _read_boolean, "Whether events of one object wait for each other.", "BOOLEAN"),
    Term("retries", "retries_s", _read_retries, "The pauses before each retry, the last repeated.", "SECONDS", True),
)
TERMS: Mapping[str, Term] = MappingProxyType({row.name: row for row in _ROWS})
SECRET_TERM = Term(SECRET, SECRET, _read_secret, "The secret of another gateway; by default a random one.", "HEX")


def read_terms(pairs: Pairs, *, is_new: bool) -> dict[str, Any]:
    """Reads the terms of a new endpoint, or those to change, by the members of a `Webhook`; or names every fault.

    A list without words stands for everything. Only a new endpoint may bring a secret, under that name.
    """
    rows = {**TERMS, **({SECRET: SECRET_TERM} if is_new else {})}
    return _read_rows(pairs, rows, ["url"] if is_new else [])


def read_rotation(pairs: Pairs) -> tuple[int, Secret | None]:
    """Reads for how many hours the present secrets stay live, and the new secret if the merchant brings one."""
    found = _read_rows(pairs, {SECRET: SECRET_TERM, "overlap": _OVERLAP}, [])
    return found.get("overlap", _OVERLAP_HOURS), found.get(SECRET)


def _read_overlap(values: Sequence[str]) -> int:
    value = _read_single(values)
    if re.fullmatch("[0-9]{1,3}", value) is None or int(value) > LIMITS.webhook_overlap_hours_max:
        raise ValueError(f"must be 0 to {LIMITS.webhook_overlap_hours_max} hours")
    return int(value)


_OVERLAP_HOURS = 24
_OVERLAP = Term("overlap", "overlap", _read_overlap, "For how long the present secrets stay live; 24 hours.", "HOURS")
ROTATION_TERMS = (_OVERLAP, SECRET_TERM)


def _read_rows(pairs: Pairs, rows: Mapping[str, Term], needed: Sequence[str]) -> dict[str, Any]:
    sent: dict[str, list[str]] = {}
    for name, value in pairs:
        if not is_identity_name(name):
            sent.setdefault(name, []).append(value)
    faults = [Fault(name, "is required") for name in needed if name not in sent]
    found: dict[str, Any] = {}
    for name, values in sent.items():
        row = rows.get(name)
        try:
            if row is None:
                raise ValueError(f"is unknown here; known are [{', '.join(rows)}]")
            found[row.member] = row.read(values)
        except ValueError as broken:
            faults.append(Fault(name, str(broken)))
    if faults:
        raise make_invalid(*faults)
    return found


def render_webhook(webhook: Webhook, **more: Any) -> Json:
    """Renders an endpoint without its secrets."""
    return {
        "id": webhook.id,
        "state": webhook.state.name.lower(),
        **({"reason": webhook.reason} if webhook.state is not WebhookState.ACTIVE and webhook.reason else {}),
        "url": webhook.url,
        **({"entityId": webhook.channel_id} if webhook.channel_id else {}),
        **{row.name: getattr(webhook, row.member) for row in _ROWS if row.name != "url"},
        "creationDate": render_timestamp(webhook.created_at),
        **more,
    }


def render_secrets(webhook: Webhook, secret: str, signing_secret: str) -> Json:
    """Renders what is shown once, when an endpoint is new or its secrets are."""
    state = webhook.state.name.lower()
    return {"id": webhook.id, "secret": secret, "signingSecret": signing_secret, "state": state}


def render_backlog(count: int, oldest: Instant | None) -> Json:
    """Renders how many deliveries are pending, and the time of the oldest event among them."""
    return {"pendingDeliveries": count, "oldestPending": None if oldest is None else render_timestamp(oldest)}


def render_test(status: int | None, failure: str, latency_ms: int) -> Json:
    """Renders what came of a test event; without a failure it was answered with 2xx."""
    return {"test": {"status": status, "failure": failure or None, "latencyMs": latency_ms}}


def answer_webhook(envelope: Envelope, ndc: str, now: Instant, **shown: Any) -> Answer:
    return encode_answer(200, {**shown, **envelope.wrap(get_result(codes.REQUEST_SUCCEEDED), ndc, now)})
