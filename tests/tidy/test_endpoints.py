"""The rows that describe the endpoints agree with the routes that answer them. What they say is tested elsewhere."""

from __future__ import annotations

from tollgate.catalog.answers import ANSWERS
from tollgate.catalog.endpoints import ENDPOINTS, UNDESCRIBED, Answer
from tollgate.catalog.parameters.names import PARAMETERS, first_word
from tollgate.contract import webhooks
from tollgate.payments.webhooks import FieldChoice, Scheme, Wrapper
from tollgate.sandbox import controls, token_vault
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


def test_every_endpoint_demands_the_credentials_that_its_row_names() -> None:
    demanded = {f"{row.method} {row.path}": row.access.value for row in (*ROUTES, *controls.ROUTES)}
    assert {key: row.access for key, row in ENDPOINTS.items()} == {key: demanded[key] for key in ENDPOINTS}


def test_the_own_parameters_of_an_endpoint_are_those_that_it_reads() -> None:
    own = {key: {each.name: each.shape for each in row.own} for key, row in ENDPOINTS.items() if row.own}
    terms = own["POST /v1/webhooks"]
    assert list(terms) == [*webhooks.TERMS, webhooks.SECRET]
    assert list(own["POST /v1/webhooks/{id}"]) == list(webhooks.TERMS)
    assert list(own["POST /v1/webhooks/{id}/rotate"]) == [row.name for row in webhooks.ROTATION_TERMS]
    for name, words in {"fields": FieldChoice, "scheme": Scheme, "wrapper": Wrapper}.items():
        assert set(terms[name].choices) == set(words)
    assert set(own["POST /sandbox/registrations/{id}/networkToken"]["event"].choices) == set(token_vault.Event)
    assert own["POST /sandbox/clock"]["advance"].accepts(str(controls.ADVANCE_S_MAX))
    assert not own["POST /sandbox/clock"]["advance"].accepts(str(controls.ADVANCE_S_MAX + 1))


def test_every_kind_of_answer_has_members_and_is_answered() -> None:
    assert set(ANSWERS) == set(Answer)
    answered = {kind for row in ENDPOINTS.values() for kind in (row.answer, *row.also)}
    within = {member.like for members in ANSWERS.values() for member in members if member.like}
    assert answered | within == set(Answer)
