"""Rules of carts and sellers. Sums of carts are not compared, because merchants round in their own ways."""

import re
from collections.abc import Iterable

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import MISSING, Check, Fields, Rule, Situation
from tollgate.catalog.sellers import list_sellers
from tollgate.catalog.throttles import OPERATIONS_WITH_RULES
from tollgate.values import Fault, read_hundredths, render_hundredths

_ITEM_INDEX = re.compile(r"cart\.items\[([0-9]+)\].*")
_ITEM_SELLER = re.compile(r"cart\.items\[[0-9]+\]\.sellerId")


def _check_item_count(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    indices = {match[1] for name in fields if (match := _ITEM_INDEX.fullmatch(name))}
    if len(indices) <= LIMITS.items_max:
        return ()
    return (Fault("cart.items", f"must have at most {LIMITS.items_max} items"),)


def _check_sellers(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    return [Fault(name, MISSING) for names in list_sellers(fields) for name in names if name not in fields]


def _check_seller_count(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    if len(list_sellers(fields)) <= LIMITS.sellers_max:
        return ()
    return (Fault("marketPlace.sellers", f"must have at most {LIMITS.sellers_max} sellers"),)


def _check_seller_ids(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    seen: set[str] = set()
    for name, _ in list_sellers(fields):
        seller_id = fields.get(name)
        if seller_id is None:
            continue
        if seller_id in seen:
            yield Fault(name, "must not be the id of another seller", seller_id)
        seen.add(seller_id)


def _check_seller_sum(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    """Names the last amount, which is the one that merchants compute from the others."""
    names = [name for _, name in list_sellers(fields)]
    parts = [part for name in names if (part := fields.get(name)) is not None]
    amount = fields.get("amount")
    if amount is None or len(parts) < len(names) or not names:
        return ()
    total = sum(map(read_hundredths, parts))
    if total == read_hundredths(amount):
        return ()
    message = f"must make the sellers' amounts add up to amount; they add up to {render_hundredths(total)}"
    return (Fault(names[-1], message, parts[-1]),)


def _check_item_sellers(fields: Fields, _situation: Situation) -> Iterable[Fault]:
    """Checks carts of payments with sellers; in others `sellerId` is a word of the merchant's own."""
    known = {fields.get(name) for name, _ in list_sellers(fields)}
    return [
        Fault(name, "must be the id of one of marketPlace.sellers", text)
        for name, text in fields.items()
        if _ITEM_SELLER.fullmatch(name) and text not in known
    ]


_WHOLE = OPERATIONS_WITH_RULES - {"update_checkout"}
"""A change of a checkout may be one share alone; it is checked once it is joined with what was prepared."""


def _make_seller_rule(name: str, text: str, check: Check) -> Rule:
    return Rule(name, text, check, groups=frozenset({"marketPlace"}), operations=_WHOLE)


BASKET_RULES = (
    Rule("item_count", f"A cart has at most {LIMITS.items_max} items.", _check_item_count, groups=frozenset({"cart"})),
    _make_seller_rule("seller_whole", "A seller of a marketplace has both id and amount.", _check_sellers),
    _make_seller_rule("seller_count", f"A payment has at most {LIMITS.sellers_max} sellers.", _check_seller_count),
    _make_seller_rule("seller_ids", "The ids of the sellers differ.", _check_seller_ids),
    _make_seller_rule("seller_sum", "The amounts of the sellers add up exactly to amount.", _check_seller_sum),
    _make_seller_rule(
        "seller_items", "A cart item names one of the sellers in sellerId, if sellers are sent.", _check_item_sellers
    ),
)
