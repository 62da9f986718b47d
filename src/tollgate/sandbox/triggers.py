"""The requests that make each event of the catalogue happen on a test host, as rows.

They go to the interface of the host itself, so that an event comes about as it does for a merchant.
"""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tollgate.catalog import codes
from tollgate.catalog.results import RESULTS, get_result, is_review
from tollgate.catalog.test_cards import TEST_CARDS
from tollgate.flows.replays import EventFilter, list_sent
from tollgate.operations.app import App
from tollgate.sandbox.tenant import Welcome
from tollgate.values import ChannelId, Refusal

Send = Callable[[str, str, Mapping[str, str], Mapping[str, str]], Awaitable[Mapping[str, Any]]]
"""Sends a form by a method to an address, with headers, and returns the JSON of the answer."""


class Step(NamedTuple):
    path: str
    """The id that the step before was answered with is written `{0}`, the one before that `{1}`, and so on."""
    fields: Mapping[str, str] = {}
    method: str = "POST"


_AMOUNT = {"amount": "92.00", "currency": "EUR"}
_ACCOUNT = {"card.holder": "Jane Jones", "card.expiryMonth": "05", "card.expiryYear": "2034"}
_CARD = {"paymentBrand": "VISA", "card.number": "4200000000000000", "card.cvv": "123", **_ACCOUNT}
_BACK = {"shopperResultUrl": "https://shop.example/result"}
_BROWSER = {
    "customer.browser.acceptHeader": "text/html",
    "customer.browser.language": "en",
    "customer.browser.screenHeight": "1080",
    "customer.browser.screenWidth": "1920",
    "customer.browser.timezone": "-60",
    "customer.browser.userAgent": "Mozilla/5.0",
    "customer.browser.javaEnabled": "false",
}
_ADDRESS = {
    "billing.street1": "Ring 7",
    "billing.city": "Graz",
    "billing.postcode": "8010",
    "billing.country": "AT",
}


def _pay(payment_type: str, **changes: str) -> Step:
    return Step("/v1/payments", {**_AMOUNT, "paymentType": payment_type, **_CARD, **changes})


def _follow(payment_type: str, path: str = "/v1/payments/{0}") -> Step:
    return Step(path, {**_AMOUNT, "paymentType": payment_type})


def _record(payment_type: str, path: str = "/sandbox/payments/{0}") -> Step:
    """Returns the step by which a bank reports something."""
    return _follow(payment_type, path)


_DEBIT, _AUTHORIZATION, _REGISTRATION = _pay("DB"), _pay("PA"), Step("/v1/registrations", _CARD)
_REVIEW = {"customParameters[forceResultCode]": next(code for code in RESULTS if is_review(code))}
_DECLINE = {"card.number": next(card.number for card in TEST_CARDS.values() if card.result_code)}
_PLAN = {**_AMOUNT, "job.dayOfMonth": "L", "job.hour": "6"}
_SCHEDULE = Step("/scheduling/v1/schedules", {**_PLAN, "paymentType": "SD", "registrationId": "{0}"})

TEST = "webhook.test"
TRIGGERS: Mapping[str, tuple[Step, ...]] = MappingProxyType(
    {
        "payment.pending": (Step("/v1/payments", {**_AMOUNT, **_BACK, "paymentType": "DB", "paymentBrand": "PAYPAL"}),),
        "payment.authorized": (_AUTHORIZATION,),
        "payment.succeeded": (_DEBIT,),
        "payment.review": (_pay("DB", **_REVIEW),),
        "payment.credited": (_pay("CD"),),
        "payment.authenticated": (
            Step(
                "/v1/threeDSecure",
                {**_AMOUNT, **_CARD, **_BACK, **_BROWSER, **_ADDRESS, "card.number": "4200000000000026"},
            ),
        ),
        "payment.captured": (_AUTHORIZATION, _follow("CP")),
        "payment.reversed": (_AUTHORIZATION, Step("/v1/payments/{0}", {"paymentType": "RV"})),
        "payment.refunded": (_DEBIT, _follow("RF")),
        "payment.rebilled": (_DEBIT, _follow("RB")),
        "payment.received": (
            Step("/v1/payments", {**_AMOUNT, "paymentType": "PA", "paymentBrand": "PREPAYMENT"}),
            _record("RC"),
        ),
        "payment.charged_back": (_DEBIT, _record("CB")),
        "payment.chargeback_reversed": (_DEBIT, _record("CB"), _record("CR")),
        "payment.failed": (_pay("DB", **_DECLINE),),
        "registration.created": (_REGISTRATION,),
        "registration.updated": (_REGISTRATION, Step("/v1/registrations/{0}", {**_ACCOUNT, "card.expiryYear": "2035"})),
        "registration.deleted": (_REGISTRATION, Step("/v1/registrations/{0}", method="DELETE")),
        "schedule.created": (_REGISTRATION, _SCHEDULE),
        "schedule.updated": (
            _REGISTRATION,
            _SCHEDULE,
            Step("/scheduling/v1/schedules/{0}/reschedule", {**_PLAN, "job.hour": "7", "registrationId": "{1}"}),
        ),
        "schedule.ended": (_REGISTRATION, _SCHEDULE, Step("/scheduling/v1/schedules/{0}/deschedule")),
        # The endpoints of the merchant are tested, whichever they are.
        TEST: (),
    }
)


async def run_trigger(app: App, name: str, credentials: Welcome, entity_id: str | None, send: Send) -> list[str]:
    """Makes an event happen, and returns the ids that the requests were answered with, and that of the event."""
    entity = {"entityId": entity_id or credentials.entity_id}
    headers = {"Authorization": f"Bearer {credentials.access_token}"}
    begun, ids = app.clock.now(), list[str]()
    for step in TRIGGERS[name] or await _list_tests(credentials, headers, send):
        newest_first = ids[::-1]
        path = step.path.format(*newest_first)
        fields = entity | {word: value.format(*newest_first) for word, value in step.fields.items()}
        answer = await send(step.method, credentials.base_url + path, headers, fields)
        if "id" not in answer:
            raise _refuse(f"{step.method} {path}: {_describe(answer)}")
        ids.append(answer["id"])
    if name == TEST:
        return ids
    channel = app.merchants.get_channel(ChannelId(entity["entityId"]))
    happened = await list_sent(app, channel.merchant_id, EventFilter(since=begun, types=(name,)), 1)
    if not happened:
        raise _refuse(f"{name} did not happen")
    return [*ids, happened[0].event.id]


async def _list_tests(credentials: Welcome, headers: Mapping[str, str], send: Send) -> list[Step]:
    answer = await send("GET", f"{credentials.base_url}/v1/webhooks", headers, {})
    if not answer.get("webhooks"):
        raise _refuse("there is no webhook to test; see `tollgate webhook add`")
    return [Step(f"/v1/webhooks/{each['id']}/test") for each in answer["webhooks"]]


def _refuse(detail: str) -> Refusal:
    return Refusal(get_result(codes.INVALID_REQUEST), detail)


def _describe(answer: Mapping[str, Any]) -> str:
    result = answer["result"]
    faults = [f"{fault['name']} {fault['message']}" for fault in result.get("parameterErrors", ())]
    return "; ".join([f"{result['code']} {result['description']}", *faults])
