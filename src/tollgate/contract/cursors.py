"""Cursors: where a page of a list ended, as text that a merchant carries to the next request. Nothing is stored.

A cursor holds its place in clear and a seal over the place, its owner and the filters. So it continues the list that it
came from and no other, and nobody can make one.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode

import msgspec

from tollgate.catalog import get_result
from tollgate.payments import Channel, Period, Place, Search
from tollgate.values import Fault, InvalidParameters
from tollgate.vault import Keyring, make_mac

_NAME = "cursor"
_PURPOSE = "cursor"
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(tuple[int, str, bytes])


def render_cursor(place: Place, channel: Channel, filters: Search | Period, keyring: Keyring) -> str:
    sealed = (place.at, place.id, _seal(place, channel, filters, keyring))
    return urlsafe_b64encode(_encoder.encode(sealed)).decode().rstrip("=")


def read_cursor(text: str, channel: Channel, filters: Search | Period, keyring: Keyring) -> Place:
    try:
        at, place_id, seal = _decoder.decode(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, msgspec.MsgspecError):
        raise _refuse(text) from None
    place = Place(at, place_id)
    is_ours = hmac.compare_digest(seal, _seal(place, channel, filters, keyring))
    # Written again, because text of several spellings can be read as the same bytes.
    if not is_ours or render_cursor(place, channel, filters, keyring) != text:
        raise _refuse(text)
    return place


def _seal(place: Place, channel: Channel, filters: Search | Period, keyring: Keyring) -> bytes:
    # The name of the type stands for the list: a place among payments is none in the book.
    wanted = msgspec.json.encode(filters).decode()
    facts = (type(filters).__name__, channel.merchant_id, channel.id, wanted, place.at, place.id)
    return make_mac(_PURPOSE, facts, keyring)


def _refuse(text: str) -> InvalidParameters:
    message = "must be the cursor of an earlier page of this list, with the same filters"
    return InvalidParameters(get_result("200.300.404"), [Fault(_NAME, message, text)])
