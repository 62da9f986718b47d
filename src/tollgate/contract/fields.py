"""The fields of a request: decoded and checked against the catalogue. Their meaning is read elsewhere."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.parameters.names import IGNORED_BESIDE, PARAMETERS, first_word, resolve
from tollgate.catalog.parameters.row import Parameter, Secrecy
from tollgate.catalog.results import get_result, make_invalid
from tollgate.catalog.rule import Situation
from tollgate.catalog.rules import check_rules
from tollgate.contract import account_numbers, request_plans
from tollgate.contract.domains import check_addresses
from tollgate.contract.sent_names import find_name
from tollgate.values import Fault, InvalidParameters, Secret, TooLarge

Pairs = list[tuple[str, str]]

_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_SHOWN_NAME_MAX = 64


def read_form(body: bytes) -> Pairs:
    """Splits `a=1&b=2`. Blanks, brackets, `#`, `@` and raw UTF-8 may be unescaped, as many clients send them."""
    if not body:
        return []
    # Many clients leave a separator at the end.
    body = body.removesuffix(b"&")
    if body.count(b"&") >= LIMITS.parameters_max:
        raise TooLarge(get_result(codes.MALFORMED_REQUEST), f"more than {LIMITS.parameters_max} parameters")
    text = _decode_whole(body)
    parts = text.split("&")
    if "\0" in text:
        _refuse_hostile(parts)
    try:
        return _read_parts(parts)
    except InvalidParameters:
        # A fault that may hide something is reported before any other.
        _refuse_hostile(parts)
        raise


def _decode_whole(body: bytes) -> str:
    """Decodes the whole body, because separators are never part of a longer character."""
    try:
        return body.decode()
    except UnicodeDecodeError as fault:
        before = body[: fault.start].rpartition(b"&")[2].decode()
        raise _refused(before.partition("=")[0], "must be UTF-8 text") from None


def _read_parts(parts: Sequence[str]) -> Pairs:
    # One loop for all: a call for each part is 0.5 % of the instructions of a payment.
    pairs: Pairs = []
    length_max = LIMITS.name_length_max
    for part in parts:
        name, _, value = part.partition("=")
        if not name:
            raise _refused("", "a parameter has no name")
        if len(name) > length_max:
            raise _refused(name, f"names have at most {length_max} characters")
        if "%" in part or "+" in part:
            name, value = _unescape(name, name), _unescape(value, name)
        pairs.append((name, value))
    return pairs


def _unescape(text: str, name: str) -> str:
    if "%" not in text:
        return text.replace("+", " ")
    # Python's own reader of `\\xNN` is some fifty times as fast as a look at each escape, and as strict.
    escaped = text.encode().replace(b"\\", b"\\x5c").replace(b"+", b" ").replace(b"%", b"\\x")
    try:
        found = escaped.decode("unicode_escape").encode("latin-1").decode()
    except UnicodeDecodeError:
        raise _refused(name, "must be UTF-8 text") from None
    if "\0" in found:
        raise _refused(name, "must not contain NUL")
    return found


def _refuse_hostile(parts: list[str]) -> None:
    for part in parts:
        if "\0" in part or "%00" in part:
            raise _refused(part.partition("=")[0], "must not contain NUL")
        if "%" in part and _BAD_ESCAPE.search(part):
            raise _refused(part.partition("=")[0], "has a % that two hex digits do not follow")


def _refused(name: str, message: str) -> InvalidParameters:
    """Makes a refusal with the name in a form that is safe to show."""
    shown = name[:_SHOWN_NAME_MAX].encode("ascii", "replace").decode().replace("\0", "?")
    return make_invalid(Fault(shown, message))


_IDENTITY_NAMES = {
    "entityId": "entity_id",
    "authentication.entityId": "entity_id",
    "authentication.userId": "user_id",
    "authentication.password": "password",
}


class Identity(msgspec.Struct, frozen=True):
    """The sender that a request names."""

    entity_id: str | None = None
    user_id: str | None = None
    password: Secret | None = None


def is_identity_name(name: str) -> bool:
    return name in _IDENTITY_NAMES


def read_identity(pairs: Pairs) -> Identity:
    """Reads the identity; two of them in one request would let two readers see two callers."""
    found: dict[str, str] = {}
    for name, value in [pair for pair in pairs if pair[0] in _IDENTITY_NAMES]:
        member = _IDENTITY_NAMES[name]
        if member in found:
            raise make_invalid(Fault(name, "must not be repeated"))
        found[member] = value
    password = found.get("password")
    # One public plugin glues a second query to the entity with another question mark.
    entity_id = found.get("entity_id", "").partition("?")[0]
    return Identity(entity_id or None, found.get("user_id") or None, Secret(password) if password else None)


def check_entity_id(identity: Identity) -> None:
    """Refuses a request that names no entity, or something that cannot be one."""
    row = PARAMETERS["entityId"]
    if identity.entity_id is None:
        raise make_invalid(Fault(row.name, "may not be empty"))
    if not row.shape.accepts(identity.entity_id):
        raise make_invalid(Fault(row.name, row.shape.message))


_NAMES = frozenset(PARAMETERS)
_ADDRESSES = frozenset(map(first_word, IGNORED_BESIDE))
"""The first words of names under which a field may be ignored; most requests have none of them."""


class Fields(msgspec.Struct, frozen=True):
    """The accepted fields of a request, by canonical name."""

    values: dict[str, str]
    groups: frozenset[str]
    """The first words of the names present, such as `card` or `customer`."""
    echo: dict[str, str]
    """The part that may be stored in clear and answered again."""

    def get(self, name: str) -> str | None:
        return self.values.get(name)


def read_fields(pairs: Pairs, situation: Situation) -> Fields:
    """Reads a request by the plan for its names, which accepts it whole, or else field by field."""
    accepted = request_plans.accept(pairs, situation)
    fields = read_plainly(pairs, situation) if accepted is None else Fields(*accepted)
    if situation.domains:
        check_addresses(fields.values, situation.domains)
    return fields


def read_plainly(pairs: Pairs, situation: Situation) -> Fields:
    """Reads any request and lists all of its faults, but for addresses that the channel does not allow.

    Unknown names and empty values are ignored, and repeated names refused; on a lenient channel the last counts.
    """
    values: dict[str, str] = {}
    echo: dict[str, str] = {}
    groups: set[str] = set()
    searched: list[str] = []
    keys: list[str] = []
    faults: list[Fault] = []
    lenient = situation.is_lenient
    for sent_name, value in pairs:
        found = find_name(sent_name, lenient) if value else None
        if found is None:
            continue
        parameter, accepts, name, group, is_storable, may_hold_card, is_keyed = found
        # A faulty field counts as sent for rules that ask whether a group is present.
        groups.add(group)
        if accepts(value) and (lenient or name not in values):
            values[name] = value
            if is_storable:
                echo[name] = value
            if may_hold_card:
                searched.append(value)
            if is_keyed:
                keys.append(name)
            continue
        faults.append(_explain(parameter, sent_name, value, is_lenient=lenient))
    present = frozenset(groups)
    if not _ADDRESSES.isdisjoint(present):
        faults = _drop_ignored(values, echo, faults)
    faults += account_numbers.check_own_numbers(values, echo, keys)
    if (searched or keys) and account_numbers.may_expose_card(searched, keys):
        if lenient:
            values, echo = account_numbers.hide_cards(values), account_numbers.hide_cards(echo)
        else:
            named = {fault.name for fault in faults}
            faults += [fault for fault in account_numbers.check_card_numbers(echo) if fault.name not in named]
    broken = check_rules(values, situation, present)
    if faults or broken:
        # Rules see acceptable fields only, and two rules may find the same one missing.
        faulty = {fault.name for fault in faults}
        faults += dict.fromkeys(fault for fault in broken if fault.name not in faulty)
        raise make_invalid(*(account_numbers.clean_fault(fault, values) for fault in faults))
    return Fields(values, present, echo)


def _explain(parameter: Parameter | Fault, sent_name: str, value: str, *, is_lenient: bool) -> Fault:
    if isinstance(parameter, Fault):
        return parameter
    fault = parameter.check_value(sent_name, value, is_lenient=is_lenient)
    return fault or Fault(sent_name, "must not be repeated", parameter.show(value))


def _drop_ignored(values: dict[str, str], echo: dict[str, str], faults: list[Fault]) -> list[Fault]:
    """Removes what another field takes the place of, and the faults found in it."""
    ignored = {name for name, other in IGNORED_BESIDE.items() if other in values}
    for name in ignored:
        values.pop(name, None)
        echo.pop(name, None)
    return [fault for fault in faults if fault.name not in ignored]


def merge_echo(kept: Mapping[str, str], sent: Mapping[str, str]) -> dict[str, str]:
    """Joins stored and sent fields; together they have the limits of one request, so that no row grows for ever."""
    merged = {**kept, **sent}
    for name, other in IGNORED_BESIDE.items():
        if other in merged:
            merged.pop(name, None)
    length = sum(len(name) + len(text) for name, text in merged.items())
    if len(merged) > LIMITS.parameters_max or length > LIMITS.body_bytes_max:
        raise TooLarge(get_result(codes.MALFORMED_REQUEST), "more than can be stored in one place")
    return merged


def list_unknown(pairs: Pairs) -> list[str]:
    """Lists the names that were sent with a value and have no row in the catalogue."""
    if _NAMES.issuperset([name for name, _ in pairs]):
        return []
    return [name for name, value in pairs if value and find_name(name, False) is None]


def is_never_stored(name: str) -> bool:
    resolved = resolve(name)
    return resolved is None or isinstance(resolved, Fault) or resolved.parameter.secrecy is Secrecy.NEVER
