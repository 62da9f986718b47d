"""The forms of the front page act through the interface, once, and show what came of it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path

import pytest

from api.direct_debits import begin_debit
from api.endpoints import advance
from api.front_page import Developer, read_payment_id
from api.merchants import wait_until
from api.registration_requests import register
from api.scheduling import schedule
from api.server import SharedServer
from gateway import Answer, Client, GatewayProcess
from tollgate.sandbox.front.trying import CARDS, TYPES

CURL = re.compile(r'<code id="curl">(.*?)</code>', re.DOTALL)
STATUS = re.compile(r'<span class="badge \w+">(\d+)</span> <a class="result \w+" href="/docs/codes/([0-9.]+)"')
INBOX = re.compile("/sandbox/inbox/start-[0-9a-f]{16}")


@pytest.fixture(scope="module")
def server(own_server: SharedServer) -> SharedServer:
    return own_server


def read_status(answer: Answer) -> tuple[str, str]:
    """Returns the status and the result code that a page shows."""
    found = STATUS.search(answer.body.decode())
    assert found is not None, answer
    return found[1], found[2]


def list_next(developer: Developer) -> list[str]:
    listed = re.findall(r'<li id="next-[^"]+">(.*?)</li>', developer.open(), re.DOTALL)
    return [re.sub(r"<[^>]+>", "", each) for each in listed]


@pytest.mark.parametrize("payment_type", [code for code, _ in TYPES])
def test_every_type_of_the_form_is_paid(developer: Developer, client: Client, payment_type: str) -> None:
    answer = developer.pay(paymentType=payment_type)

    assert read_status(answer) == ("200", "000.100.110")
    made = client.get(f"/v1/payments/{read_payment_id(answer)}").json
    assert (made["paymentType"], made["amount"], made["currency"]) == (payment_type, "92.00", "EUR")


@pytest.mark.parametrize(("number", "brand", "outcome"), CARDS)
def test_every_card_of_the_form_does_what_it_says(developer: Developer, number: str, brand: str, outcome: str) -> None:
    answer = developer.pay(**{"card.number": number})

    assert f'"paymentBrand": "{brand}"' in unescape(answer.body.decode())
    assert (read_status(answer)[1] == "000.100.110") == (outcome == "approved")


def test_a_forced_result_and_faults_are_shown_as_they_are_answered(developer: Developer) -> None:
    forced = developer.pay(**{"customParameters[forceResultCode]": "800.100.153"})
    faulty = developer.pay(amount="nine")

    assert read_status(forced)[1] == "800.100.153"
    assert read_status(faulty) == ("400", "200.300.404")
    assert '"name": "amount"' in unescape(faulty.body.decode())


def test_a_number_that_is_no_test_card_is_refused(developer: Developer) -> None:
    answer = developer.pay(**{"card.number": "4929000000006"})

    assert answer.status == 400
    assert b"must be one of the test cards" in answer.body


def test_the_command_makes_the_payment_that_the_form_makes(developer: Developer) -> None:
    command = CURL.search(developer.open())
    assert command is not None

    done = subprocess.run(["sh", "-c", f"{command[1]} -s"], capture_output=True, check=True, timeout=120)

    assert json.loads(done.stdout)["result"]["code"] == "000.100.110"
    assert shlex.split(command[1])[0] == "curl"


def test_a_page_that_is_loaded_again_pays_once(developer: Developer) -> None:
    page = developer.open()
    key = re.search(r'name="key" value="(\w+)" id="try-key"', page)
    assert key is not None

    first, second = (read_payment_id(developer.pay(key=key[1])) for _ in range(2))

    assert first == second


def test_the_buttons_are_those_that_the_rows_and_the_balance_allow(developer: Developer) -> None:
    held, taken, credit, declined = (
        read_payment_id(developer.pay(paymentType=kind, **{"card.number": number}))
        for kind, number in (
            ("PA", "4200000000000000"),
            ("DB", "4200000000000000"),
            ("CD", "4200000000000000"),
            ("DB", "4000000000000002"),
        )
    )

    assert developer.list_words(held) == ["capture", "reverse"]
    assert developer.list_words(taken) == ["reverse", "refund", "chargeback"]
    assert developer.list_words(credit) == []
    assert developer.list_words(declined) == []


@pytest.mark.parametrize(
    ("kind", "word", "left"),
    [
        ("PA", "capture", []),
        ("PA", "reverse", []),
        ("DB", "reverse", ["chargeback"]),
        ("DB", "refund", ["chargeback"]),
        ("DB", "chargeback", []),
    ],
)
def test_a_button_does_what_it_says_once(
    developer: Developer, client: Client, kind: str, word: str, left: list[str]
) -> None:
    payment_id = read_payment_id(developer.pay(paymentType=kind))
    [button] = [each for each in developer.list_buttons() if (each.id, each.word) == (payment_id, word)]

    notice = developer.press(button)
    again = developer.press(button)

    assert re.match(rf"{word.capitalize()}( of 92.00 EUR)?: 000\.100\.(110|200) ", notice)
    # A chargeback comes from the bank, which has no keys: a second one is refused.
    assert again == notice or word == "chargeback"
    linked = client.get(f"/v1/query/{payment_id}", {"includeLinkedTransactions": "true"}).json["payments"]
    assert len(linked) == 2
    assert developer.list_words(payment_id) == left


def test_two_clicks_at_once_refund_once(developer: Developer, client: Client) -> None:
    payment_id = read_payment_id(developer.pay())
    [button] = [each for each in developer.list_buttons() if (each.id, each.word) == (payment_id, "refund")]
    fields = {"form_token": developer.form_token, "key": button.key, "amount": button.amount}

    with ThreadPoolExecutor(5) as clicks:
        list(clicks.map(lambda _: developer.send("POST", button.path, fields), range(5)))

    linked = client.get(f"/v1/query/{payment_id}", {"includeLinkedTransactions": "true"}).json["payments"]
    assert [each["paymentType"] for each in linked].count("RF") == 1


def test_a_refund_that_was_declined_may_be_tried_again(developer: Developer, client: Client) -> None:
    payment_id = read_payment_id(developer.pay())
    refused = client.post(f"/v1/payments/{payment_id}", {"paymentType": "RF", "amount": "93.00", "currency": "EUR"})
    [button] = [each for each in developer.list_buttons() if (each.id, each.word) == (payment_id, "refund")]

    assert refused.status == 400
    assert developer.press(button).startswith("Refund of 92.00 EUR: 000.100.110")


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/payments/8ac7a4a17f3c8d0a017f3c8d0a010001/refund", {"key": "1", "amount": "1.00"}),
        ("/payments/nothing/refund", {"key": "1", "amount": "1.00"}),
        ("/clock", {"forward": "0", "unit": "days"}),
        ("/clock", {"forward": "1", "unit": "years"}),
        ("/clock", {"forward": "-1", "unit": "days"}),
        ("/clock", {"forward": "9" * 5000, "unit": "seconds"}),
        ("/payments", {"card.number": "4200000000000000", "key": "a b"}),
        ("/payments", {"card.number": "4200000000000000", "key": ""}),
    ],
)
def test_what_no_form_sends_is_refused_by_a_page(developer: Developer, path: str, fields: dict[str, str]) -> None:
    developer.open()

    answer = developer.post(f"/sandbox/front{path}", fields)

    assert answer.status in (400, 404)
    assert b"<h1>Not done</h1>" in answer.body


def test_news_are_told_once(developer: Developer) -> None:
    tag = re.search(r'data-tag="(\w+)"', developer.open())
    assert tag is not None
    wait_until(lambda: developer.send("GET", "/sandbox/front/news").status == 200)

    payment_id = read_payment_id(developer.pay())
    news = developer.send("GET", "/sandbox/front/news", headers={"If-None-Match": tag[1]})

    assert f'id="payment-{payment_id}"'.encode() in news.body
    # What follows the payment, such as its webhook, is news too.
    wait_until(lambda: ask_for_news_twice(developer).status == 304)


def ask_for_news_twice(developer: Developer) -> Answer:
    told = re.search(r'data-tag="(\w+)"', developer.send("GET", "/sandbox/front/news").body.decode())
    assert told is not None
    return developer.send("GET", "/sandbox/front/news", headers={"If-None-Match": told[1]})


def test_the_clock_moves_and_what_fires_next_is_listed(developer: Developer, client: Client) -> None:
    before = client.get("/sandbox/clock").json["now"]
    developer.pay(paymentType="PA")
    client.post("/v1/checkouts", {"amount": "92.00", "currency": "EUR", "paymentType": "DB"})
    schedule(client, register(client))

    told = " ".join(list_next(developer))

    assert "A checkout expires" in told
    developer.post("/sandbox/front/clock", {"forward": "2", "unit": "hours"})
    page = developer.open()
    assert "The clock was moved forward by 2 hours" in page
    assert client.get("/sandbox/clock").json["now"] > before
    told = " ".join(list_next(developer))
    assert "A checkout expires" not in told
    assert "An authorization expires" in told
    assert "A schedule charges its registration" in told


def test_a_webhook_is_added_once_and_its_events_arrive(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as gateway:
        developer, client = Developer(gateway.base_url), gateway.client()
        page = developer.open()
        assert all(text in page for text in ("No payment yet", "No webhook arrived yet", "Nothing is due"))

        for told in ("its inbox answered the test event", "A webhook sends to an inbox already"):
            developer.post("/sandbox/front/webhook")
            assert told in developer.open()
        developer.pay()
        wait_until(lambda: "PAYMENT</a> DB 92.00 EUR" in developer.open())

        [webhook] = client.get("/v1/webhooks").json["webhooks"]
        assert INBOX.fullmatch(webhook["url"].removeprefix(gateway.base_url))
        assert webhook["state"] == "active"


def test_a_debit_waits_for_its_file(tmp_path: Path) -> None:
    with GatewayProcess(tmp_path) as gateway:
        developer, client = Developer(gateway.base_url), gateway.client()
        begin_debit(client)

        assert any("A SEPA file is made" in each for each in list_next(developer))
        advance(client, 20 * 86400)
        wait_until(lambda: not any("A SEPA file is made" in each for each in list_next(developer)))


def test_the_icon_is_where_browsers_look_for_it(client: Client) -> None:
    answer = client.send("GET", "/favicon.ico")

    assert (answer.status, answer.headers["content-type"]) == (200, "image/x-icon")
    assert answer.body.startswith(b"\x00\x00\x01\x00\x02\x00\x10\x10")
    assert "max-age=86400" in answer.headers["cache-control"]
