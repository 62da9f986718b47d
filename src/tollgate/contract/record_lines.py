"""Files of acquirers about receipts and disputes: CSV text to checked lines.

Whether a line fits its payment is decided in `flows`.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from datetime import date

import msgspec

from tollgate.catalog import limits, results
from tollgate.payments.following import SYSTEM_ONLY
from tollgate.values import is_id, read_hundredths

NOTICES = frozenset(code for code, result in results.RESULTS.items() if result.group == "chargeback")
"""The result codes that come with a chargeback."""
_REASON = "resultCode"
COLUMNS = (
    "paymentId",
    "shortId",
    "merchantTransactionId",
    "type",
    "amount",
    "currency",
    _REASON,
    "reference",
    "date",
)
_NAMES = COLUMNS[:3]
_NEEDED = ("type", "reference")
_AMOUNT = re.compile(r"[0-9]{1,10}(?:\.[0-9]{2})?")
_REFERENCE = re.compile(r"[!-~](?:[ -~]{0,98}[!-~])?")
_TRANSACTION_LENGTH_MAX = 255


class RecordLine(msgspec.Struct, frozen=True, kw_only=True):
    """One fact that an acquirer reported."""

    number: int
    """The line of the file, from 1; the first line has the names."""
    payment_type: str
    payment_id: str = ""
    short_id: str = ""
    merchant_transaction_id: str = ""
    amount: int | None = None
    currency: str | None = None
    result_code: str | None = None
    reference: str
    """The acquirer's own; a fact is recorded once for each type and reference."""
    occurred_on: str = ""


class LineFault(msgspec.Struct, frozen=True):
    number: int
    message: str


def read_record_lines(body: bytes) -> tuple[list[RecordLine], list[LineFault]]:
    """Reads a file; all faults are returned with their lines."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return [], [LineFault(1, "the file must be UTF-8 text")]
    if "\0" in text:
        return [], [LineFault(1, "the file must not contain NUL")]
    lines: list[RecordLine] = []
    faults: list[LineFault] = []
    seen: dict[tuple[str, str], int] = {}
    reader = csv.DictReader(text.splitlines(), strict=True)
    try:
        fault = _check_names(reader.fieldnames or ())
        if fault is not None:
            return [], [LineFault(1, fault)]
        for row in reader:
            number = reader.line_num
            if len(lines) + len(faults) >= limits.LIMITS.record_lines_max:
                return [], [LineFault(number, f"a file has up to {limits.LIMITS.record_lines_max} lines")]
            if None in row:
                faults.append(LineFault(number, "has more values than the first line has names"))
                continue
            values = {name: (value or "").strip() for name, value in row.items()}
            found = [LineFault(number, message) for message in check_line(values)]
            first = seen.setdefault((values["type"], values["reference"]), number)
            if first != number and not found:
                found.append(LineFault(number, f"has the type and the reference of line {first}"))
            faults += found
            if not found:
                lines.append(make_line(number, values))
    except csv.Error as error:
        return [], [LineFault(reader.line_num, f"is no CSV: {error}")]
    if not lines and not faults:
        faults.append(LineFault(1, "the file has no lines after the first"))
    return lines, faults


def _check_names(names: object) -> str | None:
    given = [str(name).strip() for name in names] if isinstance(names, list) else []
    unknown = [name for name in given if name not in COLUMNS]
    if unknown or len(set(given)) != len(given):
        return f"names the columns among {', '.join(COLUMNS)}, each once"
    if not set(given) & set(_NAMES) or not set(given) >= set(_NEEDED):
        return "needs the columns type, reference, and one of paymentId, shortId and merchantTransactionId"
    return None


def check_line(values: Mapping[str, str]) -> Iterator[str]:
    """Yields what is wrong with the values of a line."""
    kind, code, day = values["type"], values.get(_REASON, ""), values.get("date", "")
    if kind not in SYSTEM_ONLY:
        yield f"type must be one of {', '.join(SYSTEM_ONLY)}"
    named = [name for name in _NAMES if values.get(name)]
    if len(named) != 1:
        yield f"exactly one of {', '.join(_NAMES)} must be filled in"
    elif named == ["paymentId"] and not is_id(values["paymentId"]):
        yield "paymentId must have 32 digits of 0-9 and a-f"
    elif len(values[named[0]]) > _TRANSACTION_LENGTH_MAX:
        yield f"{named[0]} is too long"
    amount = values.get("amount", "")
    if amount and (not _AMOUNT.fullmatch(amount) or not read_hundredths(amount)):
        yield "amount must be more than 0, as in 12.34"
    currency = values.get("currency", "")
    if currency and not re.fullmatch("[A-Z]{3}", currency):
        yield "currency must have three capital letters"
    if code and (kind != "CB" or code not in NOTICES):
        yield "resultCode must be the code of a chargeback, such as 000.100.203, and only a CB has one"
    if not _REFERENCE.fullmatch(values["reference"]):
        yield "reference must have 1 to 100 visible characters"
    if day and not _is_day(day):
        yield "date must be a day, as in 2026-11-15"


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def make_line(number: int, values: Mapping[str, str]) -> RecordLine:
    """Makes the line of values that were checked."""
    amount = values.get("amount")
    return RecordLine(
        number=number,
        payment_type=values["type"],
        payment_id=values.get("paymentId", ""),
        short_id=values.get("shortId", ""),
        merchant_transaction_id=values.get("merchantTransactionId", ""),
        amount=read_hundredths(amount) if amount else None,
        currency=values.get("currency") or None,
        result_code=values.get(_REASON) or None,
        reference=values["reference"],
        occurred_on=values.get("date", ""),
    )


def read_fact(
    payment_id: str,
    payment_type: str,
    reference: str,
    *,
    amount: str = "",
    currency: str = "",
    result_code: str = "",
    occurred_on: str = "",
) -> tuple[RecordLine | None, list[LineFault]]:
    """Reads a fact that somebody typed, with the checks of a line."""
    values = {
        "paymentId": payment_id,
        "type": payment_type,
        "amount": amount,
        "currency": currency,
        _REASON: result_code,
        "reference": reference,
        "date": occurred_on,
    }
    faults = [LineFault(0, message) for message in check_line(values)]
    return (None if faults else make_line(0, values)), faults
