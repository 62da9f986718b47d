"""The requests of examples as a client sends them, and what the routes tell about an endpoint.

How a request is written in a language is known to `snippets`.
"""

import re
from collections.abc import Mapping
from inspect import getdoc

import msgspec

from tollgate.catalog.endpoints import ENDPOINTS, ENTITY_ID, Endpoint
from tollgate.catalog.examples import Example, Pairs
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


def find_route(endpoint: Endpoint) -> RouteRow | None:
    """Finds the route of an endpoint; those that only a test host loads are not known here."""
    return _ROUTES.get(endpoint.key)


def get_summary(endpoint: Endpoint) -> str:
    """Returns the text of the handler, which is the one description of an endpoint."""
    route = find_route(endpoint)
    return endpoint.note if route is None else getdoc(route.handler) or ""


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
