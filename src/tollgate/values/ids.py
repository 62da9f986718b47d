"""Ids and where their chance comes from. Chance is an argument, so that tests can hold the dice."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import NewType

from tollgate.values.clock import Instant

PaymentId = NewType("PaymentId", str)
MerchantId = NewType("MerchantId", str)
ChannelId = NewType("ChannelId", str)
RegistrationId = NewType("RegistrationId", str)
ScheduleId = NewType("ScheduleId", str)
CheckoutId = NewType("CheckoutId", str)
LinkId = NewType("LinkId", str)

RandomBytes = Callable[[int], bytes]
"""Gives that many unpredictable bytes."""

system_random_bytes: RandomBytes = os.urandom

_ID = re.compile("[0-9a-f]{32}")
_CHECKOUT_ID = re.compile(r"[0-9A-F]{32}\.[a-z0-9-]{1,63}")
_ANY_CHECKOUT_ID = re.compile(r"([0-9A-F]{8})[0-9A-F]{24}(?=\.[a-z0-9-])")
_CHECKOUT_DOT_AT = 32
_LINK_ID = re.compile("[0-9a-f]{32}-[a-z0-9-]{1,63}")
_NODE_LENGTH = 12


def make_id(random_bytes: RandomBytes = system_random_bytes) -> str:
    """32 lower-case hex digits: `8a` and 120 random bits.

    Never a leading 0, because some clients compare ids as numbers.
    """
    return "8a" + random_bytes(15).hex()


def is_id(text: str) -> bool:
    """What cannot be an id is not looked for: a path may hold text that no database takes, such as NUL."""
    return _ID.fullmatch(text) is not None


def make_checkout_id(merchant_id: MerchantId, random_bytes: RandomBytes = system_random_bytes) -> CheckoutId:
    """32 upper-case hex digits, a dot, and a node by which its merchant is found. Never as long as any other id."""
    return CheckoutId(f"{random_bytes(16).hex().upper()}.{name_node(merchant_id)}")


def make_link_id(merchant_id: MerchantId, random_bytes: RandomBytes = system_random_bytes) -> LinkId:
    """32 lower-case hex digits, a hyphen, and the node of its merchant: it has to be found by its address alone."""
    return LinkId(f"{random_bytes(16).hex()}-{name_node(merchant_id)}")


def find_link_node(link_id: str) -> str | None:
    """Returns the part of a payment link's id that names its merchant, or None where it cannot be such an id."""
    return link_id[_CHECKOUT_DOT_AT + 1 :] if _LINK_ID.fullmatch(link_id) else None


def name_node(merchant_id: MerchantId) -> str:
    """Tells a merchant's checkouts from others', so that every key of a store begins with the merchant."""
    return merchant_id[-_NODE_LENGTH:]


def find_node(checkout_id: str) -> str | None:
    """None for what cannot be the id of a checkout."""
    return checkout_id[_CHECKOUT_DOT_AT + 1 :] if _CHECKOUT_ID.fullmatch(checkout_id) else None


def find_checkout_id(ndc: str) -> CheckoutId | None:
    """What is done for a checkout carries its id as its trace, and no other trace looks like one."""
    return CheckoutId(ndc) if ndc[_CHECKOUT_DOT_AT : _CHECKOUT_DOT_AT + 1] == "." else None


def hide_checkout_ids(text: str) -> str:
    """Cuts every checkout id in a text short, because whoever has the whole id can pay with it."""
    return _ANY_CHECKOUT_ID.sub(r"\1***", text)


def make_short_id(random_bytes: RandomBytes = system_random_bytes) -> str:
    """`dddd.dddd.dddd`, for people to read out; it is not a key."""
    digits = f"{int.from_bytes(random_bytes(8), 'big') % 10**12:012d}"
    return f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"


def make_timed_id(at: Instant, subject_id: str) -> str:
    """Sorts by time, and is the same however often one thing is tried."""
    return f"{at:016x}{subject_id}"
