"""`tollgate decrypt` prints the event of a webhook, or says why there is none, without any store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tollgate.cli import webhooks
from tollgate.cli.program import program
from tollgate.values import SECOND, Secret, SystemClock
from tollgate.vault.webhooks import encrypt_body, make_secrets, sign_body

SECRETS = make_secrets()
SECRET = SECRETS.secret.reveal()
SIGNING = SECRETS.signing.reveal()
PLAIN = b'{"type":"PAYMENT","payload":{"id":"8ac7"}}'
PRETTY = json.dumps(json.loads(PLAIN), indent=2) + "\n"
GOOD = encrypt_body(PLAIN, SECRETS.secret)
ENCRYPTED = ("--iv", GOOD.iv, "--tag", GOOD.tag)
ID = "8a" + "7" * 30


def decrypt(*arguments: str, typed: str | bytes = "", **variables: str) -> Result:
    return CliRunner().invoke(program, ["decrypt", *arguments], input=typed, env=variables, catch_exceptions=False)


def sign(body: bytes, age_s: int = 0) -> tuple[str, ...]:
    at_s = SystemClock().wall() // SECOND - age_s
    header = sign_body(body, ID, at_s, [SECRETS.signing])
    return ("--signature", header, "--id", ID, "--timestamp", str(at_s), "--signing-secret", SIGNING)


def test_the_body_comes_as_argument_file_or_input(tmp_path: Path) -> None:
    path = tmp_path / "body.txt"
    path.write_text(GOOD.body + "\n")

    for ran in (
        decrypt(GOOD.body, "--secret", SECRET, *ENCRYPTED),
        decrypt("--file", str(path), "--secret", SECRET, *ENCRYPTED),
        decrypt("--secret", SECRET, *ENCRYPTED, typed=GOOD.body + "\r\n"),
        decrypt(GOOD.body, *ENCRYPTED, TOLLGATE_WEBHOOK_SECRET=SECRET),
    ):
        assert (ran.exit_code, ran.stdout) == (0, PRETTY)
        assert ran.stderr == "note: The body came as raw hex, without the JSON wrapper.\n"


def test_the_secret_is_asked_for_on_a_terminal_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_is_terminal", lambda: True)

    ran = decrypt(GOOD.body, *ENCRYPTED, typed=SECRET + "\n")

    assert (ran.exit_code, ran.stdout) == (0, PRETTY)
    assert "secret: " in ran.stderr
    assert SECRET not in ran.output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((GOOD.body, *ENCRYPTED), "--secret or the variable TOLLGATE_WEBHOOK_SECRET is missing"),
        (
            ("{}", "--signature", "v1,"),
            "--signing-secret or the variable TOLLGATE_WEBHOOK_SIGNING_SECRET is missing",
        ),
        ((GOOD.body, "--file", __file__, "--secret", SECRET), "give the body or --file, not both"),
    ],
)
def test_what_is_missing_or_given_twice_is_a_wrong_usage(arguments: tuple[str, ...], complaint: str) -> None:
    ran = decrypt(*arguments)

    assert ran.exit_code == 2
    assert complaint in ran.stderr


def test_a_body_that_does_not_open_is_explained() -> None:
    ran = decrypt(GOOD.body, "--secret", "00" * 32, *ENCRYPTED)

    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr.startswith("tollgate: The secret is of another endpoint")
    assert len(ran.stderr.splitlines()) == 1


def test_a_body_that_a_correction_opens_is_shown_with_the_fault() -> None:
    ran = decrypt(json.dumps({"encryptedBody": GOOD.body}), "--secret", SECRET, "--iv", GOOD.tag, "--tag", GOOD.iv)

    assert (ran.exit_code, ran.stdout) == (1, PRETTY)
    assert [line.partition(":")[0] for line in ran.stderr.splitlines()] == ["note", "tollgate"]


def test_a_body_that_is_no_json_is_printed_as_it_is() -> None:
    made = encrypt_body(b"hello", SECRETS.secret)

    assert decrypt(made.body, "--secret", SECRET, "--iv", made.iv, "--tag", made.tag).stdout == "hello\n"


def test_a_body_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "_BODY_BYTES_MAX", 10)

    assert decrypt("--secret", SECRET, typed="0" * 10).exit_code == 1
    assert decrypt("--secret", SECRET, typed="0" * 11).exit_code == 2


def test_a_signed_body_is_verified_and_printed() -> None:
    ran = decrypt(PLAIN.decode(), *sign(PLAIN))

    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, PRETTY, "")


def test_an_old_signature_is_a_note_only() -> None:
    ran = decrypt(PLAIN.decode(), *sign(PLAIN, age_s=3600))

    assert (ran.exit_code, ran.stdout) == (0, PRETTY)
    assert ran.stderr.startswith("note: The timestamp is too old")


def test_a_body_that_was_changed_is_not_printed() -> None:
    ran = decrypt(PLAIN.decode().replace("8ac7", "8ac8"), *sign(PLAIN))

    assert (ran.exit_code, ran.stdout) == (1, "")
    assert ran.stderr.startswith("tollgate: The signing secret is of another endpoint")


def test_a_body_that_is_encrypted_and_signed_is_verified_first() -> None:
    arguments = ("--secret", SECRET, *ENCRYPTED, *sign(GOOD.body.encode()))

    assert decrypt(GOOD.body, *arguments).stdout == PRETTY
    refused = decrypt(GOOD.body.lower(), *arguments)
    assert (refused.exit_code, refused.stdout) == (1, "")


def test_a_secret_is_never_repeated() -> None:
    wrong = Secret("zz" * 32)

    ran = decrypt(GOOD.body, "--secret", wrong.reveal(), *ENCRYPTED)

    assert ran.exit_code == 1
    assert wrong.reveal() not in ran.output


def test_the_documented_commands_print_what_the_page_shows() -> None:
    page = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text("utf-8")
    block = page.partition("```console\n$ export TOLLGATE_WEBHOOK_SECRET=")[2].partition("```")[0]
    secret, *commands = block.split("\n$ tollgate decrypt ")

    assert len(commands) == 2
    for each in commands:
        arguments, _, shown = each.partition("\n")
        ran = decrypt(*arguments.split(), TOLLGATE_WEBHOOK_SECRET=secret)
        assert ran.output.strip() == shown.strip()
