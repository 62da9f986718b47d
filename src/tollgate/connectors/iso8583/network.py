"""Network messages of ISO 8583 (sign-on, sign-off, key exchange, echo) and the authentication codes of messages.

When they are sent is decided by the wire, which also keeps the working key of a connection.
"""

from collections.abc import Mapping
from enum import StrEnum
from hmac import compare_digest

from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.cmac import CMAC
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

from tollgate.connectors.iso8583 import codec
from tollgate.connectors.iso8583.codec import Message
from tollgate.connectors.iso8583.fields import MAC_PRIMARY, MAC_SECONDARY, PRIVATE, Tag
from tollgate.values import Instant, Secret, to_datetime

KEY_SECRET = "key-encryption-key"
"""The name of the secret of an account under which the host wraps working keys."""
APPROVED, REFUSED = "00", "12"
_MAC_BYTES, _CHECK_BYTES = 8, 5
_KEY_SIZES = (16, 32)


class NetworkCode(StrEnum):
    SIGN_ON = "001"
    SIGN_OFF = "002"
    KEY_EXCHANGE = "101"
    ECHO = "301"


def make_request(code: NetworkCode, *, stan: int, at: Instant, terminal: str, acquirer: str = "") -> Message:
    """Makes a request of network management; stan: 1 to 999999."""
    fields = {7: render_time(at), 11: f"{stan:06d}", 41: codec.pad(41, terminal), 70: code.value}
    return Message("0800", fields | ({32: acquirer} if acquirer else {}))


def make_response(request: Message, *, tags: dict[str, str] | None = None, response: str = APPROVED) -> Message:
    """Makes a host's answer to a request of network management."""
    fields = {number: text for number, text in request.fields.items() if number not in (PRIVATE, 64, 128)}
    private = {PRIVATE: codec.render_tags(tags)} if tags else {}
    return Message(codec.get_response_type(request.mti), fields | private | {39: response})


def is_accepted(request: Message, response: Message) -> bool:
    """Tells whether a host has accepted a request of network management."""
    return (
        response.mti == codec.get_response_type(request.mti)
        and codec.get_match(response) == codec.get_match(request)
        and response.fields.get(70) == request.fields[70]
        and response.fields.get(39) == APPROVED
    )


def render_time(at: Instant) -> str:
    return to_datetime(at).strftime("%m%d%H%M%S")


def read_key(text: str) -> bytes:
    """Reads a key of 16 or 32 bytes in hexadecimal digits; anything else is ValueError, without the text."""
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) not in _KEY_SIZES:
        raise ValueError("a key has 32 or 64 hexadecimal digits") from None
    return key


def find_wrapping_key(secrets: Mapping[str, Secret]) -> bytes | None:
    """Returns the key of an account that opens working keys, if it has one; ValueError says that it is no key."""
    secret = secrets.get(KEY_SECRET)
    return None if secret is None else read_key(secret.reveal())


def wrap_working_key(wrapping_key: bytes, working_key: bytes) -> dict[str, str]:
    """Wraps a working key by RFC 3394, as tags for the answer to a key exchange."""
    return {
        Tag.WORKING_KEY: aes_key_wrap(wrapping_key, working_key).hex().upper(),
        Tag.CHECK_VALUE: make_check_value(working_key),
    }


def find_working_key(wrapping_key: bytes, response: Message) -> bytes | None:
    """Returns the working key in the answer to a key exchange; None if it is absent, damaged or under another key."""
    try:
        key = aes_key_unwrap(wrapping_key, bytes.fromhex(response.tags.get(Tag.WORKING_KEY, "")))
    except (InvalidUnwrap, ValueError):
        return None
    if len(key) not in _KEY_SIZES:
        return None
    check = response.tags.get(Tag.CHECK_VALUE, "")
    return key if compare_digest(check.encode(), make_check_value(key).encode()) else None


def make_check_value(key: bytes) -> str:
    """The first bytes of the code of a block of zeros show whether two sides have the same key."""
    return _make_code(key, bytes(16))[:_CHECK_BYTES].hex().upper()


def add_mac(data: bytes, key: bytes) -> bytes:
    """Adds the authentication code to an encoded message: element 64, or 128 where there is a second bitmap."""
    message = codec.decode(data)
    number = _choose_element(message)
    unsigned = codec.encode(Message(message.mti, {**message.fields, number: "00" * _MAC_BYTES}))[:-_MAC_BYTES]
    return unsigned + _make_code(key, unsigned)[:_MAC_BYTES]


def is_authentic(data: bytes, key: bytes) -> bool:
    """Tells whether a message that can be read ends with its own authentication code."""
    message = codec.decode(data)
    code = _make_code(key, data[:-_MAC_BYTES])[:_MAC_BYTES]
    return _choose_element(message) in message.fields and compare_digest(code, data[-_MAC_BYTES:])


def _choose_element(message: Message) -> int:
    return MAC_SECONDARY if max(message.fields, default=0) > MAC_PRIMARY else MAC_PRIMARY


def _make_code(key: bytes, data: bytes) -> bytes:
    code = CMAC(AES(key))
    code.update(data)
    return code.finalize()
