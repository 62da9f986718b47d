"""Cursors: read as they were written, and by nobody else, for nothing else."""

from __future__ import annotations

import base64

import msgspec
import pytest
from msgspec.structs import replace

from tollgate.contract.reports import read_cursor, render_cursor
from tollgate.payments.merchants import Channel
from tollgate.payments.reporting import Period, Place, Search
from tollgate.values import ChannelId, InvalidParameters, MerchantId
from tollgate.vault.keyring import make_keyring

KEYRING = make_keyring()
CHANNEL = Channel(id=ChannelId("8a" + "2" * 30), merchant_id=MerchantId("8a" + "1" * 30), name="Shop", created_at=0)
FILTERS = Search(reference="order-0001", payment_types=("DB",))
PLACE = Place(1_800_000_000_000_000, "8a" + "4" * 30)
CURSOR = render_cursor(PLACE, CHANNEL, FILTERS, KEYRING)


def is_refused(text: str, channel: Channel = CHANNEL, filters: Search | Period = FILTERS) -> bool:
    with pytest.raises(InvalidParameters) as refused:
        read_cursor(text, channel, filters, KEYRING)
    return [fault.name for fault in refused.value.faults] == ["cursor"]


def test_a_cursor_is_read_as_it_was_written() -> None:
    assert read_cursor(CURSOR, CHANNEL, FILTERS, KEYRING) == PLACE
    # A ledger entry has the longest id.
    longest = Place(2**62, "0" * 16 + "8a" + "4" * 30 + "r")
    assert len(render_cursor(longest, CHANNEL, FILTERS, KEYRING)) <= 255


def test_a_cursor_serves_its_own_channel_and_filters_only() -> None:
    assert is_refused(CURSOR, replace(CHANNEL, id=ChannelId("8a" + "3" * 30)))
    assert is_refused(CURSOR, replace(CHANNEL, merchant_id=MerchantId("8a" + "3" * 30)))
    assert is_refused(CURSOR, filters=replace(FILTERS, reference="order-0002"))
    assert is_refused(CURSOR, filters=replace(FILTERS, payment_types=()))
    assert is_refused(CURSOR, filters=replace(FILTERS, ends_at=5))
    assert is_refused(CURSOR, filters=Period(begins_at=0, ends_at=1))


def test_a_cursor_of_other_keys_is_none() -> None:
    with pytest.raises(InvalidParameters):
        read_cursor(CURSOR, CHANNEL, FILTERS, make_keyring())


def test_no_character_of_a_cursor_can_be_another() -> None:
    for place, character in enumerate(CURSOR):
        for other in "Aa0_-":
            if other != character:
                assert is_refused(CURSOR[:place] + other + CURSOR[place + 1 :])


def test_a_cursor_that_was_changed_does_not_fit_its_signature() -> None:
    at, place_id, signature = msgspec.msgpack.decode(base64.urlsafe_b64decode(CURSOR + "=" * (-len(CURSOR) % 4)))

    forged = msgspec.msgpack.encode((at - 1, place_id, signature))

    assert is_refused(base64.urlsafe_b64encode(forged).decode().rstrip("="))


@pytest.mark.parametrize("text", ["A", "AAAA", "_", CURSOR[:-1], CURSOR + "A", CURSOR * 2, "k" * 255])
def test_other_text_is_no_cursor(text: str) -> None:
    assert is_refused(text)
