"""The shopper at the issuer's page: every way it can end, walking away, two tabs, the back button, forged answers."""

from __future__ import annotations

import asyncio
import base64
import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from api.chains import APPROVED, PENDING, advance, refund, result_of
from api.challenges import (
    BILLING,
    CHALLENGED,
    CHALLENGED_WITH_FRAME,
    answer_page,
    choose,
    open_order,
    order,
    pass_challenge,
    read_code,
    read_return,
    see_challenge,
)
from api.merchants import find_merchant_id, wait_until
from api.traces import collect, spell_number
from api.windows import Window
from gateway import Answer, Client, GatewayProcess
from tollgate.sandbox.issuer import ENDINGS
from tollgate.store.authentications import find_authentication
from tollgate.store.opening import open_database
from tollgate.values import MerchantId, PaymentId, Secret
from tollgate.vault.signing import open_once

LIFETIME_S = 15 * 60
MINE = "4012888888881881"


def forge_answer(answer: Answer) -> dict[str, str]:
    """Forges the answer of an issuer's page from everything that the merchant knows."""
    proof = answer.json["threeDSecure"]
    message = {
        "messageType": "CRes",
        "messageVersion": "2.2.0",
        "threeDSServerTransID": "8a880000-0000-4000-8000-000000000001",
        "acsTransID": proof.get("acsTransactionId", "8a880000-0000-4000-8000-000000000002"),
        "transStatus": "Y",
    }
    return {"cres": base64.urlsafe_b64encode(json.dumps(message).encode()).decode().rstrip("=")}


@pytest.mark.parametrize("code", ENDINGS)
def test_the_outcome_on_the_page_is_the_outcome_of_the_payment(client: Client, code: str) -> None:
    answer = open_order(client)
    home = read_return(choose(client, see_challenge(client, answer), code))
    status = client.get(home["resourcePath"])

    assert home["id"] == answer.json["id"]
    assert status.code == ("000.100.110" if code == "000.000.000" else code)
    assert status.json["threeDSecure"]["flow"] == "challenge"


def test_a_passed_challenge_is_proven_to_merchant_and_acquirer(client: Client) -> None:
    answer = open_order(client, CHALLENGED_WITH_FRAME)
    pass_challenge(client, answer)
    proof = client.get(f"/v1/payments/{answer.json['id']}").json["threeDSecure"]

    assert (proof["eci"], proof["authenticationStatus"], len(proof["verificationId"])) == ("05", "Y", 28)


@pytest.mark.both_databases
def test_a_paid_challenge_can_be_refunded_like_any_payment(client: Client) -> None:
    answer = open_order(client)
    pass_challenge(client, answer)

    assert result_of(refund(client, answer.json["id"], "92.00")) == APPROVED


def test_the_charge_after_a_challenge_can_be_declined(client: Client) -> None:
    answer = open_order(client, **{"customParameters[forceResultCode]": "800.100.151"})
    pass_challenge(client, answer)

    assert read_code(client, answer) == "800.100.151"


def test_the_right_one_time_code_passes(client: Client) -> None:
    answer = open_order(client)
    page = see_challenge(client, answer)

    assert read_return(answer_page(client, page, otp="1234"))["id"] == answer.json["id"]
    assert read_code(client, answer) == "000.100.110"


def test_a_wrong_code_may_be_corrected(client: Client) -> None:
    answer = open_order(client)
    page = see_challenge(client, answer)
    again = answer_page(client, page, otp="0000")

    assert "That was not the code. Tries left: 2." in again.text
    assert result_of(client.get(f"/v1/payments/{answer.json['id']}")) == PENDING
    answer_page(client, again, otp="1234")
    assert read_code(client, answer) == "000.100.110"


def test_three_wrong_codes_end_the_payment(client: Client) -> None:
    answer = open_order(client)
    page = see_challenge(client, answer)
    for _ in range(3):
        page = answer_page(client, page, otp="0000")

    assert read_return(page)["id"] == answer.json["id"]
    assert read_code(client, answer) == "100.390.119"


@pytest.mark.parametrize("number", [CHALLENGED, CHALLENGED_WITH_FRAME])
def test_who_walks_away_has_not_paid(client: Client, number: str) -> None:
    answer = open_order(client, number)
    advance(client, LIFETIME_S - 60)
    assert result_of(client.get(f"/v1/payments/{answer.json['id']}")) == PENDING

    advance(client, 120)
    wait_until(lambda: read_code(client, answer) != "000.200.000")
    assert read_code(client, answer) == "100.396.103"


@pytest.mark.both_databases
def test_who_comes_too_late_has_not_paid(client: Client) -> None:
    answer = open_order(client)
    page = see_challenge(client, answer)
    advance(client, LIFETIME_S + 60)

    assert read_return(choose(client, page, "000.000.000"))["id"] == answer.json["id"]
    assert read_code(client, answer) == "100.396.103"


def test_an_answer_that_the_issuer_never_gave_ends_the_payment(client: Client) -> None:
    answer = open_order(client)
    see_challenge(client, answer)
    home = Window(client).walk(answer.json["redirect"]["url"], forge_answer(answer))

    assert read_return(home)["id"] == answer.json["id"]
    assert read_code(client, answer) == "100.390.112"


def test_the_back_button_changes_nothing(client: Client) -> None:
    answer = open_order(client)
    page = see_challenge(client, answer)
    choose(client, page, "100.380.401")

    for again in (
        choose(client, page, "000.000.000"),
        answer_page(client, page, otp="1234"),
        Window(client).walk(answer.json["redirect"]["url"]),
        Window(client).walk(answer.json["redirect"]["url"], forge_answer(answer)),
    ):
        assert read_return(again)["id"] == answer.json["id"]
        assert read_code(client, answer) == "100.380.401"


def test_reloading_shows_the_same_challenge_again(client: Client) -> None:
    answer = open_order(client)
    first, second = see_challenge(client, answer), see_challenge(client, answer)

    assert first.url == second.url
    assert "returnCode" in Window(client).visit(first.url).text
    choose(client, second, "000.000.000")
    assert read_code(client, answer) == "000.100.110"


@pytest.mark.both_databases
def test_two_tabs_that_end_at_once_end_the_same_way(client: Client) -> None:
    answers = [open_order(client) for _ in range(4)]
    pages = [see_challenge(client, answer) for answer in answers for _ in range(2)]
    with ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(lambda page: choose(client, page, "000.000.000"), pages))

    assert [read_return(end)["id"] for end in ends] == [answer.json["id"] for answer in answers for _ in range(2)]
    assert {read_code(client, answer) for answer in answers} == {"000.100.110"}


def test_a_made_up_address_leads_nowhere(client: Client) -> None:
    shopper_token = urlsplit(open_order(client).json["redirect"]["url"]).path.rpartition("/")[2]
    raw = base64.urlsafe_b64decode(shopper_token + "==")
    without_key = base64.urlsafe_b64encode(raw[:32]).decode().rstrip("=")
    other_key = base64.urlsafe_b64encode(raw[:32] + bytes(32)).decode().rstrip("=")

    for forged in (without_key, other_key, "x", shopper_token[:-1], shopper_token + "AAAA", "%00"):
        page = Window(client).visit(f"{client.base_url}/v1/shopper/{forged}")
        assert page.answer is not None
        assert page.answer.status == 404, forged


def test_a_made_up_challenge_leads_nowhere(client: Client) -> None:
    for token in ("x", "0" * 32, "acs-", "%2e%2e"):
        page = Window(client).visit(f"{client.base_url}/sandbox/acs/challenge/{token}", {"returnCode": "000.000.000"})
        assert page.answer is not None
        assert page.answer.status == 404


def test_the_device_check_reports_to_nobody_else(client: Client) -> None:
    for url in ("https://elsewhere.example/", "javascript:alert(1)", f"{client.base_url}.elsewhere.example/", ""):
        frame = {"threeDSServerTransID": "x", "threeDSMethodNotificationURL": url}
        fields = {"threeDSMethodData": base64.urlsafe_b64encode(json.dumps(frame).encode()).decode()}
        page = Window(client).visit(f"{client.base_url}/sandbox/acs/method", fields)
        assert page.answer is not None
        assert page.answer.status == 400


def test_a_challenge_request_of_another_payment_is_not_taken(client: Client) -> None:
    mine, other = see_challenge(client, open_order(client)), open_order(client)
    forward = Window(client).visit(other.json["redirect"]["url"]).find_form("data-forward")
    assert forward is not None

    page = Window(client).visit(mine.url, forward.fields)
    assert page.answer is not None
    assert page.answer.status == 404


def test_the_address_of_the_shopper_is_sent_once(client: Client) -> None:
    key = {"Idempotency-Key": "challenge-told-once"}
    fields = {"amount": "92.00", "currency": "EUR", "paymentType": "DB", "shopperResultUrl": "https://shop.example/"}
    card = {"paymentBrand": "VISA", "card.number": CHALLENGED, "card.expiryMonth": "05", "card.expiryYear": "2034"}
    first, second = (client.post("/v1/payments", {**fields, **card, **BILLING}, key) for _ in range(2))

    assert first.json["id"] == second.json["id"]
    assert ("redirect" in first.json, "redirect" in second.json) == (True, False)
    assert "redirect" not in client.get(f"/v1/payments/{first.json['id']}").json


@pytest.mark.both_databases
def test_neither_the_security_code_nor_the_key_to_it_is_left_anywhere(gateway: GatewayProcess, client: Client) -> None:
    """The stored code opens only with the key in the shopper's address, during the wait and afterwards."""
    waiting, paid = (order(client, MINE, **{"card.cvv": "907"}) for _ in range(2))
    pass_challenge(client, paid)
    page = see_challenge(client, waiting)
    shopper_tokens = [urlsplit(each.json["redirect"]["url"]).path.rpartition("/")[2] for each in (waiting, paid)]
    keys = [base64.urlsafe_b64decode(shopper_token + "==")[32:] for shopper_token in shopper_tokens]

    # PostgreSQL keeps its files elsewhere: there it is the log that is looked at.
    left = collect([gateway.data], without="keys.json")
    for secret in (*map(str.encode, shopper_tokens), *keys, *(key.hex().encode() for key in keys), *spell_number(MINE)):
        assert left.find(secret) == []
    token = page.url.rpartition("/")[2].encode()
    assert [name for name in left.find(token) if name.endswith(".log")] == []


def read_sealed(gateway: GatewayProcess, merchant_id: str, payment_id: str) -> bytes | None:
    """Reads the store beside the running server."""

    async def read() -> bytes | None:
        database = await open_database(gateway.database or f"sqlite:///{gateway.data}/tollgate.db", read_only=True)
        try:
            row = await find_authentication(database, MerchantId(merchant_id), PaymentId(payment_id))
        finally:
            await database.close()
        assert row is not None
        return row.sealed_secret

    return asyncio.run(read())


@pytest.mark.both_databases
def test_the_security_code_waits_under_a_key_that_is_stored_nowhere(gateway: GatewayProcess, client: Client) -> None:
    answer = open_order(client, **{"card.cvv": "907"})
    shopper_token = urlsplit(answer.json["redirect"]["url"]).path.rpartition("/")[2]
    merchant_id, payment_id = find_merchant_id(gateway, client), answer.json["id"]
    sealed = read_sealed(gateway, merchant_id, payment_id)
    owner = f"authentication/{merchant_id}/{payment_id}"
    key = base64.urlsafe_b64decode(shopper_token + "==")[32:]
    opened, refused = (
        open_once(sealed or b"", Secret(base64.urlsafe_b64encode(each).decode().rstrip("=")), owner=owner)
        for each in (key, bytes(32))
    )

    assert opened is not None
    assert opened.matches(Secret("907"))
    assert refused is None
    pass_challenge(client, answer)
    assert read_sealed(gateway, merchant_id, payment_id) is None, "it is wiped when nobody needs it any more"
