"""A request names its caller once, in either spelling, and the password is a secret from the start."""

from __future__ import annotations

import pytest

from tollgate.contract.fields import check_entity_id, is_identity_name, read_identity
from tollgate.values import InvalidParameters

ENTITY = "8a" + "0" * 30


@pytest.mark.parametrize("name", ["entityId", "authentication.entityId"])
def test_an_entity_is_read_in_both_spellings(name: str) -> None:
    assert read_identity([("amount", "1"), (name, ENTITY)]).entity_id == ENTITY
    assert is_identity_name(name)


def test_a_request_without_credentials_names_nobody() -> None:
    identity = read_identity([("entityId", ""), ("authentication.password", ""), ("amount", "1")])

    assert (identity.entity_id, identity.user_id, identity.password) == (None, None, None)
    assert not is_identity_name("amount")


def test_a_password_does_not_print() -> None:
    identity = read_identity([("authentication.userId", "jane"), ("authentication.password", "hunter2")])

    assert "hunter2" not in repr(identity)
    assert identity.user_id == "jane"


@pytest.mark.parametrize("second", ["entityId", "authentication.entityId"])
def test_two_identities_are_refused(second: str) -> None:
    with pytest.raises(InvalidParameters) as refused:
        read_identity([("entityId", ENTITY), (second, ENTITY)])

    assert [fault.name for fault in refused.value.faults] == [second]


@pytest.mark.parametrize("entity_id", ["", "x", ENTITY.upper(), ENTITY + "0", "8a" + "g" * 30])
def test_what_cannot_be_an_entity_is_named(entity_id: str) -> None:
    with pytest.raises(InvalidParameters) as refused:
        check_entity_id(read_identity([("entityId", entity_id)]))

    assert [fault.name for fault in refused.value.faults] == ["entityId"]
