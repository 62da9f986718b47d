"""A merchant that comes from another host keeps its ids and its access token."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tollgate.cli.program import program
from tollgate.operations.caches import MerchantCache
from tollgate.store.merchants import list_credentials
from tollgate.store.opening import open_database
from tollgate.values import Secret
from tollgate.vault.keyring import load_keyring
from tollgate.vault.tokens import make_token, open_token

MERCHANT, OTHER = "8ac7a4c9" + "1" * 24, "8ac7a4c9" + "2" * 24
ENTITY = "8ac7a4c9" + "3" * 24
USER = "8a8294174b7ecb28014b9699220015cc"
PASSWORD = "sy6KJsT8"


def encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


TOKEN = encode(f"{USER}|{PASSWORD}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with two merchants that kept their ids."""
    run(tmp_path, "migrate")
    for merchant_id in (MERCHANT, OTHER):
        assert run(tmp_path, "merchant", "add", "Shop", "--id", merchant_id).stdout.strip() == merchant_id
    return tmp_path


def run(folder: Path, *command: str, stdin: str = "") -> Result:
    return CliRunner().invoke(program, [*command, "--data", str(folder)], input=stdin)


def test_ids_are_kept_and_taken_once(folder: Path) -> None:
    added = run(folder, "channel", "add", MERCHANT, "Shop", "--entity-id", ENTITY)

    assert added.stdout.strip() == ENTITY
    assert f"{ENTITY}  merchant {MERCHANT}" in run(folder, "channel", "list").stdout
    for again in (
        ("merchant", "add", "Shop", "--id", MERCHANT),
        ("channel", "add", MERCHANT, "Shop", "--entity-id", ENTITY),
        ("channel", "add", OTHER, "Shop", "--entity-id", ENTITY),
    ):
        done = run(folder, *again)
        assert done.exit_code == 1
        assert "already" in done.output


@pytest.mark.parametrize(
    "odd", ["", "8a", "8A" + "0" * 30, "x" * 32, "8a" + "0" * 31, "8a" + "0" * 29 + "\n", "../" * 11]
)
def test_an_id_has_the_form_of_one(folder: Path, odd: str) -> None:
    for command in (
        ("merchant", "add", "Shop", "--id", odd),
        ("channel", "add", MERCHANT, "Shop", "--entity-id", odd),
    ):
        done = run(folder, *command)
        assert done.exit_code == 2
        assert command[-2] in done.output


@pytest.mark.parametrize("way", ["argument", "stdin", "file"])
def test_a_token_is_kept_however_it_comes(folder: Path, way: str, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f" {TOKEN}\n")
    flags = {"argument": ("--token", TOKEN), "stdin": ("--token", "-"), "file": ("--token-file", f"{tmp_path}/token")}

    done = run(folder, "token", "add", MERCHANT, *flags[way], stdin=f"{TOKEN}\n")

    assert done.exit_code == 0, done.output
    assert TOKEN not in done.output
    assert done.stdout.strip() in run(folder, "token", "list").stdout
    merchant_id, shown = find(folder, make_token(USER, Secret(PASSWORD)))
    assert merchant_id == MERCHANT
    assert shown.matches(Secret(TOKEN))


def find(folder: Path, token: Secret) -> tuple[str, Secret]:
    """Returns whose token a server finds it to be, and the token as it was sealed."""

    async def find() -> tuple[str, Secret]:
        keyring = load_keyring(folder / "keys.json")
        database = await open_database(f"sqlite:///{folder}/tollgate.db", must_exist=True)
        try:
            merchants = MerchantCache(keyring)
            await merchants.refresh(database)
            credential = merchants.find_credential(token)
            assert credential is not None
            assert credential in await list_credentials(database)
            return credential.merchant_id, open_token(credential, keyring)
        finally:
            await database.close()

    return asyncio.run(find())


def test_a_short_password_cannot_be_found_behind_the_stored_hash(folder: Path) -> None:
    run(folder, "token", "add", MERCHANT, "--token", TOKEN)

    async def find_without_keys() -> object:
        database = await open_database(f"sqlite:///{folder}/tollgate.db", must_exist=True)
        try:
            merchants = MerchantCache()
            await merchants.refresh(database)
            return merchants.find_credential(Secret(TOKEN))
        finally:
            await database.close()

    assert asyncio.run(find_without_keys()) is None


def test_a_token_and_its_user_belong_to_one_merchant(folder: Path) -> None:
    first = run(folder, "token", "add", MERCHANT, "--token", TOKEN).stdout.strip()
    made = run(folder, "token", "add", MERCHANT).stdout.strip()

    for merchant_id, token in (
        (MERCHANT, TOKEN),
        (OTHER, TOKEN),
        (OTHER, encode(f"{USER}|another-Word-77")),
        (OTHER, made),
    ):
        done = run(folder, "token", "add", merchant_id, "--token", token)
        assert done.exit_code == 1
        assert "known already" in done.output
        assert token not in done.output
    run(folder, "token", "revoke", first)
    assert "known already" in run(folder, "token", "add", MERCHANT, "--token", TOKEN).output
    assert run(folder, "token", "add", MERCHANT, "--token", encode(f"{USER}|another-Word-77")).exit_code == 0


@pytest.mark.parametrize(
    "odd",
    [
        "not base64!",
        PASSWORD,
        encode("no-separator-here"),
        encode(f"user|{PASSWORD}"),
        encode(f"{USER}|"),
        encode(f"{USER}|12345678"),
        encode(f"{USER}|password"),
        encode(f"{USER}|aAaA1aAaA1aA"),
        encode(f"{USER}|short1"),
        encode(f"{USER}|line\nbreak-Secret"),
        encode(f"{USER}|" + "Ab3" * 400),
        TOKEN.rstrip("=") if TOKEN.endswith("=") else f"{TOKEN}==",
        base64.b64encode(USER.encode() + b"|\xff\xfe\xfdsecret").decode(),
        "",
    ],
)
def test_a_token_that_is_none_or_easy_to_guess_is_refused_and_never_repeated(folder: Path, odd: str) -> None:
    done = run(folder, "token", "add", MERCHANT, "--token", odd)

    assert done.exit_code == 2
    assert "--token: the token cannot be used" in done.output
    assert not odd or odd not in done.output
    assert PASSWORD not in done.output
    assert run(folder, "token", "list").stdout == ""


def test_a_token_comes_one_way_only(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe")

    both = run(folder, "token", "add", MERCHANT, "--token", "-", "--token-file", f"{tmp_path}/token", stdin=TOKEN)
    bytes_only = run(folder, "token", "add", MERCHANT, "--token-file", f"{tmp_path}/token")

    assert (both.exit_code, bytes_only.exit_code) == (2, 2)
    assert "not both" in both.output
    assert "cannot be used" in bytes_only.output
