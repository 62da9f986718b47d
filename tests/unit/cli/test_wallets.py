"""Wallet keys are given, listed and taken away by command, and a test host prints tokens to try."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tollgate.cli.program import program
from wallet_mint import MERCHANT, RECIPIENT, Mint

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def mint(tmp_path_factory: pytest.TempPathFactory) -> Mint:
    return Mint(tmp_path_factory.mktemp("mint"))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a command on a store that was made before."""

    def run(*command: str) -> Result:
        return CliRunner().invoke(program, [*command, "--data", str(tmp_path)], catch_exceptions=False)

    run("migrate")
    return run


@pytest.fixture
def entity_id(run: Run) -> str:
    merchant_id = run("merchant", "add", "Shop").stdout.strip()
    return run("channel", "add", merchant_id, "Shop").stdout.strip()


def publish(mint: Mint) -> str:
    """Returns the file of root signing keys as the provider publishes it, with a key of an older protocol."""
    text = json.dumps(
        {
            "keys": [
                {"keyValue": "AAAA", "protocolVersion": "ECv1"},
                {
                    "keyValue": subprocess.run(
                        ["base64", "-w0"], input=mint.read_public("root_signing"), capture_output=True, check=True
                    ).stdout.decode(),
                    "protocolVersion": "ECv2",
                    "keyExpiration": "2154841200000",
                },
            ]
        }
    )
    path = mint.folder / "published.json"
    path.write_text(text)
    return str(path)


def write_der(mint: Mint) -> str:
    path = mint.path("root", "cer")
    subprocess.run(["openssl", "x509", "-in", mint.path("root", "pem"), "-outform", "DER", "-out", path], check=True)
    return path


def test_keys_of_all_wallets_are_added_listed_and_removed(run: Run, mint: Mint, entity_id: str) -> None:
    add = ("channel", "wallet-key", "add", entity_id)
    ids = [
        run(*add, "--wallet", wallet, "--key", mint.path(key, "key"), *more).stdout.strip()
        for wallet, key, more in (
            ("applePay", "recipient_a", ("--recipient", MERCHANT, "--roots", mint.path("root", "pem"))),
            ("applePay", "recipient_a", ("--recipient", MERCHANT, "--roots", write_der(mint))),
            ("googlePay", "recipient_b", ("--recipient", RECIPIENT, "--signing-keys", publish(mint))),
            ("samsungPay", "recipient_c", ()),
        )
    ]

    listed = run("channel", "wallet-key", "list").stdout.splitlines()
    assert {line.split()[0] for line in listed} == set(ids)
    assert all(entity_id in line for line in listed)
    assert sorted(line.split()[3] for line in listed) == ["applePay", "applePay", "googlePay", "samsungPay"]

    assert run("channel", "wallet-key", "remove", ids[0]).exit_code == 0
    assert run("channel", "wallet-key", "remove", ids[0]).exit_code != 0
    assert len(run("channel", "wallet-key", "list").stdout.splitlines()) == 3


def test_what_cannot_open_anything_is_refused_in_one_line(run: Run, mint: Mint, entity_id: str) -> None:
    add = ("channel", "wallet-key", "add", entity_id, "--wallet")
    key = mint.path("recipient_b", "key")
    refusals = {
        "root certificates": run(*add, "applePay", "--key", key, "--recipient", MERCHANT),
        "cannot be read": run(*add, "applePay", "--key", key, "--recipient", MERCHANT, "--roots", key),
        "root signing keys": run(*add, "googlePay", "--key", key, "--recipient", RECIPIENT),
        "provider publishes": run(*add, "googlePay", "--key", key, "--recipient", RECIPIENT, "--signing-keys", key),
        "RSA": run(*add, "samsungPay", "--key", key),
        "no channel": run("channel", "wallet-key", "add", "8a00", "--wallet", "samsungPay", "--key", key),
    }

    for complaint, done in refusals.items():
        assert done.exit_code != 0
        assert complaint in done.output
        assert len(done.output.splitlines()) == 1
    assert run("channel", "wallet-key", "list").stdout == ""


@pytest.mark.parametrize("wallet", ["applePay", "googlePay", "samsungPay", "walletA", "walletB", "walletC"])
def test_a_token_is_one_line_and_never_the_same(run: Run, wallet: str) -> None:
    first, second = (run("wallet-token", "--wallet", wallet).stdout for _ in range(2))

    assert first.count("\n") == 1
    assert first != second
    assert "4200000000000000" not in first


@pytest.mark.parametrize(
    "odd",
    [
        ("--expiry", "2034-05"),
        ("--expiry", "13/2034"),
        ("--amount", "a lot"),
        ("--currency", "XXX"),
        ("--number", "4200 0000"),
        ("--wallet", "paypal"),
        ("--environment", "live"),
        ("--entity", "8a00"),
    ],
)
def test_odd_arguments_are_refused(run: Run, odd: tuple[str, str]) -> None:
    done = run("wallet-token", *odd)

    assert done.exit_code != 0
    assert "{" not in done.stdout
