"""Requests and answers about checkouts: the prepared fields, and those that the payment form may add. Pure."""

from collections.abc import Mapping
from datetime import date

import msgspec
import orjson

from tollgate.catalog import codes
from tollgate.catalog.brand_rows import Brand
from tollgate.catalog.brands import find_brand
from tollgate.catalog.parameters.names import PARAMETERS, WORDS, first_word, resolve
from tollgate.catalog.parameters.row import Use
from tollgate.catalog.results import get_result, is_success, make_invalid
from tollgate.catalog.shape import is_true
from tollgate.contract import objections
from tollgate.contract.answers import Answer, Envelope, encode_answer
from tollgate.contract.details import read_details, spell_address
from tollgate.contract.fields import Fields, Pairs, is_never_stored
from tollgate.contract.orders import check_fit, check_terms, read_simulator_overrides, read_test_mode
from tollgate.contract.shopper_urls import make_checkout_return_url
from tollgate.payments.checkout import Checkout, CheckoutKind
from tollgate.payments.merchants import Channel
from tollgate.payments.order import TestMode
from tollgate.values import Fault, Instant, Money, Refusal, read_hundredths

_SESSION_GONE = "No payment session found for the requested id: it was read, it has expired, or it is of another host"

_ACCOUNT_WORDS = WORDS[Use.FORM] & (WORDS[Use.ACCOUNT] | WORDS[Use.WALLET])
_NOT_FORM = frozenset(name for name, row in PARAMETERS.items() if Use.NOT_FORM in row.use)
_SHOPPER_KEY = "customParameters[SHOPPER_"
_OVERRIDE_WORD = "overridePaymentType"
_OVERRIDE = _OVERRIDE_WORD + "[{}]"
_BROWSER = "customer.browser."
_ACCEPT, _WINDOW = f"{_BROWSER}acceptHeader", f"{_BROWSER}challengeWindow"
_HEADER_LENGTH_MAX = 2048


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """The fields and headers that a shopper's browser sent."""

    pairs: Pairs
    address: str
    accept: str | None
    """The browser's header; a request that a script made has none."""
    user_agent: str | None
    origin: str | None = None
    """The origin of the page that sent it; None where the browser named none."""


class Next(msgspec.Struct, frozen=True):
    """The address to which the shopper goes next, by GET."""

    kind: str
    url: str


RESULT, CHALLENGE, PROVIDER = "result", "challenge", "provider"


def choose_checkout_kind(values: Mapping[str, str]) -> CheckoutKind:
    return CheckoutKind.PAYMENT if "paymentType" in values else CheckoutKind.REGISTRATION


def read_prepared_money(values: Mapping[str, str]) -> Money | None:
    if "amount" not in values or "currency" not in values:
        return None
    return Money(read_hundredths(values["amount"]), values["currency"])


def check_prepared(fields: Fields, channel: Channel, *, today: date, is_live: bool) -> TestMode | None:
    """Refuses what could never be paid before a shopper sees it, and returns the mode in which payments will be made.

    What depends on the account waits for the shopper. A brand that the merchant names has to fit the type, the
    currency and the country.
    """
    values = fields.values
    test_mode = read_test_mode(values.get("testMode"), is_live) or (None if is_live else TestMode.INTERNAL)
    if not is_live:
        read_simulator_overrides(values)
    money = read_prepared_money(values)
    objection = None if money is None else _find_money_objection(fields, money)
    objection = objection or objections.find_content_objection(fields, channel, today)
    if objection:
        raise Refusal(get_result(objection))
    brand = find_prepared_brand(values, channel)
    if brand is None:
        return test_mode
    payment_type = find_payment_type(values, brand.code)
    if payment_type is not None and money is not None:
        check_fit(brand, payment_type, values, channel, money)
    else:
        check_terms(brand, values, None)
    return test_mode


def _find_money_objection(fields: Fields, money: Money) -> str | None:
    return (
        objections.find_amount_objection(fields.values.get("paymentType", ""), money)
        or objections.find_detail_objection(fields.values, money.currency)
        or objections.find_proof_objection(read_details(fields).authentication)
    )


def find_prepared_brand(values: Mapping[str, str], channel: Channel) -> Brand | None:
    return find_brand(values.get("paymentBrand", ""), lenient=channel.is_lenient)


def keep_prepared(fields: Fields) -> dict[str, str]:
    """Returns the fields that are stored, sealed."""
    return {name: text for name, text in fields.values.items() if not is_never_stored(name)}


def list_offered(prepared: Mapping[str, str]) -> list[str]:
    """Lists the registrations that the shopper may pay with, each once and in the merchant's order."""
    offered = ((name, text) for name, text in prepared.items() if first_word(name) == "registrations")
    in_order = sorted(offered, key=lambda pair: int(pair[0].partition("[")[2].partition("]")[0]))
    return list(dict.fromkeys(text for _, text in in_order))


def join_form(prepared: Mapping[str, str], sent: Submission, *, is_lenient: bool = False) -> Pairs:
    """Joins the prepared fields and those that the form may add; other fields of the form are ignored."""
    added = [(name, text) for name, text in sent.pairs if text and _may_send(name, prepared)]
    sent_values = {_get_canonical_name(name): text for name, text in added}
    country = sent_values.get("billing.country") or prepared.get("billing.country", "")
    spelled = spell_address(sent_values, country, is_lenient=is_lenient)
    added = [(name, spelled.get(_get_canonical_name(name), text)) for name, text in added]
    unneeded = WORDS[Use.CHECKOUT] | _list_other_accounts(prepared, sent_values)
    kept = [
        (name, text) for name, text in prepared.items() if name not in sent_values and first_word(name) not in unneeded
    ]
    pairs = _drop_half_known(kept + added, sent)
    return pairs + _describe_browser(pairs, sent)


def _drop_half_known(pairs: Pairs, sent: Submission) -> Pairs:
    """Leaves the questions to our own page if the true Accept header is missing; it asks the browser for everything."""
    if sent.accept is not None or _ACCEPT in {_get_canonical_name(name) for name, _ in pairs}:
        return pairs
    return [
        (name, text)
        for name, text in pairs
        if _get_canonical_name(name) == _WINDOW or not _get_canonical_name(name).startswith(_BROWSER)
    ]


def _list_other_accounts(prepared: Mapping[str, str], sent_values: Mapping[str, str]) -> frozenset[str]:
    """Lists the prepared accounts that the shopper did not choose, so that they are no obstacle."""
    if "registrationId" in sent_values:
        return frozenset() if is_true(prepared.get("overrideHolder")) else _ACCOUNT_WORDS
    # Any spelling counts here; one that the channel does not take is refused when the fields are read.
    brand = find_brand(sent_values.get("paymentBrand") or prepared.get("paymentBrand", ""), lenient=True)
    chosen = {first_word(name) for name in sent_values} & _ACCOUNT_WORDS if brand is None else {brand.account.value}
    return _ACCOUNT_WORDS - chosen if chosen else frozenset()


def _get_canonical_name(sent_name: str) -> str:
    resolved = resolve(sent_name)
    return sent_name if resolved is None or isinstance(resolved, Fault) else resolved.canonical_name


def _may_send(sent_name: str, prepared: Mapping[str, str]) -> bool:
    name = _get_canonical_name(sent_name)
    word = first_word(name)
    if name in _NOT_FORM:
        return False
    if word in WORDS[Use.FORM]:
        return True
    return (word in WORDS[Use.FORM_ADDITION] or name.startswith(_SHOPPER_KEY)) and name not in prepared


def _describe_browser(pairs: Pairs, sent: Submission) -> Pairs:
    """Adds what the request itself shows of its browser, if the form described it; otherwise our own page asks."""
    names = {_get_canonical_name(name) for name, _ in pairs}
    own = {"customer.ip": sent.address}
    if any(name.startswith(_BROWSER) and name != _WINDOW for name in names):
        own[_ACCEPT] = _make_fit(sent.accept) or "*/*"
        own[f"{_BROWSER}userAgent"] = _make_fit(sent.user_agent) or "-"
    return [(name, text) for name, text in own.items() if text and name not in names]


def _make_fit(header: str | None) -> str:
    """Makes a header acceptable, because a shopper cannot correct it."""
    return "".join(filter(str.isprintable, header or ""))[:_HEADER_LENGTH_MAX]


def check_offer(fields: Fields, prepared: Mapping[str, str]) -> str | None:
    """Returns the registration that the shopper chose, if any; it must be one that the merchant offered."""
    chosen = fields.values.get("registrationId")
    if chosen is not None and chosen not in list_offered(prepared):
        raise make_invalid(Fault("registrationId", "is not offered by this checkout", chosen))
    return chosen


def find_payment_type(prepared: Mapping[str, str], brand: str) -> str | None:
    """Finds the type of a payment with this brand; there is none where nothing is paid."""
    return _find_override(prepared, brand) or prepared.get("paymentType")


def _find_override(prepared: Mapping[str, str], brand: str) -> str | None:
    """Finds the type that was prepared for one brand, by its code or by an older spelling of a lenient channel."""
    payment_type = prepared.get(_OVERRIDE.format(brand))
    if payment_type is not None:
        return payment_type
    spelled = ((name, text) for name, text in prepared.items() if first_word(name) == _OVERRIDE_WORD)
    found = ((find_brand(name[len(_OVERRIDE_WORD) + 1 : -1], lenient=True), text) for name, text in spelled)
    return next((text for row, text in found if row is not None and row.code == brand), None)


def override_payment_type(fields: Fields, prepared: Mapping[str, str], brand: str) -> Fields:
    payment_type = _find_override(prepared, brand)
    if payment_type is None:
        return fields
    change = {"paymentType": payment_type}
    return Fields({**fields.values, **change}, fields.groups, {**fields.echo, **change})


def get_return_url(fields: Fields) -> str:
    address = fields.values.get("shopperResultUrl")
    if address is None:
        raise make_invalid(Fault("shopperResultUrl", "may not be empty"))
    return address


def make_session_refusal(hint: str = "") -> Refusal:
    return Refusal(get_result(codes.INVALID_REQUEST), f"{_SESSION_GONE}{hint}")


# ---- answers ----


def answer_checkout(checkout: Checkout, envelope: Envelope, code: str, now: Instant, integrity: str = "") -> Answer:
    """Answers with the result and the id alone."""
    more = {"integrity": integrity} if integrity else {}
    result = get_result(code)
    return encode_answer(result.http_status, envelope.wrap(result, checkout.id, now, id=checkout.id, **more))


def asks_for_integrity(values: Mapping[str, str]) -> bool:
    return is_true(values.get("integrity"))


class Ways(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses to which a shopper may be sent."""

    home_url: str
    """The shop's address, with the id of the checkout."""
    own_url: str
    """The beginning of the addresses of our own pages."""
    onward_url: str
    """Our page that sends a form on to a provider."""


def make_shopper_paths(checkout: Checkout, address: str, base_url: str) -> Ways:
    return Ways(
        home_url=make_checkout_return_url(address, checkout),
        own_url=f"{base_url}/v1/shopper/",
        onward_url=f"{base_url}/v1/checkouts/{checkout.id}/provider",
    )


def answer_submission(answer: Answer, checkout: Checkout, ways: Ways) -> tuple[Answer, Next]:
    """Answers the shopper's browser with the result and the next address, and nothing of the account.

    `attempt` is the payment that the form may abandon while the shopper is away.
    """
    answered = orjson.loads(answer.body)
    following = _choose_next(answered.get("redirect"), ways)
    body = {name: answered[name] for name in ("result", "buildNumber", "timestamp")}
    is_paid = following.kind == RESULT and is_success(answered["result"]["code"])
    onward = {"kind": following.kind, "url": following.url, "isPaid": is_paid}
    body |= {"id": checkout.id, "ndc": checkout.id, "next": onward}
    if following.kind != RESULT:
        body["attempt"] = answered["id"]
    return encode_answer(answer.status, body), following


def _choose_next(redirect: Mapping[str, str] | None, ways: Ways) -> Next:
    if redirect is None:
        return Next(RESULT, ways.home_url)
    if redirect["url"].startswith(ways.own_url):
        return Next(CHALLENGE, redirect["url"])
    # A provider that wants a form posted gets it from a page of ours, so that every shopper continues by GET.
    return Next(PROVIDER, redirect["url"] if redirect.get("method") == "GET" else ways.onward_url)
