"""Erases single chains, registrations, payment links and checkouts of a person, each in one commit with its signature.

Whatever is still open is left as it is, with the reason.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from tollgate.catalog import limits, persons
from tollgate.contract.answers import encode_answer, render_answered
from tollgate.flows import erase, index_payments
from tollgate.operations import archives as archived_chains
from tollgate.operations import idempotency as kept_answers
from tollgate.operations.app import App
from tollgate.operations.signing import has_signature, sign
from tollgate.payments import archiving, following, ledger, registration, schedule
from tollgate.payments.checkout import CheckoutState, LinkState
from tollgate.payments.payment import OPEN_STATES, Payment, State
from tollgate.store import (
    archives,
    checkouts,
    erasure,
    idempotency,
    links,
    payments,
    registrations,
    retention,
    schedules,
    search_index,
)
from tollgate.values import DAY, MerchantId

_UNDECIDED = frozenset({State.STARTED, *OPEN_STATES})
_DISPUTES = frozenset({following.Action.CHARGEBACK, following.Action.RETURN, following.Action.REPEATED_CHARGEBACK})
TAMPERED = "its signature is wrong: run `tollgate verify`"
ARCHIVING = "it is being archived: erase again afterwards"
CHANGED = "it was changed at this moment: erase again"

Erase = Callable[[App, MerchantId, str], Awaitable[str | None]]
"""Erases what an id names; returns the reason if it has to be postponed, or None once nothing is left of the person."""


def drop_personal(fields: Mapping[str, str]) -> dict[str, str]:
    """Returns the parameters, or the details of an answer, that name nobody."""
    return {name: text for name, text in fields.items() if not persons.names_person(name)}


def drop_personal_details(details: Mapping[str, str]) -> dict[str, str]:
    """Does the same for details; those whose name has no dot are codes and references of the acquirer."""
    return {name: text for name, text in details.items() if "." not in name or not persons.names_person(name)}


def erase_payment(payment: Payment) -> Payment:
    """Returns the payment without what names a person; its signature is made again by the caller."""
    card = payment.card
    return msgspec.structs.replace(
        payment,
        card=None if card is None else msgspec.structs.replace(card, holder=None),
        echo=drop_personal(payment.echo),
        details=drop_personal_details(payment.details),
        return_url=None,
    )


def find_obstacle(app: App, chain: Sequence[Payment]) -> str | None:
    """Returns why a chain cannot be erased yet."""
    now = app.clock.now()
    for payment in chain:
        if payment.state in _UNDECIDED:
            return f"payment {payment.id} is not completed yet"
        if not has_signature(payment, app.keyring):
            return TAMPERED
        is_hold = payment.action is None and ledger.LedgerAccount.HELD in ledger.FIRST_ENTRIES.get(
            payment.payment_type, ()
        )
        is_closed = payment.balance.closed & ledger.expand_closures(ledger.Closure.CAPTURES)
        lasts = payment.created_at + app.authorization_lifetime > now
        if is_hold and payment.state is State.APPROVED and payment.left > 0 and lasts and not is_closed:
            return f"authorization {payment.id} is neither captured nor reversed, and has not expired"
        if payment.action in _DISPUTES and (payment.completed_at or now) + limits.LIMITS.dispute_period > now:
            return f"payment {payment.id} is a dispute of the last {limits.LIMITS.dispute_period // DAY} days"
    return None


async def erase_chain(app: App, merchant_id: MerchantId, first_id: str) -> str | None:
    """Erases a payment and all that followed it; signatures and stored answers are made again in the same commit."""
    chain = await payments.list_chain(app.database, merchant_id, first_id, limits.LIMITS.chain_rows_max)
    if not chain and await archives.find_archived(app.database, merchant_id, first_id) is not None:
        return CHANGED
    obstacle = ARCHIVING if chain and archiving.is_being_archived(chain[0]) else find_obstacle(app, chain)
    if obstacle is None and await retention.has_open_chain(app.database, merchant_id, first_id):
        obstacle = "a bank is still to be told of it"
    if obstacle is not None or not chain:
        return obstacle
    writes = search_index.count_removal_writes(merchant_id)
    for payment in chain:
        erased = sign(app, erase_payment(payment))
        writes += erasure.erase_payment_writes(payment, erased)
        writes += search_index.delete_terms_writes(
            sorted({*index_payments.make_terms(payment)} - {*index_payments.make_terms(erased)})
        )
        record = await idempotency.find_idempotency_record_of(app.database, payment)
        if record is None or record.status is None:
            continue
        if kept_answers.open_stored_answer(record, app.keyring) is None:
            return TAMPERED
        answer = encode_answer(record.status, render_answered(erased, app.envelope))
        kept = kept_answers.keep_answer(app, record, merchant_id, payment.id, answer)
        writes += [] if kept is None else idempotency.replace_answer_writes(record, kept)
    return None if await app.database.write(writes, label="person erased") else CHANGED


async def erase_account(app: App, merchant_id: MerchantId, registration_id: str) -> str | None:
    """Wipes a registration as its deletion does; its schedules end, and lose what they would have sent."""
    found = await registrations.find_registration(app.database, merchant_id, registration_id)
    if found is None:
        return None
    if found.state is registration.RegistrationState.PENDING and found.made_by is not None:
        return f"payment {found.made_by}, which makes it, is not completed yet"
    if found.state not in registration.WIPED and not await erase.erase_registration(app, found):
        return CHANGED
    ended = await schedules.list_schedules(app.database, merchant_id, found.id, limits.LIMITS.chain_rows_max)
    writes = [write for each in ended for write in erasure.erase_schedule_writes(each, drop_personal(each.echo))]
    return None if not writes or await app.database.write(writes, label="person erased") else CHANGED


async def erase_link(app: App, merchant_id: MerchantId, link_id: str) -> str | None:
    """Removes what was prepared for a payment link; one that nobody has paid yet is ended."""
    link = await links.find_link(app.database, merchant_id, link_id)
    if link is None:
        return None
    if not has_signature(link, app.keyring):
        return TAMPERED
    paid_by = (
        None if link.checkout_id is None else await checkouts.find_checkout(app.database, merchant_id, link.checkout_id)
    )
    if link.state is LinkState.OPEN and not (paid_by and paid_by.is_paid):
        ended = sign(app, msgspec.structs.replace(link, state=LinkState.ENDED))
        if not await links.end_link(app.database, link, ended):
            return "somebody is paying it at this moment"
    await erasure.erase_link(app.database, merchant_id, link_id)
    return None


async def erase_prepared(app: App, merchant_id: MerchantId, checkout_id: str) -> str | None:
    checkout = await checkouts.find_checkout(app.database, merchant_id, checkout_id)
    if checkout is None:
        return None
    if checkout.state in (CheckoutState.OPEN, CheckoutState.LOCKED) and checkout.expires_at > app.clock.now():
        return "a shopper may be paying it; it ends within 30 minutes"
    await erasure.erase_checkout(app.database, merchant_id, checkout_id)
    return None


async def erase_traces(app: App, merchant_id: MerchantId, name: str, row_ids: Sequence[str]) -> None:
    """Empties what other tables kept of rows that are erased; they are searched once for many rows, not by an index."""
    rows: list[Payment | registration.Registration | schedule.Schedule] = []
    for row_id in row_ids:
        if name == "payments":
            chain = await payments.list_chain(app.database, merchant_id, row_id, limits.LIMITS.chain_rows_max)
            rows += chain or await archived_chains.list_chain(app, merchant_id, row_id)
        elif name == "registrations":
            found = await registrations.find_registration(app.database, merchant_id, row_id)
            rows += [] if found is None else [found]
            rows += await schedules.list_schedules(app.database, merchant_id, row_id, limits.LIMITS.chain_rows_max)
    subject_ids = [*dict.fromkeys([*row_ids, *[row.id for row in rows]])]
    writes = erasure.erase_traces_writes(merchant_id, subject_ids, [row.ndc for row in rows])
    if writes:
        app.sightings.erase(set(subject_ids))
        await app.database.write(writes, label="person erased")


ERASERS: Mapping[str, Erase] = {
    "payment_links": erase_link,
    "checkouts": erase_prepared,
    "registrations": erase_account,
    "payments": erase_chain,
}
"""The kinds of rows, erased in this order: a payment is erased after nothing new can begin from its registration."""
