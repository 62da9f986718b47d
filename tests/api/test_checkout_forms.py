"""A shopper's form may send some parameters; all others that it sends are ignored."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from api.chains import FAULT, FAULTY, FORCE, PENDING, result_of
from api.checking_out import PREPARED, STORING, ask, prepare
from api.merchants import add_channel, run_command, wait_until
from api.paying_forms import (
    GONE,
    SCRIPT,
    SHOP_URL,
    TOO_MANY,
    find_next,
    has_ended,
    list_made,
    open_checkout,
    pass_seconds,
    post,
    read_home,
    show,
)
from api.recording import RecordingAcquirer
from api.registration_requests import BANK, register, remove
from gateway import CARD, Client, GatewayProcess

PAID = (200, "000.100.110")
UNHEARD = {
    "amount": "0.01",
    "currency": "JPY",
    "paymentType": "PA",
    "referenceUuid": "8a" + "1" * 30,
    "testMode": "EXTERNAL",
    FORCE: "800.100.152",
    FAULT: "dropped",
    "merchantTransactionId": "another-order",
    "descriptor": "Another shop",
    "shopperResultUrl": "https://elsewhere.example/",
    "customer.givenName": "Mallory",
    "billing.city": "Elsewhere",
    "customer.ip": "198.51.100.1",
    "customParameters[order]": "no",
    "standingInstruction.mode": "REPEATED",
    "threeDSecure.eci": "05",
    "unheard.of": "x",
}
"""A merchant may send these and a form may not."""
PARIS = {
    "billing.street1": "1 Main Street",
    "billing.city": "Paris",
    "billing.postcode": "75001",
    "billing.country": "FR",
}


def test_what_is_to_be_paid_is_not_the_forms_to_say(client: Client) -> None:
    checkout_id = open_checkout(
        client,
        merchantTransactionId="heard-not-this",
        **{"customer.givenName": "Jane", "customer.surname": "Jones", **PARIS},
    )

    said = {"customer.phone": "+4912345678", "customParameters[SHOPPER_gift]": "yes"}
    answer = post(client, checkout_id, {**CARD, **UNHEARD, **said, "entityId": client.lenient_entity_id})

    assert result_of(answer) == PAID
    assert read_home(find_next(answer, "result"))["id"] == checkout_id
    paid = ask(client, checkout_id).json
    received_back = {name: paid[name] for name in ("amount", "currency", "paymentType", "merchantTransactionId")}
    assert received_back == {
        "amount": "92.00",
        "currency": "EUR",
        "paymentType": "DB",
        "merchantTransactionId": "heard-not-this",
    }
    assert paid["customer"] == {
        "givenName": "Jane",
        "surname": "Jones",
        "phone": "+4912345678",
        "ip": "127.0.0.1",
    }
    assert paid["billing"] == {name.removeprefix("billing."): text for name, text in PARIS.items()}
    assert paid["customParameters"] == {"SHOPPER_gift": "yes"}
    assert not {"standingInstruction", "threeDSecure", "referencedId"} & set(paid)
    assert "Another shop" not in paid["descriptor"]


def test_the_forms_address_counts_where_the_checkout_has_none(client: Client) -> None:
    checkout_id = prepare(client)

    missing = post(client, checkout_id)
    answer = post(client, checkout_id, {**CARD, "shopperResultUrl": SHOP_URL})

    assert result_of(missing) == FAULTY
    assert set(missing.faults) == {"shopperResultUrl"}
    assert "next" not in missing.json
    assert read_home(find_next(answer, "result"))["id"] == checkout_id
    assert show(client, checkout_id).json["returnUrl"].startswith(SHOP_URL)


def test_faults_of_the_form_are_named_and_are_no_attempt(client: Client) -> None:
    checkout_id = open_checkout(client)

    faulty = {**CARD, "card.number": "4200", "card.expiryMonth": "13"}
    answer = [post(client, checkout_id, faulty) for _ in range(12)][-1]
    assert result_of(answer) == FAULTY
    assert set(answer.faults) == {"card.number", "card.expiryMonth"}
    assert b"4200" not in answer.body
    assert set(post(client, checkout_id, {"paymentBrand": "VISA"}).faults)
    assert result_of(post(client, checkout_id, {})) == FAULTY
    assert result_of(post(client, checkout_id)) == PAID


# ---- registrations ----


def test_the_shopper_pays_with_what_the_merchant_offered_and_nothing_else(client: Client, stranger: Client) -> None:
    offered, removed, other, theirs = register(client), register(client), register(client), register(stranger)
    remove(client, removed)
    listed = (offered, removed, theirs, "8a" + "0" * 30)
    checkout_id = open_checkout(client, **{f"registrations[{place}].id": each for place, each in enumerate(listed)})

    not_listed = post(client, checkout_id, {"registrationId": other, "card.cvv": "123"})
    assert result_of(not_listed) == FAULTY
    assert set(not_listed.faults) == {"registrationId"}
    for refused in listed[1:]:
        answer = post(client, checkout_id, {"registrationId": refused, "card.cvv": "123"})
        assert (answer.status, "next" in answer.json) == (400, False), answer.body
    assert [each["id"] for each in show(client, checkout_id).json["registrations"]] == [offered]
    beside = post(client, checkout_id, {**CARD, "registrationId": offered})
    assert result_of(beside) == FAULTY

    assert result_of(post(client, checkout_id, {"registrationId": offered, "card.cvv": "123"})) == PAID
    assert ask(client, checkout_id).json["registrationId"] == offered


def test_the_holder_of_a_registered_card_may_be_sent_where_the_merchant_allows(client: Client) -> None:
    nameless = register(client, {**CARD, "card.holder": None})
    said = {"registrationId": nameless, "card.holder": "Jane Smith"}
    lets = open_checkout(client, overrideHolder="true", **{"registrations[0].id": nameless})

    assert result_of(post(client, lets, said)) == PAID
    assert ask(client, lets).json["card"]["holder"] == "Jane Smith"


@pytest.mark.both_databases
def test_the_shopper_may_have_the_card_stored(client: Client) -> None:
    checkout_id = open_checkout(client)

    assert result_of(post(client, checkout_id, {**CARD, "createRegistration": "true"})) == PAID

    registration_id = ask(client, checkout_id).json["registrationId"]
    assert result_of(client.get(f"/v1/registrations/{registration_id}")) == PAID


def test_a_brand_may_have_a_type_of_its_own(client: Client) -> None:
    prepared = {"overridePaymentType[VISA]": "PA", "overridePaymentType[DIRECTDEBIT_SEPA]": "PA"}
    by_visa, by_master = open_checkout(client, **prepared), open_checkout(client, **prepared)

    post(client, by_visa)
    post(client, by_master, {**CARD, "paymentBrand": "MASTER", "card.number": "5454545454545454"})

    assert ask(client, by_visa).json["paymentType"] == "PA"
    assert ask(client, by_master).json["paymentType"] == "DB"


def test_a_direct_debit_is_paid_and_no_full_number_is_answered(client: Client) -> None:
    checkout_id = open_checkout(client)

    answer = post(client, checkout_id, {**BANK, "bankAccount.iban": "DE89370400440532013000"})

    assert answer.status == 200
    assert answer.json["next"]["kind"] == "result"
    assert b"DE89370400440532013000" not in answer.body
    assert ask(client, checkout_id).json["paymentBrand"] == "DIRECTDEBIT_SEPA"


# ---- how it is asked and answered ----


def test_a_form_without_a_script_is_sent_on(client: Client) -> None:
    plain = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html,*/*;q=0.8"}
    checkout_id = open_checkout(client)

    answer = post(client, checkout_id, headers=plain)

    assert (answer.status, answer.body) == (303, b"")
    assert read_home(answer.headers["location"])["id"] == checkout_id


def test_scripts_of_any_shop_may_read_answers_and_refusals(client: Client) -> None:
    from_shop = {**SCRIPT, "Origin": "https://shop.example"}
    checkout_id = open_checkout(client)
    answers = [
        post(client, checkout_id, {}, headers=from_shop),
        post(client, "nobody", headers=from_shop),
        post(client, checkout_id, headers=from_shop),
        show(client, checkout_id),
        show(client, "nobody"),
    ]

    assert [answer.status for answer in answers] == [400, 400, 200, 200, 400]
    assert {answer.headers.get("access-control-allow-origin") for answer in answers} == {"*"}
    assert not [answer for answer in answers if "access-control-allow-credentials" in answer.headers]
    private = ask(client, checkout_id)
    assert "access-control-allow-origin" not in private.headers


def test_the_acquirer_receives_the_address_of_the_shopper(external: Client, acquirer: RecordingAcquirer) -> None:
    checkout_id = open_checkout(external, testMode="EXTERNAL")

    answer = post(external, checkout_id, headers={**SCRIPT, "User-Agent": "Mozilla/5.0 (test)"})

    assert result_of(answer) == (200, "000.100.112")
    assert ask(external, checkout_id).json["customer"]["ip"] == "127.0.0.1"
    assert "127.0.0.1" in str(acquirer.last_charge)


@pytest.mark.both_databases
def test_after_ten_attempts_no_more_are_made(client: Client) -> None:
    checkout_id = open_checkout(client, merchantTransactionId="ten-attempts", **{FORCE: "800.100.152"})

    attempts = [result_of(post(client, checkout_id)) for _ in range(10)]
    eleventh = post(client, checkout_id)

    assert set(attempts) == {(400, "800.100.152")}
    assert result_of(eleventh) == TOO_MANY
    assert (eleventh.json["id"], "next" in eleventh.json) == (checkout_id, False)
    assert 0 < int(eleventh.headers["retry-after"]) <= 30 * 60
    assert len(list_made(client, "ten-attempts")) == 10
    assert result_of(ask(client, checkout_id)) == (400, "800.100.152")


# ---- parameters that a form must not send ----

HOSTILE = [
    "nobody",
    "%00",
    "8a" + "0" * 30,
    "F" * 32 + ".",
    "F" * 32 + ".UPPER",
    "F" * 32 + ".%00",
    "F" * 32 + ".x%0d%0a",
    "f" * 32 + ".abc",
    "F" * 32 + "." + "a" * 64,
    "F" * 500,
    quote("Ω" * 40),
    "..%2f..%2fetc",
    "%ff%fe",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_a_checkout_is_none(client: Client, name: str) -> None:
    answers = [
        post(client, name),
        post(client, name, kind="registration"),
        show(client, name),
        ask(client, name),
        ask(client, name, kind="registration"),
        client.post(f"/v1/checkouts/{name}", {"amount": "1.00"}),
        client.send("GET", f"/v1/checkouts/{name}/provider"),
        client.send("GET", f"/v1/paymentWidgets.js?checkoutId={name}"),
    ]

    assert [answer for answer in answers[:-1] if answer.status not in (400, 404)] == []
    assert answers[-1].status in (200, 400)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "body",
    [
        b"card.number=%00&paymentBrand=VISA",
        b"\x00\xff\xfe=%zz",
        b"card.number=" + b"4" * 5000,
        b"customer.givenName=" + "\ud83d".encode("utf-8", "surrogatepass") + b"&paymentBrand=PAYPAL",
        b"registrationId[]=1&registrationId=%00",
        b"card.number=1&card.number=2",
        b"&".join(b"x%d=1" % number for number in range(10_001)),
        b"shopperResultUrl=javascript:1&shopOrigin=https://a/%0d%0ax&customParameters[SHOPPER_" + b"x" * 300 + b"]=1",
    ],
)
def test_hostile_bytes_are_refused_and_break_nothing(client: Client, body: bytes) -> None:
    checkout_id = open_checkout(client)

    answer = client.send("POST", f"/v1/checkouts/{checkout_id}/payment", body, SCRIPT)

    assert answer.status in (400, 413), answer.body
    assert result_of(post(client, checkout_id)) == PAID


@pytest.mark.both_databases
def test_a_channel_that_is_closed_meanwhile_takes_no_payment(client: Client, gateway: GatewayProcess) -> None:
    closing = add_channel(gateway, client, "Closing")
    checkout_id = open_checkout(closing)
    run_command(gateway, "channel", "set", closing.entity_id, "--closed")

    wait_until(lambda: show(closing, checkout_id).status != 200)
    answer = post(closing, checkout_id)

    assert (answer.status, "next" in answer.json) == (400, False)


def test_kinds_are_not_mixed_up(client: Client) -> None:
    pays, stores = open_checkout(client), prepare(client, {**STORING, "shopperResultUrl": SHOP_URL})

    assert result_of(post(client, pays, kind="registration")) == result_of(post(client, stores)) == GONE
    assert has_ended(client.send("GET", f"/v1/checkouts/{pays}/provider"))
    assert post(client, pays, kind="refund").status == 404


def test_a_minute_passes_and_the_form_is_still_good(client: Client) -> None:
    checkout_id = prepare(client, {**PREPARED, "shopperResultUrl": SHOP_URL})
    pass_seconds(client, 29 * 60)

    assert result_of(post(client, checkout_id, {"paymentBrand": "PAYPAL"})) == PENDING
