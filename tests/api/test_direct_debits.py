"""Direct debits over HTTP: what is taken, what follows it, and every way in which an account can be wrong."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from api.chains import APPROVED, FAULTY, PENDING, follow, result_of, reverse, stay_within_a_day
from api.direct_debits import IBAN, begin_debit, debit
from api.merchants import add_channel, wait_until
from gateway import Client, GatewayProcess
from tollgate.catalog.banking_days import add_banking_days, get_banking_day, is_banking_day
from tollgate.catalog.test_cards import TEST_ACCOUNTS, TestAccount

FORCE, FAULT = "customParameters[forceResultCode]", "customParameters[simulatorFault]"


def read_clock(client: Client) -> date:
    return date.fromisoformat(client.send("GET", "/sandbox/clock").json["now"][:10])


@pytest.mark.parametrize("payment_type", ["PA", "DB", "CD"])
def test_an_account_is_authorized_debited_and_credited(client: Client, payment_type: str) -> None:
    answer = debit(client, paymentType=payment_type)

    assert result_of(answer) == APPROVED
    assert (answer.json["paymentType"], answer.json["paymentBrand"]) == (payment_type, "DIRECTDEBIT_SEPA")
    assert IBAN not in answer.body.decode()


@pytest.mark.parametrize("account", TEST_ACCOUNTS, ids=lambda account: account.country)
def test_the_documented_accounts_are_debited(client: Client, account: TestAccount) -> None:
    answer = debit(
        client, bankAccount__iban=account.iban, bankAccount__bic=account.bic, bankAccount__holder=account.holder
    )

    assert result_of(answer) == APPROVED


def test_the_answer_has_the_day_and_the_mandate(client: Client) -> None:
    today = read_clock(client)
    details = debit(client).json["resultDetails"]

    assert details["MandateId"] == "M-ONE"
    assert details["DueDate"] in {
        add_banking_days(get_banking_day(day), 2).isoformat() for day in (today, today + timedelta(days=1))
    }


def test_a_due_date_is_kept_or_moved_to_a_banking_day(client: Client) -> None:
    today = read_clock(client)
    later = today + timedelta(days=30)
    saturday = later + timedelta(days=(5 - later.weekday()) % 7)

    moved = debit(client, transactionDueDate=saturday.isoformat()).json["resultDetails"]["DueDate"]

    assert date.fromisoformat(moved) == get_banking_day(saturday) > saturday
    assert is_banking_day(date.fromisoformat(moved))


def test_without_a_mandate_the_payment_is_its_own(client: Client) -> None:
    answer = debit(client, bankAccount__mandate__id=None, bankAccount__mandate__dateOfSignature=None)

    assert result_of(answer) == APPROVED
    assert answer.json["resultDetails"]["MandateId"] == answer.json["id"]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"bankAccount.iban": "DE89370400440532013001"}, "bankAccount.iban"),
        ({"bankAccount.iban": "DE8937040044053201300"}, "bankAccount.iban"),
        ({"bankAccount.iban": "XX89370400440532013000"}, "bankAccount.iban"),
        ({"bankAccount.iban": "DE89 3704 0044 0532 0130 00"}, "bankAccount.iban"),
        ({"bankAccount.bic": "COBAXXFF"}, "bankAccount.bic"),
        ({"bankAccount.iban": None}, "bankAccount.iban"),
        ({"bankAccount.iban": "AT611904300234573201", "bankAccount.bic": None}, "bankAccount.bic"),
        ({"bankAccount.holder": None}, "bankAccount.holder"),
        ({"bankAccount.mandate.id": "M 1"}, "bankAccount.mandate.id"),
        ({"bankAccount.mandate.dateOfSignature": "2026-02-30"}, "bankAccount.mandate.dateOfSignature"),
        ({"transactionDueDate": "tomorrow"}, "transactionDueDate"),
    ],
)
def test_a_malformed_account_is_refused_by_naming_it(client: Client, changes: dict[str, str | None], name: str) -> None:
    answer = debit(client, **changes)

    assert result_of(answer) == FAULTY
    assert list(answer.faults) == [name]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"bankAccount.bic": "GIBAATWWXXX"}, "100.200.103"),
        ({"bankAccount.bic": "DEUTDEFF500"}, "100.200.103"),
        ({"bankAccount.bic": None, "bankAccount.bankCode": "37040045"}, "100.200.103"),
        ({"bankAccount.iban": "BR1800360305000010009795493C1", "bankAccount.bic": "CAIXBRRJXXX"}, "600.200.500"),
        ({"bankAccount.mandate.id": "M" * 36}, "100.500.303"),
        ({"bankAccount.mandate.dateOfSignature": "2999-01-01"}, "100.500.302"),
    ],
)
def test_an_account_that_no_bank_would_debit_is_declined_and_recorded(
    client: Client, changes: dict[str, str | None], code: str
) -> None:
    answer = debit(client, **changes)

    assert result_of(answer) == (400, code)
    assert client.get(f"/v1/query/{answer.json['id']}").code == code


@pytest.mark.parametrize(("currency", "code"), [("USD", "600.200.500"), ("GBP", "600.200.500")])
def test_only_euros_are_debited(client: Client, currency: str, code: str) -> None:
    assert result_of(debit(client, currency=currency)) == (400, code)


def test_a_type_that_accounts_do_not_know_is_refused(client: Client) -> None:
    assert debit(client, paymentType="PA.CP").code == "600.200.310"


def test_a_channel_without_creditor_is_refused(gateway: GatewayProcess, client: Client) -> None:
    bare = add_channel(gateway, client, "No creditor")

    assert debit(bare).code == "600.200.201"


def test_a_lenient_channel_reads_the_bank_from_the_iban(lenient: Client) -> None:
    assert result_of(debit(lenient, bankAccount__bic=None)) == APPROVED


def test_an_account_may_be_sent_as_bank_code_and_number(client: Client) -> None:
    answer = debit(
        client,
        bankAccount__iban=None,
        bankAccount__bic=None,
        bankAccount__number="532013000",
        bankAccount__bankCode="37040044",
        bankAccount__country="DE",
    )

    assert result_of(answer) == APPROVED


@pytest.mark.both_databases
def test_an_authorization_is_captured_and_what_is_left_reversed(client: Client) -> None:
    held = begin_debit(client, "PA", "100.00")

    assert result_of(follow(client, held, "CP", "60.00")) == APPROVED
    assert result_of(follow(client, held, "CP", "60.00")) == (400, "700.400.100")
    assert result_of(reverse(client, held)) == APPROVED
    assert result_of(follow(client, held, "CP", "10.00")) == (400, "700.400.100")


@pytest.mark.both_databases
def test_a_debit_is_refunded_and_rebilled(client: Client) -> None:
    paid = begin_debit(client, amount="100.00")

    assert result_of(follow(client, paid, "RF", "40.00")) == APPROVED
    assert result_of(follow(client, paid, "RF", "70.00")) == (400, "700.400.200")
    assert result_of(follow(client, paid, "RB", "25.00")) == APPROVED


@pytest.mark.both_databases
def test_a_refund_is_not_paid_before_the_money_has_come(client: Client) -> None:
    later = get_banking_day(read_clock(client) + timedelta(days=30)).isoformat()
    paid = debit(client, transactionDueDate=later).json["id"]
    held = debit(client, paymentType="PA", transactionDueDate=later).json["id"]
    taken = follow(client, held, "CP", "92.00").json["id"]

    for debited in (paid, taken):
        assert follow(client, debited, "RF", "40.00").json["resultDetails"]["DueDate"] == later


@pytest.mark.both_databases
def test_a_debit_is_reversed_before_any_file_has_it(client: Client) -> None:
    stay_within_a_day(client)
    paid = begin_debit(client)

    assert result_of(reverse(client, paid)) == APPROVED
    assert result_of(follow(client, paid, "RF", "10.00")) == (400, "700.400.200")


def test_a_forced_code_is_answered_as_with_cards(client: Client) -> None:
    assert result_of(debit(client, **{FORCE: "800.100.204"})) == (400, "800.100.204")
    assert result_of(debit(client, **{FORCE: "000.400.000"})) == (200, "000.400.000")


@pytest.mark.both_databases
def test_what_is_left_open_is_decided_later(client: Client) -> None:
    answer = debit(client, **{FORCE: "000.200.000"})

    assert result_of(answer) == PENDING
    wait_until(lambda: client.get(f"/v1/payments/{answer.json['id']}").code == "000.100.110")


@pytest.mark.both_databases
@pytest.mark.parametrize("fault", ["dropped", "lost", "garbled"])
def test_a_silent_sepa_queue_leaves_no_debit_behind(client: Client, fault: str) -> None:
    answer = debit(client, **{FAULT: fault})

    assert result_of(answer) == (400, "900.100.300")
    wait_until(
        lambda: (
            [
                (payment["paymentType"], payment["result"]["code"])
                for payment in client.get(f"/v1/query/{answer.json['id']}", {"includeLinkedTransactions": "true"}).json[
                    "payments"
                ]
            ]
            == [("DB", "900.100.300"), ("RV", "000.100.110")]
        )
    )


@pytest.mark.both_databases
@pytest.mark.parametrize(("fault", "code"), [("dropped", "900.100.310"), ("lost", "000.100.110")])
def test_a_silent_credit_becomes_what_the_sepa_queue_says(client: Client, fault: str, code: str) -> None:
    answer = debit(client, paymentType="CD", **{FAULT: fault})

    assert result_of(answer) == PENDING
    wait_until(lambda: client.get(f"/v1/query/{answer.json['id']}").code == code)
