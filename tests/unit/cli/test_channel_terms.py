"""Settings that belong together are given as single flags, checked, and unchanged where they are not given."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from tollgate.cli.channel_terms import merge_flags, with_channel_flags
from tollgate.cli.program import program
from tollgate.payments.merchants import CHANNEL_FLAGS, Creditor, Form, ThreeDsTerms, TokenTerms
from unit.app_fixture import CHANNEL

FLAGS = {
    "creditor_name": "Shop",
    "creditor_iban": "DE02120300000000202051",
    "creditor_bic": "BYLADEM1001",
    "creditor_id": "DE98ZZZ09999999999",
}
CREDITOR = Creditor(name="Shop", iban="DE02120300000000202051", bic="BYLADEM1001", identifier="DE98ZZZ09999999999")

CARD_ADDRESSES = [flag.name for flag in CHANNEL_FLAGS if flag.form in (Form.CARD_ADDRESS, Form.ACQUIRER_ADDRESS)]
"""Settings that name a system to which card data is sent."""


def test_a_creditor_is_made_of_its_flags_and_its_bank_is_found() -> None:
    without_bic = {name: value for name, value in FLAGS.items() if name != "creditor_bic"}

    assert merge_flags(CHANNEL, FLAGS).creditor == CREDITOR
    assert merge_flags(CHANNEL, without_bic).creditor == CREDITOR


def test_what_is_not_given_stays() -> None:
    channel = merge_flags(CHANNEL, {**FLAGS, "lenient": True})

    changed = merge_flags(channel, {"creditor_name": "Other"})

    assert changed.creditor == Creditor(
        name="Other", iban=CREDITOR.iban, bic=CREDITOR.bic, identifier=CREDITOR.identifier
    )
    assert changed.is_lenient


def test_half_a_creditor_is_refused_by_naming_the_rest() -> None:
    with pytest.raises(SystemExit, match="--creditor-iban, --creditor-bic, --creditor-id"):
        merge_flags(CHANNEL, {"creditor_name": "Shop"})


def test_terms_of_authentication_are_merged_too() -> None:
    once = merge_flags(CHANNEL, {"three_ds_test_url": "https://ds.example", "require_3ds": True})
    twice = merge_flags(once, {"acquirer_bin": "400000"})

    assert twice.three_ds == ThreeDsTerms(test_url="https://ds.example", is_required=True, acquirer_bin="400000")
    assert twice.creditor is None


def test_terms_of_a_token_vault_are_merged_too() -> None:
    once = merge_flags(CHANNEL, {"token_live_url": "https://tokens.example", "network_tokens": True})
    twice = merge_flags(once, {"token_requestor_id": "R-1"})

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
        ("--test-url", "nonsense", "an address"),
        ("--return-schemes", "myshop,javascript", "scheme of an app: javascript"),
        ("--return-schemes", "MS-MSDT", "scheme of an app: ms-msdt"),
        ("--return-schemes", "shop app", "scheme of an app"),
        ("--return-schemes", "https", "scheme of an app"),
        ("--live-url", "acquirer.example", "an address"),
        ("--three-ds-test-url", "https://", "web address"),
        ("--three-ds-live-url", "https://ds.example/ a", "web address"),
        ("--requestor-url", "javascript:alert(1)", "web address"),
        ("--token-test-url", "tokens.example", "web address"),
        ("--token-live-url", "ftp://tokens.example", "web address"),
        ("--live-url", "https://acquirer.example:70000", "an address"),
        ("--live-url", "https://acquirer.example/\x1b", "an address"),
    ],
)
def test_what_nobody_else_would_know_is_refused(flag: str, value: str, word: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(program, ["channel", "set", "8a01", flag, value, "--data", str(tmp_path)])

    assert done.exit_code == 2
    assert word in done.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flag", CARD_ADDRESSES)
def test_a_live_host_takes_no_address_that_card_data_would_reach_in_clear(flag: str, tmp_path: Path) -> None:
    def run(*command: str) -> Result:
        store = ("--data", str(tmp_path), "--key-file", str(tmp_path / "tollgate-keys.json"))
        return CliRunner().invoke(program, [*command, *store, "--environment", "live"])

    CliRunner().invoke(program, ["make-keys", str(tmp_path)])
    run("migrate")
    merchant_id = run("merchant", "add", "Shop").stdout.strip()
    entity_id = run("channel", "add", merchant_id, "Shop", flag, "https://pay.example").stdout.strip()

    for command in (("channel", "add", merchant_id, "Other"), ("channel", "set", entity_id)):
        for address in (("http://pay.example", "--allow-plain-loopback"), ("http://127.0.0.1:99",)):
            done = run(*command, flag, *address)
            assert done.exit_code == 2
            assert flag in done.output
            assert "tls:// only" in done.output
    assert run("channel", "set", entity_id, flag, "http://127.0.0.1:99", "--allow-plain-loopback").exit_code == 0
    assert run("channel", "set", entity_id, flag, "").exit_code == 0
    assert len(run("channel", "list").stdout.splitlines()) == 1


def test_every_flag_of_an_address_is_known_to_carry_cards_or_not_to() -> None:
    named = {flag.name for flag in CHANNEL_FLAGS if flag.name.endswith("-url")}

    assert named == {*CARD_ADDRESSES, "--requestor-url"}


@pytest.mark.parametrize(
    ("text", "schemes"),
    [("myshop", ("myshop",)), ("MyShop, com.example.shop,myshop", ("myshop", "com.example.shop")), ("", ())],
)
def test_schemes_of_apps_are_a_list_and_an_empty_one_takes_them_away(text: str, schemes: tuple[str, ...]) -> None:
    found: list[object] = []

    @click.command()
    @with_channel_flags()
    def show(return_schemes: object, **_others: object) -> None:
        found.append(return_schemes)

    assert CliRunner().invoke(show, ["--return-schemes", text]).exit_code == 0
    assert found == [schemes]
    assert merge_flags(CHANNEL, {"return_schemes": schemes}).return_schemes == schemes
