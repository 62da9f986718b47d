"""Mobile wallets over HTTP: tokens made by Node for keys that an operator gave, and by the sandbox's own provider."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from os import urandom
from pathlib import Path
from typing import Any

import pytest

from api.merchants import add_channel, run_command, wait_until
from api.recording import RecordingAcquirer
from api.server import SharedServer, open_own_server
from api.traces import collect, spell_number
from gateway import Answer, Client, GatewayProcess
from postgres import PostgresCluster
from tollgate.values import HOUR, SystemClock
from wallet_mint import CRYPTOGRAM, MERCHANT, RECIPIENT, Mint

NUMBER = "4929939187355598"
"""No other test pays with it, so that it can be looked for."""

BRANDS = {"walletA": "APPLEPAY", "walletB": "GOOGLEPAY", "walletC": "SAMSUNGPAY"}
ALIASES = {"walletA": "applePay", "walletB": "googlePay", "walletC": "samsungPay"}
SECRET_CRYPTOGRAM = b64encode(b"a proof to look for!").decode()


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def server(
    request: pytest.FixtureRequest, acquirer: RecordingAcquirer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedServer]:
    """A server of their own: tokens live by the clock, which other tests move on the servers that all share."""
    with open_own_server(request, tmp_path_factory.mktemp("wallets"), acquirer) as server:
        yield server


@pytest.fixture(scope="session")
def gateway(server: SharedServer) -> GatewayProcess:
    return server.gateway


@pytest.fixture(scope="session")
def mint(tmp_path_factory: pytest.TempPathFactory) -> Mint:
    mint = Mint(tmp_path_factory.mktemp("mint"))
    published = {
        "keyValue": b64encode(mint.read_public("root_signing")).decode(),
        "protocolVersion": "ECv2",
    }
    (mint.folder / "published.json").write_text(json.dumps({"keys": [published]}))
    return mint


class Stock:
    """Fresh tokens, made several at once, because starting Node takes longer than making one."""

    def __init__(self, mint: Mint) -> None:
        self._mint = mint
        self._tokens: dict[str, list[str]] = {}

    def take(self, wallet: str) -> str:
        left = self._tokens.setdefault(wallet, [])
        if not left:
            left += self._mint.make_tokens([make_request(self._mint, wallet) for _ in range(6)])
        return left.pop()


@pytest.fixture(scope="session")
def stock(mint: Mint) -> Stock:
    return Stock(mint)


@pytest.fixture(scope="session")
def shops() -> dict[str, Client]:
    """Clients are kept by database, because tests change from one to the other."""
    return {}


@pytest.fixture
def shop(gateway: GatewayProcess, server: SharedServer, mint: Mint, shops: dict[str, Client]) -> Client:
    """A channel with an operator's keys and a processor that records its requests."""
    found = shops.get(gateway.database)
    if found is not None:
        return found
    shop = add_channel(gateway, server.client, "Wallets", "--test-url", server.acquirer.url)
    add = ("channel", "wallet-key", "add", shop.entity_id)
    roots, signing_keys = mint.path("root", "pem"), str(mint.folder / "published.json")
    for wallet, key, more in (
        ("applePay", "recipient_a", ("--recipient", MERCHANT, "--roots", roots)),
        ("googlePay", "recipient_b", ("--recipient", RECIPIENT, "--signing-keys", signing_keys)),
        ("samsungPay", "recipient_c", ()),
    ):
        run_command(gateway, *add, "--wallet", wallet, "--key", mint.path(key, "key"), *more)
    wait_until(lambda: pay(shop, "walletC", "no token").code == "200.100.603")
    shops[gateway.database] = shop
    return shop


def pay(shop: Client, wallet: str, token: str, key: str | None = None, **changes: str | None) -> Answer:
    fields: dict[str, str | None] = {
        "amount": "92.00",
        "currency": "EUR",
        "paymentType": "DB",
        "paymentBrand": BRANDS[wallet],
        "testMode": "EXTERNAL",
        f"{wallet}.paymentToken": token,
    }
    return shop.post("/v1/payments", {**fields, **changes}, {"Idempotency-Key": key} if key else None)


def make_request(mint: Mint, wallet: str, *, at: int | None = None, number: str = NUMBER) -> dict[str, Any]:
    now = at if at is not None else SystemClock().now()
    if wallet == "walletA":
        return mint.request_a(now, contents={"applicationPrimaryAccountNumber": number})
    if wallet == "walletB":
        card = {
            "pan": number,
            "expirationMonth": 5,
            "expirationYear": 2034,
            "authMethod": "CRYPTOGRAM_3DS",
            "cryptogram": CRYPTOGRAM,
            "eciIndicator": "07",
        }
        expired = {"messageExpiration": str((now + HOUR // 2) // 1000)}
        return mint.request_b(now, contents={"paymentMethodDetails": card, **expired})
    return mint.request_c(
        now, contents={"tokenPAN": number, "eci_indicator": "07", "cryptogram": f"proof {urandom(8).hex()}"}
    )


@pytest.mark.parametrize("is_alias", [False, True])
@pytest.mark.parametrize("wallet", BRANDS)
def test_a_real_token_pays_and_the_acquirer_receives_its_proof(
    shop: Client, stock: Stock, acquirer: RecordingAcquirer, wallet: str, is_alias: bool
) -> None:
    token = stock.take(wallet)
    name = f"{ALIASES[wallet]}.paymentToken"

    answer = pay(shop, wallet, token, **({f"{wallet}.paymentToken": None, name: token} if is_alias else {}))

    assert (answer.status, answer.code) == (200, "000.100.112")
    assert answer.json["paymentBrand"] == BRANDS[wallet]
    assert (answer.json["card"]["bin"], answer.json["card"]["last4Digits"]) == (NUMBER[:6], NUMBER[-4:])
    assert token not in answer.body.decode()
    received = json.dumps(acquirer.last_charge)
    assert NUMBER in received
    assert '"DPAN"' in received
    assert (CRYPTOGRAM if wallet != "walletC" else "proof ") in received
    assert '"07"' in received
    assert shop.get(f"/v1/payments/{answer.json['id']}").json["card"] == answer.json["card"]


def test_a_payment_by_wallet_is_captured_and_refunded_without_its_token(shop: Client, stock: Stock) -> None:
    made = pay(shop, "walletA", stock.take("walletA"), paymentType="PA").json["id"]

    captured = shop.post(f"/v1/payments/{made}", {"amount": "92.00", "currency": "EUR", "paymentType": "CP"})
    refunded = shop.post(
        f"/v1/payments/{captured.json['id']}", {"amount": "10.00", "currency": "EUR", "paymentType": "RF"}
    )

    assert (captured.code, refunded.code) == ("000.100.112", "000.100.112")


def test_a_card_without_proof_from_a_wallet_is_an_ordinary_card(
    shop: Client, mint: Mint, acquirer: RecordingAcquirer
) -> None:
    card = {"pan": NUMBER, "expirationMonth": 5, "expirationYear": 2034, "authMethod": "PAN_ONLY"}
    token = mint.make_token(mint.request_b(SystemClock().now(), contents={"paymentMethodDetails": card}))

    assert pay(shop, "walletB", token).code == "000.100.112"
    assert "DPAN" not in json.dumps(acquirer.last_charge)


@pytest.mark.both_databases
@pytest.mark.parametrize("wallet", BRANDS)
def test_a_used_token_is_refused_and_its_idempotent_repeat_is_not(shop: Client, stock: Stock, wallet: str) -> None:
    token = stock.take(wallet)
    key = f"{wallet}-{SystemClock().now()}"

    first, repeated, replayed = pay(shop, wallet, token, key), pay(shop, wallet, token, key), pay(shop, wallet, token)

    assert (first.status, first.code) == (200, "000.100.112")
    assert repeated.body == first.body
    assert repeated.headers["idempotency-replayed"] == "true"
    assert (replayed.status, replayed.code) == (400, "800.110.100")


@pytest.mark.both_databases
def test_of_many_at_once_one_pays(shop: Client, stock: Stock) -> None:
    token = stock.take("walletA")

    with ThreadPoolExecutor(8) as pool:
        codes = sorted(answer.code for answer in pool.map(lambda _: pay(shop, "walletA", token), range(8)))

    assert codes == ["000.100.112", *["800.110.100"] * 7]


@pytest.mark.parametrize("wallet", BRANDS)
def test_an_old_token_is_expired(shop: Client, mint: Mint, wallet: str) -> None:
    answer = pay(shop, wallet, mint.make_token(make_request(mint, wallet, at=SystemClock().now() - HOUR)))

    assert (answer.status, answer.code) == (400, "800.100.330")


@pytest.mark.parametrize("wallet", BRANDS)
def test_what_does_not_open_has_one_code(shop: Client, mint: Mint, wallet: str) -> None:
    """Another key, another root or nothing at all: the answers differ in their ids and times only."""
    other_key = "other_rsa" if wallet == "walletC" else "other_ec"
    good = make_request(mint, wallet)
    made = mint.make_tokens([good, {**good, "recipientKey": mint.path(other_key, "key")}])
    broken = made[0].replace("A", "B", 1) if wallet == "walletC" else made[0].replace('"', "'")
    answers = [pay(shop, wallet, token) for token in (made[1], broken, "{}", "x" * 60_000, "[" * 5000, "é")]

    assert {(answer.status, answer.code) for answer in answers} == {(400, "200.100.603")}
    assert len({json.dumps(answer.json["result"], sort_keys=True) for answer in answers}) == 1
    assert all("card" not in answer.json for answer in answers)


def test_a_channel_without_keys_says_so(external: Client, stock: Stock) -> None:
    answer = pay(external, "walletA", stock.take("walletA"))

    assert (answer.status, answer.code) == (400, "600.200.201")


def test_a_token_for_another_channel_does_not_open(client: Client, stock: Stock) -> None:
    answer = pay(client, "walletA", stock.take("walletA"), testMode="INTERNAL")

    assert answer.code == "200.100.603"


def test_a_key_that_was_taken_away_opens_nothing(gateway: GatewayProcess, client: Client, mint: Mint) -> None:
    brief = add_channel(gateway, client, "Brief")
    add = ("channel", "wallet-key", "add", brief.entity_id, "--wallet", "samsungPay")
    key_id = run_command(gateway, *add, "--key", mint.path("recipient_c", "key"))
    wait_until(lambda: pay(brief, "walletC", "none", testMode="INTERNAL").code == "200.100.603")

    run_command(gateway, "channel", "wallet-key", "remove", key_id)

    wait_until(lambda: pay(brief, "walletC", "none", testMode="INTERNAL").code == "600.200.201")


@pytest.mark.parametrize("wallet", BRANDS)
def test_a_token_of_the_sandbox_pays_on_both_its_channels(
    gateway: GatewayProcess, client: Client, lenient: Client, wallet: str
) -> None:
    for caller in (client, lenient):
        token = run_command(gateway, "wallet-token", "--wallet", ALIASES[wallet], "--entity", caller.entity_id)

        answer = pay(caller, wallet, token, testMode=None)

        assert (answer.status, answer.code) == (200, "000.100.110")
        assert answer.json["card"]["last4Digits"] == "0000"


def test_the_sandboxs_old_tokens_are_expired(gateway: GatewayProcess, client: Client) -> None:
    for alias, wallet in (("applePay", "walletA"), ("googlePay", "walletB"), ("samsungPay", "walletC")):
        token = run_command(gateway, "wallet-token", "--wallet", alias, "--age", "3600")

        assert pay(client, wallet, token, testMode=None).code == "800.100.330"


@pytest.mark.parametrize("source", ["web", "app"])
@pytest.mark.parametrize("wallet", BRANDS)
def test_what_the_merchant_opened_itself_is_sent_with_its_source(
    shop: Client, acquirer: RecordingAcquirer, wallet: str, source: str
) -> None:
    opened = {
        f"{wallet}.paymentToken": None,
        f"{wallet}.source": source,
        "card.number": NUMBER,
        "card.expiryMonth": "05",
        "card.expiryYear": "2034",
        "threeDSecure.verificationId": CRYPTOGRAM,
        "threeDSecure.eci": "07",
    }

    answer = pay(shop, wallet, "", **opened)

    assert (answer.status, answer.code) == (200, "000.100.112")
    received = json.dumps(acquirer.last_charge)
    assert all(text in received for text in (NUMBER, CRYPTOGRAM, '"07"', "DPAN"))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"walletA.source": "web"}, {"walletA.source"}),
        ({"walletA.paymentToken": None, "walletA.source": "fax"}, {"walletA.source"}),
        ({"walletA.paymentToken": None, "walletA.cardNetwork": "visa"}, {"walletA.paymentToken"}),
        ({"walletA.paymentToken": None}, {"walletA.paymentToken"}),
        ({"walletA.paymentToken": "x" * 70_000}, {"walletA.paymentToken"}),
        ({"card.number": NUMBER}, {"card.number"}),
        ({"walletB.paymentToken": "token"}, {"walletB.paymentToken"}),
        ({"paymentBrand": "PAYPAL"}, {"paymentBrand"}),
        ({"paymentBrand": "GOOGLEPAY", "walletB.cardNetwork": "visa"}, {"paymentBrand"}),
        (
            {
                "paymentBrand": "DIRECTDEBIT_SEPA",
                "bankAccount.holder": "Jane Jones",
                "bankAccount.iban": "DE89370400440532013000",
            },
            {"paymentBrand"},
        ),
        (
            {"walletA.paymentToken": None, "walletA.source": "web"},
            {
                "card.number",
                "card.expiryMonth",
                "card.expiryYear",
                "threeDSecure.verificationId",
                "threeDSecure.eci",
            },
        ),
    ],
    ids=str,
)
def test_what_is_missing_or_too_much_is_named(shop: Client, changes: dict[str, str | None], named: set[str]) -> None:
    answer = pay(shop, "walletA", "token", **changes)

    assert answer.status == 400
    assert named <= set(answer.faults)


@pytest.fixture
def second_server(server: SharedServer, tmp_path: Path) -> Iterator[GatewayProcess]:
    first = server.gateway
    keys = ("--key-file", str(first.data / "keys.json"))
    with GatewayProcess(tmp_path, first.database, keys) as second:
        yield second


@pytest.mark.both_databases
@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_a_token_used_on_one_server_is_used_on_all(server: SharedServer, second_server: GatewayProcess) -> None:
    client = server.client
    elsewhere = Client(second_server.base_url, client.token, client.entity_id)
    token = run_command(server.gateway, "wallet-token", "--wallet", "googlePay")

    assert pay(client, "walletB", token, testMode=None).code == "000.100.110"
    assert pay(elsewhere, "walletB", token, testMode=None).code == "800.110.100"


@pytest.mark.both_databases
def test_nothing_of_a_token_is_at_rest(
    shop: Client, gateway: GatewayProcess, mint: Mint, request: pytest.FixtureRequest
) -> None:
    """The number, the proof and the token are in neither store nor log, also after a failure or a repeat."""
    good = mint.request_c(
        SystemClock().now(), contents={"tokenPAN": NUMBER, "cryptogram": SECRET_CRYPTOGRAM}, alg="RSA1_5"
    )
    token, late = mint.make_tokens([good, make_request(mint, "walletA", at=SystemClock().now() - HOUR)])
    opened = {"walletB.paymentToken": None, "walletB.source": "app", "threeDSecure.eci": "07"}
    card = {"card.number": NUMBER, "card.expiryMonth": "05", "card.expiryYear": "2034"}
    by_merchant = pay(shop, "walletB", "", **opened, **card, **{"threeDSecure.verificationId": SECRET_CRYPTOGRAM})
    codes = [pay(shop, "walletC", token).code, pay(shop, "walletC", token).code, pay(shop, "walletA", late).code]
    assert [by_merchant.code, *codes] == ["000.100.112", "000.100.112", "800.110.100", "800.100.330"]
    folders = [gateway.data]
    if gateway.database:
        cluster: PostgresCluster = request.getfixturevalue("cluster")
        cluster.run_sql("CHECKPOINT")
        folders.append(cluster.folder)

    traces = collect(folders, without="keys.json")

    assert traces.find(NUMBER[:6].encode())
    needles = [*spell_number(NUMBER), SECRET_CRYPTOGRAM.encode(), token[-40:].encode(), late[-60:].encode()]
    assert {needle: files for needle in needles if (files := traces.find(needle))} == {}
