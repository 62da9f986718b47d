"""Settings that belong together are given as single flags, checked, and kept where they are not given."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import tollgate.cli  # noqa: F401, reading it adds the commands to the program
from tollgate.cli.channel_terms import merge_terms
from tollgate.cli.program import program
from tollgate.payments import Creditor, ThreeDsTerms, TokenTerms
from unit.premises import CHANNEL

FLAGS = {
    "creditor_name": "Shop",
    "creditor_iban": "DE02120300000000202051",
    "creditor_bic": "BYLADEM1001",
    "creditor_id": "DE98ZZZ09999999999",
}
CREDITOR = Creditor(name="Shop", iban="DE02120300000000202051", bic="BYLADEM1001", identifier="DE98ZZZ09999999999")


def test_a_creditor_is_made_of_its_flags_and_its_bank_is_found() -> None:
    without_bic = {name: value for name, value in FLAGS.items() if name != "creditor_bic"}

    assert merge_terms(CHANNEL, FLAGS).creditor == CREDITOR
    assert merge_terms(CHANNEL, without_bic).creditor == CREDITOR


def test_what_is_not_given_stays() -> None:
    channel = merge_terms(CHANNEL, {**FLAGS, "is_lenient": True})

    changed = merge_terms(channel, {"creditor_name": "Other"})

    assert changed.creditor == Creditor(
        name="Other", iban=CREDITOR.iban, bic=CREDITOR.bic, identifier=CREDITOR.identifier
    )
    assert changed.is_lenient


def test_half_a_creditor_is_refused_by_naming_the_rest() -> None:
    with pytest.raises(SystemExit, match="--creditor-iban, --creditor-bic, --creditor-id"):
        merge_terms(CHANNEL, {"creditor_name": "Shop"})


def test_terms_of_authentication_are_merged_too() -> None:
    once = merge_terms(CHANNEL, {"three_ds_test_url": "https://ds.example", "requires_3ds": True})
    twice = merge_terms(once, {"acquirer_bin": "400000"})

    assert twice.three_ds == ThreeDsTerms(test_url="https://ds.example", is_required=True, acquirer_bin="400000")
    assert twice.creditor is None


def test_terms_of_a_token_vault_are_merged_too() -> None:
    once = merge_terms(CHANNEL, {"token_live_url": "https://tokens.example", "uses_network_tokens": True})
    twice = merge_terms(once, {"token_requestor_id": "R-1"})

    assert twice.uses_network_tokens
    assert twice.token_terms == TokenTerms(live_url="https://tokens.example", requestor_id="R-1")
    assert twice.three_ds is None


@pytest.mark.parametrize(
    ("flag", "value", "word"),
    [
        ("--creditor-iban", "DE02120300000000202052", "IBAN"),
        ("--creditor-bic", "BYLAXXM1", "BIC"),
        ("--creditor-id", "DE99ZZZ09999999999", "creditor identifier"),
        ("--creditor-id", "ZZZ", "creditor identifier"),
        ("--test-url", "nonsense", "web address"),
        ("--live-url", "acquirer.example", "web address"),
        ("--three-ds-test-url", "https://", "web address"),
        ("--three-ds-live-url", "https://ds.example/ a", "web address"),
        ("--requestor-url", "javascript:alert(1)", "web address"),
        ("--token-test-url", "tokens.example", "web address"),
        ("--token-live-url", "ftp://tokens.example", "web address"),
    ],
)
def test_what_nobody_else_would_know_is_refused(flag: str, value: str, word: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(program, ["channel", "set", "8a01", flag, value, "--data", str(tmp_path)])

    assert done.exit_code == 2
    assert word in done.output
    assert list(tmp_path.iterdir()) == []
