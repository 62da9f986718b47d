"""Fields of requests that keep every rule, and what an example of a rule is. The examples are elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field

CARD = {"card.number": "4200000000000000", "card.expiryMonth": "12", "card.expiryYear": "2030"}
MONEY = {"amount": "92.00", "currency": "EUR"}
DEBIT = {**MONEY, "paymentType": "DB", "paymentBrand": "VISA", **CARD}
SEPA = {
    **MONEY,
    "paymentType": "DB",
    "paymentBrand": "DIRECTDEBIT_SEPA",
    "bankAccount.holder": "Jane Jones",
    "bankAccount.iban": "DE89370400440532013000",
    "bankAccount.bic": "COBADEFFXXX",
}
STORED_BANK = {name: text for name, text in SEPA.items() if name not in (*MONEY, "paymentType")}
NUMBERED_BANK = {
    **{name: text for name, text in SEPA.items() if name not in ("bankAccount.iban", "bankAccount.bic")},
    "bankAccount.number": "532013000",
    "bankAccount.country": "DE",
}
SLIP = {**MONEY, "paymentType": "PA", "paymentBrand": "BOLETO"}
PURPOSE_COUNTRY = "IND"
"""A recipient's country that asks for a purpose code while the examples are tried."""
UNLISTED_BANK = {**SEPA, "bankAccount.iban": "AT611904300234573201"}
ALONE = {**MONEY, "paymentBrand": "VISA", **CARD, "shopperResultUrl": "https://shop.example/back"}
NAMES = {"customer.givenName": "Jane", "customer.surname": "Jones"}
BROWSER = {
    "customer.browser.acceptHeader": "text/html",
    "customer.browser.language": "de",
    "customer.browser.screenHeight": "900",
    "customer.browser.screenWidth": "1600",
    "customer.browser.timezone": "-60",
    "customer.browser.userAgent": "Mozilla",
    "customer.browser.javaEnabled": "false",
}
TOKEN = {**MONEY, "paymentType": "DB", "paymentBrand": "VISA", "walletB.paymentToken": "x"}
BY_ID = {**MONEY, "paymentType": "DB", "registrationId": "8a" * 16}
SCHEDULE = {**MONEY, "registrationId": "8a" * 16, "job.dayOfMonth": "1"}
OPENED_WALLET = {**DEBIT, "walletA.source": "app", "threeDSecure.verificationId": "x", "threeDSecure.eci": "05"}


def without(fields: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in fields.items() if name not in names}


@dataclass
class Example:
    rule: str
    operation: str
    kept: dict[str, str]
    broken: dict[str, str]
    faults: list[str] = field(default_factory=list)


TAX_ID = {"customer.identificationDocType": "PASSPORT", "customer.identificationDocId": "12345678"}
SHIPPED = {"shipping.customer.givenName": "Jane", "shipping.customer.surname": "Jones"}
SHIPPED_TAX_ID = {
    "shipping.customer.identificationDocType": "PASSPORT",
    "shipping.customer.identificationDocId": "12345678",
}
TYPE = ["paymentType"]
SELLER = {"marketPlace.sellers[3].id": "s", "marketPlace.sellers[3].amount": "92.00"}
SELLERS = {
    "marketPlace.sellers[0].id": "s",
    "marketPlace.sellers[0].amount": "61.34",
    "marketPlace.sellers[1].id": "t",
    "marketPlace.sellers[1].amount": "30.66",
}
