"""The answers of a test host to the examples, as the documentation shows them: with stable ids and times.

They are recorded by `make answers`; a test compares them with a server.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from api.example_host import ALL, ExampleHost
from tollgate.catalog.examples import list_steps
from tollgate.docs.openapi import EXAMPLE_ENTITY, EXAMPLE_HOST

_ENTRIES_SHOWN = 1
"""Lists are cut, because a host that has answered other examples lists their payments too."""
_LAST = ("moved_clock",)
"""It changes the time of all others."""

_HEX = r"(?<![0-9A-Fa-f]){}(?![0-9A-Fa-f])"
_PATTERNS: Mapping[re.Pattern[str], Callable[[str], str]] = {
    re.compile(r"(?<=/v1/shopper/)[A-Za-z0-9_-]+"): lambda digits: digits,
    re.compile(r"whsec_[A-Za-z0-9+/=]+"): lambda digits: f"whsec_{base64.b64encode(bytes.fromhex(digits)).decode()}",
    re.compile(r"[0-9a-f]{32}-[0-9a-f]{12}"): lambda digits: f"{digits[:32]}-{digits[32:44]}",
    re.compile(r"[0-9A-F]{32}\.[0-9a-z]+"): lambda digits: f"{digits[:32].upper()}.{digits[32:44]}",
    re.compile(_HEX.format("[0-9a-f]{64}")): lambda digits: digits,
    re.compile(_HEX.format("[0-9A-F]{32}")): lambda digits: digits[:32].upper(),
    re.compile(_HEX.format("[0-9a-f]{32}")): lambda digits: digits[:32],
    re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"): lambda digits: str(UUID(digits[:32], version=4)),
    re.compile(r"(?<![0-9.])[0-9]{4}(?:\.[0-9]{4}){2}(?![0-9.])"): lambda digits: _spell_number(int(digits, 16)),
}
"""The texts that differ from run to run, and how each is made again from 64 hex digits."""
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T])[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(\+0000|Z)")
_MASKED_WORDS = {"latencyMs": 12, "buildNumber": "0.1.0"}
_MASKED_TEXTS = (
    "cursor",
    "verificationId",
    "ConnectorTxID1",
    "ConnectorTxID2",
    "ConnectorTxID3",
    "CardholderInitiatedTransactionID",
)
_MASKED_DAYS = {"date": "2026-03-01", "keptUntil": "2027-03-01", "DueDate": "2026-03-06"}


@dataclass
class Mask:
    """Replaces what differs from run to run by values of the same form, the same for the same value."""

    base_url: str
    known: dict[str, str] = field(default_factory=dict)

    def hide(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {word: self.hide(member, word) for word, member in value.items()}
        if isinstance(value, list):
            is_long = any(isinstance(entry, dict) for entry in value)
            return [self.hide(entry, name) for entry in (value[:_ENTRIES_SHOWN] if is_long else value)]
        if name in _MASKED_WORDS and value is not None:
            return _MASKED_WORDS[name]
        return self._hide_text(value, name) if isinstance(value, str) else value

    def learn(self, value: Any, shown: Any) -> None:
        """Takes over how an earlier answer was shown, because the same step was sent again and got other ids."""
        if isinstance(value, dict) and isinstance(shown, dict):
            for word in value.keys() & shown.keys():
                self.learn(value[word], shown[word])
        elif isinstance(value, list) and isinstance(shown, list):
            for one, other in zip(value, shown, strict=False):
                self.learn(one, other)
        elif isinstance(value, str) and isinstance(shown, str) and any(each.fullmatch(value) for each in _PATTERNS):
            self.known[value] = shown

    def _hide_text(self, text: str, name: str) -> str:
        if name in _MASKED_DAYS:
            return _MASKED_DAYS[name]
        if name in _MASKED_TEXTS:
            return self._replace(text, lambda digits: digits[:16].upper())
        text = _TIME.sub(r"2026-03-01\g<1>12:30:59\g<2>", text.replace(self.base_url, EXAMPLE_HOST))
        for pattern, make in _PATTERNS.items():
            text = self._hide_all(pattern, make, text)
        return text

    def _hide_all(self, pattern: re.Pattern[str], make: Callable[[str], str], text: str) -> str:
        return pattern.sub(lambda match: self._replace(match[0], make), text)

    def _replace(self, found: str, make: Callable[[str], str]) -> str:
        if found in self.known.values():
            return found
        if found not in self.known:
            self.known[found] = make(hashlib.sha256(str(len(self.known)).encode()).hexdigest())
        return self.known[found]


def _spell_number(number: int) -> str:
    digits = f"{number % 10**12:012}"
    return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"


@dataclass(frozen=True)
class Recorded:
    name: str
    status: int
    body: Any
    shown: Any
    """The body as the documentation shows it."""


def record_answers(host: ExampleHost) -> Iterator[Recorded]:
    """Sends every example, those that others need first, so that the ids of one are found again in the other."""
    mask, shown = Mask(host.client.base_url, {host.client.entity_id: EXAMPLE_ENTITY}), dict[str, Any]()
    in_order = sorted(ALL.values(), key=lambda example: (example.name in _LAST, len(list_steps(example))))
    for example in in_order:
        host.remove_webhooks()
        before = host.prepare(example)
        for step, answered in before.items():
            mask.learn(answered, shown.get(step))
        answer = host.send(example, before)
        shown[example.name] = mask.hide(answer.json)
        yield Recorded(example.name, answer.status, answer.json, shown[example.name])


def outline(value: Any, place: str = "") -> set[str]:
    """Returns the paths of all members, and what is the same in every run: result codes and words."""
    if isinstance(value, dict):
        return {place}.union(*(outline(member, f"{place}.{word}") for word, member in value.items()))
    if isinstance(value, list):
        return {place}.union(*(outline(entry, f"{place}[]") for entry in value))
    return {f"{place}={value}"} if place.endswith((".code", ".paymentType", ".currency", ".state")) else {place}
