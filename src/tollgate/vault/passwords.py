"""Passwords, one-time codes, recovery codes and session tokens of users.

Who may sign in with them is decided in `flows`.
"""

import base64
import hashlib
import hmac
import string
from functools import cache
from hmac import compare_digest

import pyotp
import segno
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from tollgate.values import SECOND, Instant, RandomBytes, Secret, system_random_bytes
from tollgate.vault import sealing, signing
from tollgate.vault.keyring import Keyring, KeyringError

PASSWORD_LENGTH_MIN = 12
PASSWORD_LENGTH_MAX = 256
RECOVERY_CODES = 10
TOTP_STEP_S = 30
_TOTP_STEPS_AROUND = 1
"""A code of the step before or after is taken too, because clocks differ."""
_TOKEN_BYTES = 32
_CODE_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
_CODE_LENGTH = 10
_PASSWORD_LETTERS = string.ascii_letters + string.digits
_PASSWORD_LENGTH = 20

_hasher = PasswordHasher()


@cache
def _hash_nobody() -> str:
    """Returns what is verified where there is no such user, so that an unknown name takes as long as a wrong password.

    Making it takes as long again, so the first sign-in does it, and not the start of every command.
    """
    return _hasher.hash("no user has this password")


def hash_password(password: Secret) -> str:
    """Takes some 100 ms on purpose; call it in a thread."""
    return _hasher.hash(password.reveal())


def is_password(password: Secret, password_hash: str | None) -> bool:
    """Tells whether the password is right; takes the same time for a user that does not exist, whose hash is None."""
    # Made for known names too, so that the first sign-in tells nothing either.
    nobody = _hash_nobody()
    try:
        _hasher.verify(password_hash or nobody, password.reveal())
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None


def find_password_fault(password: Secret, user_name: str) -> str | None:
    """Says what is wrong with a new password; None if it can be used."""
    text = password.reveal()
    if not PASSWORD_LENGTH_MIN <= len(text) <= PASSWORD_LENGTH_MAX:
        return f"must have {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters"
    if len(set(text)) < PASSWORD_LENGTH_MIN // 2:
        return "must have more different characters"
    if user_name and user_name in text.lower():
        return "must not contain the user name"
    return None


def make_password(random_bytes: RandomBytes = system_random_bytes) -> Secret:
    return Secret(_choose(_PASSWORD_LETTERS, _PASSWORD_LENGTH, random_bytes))


def _choose(letters: str, length: int, random_bytes: RandomBytes) -> str:
    """Chooses letters evenly: a byte beyond the last whole multiple of their number is thrown away."""
    bound = 256 - 256 % len(letters)
    chosen = ""
    while len(chosen) < length:
        chosen += "".join(letters[byte % len(letters)] for byte in random_bytes(length) if byte < bound)
    return chosen[:length]


def show_password(password: Secret) -> str:
    """Returns the clear password, for the places where a person is shown it on purpose."""
    return password.reveal()


# ---- one-time codes ----


def make_totp_secret(random_bytes: RandomBytes = system_random_bytes) -> Secret:
    return Secret(base64.b32encode(random_bytes(20)).decode())


def seal_totp(secret: Secret, user_id: str, keyring: Keyring) -> bytes:
    return sealing.seal(secret.reveal().encode(), owner=get_totp_owner(user_id), keyring=keyring)


def open_totp(sealed: bytes, user_id: str, keyring: Keyring) -> Secret:
    return Secret(sealing.open_sealed(sealed, owner=get_totp_owner(user_id), keyring=keyring).decode())


def get_totp_owner(user_id: str) -> str:
    return f"totp/{user_id}"


def seal_pending_totp(secret: Secret, session_id: str, keyring: Keyring) -> str:
    """Seals a secret that was not confirmed by a code yet; a form of the session carries it."""
    return base64.urlsafe_b64encode(seal_totp(secret, f"pending/{session_id}", keyring)).decode()


def read_pending_totp(text: str, session_id: str, keyring: Keyring) -> Secret | None:
    """Returns None for a text that was not sealed for this session."""
    try:
        return open_totp(base64.urlsafe_b64decode(text.encode()), f"pending/{session_id}", keyring)
    except (ValueError, sealing.EnvelopeError, KeyringError):
        return None


def find_totp_step(secret: Secret, code: Secret, now: Instant) -> int | None:
    """Returns the time step for which a code is right; None if it is wrong for all steps around now."""
    current = now // SECOND // TOTP_STEP_S
    totp = pyotp.TOTP(secret.reveal(), interval=TOTP_STEP_S)
    given = code.reveal().replace(" ", "").encode()
    steps = range(current - _TOTP_STEPS_AROUND, current + _TOTP_STEPS_AROUND + 1)
    # All are compared, so that the time says nothing about which one was right.
    right = [step for step in steps if compare_digest(totp.generate_otp(step).encode(), given)]
    return right[0] if right else None


def render_totp_uri(secret: Secret, user_name: str, host: str) -> str:
    return pyotp.TOTP(secret.reveal(), interval=TOTP_STEP_S).provisioning_uri(name=user_name, issuer_name=host)


def render_totp_picture(secret: Secret, user_name: str, host: str) -> str:
    """Renders the QR code that an app for one-time codes scans, as SVG without styles."""
    code = segno.make(render_totp_uri(secret, user_name, host), error="m")
    return code.svg_inline(scale=4, border=4, dark="black", light="white", omitsize=True)


def show_totp_secret(secret: Secret) -> str:
    """Returns the secret in groups, for a user who types it."""
    text = secret.reveal()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


# ---- recovery codes ----


def make_recovery_codes(random_bytes: RandomBytes = system_random_bytes) -> list[Secret]:
    return [Secret(_choose(_CODE_LETTERS, _CODE_LENGTH, random_bytes)) for _ in range(RECOVERY_CODES)]


def hash_recovery_code(code: Secret, user_id: str, keyring: Keyring) -> str:
    """Returns a keyed hash, because a code is shorter than a token."""
    text = code.reveal().replace("-", "").replace(" ", "").lower()
    return signing.fingerprint("recovery code", [user_id, text], keyring).hex()


def show_recovery_code(code: Secret) -> str:
    text = code.reveal()
    half = len(text) // 2
    return f"{text[:half]}-{text[half:]}"


# ---- sessions and forms ----


def make_session_token(random_bytes: RandomBytes = system_random_bytes) -> Secret:
    return Secret(base64.urlsafe_b64encode(random_bytes(_TOKEN_BYTES)).decode().rstrip("="))


def show_session_token(token: Secret) -> str:
    """Returns the clear token, for the cookie."""
    return token.reveal()


def hash_session_token(token: Secret) -> bytes:
    return hashlib.sha256(token.reveal().encode()).digest()


def make_form_token(token: Secret) -> str:
    """Returns the token that every form of a session carries; another site can neither read nor guess it."""
    return hmac.new(token.reveal().encode(), b"tollgate form", "sha256").hexdigest()


def is_form_token(given: str, token: Secret) -> bool:
    return compare_digest(given.encode(), make_form_token(token).encode())


def hash_user_name(name: str, keyring: Keyring) -> str:
    return signing.fingerprint("user name", [name], keyring).hex()
