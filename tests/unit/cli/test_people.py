"""Channels made and changed by command: what is set is listed, and what is taken back is gone."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from tollgate.cli.program import program

TRAIT = "reuses registrations"


def run(folder: Path, *command: str) -> str:
    done = CliRunner().invoke(program, [*command, "--data", str(folder)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout.strip()


def test_a_channel_makes_a_new_registration_unless_it_is_set_to_reuse(tmp_path: Path) -> None:
    run(tmp_path, "migrate")
    merchant_id = run(tmp_path, "merchant", "add", "Shop")
    plain = run(tmp_path, "channel", "add", merchant_id, "Plain")
    thrifty = run(tmp_path, "channel", "add", merchant_id, "Thrifty", "--reuse-registrations")

    assert list_thrifty(tmp_path) == {thrifty}

    run(tmp_path, "channel", "set", plain, "--reuse-registrations")
    run(tmp_path, "channel", "set", thrifty, "--new-registrations")
    run(tmp_path, "channel", "set", plain, "--lenient")

    assert list_thrifty(tmp_path) == {plain}


def list_thrifty(folder: Path) -> set[str]:
    return {line.split()[0] for line in run(folder, "channel", "list").splitlines() if TRAIT in line}
