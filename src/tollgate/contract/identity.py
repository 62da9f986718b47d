"""Whom a request claims to come from, as spelled in query and body. Whether the claim is true is decided elsewhere."""

from __future__ import annotations

import msgspec

from tollgate.catalog import PARAMETERS, get_result
from tollgate.contract.form import Pairs
from tollgate.values import Fault, InvalidParameters, Secret

_IDENTITY_NAMES = {
    "entityId": "entity_id",
    "authentication.entityId": "entity_id",
    "authentication.userId": "user_id",
    "authentication.password": "password",
}


class Identity(msgspec.Struct, frozen=True):
    """What a request says of its sender; a password is a secret from the first moment."""

    entity_id: str | None = None
    user_id: str | None = None
    password: Secret | None = None


def is_identity_name(name: str) -> bool:
    return name in _IDENTITY_NAMES


def read_identity(pairs: Pairs) -> Identity:
    """Named once or not at all: two identities in one request would let two readers see two callers."""
    found: dict[str, str] = {}
    for name, value in [pair for pair in pairs if pair[0] in _IDENTITY_NAMES]:
        member = _IDENTITY_NAMES[name]
        if member in found:
            raise _faulty(name, "must not be repeated")
        found[member] = value
    password = found.get("password")
    # One public plugin glues a second query to the entity with another question mark.
    entity_id = found.get("entity_id", "").partition("?")[0]
    return Identity(entity_id or None, found.get("user_id") or None, Secret(password) if password else None)


def check_entity_id(identity: Identity) -> None:
    """Refuses a request that names no entity, or something that cannot be one."""
    row = PARAMETERS["entityId"]
    if identity.entity_id is None:
        raise _faulty(row.name, "may not be empty")
    if not row.shape.accepts(identity.entity_id):
        raise _faulty(row.name, row.shape.message)


def _faulty(name: str, message: str) -> InvalidParameters:
    return InvalidParameters(get_result("200.300.404"), [Fault(name, message)])
