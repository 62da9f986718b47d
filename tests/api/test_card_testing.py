"""Card testing through real servers: the address that tests cards is slowed down and refused, by all processes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from api.challenges import choose, open_order, read_code, see_challenge
from api.checking_out import PREPARED, prepare
from api.merchants import add_merchant, run_command, wait_until
from gateway import CARD, Answer, Client, GatewayProcess
from postgres import PostgresCluster
from tollgate.catalog.card_testing import COUNTERS, WAITING_PER_KEY_MAX

IP = COUNTERS["i"]
DECLINE = {"customParameters[forceResultCode]": "800.100.152"}
ON = {"TOLLGATE_CARD_TESTING": "on", "TOLLGATE_TRUSTED_PROXY": "127.0.0.1"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with GatewayProcess(tmp_path_factory.mktemp("guarded"), environment=ON) as gateway:
        yield gateway


@pytest.fixture
def shop(guarded: GatewayProcess) -> Client:
    """A merchant of its own, so that nothing is counted yet."""
    client = add_merchant(guarded, "Shop")
    wait_until(lambda: client.get("/v1/payments/unknown").status == 404)
    return client


def decline(client: Client, ip: str | None, **fields: str | None) -> Answer:
    return client.pay(None, **{"customer.ip": ip, **DECLINE, **fields})


def probe(client: Client, ip: str) -> str:
    """Returns the code of a payment that counts neither as declined nor as approved."""
    return decline(client, ip, **{"customParameters[forceResultCode]": "600.200.100"}).code


def decline_many(client: Client, ip: str, **fields: str | None) -> None:
    """Declines as many as are not refused; the second half waits, so some of it is sent at once."""
    for _ in range(IP.slow_from):
        assert decline(client, ip, **fields).code == "800.100.152"
    with ThreadPoolExecutor(WAITING_PER_KEY_MAX) as pool:
        list(pool.map(lambda _: decline(client, ip, **fields), range(IP.refuse_from - IP.slow_from + 2)))


def test_an_address_that_tests_cards_is_refused_until_it_rests(guarded: GatewayProcess, shop: Client) -> None:
    decline_many(shop, "203.0.113.9")

    refused = shop.pay(None, **{"customer.ip": "203.0.113.9"})
    assert (refused.status, refused.code) == (400, "800.120.102")
    assert shop.get(f"/v1/payments/{refused.json['id']}").code == "800.120.102"
    assert shop.pay(None, **{"customer.ip": "203.0.113.10"}).code == "000.100.110"
    assert shop.pay().code == "000.100.110"
    assert decline(guarded.client(), "203.0.113.9").code == "800.100.152"

    assert shop.post("/sandbox/clock", {"advance": "3600"}).status == 200
    assert shop.pay(None, **{"customer.ip": "203.0.113.9"}).code == "000.100.110"
    wait_until(lambda: count_actions(shop, "refused") >= 1)
    assert "card testing refused" in guarded.log_path.read_text()


def count_actions(client: Client, action: str) -> float:
    """Returns how many payments were treated so because of their customer.ip."""
    series = f'tollgate_card_testing_total{{action="{action}",counter="ip"}} '
    lines = client.send("GET", "/metrics").body.decode().splitlines()
    return sum(float(line.removeprefix(series)) for line in lines if line.startswith(series))


def test_a_decline_after_a_challenge_counts_too(shop: Client) -> None:
    before = count_actions(shop, "slowed down")
    # The counter falls by one in three minutes, so some more are declined than it slows down from.
    for _ in range(IP.slow_from + 4):
        waiting = open_order(shop, **{"customer.ip": "203.0.113.30"})
        choose(shop, see_challenge(shop, waiting), "100.380.401")
        assert read_code(shop, waiting) == "100.380.401"

    wait_until(lambda: count_actions(shop, "slowed down") > before)


def submit(client: Client, address: str, ip: str, fields: Mapping[str, str] = CARD) -> Answer:
    """A shopper's browser submits a form of its own checkout, for which the shop named another address."""
    checkout_id = prepare(client, {**PREPARED, "customer.ip": ip, **DECLINE})
    body = "&".join(f"{name}={value}" for name, value in {**fields, "shopperResultUrl": "https://shop.example"}.items())
    headers = {**FORM, "X-Forwarded-For": address}
    return client.send("POST", f"/v1/checkouts/{checkout_id}/payment", body.replace(" ", "+"), headers)


def test_a_browser_is_counted_at_the_form_whatever_address_the_shop_names(shop: Client) -> None:
    for number in range(IP.slow_from):
        assert submit(shop, "203.0.113.77", f"198.51.100.{number}").code == "800.100.152"
    with ThreadPoolExecutor(WAITING_PER_KEY_MAX) as pool:
        rest = range(IP.slow_from, IP.refuse_from + 2)
        list(pool.map(lambda number: submit(shop, "203.0.113.77", f"198.51.100.{number}"), rest))

    assert submit(shop, "203.0.113.77", "198.51.100.250").code == "800.120.102"
    assert submit(shop, "203.0.113.78", "198.51.100.251").code == "800.100.152"


def test_the_shops_own_server_is_never_refused(shop: Client) -> None:
    server = {"X-Forwarded-For": "203.0.113.50"}
    fields = {"customer.ip": "203.0.113.50", **DECLINE}
    codes = [shop.pay(server, **fields).code for _ in range(IP.refuse_from + 5)]

    assert set(codes) == {"800.100.152"}


def test_card_testing_is_not_stopped_on_a_test_host_by_default(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as gateway:
        client = gateway.client()
        codes = [decline(client, "203.0.113.9").code for _ in range(IP.refuse_from + 5)]

    assert set(codes) == {"800.100.152"}


def test_what_one_process_counts_another_refuses_and_a_new_one_remembers(
    cluster: PostgresCluster, tmp_path: Path
) -> None:
    database = cluster.create_database()
    with GatewayProcess(tmp_path / "first", database, environment=ON) as first:
        keys = {**ON, "TOLLGATE_KEY_FILE": str(tmp_path / "first" / "keys.json")}
        client = first.client()
        with GatewayProcess(tmp_path / "second", database, environment=keys) as second:
            decline_many(client, "203.0.113.9")
            other = Client(second.base_url, client.token, client.entity_id)
            wait_until(lambda: probe(other, "203.0.113.9") == "800.120.102")
        with GatewayProcess(tmp_path / "third", database, environment=keys) as third:
            newest = Client(third.base_url, client.token, client.entity_id)
            wait_until(lambda: probe(newest, "203.0.113.9") == "800.120.102")


def test_imported_countries_are_found_and_a_broken_file_changes_nothing(
    guarded: GatewayProcess, tmp_path: Path
) -> None:
    ranges, broken, bins = (tmp_path / name for name in ("ranges.csv", "broken.csv", "bins.csv"))
    ranges.write_text("203.0.113.0/24,DE\n2001:db8::/32,AT\n198.51.100.0/24,A1\n")
    broken.write_text("203.0.113.0/24,FR\n203.0.114.0/99,FR\n")
    bins.write_text("bin,country\n42000012,US\n")

    assert run_command(guarded, "geoip", "import", str(ranges)) == "3 IP ranges imported"
    with pytest.raises(RuntimeError, match=r"broken\.csv, line 2: .*nothing was imported"):
        run_command(guarded, "geoip", "import", str(broken))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RuntimeError, match=r"pipe must be a file and no pipe.*nothing was imported"):
        run_command(guarded, "geoip", "import", str(tmp_path / "pipe"))
    assert run_command(guarded, "geoip", "find", "203.0.113.9") == "DE"
    assert run_command(guarded, "geoip", "find", "2001:db8::1") == "AT"
    assert run_command(guarded, "geoip", "find", "198.51.100.1") == "unknown, anonymous proxy"
    with pytest.raises(RuntimeError, match="unknown"):
        run_command(guarded, "geoip", "find", "192.0.2.1")

    assert run_command(guarded, "bins", "import", str(bins)) == "2 card ranges imported"
    assert run_command(guarded, "bins", "find", "420000") == "US"
    bins.write_text("")
    with pytest.raises(RuntimeError, match="there is no country"):
        run_command(guarded, "bins", "import", str(bins))
    assert run_command(guarded, "bins", "find", "420000") == "US"
