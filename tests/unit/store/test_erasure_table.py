"""Every column has a decision about personal data, so that nobody adds one without asking."""

from __future__ import annotations

from collections import Counter

from tollgate.catalog.parameters.names import PARAMETERS, first_word
from tollgate.catalog.persons import (
    KEPT_NAMES,
    KEPT_WORDS,
    PERSONAL_NAMES,
    PERSONAL_WORDS,
    names_person,
)
from tollgate.store.erasure_table import DECISIONS
from tollgate.store.schema import METADATA


def test_every_column_of_every_table_has_one_decision() -> None:
    decided = Counter((row.table, column) for row in DECISIONS for column in row.columns)
    existing = {(table.name, column.name) for table in METADATA.tables.values() for column in table.columns}
    assert existing - set(decided) == set(), "decide what becomes of these when a person is erased"
    assert set(decided) - existing == set()
    assert [place for place, count in decided.items() if count > 1] == []


def test_every_decision_says_why() -> None:
    assert [row for row in DECISIONS if not row.text] == []


def test_words_and_names_are_those_of_parameters() -> None:
    words = {first_word(name) for name in PARAMETERS} | {"redirect", "source"}
    assert words >= PERSONAL_WORDS | KEPT_WORDS
    assert set(PARAMETERS) >= PERSONAL_NAMES | KEPT_NAMES


def test_what_names_a_person_goes_and_what_names_the_order_stays() -> None:
    goes = ["customer.email", "customer.browser.userAgent", "billing.city", "card.holder", "bankAccount.iban"]
    goes += ["cart.items[0].recipient.email", "customParameters[note]", "airline.passengers[0].name", "unheard.of"]
    stays = ["merchantInvoiceId", "cart.items[0].name", "merchant.name", "threeDSecure.eci", "card.expiryYear"]
    assert [name for name in goes if not names_person(name)] == []
    assert [name for name in stays if names_person(name)] == []
