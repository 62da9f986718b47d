"""JSON schemas of parameters and answers, made from their rows. Which endpoint has which is decided in `openapi`.

Patterns are written so that the regular expressions of ECMAScript, as JSON Schema demands, and those of Python agree.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tollgate.catalog.answers import Kind, Member
from tollgate.catalog.endpoints import ENTITY_ID, Endpoint, OwnParameter
from tollgate.catalog.parameters.names import HOLES, PARAMETERS, first_word
from tollgate.catalog.parameters.row import Parameter
from tollgate.catalog.shape import Shape

Json = dict[str, Any]

_ANY_CASE = re.compile(r"\(\?i:([a-z|]+)\)")
_UNSHARED = re.compile(r"\\[WdDwbB]")
"""Classes that mean letters and digits of all scripts in Python, and those of ASCII in ECMAScript."""
_HOLE = re.compile(r"\[(?:n|key|brand)\]")
RESULT_CODE = "ResultCode"


def refer(name: str, kind: str = "schemas") -> Json:
    return {"$ref": f"#/components/{kind}/{name}"}


# ---- patterns ----


def find_pattern(regex: str) -> str | None:
    """Returns the pattern for a whole value; None for one that ECMAScript would read in another way."""
    if _UNSHARED.search(regex):
        return None
    shared = _ANY_CASE.sub(_spell_cases, regex).replace(r"\Z", "$").replace('\\"', '"')
    return f"^(?:{''.join(map(_escape, shared))})$"


def _spell_cases(match: re.Match[str]) -> str:
    return f"(?:{''.join(f'[{each}{each.upper()}]' if each != '|' else each for each in match[1])})"


def _escape(character: str) -> str:
    """Spells controls and halves of characters as escapes, because no text can hold them."""
    number = ord(character)
    is_plain = character.isprintable() or number == ord(" ")
    return character if is_plain else f"\\u{number:04x}"


def render_shape(shape: Shape) -> Json:
    schema: Json = {"type": "string"}
    if shape.choices:
        return schema | {"enum": list(shape.choices)}
    if shape.length_min:
        schema["minLength"] = shape.length_min
    schema["maxLength"] = shape.length_max
    pattern = None if shape.pattern is None else find_pattern(shape.pattern.pattern)
    return schema if pattern is None else schema | {"pattern": pattern}


# ---- parameters ----


def render_parameter(row: Parameter) -> Json:
    # Lengths, words and most patterns are told by the schema itself.
    is_told = row.shape.pattern is None or row.shape.message.startswith("must match")
    words = [f"{text[0].upper()}{text[1:]}." for text in (row.note, "" if is_told else row.shape.message) if text]
    return {**render_shape(row.shape), **({"description": " ".join(words)} if words else {})}


def render_own(row: OwnParameter) -> Json:
    return {**render_shape(row.shape), "description": f"{row.note}."}


def render_name_pattern(name: str) -> str:
    """Turns `cart.items[n].name` into the pattern of the names that it stands for."""
    parts, place = [], 0
    for match in _HOLE.finditer(name):
        hole = HOLES[name[: match.start()]].pattern.pattern
        parts += [re.escape(name[place : match.start()]), rf"\[(?:{hole})\]"]
        place = match.end()
    return f"^{''.join(parts)}{re.escape(name[place:])}$"


def get_group_name(word: str) -> str:
    """Returns the name of the component of all parameters with a first word, or of the only one."""
    return f"{word}Parameters" if is_group(word) else word


def is_group(word: str) -> bool:
    """Tells whether a first word stands for more than the parameter of that name."""
    return word not in PARAMETERS or any(first_word(name) == word and name != word for name in PARAMETERS)


def list_named(word: str) -> list[Parameter]:
    return [row for name, row in PARAMETERS.items() if first_word(name) == word]


def render_group(word: str) -> Json:
    rows = list_named(word)
    plain = {row.name: render_parameter(row) for row in rows if not _HOLE.search(row.name)}
    patterns = {render_name_pattern(row.name): render_parameter(row) for row in rows if _HOLE.search(row.name)}
    return {
        "type": "object",
        **({"properties": plain} if plain else {}),
        **({"patternProperties": patterns} if patterns else {}),
    }


def render_components(endpoints: Iterable[Endpoint]) -> Json:
    """Renders the parameters that the endpoints take: a component for each, and one for each group of a form."""
    taken = [(word, endpoint.method) for endpoint in endpoints for word in endpoint.takes]
    words = dict.fromkeys((ENTITY_ID, *(word for word, method in taken if method == "POST" or not is_group(word))))
    return {
        get_group_name(word): render_group(word) if is_group(word) else render_parameter(PARAMETERS[word])
        for word in words
    }


def render_form(endpoint: Endpoint, needs: Iterable[str]) -> Json:
    """Renders the schema of a form: the groups that it takes, and the parameters of its own."""
    properties = {word: refer(get_group_name(word)) for word in endpoint.takes if not is_group(word)}
    if endpoint.access != "open":
        properties = {ENTITY_ID: refer(get_group_name(ENTITY_ID)), **properties}
    properties |= {row.name: render_own(row) for row in endpoint.own}
    required = [*needs, *(row.name for row in endpoint.own if row.is_required)]
    own: Json = {"type": "object", "properties": properties, **({"required": required} if required else {})}
    groups = [refer(get_group_name(word)) for word in endpoint.takes if is_group(word)]
    return {"allOf": [*groups, own]} if groups else own


# ---- answers ----


def render_members(members: Iterable[Member], shared: Mapping[int, str]) -> Json:
    """shared: the components that describe members which several answers have, by the identity of their tuple."""
    rows = tuple(members)
    required = [row.name for row in rows if row.is_always]
    return {
        "type": "object",
        **({"required": required} if required else {}),
        "properties": {row.name: render_member(row, shared) for row in rows},
    }


def render_member(row: Member, shared: Mapping[int, str]) -> Json:
    schema = _render_content(row, shared)
    if row.may_be_null:
        schema = {"anyOf": [schema, {"type": "null"}]} if "$ref" in schema else {**schema, "type": [row.kind, "null"]}
    return {**schema, "description": f"{row.note}."} if row.note else schema


def _render_content(row: Member, shared: Mapping[int, str]) -> Json:
    if row.kind is Kind.LIST:
        return {"type": "array", "items": _render_entry(row, shared)}
    if row.kind is Kind.OBJECT:
        return _render_object(row, shared)
    if row.name == "code":
        return refer(RESULT_CODE)
    return {"type": row.kind.value, **({"enum": list(row.choices)} if row.choices else {})}


def _render_entry(row: Member, shared: Mapping[int, str]) -> Json:
    if row.like is not None:
        return refer(row.like)
    return _render_object(row, shared) if row.members else {"type": row.entries.value}


def _render_object(row: Member, shared: Mapping[int, str]) -> Json:
    if not row.members:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    name = shared.get(id(row.members))
    return refer(name) if name else render_members(row.members, shared)
