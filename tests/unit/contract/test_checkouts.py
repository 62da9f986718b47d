"""The form adds parameters to a prepared checkout and reads its state: pure, a row for each case."""

from __future__ import annotations

from datetime import date

import orjson
import pytest
from msgspec.structs import replace

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.results import get_result
from tollgate.catalog.rule import Situation
from tollgate.contract import checkouts
from tollgate.contract.answers import Answer, Envelope, encode_answer
from tollgate.contract.checkout_forms import FormTerms, answer_form
from tollgate.contract.fields import Fields, read_fields
from tollgate.payments.checkout import Checkout, CheckoutKind, CheckoutState
from tollgate.payments.order import TestMode
from tollgate.values import CheckoutId, InvalidParameters, Money, Refusal
from unit.app_fixture import CARD, CHANNEL, MERCHANT, NOW
from unit.contract.registration_samples import make_registered

ENVELOPE = Envelope("build")
PREPARED = {"amount": "92.00", "currency": "EUR", "paymentType": "DB"}
CHECKOUT = Checkout(
    id=CheckoutId("F" * 32 + ".abc"),
    merchant_id=MERCHANT.id,
    channel_id=CHANNEL.id,
    kind=CheckoutKind.PAYMENT,
    created_at=NOW,
    expires_at=NOW + LIMITS.checkout_lifetime,
    return_url="https://shop.example/result",
    sealed_fields=b"sealed",
)


def join(prepared: dict[str, str], *said: tuple[str, str], **of_request: str | None) -> dict[str, str]:
    members = {"address": "192.0.2.1", "accept": "text/html", "user_agent": None, **of_request}
    sent = checkouts.Submission(pairs=list(said), **members)  # type: ignore[arg-type]
    joined = checkouts.join_form(prepared, sent)
    assert len(joined) == len(dict(joined))
    return dict(joined)


HEARD = [
    ("card.number", "4200000000000000"),
    ("bankAccount.iban", "DE89370400440532013000"),
    ("virtualAccount.accountId", "jane"),
    ("applePay.paymentToken", "{}"),
    ("paymentBrand", "VISA"),
    ("registrationId", "8a" + "1" * 30),
    ("createRegistration", "true"),
    ("shopperResultUrl", "https://shop.example/"),
    ("shopOrigin", "https://shop.example"),
    ("customer.email", "jane@example.org"),
    ("billing.city", "Paris"),
    ("customParameters[SHOPPER_size]", "large"),
]
UNHEARD = [
    ("amount", "0.01"),
    ("currency", "JPY"),
    ("paymentType", "PA"),
    ("testMode", "EXTERNAL"),
    ("referenceUuid", "8a" + "1" * 30),
    ("merchantTransactionId", "another"),
    ("entityId", "8a" + "1" * 30),
    ("descriptor", "another"),
    ("overrideHolder", "true"),
    ("overridePaymentType[VISA]", "PA"),
    ("registrations[0].id", "8a" + "1" * 30),
    ("customParameters[forceResultCode]", "000.100.110"),
    ("customParameters[shopper_size]", "large"),
    ("customer.ip", "198.51.100.1"),
    # By these a stolen card would be charged without its holder being asked.
    ("card.numberType", "DPAN"),
    ("walletA.source", "web"),
    ("googlePay.source", "app"),
    ("shipping.city", "Paris"),
    ("threeDSecure.eci", "05"),
    ("tokenAccount.number", "4200000000000000"),
    ("standingInstruction.mode", "REPEATED"),
    ("recurringType", "REPEATED"),
    ("cardX.number", "1"),
    ("", "x"),
    ("card.number", ""),
]


@pytest.mark.parametrize(("name", "text"), HEARD)
def test_parameters_that_a_shopper_may_send_count(name: str, text: str) -> None:
    assert text in join(PREPARED, (name, text)).values()


@pytest.mark.parametrize(("name", "text"), UNHEARD)
def test_all_else_is_not(name: str, text: str) -> None:
    assert join(PREPARED, (name, text)) == {**PREPARED, "customer.ip": "192.0.2.1"}


@pytest.mark.parametrize(
    ("name", "wins"),
    [
        ("customer.email", False),
        ("billing.city", False),
        ("shopperResultUrl", False),
        ("createRegistration", False),
        ("customParameters[SHOPPER_size]", False),
        ("customer.browser.language", False),
        ("paymentBrand", True),
        ("card.holder", True),
    ],
)
def test_the_form_adds_what_is_missing_and_changes_only_what_is_the_shoppers(name: str, wins: bool) -> None:
    joined = join({**PREPARED, name: "prepared"}, (name, "said"))

    assert joined[name] == ("said" if wins else "prepared")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"paymentBrand": "VISA", "card.number": "1"}, {"card.holder"}),
        ({"card.number": "1"}, {"card.holder"}),
        ({"paymentBrand": "DIRECTDEBIT_SEPA"}, {"bankAccount.country"}),
        ({"paymentBrand": "PAYPAL"}, {"virtualAccount.accountId"}),
        ({"registrationId": "8a"}, set()),
        ({}, {"card.holder", "bankAccount.country", "virtualAccount.accountId"}),
    ],
)
def test_of_accounts_only_the_chosen_ones_fields_stay(said: dict[str, str], kept: set[str]) -> None:
    accounts = {"card.holder": "Jane", "bankAccount.country": "DE", "virtualAccount.accountId": "jane"}

    joined = join({**PREPARED, **accounts}, *said.items())

    assert set(joined) & set(accounts) == kept


def test_a_holder_that_overrides_stays_with_a_registration() -> None:
    prepared = {**PREPARED, "overrideHolder": "true", "card.holder": "Jane"}

    assert join(prepared, ("registrationId", "8a"))["card.holder"] == "Jane"


def test_parameters_of_a_checkout_alone_are_no_part_of_a_payment() -> None:
    more = {"integrity": "true", "registrations[0].id": "8a", "overridePaymentType[VISA]": "PA"}

    assert set(join({**PREPARED, **more})) == {*PREPARED, "customer.ip"}


def test_the_request_has_a_browser_where_the_form_sends_one() -> None:
    said = ("customer.browser.language", "de")
    received = join(PREPARED, said, accept="text/html", user_agent="Opera")
    silent = join(PREPARED, accept="text/html", user_agent="Opera")
    own = join(
        {**PREPARED, "customer.ip": "203.0.113.7"}, said, ("customer.browser.userAgent", "Mozilla"), accept="\x80"
    )

    assert (received["customer.browser.acceptHeader"], received["customer.browser.userAgent"]) == ("text/html", "Opera")
    assert set(silent) == {*PREPARED, "customer.ip"}
    assert (own["customer.browser.acceptHeader"], own["customer.browser.userAgent"]) == ("*/*", "Mozilla")
    assert own["customer.ip"] == "203.0.113.7"


def test_a_browser_whose_accept_header_is_not_known_is_left_to_our_own_page() -> None:
    said = [("customer.browser.language", "de"), ("customer.browser.challengeWindow", "4")]
    joined = join(PREPARED, *said, accept=None, user_agent="Opera")
    framed = join(PREPARED, *said, ("customer.browser.acceptHeader", "text/html"), accept=None, user_agent="Opera")

    assert set(joined) == {*PREPARED, "customer.ip", "customer.browser.challengeWindow"}
    assert (framed["customer.browser.acceptHeader"], framed["customer.browser.userAgent"]) == ("text/html", "Opera")


@pytest.mark.parametrize(
    ("header", "kept"),
    [("x" * 5000, "x" * 2048), ("Mozilla\x80\x93\t5", "Mozilla5"), ("\x80", "-"), ("", "-")],
)
def test_what_a_browser_says_of_itself_is_never_the_shoppers_fault(header: str, kept: str) -> None:
    joined = join(PREPARED, ("customer.browser.language", "de"), accept=header, user_agent=header, address="")

    card = {
        "paymentBrand": "VISA",
        "card.number": "4200000000000000",
        "card.expiryMonth": "05",
        "card.expiryYear": "2034",
    }
    read_fields([*joined.items(), *card.items()], Situation("submit_checkout", None))
    assert joined["customer.browser.userAgent"] == kept
    assert joined["customer.browser.acceptHeader"] == kept.replace("-", "*/*")
    assert "customer.ip" not in joined


def test_an_offer_is_in_the_merchants_order_and_each_once() -> None:
    prepared = {"registrations[10].id": "c", "registrations[2].id": "b", "registrations[0].id": "a", "x": "y"}

    assert checkouts.list_offered({**prepared, "registrations[3].id": "a"}) == ["a", "b", "c"]


def test_only_what_is_offered_can_be_chosen() -> None:
    fields = Fields({"registrationId": "b"}, frozenset(), {})

    assert checkouts.check_offer(fields, {"registrations[0].id": "b"}) == "b"
    assert checkouts.check_offer(Fields({}, frozenset(), {}), {}) is None
    with pytest.raises(InvalidParameters) as refused:
        checkouts.check_offer(fields, {"registrations[0].id": "a"})
    assert [fault.name for fault in refused.value.faults] == ["registrationId"]


def test_a_brand_may_have_its_own_type() -> None:
    fields = Fields({"paymentType": "DB"}, frozenset(), {"paymentType": "DB"})
    prepared = {"overridePaymentType[VISA]": "PA"}

    changed = checkouts.override_payment_type(fields, prepared, "VISA")

    assert (changed.values["paymentType"], changed.echo["paymentType"]) == ("PA", "PA")
    assert checkouts.override_payment_type(fields, prepared, "MASTER") is fields


def test_without_a_type_an_account_is_stored() -> None:
    assert checkouts.choose_checkout_kind(PREPARED) is CheckoutKind.PAYMENT
    assert checkouts.choose_checkout_kind({"createRegistration": "true"}) is CheckoutKind.REGISTRATION


def test_a_security_code_is_not_kept() -> None:
    pairs = [*PREPARED.items(), ("card.cvv", "123"), ("card.holder", "Jane Jones")]

    kept = checkouts.keep_prepared(read_fields(pairs, Situation("create_checkout", None, False, False)))

    assert kept == {**PREPARED, "card.holder": "Jane Jones"}


@pytest.mark.parametrize(
    ("changes", "is_live", "is_refused"),
    [
        ({}, False, False),
        ({"amount": "0.00"}, False, True),
        ({"amount": "10.50", "currency": "JPY"}, True, True),
        ({"customParameters[forceResultCode]": "nonsense"}, False, True),
        ({"customParameters[forceResultCode]": "nonsense"}, True, False),
        ({"testMode": "EXTERNAL"}, False, False),
        ({"testMode": "EXTERNAL"}, True, True),
        ({"customer.ip": "192.0.2.1"}, False, False),
        ({"customer.ip": "zzz"}, False, True),
        ({"taxAmount": "1.50", "amount": "10.00", "currency": "JPY"}, False, True),
        ({"threeDSecure.eci": "99"}, False, True),
        ({"threeDSecure.eci": "05"}, False, False),
        ({"paymentBrand": "IDEAL"}, False, False),
        ({"paymentBrand": "IDEAL", "paymentType": "CD"}, False, True),
        ({"paymentBrand": "IDEAL", "paymentType": "CD", "overridePaymentType[IDEAL]": "DB"}, False, False),
        # The channel of these tests has no creditor.
        ({"paymentBrand": "DIRECTDEBIT_SEPA"}, False, True),
    ],
)
def test_what_could_never_be_paid_is_refused(changes: dict[str, str], is_live: bool, is_refused: bool) -> None:
    pairs = list({**PREPARED, **changes}.items())
    fields = read_fields(pairs, Situation("create_checkout", None, False, is_live))
    if not is_refused:
        checkouts.check_prepared(fields, CHANNEL, today=date(2026, 11, 15), is_live=is_live)
        return
    with pytest.raises(Refusal):
        checkouts.check_prepared(fields, CHANNEL, today=date(2026, 11, 15), is_live=is_live)


def test_what_is_prepared_says_in_which_mode_it_will_be_paid() -> None:
    def tell_mode(is_live: bool, **more: str) -> TestMode | None:
        fields = read_fields(list({**PREPARED, **more}.items()), Situation("create_checkout", None, False, is_live))
        return checkouts.check_prepared(fields, CHANNEL, today=date(2026, 11, 15), is_live=is_live)

    assert tell_mode(False) is TestMode.INTERNAL
    assert tell_mode(False, testMode="EXTERNAL") is TestMode.EXTERNAL
    assert tell_mode(True) is None


def test_money_is_read_where_there_is_some() -> None:
    assert checkouts.read_prepared_money(PREPARED) == Money(9200, "EUR")
    assert checkouts.read_prepared_money({"amount": "1.00"}) is None


def test_somebody_has_to_say_where_the_shopper_goes() -> None:
    with pytest.raises(InvalidParameters):
        checkouts.get_return_url(Fields({}, frozenset(), {}))


# ---- answers ----


def answer(code: str = "000.200.000", /, **more: object) -> Answer:
    """Makes the answer for an attempt as its merchant would get it."""
    body = ENVELOPE.wrap(get_result(code), "trace", NOW, id="8a", card={"last4Digits": "0000"}, **more)
    return encode_answer(200, body)


@pytest.mark.parametrize(
    ("redirect", "kind", "url"),
    [
        (
            None,
            "result",
            f"https://shop.example/?id={CHECKOUT.id}&resourcePath=%2Fv1%2Fcheckouts%2F{CHECKOUT.id}%2Fpayment",
        ),
        (
            {"url": "https://gate.example/v1/shopper/x", "method": "GET"},
            "challenge",
            "https://gate.example/v1/shopper/x",
        ),
        ({"url": "https://provider.example/x", "method": "GET"}, "provider", "https://provider.example/x"),
        (
            {"url": "https://provider.example/x", "method": "POST"},
            "provider",
            f"https://gate.example/v1/checkouts/{CHECKOUT.id}/provider",
        ),
        (
            {"url": "https://gate.example.evil.example/v1/shopper/x", "method": "GET"},
            "provider",
            "https://gate.example.evil.example/v1/shopper/x",
        ),
    ],
)
def test_the_shopper_learns_where_to_go_and_nothing_of_the_account(
    redirect: dict[str, str] | None, kind: str, url: str
) -> None:
    ways = checkouts.make_shopper_paths(CHECKOUT, "https://shop.example/", "https://gate.example")

    shown, going_on = checkouts.answer_submission(
        answer(**({"redirect": redirect} if redirect else {})), CHECKOUT, ways
    )

    body = orjson.loads(shown.body)
    assert (going_on.kind, going_on.url) == (kind, url)
    assert body["next"] == {"kind": kind, "url": url, "isPaid": False}
    assert (body["id"], body["ndc"]) == (CHECKOUT.id, CHECKOUT.id)
    named = {"attempt"} if redirect else set()
    assert set(body) == {"id", "ndc", "next", "result", "buildNumber", "timestamp"} | named


@pytest.mark.parametrize(("code", "is_paid"), [("000.100.110", True), ("800.100.152", False), ("000.200.000", False)])
def test_the_form_learns_whether_the_checkout_is_paid(code: str, is_paid: bool) -> None:
    shown, _ = checkouts.answer_submission(
        answer(code), CHECKOUT, checkouts.make_shopper_paths(CHECKOUT, "https://shop.example/", "https://gate")
    )

    assert orjson.loads(shown.body)["next"]["isPaid"] is is_paid


@pytest.mark.parametrize(
    ("state", "word", "comes_home"),
    [
        (CheckoutState.OPEN, "open", False),
        (CheckoutState.LOCKED, "busy", False),
        (CheckoutState.DONE, "paid", True),
        (CheckoutState.SPENT, "paid", True),
    ],
)
def test_the_form_learns_the_state_of_the_checkout(state: CheckoutState, word: str, comes_home: bool) -> None:
    codes = "VISA  NOBODY VISA APPLEPAY"
    terms = FormTerms(is_test=False, requires_cvv=True, takes_debits=True, registrations=[], codes=codes)

    shown = answer_form(replace(CHECKOUT, state=state), {**PREPARED, "card.holder": "Jane"}, terms, ENVELOPE, NOW)

    body = orjson.loads(shown.body)
    assert (body["state"], body["returnUrl"] is not None) == (word, comes_home)
    assert (list(body["brands"]), body["requiresCvv"], body["isTest"]) == (["VISA"], True, False)
    assert list(body["leftOut"]) == ["NOBODY", "APPLEPAY"]
    assert b"Jane" not in shown.body


@pytest.mark.parametrize(
    ("prepared", "takes_debits", "offered"),
    [
        ({}, True, ["VISA", "DIRECTDEBIT_SEPA"]),
        ({"paymentType": "PA"}, False, ["VISA", "PREPAYMENT"]),
        ({"overridePaymentType[PREPAYMENT]": "PA", "currency": "USD"}, True, ["VISA", "PREPAYMENT"]),
    ],
)
def test_nobody_is_offered_what_could_only_be_refused(
    prepared: dict[str, str], takes_debits: bool, offered: list[str]
) -> None:
    cards = [replace(CARD, expiry_year=year) for year in ("2019", "2099")]
    registrations = [make_registered(card).registration for card in cards]
    terms = FormTerms(
        is_test=True,
        requires_cvv=False,
        takes_debits=takes_debits,
        registrations=registrations,
        codes="VISA DIRECTDEBIT_SEPA PREPAYMENT",
    )

    body = orjson.loads(answer_form(CHECKOUT, {**PREPARED, **prepared}, terms, ENVELOPE, NOW).body)

    assert list(body["brands"]) == offered
    assert [one["expiryYear"] for one in body["registrations"]] == ["2099"]
