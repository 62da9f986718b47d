"""Registrations without a payment as the risk rules count them: read in the order of their time, with their sightings.

Those that a payment made are counted with the payment.
"""

from collections.abc import AsyncIterator, Set

import msgspec

from tollgate.catalog.limits import LIMITS
from tollgate.catalog.risk_rows import REGISTERING, Attribute
from tollgate.contract.risk_rules import read_person
from tollgate.operations.accounts import open_registered
from tollgate.operations.app import App
from tollgate.operations.risk_values import Subject, make_values
from tollgate.payments.accounts import Instrument
from tollgate.payments.registration import Registration
from tollgate.payments.velocities import Sighting
from tollgate.store import registrations
from tollgate.store import sightings as store
from tollgate.values import Instant, MerchantId, Money
from tollgate.vault.keyring import KeyringError
from tollgate.vault.sealing import EnvelopeError


async def read_sightings(
    app: App, merchant_id: MerchantId, counted: Set[Attribute], begins_at: Instant, ends_at: Instant
) -> AsyncIterator[tuple[Attribute, Sighting]]:
    """Yields the sightings of the registrations between two instants by their time.

    The row has what the registration has now: the card of one that was refused or wiped is unknown.
    """
    seen = counted & REGISTERING
    after = (begins_at, "")
    while seen:
        some = await registrations.list_alone(app.database, merchant_id, after, ends_at, LIMITS.history_page)
        for registration, sealed in some:
            for each in _derive(app, registration, sealed, seen):
                yield each
        if len(some) < LIMITS.history_page:
            return
        after = some[-1][0].created_at, some[-1][0].id


async def write_sightings(
    app: App, merchant_id: MerchantId, counted: Set[Attribute], begins_at: Instant, ends_at: Instant
) -> bool:
    """Writes the sightings of the registrations between two instants; returns whether there are any."""
    rows: list[Sighting] = []
    has_any = False
    async for _, row in read_sightings(app, merchant_id, counted, begins_at, ends_at):
        has_any = True
        # One that counts for several attributes comes several times.
        if not rows or rows[-1] is not row:
            rows.append(row)
        if len(rows) == LIMITS.sightings_batch:
            await store.write_sightings(app.database, rows)
            rows = []
    if rows:
        await store.write_sightings(app.database, rows)
    return has_any


def _derive(
    app: App, registration: Registration, sealed: bytes | None, seen: Set[Attribute]
) -> list[tuple[Attribute, Sighting]]:
    subject = Subject(
        merchant_id=registration.merchant_id,
        channel_id=registration.channel_id,
        account_id=registration.channel_id,
        payment_id=registration.id,
        at=registration.created_at,
        payment_type="",
        money=Money(0, ""),
        brand=registration.brand,
        card=registration.card,
        account=None if sealed is None else _find_account(app, registration, sealed),
        merchant_transaction_id=None,
        echo=registration.echo,
    )
    person = msgspec.structs.replace(read_person(subject.echo, subject.card), registers=True)
    wanted = frozenset(seen)
    return make_values(app.keyring, subject, person, wanted, wanted).list_seen()


def _find_account(app: App, registration: Registration, sealed: bytes) -> Instrument | None:
    try:
        return open_registered(registration, sealed, app.keyring)
    except (EnvelopeError, KeyringError):
        # One damaged row must not keep a host from starting.
        return None
