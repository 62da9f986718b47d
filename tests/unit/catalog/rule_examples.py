"""Examples of the cross-field rules: for each, fields that keep it and fields that break it.
The tests that ask them are elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tollgate.catalog import LIMITS

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
SELLER = {"marketPlace.sellers[3].id": "s", "marketPlace.sellers[3].amount": "1.00"}

EXAMPLES = [
    Example("needed_fields", "payment", DEBIT, without(DEBIT, "amount", "paymentType"), ["amount", "paymentType"]),
    Example("needed_fields", "checkout", {"createRegistration": "true"}, {}, ["amount", "currency", "paymentType"]),
    Example("needed_fields", "checkout", {**MONEY, "paymentType": "DB"}, {**MONEY}, ["paymentType"]),
    Example("needed_fields", "three_d_secure", ALONE, without(ALONE, *MONEY), ["amount", "currency"]),
    Example("follow_up_amount", "follow_up", {"paymentType": "RV"}, {"paymentType": "RF"}, ["amount", "currency"]),
    Example(
        "initial_type", "payment", {**DEBIT, "paymentType": "PA.CP"}, {**DEBIT, "paymentType": "RF"}, ["paymentType"]
    ),
    Example(
        "authentication_alone",
        "three_d_secure",
        {**ALONE, "paymentType": "3D"},
        {**ALONE, "paymentType": "DB"},
        ["paymentType"],
    ),
    Example(
        "authentication_alone",
        "three_d_secure",
        ALONE,
        {**ALONE, "referenceUuid": "8a" * 16},
        ["referenceUuid"],
    ),
    Example(
        "authentication_way_back", "three_d_secure", ALONE, without(ALONE, "shopperResultUrl"), ["shopperResultUrl"]
    ),
    Example(
        "authentication_way_back",
        "three_d_secure",
        {**without(ALONE, "shopperResultUrl"), "threeDSecure.threeRIInd": "RECURRING"},
        without(ALONE, "shopperResultUrl"),
        ["shopperResultUrl"],
    ),
    Example("initial_type", "checkout_update", {"amount": "1.00"}, {"paymentType": "CP"}, ["paymentType"]),
    Example(
        "follow_up_type", "follow_up", {**MONEY, "paymentType": "CP"}, {**MONEY, "paymentType": "DB"}, ["paymentType"]
    ),
    Example(
        "renewal_practice",
        "follow_up",
        {**MONEY, "paymentType": "PA", "standingInstruction.industryPractice": "REAUTHORIZATION"},
        {**MONEY, "paymentType": "PA"},
        ["standingInstruction.industryPractice"],
    ),
    Example(
        "renewal_practice",
        "payment",
        {**DEBIT, "paymentType": "PA"},
        {**MONEY, "paymentType": "PA", "referenceUuid": "8a" * 16},
        ["standingInstruction.industryPractice"],
    ),
    Example(
        "override_at_creation",
        "payment",
        DEBIT,
        {**DEBIT, "overridePaymentType[VISA]": "PA"},
        ["overridePaymentType[VISA]"],
    ),
    Example(
        "forex_pair",
        "payment",
        {**DEBIT, "forex.amount": "1.00", "forex.currency": "USD"},
        {**DEBIT, "forex.amount": "1.00"},
        ["forex.currency"],
    ),
    Example(
        "migration_type",
        "registration",
        {**CARD, "recurringMigration.paymentType": "DB"},
        {**CARD, "recurringMigration.amount": "1.00"},
        ["recurringMigration.paymentType"],
    ),
    Example("registration_type", "registration", {**CARD, "paymentType": "RG"}, {**CARD, "paymentType": "DB"}, TYPE),
    Example("registration_type", "registration_update", {"paymentType": "CF"}, {"paymentType": "RG"}, TYPE),
    Example("registration_type", "registration_update", {"paymentType": "RR"}, {"paymentType": "DR"}, TYPE),
    Example("registration_type", "registration_removal", {"paymentType": "DR"}, {"paymentType": "DS"}, TYPE),
    Example("registration_type", "registration_extension", {"paymentType": "TE"}, {"paymentType": "RR"}, TYPE),
    Example(
        "registration_account",
        "registration_update",
        {"card.holder": "Jane Jones", "card.expiryMonth": "12", "card.expiryYear": "2031"},
        {"card.number": "4200000000000000", "bankAccount.iban": "DE89370400440532013000"},
        ["card.number", "bankAccount.iban"],
    ),
    Example(
        "registration_reference",
        "registration_payment",
        {**MONEY, "paymentType": "DB"},
        {**MONEY, "paymentType": "DB", "referenceUuid": "8a" * 16},
        ["referenceUuid"],
    ),
    Example("schedule_fields", "schedule", SCHEDULE, without(SCHEDULE, "registrationId"), ["registrationId"]),
    Example(
        "report_dates",
        "query",
        {"date.from": "2026-01-01", "date.to": "2026-01-01"},
        {"date.from": "2026-01-01"},
        ["date.to"],
    ),
    Example(
        "report_order",
        "query",
        {"date.from": "2026-01-01", "date.to": "2026-01-02"},
        {"date.from": "2026-01-03", "date.to": "2026-01-02"},
        ["date.to"],
    ),
    Example(
        "report_reference",
        "query_list",
        {"merchantTransactionId": "order-12345"},
        {"date.from": "2026-01-01", "date.to": "2026-01-02"},
        ["merchantTransactionId"],
    ),
    Example(
        "report_subject",
        "search",
        {"shortId": "1234.1234.1234", "date.from": "2026-01-01", "date.to": "2026-01-02"},
        {"shortId": "1234.1234.1234"},
        ["merchantTransactionId"],
    ),
    Example(
        "report_cursor",
        "search",
        {"merchantTransactionId": "order-12345", "cursor": "abc"},
        {"merchantTransactionId": "order-12345", "cursor": "abc", "pageNo": "2"},
        ["pageNo"],
    ),
    Example(
        "settlement_dates",
        "settlement",
        {"date.from": "2026-01-01", "date.to": "2026-01-02"},
        {"date.from": "2026-01-01"},
        ["date.to"],
    ),
    Example(
        "settlement_days",
        "settlement",
        {"date.from": "2024-01-01", "date.to": "2024-12-31"},
        {"date.from": "2024-01-01", "date.to": "2025-01-01"},
        ["date.to"],
    ),
    Example(
        "settlement_days",
        "settlement",
        {"date.from": "2026-01-01", "date.to": "2026-01-02"},
        {"date.from": "2026-01-01", "date.to": "2026-01-02 10:00:00"},
        ["date.to"],
    ),
    Example("brand_known", "payment", DEBIT, {**DEBIT, "paymentBrand": "NO_SUCH"}, ["paymentBrand"]),
    Example("account_present", "payment", DEBIT, without(DEBIT, *CARD), ["paymentBrand"]),
    Example("account_present", "payment", DEBIT, {**MONEY, "paymentType": "DB"}, ["paymentBrand"]),
    Example("account_present", "registration", CARD, {"customer.ip": "192.0.2.1"}, ["paymentBrand"]),
    Example(
        "brand_told",
        "payment",
        without(DEBIT, "paymentBrand"),
        {**without(DEBIT, "paymentBrand"), "card.number": "9999999999999999"},
        ["paymentBrand"],
    ),
    Example("brand_told", "payment", SEPA, without(SEPA, "paymentBrand"), ["paymentBrand"]),
    Example(
        "card_complete",
        "payment",
        DEBIT,
        without(DEBIT, "card.number", "card.expiryYear"),
        ["card.number", "card.expiryYear"],
    ),
    Example(
        "card_complete",
        "checkout_payment",
        {"registrationId": "8a" * 16, "card.cvv": "123"},
        {"card.cvv": "123"},
        ["card.number", "card.expiryMonth", "card.expiryYear"],
    ),
    Example("stored_alone", "payment", {**BY_ID, "card.cvv": "123"}, {**DEBIT, **BY_ID}, ["card.number"]),
    Example("stored_alone", "registration_payment", without(DEBIT, *CARD), DEBIT, ["card.number"]),
    Example(
        "number_elsewhere",
        "payment",
        {**DEBIT, "card.holder": "Jane 4200", "sender.accountNumber": CARD["card.number"]},
        {**DEBIT, "card.holder": "4200 0000-0000 0000", "customParameters[note]": "4200000000000000."},
        ["card.holder", "customParameters[note]"],
    ),
    Example(
        "number_elsewhere",
        "registration",
        STORED_BANK,
        {**STORED_BANK, "bankAccount.holder": "de89 3704 0044 0532 0130 00"},
        ["bankAccount.holder"],
    ),
    Example(
        "wallet_mode",
        "payment",
        OPENED_WALLET,
        without(OPENED_WALLET, "threeDSecure.eci", "threeDSecure.verificationId"),
        ["threeDSecure.verificationId", "threeDSecure.eci"],
    ),
    Example(
        "wallet_mode", "payment", OPENED_WALLET, {**OPENED_WALLET, "walletA.paymentToken": "x"}, ["walletA.source"]
    ),
    Example(
        "wallet_mode",
        "payment",
        {**MONEY, "paymentType": "DB", "paymentBrand": "APPLEPAY", "walletA.paymentToken": "x"},
        {**MONEY, "paymentType": "DB", "paymentBrand": "APPLEPAY", "walletA.cardNetwork": "visa"},
        ["walletA.paymentToken"],
    ),
    Example("wallet_alone", "payment", TOKEN, {**TOKEN, **CARD}, ["card.number"]),
    Example("wallet_alone", "payment", TOKEN, {**TOKEN, "walletA.paymentToken": "x"}, ["walletB.paymentToken"]),
    Example("wallet_alone", "payment", TOKEN, {**TOKEN, "registrationId": "8a" * 16}, ["registrationId"]),
    Example("wallet_alone", "payment", SEPA, {**SEPA, "walletB.paymentToken": "x"}, ["paymentBrand"]),
    Example(
        "wallet_brand",
        "payment",
        {**MONEY, "paymentType": "DB", "paymentBrand": "GOOGLEPAY", "walletB.paymentToken": "x"},
        {**MONEY, "paymentType": "DB", "paymentBrand": "GOOGLEPAY"},
        ["walletB.paymentToken"],
    ),
    Example(
        "token_complete",
        "payment",
        {
            **without(DEBIT, *CARD),
            "tokenAccount.number": "4200000000000000",
            "tokenAccount.type": "NETWORK",
            "tokenAccount.expiryYear": "2030",
        },
        {**without(DEBIT, *CARD), "tokenAccount.expiryYear": "2030"},
        ["tokenAccount.number", "tokenAccount.type"],
    ),
    Example("bank_account", "payment", SEPA, without(SEPA, "bankAccount.holder"), ["bankAccount.holder"]),
    Example("bank_account", "payment", SEPA, without(SEPA, "bankAccount.iban"), ["bankAccount.iban"]),
    Example("bank_named", "payment", SEPA, without(UNLISTED_BANK, "bankAccount.bic"), ["bankAccount.bic"]),
    Example(
        "bank_named",
        "payment",
        without(SEPA, "bankAccount.bic"),
        without(UNLISTED_BANK, "bankAccount.bic"),
        ["bankAccount.bic"],
    ),
    Example(
        "brand_needs",
        "payment",
        {**MONEY, "paymentType": "DB", "paymentBrand": "MBWAY", "virtualAccount.accountId": "351#911222111"},
        {**MONEY, "paymentType": "DB", "paymentBrand": "MBWAY"},
        ["virtualAccount.accountId"],
    ),
    Example(
        "customer_names",
        "payment",
        {**DEBIT, **NAMES, "customer.email": "jane@example.org"},
        {**DEBIT, "customer.surname": "Jones", "customer.email": "jane@example.org"},
        ["customer.givenName"],
    ),
    Example(
        "customer_names",
        "payment",
        {
            **DEBIT,
            **BROWSER,
            "customer.ip": "192.0.2.1",
            "customer.browserFingerprint.value": "x",
            "customer.app.deviceId": "y",
        },
        {**DEBIT, "customer.merchantCustomerId": "7"},
        ["customer.givenName", "customer.surname"],
    ),
    Example(
        "customer_document",
        "payment",
        {**DEBIT, **NAMES, **TAX_ID},
        {**DEBIT, **NAMES, "customer.identificationDocId": "12345678"},
        ["customer.identificationDocType"],
    ),
    Example(
        "customer_document",
        "payment",
        {**DEBIT, **NAMES},
        {**DEBIT, **NAMES, "customer.identificationDocType": "PASSPORT"},
        ["customer.identificationDocId"],
    ),
    Example(
        "shipping_customer_names",
        "payment",
        {**DEBIT, **SHIPPED, "shipping.customer.email": "jane@example.org"},
        {**DEBIT, "shipping.customer.email": "jane@example.org"},
        ["shipping.customer.givenName", "shipping.customer.surname"],
    ),
    Example(
        "shipping_customer_document",
        "payment",
        {**DEBIT, **SHIPPED, **SHIPPED_TAX_ID},
        {**DEBIT, **SHIPPED, **without(SHIPPED_TAX_ID, "shipping.customer.identificationDocId")},
        ["shipping.customer.identificationDocId"],
    ),
    Example(
        "browser_complete",
        "three_d_secure",
        {**ALONE, **BROWSER},
        {**ALONE, **without(BROWSER, "customer.browser.timezone", "customer.browser.javaEnabled")},
        ["customer.browser.timezone", "customer.browser.javaEnabled"],
    ),
    *(
        Example(
            f"{address.replace('.', '_')}_house_number",
            "payment",
            {**DEBIT, f"{address}.houseNumber1": "1", f"{address}.houseNumber2": "a"},
            {**DEBIT, f"{address}.houseNumber2": "a"},
            [f"{address}.houseNumber1"],
        )
        for address in ("billing", "shipping", "merchant.billing", "merchant.shipping")
    ),
    *(
        Example(
            f"{address.replace('.', '_')}_street",
            "payment",
            {**DEBIT, f"{address}.street1": "17", f"{address}.street2": "Main Street"},
            {**DEBIT, f"{address}.street1": "17", f"{address}.street2": "4 2"},
            [f"{address}.street1"],
        )
        for address in ("billing", "merchant.billing")
    ),
    Example(
        "item_count",
        "payment",
        {**DEBIT, **{f"cart.items[{index}].name": "x" for index in range(LIMITS.items_max)}},
        {**DEBIT, **{f"cart.items[{index}].name": "x" for index in range(LIMITS.items_max + 1)}},
        ["cart.items"],
    ),
    Example(
        "seller_whole",
        "payment",
        {**DEBIT, **SELLER},
        {**DEBIT, "marketPlace.sellers[3].id": "s"},
        ["marketPlace.sellers[3].amount"],
    ),
]
