"""The story of a payment: write, send, write, answer.

A process killed anywhere in it leaves a row that reconcile finishes. Where the shopper has to be authenticated first,
`authenticate` goes on with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from tollgate.catalog import AUTHENTICATION
from tollgate.contract import Answer, check_authentication_fields
from tollgate.flows.authenticate import authenticate_first, find_enrolment
from tollgate.flows.idempotency import answer_taken_key
from tollgate.payments import (
    NATURES,
    CardAccount,
    Channel,
    Claim,
    Nature,
    NewRegistration,
    Order,
    Outcome,
    Payment,
    State,
    Verdict,
)
from tollgate.steps import FateUnknown, House, charge, choose_directory, choose_route, conclude, prepare_registering
from tollgate.store import Damaged, Step, Unavailable, start_payment, steps_insert_registration, steps_start_payment
from tollgate.values import SECOND, PaymentId, make_id
from tollgate.vault import name_owner, seal_account

_NOT_ENROLLED = Verdict(outcome=Outcome.DECLINED, code="000.400.109")
_NO_DIRECTORY = Verdict(outcome=Outcome.DECLINED, code="000.400.104")
_MUST_AUTHENTICATE = Verdict(outcome=Outcome.DECLINED, code="300.100.100")
_BY_MERCHANT = "MIT"
"""The source of a payment that its shopper agreed to before."""


async def pay(
    house: House,
    order: Order,
    channel: Channel,
    ndc: str,
    claim: Claim | None,
    *,
    payment_id: PaymentId | None = None,
    guards: Sequence[Step] = (),
) -> Answer:
    """Of an authentication by itself, too: it is the same story without its money message.

    Who must not pay twice whatever happens names the payment before it is made: the store refuses a second one. And
    who pays for a reason that may pass names the reason in `guards`, which hold in the commit that starts the payment.
    """
    route = choose_route(house, channel, order.test_mode, order.brand)
    enrolment = await find_enrolment(house, order, channel)
    if enrolment is not None:
        check_authentication_fields(order.echo, is_lenient=channel.is_lenient)
    patience_s = house.patience_s + (house.acquirer_timeout_s if enrolment else 0)
    payment_id = payment_id or PaymentId(make_id(house.chance))
    new = None
    if order.registers:
        registering = await prepare_registering(house, order, channel, ndc, payment_id)
        order, new = registering.order, registering.new
    started = start_attempt(house, order, channel, ndc, payment_id, patience_s)
    if not await write_start(house, started, seal(house, order, started), claim, new, guards):
        return await answer_taken_key(house, claim)
    try:
        if enrolment is not None:
            return await authenticate_first(house, order, started, enrolment, route, claim)
        verdict = find_refusal(house, order, channel) or await charge(house, order, started, route)
        return await conclude(house, started, verdict, claim)
    except (Unavailable, Damaged) as fault:
        raise FateUnknown(started.id) from fault


def write_start(
    house: House,
    started: Payment,
    sealed: bytes | None,
    claim: Claim | None,
    new: NewRegistration | None,
    guards: Sequence[Step],
) -> Awaitable[bool]:
    """A registration is written with the payment that makes it, so that its id is good wherever it was answered."""
    if new is None and not guards:
        return start_payment(house.database, started, sealed, claim)
    registered = [] if new is None else steps_insert_registration(new)
    return house.database.write([*guards, *steps_start_payment(started, sealed, claim), *registered])


def find_refusal(house: House, order: Order, channel: Channel) -> Verdict | None:
    """Decides an order that goes on without its shopper being authenticated; None: it is sent."""
    if order.objection:
        return Verdict(outcome=Outcome.DECLINED, code=order.objection)
    if order.kind == AUTHENTICATION:
        return _NOT_ENROLLED if choose_directory(house, channel, order.test_mode) else _NO_DIRECTORY
    is_required = channel.three_ds is not None and channel.three_ds.is_required
    return _MUST_AUTHENTICATE if is_required and not is_excused(order) else None


def is_excused(order: Order) -> bool:
    """From being authenticated here: by a proof from elsewhere, of which an indicator is none, or with nobody there."""
    account, proof, standing = order.account, order.details.authentication, order.details.standing_instruction
    if not isinstance(account, CardAccount) or NATURES[order.kind] is not Nature.TAKES:
        return True
    if order.authentication is not None:
        return False
    is_proven = account.cryptogram is not None or (proof is not None and proof.verification_id is not None)
    return is_proven or (standing is not None and standing.source == _BY_MERCHANT)


def seal(house: House, order: Order, started: Payment) -> bytes | None:
    if order.account is None:
        return None
    owner = name_owner("payment", started.merchant_id, started.id)
    return seal_account(order.account, order.hidden, owner=owner, keyring=house.keyring)


def start_attempt(
    house: House, order: Order, channel: Channel, ndc: str, payment_id: PaymentId, patience_s: float
) -> Payment:
    return Payment(
        id=payment_id,
        merchant_id=channel.merchant_id,
        channel_id=channel.id,
        kind=order.kind,
        state=State.STARTED,
        money=order.money,
        brand=order.brand,
        method=order.method,
        descriptor=order.descriptor,
        short_id=order.short_id,
        ndc=ndc,
        created_at=house.clock.now(),
        deadline_at=house.clock.wall() + int(patience_s * SECOND),
        test_mode=order.test_mode,
        merchant_transaction_id=order.merchant_transaction_id,
        lifecycle_id=order.lifecycle_id,
        card=order.face,
        echo=order.echo,
    )
