"""Events that an acquirer reports: disputes become chargebacks and their reversals, failed refunds are logged.

Files of acquirers are recorded by `flows/record.py`, whose functions this flow shares.
"""

import logging

from tollgate.catalog import codes, connectors, limits, results
from tollgate.connectors.exchange import AcquirerAccount
from tollgate.connectors.stripe import events, exchanges
from tollgate.contract.record_lines import RecordLine
from tollgate.flows import pay, record
from tollgate.operations import archives, routes
from tollgate.operations.app import App
from tollgate.operations.journal import About
from tollgate.payments.chain import PENDING_STATES
from tollgate.payments.following import TAKEN
from tollgate.payments.merchants import Channel
from tollgate.payments.order import TestMode
from tollgate.payments.payment import Payment, State
from tollgate.store import payments
from tollgate.values import Conflict, Fault, NotFound, Refusal
from tollgate.vault.event_signatures import is_signed

SIGNATURE = events.SIGNATURE

_log = logging.getLogger("tollgate.acquirer")

_FACTS = {events.EventKind.DISPUTE_OPENED: "CB", events.EventKind.DISPUTE_WON: "CR"}


async def take_event(app: App, given_id: str, body: bytes, signature: str, trace: str) -> None:
    """Records what an event reports, once however often it is delivered.

    A refusal makes the acquirer deliver it again; what can never be recorded is logged and not refused.

    given_id: that of an acquirer account, or of a channel for its first account.
    """
    now = app.clock.wall()
    signers = [
        (channel, account)
        for channel, account in list_reporting(app, given_id)
        if is_signed(body, signature, account.secrets[events.WEBHOOK_SECRET], now)
    ]
    if not signers:
        raise results.make_invalid(Fault(SIGNATURE, "must sign the body with the secret of this endpoint, just now"))
    channel, account = signers[0]
    event = events.read_event(body)
    if event is None or event.kind is None:
        return
    about = {"channel": channel.id, "reported": event.id, "kind": event.kind.value, "reference": event.reference}
    if event.is_live is not app.is_live:
        _log.warning("acquirer event ignored: it belongs to another environment", extra=about)
        return
    payment = await find_payment(app, channel, account, event)
    if payment is None:
        _log.warning("acquirer event ignored: it names no payment of this channel", extra=about)
    elif event.kind is events.EventKind.REFUND_FAILED:
        # Somebody has to pay the shopper in another way.
        _log.error("acquirer reports that a refund failed", extra={**about, "payment": payment.id})
    elif event.money is None:
        _log.error("acquirer event ignored: its amount cannot be read", extra={**about, "payment": payment.id})
    else:
        line = RecordLine(
            number=0,
            payment_type=_FACTS[event.kind],
            amount=event.money.hundredths,
            currency=event.money.currency,
            result_code=event.result_code,
            reference=event.reference,
        )
        await take_dispute(app, channel, payment, line, f"{channel.id}_{trace}")


def list_reporting(app: App, given_id: str) -> list[tuple[Channel, AcquirerAccount]]:
    """Lists the accounts whose acquirer reports events under an id, each with its channel as the account has it.

    A first account that was changed keeps the id of its channel, under which its acquirer goes on to report; so may
    the acquirer of the new first account, and the signature says which of them it is.
    """
    found = [
        (view, account)
        for view in app.merchants.list_views(given_id)
        if (account := routes.find_account(app, view, _choose_mode(app))) is not None
        and account.connector is connectors.ConnectorName.STRIPE
        and events.WEBHOOK_SECRET in account.secrets
    ]
    if not found:
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "no acquirer reports events to this entity")
    return found


async def find_payment(app: App, channel: Channel, account: AcquirerAccount, event: events.Event) -> Payment | None:
    """Finds the payment that an event is about; the acquirer is asked where the event itself does not name it."""
    payment_id = event.payment_id
    address = routes.find_address(_choose_mode(app), channel.test_url, channel.live_url)
    if payment_id is None and event.intent_id and address:
        question = exchanges.StripeConnector(account).find_payment_id(event.intent_id)
        wire = app.find_wire(address, account)
        asked = About(channel.merchant_id, event.id, app.clock.now())
        payment_id = await app.converse(question, wire, about=asked, label="payment of an event")
        if payment_id is None:
            raise Conflict(
                results.get_result(codes.REQUEST_IN_PROGRESS), "the acquirer did not say which payment it is"
            )
    payment = await pay.look_up(app, channel.merchant_id, payment_id or "")
    if payment is None or (payment.account_id or payment.channel_id) != account.id:
        return None
    return payment if (payment.channel_id, payment.connector) == (channel.id, account.connector) else None


async def take_dispute(app: App, channel: Channel, payment: Payment, line: RecordLine, ndc: str) -> None:
    named = await find_named(app, payment, line)
    if named is None:
        # Events come in any order, and the capture or the chargeback that it follows may not be recorded yet.
        raise Conflict(results.get_result(codes.REQUEST_IN_PROGRESS), "what it refers to is not recorded yet")
    about = {"ndc": ndc, "payment": named.id, "type": line.payment_type, "reference": line.reference}
    try:
        recorded = await record.record(app, channel, named, line, ndc)
    except Conflict:
        raise
    except Refusal as refusal:
        _log.error("acquirer event refused", extra={**about, "code": refusal.result.code})
        return
    if recorded.is_new:
        _log.info("acquirer event recorded", extra={**about, "fact": recorded.payment.id})


async def find_named(app: App, payment: Payment, line: RecordLine) -> Payment | None:
    """Finds the payment that a fact follows: what took the money, or the chargeback that is reversed."""
    if line.payment_type == "CR":
        chargeback_id = record.make_fact_id(payment.merchant_id, "CB", line.reference)
        return await pay.look_up(app, payment.merchant_id, chargeback_id)
    if payment.payment_type in TAKEN:
        return None if payment.state in PENDING_STATES else payment
    chain = await payments.list_chain(app.database, payment.merchant_id, payment.first_id, limits.LIMITS.chain_rows_max)
    # The refusal of what would follow an archived payment is logged, as any other.
    chain = chain or await archives.list_chain(app, payment.merchant_id, payment.id)
    taken = [each for each in chain if each.referenced_id == payment.id and each.payment_type in TAKEN]
    return next((each for each in reversed(taken) if each.state is State.APPROVED), None)


def _choose_mode(app: App) -> TestMode | None:
    return None if app.is_live else TestMode.EXTERNAL
