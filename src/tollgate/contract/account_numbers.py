"""Account numbers in fields that are no accounts: they are found, and refused or masked. Nothing is charged here."""

import re
from collections.abc import Iterable, Mapping, Sequence

from tollgate.catalog import card_numbers
from tollgate.catalog.parameters.names import Resolved, resolve
from tollgate.catalog.parameters.row import Parameter, Secrecy
from tollgate.catalog.results import make_invalid
from tollgate.values import Fault, InvalidParameters

_IBAN = "bankAccount.iban"
_OWN = ("card.number", "tokenAccount.number", _IBAN, "bankAccount.number")
_KEY = re.compile(r"\[(?![0-9]{1,4}\])")
_DIGIT = re.compile(r"\d")
_MASK = "X"
"""A shape that takes as many digits takes this letter too, so that what is hidden can be read again."""
_OWN_MESSAGE = "must not contain the number of the account"
_CARD_MESSAGE = "must not contain the number of a card"


def check_own_numbers(values: Mapping[str, str], echo: Mapping[str, str], keys: Sequence[str] = ()) -> list[Fault]:
    """Names the fields that are stored in clear and contain the request's own account number.

    Shoppers do type the number into the field for the name.

    `keys` are the names that have a key of the merchant's own in them.
    """
    faults: list[Fault] = []
    for own in _OWN:
        if own not in values:
            continue
        number = (
            card_numbers.normalize_iban(values[own]) if own == _IBAN else card_numbers.normalize_number(values[own])
        )
        # All fields are searched at once, and one by one only if the number was found.
        if number and card_numbers.contains_number("\0".join((*echo.values(), *keys)), number):
            faults += fault_numbers(
                name
                for name, text in echo.items()
                if card_numbers.contains_number(text, number) or card_numbers.contains_number(name, number)
            )
    return faults


def check_key(key: str, values: Mapping[str, str]) -> None:
    """An idempotency key is stored in clear, so it must not contain the number either."""
    if check_own_numbers(values, {"Idempotency-Key": key}):
        raise refuse_numbers(["Idempotency-Key"])


def list_exposing(echo: Mapping[str, str], key: str) -> dict[str, str]:
    """Returns the texts with enough digits for an account number, by name: fields, and the idempotency key.

    A key inside a name, such as `customParameters[key]`, is compared together with the value.
    """
    texts = {name: f"{name}\0{text}" if has_key(name) else text for name, text in echo.items()}
    if key:
        texts["Idempotency-Key"] = key
    return {
        name: text for name, text in texts.items() if len(card_numbers.keep_digits(text)) >= card_numbers.OWN_NUMBER_MIN
    }


def fault_numbers(names: Iterable[str]) -> list[Fault]:
    return [Fault(clean_name(name), _OWN_MESSAGE) for name in names]


def refuse_numbers(names: Iterable[str]) -> InvalidParameters:
    return make_invalid(*fault_numbers(names))


def clean_name(name: str) -> str:
    """Removes the digits of a name whose key may be an account number itself."""
    has_number = has_key(name) and len(card_numbers.keep_digits(name)) >= card_numbers.OWN_NUMBER_MIN
    return _DIGIT.sub("", name) if has_number else name


def clean_fault(fault: Fault, values: Mapping[str, str]) -> Fault:
    """Masks the value that a fault shows if it contains the request's own account number."""
    if fault.value is None or not check_own_numbers(values, {fault.name: fault.value}):
        return fault
    return Fault(clean_name(fault.name), fault.message, "***")


def can_hold_card(parameter: Parameter) -> bool:
    shapes = (parameter.shape, parameter.shape_for(is_lenient=True))
    is_long = any(shape.length_max >= card_numbers.CARD_NUMBER_MIN and not shape.choices for shape in shapes)
    return is_long and not parameter.holds_code


def has_key(name: str) -> bool:
    return _KEY.search(name) is not None


def may_expose_card(values: Sequence[str], keys: Sequence[str]) -> bool:
    """Tells cheaply whether a card number is possible: hardly any request has so many digits outside its references."""
    return card_numbers.has_long_run("\0".join((*values, *keys) if keys else values))


def check_card_numbers(echo: Mapping[str, str]) -> list[Fault]:
    return [
        Fault(clean_name(name), _CARD_MESSAGE) for name, text in echo.items() if _hide_cards(name, text) != (name, text)
    ]


def hide_cards(values: Mapping[str, str]) -> dict[str, str]:
    return dict(_hide_cards(name, text) for name, text in values.items())


def _hide_cards(name: str, text: str) -> tuple[str, str]:
    found = resolve(name)
    if not isinstance(found, Resolved) or found.parameter.secrecy not in (Secrecy.OPEN, Secrecy.MASK):
        return name, text
    shown = card_numbers.hide_card_numbers(text, _MASK) if can_hold_card(found.parameter) else text
    return card_numbers.hide_card_numbers(name, _MASK) if has_key(name) else name, shown
