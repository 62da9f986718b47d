"""Passkeys: what a browser is asked to make or to sign, and the verification of its answers.

A challenge is stored with the session that asked for it, so that the answer of another session or an older one is
worth nothing. Its library takes a quarter of a second to load, so it is imported when it is used.
"""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.payments.users import Passkey, User
from tollgate.values import Instant, RandomBytes

_CHALLENGE_BYTES = 32
_TIME_BYTES = 8
ANSWER_LENGTH_MAX = 20_000
_NAME = "Tollgate"
_LOCAL = "localhost"


class PasskeyError(Exception):
    """An answer of a browser that proves nothing."""


class Party(msgspec.Struct, frozen=True):
    """The relying party: the name for which a passkey is made, and the origin of the pages that may use it."""

    id: str
    origin: str


def find_party(base_url: str, host: str, *, is_live: bool) -> Party | None:
    """Finds the party of a request to a host; None where the host has an address and no name.

    Only the configured name counts, whatever the request calls the host. A test host is reached as localhost too.
    """
    base = urlsplit(base_url)
    name, _, port = host.lower().partition(":")
    if not is_live and name == _LOCAL and (port.isdecimal() or not port):
        return Party(_LOCAL, _make_origin(base.scheme, _LOCAL, int(port) if port else None))
    if not base.hostname or _is_address(base.hostname):
        return None
    return Party(base.hostname, _make_origin(base.scheme, base.hostname, base.port))


def _make_origin(scheme: str, name: str, port: int | None) -> str:
    """Spells an origin as browsers do, which leave the usual port out."""
    is_usual = port in (None, {"http": 80, "https": 443}.get(scheme))
    return f"{scheme}://{name}" + ("" if is_usual else f":{port}")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def make_challenge(now: Instant, random_bytes: RandomBytes) -> bytes:
    """Makes a challenge that ends with its time."""
    return random_bytes(_CHALLENGE_BYTES) + now.to_bytes(_TIME_BYTES, "big")


def is_fresh(challenge: bytes, now: Instant) -> bool:
    return now - int.from_bytes(challenge[-_TIME_BYTES:], "big") <= LIMITS.passkey_challenge_lifetime


def render_new_options(party: Party, user: User, known: Sequence[Passkey], challenge: bytes) -> str:
    """Renders what a browser needs to make a passkey, as JSON."""
    import webauthn
    from webauthn.helpers import structs

    selection = structs.AuthenticatorSelectionCriteria(
        resident_key=structs.ResidentKeyRequirement.PREFERRED,
        user_verification=structs.UserVerificationRequirement.REQUIRED,
    )
    options = webauthn.generate_registration_options(
        rp_id=party.id,
        rp_name=_NAME,
        user_name=user.name,
        user_id=user.id.encode(),
        challenge=challenge,
        authenticator_selection=selection,
        exclude_credentials=[
            structs.PublicKeyCredentialDescriptor(id=webauthn.base64url_to_bytes(each.id)) for each in known
        ],
    )
    return webauthn.options_to_json(options)


def render_use_options(party: Party, known: Sequence[Passkey], challenge: bytes) -> str:
    """Renders what a browser needs to sign with a passkey, as JSON."""
    import webauthn
    from webauthn.helpers import structs

    options = webauthn.generate_authentication_options(
        rp_id=party.id,
        challenge=challenge,
        allow_credentials=[
            structs.PublicKeyCredentialDescriptor(id=webauthn.base64url_to_bytes(each.id)) for each in known
        ],
        user_verification=structs.UserVerificationRequirement.REQUIRED,
    )
    return webauthn.options_to_json(options)


def read_new(answer: str, party: Party, challenge: bytes, user_id: str, name: str, now: Instant) -> Passkey:
    """Reads the passkey that a browser made."""
    import webauthn
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        made = webauthn.verify_registration_response(
            credential=answer[:ANSWER_LENGTH_MAX],
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, TypeError, LookupError, EOFError):
        raise PasskeyError("the answer of the browser is not that of a new passkey for this host") from None
    return Passkey(
        user_id=user_id,
        id=bytes_to_base64url(made.credential_id),
        name=name,
        public_key=made.credential_public_key,
        sign_count=made.sign_count,
        created_at=now,
    )


def read_use(answer: str, party: Party, challenge: bytes, known: Sequence[Passkey]) -> tuple[Passkey, int]:
    """Verifies a signature; returns the passkey that made it and its new count, which must have grown."""
    import webauthn
    from webauthn.helpers import bytes_to_base64url, parse_authentication_credential_json
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        given = parse_authentication_credential_json(answer[:ANSWER_LENGTH_MAX])
        passkey = next(each for each in known if each.id == bytes_to_base64url(given.raw_id))
        used = webauthn.verify_authentication_response(
            credential=given,
            expected_challenge=challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, TypeError, LookupError, EOFError, StopIteration):
        raise PasskeyError("the answer of the browser is not that of a passkey of this user") from None
    return passkey, used.new_sign_count
