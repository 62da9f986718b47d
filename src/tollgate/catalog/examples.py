"""Examples of requests as rows: one or more for every endpoint, each answered by a test host with a success.

How an example is written in a language is not known here.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

import msgspec

from tollgate.catalog.results import RESULTS, is_review
from tollgate.catalog.return_reasons import RETURN_REASONS

Pairs = tuple[tuple[str, str], ...]


class Example(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    endpoint: str
    """The key of its endpoint, such as `POST /v1/payments/{id}`."""
    title: str
    pairs: Pairs = ()
    """The parameters without `entityId`, which is added where the route needs one.

    A value may contain holes such as `{registration}`. `{base}` is the address of the host.
    """
    ids: Mapping[str, str] = {}
    """The source of each hole of the path or of a value: an example and a member of its answer, `debit.id`.

    A number in the path of members is an index of a list. The hole `{day}` takes the day of a time only.
    """
    after: tuple[str, ...] = ()
    """Examples that are sent before, although no member of their answers is needed."""
    condition: str = ""
    """The example succeeds only after this was set up; one sentence."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Lists the names of the examples that must be sent before this one."""
        return tuple(dict.fromkeys((*(source.partition(".")[0] for source in self.ids.values()), *self.after)))


OPEN_LINK = "GET /paymentlink/{id}"
"""The page of a payment link, which a shopper opens in a browser: no endpoint, but a step of one example."""
BASE = "base"
DAY = "day"
_DAY_LENGTH = len("yyyy-MM-dd")

_MONEY = (("amount", "92.00"), ("currency", "EUR"))
_EXPIRY = (("card.holder", "Jane Jones"), ("card.expiryMonth", "05"), ("card.expiryYear", "2039"))
_CARD = (("paymentBrand", "VISA"), ("card.number", "4200000000000000"), *_EXPIRY, ("card.cvv", "123"))
_BACK = ("shopperResultUrl", "https://shop.example/result")
_BROWSER = (
    ("customer.browser.acceptHeader", "text/html"),
    ("customer.browser.language", "en"),
    ("customer.browser.screenHeight", "1080"),
    ("customer.browser.screenWidth", "1920"),
    ("customer.browser.timezone", "-60"),
    ("customer.browser.userAgent", "Mozilla/5.0"),
    ("customer.browser.javaEnabled", "false"),
)
_ADDRESS = (
    ("billing.street1", "Ring 7"),
    ("billing.city", "Graz"),
    ("billing.postcode", "8010"),
    ("billing.country", "AT"),
)
_IBAN = (
    ("paymentBrand", "DIRECTDEBIT_SEPA"),
    ("bankAccount.holder", "Jane Jones"),
    ("bankAccount.iban", "DE89370400440532013000"),
)
_SELLERS = (
    ("marketPlace.sellers[0].id", "pottery"),
    ("marketPlace.sellers[0].amount", "60.00"),
    ("marketPlace.sellers[1].id", "lamps"),
    ("marketPlace.sellers[1].amount", "32.00"),
)
_REVIEW = next(code for code in RESULTS if is_review(code))
_NOTICE = RETURN_REASONS["AM04"].notice
_MONTHLY = (("job.dayOfMonth", "L"), ("job.hour", "10"))
_WITH_TOKENS = (
    "The channel must have network tokens (`tollgate channel set ENTITY --network-tokens`), and a worker must have "
    "requested the token, which takes a moment."
)


def _id_of(name: str) -> str:
    """Returns the source of a hole that takes the id which an example was answered with."""
    return f"{name}.id"


def _type(payment_type: str) -> Pairs:
    return (*_MONEY, ("paymentType", payment_type))


def _secure(number: str) -> Pairs:
    """Returns the parameters of a card that is authenticated with 3-D Secure."""
    card = (("paymentBrand", "VISA"), ("card.number", number), *_EXPIRY, ("card.cvv", "123"))
    return (*card, _BACK, *_BROWSER, *_ADDRESS)


_ROWS = (
    # ---- payments ----
    Example(
        name="debit",
        endpoint="POST /v1/payments",
        title="Debit a card",
        pairs=(*_type("DB"), *_CARD, ("merchantTransactionId", "order-10042")),
    ),
    Example(
        name="preauthorization",
        endpoint="POST /v1/payments",
        title="Authorize a card, and capture later",
        pairs=(*_type("PA"), *_CARD),
    ),
    Example(
        name="secure_debit",
        endpoint="POST /v1/payments",
        title="Debit a card with 3-D Secure",
        pairs=(*_type("DB"), *_secure("4711100000000000")),
    ),
    Example(
        name="sepa_debit",
        endpoint="POST /v1/payments",
        title="Debit a bank account by SEPA",
        pairs=(*_type("DB"), *_IBAN),
    ),
    Example(
        name="redirect",
        endpoint="POST /v1/payments",
        title="Send the shopper to PayPal",
        pairs=(*_type("DB"), ("paymentBrand", "PAYPAL"), _BACK),
    ),
    Example(
        name="registering_debit",
        endpoint="POST /v1/payments",
        title="Debit a card and register it",
        pairs=(*_type("DB"), *_CARD, ("createRegistration", "true")),
    ),
    Example(
        name="forced_review",
        endpoint="POST /v1/payments",
        title="Choose the result code on a test host",
        pairs=(*_type("DB"), *_CARD, ("customParameters[forceResultCode]", _REVIEW)),
    ),
    Example(
        name="marketplace",
        endpoint="POST /v1/payments",
        title="Split a debit among the sellers of a marketplace",
        pairs=(*_type("DB"), *_CARD, *_SELLERS),
    ),
    Example(
        name="credit",
        endpoint="POST /v1/payments",
        title="Pay out to a card",
        pairs=(*_type("CD"), *_CARD),
    ),
    Example(
        name="capture",
        endpoint="POST /v1/payments/{id}",
        title="Capture an authorization",
        pairs=_type("CP"),
        ids={"id": _id_of("preauthorization")},
    ),
    Example(
        name="partial_refund",
        endpoint="POST /v1/payments/{id}",
        title="Refund a part",
        pairs=(("amount", "10.00"), ("currency", "EUR"), ("paymentType", "RF")),
        ids={"id": _id_of("debit")},
    ),
    Example(
        name="reversal",
        endpoint="POST /v1/payments/{id}",
        title="Reverse an authorization",
        pairs=(("paymentType", "RV"),),
        ids={"id": _id_of("preauthorization")},
    ),
    Example(
        name="rebill",
        endpoint="POST /v1/payments/{id}",
        title="Charge the same card again",
        pairs=_type("RB"),
        ids={"id": _id_of("debit")},
    ),
    Example(
        name="payment",
        endpoint="GET /v1/payments/{id}",
        title="Read a payment",
        ids={"id": _id_of("debit")},
    ),
    Example(
        name="review",
        endpoint="POST /v1/payments/{id}/review",
        title="Accept a payment that was under review",
        pairs=(("decision", "ACCEPT"),),
        ids={"id": _id_of("forced_review")},
    ),
    # ---- checkouts ----
    Example(
        name="checkout",
        endpoint="POST /v1/checkouts",
        title="Prepare a checkout for the payment form",
        pairs=_type("DB"),
    ),
    Example(
        name="registering_checkout",
        endpoint="POST /v1/checkouts",
        title="Prepare a checkout that registers an account",
        pairs=(("createRegistration", "true"),),
    ),
    Example(
        name="changed_checkout",
        endpoint="POST /v1/checkouts/{id}",
        title="Change the amount",
        pairs=(("amount", "79.00"), ("currency", "EUR")),
        ids={"id": _id_of("checkout")},
    ),
    Example(
        name="ended_checkout",
        endpoint="DELETE /v1/checkouts/{id}",
        title="End a checkout that nobody is paying",
        ids={"id": _id_of("checkout")},
    ),
    Example(
        name="checkout_payment",
        endpoint="GET /v1/checkouts/{id}/payment",
        title="Read the payment once the shopper is back",
        ids={"id": _id_of("checkout")},
        after=("paid_checkout",),
    ),
    Example(
        name="checkout_registration",
        endpoint="GET /v1/checkouts/{id}/registration",
        title="Read the registration once the shopper is back",
        ids={"id": _id_of("registering_checkout")},
        after=("registered_checkout",),
    ),
    Example(
        name="paid_checkout",
        endpoint="POST /v1/checkouts/{id}/payment",
        title="Pay with a card, as the payment form does",
        pairs=(*_CARD, _BACK),
        ids={"id": _id_of("checkout")},
    ),
    Example(
        name="registered_checkout",
        endpoint="POST /v1/checkouts/{id}/registration",
        title="Register a card, as the payment form does",
        pairs=(*_CARD, _BACK),
        ids={"id": _id_of("registering_checkout")},
    ),
    # ---- payment links ----
    Example(
        name="link",
        endpoint="POST /paybylink/v1",
        title="Create a link to one payment",
        pairs=(
            *(("amount", "38.50"), ("currency", "EUR"), ("paymentType", "DB"), ("merchant.name", "Gatehouse Goods")),
            *(("cart.items[0].name", "Enamel mug"), ("cart.items[0].quantity", "2"), ("cart.items[0].price", "12.00")),
            *(("cart.items[1].name", "Notebook"), ("cart.items[1].price", "14.50")),
            *(("validUntil", "14"), ("validUntilUnit", "DAY")),
        ),
    ),
    Example(
        name="link_status",
        endpoint="GET /paybylink/v1/{id}",
        title="Read the status of a link",
        ids={"id": _id_of("link")},
    ),
    Example(
        name="ended_link",
        endpoint="DELETE /paybylink/v1/{id}",
        title="End a link that nobody has paid",
        ids={"id": _id_of("link")},
    ),
    Example(name="opened_link", endpoint=OPEN_LINK, title="Open the page of a link", ids={"id": _id_of("link")}),
    Example(
        name="opened_link_status",
        endpoint="GET /paybylink/v1/{id}",
        title="Read the checkout of a link that was opened",
        ids={"id": _id_of("link")},
        after=("opened_link",),
    ),
    Example(
        name="paid_link",
        endpoint="POST /v1/checkouts/{id}/payment",
        title="Pay a payment link, as its page does",
        pairs=_CARD,
        ids={"id": "opened_link_status.paymentLinks.0.checkoutId"},
    ),
    Example(
        name="link_payment",
        endpoint="GET /paybylink/v1/{id}/checkouts/{checkout}/payment",
        title="Read the payment of a link",
        ids={"id": _id_of("link"), "checkout": "opened_link_status.paymentLinks.0.checkoutId"},
        after=("paid_link",),
    ),
    # ---- registrations ----
    Example(
        name="registration",
        endpoint="POST /v1/registrations",
        title="Register a card",
        pairs=_CARD,
    ),
    Example(
        name="account_registration",
        endpoint="POST /v1/registrations",
        title="Register a bank account",
        pairs=_IBAN,
    ),
    Example(
        name="read_registration",
        endpoint="GET /v1/registrations/{id}",
        title="Read a registration",
        ids={"id": _id_of("registration")},
    ),
    Example(
        name="secure_registration",
        endpoint="GET /v1/secureRegistrations/{id}",
        title="Read a registration at the older address",
        ids={"id": _id_of("registration")},
    ),
    Example(
        name="changed_registration",
        endpoint="POST /v1/registrations/{id}",
        title="Change the expiry of a card",
        pairs=(("card.holder", "Jane Jones"), ("card.expiryMonth", "08"), ("card.expiryYear", "2040")),
        ids={"id": _id_of("registration")},
    ),
    Example(
        name="deleted_registration",
        endpoint="DELETE /v1/registrations/{id}",
        title="Delete a registration",
        ids={"id": _id_of("registration")},
    ),
    Example(
        name="extended_registration",
        endpoint="POST /v1/registrations/{id}/extendlife",
        title="Keep a registration for longer",
        ids={"id": _id_of("registration")},
    ),
    Example(
        name="registered_payment",
        endpoint="POST /v1/registrations/{id}/payments",
        title="Charge a registered card while the shopper is present",
        pairs=_type("DB"),
        ids={"id": _id_of("registration")},
    ),
    Example(
        name="repeated_payment",
        endpoint="POST /v1/registrations/{id}/payments",
        title="Charge a registered card without the shopper",
        pairs=(
            *_type("DB"),
            ("standingInstruction.mode", "REPEATED"),
            ("standingInstruction.type", "UNSCHEDULED"),
            ("standingInstruction.source", "MIT"),
        ),
        ids={"id": _id_of("registration")},
    ),
    # ---- schedules ----
    Example(
        name="schedule",
        endpoint="POST /scheduling/v1/schedules",
        title="Charge on the last day of every month",
        pairs=(("registrationId", "{registration}"), *_type("SD"), *_MONTHLY),
        ids={"registration": _id_of("registration")},
    ),
    Example(
        name="read_schedule",
        endpoint="GET /scheduling/v1/schedules/{id}",
        title="Read a schedule and its latest runs",
        ids={"id": _id_of("schedule")},
    ),
    Example(
        name="replaced_schedule",
        endpoint="POST /scheduling/v1/schedules/{id}/reschedule",
        title="Charge another amount, every Monday",
        pairs=(
            ("registrationId", "{registration}"),
            *(("amount", "25.00"), ("currency", "EUR"), ("job.dayOfWeek", "MON"), ("job.hour", "10")),
        ),
        ids={"id": _id_of("schedule"), "registration": _id_of("registration")},
    ),
    Example(
        name="ended_schedule",
        endpoint="POST /scheduling/v1/schedules/{id}/deschedule",
        title="Cancel a schedule",
        ids={"id": _id_of("schedule")},
    ),
    Example(
        name="deleted_schedule",
        endpoint="DELETE /v1/schedules/{id}",
        title="Cancel a schedule at the older address",
        ids={"id": _id_of("schedule")},
    ),
    # ---- 3-D Secure ----
    Example(
        name="authentication",
        endpoint="POST /v1/threeDSecure",
        title="Authenticate a shopper without a challenge",
        pairs=(*_MONEY, *_secure("4200000000000026")),
    ),
    Example(
        name="challenge",
        endpoint="POST /v1/threeDSecure",
        title="Send the shopper to a challenge",
        pairs=(*_MONEY, *_secure("4711100000000000")),
    ),
    Example(
        name="read_authentication",
        endpoint="GET /v1/threeDSecure/{id}",
        title="Read an authentication",
        ids={"id": _id_of("authentication")},
    ),
    # ---- reports ----
    Example(
        name="report",
        endpoint="GET /v1/query/{id}",
        title="Report on a payment",
        ids={"id": _id_of("debit")},
    ),
    Example(
        name="chain_report",
        endpoint="GET /v1/query/{id}",
        title="Report on a payment and what followed it",
        pairs=(("includeLinkedTransactions", "true"),),
        ids={"id": _id_of("debit")},
        after=("partial_refund",),
    ),
    Example(
        name="record",
        endpoint="GET /v3/query/{id}",
        title="Report on a payment and its chain as a list",
        pairs=(("includeLinkedTransactions", "true"),),
        ids={"id": _id_of("debit")},
        after=("partial_refund",),
    ),
    Example(
        name="found_payments",
        endpoint="GET /v1/query",
        title="Find payments by your reference",
        pairs=(("merchantTransactionId", "order-10042"),),
        after=("debit",),
    ),
    Example(
        name="found_records",
        endpoint="GET /v3/query",
        title="List the payments of a day",
        pairs=(("date.from", "{day}"), ("date.to", "{day}"), ("limit", "10")),
        ids={DAY: "debit.timestamp"},
    ),
    Example(
        name="aggregations",
        endpoint="GET /reports/v1/reconciliations/aggregations",
        title="Sum up a day",
        pairs=(("date.from", "{day}"), ("date.to", "{day}")),
        ids={DAY: "debit.timestamp"},
    ),
    Example(
        name="settled_payments",
        endpoint="GET /reports/v1/reconciliations/aggregations/{id}",
        title="List the payments of a sum",
        ids={"id": "aggregations.aggregations.0.id"},
    ),
    Example(
        name="settled_page",
        endpoint="GET /reports/v2/reconciliations/aggregations/{id}",
        title="List the payments of a sum, newest first",
        pairs=(("sortValue", "SettlementTxDate"), ("sortOrder", "DESC")),
        ids={"id": "aggregations.aggregations.0.id"},
    ),
    Example(
        name="marketplace_sellers",
        endpoint="GET /reports/v1/sellers",
        title="Sum up the sellers of a day",
        pairs=(("date.from", "{day}"), ("date.to", "{day}")),
        ids={DAY: "marketplace.timestamp"},
    ),
    # ---- webhooks ----
    Example(
        name="webhook",
        endpoint="POST /v1/webhooks",
        title="Add an inbox of the test host",
        pairs=(("url", "{base}/sandbox/inbox/examples"), ("types", "PAYMENT,REGISTRATION")),
    ),
    Example(name="webhooks", endpoint="GET /v1/webhooks", title="List all webhooks", after=("webhook",)),
    Example(
        name="read_webhook",
        endpoint="GET /v1/webhooks/{id}",
        title="Read a webhook",
        ids={"id": _id_of("webhook")},
    ),
    Example(
        name="changed_webhook",
        endpoint="POST /v1/webhooks/{id}",
        title="Choose other events",
        pairs=(("url", "{base}/sandbox/inbox/examples"), ("types", "payment.succeeded,payment.refunded")),
        ids={"id": _id_of("webhook")},
    ),
    Example(
        name="removed_webhook",
        endpoint="DELETE /v1/webhooks/{id}",
        title="Remove a webhook",
        ids={"id": _id_of("webhook")},
    ),
    Example(
        name="tested_webhook",
        endpoint="POST /v1/webhooks/{id}/test",
        title="Send the test event and activate the webhook",
        ids={"id": _id_of("webhook")},
    ),
    Example(
        name="rotated_webhook",
        endpoint="POST /v1/webhooks/{id}/rotate",
        title="Make new secrets, and keep the present ones for two days",
        pairs=(("overlap", "48"),),
        ids={"id": _id_of("webhook")},
    ),
    # ---- the host ----
    Example(name="result_codes", endpoint="GET /v1/resultcodes", title="List all result codes"),
    Example(name="health", endpoint="GET /healthz", title="Check the process"),
    Example(name="readiness", endpoint="GET /readyz", title="Check the host"),
    # ---- test hosts only ----
    Example(name="clock", endpoint="GET /sandbox/clock", title="Read the clock"),
    Example(
        name="moved_clock",
        endpoint="POST /sandbox/clock",
        title="Move the clock by a minute",
        pairs=(("advance", "60"),),
    ),
    Example(
        name="chargeback",
        endpoint="POST /sandbox/payments/{id}",
        title="Charge a debit back",
        pairs=(*_type("CB"), ("resultCode", _NOTICE)),
        ids={"id": _id_of("debit")},
    ),
    Example(
        name="chargeback_reversal",
        endpoint="POST /sandbox/payments/{id}",
        title="Reverse a chargeback",
        pairs=_type("CR"),
        ids={"id": _id_of("chargeback")},
    ),
    Example(
        name="network_token",
        endpoint="GET /sandbox/registrations/{id}/networkToken",
        title="Read the network token of a card",
        ids={"id": _id_of("registration")},
    ),
    Example(
        name="network_token_event",
        endpoint="POST /sandbox/registrations/{id}/networkToken",
        title="Suspend a network token",
        pairs=(("event", "SUSPENDED"),),
        ids={"id": _id_of("registration")},
        condition=_WITH_TOKENS,
    ),
)

_BY_NAME: Mapping[str, Example] = MappingProxyType({row.name: row for row in _ROWS})


def _group(rows: Iterable[Example]) -> Mapping[str, tuple[Example, ...]]:
    found: dict[str, tuple[Example, ...]] = {}
    for row in rows:
        if row.endpoint != OPEN_LINK:
            found[row.endpoint] = (*found.get(row.endpoint, ()), row)
    return MappingProxyType(found)


EXAMPLES: Mapping[str, tuple[Example, ...]] = _group(_ROWS)
"""The examples of each endpoint by its key, the most useful one first."""


def get_example(name: str) -> Example:
    return _BY_NAME[name]


def list_steps(example: Example) -> list[Example]:
    """Lists the examples that must be sent before this one, in their order, and this one last."""
    return [_BY_NAME[name] for name in dict.fromkeys(_walk(example))]


def _walk(example: Example) -> Iterator[str]:
    for name in example.sources:
        yield from _walk(_BY_NAME[name])
    yield example.name


def find_member(answer: object, path: str) -> str | None:
    """Finds a member of an answer by its path: `aggregations.0.id`."""
    found = answer
    for word in path.split("."):
        if isinstance(found, list) and word.isdigit() and int(word) < len(found):
            found = found[int(word)]
        elif isinstance(found, dict):
            found = found.get(word)
        else:
            return None
    return found if isinstance(found, str) else None


def fill_holes(example: Example, answers: Mapping[str, object], base_url: str) -> Mapping[str, str]:
    """Returns the value of every hole of an example by the answers to the steps before, each under its name."""
    found = {BASE: base_url}
    for hole, source in example.ids.items():
        name, _, path = source.partition(".")
        value = find_member(answers[name], path) or ""
        found[hole] = value[:_DAY_LENGTH] if hole == DAY else value
    return found
