"""The walk through `docs/iso8583.md`: a gateway and the simulated ISO 8583 host with its rules, on one machine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from html import unescape
from pathlib import Path

import pytest

from acquirer_host import AcquirerHostProcess
from api.merchants import add_channel, wait_until
from gateway import COLD, COMMAND_S, Client, GatewayProcess, inherit_variables
from office_client import enter_office
from tollgate.hosting.certificate import get_local_certificate
from tollgate.values import SystemClock
from warm import run_warm

SILENT, UNSENT, APPROVED = "900.100.300", "900.100.600", "000.100.112"
SETTINGS = {"TOLLGATE_ACQUIRER_TIMEOUT_S": "8"}
"""Longer than the delay of the rules, shorter than their late answer."""
KEY = "000102030405060708090A0B0C0D0E0F"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A gateway with a short time-out."""
    with GatewayProcess(tmp_path_factory.mktemp("own"), environment=SETTINGS) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AcquirerHostProcess]:
    with AcquirerHostProcess(tmp_path_factory.mktemp("host")) as host:
        yield host


@pytest.fixture(scope="module")
def shop(own: GatewayProcess, host: AcquirerHostProcess) -> Client:
    return open_shop(own, f"tcp://127.0.0.1:{host.port}")


def open_shop(gateway: GatewayProcess, address: str, *flags: str) -> Client:
    terms = ("--acquirer", "iso8583", "--test-url", address, "--terminal-id", "TERM0001", *flags)
    return add_channel(gateway, gateway.client(), "ISO 8583", *terms)


def put_key(gateway: GatewayProcess, entity_id: str) -> None:
    """Gives a channel the key of its acquirer by standard input, which a warm command does not have."""
    command = [*COLD, "channel", "acquirer-secret", entity_id, "key-encryption-key", "--data", str(gateway.data)]
    subprocess.run(command, input=KEY, text=True, check=True, timeout=COMMAND_S, env=inherit_variables())


def pay(shop: Client, amount: str, payment_type: str = "DB") -> tuple[str, str]:
    answer = shop.pay(None, testMode="EXTERNAL", amount=amount, paymentType=payment_type)
    return answer.json["id"], answer.code


def is_undone(host: AcquirerHostProcess, payment_id: str) -> bool:
    return payment_id in host.read_ledger().entries and bool(host.read_ledger().entries[payment_id]["is_undone"])


ANSWERS = {
    "92.00": APPROVED,
    "100.05": "800.100.152",
    "100.51": "800.100.203",
    "100.54": "800.100.157",
    "101.01": APPROVED,
    "101.03": APPROVED,
    **dict.fromkeys(("101.02", "101.04", "101.05", "101.06", "101.07", "101.08"), SILENT),
}
"""The code of the answer by the amount that was paid."""
CLOSING = ("101.05", "101.06")
"""After these the connection is closed, and whatever else is in flight is silent too."""


def test_every_rule_is_told_in_the_words_of_the_gateway_and_silence_is_reversed(
    shop: Client, host: AcquirerHostProcess
) -> None:
    paid = {amount: pay(shop, amount) for amount in CLOSING}
    together = [amount for amount in ANSWERS if amount not in CLOSING]
    with ThreadPoolExecutor(len(together)) as shoppers:
        paid |= dict(zip(together, shoppers.map(lambda amount: pay(shop, amount), together), strict=True))

    assert {amount: code for amount, (_, code) in paid.items()} == ANSWERS
    for amount, (payment_id, code) in paid.items():
        if code == SILENT:
            wait_until(partial(is_undone, host, payment_id))
        assert (payment_id in host.read_ledger().list_effective()) is (code == APPROVED), amount


def test_a_whole_chain_is_in_both_books(shop: Client, host: AcquirerHostProcess) -> None:
    payment_id, _ = pay(shop, "92.00", "PA")
    capture = shop.post(f"/v1/payments/{payment_id}", {"paymentType": "CP", "amount": "50.00", "currency": "EUR"})
    refund = shop.post(
        f"/v1/payments/{capture.json['id']}", {"paymentType": "RF", "amount": "20.00", "currency": "EUR"}
    )
    reversal = shop.post(f"/v1/payments/{payment_id}", {"paymentType": "RV"})
    credit_id, credit = pay(shop, "7.00", "CD")

    assert [each.code for each in (capture, refund, reversal)] == [APPROVED] * 3
    assert credit == APPROVED
    booked = host.read_ledger().payments
    expected = {"authorized": 9200, "captured": 5000, "refunded": 2000, "reversed": 4200, "held": 0, "earned": 3000}
    assert {name: booked[payment_id][name] for name in expected} == expected
    assert booked[credit_id]["credited"] == 700


def test_nobody_at_the_address_means_that_nothing_was_sent(own: GatewayProcess) -> None:
    assert pay(open_shop(own, "tcp://127.0.0.1:1"), "92.00")[1] == UNSENT


def test_tls_with_a_pinned_authority_and_codes_under_a_key(own: GatewayProcess, tmp_path: Path) -> None:
    certificate, key = get_local_certificate(tmp_path, SystemClock().wall())
    (own.data / "certificates").mkdir(exist_ok=True)
    (own.data / "certificates/host.pem").write_bytes(certificate.read_bytes())
    (tmp_path / "key.txt").write_text(KEY)
    flags = ("--tls-cert", str(certificate), "--tls-key", str(key), "--key", str(tmp_path / "key.txt"))
    with AcquirerHostProcess(tmp_path, *flags) as host:
        address = f"tls://127.0.0.1:{host.port}"
        trusting = open_shop(own, address, "--acquirer-ca", "host.pem")
        stranger = open_shop(own, address)

        assert pay(stranger, "92.00")[1] == UNSENT
        assert pay(trusting, "92.00")[1] == "800.100.170"
        put_key(own, trusting.entity_id)
        own.stop()
        own.start()
        assert pay(trusting, "92.00")[1] == APPROVED
        assert len(host.read_ledger().entries) == 1


def test_the_host_prints_its_sums_when_it_ends(own: GatewayProcess, tmp_path: Path) -> None:
    with AcquirerHostProcess(tmp_path) as host:
        shop = open_shop(own, f"tcp://127.0.0.1:{host.port}")
        pay(shop, "92.00")
        printed = host.stop()

    assert "4200000000000000" not in printed
    assert "420000******0000" in printed
    assert "earned 9200" in printed.splitlines()[-1]


@pytest.mark.parametrize(
    ("flag", "content"), [("--rules", "[[rule]]\nact = 'explode'"), ("--key", "xyz"), ("--tls-cert", "no certificate")]
)
def test_a_file_that_cannot_be_used_ends_the_command(tmp_path: Path, flag: str, content: str) -> None:
    (tmp_path / "file").write_text(content)
    command = ["acquirer-host", "--port", "0", flag, str(tmp_path / "file")]
    done = run_warm(command, inherit_variables(), 300.0, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr


def test_the_page_of_a_payment_names_the_protocol_and_explains_its_messages(own: GatewayProcess, shop: Client) -> None:
    office = enter_office(own)
    payment_id, _ = pay(shop, "92.00")

    def show() -> str:
        return unescape(office.get(f"{office.base}/payments/{payment_id}").body.decode())

    wait_until(lambda: "Charge request: answered" in show())

    page = show()
    assert "iso8583 connector to tcp://127.0.0.1:" in page
    assert '"2 primary account number": "420000******0000"' in page
    assert "4200000000000000" not in page
