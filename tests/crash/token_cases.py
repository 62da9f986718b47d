"""One registered card and its network token, whose gateway dies between the vault's answer and its own write.

The crash points, and what each may leave behind, are rows elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from acquirer import Entry
from crash.background_cases import BackgroundCase, Stage, wait_while_time_passes
from crash.crashes import Request
from crash.store_reader import Record, Stored, StoreReader
from crash.world import PATIENCE_S, try_to
from gateway import CARD, Answer, Client
from tollgate.connectors import tokens

_VALID = {**CARD, "card.expiryYear": "2031", "testMode": "EXTERNAL"}


@dataclass(frozen=True)
class TokenRequest(Request):
    is_removal: bool = False


@dataclass
class TokenCase(BackgroundCase):
    registration_id: str = ""
    others: frozenset[str] = frozenset()
    """Registrations that were there before."""

    def prepare(self, stage: Stage, client: Client) -> None:
        """Waits for the token of a registration that is to be removed."""
        request = self.crash.request
        if isinstance(request, TokenRequest) and request.is_removal:
            self.registration_id = _keep(stage, client).json["id"]
            wait_while_time_passes(
                lambda: bool(self._find(stage.world.store).token), lambda: None, PATIENCE_S, lambda: "no token"
            )

    def run(self, stage: Stage) -> None:
        self.others = frozenset(each.id for each in stage.world.store.read_registrations())
        ask = self._remove if self.registration_id else lambda client: _keep(stage, client)
        # Whether it is answered before the job is run is chance.
        self.crash_once(stage, self.crash.kill, moves_clock=False, ask=lambda client: try_to(lambda: ask(client)))
        for kill in self.crash.recoveries:
            self.crash_once(stage, kill, moves_clock=True)

    def _remove(self, client: Client) -> Answer:
        sent = urlencode({"entityId": client.entity_id})
        return client.send("DELETE", f"/v1/registrations/{self.registration_id}?{sent}", None, client.authorized())

    def look(self, stage: Stage, records: Sequence[Record], ledger: dict[str, Entry]) -> None:  # noqa: ARG002
        asked = stage.vault.count(tokens.PROVISIONS, self.registration_id)
        status = stage.vault.statuses.get(self.registration_id, "none")
        self.rows = ", ".join([*self.tell_more(stage.world.store), f"{status} at the vault"])
        assert asked <= 1 + len(self.held), f"the vault was asked {asked} times"

    def list_subjects(self, store: StoreReader) -> list[str]:  # noqa: ARG002
        return [self.registration_id]

    def tell_more(self, store: StoreReader) -> list[str]:
        if not self.registration_id:
            [self.registration_id] = [each.id for each in store.read_registrations() if each.id not in self.others]
        stored = self._find(store)
        return [stored.received, f"token {json.loads(stored.token)['state'].lower()}" if stored.token else "no token"]

    def _find(self, store: StoreReader) -> Stored:
        return next(each for each in store.read_registrations() if each.id == self.registration_id)


def _keep(stage: Stage, client: Client) -> Answer:
    answer = replace(client, entity_id=stage.token_entity_id).post("/v1/registrations", _VALID)
    assert answer.status == 200, answer.body
    return answer
