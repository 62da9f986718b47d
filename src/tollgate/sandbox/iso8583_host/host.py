"""The server of the simulated ISO 8583 host: reads frames, applies the rules and answers.

What a request changes is decided by the ledger, and what goes wrong on purpose by the rules.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import msgspec

from tollgate.connectors.iso8583 import codec, network, transcript
from tollgate.connectors.iso8583.codec import Message
from tollgate.connectors.iso8583.fields import PRIVATE, Tag
from tollgate.connectors.iso8583.network import NetworkCode
from tollgate.sandbox.iso8583_host.ledger import APPROVED, Entry, HostLedger, make_references
from tollgate.sandbox.iso8583_host.rules import Act, Rule, RuleBook
from tollgate.values import RandomBytes

_KEY_BYTES = 16
_ECHOED = (3, 4, 7, 11, 12, 13, 32, 37, 41, 42, 49)
_SHOWN = ("70", "2", "4", "49", "39", "11", "41", "37")
"""The elements of a message that one line shows, in this order."""
_INVALID, _SECURITY_VIOLATION = "12", "63"
_GARBAGE = b"0110 this is no message"


class HostTerms(msgspec.Struct, frozen=True, kw_only=True):
    """The terms that the command was given."""

    address: str
    port: int
    rules: tuple[Rule, ...]
    tls: ssl.SSLContext | None = None
    wrapping_key: bytes | None = None
    """The key under which working keys are given out; without it, messages have no authentication codes."""


class _Connection:
    """One connection of a gateway."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.working_key: bytes | None = None


class SimulatedHost:
    """Answers messages, each in a task of its own, so that one that is delayed holds up no other.

    show: prints a line; keep: gets the ledger after each change.
    """

    def __init__(
        self,
        terms: HostTerms,
        *,
        show: Callable[[str], None],
        keep: Callable[[HostLedger], None],
        random_bytes: RandomBytes,
    ) -> None:
        self._terms = terms
        self._book = RuleBook(terms.rules)
        self._show = show
        self._keep = keep
        self._random_bytes = random_bytes
        self._tasks: set[asyncio.Task[None]] = set()
        self.ledger = HostLedger()
        self.counts: Counter[str] = Counter()
        """The number of messages by type."""

    async def serve(self, stopped: asyncio.Event) -> None:
        """Serves until the event is set."""
        terms = self._terms
        server = await asyncio.start_server(self._serve_connection, terms.address, terms.port, ssl=terms.tls)
        scheme = "tcp" if terms.tls is None else "tls"
        for each in server.sockets:
            self._show(f"listening on {scheme}://{terms.address}:{each.getsockname()[1]}")
        try:
            await stopped.wait()
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()

    def list_sums(self) -> list[str]:
        """Lists what happened, for the end of the run."""
        lines = [f"{mti} {count} messages" for mti, count in sorted(self.counts.items())]
        for currency, sums in sorted(self.ledger.sum_totals().items()):
            shown = ", ".join(f"{name} {amount}" for name, amount in msgspec.structs.asdict(sums).items())
            lines.append(f"currency {currency}: {shown}")
        return lines

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(writer)
        try:
            while True:
                length = codec.read_length(await reader.readexactly(codec.HEADER_BYTES))
                self._take(connection, await reader.readexactly(length))
        except codec.Unreadable as fault:
            self._show(f"<- UNREADABLE {fault}; connection closed")
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    def _take(self, connection: _Connection, frame: bytes) -> None:
        message = codec.decode(frame)
        self.counts[message.mti] += 1
        if codec.is_response(message):
            self._show(f"<- {_render(frame)}  ignored")
        elif codec.is_network(message):
            self._show(f"<- {_render(frame)}")
            self._manage(connection, message)
        else:
            is_trusted = self._is_trusted(connection, frame)
            rule = self._book.choose(message) if is_trusted else Rule(act=Act.DECLINE)
            self._show(f"<- {_render(frame)}  {rule.act if is_trusted else 'authentication code refused'}")
            refused = None if is_trusted else _answer(message, _SECURITY_VIOLATION)
            task = asyncio.get_running_loop().create_task(self._perform(connection, message, rule, refused))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _is_trusted(self, connection: _Connection, frame: bytes) -> bool:
        if self._terms.wrapping_key is None:
            return True
        return connection.working_key is not None and network.is_authentic(frame, connection.working_key)

    def _manage(self, connection: _Connection, message: Message) -> None:
        """Answers network messages; a key exchange gives the connection a working key of its own."""
        wrapping_key = self._terms.wrapping_key
        if message.fields.get(70) != NetworkCode.KEY_EXCHANGE:
            self._write(connection, network.make_response(message))
        elif wrapping_key is None:
            self._write(connection, network.make_response(message, response=_INVALID))
        else:
            working_key = self._random_bytes(_KEY_BYTES)
            self._write(
                connection, network.make_response(message, tags=network.wrap_working_key(wrapping_key, working_key))
            )
            connection.working_key = working_key

    async def _perform(self, connection: _Connection, message: Message, rule: Rule, refused: Message | None) -> None:
        if refused is not None:
            self._write(connection, refused)
            return
        act = rule.act
        if act is Act.DROP:
            return
        if act is Act.DELAY:
            await asyncio.sleep(rule.seconds)
        entry = self.ledger.act(message, rule.code if act is Act.DECLINE else "")
        self._keep(self.ledger)
        if act is Act.LATE:
            await asyncio.sleep(rule.seconds)
        answer = _answer(message, entry.response, entry, rule)
        match act:
            case Act.ACT_AND_DROP:
                pass
            case Act.GARBAGE:
                self._send(connection, _GARBAGE)
            case Act.CLOSE:
                connection.writer.close()
            case Act.WRONG_AMOUNT:
                wrong = f"{(int(message.fields.get(4, '0')) + 1) % 10**12:012d}"
                self._write(connection, Message(answer.mti, {**answer.fields, 4: wrong}))
            case Act.DUPLICATE:
                self._write(connection, answer)
                self._write(connection, answer)
            case _:
                self._write(connection, answer)

    def _write(self, connection: _Connection, message: Message) -> None:
        body = codec.encode(message)
        if connection.working_key is not None:
            body = network.add_mac(body, connection.working_key)
        self._show(f"-> {_render(body)}")
        self.counts[message.mti] += 1
        self._send(connection, body)

    def _send(self, connection: _Connection, body: bytes) -> None:
        with suppress(OSError):
            if not connection.writer.is_closing():
                connection.writer.write(codec.make_frame(body))


def _answer(message: Message, response: str, entry: Entry | None = None, rule: Rule | None = None) -> Message:
    fields = {number: message.fields[number] for number in _ECHOED if number in message.fields}
    fields[39] = response
    if entry is not None and response == APPROVED:
        fields |= make_references(entry.key)
        tags: dict[str, str] = {}
        if rule is not None and Tag.CVV2 in message.tags:
            tags[Tag.CVV2_RESULT] = rule.cvv
        if rule is not None and rule.avs:
            tags[Tag.AVS_RESULT] = rule.avs
        if tags:
            fields[PRIVATE] = codec.render_tags(tags)
    return Message(codec.get_response_type(message.mti), fields)


def _render(body: bytes) -> str:
    """Renders a message in one line, with the account masked as transcripts do."""
    shown = {line.field: line for line in transcript.explain(body).lines}
    parts = [
        f"{line.raw} ({line.meaning})" if line.meaning else line.raw for name in _SHOWN if (line := shown.get(name))
    ]
    return "  ".join([shown[codec.MTI].raw, f"{shown[codec.MTI].meaning:<28}", *parts])
