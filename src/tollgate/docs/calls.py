"""The requests of examples as a client sends them, and what the routes tell about an endpoint.

How a request is written in a language is known to `snippets`.
"""

import re
from collections.abc import Mapping
from inspect import getdoc

import msgspec

from tollgate.catalog import throttles
from tollgate.catalog.endpoints import ENDPOINTS, ENTITY_ID, Endpoint
from tollgate.catalog.examples import Example, Pairs
from tollgate.catalog.rule import Rule
from tollgate.catalog.rules import RULES
from tollgate.web.api import ROUTES
from tollgate.web.request import RouteRow

HOLE = re.compile(r"\{([a-z]+)\}")
_FORM = ("Content-Type", "application/x-www-form-urlencoded")
_TOKEN = ("Authorization", "Bearer {token}")
_AS_JSON = ("Accept", "application/json")
_ENTITY = (ENTITY_ID, "{entity}")
_ROUTES: Mapping[str, RouteRow] = {f"{row.method} {row.path}": row for row in ROUTES}


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request whose path, headers and values may contain holes such as `{id}`, `{entity}` and `{token}`."""

    method: str
    path: str
    headers: Pairs
    pairs: Pairs

    @property
    def has_body(self) -> bool:
        return self.method == "POST"

    @property
    def has_query(self) -> bool:
        return bool(self.pairs) and not self.has_body

    def fill(self, holes: Mapping[str, str]) -> "Call":
        """Returns the request with the values of its holes; others stay as they are."""

        def put(text: str) -> str:
            return HOLE.sub(lambda hole: holes.get(hole[1], hole[0]), text)

        return Call(
            method=self.method,
            path=put(self.path),
            headers=tuple((name, put(value)) for name, value in self.headers),
            pairs=tuple((name, put(value)) for name, value in self.pairs),
        )


def get_summary(endpoint: Endpoint) -> str:
    """Returns the text of the handler, or the row's where only a test host loads the handler."""
    route = _ROUTES.get(endpoint.key)
    return endpoint.note if route is None else getdoc(route.handler) or ""


def find_throttle(endpoint: Endpoint) -> throttles.Throttle | None:
    """Finds how often an endpoint may be asked; endpoints that only a test host has have no limit."""
    route = _ROUTES.get(endpoint.key)
    return None if route is None else throttles.THROTTLES.get(route.operation)


def list_rules(endpoint: Endpoint) -> list[Rule]:
    """Lists the rules between parameters that apply to an endpoint."""
    throttle = find_throttle(endpoint)
    if throttle is None or not throttle.has_rules:
        return []
    # `GET /v3/query` is checked as a search, and shares both its limit and its rules with `GET /v1/query`.
    return [
        rule
        for rule in RULES
        if (not rule.operations or throttle.operation in rule.operations)
        and (not rule.groups or not rule.groups.isdisjoint(endpoint.takes))
    ]


def make_call(example: Example) -> Call:
    """Returns the request of an example with the headers and the entity that its endpoint needs."""
    method, _, path = example.endpoint.partition(" ")
    endpoint = ENDPOINTS.get(example.endpoint)
    if endpoint is None:
        return Call(method=method, path=path, headers=(), pairs=example.pairs)
    pairs = (_ENTITY, *example.pairs) if endpoint.access == "entity" else example.pairs
    headers = (
        *((_AS_JSON,) if endpoint.is_for_shoppers else ()),
        *((_TOKEN,) if endpoint.access != "open" else ()),
        *((_FORM,) if method == "POST" and pairs else ()),
    )
    return Call(method=method, path=path, headers=headers, pairs=pairs)
