"""The page of a payment: what it shows to whom, and what its actions do, once."""

from __future__ import annotations

from html import unescape

import pytest

from api.merchants import wait_until
from api.registration_requests import ask_store, tampered_amount
from gateway import Answer, Client, GatewayProcess
from office_client import OfficeClient
from office_pages import read_key
from office_users import enter_as
from tollgate.catalog.permissions import Role
from tollgate.store.audit_log import list_entries_about
from tollgate.store.payments import list_chain
from tollgate.values import MerchantId

CANARY = "<script>alert('canary')</script>"
CANARY_FIELDS = {
    "merchantTransactionId": f"order-{CANARY}",
    "customer.givenName": CANARY,
    "customer.surname": '"><img src=x>',
    "customer.companyName": CANARY,
    "billing.street1": CANARY,
    "billing.city": CANARY,
    "shipping.street1": CANARY,
    "cart.items[0].name": CANARY,
    "cart.items[0].quantity": "1",
    "cart.items[0].price": "1.00",
    "descriptor": "<b>bold</b>",
    "customParameters[SHOPPER_note]": CANARY,
    "card.holder": "<i>Jane</i> Jones",
}


def show(office: OfficeClient, payment_id: str) -> str:
    answer = office.get(f"{office.base}/payments/{payment_id}")
    assert answer.status == 200, answer.body.decode()
    return answer.body.decode()


def act(office: OfficeClient, payment_id: str, action: str, key: str = "", **fields: str) -> Answer:
    page = show(office, payment_id)
    key = key or read_key(page, action)
    return office.post(f"{office.base}/payments/{payment_id}/{action}", {"key": key, **fields})


def read_chain(gateway: GatewayProcess, office: OfficeClient, payment_id: str) -> list[tuple[str, int, str]]:
    chain = ask_store(gateway, lambda db: list_chain(db, MerchantId(office.merchant_id), payment_id, 100))
    return [(each.payment_type, each.money.hundredths, each.state.name) for each in chain]


def test_a_page_shows_the_payment_without_secrets_and_escapes_everything(client: Client, office: OfficeClient) -> None:
    refused = client.pay(**{name.replace(".", "__"): value for name, value in CANARY_FIELDS.items()}).faults
    sent = {name: value for name, value in CANARY_FIELDS.items() if name not in refused}
    assert len(sent) >= 8
    payment_id = client.pay(**{name.replace(".", "__"): value for name, value in sent.items()}).json["id"]
    page = show(office, payment_id)

    for name, value in sent.items():
        assert value in unescape(page), name
        assert "<" not in value or value not in page, name
    assert "420000******0000" in page
    assert "4200000000000000" not in page
    assert client.token not in page


def test_messages_are_shown_masked_to_those_who_may_see_them(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    payment_id = client.pay().json["id"]
    wait_until(lambda: "Charge request: HTTP 200" in show(office, payment_id))
    page = unescape(show(office, payment_id))
    assert '"number": "***"' in page
    assert '"cvv": "***"' in page
    assert "4200000000000000" not in page
    wait_until(lambda: "Log: request" in show(office, payment_id))

    viewer = enter_as(gateway, Role.VIEWER)
    page = show(viewer, payment_id)
    assert "Charge request" not in page
    assert "Log: request" not in page
    assert "Ledger: 92.00 EUR from shopper to earned" in page
    assert "Event: payment.succeeded" in page
    assert 'action="' not in page.split("<main")[1]


def test_a_declined_payment_says_what_to_do(client: Client, office: OfficeClient) -> None:
    declined = client.pay(**{"customParameters[forceResultCode]": "800.100.151"})
    page = show(office, declined.json["id"])
    assert "Have the shopper check the card data." in page
    assert "Only after something was changed" in page
    assert "Not possible" in page


@pytest.mark.both_databases
def test_an_authorization_is_captured_refunded_and_reversed(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    first = client.pay(paymentType="PA").json["id"]
    assert "000.100.110" in act(office, first, "capture", amount="40.00").body.decode()
    captured = client.get(f"/v1/query/{first}").json
    assert captured["id"] == first
    chain = ask_store(gateway, lambda db: list_chain(db, MerchantId(office.merchant_id), first, 100))
    act(office, chain[1].id, "refund", amount="15.00")
    act(office, chain[1].id, "rebill", amount="5.00")
    act(office, first, "reverse")

    assert read_chain(gateway, office, first) == [
        ("PA", 9200, "APPROVED"),
        ("CP", 4000, "APPROVED"),
        ("RF", 1500, "APPROVED"),
        ("RB", 500, "APPROVED"),
        ("RV", 5200, "APPROVED"),
    ]
    page = show(office, first)
    assert "admin: capture requested" in page
    assert "admin: reversal requested" in page
    assert page.count('class="box ') == 5


def test_the_last_capture_releases_the_rest(gateway: GatewayProcess, client: Client, office: OfficeClient) -> None:
    first = client.pay(paymentType="PA").json["id"]
    act(office, first, "capture", amount="40.00", final="yes")
    page = show(office, first)
    assert "Not possible" in page
    assert read_chain(gateway, office, first)[1] == ("CP", 4000, "APPROVED")


@pytest.mark.both_databases
def test_a_form_that_is_sent_twice_refunds_once(gateway: GatewayProcess, client: Client, office: OfficeClient) -> None:
    payment_id = client.pay().json["id"]
    key = read_key(show(office, payment_id), "refund")
    for amount in ("92.00", "92.00"):
        assert act(office, payment_id, "refund", key, amount=amount).status == 200
    assert read_chain(gateway, office, payment_id) == [("DB", 9200, "APPROVED"), ("RF", 9200, "APPROVED")]
    entries = ask_store(gateway, lambda db: list_entries_about(db, office.merchant_id, payment_id, 100))
    assert [entry.action for entry in entries] == ["refund requested"]


@pytest.mark.parametrize(
    ("amount", "message"),
    [("92.01", ""), ("0.00", ""), ("", "is needed"), ("nonsense", "amount"), ("-1.00", "amount"), ("1.001", "amount")],
)
def test_an_amount_that_does_not_fit_is_refused_and_stores_nothing(
    gateway: GatewayProcess, client: Client, office: OfficeClient, amount: str, message: str
) -> None:
    payment_id = client.pay().json["id"]
    answer = act(office, payment_id, "refund", amount=amount)
    assert answer.status == 400
    assert message in answer.body.decode()
    assert read_chain(gateway, office, payment_id) == [("DB", 9200, "APPROVED")]


def test_a_refund_above_the_limit_of_the_user_is_refused_and_so_is_a_reversal(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    operator = enter_as(gateway, Role.OPERATOR, refund_limit=1000)
    payment_id = client.pay().json["id"]
    assert "Your own limit is 10.00 EUR" in show(operator, payment_id)
    for action, fields in (("refund", {"amount": "10.01"}), ("reverse", {})):
        answer = act(operator, payment_id, action, **fields)
        assert answer.status == 400
        assert "your limit is 10.00 EUR" in answer.body.decode()
    act(operator, payment_id, "refund", amount="6.00")
    # Parts below the limit are counted together.
    assert act(operator, payment_id, "refund", amount="4.01").status == 400
    act(operator, payment_id, "refund", amount="4.00")
    made = [("RF", 600, "APPROVED"), ("RF", 400, "APPROVED")]
    assert read_chain(gateway, office, payment_id) == [("DB", 9200, "APPROVED"), *made]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER])
def test_a_role_without_the_permission_cannot_act(
    gateway: GatewayProcess, client: Client, office: OfficeClient, role: Role
) -> None:
    other = enter_as(gateway, role)
    payment_id = client.pay(paymentType="PA").json["id"]
    show(other, payment_id)
    for action in ("capture", "reverse", "refund", "rebill", "record", "notes", "evidence"):
        assert other.post(f"{other.base}/payments/{payment_id}/{action}", {"key": "k", "amount": "1.00"}).status == 403
    assert len(read_chain(gateway, office, payment_id)) == 1


def test_a_payment_of_another_channel_or_merchant_is_not_found(
    gateway: GatewayProcess, client: Client, stranger: Client, office: OfficeClient
) -> None:
    foreign = stranger.pay().json["id"]
    assert office.get(f"{office.base}/payments/{foreign}").status == 404
    own = client.pay().json["id"]
    elsewhere = enter_as(gateway, Role.OPERATOR, channel_id=client.lenient_entity_id)
    assert elsewhere.get(f"{elsewhere.base}/payments/{own}").status == 404
    assert elsewhere.post(f"{elsewhere.base}/payments/{own}/refund", {"key": "k", "amount": "1.00"}).status == 404
    for unknown in ("8a" + "0" * 30, "nonsense", "%00"):
        assert office.get(f"{office.base}/payments/{unknown}").status == 404


@pytest.mark.both_databases
def test_a_tampered_row_is_shown_as_such_and_cannot_be_acted_on(
    gateway: GatewayProcess, client: Client, office: OfficeClient
) -> None:
    first = client.pay(paymentType="PA").json["id"]
    key = read_key(show(office, first), "capture")
    act(office, first, "capture", amount="10.00")
    with tampered_amount(gateway, first):
        page = show(office, first)
        assert "is not what the gateway wrote" in page
        assert "184.00" not in page
        assert (
            office.post(f"{office.base}/payments/{first}/capture", {"key": key + "x", "amount": "1.00"}).status == 409
        )
        assert len(read_chain(gateway, office, first)) == 2
        # The page of its capture is shown, and offers nothing.
        capture_id = ask_store(gateway, lambda db: list_chain(db, MerchantId(office.merchant_id), first, 9))[1].id
        page = show(office, capture_id)
        assert "row was changed" in page
        assert "What you can do" not in page
