"""Authenticating the shopper before a card is charged: whether, how, and what is kept while the shopper is away.

What happens when the shopper comes back is told in `resume`.
"""

from __future__ import annotations

import msgspec

from tollgate.catalog import AUTHENTICATION, LIMITS
from tollgate.connectors import threeds
from tollgate.contract import Answer, answer_payment, name_handover, write_ticket
from tollgate.payments import (
    AuthenticationCase,
    AuthenticationRow,
    AuthenticationWish,
    Browser,
    CardAccount,
    Channel,
    Claim,
    Order,
    Outcome,
    Payment,
    Stage,
    Verdict,
)
from tollgate.steps import (
    DirectoryRoute,
    House,
    Route,
    charge,
    choose_directory,
    conclude,
    converse,
    get_payment,
    keep_answer,
    make_shopper_url,
    seal_case,
    settle_sealed,
)
from tollgate.store import steps_insert_authentication, steps_settle
from tollgate.vault import hash_once_key, make_once_key, name_owner, seal_once

_FRICTIONLESS_CODE = "000.400.110"
_AWAY = Verdict(outcome=Outcome.CHALLENGED, code="000.200.000")


class Enrolment(msgspec.Struct, frozen=True):
    """A card that can be authenticated, and by whom."""

    directory: DirectoryRoute
    range: threeds.CardRange


async def find_enrolment(house: House, order: Order, channel: Channel) -> Enrolment | None:
    """None where the payment goes on without: nobody wishes it, nobody could come back, or the card takes no part."""
    wish, account = order.authentication, order.account
    if wish is None or wish.is_unwanted or order.objection or not isinstance(account, CardAccount):
        return None
    directory = choose_directory(house, channel, order.test_mode)
    if directory is None or (order.return_url is None and wish.requestor_reason is None):
        return None
    forced = threeds.read_enrolment_lever(order.levers)
    if forced is False:
        return None
    found = await house.ranges.find(
        directory.address,
        directory.wire,
        account,
        wall_now=house.clock.wall(),
        timeout_s=house.acquirer_timeout_s,
    )
    if found is None and forced:
        found = threeds.ANY_CARD
    return None if found is None else Enrolment(directory, found)


async def authenticate_first(
    house: House, order: Order, started: Payment, enrolment: Enrolment, route: Route, claim: Claim | None
) -> Answer:
    wish = order.authentication or AuthenticationWish()
    key = make_once_key(house.chance)
    case = AuthenticationCase(
        server_id=threeds.make_server_id(house.chance),
        version=enrolment.range.version,
        method_url=enrolment.range.method_url if uses_browser(wish) else None,
    )
    if uses_browser(wish) and (wish.browser is None or case.method_url):
        # The browser has to come by before the issuer can be asked.
        return await hand_over(house, order, started, case, Stage.OPEN, key, claim)
    page_url = make_shopper_url(house, started, key)
    case = await ask_directory(house, order, case, enrolment.directory, wish.browser, started, page_url)
    if case.result is None:
        return await hand_over(house, order, started, case, Stage.CHALLENGED, key, claim)
    verdict = await pass_on(house, order, started, route, case)
    return await conclude(house, started, verdict, claim)


def uses_browser(wish: AuthenticationWish) -> bool:
    """An app brings its own data, and a merchant that asks without the shopper has none."""
    return wish.device is None and wish.requestor_reason is None


async def ask_directory(
    house: House,
    order: Order,
    case: AuthenticationCase,
    directory: DirectoryRoute,
    browser: Browser | None,
    payment: Payment,
    page_url: str,
) -> AuthenticationCase:
    """The result of a challenge comes to an address that only the directory server learns: nobody else can send it."""
    results_key = make_once_key(house.chance)
    ticket = write_ticket(payment.merchant_id, payment.id, results_key)
    asked = msgspec.structs.replace(case, results_hash=hash_once_key(results_key))
    conversation = threeds.authenticate(
        order,
        asked,
        terms=directory.terms,
        browser=browser,
        method_done="U" if case.method_url is None else "Y" if case.is_method_done else "N",
        now=house.clock.now(),
        notification_url=page_url,
        results_url=f"{house.base_url}/v1/threeDSecure/results/{ticket}",
        levers=order.levers,
    )
    answered = await converse(conversation, directory.wire, timeout_s=house.acquirer_timeout_s)
    return answered or threeds.fail_case(asked, threeds.UNREACHABLE)


async def hand_over(
    house: House,
    order: Order,
    started: Payment,
    case: AuthenticationCase,
    stage: Stage,
    key: bytes,
    claim: Claim | None,
) -> Answer:
    """The payment waits for its shopper. The security code waits too, under a key that only the shopper's address has.

    So neither the row nor the answer kept for an Idempotency-Key holds that address: it is told once.
    """
    now = house.clock.now()
    case = msgspec.structs.replace(case, ticket_hash=hash_once_key(key))
    cvv = order.account.cvv if isinstance(order.account, CardAccount) else None
    row = AuthenticationRow(
        merchant_id=started.merchant_id,
        id=started.id,
        stage=stage,
        created_at=now,
        expires_at=now + LIMITS.challenge_lifetime,
        body=case,
        sealed_secret=seal_once(cvv, key, owner=name_secret(started), chance=house.chance),
    )
    settlement = settle_sealed(house, started, msgspec.structs.replace(_AWAY, details=threeds.describe_case(case)))
    told = answer_payment(settlement.payment, house.envelope)
    kept = keep_answer(house, claim, started.merchant_id, started.id, told)
    unit = [*steps_settle(settlement, kept), *steps_insert_authentication(seal_case(house, row))]
    if not await house.database.write(unit):
        return answer_payment(await get_payment(house, started, started.id), house.envelope)
    data = threeds.make_method_data(case, make_method_url(house, started)) if case.method_url else ""
    handover = name_handover(make_shopper_url(house, started, key), case.method_url, data)
    return answer_payment(settlement.payment, house.envelope, handover)


def make_method_url(house: House, payment: Payment) -> str:
    """Where the issuer's hidden page reports that it is done."""
    return f"{house.base_url}/v1/threeDSecure/method/{write_ticket(payment.merchant_id, payment.id)}"


def name_secret(payment: Payment) -> str:
    return name_owner("authentication", payment.merchant_id, payment.id)


async def pass_on(house: House, order: Order, started: Payment, route: Route, case: AuthenticationCase) -> Verdict:
    """From what was proven to what the payment comes to: the end, or the charge with the proof."""
    told = threeds.describe_case(case)
    refusal = threeds.judge_result(case)
    if refusal is not None:
        return Verdict(outcome=Outcome.DECLINED, code=refusal, details=told)
    if started.kind == AUTHENTICATION:
        code = _FRICTIONLESS_CODE if case.flow == "frictionless" else route.approved_code
        return Verdict(outcome=Outcome.APPROVED, code=code, details=told)
    details = msgspec.structs.replace(order.details, authentication=threeds.make_authentication(case))
    verdict = await charge(house, msgspec.structs.replace(order, details=details), started, route)
    return msgspec.structs.replace(verdict, details={**verdict.details, **told})
