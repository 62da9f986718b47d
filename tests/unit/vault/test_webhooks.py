"""Webhook bodies are encrypted and signed as independent receivers expect, and a change of any byte is refused."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tollgate.values import Secret, system_random_bytes
from tollgate.vault.keyring import Keyring
from tollgate.vault.sealing import EnvelopeError
from tollgate.vault.webhooks import (
    EncryptedBody,
    WebhookError,
    WebhookSecrets,
    decrypt_body,
    encrypt_body,
    make_secrets,
    open_secrets,
    rotate_secrets,
    seal_secrets,
    sign_body,
    verify_signature,
)

NODE = Path(__file__).parents[2] / "webhook_bodies.mjs"
OWNER = "webhook/8a01/8a02"
KEY = Secret("000102030405060708090a0b0c0d0e0f" * 2)
EVENT = '{"type":"PAYMENT","payload":{"id":"8ac7","holder":"Jürgen 🙂"}}'.encode()
EVENT_ID = "8a" + "7" * 30
VECTORS = (
    (
        "000000000000000000000000",
        "CE573FB7A41AB78E743180DC83FF09BD",
        "0A3471C72D9BE49A8520F79C66BBD9A12FF9",
        b'{"type":"PAYMENT"}',
    ),
    (
        "3D575574536D450F71AC76D8",
        "19FDD068C6F383C173D3A906F7BD1D83",
        "F8E2F759E528CB69375E51DB2AF9B53734E393",
        b'{"type": "PAYMENT"}',
    ),
)


@pytest.mark.parametrize(("iv", "tag", "body", "plain"), VECTORS)
def test_known_answers(iv: str, tag: str, body: str, plain: bytes) -> None:
    asked: list[int] = []

    def give_iv(size: int) -> bytes:
        asked.append(size)
        return bytes.fromhex(iv)

    assert encrypt_body(plain, KEY, give_iv) == EncryptedBody(iv, tag, body)
    assert decrypt_body(EncryptedBody(iv, tag, body), KEY) == plain
    assert decrypt_body(EncryptedBody(iv.lower(), tag.lower(), body.lower()), KEY) == plain
    assert asked == [12]


def test_node_opens_what_was_encrypted_and_refuses_what_was_changed() -> None:
    secrets = [make_secrets() for _ in range(20)]
    plains = [EVENT * size for size in range(20)]
    good = [
        {**msgspec.structs.asdict(encrypt_body(plain, each.secret)), "secret": each.secret.reveal()}
        for plain, each in zip(plains, secrets, strict=True)
    ]
    changed = [{**each, "tag": flip_text(each["tag"])} for each in good]

    done = subprocess.run(["node", str(NODE)], input=json.dumps(good + changed).encode(), capture_output=True)

    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == [plain.decode() for plain in plains] + [None] * 20


def flip_text(digits: str) -> str:
    raw = bytes.fromhex(digits)
    return (bytes([raw[0] ^ 1]) + raw[1:]).hex()


def flip_each(raw: bytes) -> Iterator[bytes]:
    """Gives the bytes with one of them changed, for each of them."""
    for place in range(len(raw)):
        yield raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]


@pytest.mark.parametrize("part", ["iv", "tag", "body"])
def test_a_body_with_any_byte_changed_does_not_open(part: str) -> None:
    encrypted = encrypt_body(EVENT, KEY)
    original = bytes.fromhex(getattr(encrypted, part))
    count = 0
    for flipped in flip_each(original):
        with pytest.raises(WebhookError):
            decrypt_body(msgspec.structs.replace(encrypted, **{part: flipped.hex()}), KEY)
        count += 1
    assert count == len(original) > 0


@pytest.mark.parametrize("part", ["iv", "tag", "body"])
@pytest.mark.parametrize("change", ["", "0", "zz", " 00", "00"])
def test_a_part_of_another_form_does_not_open(part: str, change: str) -> None:
    encrypted = encrypt_body(EVENT, KEY)

    with pytest.raises(WebhookError):
        decrypt_body(msgspec.structs.replace(encrypted, **{part: getattr(encrypted, part)[4:] + change}), KEY)


def test_every_encryption_has_its_own_iv() -> None:
    assert len({encrypt_body(EVENT, KEY).iv for _ in range(100)}) == 100


def test_the_oracle_verifies_a_signature_and_signs_the_same() -> None:
    signing = make_secrets().signing
    now_s = int(time.time())
    oracle = Webhook(signing.reveal())
    header = sign_body(EVENT, EVENT_ID, now_s, [signing])
    headers = {"webhook-id": EVENT_ID, "webhook-timestamp": str(now_s), "webhook-signature": header}

    assert oracle.verify(EVENT, headers) == json.loads(EVENT)
    with pytest.raises(WebhookVerificationError):
        oracle.verify(EVENT + b" ", headers)
    assert verify_signature(EVENT, EVENT_ID, str(now_s), header, [signing])


def test_each_of_two_live_secrets_verifies_both_signatures() -> None:
    first = make_secrets()
    second = rotate_secrets(first, system_random_bytes, 5)
    assert second.previous_signing is not None
    now_s = int(time.time())
    header = sign_body(EVENT, EVENT_ID, now_s, [second.signing, second.previous_signing])
    headers = {"webhook-id": EVENT_ID, "webhook-timestamp": str(now_s), "webhook-signature": header}

    assert len(header.split(" ")) == 2
    for secret in (first.signing, second.signing):
        assert Webhook(secret.reveal()).verify(EVENT, headers) == json.loads(EVENT)
        assert verify_signature(EVENT, EVENT_ID, str(now_s), header, [secret])
    assert not verify_signature(EVENT, EVENT_ID, str(now_s), header, [make_secrets().signing])
    assert not verify_signature(EVENT, EVENT_ID, str(now_s), header, [])


@pytest.mark.parametrize("place", range(4), ids=["body", "id", "timestamp", "signature"])
def test_a_signature_with_any_byte_changed_around_it_is_refused(place: int) -> None:
    signing = make_secrets().signing
    parts = [EVENT, EVENT_ID.encode(), b"1794740000", sign_body(EVENT, EVENT_ID, 1794740000, [signing]).encode()]
    assert is_verified(parts, signing)

    found = [is_verified([*parts[:place], each, *parts[place + 1 :]], signing) for each in flip_each(parts[place])]

    assert len(found) == len(parts[place])
    assert not any(found)


def is_verified(parts: list[bytes], signing: Secret) -> bool:
    event_id, timestamp, header = (part.decode("latin-1") for part in parts[1:])
    return verify_signature(parts[0], event_id, timestamp, header, [signing])


@pytest.mark.parametrize("header", ["", " ", "v1", "v1,", "v1,\udcff", "v2,AAAA", "é"])
def test_a_header_of_another_form_is_refused(header: str) -> None:
    assert not verify_signature(EVENT, "\udcff", "now", header, [make_secrets().signing])


def test_new_secrets_are_random_and_spelled_as_receivers_expect() -> None:
    made = [make_secrets() for _ in range(50)]

    assert len({each.secret.reveal() for each in made} | {each.signing.reveal() for each in made}) == 100
    assert {len(bytes.fromhex(each.secret.reveal())) for each in made} == {32}
    assert {len(base64.b64decode(each.signing.reveal().removeprefix("whsec_"))) for each in made} == {32}
    assert all(each.signing.reveal().startswith("whsec_") for each in made)


def test_a_merchant_may_bring_the_secret() -> None:
    assert make_secrets(secret=KEY).secret.matches(KEY)
    assert rotate_secrets(make_secrets(), system_random_bytes, 5, KEY).secret.matches(KEY)


@pytest.mark.parametrize(
    "text", ["", "00" * 31, "00" * 33, "0g" * 32, "00 " * 21 + "0", "\N{FULLWIDTH DIGIT ONE}" * 64]
)
def test_a_secret_of_another_form_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(WebhookError) as refused:
        make_secrets(secret=Secret(text))

    assert str(refused.value) == "a webhook secret has 64 hex digits"


@pytest.mark.parametrize("text", ["", "whsec_", "whsec_%", "c2VjcmV0", "whsec_abc"])
def test_a_signing_secret_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(WebhookError, match="a signing secret is whsec_ and base64"):
        sign_body(EVENT, EVENT_ID, 1, [Secret(text)])


def test_a_rotation_keeps_the_present_pair_and_drops_the_one_before() -> None:
    first = make_secrets()
    second = rotate_secrets(first, system_random_bytes, 5)
    third = rotate_secrets(second, system_random_bytes, 9)

    assert reveal(second)[2:] == [*reveal(first)[:2], 5]
    assert reveal(third)[2:] == [*reveal(second)[:2], 9]
    assert len({*reveal(first)[:2], *reveal(second)[:2], *reveal(third)[:2]}) == 6


def reveal(secrets: WebhookSecrets) -> list[object]:
    values = msgspec.structs.astuple(secrets)
    return [each.reveal() if isinstance(each, Secret) else each for each in values]


def test_sealed_secrets_open_for_their_owner_only(ring: Keyring) -> None:
    for secrets in (make_secrets(), rotate_secrets(make_secrets(), system_random_bytes, 7)):
        sealed = seal_secrets(secrets, owner=OWNER, keyring=ring)

        assert reveal(open_secrets(sealed, owner=OWNER, keyring=ring)) == reveal(secrets)
        assert secrets.secret.reveal().encode() not in sealed
        with pytest.raises(EnvelopeError):
            open_secrets(sealed, owner=OWNER + "3", keyring=ring)
