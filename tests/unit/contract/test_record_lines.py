"""Files of acquirers: every line is checked, and every fault is named with its line."""

from __future__ import annotations

import pytest

from tollgate.catalog.limits import LIMITS
from tollgate.contract.record_lines import LineFault, RecordLine, read_record_lines

ID = "8a" + "1" * 30
HEAD = "paymentId,type,amount,currency,resultCode,reference,date"


def read(*lines: str, head: str = HEAD) -> tuple[list[RecordLine], list[LineFault]]:
    return read_record_lines("\n".join((head, *lines)).encode())


def test_a_line_with_all_columns_is_read() -> None:
    lines, faults = read(f"{ID},CB,12.50,EUR,000.100.203,ref 1,2026-11-15")
    assert faults == []
    assert lines == [
        RecordLine(
            number=2,
            payment_type="CB",
            payment_id=ID,
            amount=1250,
            currency="EUR",
            result_code="000.100.203",
            reference="ref 1",
            occurred_on="2026-11-15",
        )
    ]


def test_columns_may_be_left_out_and_stand_in_any_order() -> None:
    lines, faults = read("r1,RC,1234.5678.9012", "r2,CR,", head="\ufeffreference,type,shortId")
    assert [(line.short_id, line.amount) for line in lines] == [("1234.5678.9012", None)]
    assert [fault.number for fault in faults] == [3]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (f"{ID},XX,,,,r,", "type must be one of"),
        ("nonsense,CB,,,,r,", "paymentId"),
        (",CB,,,,r,", "exactly one"),
        (f"{ID},CB,0.00,EUR,,r,", "amount"),
        (f"{ID},CB,-1.00,EUR,,r,", "amount"),
        (f"{ID},CB,1.005,EUR,,r,", "amount"),
        (f"{ID},CB,1.00,eur,,r,", "currency"),
        (f"{ID},CB,1.00,EUR,000.000.000,r,", "resultCode"),
        (f"{ID},RC,1.00,EUR,000.100.203,r,", "resultCode"),
        (f"{ID},RC,1.00,EUR,,,", "reference"),
        (f"{ID},RC,1.00,EUR,,{'r' * 101},", "reference"),
        (f"{ID},RC,1.00,EUR,,r,15.11.2026", "date"),
        (f"{ID},RC,1.00,EUR,,r,2026-02-30", "date"),
        (f"{ID},RC,1.00,EUR,,r,2026-11-15,more", "more values"),
    ],
)
def test_a_fault_is_named_with_its_line(line: str, word: str) -> None:
    lines, faults = read(f"{ID},RC,1.00,EUR,,fine,", line)
    assert [each.number for each in lines] == [2]
    assert [fault.number for fault in faults] == [3]
    assert word in faults[0].message


def test_all_faults_of_all_lines_are_named() -> None:
    _, faults = read("nonsense,XX,x,x,x,,x", f"{ID},XX,,,,r,")
    assert [fault.number for fault in faults] == [2] * 7 + [3]


def test_a_reference_stands_for_one_line_of_its_type() -> None:
    lines, faults = read(f"{ID},CB,,,,same,", f"{ID},CR,,,,same,", f"{ID},CB,,,,same,")
    assert len(lines) == 2
    assert faults == [LineFault(4, "has the type and the reference of line 2")]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"a\0b",
        b"paymentId,type\n",
        b"paymentId,type,reference,other\n",
        b"paymentId,type,type,reference\n",
        b"type,reference\n",
        HEAD.encode(),
        HEAD.encode() + b'\n"open',
    ],
)
def test_what_is_no_such_file_is_refused_as_a_whole(body: bytes) -> None:
    lines, faults = read_record_lines(body)
    assert lines == []
    assert len(faults) == 1


def test_a_file_has_a_highest_number_of_lines() -> None:
    line = f"{ID},CB,,,,r"
    lines, faults = read(*[f"{line}{number}," for number in range(LIMITS.record_lines_max + 1)])
    assert lines == []
    assert "up to" in faults[0].message
