"""The rows that describe the endpoints agree with the routes that answer them. What they say is tested elsewhere."""

from __future__ import annotations

from tollgate.catalog.endpoints import ENDPOINTS, UNDESCRIBED
from tollgate.catalog.parameters.names import PARAMETERS, first_word
from tollgate.sandbox import controls
from tollgate.web.api import ROUTES

PATHS = {f"{row.method} {row.path}" for row in (*ROUTES, *controls.ROUTES)}
DESCRIBED = {
    f"{endpoint.method} {path}" for endpoint in ENDPOINTS.values() for path in (endpoint.path, *endpoint.also_at)
}
WORDS = set(map(first_word, PARAMETERS))


def test_every_endpoint_of_the_interface_is_described_once() -> None:
    assert DESCRIBED | UNDESCRIBED == PATHS
    assert not DESCRIBED & UNDESCRIBED


def test_every_parameter_that_an_endpoint_takes_has_a_row() -> None:
    assert [(key, word) for key, row in ENDPOINTS.items() for word in row.takes if word not in WORDS] == []
    assert [(key, name) for key, row in ENDPOINTS.items() for name in row.needs if name not in PARAMETERS] == []
    assert WORDS - {word for row in ENDPOINTS.values() for word in row.takes} <= {"entityId", "authentication"}


def test_the_page_of_every_endpoint_has_an_address_of_its_own() -> None:
    assert len({row.slug for row in ENDPOINTS.values()}) == len(ENDPOINTS)
