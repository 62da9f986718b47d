"""Bank accounts for trying direct debits on a test host. They are well formed; no bank is simulated here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TestAccount:
    __test__ = False  # pytest would take the name for a test class

    country: str
    holder: str
    iban: str
    bic: str


TEST_ACCOUNTS = (
    TestAccount("AT", "Jane Jones", "AT483200000012345864", "RLNWATWWXXX"),
    TestAccount("DE", "Jane Jones", "DE89370400440532013000", "COBADEFFXXX"),
    TestAccount("ES", "Jane Jones", "ES9121000418450200051332", "CAIXESBBXXX"),
)
