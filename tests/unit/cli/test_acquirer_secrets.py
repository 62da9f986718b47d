"""Secrets of acquirer accounts are one line, because they become part of headers and keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tollgate.cli.program import program


def run(folder: Path, *command: str, sent: str = "") -> Result:
    return CliRunner().invoke(program, [*command, "--data", str(folder)], input=sent, catch_exceptions=False)


@pytest.mark.parametrize(
    ("value", "is_taken"),
    [("sk_test_1\n", True), ("sk_test_1\r\nX-Other: 1", False), ("sk\x00test", False), ("sk_täst", False)],
)
def test_a_secret_with_a_second_line_is_refused(tmp_path: Path, value: str, *, is_taken: bool) -> None:
    run(tmp_path, "migrate")
    merchant_id = run(tmp_path, "merchant", "add", "Shop").stdout.strip()
    entity_id = run(tmp_path, "channel", "add", merchant_id, "Shop", "--acquirer", "stripe").stdout.strip()

    done = run(tmp_path, "channel", "acquirer-secret", entity_id, "api-key", sent=value)

    assert (done.exit_code == 0) is is_taken
    assert "sk_" not in done.output
