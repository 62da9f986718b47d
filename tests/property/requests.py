"""Every operation that reads parameters, as a table: a request that is accepted, and how its fields are understood.
No test lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.rule import Situation
from tollgate.contract import checkouts, registered, registrations
from tollgate.contract.accounts import find_wallet_call
from tollgate.contract.fields import Fields, Pairs, merge_echo, read_fields
from tollgate.contract.follow_ups import find_reference, read_follow_up
from tollgate.contract.orders import choose_brand, find_return_url, read_order
from tollgate.contract.reports import read_aggregation, read_days, read_question
from tollgate.contract.schedules import check_change, read_reschedule, read_schedule
from tollgate.payments.accounts import BankAccount, CardAccount, OpenedCard, make_card_summary
from tollgate.payments.merchants import Channel, Creditor
from tollgate.payments.registration import RegisteredAccount
from tollgate.values import ChannelId, MerchantId, Secret
from unit.catalog.rule_fields import (
    ALONE,
    BROWSER,
    BY_ID,
    CARD,
    DEBIT,
    MONEY,
    NAMES,
    OPENED_WALLET,
    SCHEDULE,
    SEPA,
    TOKEN,
    without,
)
from unit.contract.registration_samples import REGISTRATION_ID, make_registered
from unit.contract.test_schedules import ACTIVE, NOW

TODAY = date(2026, 11, 15)
_CARD = CardAccount(number=Secret("4200000000000000"), expiry_month="12", expiry_year="2030")
_OPENED = OpenedCard(account=_CARD, card_summary=make_card_summary("4200000000000000", _CARD), network="VISA", eci="05")
_STORED_CARD = make_registered(_CARD)
_STORED_BANK = make_registered(
    BankAccount(holder="Jane Jones", iban=Secret("DE89370400440532013000"), bic="COBADEFFXXX"),
    brand="DIRECTDEBIT_SEPA",
    method="DD",
)
_PREPARED = {**MONEY, "paymentType": "DB", "registrations[0].id": REGISTRATION_ID, "overridePaymentType[VISA]": "PA"}
_BACK = {"shopperResultUrl": "https://shop.example/back"}
_DAYS = {"date.from": "2026-11-01", "date.to": "2026-11-02"}
_BILLING = {
    "billing.street1": "Main Street 1",
    "billing.city": "Graz",
    "billing.postcode": "8010",
    "billing.country": "AT",
}
_CUSTOMER = {**NAMES, **BROWSER, **_BILLING, "cart.items[0].name": "Lamp"}


@dataclass(frozen=True)
class Asking:
    """One request to one kind of channel."""

    pairs: Pairs
    is_lenient: bool

    @property
    def channel(self) -> Channel:
        return Channel(
            id=ChannelId("8a01"),
            merchant_id=MerchantId("8a02"),
            name="Shop",
            created_at=1,
            is_lenient=self.is_lenient,
            creditor=Creditor(
                name="Shop", identifier="DE98ZZZ09999999999", iban="DE89370400440532013000", bic="COBADEFFXXX"
            ),
        )

    def read(self, operation: str, payment_type: str | None = None) -> Fields:
        return read_fields(self.pairs, self.situate(operation, payment_type))

    def situate(self, operation: str, payment_type: str | None = None) -> Situation:
        return Situation(operation, payment_type, self.is_lenient)


@dataclass(frozen=True)
class Sample:
    """A request that is accepted, and the way of its operation from pairs to what a flow is given."""

    name: str
    sent: Mapping[str, str]
    understand: Callable[[Asking], object]


def _order(asking: Asking, fields: Fields, on_file: RegisteredAccount | None = None) -> object:
    has_token = on_file is None and find_wallet_call(fields) is not None
    return read_order(
        fields,
        asking.channel,
        today=TODAY,
        short_id="1234.5678.9012",
        is_live=False,
        opened=_OPENED if has_token else None,
        on_file=on_file,
    )


def _begin(operation: str, on_file: RegisteredAccount = _STORED_CARD) -> Callable[[Asking], object]:
    def understand(asking: Asking) -> object:
        fields = asking.read(operation)
        if find_reference(fields) is not None:
            return _follow(asking, fields)
        is_registered = operation == "pay_registration" or registered.find_registration_id(fields) is not None
        return _order(asking, fields, on_file if is_registered else None)

    return understand


def _follow(asking: Asking, fields: Fields) -> object:
    return read_follow_up(fields, asking.channel, short_id="1234.5678.9012", is_live=False)


def _follow_up(asking: Asking) -> object:
    return _follow(asking, asking.read("follow_up"))


def _register(asking: Asking) -> object:
    fields = asking.read("create_registration")
    registrations.check_alone(fields)
    opened = _OPENED if find_wallet_call(fields) else None
    return registrations.read_registration_order(fields, asking.channel, today=TODAY, is_live=False, opened=opened)


def _change(operation: str, on_file: RegisteredAccount = _STORED_CARD) -> Callable[[Asking], object]:
    def understand(asking: Asking) -> object:
        fields = asking.read(operation)
        mode = registrations.find_mode(fields, on_file.registration, is_live=False)
        if operation != "update_registration" or registrations.is_confirmation(fields):
            return mode
        return registrations.apply_update(fields, on_file.registration, on_file.account, asking.channel, today=TODAY)

    return understand


def _prepare(asking: Asking) -> object:
    return _check_prepared(asking)


def _check_prepared(asking: Asking) -> object:
    fields = asking.read("create_checkout")
    checkouts.check_prepared(fields, asking.channel, today=TODAY, is_live=False)
    kept = checkouts.keep_prepared(fields)
    return (
        checkouts.choose_checkout_kind(kept),
        find_return_url(kept),
        checkouts.list_offered(kept),
        checkouts.asks_for_integrity(fields.values),
    )


def _change_checkout(asking: Asking) -> object:
    merged = merge_echo(_PREPARED, checkouts.keep_prepared(asking.read("update_checkout")))
    return _check_prepared(Asking(list(merged.items()), asking.is_lenient))


def _submit(asking: Asking) -> object:
    sent = checkouts.Submission(pairs=asking.pairs, address="192.0.2.1", accept="text/html", user_agent="Mozilla")
    fields = read_fields(checkouts.join_form(_PREPARED, sent), asking.situate("submit_checkout"))
    checkouts.get_return_url(fields)
    if checkouts.check_offer(fields, _PREPARED) is not None:
        return _order(asking, checkouts.override_payment_type(fields, _PREPARED, "VISA"), _STORED_CARD)
    opened = _OPENED if find_wallet_call(fields) else None
    brand = choose_brand(fields.values, asking.is_lenient, opened).code
    return _order(asking, checkouts.override_payment_type(fields, _PREPARED, brand))


def _schedule(asking: Asking) -> object:
    return read_schedule(asking.read("schedule", "SD"), NOW)


def _reschedule(asking: Asking) -> object:
    return read_reschedule(asking.read("schedule", "RS"), ACTIVE, NOW)


def _deschedule(asking: Asking) -> object:
    fields = asking.read("schedule", "DS")
    check_change(fields, "DS")
    return fields


def _ask(operation: str) -> Callable[[Asking], object]:
    return lambda asking: read_question(asking.pairs, asking.situate(operation), LIMITS.query_page)


def _sum_up(asking: Asking) -> object:
    return read_days(asking.pairs, asking.situate("reconciliations"))


def _list_settled(asking: Asking) -> object:
    return read_aggregation("20261101-EUR", asking.pairs, asking.situate("query"), LIMITS.settlement_page)


SAMPLES = (
    Sample("card payment", {**DEBIT, **_CUSTOMER, "createRegistration": "true"}, _begin("create_payment")),
    Sample("direct debit", SEPA, _begin("create_payment")),
    Sample("wallet payment", {**TOKEN, **_BACK}, _begin("create_payment")),
    Sample("opened wallet payment", OPENED_WALLET, _begin("create_payment")),
    Sample("payment by registration", BY_ID, _begin("create_payment")),
    Sample(
        "payment by reference", {**MONEY, "paymentType": "CP", "referenceUuid": "8a" * 16}, _begin("create_payment")
    ),
    Sample("registration's own payment", without(BY_ID, "registrationId"), _begin("pay_registration")),
    Sample("stored direct debit", without(BY_ID, "registrationId"), _begin("pay_registration", _STORED_BANK)),
    Sample("authentication", ALONE, _begin("authenticate")),
    Sample("follow-up", {**MONEY, "paymentType": "CP"}, _follow_up),
    Sample(
        "renewal",
        {**MONEY, "paymentType": "PA", "standingInstruction.industryPractice": "RESUBMISSION"},
        _follow_up,
    ),
    Sample("registration", {"paymentBrand": "VISA", **CARD, "recurringMigration.paymentType": "DB"}, _register),
    Sample("registration of a bank account", without(SEPA, *MONEY, "paymentType"), _register),
    Sample("registration update", {"card.holder": "Jane Jones"}, _change("update_registration")),
    Sample("stored bank's update", {"bankAccount.holder": "Jane"}, _change("update_registration", _STORED_BANK)),
    Sample("registration removal", {"paymentType": "DR"}, _change("delete_registration")),
    Sample("registration extension", {"paymentType": "TE"}, _change("extend_registration")),
    Sample("checkout", {**_PREPARED, **_CUSTOMER}, _prepare),
    Sample("checkout that registers", {"createRegistration": "true"}, _prepare),
    Sample("checkout update", {**MONEY, **_CUSTOMER}, _change_checkout),
    Sample("form", {"paymentBrand": "VISA", **CARD, **_BACK, **_CUSTOMER}, _submit),
    Sample("form with a registration", {"registrationId": REGISTRATION_ID, **_BACK}, _submit),
    Sample("schedule", SCHEDULE, _schedule),
    Sample("new plan of a schedule", {"job.expression": "0 0 12 1 * ?"}, _reschedule),
    Sample("end of a schedule", {}, _deschedule),
    Sample("report on one", {"includeLinkedTransactions": "true"}, _ask("query")),
    Sample("list", {"merchantTransactionId": "order-0001"}, _ask("query_list")),
    Sample("search", {**_DAYS, "cursor": "abc", "limit": "5"}, _ask("search")),
    Sample("settlement", _DAYS, _sum_up),
    Sample("settled transactions", {"sortOrder": "DESC"}, _list_settled),
)
