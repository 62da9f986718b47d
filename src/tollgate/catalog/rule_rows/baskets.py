"""Rules of carts and sellers. Sums are not compared, because merchants round in their own ways."""

from collections.abc import Iterable

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import MISSING, Fields, Rule, Situation
from tollgate.values import Fault


def _indices(fields: Fields, opening: str) -> set[str]:
    return {name[len(opening) : name.index("]")] for name in fields if name.startswith(opening)}


def _check_item_count(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    if len(_indices(fields, "cart.items[")) <= LIMITS.items_max:
        return ()
    return (Fault("cart.items", f"must have at most {LIMITS.items_max} items"),)


def _check_sellers(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return [
        Fault(name, MISSING)
        for index in sorted(_indices(fields, "marketPlace.sellers["), key=int)
        for name in (f"marketPlace.sellers[{index}].id", f"marketPlace.sellers[{index}].amount")
        if name not in fields
    ]


BASKET_RULES = (
    Rule("item_count", f"A cart has at most {LIMITS.items_max} items.", _check_item_count, groups=frozenset({"cart"})),
    Rule(
        "seller_whole",
        "A seller of a marketplace has both id and amount.",
        _check_sellers,
        groups=frozenset({"marketPlace"}),
    ),
)
