"""The journal of a process: the messages to partners and the log lines of requests, until a worker writes them.

A payment only adds a reference to a queue. A worker masks what is queued several times a second, and writes it later,
when payments leave it the time. Both queues are bounded: the oldest entries are dropped and counted. So the journal
helps a person to understand a payment, and is no record that anything relies on.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import msgspec
import orjson

from tollgate.catalog.limits import LIMITS
from tollgate.connectors.exchange import JSON, WireReply, WireRequest
from tollgate.connectors.masking import mask_members, mask_numbers
from tollgate.operations.caches import MerchantCache
from tollgate.store.journal import JournalRow
from tollgate.values import Instant, MerchantId, RandomBytes, hide_checkout_ids, make_timed_id

MESSAGE, LINE = "message", "line"
REPEATED = frozenset({"recovery request", "reversal request", "inquiry on return"})
"""Requests that are made again until a partner decides, for weeks if it takes so long: only the last one is kept."""


class Subject(Protocol):
    """A payment or a registration that messages are about."""

    @property
    def merchant_id(self) -> MerchantId: ...

    @property
    def id(self) -> str: ...

    @property
    def ndc(self) -> str: ...

    @property
    def created_at(self) -> Instant: ...


class About(NamedTuple):
    """The subject of a message, where only its id is known."""

    merchant_id: MerchantId
    id: str
    created_at: Instant
    ndc: str = ""


class _Message(NamedTuple):
    at: Instant
    about: Subject
    label: str
    request: WireRequest
    reply: WireReply | str


class _Line(NamedTuple):
    at: Instant
    ndc: str
    facts: Mapping[str, object]


class _Masked(msgspec.Struct, frozen=True, gc=False):
    """An entry that waits to be written; there may be thousands, which the garbage collector need not look into."""

    at: Instant
    merchant_id: MerchantId
    payment_id: str
    ndc: str
    kind: str
    text: bytes
    row_id: str = ""
    """The id of its row, where a later entry takes the place of an earlier one."""


class Journal:
    """It keeps nothing before its worker runs, so that no message with a card stays in the memory of a command."""

    def __init__(self) -> None:
        self.is_open = False
        self.dropped = 0
        """The number of entries that were dropped because a queue was full."""
        self._new: deque[_Message | _Line] = deque()
        self._masked: deque[_Masked] = deque()

    @property
    def has_entries(self) -> bool:
        return bool(self._new or self._masked)

    def note_message(
        self, at: Instant, about: Subject, label: str, request: WireRequest, reply: WireReply | str
    ) -> None:
        """Notes an exchange with a partner; reply: why there is no answer, where there is none."""
        if self.is_open:
            self._add(_Message(at, about, label, request, reply))

    def note_line(self, at: Instant, ndc: str, facts: Mapping[str, object]) -> None:
        """Notes a log line about a request; its trace id begins with the channel, by which its merchant is found."""
        if self.is_open and "_" in ndc:
            self._add(_Line(at, ndc, facts))

    def _add(self, entry: _Message | _Line) -> None:
        if len(self._new) >= LIMITS.journal_new_max:
            self._new.popleft()
            self.dropped += 1
        self._new.append(entry)

    def mask(self, merchants: MerchantCache, limit: int) -> int:
        """Masks what was noted, and lets go of the messages themselves; returns how many there were."""
        count = min(limit, len(self._new))
        for _ in range(count):
            try:
                masked = _mask(self._new.popleft(), merchants)
            except (orjson.JSONEncodeError, RecursionError):
                # A body has lists in lists without end, or a line has text that cannot be encoded.
                self.dropped += 1
                continue
            if masked is None:
                continue
            if len(self._masked) >= LIMITS.journal_masked_max:
                self._masked.popleft()
                self.dropped += 1
            self._masked.append(masked)
        return count

    def take(self, limit: int, random_bytes: RandomBytes) -> list[JournalRow]:
        """Returns the oldest entries as rows, and forgets them."""
        taken = [self._masked.popleft() for _ in range(min(limit, len(self._masked)))]
        rows = [
            JournalRow(
                merchant_id=each.merchant_id,
                id=each.row_id or make_timed_id(each.at, random_bytes(8).hex()),
                payment_id=each.payment_id,
                ndc=each.ndc,
                at=each.at,
                kind=each.kind,
                text=mask_numbers(each.text.decode()),
            )
            for each in taken
        ]
        return [*{row.id: row for row in rows}.values()]


def _mask(entry: _Message | _Line, merchants: MerchantCache) -> _Masked | None:
    if isinstance(entry, _Line):
        channel = merchants.find_channel(entry.ndc.partition("_")[0])
        if channel is None:
            return None
        return _Masked(entry.at, channel.merchant_id, "", entry.ndc, LINE, orjson.dumps(entry.facts, default=str))
    reply = entry.reply
    request = entry.request
    masked = mask_members(request.body, request.content_type)
    facts = {"label": entry.label, "path": request.path, "request": masked}
    if isinstance(reply, str):
        facts["fault"] = reply
    else:
        facts["reply"] = mask_members(reply.body, reply.content_type)
        if reply.content_type == JSON:
            # Other protocols have no status of HTTP.
            facts["status"] = reply.status
    about = entry.about
    row_id = make_timed_id(about.created_at, f"{about.id}.{entry.label}") if entry.label in REPEATED else ""
    return _Masked(entry.at, about.merchant_id, about.id, about.ndc, MESSAGE, orjson.dumps(facts), row_id)


_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "ndc"}


class JournalLines(logging.Handler):
    """Notes warnings and errors that name a request. Tracebacks are left to the log itself."""

    def __init__(self, journal: Journal, now: Callable[[], Instant]) -> None:
        super().__init__(logging.WARNING)
        self._journal, self._now = journal, now

    def emit(self, record: logging.LogRecord) -> None:
        ndc = getattr(record, "ndc", None)
        if isinstance(ndc, str):
            facts = {name: str(value) for name, value in vars(record).items() if name not in _PLAIN}
            facts |= {"level": record.levelname.lower(), "log": record.name, "event": record.getMessage()}
            # Whoever has the id of a checkout can pay it.
            facts = {name: hide_checkout_ids(text) for name, text in facts.items()}
            self._journal.note_line(self._now(), ndc, facts)
