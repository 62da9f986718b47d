"""Plain HTTP beside a TLS host: every request is told the https address with 307. Reads a head and no body."""

from __future__ import annotations

import asyncio

from tollgate.catalog import LIMITS


async def serve_redirects(host: str, port: int, base_url: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(LIMITS.read_timeout_s):
                head = await reader.readuntil(b"\r\n\r\n")
            writer.write(render_redirect(head, base_url))
            await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # Whoever does not send a head in time or in size gets no answer.
        finally:
            writer.close()

    server = await asyncio.start_server(answer, host, port, limit=LIMITS.header_bytes_max)
    async with server:
        await server.serve_forever()


def render_redirect(head: bytes, base_url: str) -> bytes:
    target = head.split(b"\r\n", 1)[0].split(b" ")
    path = target[1] if len(target) == 3 and target[1].startswith(b"/") else b"/"
    # Only what may stand in a header: a target with anything else is sent to the front door.
    if not all(0x21 <= byte <= 0x7E for byte in path):
        path = b"/"
    location = base_url.encode() + path
    return (
        b"HTTP/1.1 307 Temporary Redirect\r\nlocation: %b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n" % location
    )
