"""The command iso8583, which explains messages to and from acquirers. What it says is made in `connectors`."""

import re
import sys
from typing import BinaryIO

import click

from tollgate.catalog.limits import LIMITS
from tollgate.cli.program import program
from tollgate.connectors.iso8583 import transcript

NOT_READ = 1
_HEXADECIMAL = re.compile(rb"\s*(?:[0-9A-Fa-f]{2}\s*)+")
_BYTES_MAX = 4 * LIMITS.iso8583_message_bytes_max
"""A message in hexadecimal digits has two for each byte, and blanks between them."""


@program.group()
def iso8583() -> None:
    """Messages of ISO 8583."""


@iso8583.command()
@click.argument("file", type=click.File("rb"), default="-")
def explain(file: BinaryIO) -> None:
    """Explain one message, raw or in hexadecimal digits, with or without its length header.

    Accounts are masked. The first byte that is wrong is named, and the exit status is 1 then.
    """
    shown = transcript.explain(transcript.drop_length_header(read_input(file.read(_BYTES_MAX))))
    click.echo(shown.render())
    if shown.fault is not None:
        sys.exit(NOT_READ)


def read_input(data: bytes) -> bytes:
    """Reads hexadecimal digits as the bytes they stand for. The bitmap of a raw message is hardly ever made of digits."""
    if _HEXADECIMAL.fullmatch(data):
        return bytes.fromhex(data.decode())
    return data
