"""The columns of the list of payments, on the page and in its files, and how the files are written.

Which payments are listed is decided elsewhere.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from enum import StrEnum

import msgspec
import orjson

from tollgate.contract.searching import Trait, get_email, get_last_digits, get_result_state
from tollgate.flows.search_payments import FoundPayment
from tollgate.office import csv_files
from tollgate.payments.payment import Payment
from tollgate.values import render_hundredths, to_datetime

_CHUNK_BYTES = 32_768
"""A part of a file is sent when it is so long."""


class Column(msgspec.Struct, frozen=True):
    title: str
    show: Callable[[Payment, Mapping[str, str]], str]
    """Takes the payment, and the names of channels by their ids."""
    is_number: bool = False
    """The cell is a number that we wrote, which a table program may take as one."""
    is_for_files: bool = False
    """The page leaves the column out, because few payments fill it."""


def render_time(payment: Payment) -> str:
    return f"{to_datetime(payment.created_at):%Y-%m-%dT%H:%M:%SZ}"


def render_sellers(payment: Payment) -> str:
    return "; ".join(f"{share.seller_id} {render_hundredths(share.amount)}" for share in payment.split)


COLUMNS = (
    Column("Time", lambda payment, _: render_time(payment)),
    Column("Short id", lambda payment, _: payment.short_id),
    Column("Amount", lambda payment, _: payment.money.render(), is_number=True),
    Column("Currency", lambda payment, _: payment.money.currency),
    Column("Type", lambda payment, _: payment.payment_type),
    Column("State", lambda payment, _: str(get_result_state(payment))),
    Column("Result", lambda payment, _: payment.result_code),
    Column("Brand", lambda payment, _: payment.brand),
    Column("Account", lambda payment, _: get_last_digits(payment)),
    Column(Trait.REFERENCE.value, lambda payment, _: payment.merchant_transaction_id or ""),
    Column("E-mail", lambda payment, _: get_email(payment)),
    Column("Channel", lambda payment, channels: channels.get(payment.channel_id, payment.channel_id)),
    Column("Sellers", lambda payment, _: render_sellers(payment), is_for_files=True),
    Column("Payment id", lambda payment, _: payment.id),
    Column("Integrity", lambda _payment, _: ""),
)
TAMPERED = "tampered"
UNREADABLE = "unreadable"
_TITLES = [column.title for column in COLUMNS]


def list_cells(found: FoundPayment, channels: Mapping[str, str]) -> list[str]:
    """Lists the cells of a row; a row that is not what was written says so in its last cell."""
    if found.payment is None:
        return [*[""] * (len(COLUMNS) - 2), found.place.id, UNREADABLE]
    cells = [column.show(found.payment, channels) for column in COLUMNS]
    return cells if found.is_trusted else [*cells[:-1], TAMPERED]


class FileKind(StrEnum):
    CSV = "csv"
    JSON = "json"


CONTENT_TYPES = {FileKind.CSV: csv_files.CSV, FileKind.JSON: b"application/json;charset=UTF-8"}


def _render_line(cells: list[str]) -> bytes:
    pairs = zip(COLUMNS, cells, strict=True)
    return csv_files.render_line(csv_files.render_cell(text, is_number=column.is_number) for column, text in pairs)


async def write_file(
    kind: FileKind, found: AsyncGenerator[FoundPayment, None], channels: Mapping[str, str]
) -> AsyncGenerator[bytes, None]:
    """Yields the parts of a file with all payments that were found."""
    chunk = bytearray()
    async with aclosing(found):
        async for line in _list_lines(kind, found, channels):
            chunk += line
            if len(chunk) >= _CHUNK_BYTES:
                yield bytes(chunk)
                chunk.clear()
    yield bytes(chunk)


async def _list_lines(
    kind: FileKind, found: AsyncIterator[FoundPayment], channels: Mapping[str, str]
) -> AsyncIterator[bytes]:
    if kind is FileKind.CSV:
        yield _render_line(_TITLES)
        async for each in found:
            yield _render_line(list_cells(each, channels))
        return
    separator = b"[\n"
    async for each in found:
        yield separator + orjson.dumps(dict(zip(_TITLES, list_cells(each, channels), strict=True)))
        separator = b",\n"
    yield b"[]\n" if separator == b"[\n" else b"\n]\n"
