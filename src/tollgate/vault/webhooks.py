"""The secrets of webhook endpoints, and the encryption and signature of what is sent to them.

Which event goes where, and when, is decided elsewhere.
"""

import base64
import hmac
import re
from collections.abc import Sequence

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tollgate.values import Instant, RandomBytes, Secret, system_random_bytes
from tollgate.vault import sealing, signing
from tollgate.vault.keyring import Keyring

KEY_BYTES = 32
IV_BYTES = 12
TAG_BYTES = 16
SIGNING_PREFIX = "whsec_"
SIGNATURE_VERSION = "v1"

_HEX = re.compile("(?:[0-9A-Fa-f]{2})*")


class WebhookError(Exception):
    """A secret or a body cannot be used; the message names the rule that was broken, never the secret."""


class WebhookSecrets(msgspec.Struct, frozen=True):
    """The secrets of one endpoint."""

    secret: Secret
    """64 hex digits, the key of AES-256-GCM."""
    signing: Secret
    """`whsec_` and the base64 of 32 random bytes, as Standard Webhooks spells it."""
    previous_secret: Secret | None = None
    previous_signing: Secret | None = None
    previous_until: Instant = 0
    """The business time until which the previous pair is live."""


class EncryptedBody(msgspec.Struct, frozen=True):
    """One encrypted body as upper-case hex; the tag is not part of the body."""

    iv: str
    tag: str
    body: str


def make_secrets(random_bytes: RandomBytes = system_random_bytes, secret: Secret | None = None) -> WebhookSecrets:
    """Makes both secrets of an endpoint; a merchant may bring the one for the encryption."""
    if secret is not None:
        read_key(secret)
    signing = base64.b64encode(random_bytes(KEY_BYTES)).decode()
    return WebhookSecrets(secret or Secret(random_bytes(KEY_BYTES).hex()), Secret(SIGNING_PREFIX + signing))


def rotate_secrets(
    secrets: WebhookSecrets, random_bytes: RandomBytes, until: Instant, secret: Secret | None = None
) -> WebhookSecrets:
    """Makes a new pair, beside which the present one stays live until an instant; an older one ends at once."""
    fresh = make_secrets(random_bytes, secret)
    return msgspec.structs.replace(
        fresh, previous_secret=secrets.secret, previous_signing=secrets.signing, previous_until=until
    )


def hash_secrets(secrets: WebhookSecrets, keyring: Keyring) -> str:
    """Returns a keyed hash of the present pair, by which a rotation is noticed."""
    return signing.fingerprint("webhook secrets", [secrets.signing.reveal()], keyring).hex()


def show_secrets(secrets: WebhookSecrets) -> tuple[str, str]:
    """Returns the clear secret and signing secret, for the places where a person is shown them on purpose."""
    return secrets.secret.reveal(), secrets.signing.reveal()


class _SealedSecrets(msgspec.Struct, frozen=True, omit_defaults=True):
    secret: str
    signing: str
    previous_secret: str | None = None
    previous_signing: str | None = None
    previous_until: Instant = 0


def seal_secrets(secrets: WebhookSecrets, *, owner: str, keyring: Keyring) -> bytes:
    before, signed_before = secrets.previous_secret, secrets.previous_signing
    plain = _SealedSecrets(
        secrets.secret.reveal(),
        secrets.signing.reveal(),
        before.reveal() if before else None,
        signed_before.reveal() if signed_before else None,
        secrets.previous_until,
    )
    return sealing.seal(msgspec.json.encode(plain), owner=owner, keyring=keyring)


def open_secrets(sealed: bytes, *, owner: str, keyring: Keyring) -> WebhookSecrets:
    plain = msgspec.json.decode(sealing.open_sealed(sealed, owner=owner, keyring=keyring), type=_SealedSecrets)
    return WebhookSecrets(
        Secret(plain.secret),
        Secret(plain.signing),
        Secret(plain.previous_secret) if plain.previous_secret else None,
        Secret(plain.previous_signing) if plain.previous_signing else None,
        plain.previous_until,
    )


def encrypt_body(plain: bytes, secret: Secret, random_bytes: RandomBytes = system_random_bytes) -> EncryptedBody:
    """Encrypts with AES-256-GCM under a fresh IV and without associated data, as existing receivers expect."""
    iv = random_bytes(IV_BYTES)
    sealed = AESGCM(read_key(secret)).encrypt(iv, plain, None)
    return EncryptedBody(iv.hex().upper(), sealed[-TAG_BYTES:].hex().upper(), sealed[:-TAG_BYTES].hex().upper())


def decrypt_body(encrypted: EncryptedBody, secret: Secret) -> bytes:
    """Returns the plain body; a WebhookError says that it does not open, and `explain_body` finds out why."""
    iv, tag, body = (find_bytes(text) for text in (encrypted.iv, encrypted.tag, encrypted.body))
    if iv is None or tag is None or body is None:
        raise WebhookError("IV, tag and body are hex digits, two for each byte")
    plain = find_plain(read_key(secret), iv, tag, body)
    if plain is None:
        raise WebhookError("the body does not open with this secret")
    return plain


def find_plain(key: bytes, iv: bytes, tag: bytes, body: bytes) -> bytes | None:
    """Returns what the key opens, or None; only the lengths that we send are tried."""
    if (len(key), len(iv), len(tag)) != (KEY_BYTES, IV_BYTES, TAG_BYTES):
        return None
    try:
        return AESGCM(key).decrypt(iv, body + tag, None)
    except InvalidTag:
        return None


def sign_body(body: bytes, event_id: str, timestamp_s: int, signing: Sequence[Secret]) -> str:
    """Returns the header `webhook-signature` of Standard Webhooks 1.0, with one signature for each live secret."""
    return " ".join(_sign(body, event_id, str(timestamp_s), secret) for secret in signing)


def verify_signature(body: bytes, event_id: str, timestamp: str, header: str, signing: Sequence[Secret]) -> bool:
    """Tells whether one signature of the header is right for one of the secrets; the age is not judged here.

    The texts are compared, not what they decode to, because several spellings of base64 decode to the same bytes.
    """
    given = [encode_text(each) for each in header.split(" ")]
    expected = [_sign(body, event_id, timestamp, secret).encode() for secret in signing]
    return any(hmac.compare_digest(mine, theirs) for mine in expected for theirs in given)


def read_key(secret: Secret) -> bytes:
    """Returns the key that 64 hex digits spell."""
    key = find_bytes(secret.reveal())
    if key is None or len(key) != KEY_BYTES:
        raise WebhookError("a webhook secret has 64 hex digits")
    return key


def read_signing_key(signing: Secret) -> bytes:
    """Returns the key of a signing secret."""
    text = signing.reveal()
    try:
        key = base64.b64decode(text.removeprefix(SIGNING_PREFIX), validate=True)
    except ValueError:
        raise WebhookError(f"a signing secret is {SIGNING_PREFIX} and base64") from None
    if not key or not text.startswith(SIGNING_PREFIX):
        raise WebhookError(f"a signing secret is {SIGNING_PREFIX} and base64")
    return key


def find_bytes(text: str) -> bytes | None:
    """Returns what hex digits of either case spell, or None; unlike `bytes.fromhex` it skips no whitespace."""
    return bytes.fromhex(text) if _HEX.fullmatch(text) else None


def encode_text(text: str) -> bytes:
    """Returns UTF-8 also of text that has none, because headers and arguments may contain any byte."""
    return text.encode("utf-8", "surrogatepass")


def _sign(body: bytes, event_id: str, timestamp: str, signing: Secret) -> str:
    content = encode_text(event_id) + b"." + encode_text(timestamp) + b"." + body
    digest = hmac.digest(read_signing_key(signing), content, "sha256")
    return f"{SIGNATURE_VERSION},{base64.b64encode(digest).decode()}"
