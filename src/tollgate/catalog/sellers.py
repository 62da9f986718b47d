"""The sellers of a marketplace payment among the fields of a request. What they get of it is decided in `payments`."""

from collections.abc import Iterable

_OPENING = "marketPlace.sellers["


def list_sellers(names: Iterable[str]) -> list[tuple[str, str]]:
    """Lists the names of the id and of the amount of each seller that was sent, in the order of their indices."""
    indices = {name[len(_OPENING) : name.index("]")] for name in names if name.startswith(_OPENING)}
    return [make_seller_names(int(index)) for index in sorted(indices, key=int)]


def make_seller_names(index: int) -> tuple[str, str]:
    return f"{_OPENING}{index}].id", f"{_OPENING}{index}].amount"
