"""The contents of the messages of every connector: amounts, keys, security codes and secrets."""

from __future__ import annotations

import dataclasses
import os
import re

import pytest
from msgspec.structs import replace

from connectors.cases import AMOUNT, CASES, Step
from connectors.driving import APPROVED_CODE, NOW, Chain, fall_silent
from connectors.faults import Fault
from connectors.peers import PEERS, TAKEN
from connectors.samples import CARD_NUMBER, CVV, IBAN
from tollgate.connectors.exchange import WireRequest
from tollgate.operations.caches import MerchantCache
from tollgate.operations.journal import Journal
from tollgate.payments.accounts import BankAccount, CardAccount
from tollgate.payments.payment import Outcome, RecoveryTask, State
from tollgate.store.database import Database

pytestmark = pytest.mark.anyio

EXPONENTS = {"JPY": 0, "EUR": 2, "KWD": 3}
ODD_TEXTS = ("x" * 4096, "Zürich ß 東京", "'\"&<>[]{}=%\\", "\x00\x1c\x1f\r\n", "\ud7ff\U0001f4b3", "")

FORWARDED = (
    "merchantTransactionId", "customer.givenName", "customer.surname", "customer.email", "billing.street1",
    "billing.city", "shipping.street1", "cart.items[0].name", "merchant.name", "merchant.city", "transactionCategory",
)  # fmt: skip


IN_CURRENCIES = [
    pytest.param(*taken.values, currency, id=f"{taken.id}-{currency}")
    for taken in TAKEN
    for currency in PEERS[str(taken.values[0])].currencies
]


@pytest.mark.parametrize(("name", "case", "currency"), IN_CURRENCIES)
async def test_the_acquirer_has_the_exact_amount_in_every_currency(
    store: Database, name: str, case: str, currency: str
) -> None:
    row = PEERS[name]
    chain = Chain(row, row.make(store), currency)
    for step in CASES[case].steps:
        assert (await chain.pay(step)).state is State.APPROVED

    hundred = AMOUNT * 10 ** EXPONENTS[currency] // 100
    assert await chain.peer.read_position() == row.expect(CASES[case].after, hundred)


@pytest.mark.parametrize(("name", "case"), TAKEN)
async def test_a_request_that_is_sent_again_has_the_same_key(store: Database, name: str, case: str) -> None:
    chain, attempt, task = await fall_silent(store, PEERS[name], CASES[case], Fault.LOST)
    first = [request for request, _ in chain.notes if attempt.id in request.key]
    again = []
    for _ in range(2):
        chain.notes.clear()
        chain.wire.begin(Fault.UNANSWERED, None)
        await chain.try_recovery(attempt, task)
        again.append([request for request, _ in chain.notes])
    chain.notes.clear()
    await chain.recover(attempt, task)
    again.append([request for request, _ in chain.notes])

    keys: dict[tuple[str, str], str] = {}
    for request in (*first, *again[0], *again[1], *again[2]):
        assert attempt.id in request.key
        assert keys.setdefault((request.method, request.path), request.key) == request.key
    if task is RecoveryTask.REPEAT:
        assert first[-1].key in {request.key for request in again[2]} | {request.key for request in again[0]}


@pytest.mark.parametrize(("name", "case"), TAKEN)
async def test_a_security_code_is_in_no_message_but_the_one_that_begins_a_payment(
    store: Database, name: str, case: str
) -> None:
    row = PEERS[name]
    chain, attempt, task = await fall_silent(store, row, CASES[case], Fault.LOST)
    await chain.recover(attempt, task)
    await chain.run(chain.connector.reverse(chain.recall(attempt)))
    await chain.run(chain.connector.inquire(chain.recall(attempt), APPROVED_CODE))

    with_code = [number for number, (request, _) in enumerate(chain.notes) if has_cvv(request)]

    assert with_code == ([0] if isinstance(row.order.account, CardAccount) else [])


def has_cvv(request: WireRequest) -> bool:
    """Looks for the code by itself, or after its length in a message of ISO 8583: ids may contain the same digits."""
    text = f"{request.path} {request.body!r} {dict(request.headers)!r}"
    return re.search(rf"(?<![0-9A-Fa-f]){CVV}(?![0-9A-Fa-f])|004{CVV}", text) is not None


@pytest.mark.parametrize(("name", "case"), TAKEN)
async def test_no_secret_is_in_verdicts_or_noted_messages(store: Database, name: str, case: str) -> None:
    row = PEERS[name]
    chain, attempt, task = await fall_silent(store, row, CASES[case], Fault.UNANSWERED)
    await chain.recover(attempt, task)
    journal = Journal()
    journal.is_open = True
    for request, reply in chain.notes:
        journal.note_message(NOW, attempt, "conformance", request, reply)
    journal.mask(MerchantCache(), len(chain.notes))
    noted = [each.text for each in journal.take(len(chain.notes), os.urandom)]

    assert len(noted) == len(chain.notes)
    secrets = [secret.reveal() for secret in row.account.secrets.values()] if row.account else []
    for secret in (CVV, CARD_NUMBER, IBAN, *secrets):
        assert secret not in " ".join((*noted, repr([*chain.members.values()]), repr(chain.connector)))


@pytest.mark.parametrize("text", ODD_TEXTS)
@pytest.mark.parametrize("name", PEERS)
async def test_an_odd_text_is_sent_or_declined_and_breaks_nothing(store: Database, name: str, text: str) -> None:
    row = PEERS[name]
    order = row.order
    account = order.account
    if isinstance(account, CardAccount | BankAccount):
        account = replace(account, holder=text)
    odd = replace(order, statement=text, descriptor=text, merchant_name=text, account=account)
    row = dataclasses.replace(row, order=replace(odd, echo=dict.fromkeys(FORWARDED, text)))
    chain = Chain(row, row.make(store))

    payment = await chain.pay(Step("DB"))
    if payment.state is State.APPROVED:
        payment = await chain.pay(Step("RF", 40))

    assert payment.outcome in (Outcome.APPROVED, Outcome.DECLINED)
