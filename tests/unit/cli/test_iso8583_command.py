"""`tollgate iso8583 explain` reads a message in any spelling, and fails if it cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tollgate.cli.program import program
from tollgate.connectors.iso8583 import codec
from tollgate.connectors.iso8583.codec import Message

DATA = codec.encode(Message("0110", {2: "4200000000000000", 39: "51"}))
WITH_HEADER = len(DATA).to_bytes(2) + DATA
GROUPED = "\n".join(DATA.hex()[start : start + 8] for start in range(0, len(DATA.hex()), 8))


def explain(data: bytes, *arguments: str) -> Result:
    return CliRunner().invoke(program, ["iso8583", "explain", *arguments], input=data)


@pytest.mark.parametrize(
    "data",
    [DATA, WITH_HEADER, DATA.hex().encode(), WITH_HEADER.hex().upper().encode() + b"\n", GROUPED.encode()],
    ids=["raw", "with header", "hexadecimal", "hexadecimal with header", "in groups"],
)
def test_a_message_is_explained_however_it_is_spelled(data: bytes) -> None:
    result = explain(data)

    assert result.exit_code == 0
    assert "authorization response" in result.output
    assert "420000******0000" in result.output
    assert "insufficient funds" in result.output


def test_a_message_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "message"
    file.write_bytes(DATA)

    assert explain(b"", str(file)).output == explain(DATA).output


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (DATA[:-1], "39             UNREADABLE: expected 2 bytes, found 1"),
        (b"hello", "mti            UNREADABLE: expected a digit, found 0x68"),
        (b"", "mti            UNREADABLE: expected 4 bytes, found 0"),
        (DATA * 500, "UNREADABLE: expected at most 4096 bytes"),
    ],
)
def test_a_message_that_cannot_be_read_ends_with_its_first_wrong_byte(data: bytes, line: str) -> None:
    result = explain(data)

    assert result.exit_code == 1
    assert line in result.output
    assert "4200000000000000" not in result.output
