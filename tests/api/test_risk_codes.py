"""Each result code of a risk rule is reached by its natural cause, by a merchant that has one rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from api.merchants import add_merchant, find_merchant_id, run_command, wait_until
from gateway import Client, GatewayProcess

APPROVED = "000.100.110"
CARDS = ("4200000000000000", "4111111111111111", "4012888888881881", "4222222222222220")
JANE = {
    "customer__email": "jane@example.com",
    "customer__mobile": "+43 660 1234567",
    "customer__ip": "192.0.2.7",
    "customer__givenName": "Jane",
    "customer__surname": "Jones",
}
PROXY, GERMAN_IP, FRENCH_IP = "198.51.100.9", "192.0.2.7", "203.0.113.5"


@dataclass(frozen=True)
class Case:
    """The rule, payments that it lets pass, and the payment that it refuses."""

    code: str
    rule: str
    passing: tuple[dict[str, str], ...]
    refused: dict[str, str]
    name: str = ""


def same(times: int, **changes: str) -> tuple[dict[str, str], ...]:
    return (changes,) * times


def forced(code: str) -> dict[str, str]:
    return {"customParameters[forceResultCode]": code}


MOBILES = tuple({"customer__mobile": f"+43 660 {place}"} for place in range(100, 104))
EMAILS = tuple({"customer__email": f"jane{place}@example.com"} for place in range(4))
BY_CARD = tuple({"card__number": each} for each in CARDS)
IN_EUR = "--currency EUR"
TWICE = "--window 1h --count 2"
REGISTERS = {"createRegistration": "true"}

CASES = (
    Case("800.120.101", f"count --attribute card {TWICE}", same(2), {}),
    Case("800.120.102", f"count --attribute ip {TWICE}", BY_CARD[:2], BY_CARD[2]),
    Case("800.120.103", f"count --attribute email {TWICE}", BY_CARD[:2], {"customer__email": "JANE@Example.com"}),
    Case("100.400.319", f"count --attribute mobile {TWICE}", same(2), {"customer__mobile": "+436601234567"}),
    Case("800.120.200", f"count --attribute channel {TWICE}", BY_CARD[:2], BY_CARD[2], name="channel-count"),
    Case("800.120.401", f"count --attribute account {TWICE}", BY_CARD[:2], BY_CARD[2], name="account-count"),
    Case(
        "800.120.200",
        f"volume --attribute channel --window 1h --amount 200 {IN_EUR}",
        (*same(2, amount="100.00"), {"amount": "5000.00", "currency": "USD"}),
        {"amount": "0.01"},
    ),
    Case(
        "800.120.201",
        f"volume --attribute card --window 1h --amount 200 {IN_EUR}",
        same(2, amount="100.00"),
        BY_CARD[0],
    ),
    Case(
        "800.120.202", f"volume --attribute ip --window 1h --amount 200 {IN_EUR}", same(2, amount="100.00"), BY_CARD[1]
    ),
    Case(
        "800.120.203",
        f"volume --attribute email --window 1h --amount 200 {IN_EUR}",
        same(2, amount="100.00"),
        {"customer__ip": FRENCH_IP},
    ),
    Case(
        "800.120.401",
        f"volume --attribute account --window 1h --amount 200 {IN_EUR}",
        same(2, amount="100.00"),
        BY_CARD[1],
    ),
    Case("800.140.100", f"count --attribute registered_mobile {TWICE}", (REGISTERS, REGISTERS, {}), REGISTERS),
    Case("800.140.101", f"count --attribute registered_email {TWICE}", (REGISTERS, REGISTERS, {}), REGISTERS),
    Case("800.140.110", f"distinct --attribute card_mobile {TWICE}", (*MOBILES[:2], MOBILES[0]), MOBILES[2]),
    Case("800.140.111", f"distinct --attribute mobile_card {TWICE}", (*BY_CARD[:2], BY_CARD[0]), BY_CARD[2]),
    Case("800.140.112", f"distinct --attribute card_email {TWICE}", (*EMAILS[:2], EMAILS[0]), EMAILS[2]),
    Case("800.140.113", f"distinct --attribute email_card {TWICE}", (*BY_CARD[:2], BY_CARD[0]), BY_CARD[2]),
    Case("800.300.500", f"wrong_tries --attribute wrong_cvv {TWICE}", same(2, **forced("800.100.153")), {}),
    Case("800.300.501", f"wrong_tries --attribute wrong_expiry {TWICE}", same(2, **forced("800.100.157")), {}),
    Case("100.400.140", f"amount --amount 100 {IN_EUR}", same(1, amount="100.00"), {"amount": "100.01"}, name="amount"),
    Case(
        "100.400.020",
        f"first_time --attribute card --window 1d --amount 100 {IN_EUR} --outcome refuse",
        (*same(1, amount="99.00"), {"amount": "100.01"}),
        {"amount": "100.01", **BY_CARD[1]},
    ),
    Case(
        "800.130.100",
        "duplicate --attribute merchant_transaction_id --window 1h",
        ({"merchantTransactionId": "order-1"}, {"merchantTransactionId": "order-2"}),
        {"merchantTransactionId": "order-1"},
    ),
    Case(
        "800.110.100",
        "duplicate --attribute payment --window 1h",
        ({"amount": "10.00"}, {"amount": "10.00", **BY_CARD[1]}),
        {"amount": "10.00"},
    ),
    Case(
        "100.400.021",
        "country_mismatch --compared bin-ip --outcome refuse",
        same(1, customer__ip=GERMAN_IP),
        {"customer__ip": FRENCH_IP},
    ),
    Case(
        "100.400.084",
        "country_served --countries AT,DE",
        same(1, billing__country="AT"),
        {"billing__country": "CH"},
    ),
    Case("800.300.302", "proxy", same(1, customer__ip=GERMAN_IP), {"customer__ip": PROXY}),
    Case(
        "800.150.100",
        "holder --outcome refuse",
        ({"card__holder": "J. JONES"}, {"card__holder": "Jöns Jones-Smith"}),
        {"card__holder": "John Miller"},
    ),
    Case("100.400.315", "missing --attribute email", same(1), {"customer__email": ""}),
    Case("100.400.318", "missing --attribute ip", same(1), {"customer__ip": ""}),
    Case("100.400.043", "missing --attribute mobile", same(1), {"customer__mobile": ""}),
    Case("100.400.243", "missing --attribute device", same(1, customer__browser__deviceId="d-1"), {}),
    Case("100.400.122", f"count --attribute card {TWICE} --code 100.400.122", same(2), {}),
)
BLOCKED = (
    ("800.300.102", "country", "CH", {"billing__country": "CH"}),
    ("800.300.200", "email", "Eve@example.com", {"customer__email": "eve@EXAMPLE.com"}),
    ("800.300.301", "ip", FRENCH_IP, {"customer__ip": FRENCH_IP}),
    ("800.300.401", "bin", "401288", {"card__number": CARDS[2]}),
    ("800.300.101", "mobile", "+43 999", {"customer__mobile": "+43999"}),
)


def pay(client: Client, **changes: str) -> Any:
    return client.pay(None, **{name: value or None for name, value in (JANE | changes).items()})


@pytest.fixture(scope="module")
def ruled(own_gateway: GatewayProcess, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Client]:
    """A merchant for each rule, and one with lists; the server knows of all of them."""
    folder = tmp_path_factory.mktemp("countries")
    (folder / "ip.csv").write_text("192.0.2.0/24,DE\n203.0.113.0/24,FR\n198.51.100.0/24,A1\n")
    (folder / "bins.csv").write_text("bin,country\n420000,DE\n")
    run_command(own_gateway, "geoip", "import", str(folder / "ip.csv"))
    run_command(own_gateway, "bins", "import", str(folder / "bins.csv"))
    clients = {}
    for case in CASES:
        client = clients[get_id(case)] = add_merchant(own_gateway, f"Rule {case.code}", "--lenient")
        kind, *flags = case.rule.split()
        merchant_id = find_merchant_id(own_gateway, client)
        run_command(own_gateway, "risk", "add", merchant_id, "--kind", kind, *flags, "--mode", "active")
    client = clients["lists"] = add_merchant(own_gateway, "Lists", "--lenient")
    for _, attribute, value, _ in BLOCKED:
        run_command(own_gateway, "risk", "block", find_merchant_id(own_gateway, client), attribute, value)
    wait_for(own_gateway)
    return clients


def wait_for(gateway: GatewayProcess) -> None:
    """Waits until the server knows everything that was changed before."""
    last = add_merchant(gateway, "Last")
    wait_until(lambda: last.get("/v1/query/none").code == "700.400.580")


def get_id(case: Case) -> str:
    return case.name or "-".join([case.code, *case.rule.split()[:3:2]])


@pytest.mark.parametrize("case", CASES, ids=get_id)
def test_a_rule_lets_payments_pass_until_its_cause_arises(case: Case, ruled: dict[str, Client]) -> None:
    client = ruled[get_id(case)]
    for changes in case.passing:
        answer = pay(client, **changes)
        assert answer.code in (APPROVED, changes.get("customParameters[forceResultCode]")), answer.json

    refused = pay(client, **case.refused)

    assert refused.code == case.code, refused.json
    assert client.get(f"/v1/payments/{refused.json['id']}").code == case.code


@pytest.mark.parametrize(
    ("code", "changes"), [(code, changes) for code, _, _, changes in BLOCKED], ids=[row[1] for row in BLOCKED]
)
def test_a_value_on_the_block_list_is_refused(code: str, changes: dict[str, str], ruled: dict[str, Client]) -> None:
    assert pay(ruled["lists"]).code == APPROVED
    assert pay(ruled["lists"], **changes).code == code


def test_a_card_is_blocked_by_a_payment_and_only_until_the_end(own_gateway: GatewayProcess) -> None:
    client = add_merchant(own_gateway, "Blocked card", "--lenient")
    wait_for(own_gateway)
    merchant_id, seen = find_merchant_id(own_gateway, client), pay(client, **BY_CARD[1])
    command = ("risk", "block", merchant_id, "card", "--payment", seen.json["id"], "--days", "2")
    entry_id = run_command(own_gateway, *command)
    wait_for(own_gateway)

    assert pay(client, **BY_CARD[1]).code == "800.300.101"
    assert pay(client, **BY_CARD[2]).code == APPROVED
    shown = run_command(own_gateway, "risk", "entries", merchant_id)
    assert shown.startswith(entry_id)
    assert "411111***1111" in shown
    assert CARDS[1] not in shown

    run_command(own_gateway, "risk", "remove", merchant_id, entry_id)
    wait_for(own_gateway)
    assert pay(client, **BY_CARD[1]).code == APPROVED


def test_points_add_up_to_the_answered_score_and_a_score_rule_decides(own_gateway: GatewayProcess) -> None:
    client = add_merchant(own_gateway, "Scores", "--lenient")
    merchant_id = find_merchant_id(own_gateway, client)
    add = ("risk", "add", merchant_id, "--mode", "active", "--outcome", "accept", "--kind")
    run_command(own_gateway, *add, "amount", "--amount", "100", "--currency", "EUR", "--points", "40")
    run_command(own_gateway, *add, "missing", "--attribute", "device", "--points", "35")
    run_command(own_gateway, "risk", "add", merchant_id, "--mode", "active", "--kind", "score", "--score", "75")
    wait_for(own_gateway)

    low, high = pay(client, amount="10.00"), pay(client, amount="100.01")

    assert (low.code, low.json["risk"]["score"]) == (APPROVED, "35")
    assert (high.code, high.json["risk"]["score"]) == ("100.400.100", "75")


def test_a_rule_in_shadow_changes_nothing_and_a_new_version_makes_it_count(own_gateway: GatewayProcess) -> None:
    client = add_merchant(own_gateway, "Shadow", "--lenient")
    merchant_id = find_merchant_id(own_gateway, client)
    amount = ("--kind", "amount", "--amount", "1", "--currency", "EUR", "--points", "50")
    rule_id = run_command(own_gateway, "risk", "add", merchant_id, *amount)
    wait_for(own_gateway)
    shadowed = pay(client)
    assert (shadowed.code, shadowed.json["risk"]["score"]) == (APPROVED, "0")

    assert run_command(own_gateway, "risk", "set", merchant_id, rule_id, "--mode", "active") == "2"
    wait_for(own_gateway)
    assert pay(client).code == "100.400.140"
    assert run_command(own_gateway, "risk", "set", merchant_id, rule_id, "--mode", "off") == "3"
    wait_for(own_gateway)
    assert pay(client).code == APPROVED
    versions = run_command(own_gateway, "risk", "show", merchant_id, rule_id).splitlines()
    assert [line.split()[1] for line in versions if line.startswith("version")] == ["1", "2", "3"]


def test_an_allowed_value_lets_no_rule_decide_but_the_block_list(own_gateway: GatewayProcess) -> None:
    client = add_merchant(own_gateway, "Allowed", "--lenient")
    merchant_id = find_merchant_id(own_gateway, client)
    flags = ("--kind", "amount", "--amount", "1", "--currency", "EUR", "--mode", "active", "--points", "9")
    run_command(own_gateway, "risk", "add", merchant_id, *flags)
    run_command(own_gateway, "risk", "allow", merchant_id, "email", "jane@example.com", "--days", "1")
    run_command(own_gateway, "risk", "block", merchant_id, "ip", FRENCH_IP)
    wait_for(own_gateway)

    assert (pay(client).code, pay(client).json["risk"]["score"]) == (APPROVED, "0")
    assert pay(client, customer__email="eve@example.com").code == "100.400.140"
    assert pay(client, customer__ip=FRENCH_IP).code == "800.300.301"


def test_a_rule_of_one_channel_judges_no_other(own_gateway: GatewayProcess) -> None:
    client = add_merchant(own_gateway, "Two channels", "--lenient")
    merchant_id = find_merchant_id(own_gateway, client)
    other = run_command(own_gateway, "channel", "add", merchant_id, "Other", "--lenient")
    flags = ("--kind", "amount", "--amount", "1", "--currency", "EUR", "--mode", "active", "--channel", other)
    run_command(own_gateway, "risk", "add", merchant_id, *flags)
    wait_for(own_gateway)

    assert pay(client).code == APPROVED
    assert pay(client, entityId=other).code == "100.400.140"


def test_nothing_is_sent_for_a_refused_payment_and_it_cannot_be_captured(ruled: dict[str, Client]) -> None:
    client = ruled["amount"]
    refused = pay(client, amount="500.00", paymentType="PA")

    assert refused.code == "100.400.140"
    captured = client.post(
        f"/v1/payments/{refused.json['id']}", {"paymentType": "CP", "amount": "500.00", "currency": "EUR"}
    )
    assert captured.code.startswith("700.")


def test_registrations_without_a_payment_count_and_are_refused(own_gateway: GatewayProcess) -> None:
    client = add_merchant(own_gateway, "Registrations", "--lenient")
    merchant_id = find_merchant_id(own_gateway, client)
    flags = ("--kind", "count", "--attribute", "registered_email", "--window", "1h", "--count", "1")
    run_command(own_gateway, "risk", "add", merchant_id, *flags, "--mode", "active")
    wait_for(own_gateway)
    fields = {
        "paymentBrand": "VISA",
        "card.number": CARDS[0],
        "card.holder": "Jane Jones",
        "card.expiryMonth": "05",
        "card.expiryYear": "2034",
        "customer.email": "jane@example.com",
    }

    assert client.post("/v1/registrations", fields).code == APPROVED
    assert client.post("/v1/registrations", fields).code == "800.140.101"
    assert pay(client).code == APPROVED
    assert pay(client, createRegistration="true").code == "800.140.101"
