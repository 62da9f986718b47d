"""3-D Secure: the directory server and the issuer are asked whether the shopper may pay. No money is moved here."""

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.limits import LIMITS
from tollgate.catalog.payment_types import AUTHENTICATION
from tollgate.connectors.threeds import exchanges, refusals
from tollgate.contract import shopper_urls
from tollgate.contract.answers import Answer, answer_payment
from tollgate.operations import charging, routes, signing
from tollgate.operations.app import App
from tollgate.operations.idempotency import keep_answer
from tollgate.payments import authentication
from tollgate.payments.accounts import CardAccount
from tollgate.payments.merchants import Channel
from tollgate.payments.order import Order, Partner
from tollgate.payments.payment import IdempotencyKey, Outcome, Payment, Verdict
from tollgate.store import authentications, payments
from tollgate.vault.sealing import make_owner
from tollgate.vault.signing import hash_once_key, make_once_key, seal_once

_AWAY = Verdict(outcome=Outcome.CHALLENGED, code=codes.PENDING)


class Enrolment(msgspec.Struct, frozen=True):
    """A card that can be authenticated, and by whom."""

    directory: routes.DirectoryServerRoute
    range: exchanges.CardRange


async def find_enrolment(app: App, order: Order, channel: Channel) -> Enrolment | None:
    """Returns None where the payment goes on without authentication: nobody asked for it, nobody could come back, or
    the card takes no part.
    """
    request, account = order.authentication, order.account
    if request is None or request.is_unwanted or order.objection or not isinstance(account, CardAccount):
        return None
    directory = routes.choose_directory_server(app, channel, order.test_mode)
    if directory is None or (order.return_url is None and request.requestor_reason is None):
        return None
    forced = exchanges.read_enrolment_override(order.simulator_overrides)
    if forced is False:
        return None
    found = await app.ranges.find(
        directory.address,
        directory.wire,
        account,
        wall_now=app.clock.wall(),
        timeout_s=app.acquirer_timeout_s,
    )
    if found is None and forced:
        found = exchanges.ANY_CARD
    return None if found is None else Enrolment(directory, found)


async def authenticate_first(
    app: App,
    order: Order,
    started: Payment,
    enrolment: Enrolment,
    route: routes.Route,
    idempotency_key: IdempotencyKey | None,
) -> Answer:
    request = order.authentication or authentication.AuthenticationRequest()
    key = make_once_key(app.random_bytes)
    case = authentication.AuthenticationCase(
        server_id=exchanges.make_server_id(app.random_bytes),
        version=enrolment.range.version,
        method_url=enrolment.range.method_url if uses_browser(request) else None,
    )
    if uses_browser(request) and (request.browser is None or case.method_url):
        # The issuer cannot be asked before the shopper's browser was seen.
        return await hand_over(app, order, started, case, authentication.Stage.OPEN, key, idempotency_key)
    page_url = charging.make_shopper_url(app, started, key)
    case = await ask_directory_server(app, order, case, enrolment.directory, request.browser, started, page_url)
    if case.result is None:
        return await hand_over(app, order, started, case, authentication.Stage.CHALLENGED, key, idempotency_key)
    verdict = await pass_on(app, order, started, route, case)
    return await charging.conclude(app, started, verdict, idempotency_key)


def uses_browser(request: authentication.AuthenticationRequest) -> bool:
    """Tells whether a browser is needed: an app sends device data, and a merchant may ask without the shopper."""
    return request.device is None and request.requestor_reason is None


async def ask_directory_server(
    app: App,
    order: Order,
    case: authentication.AuthenticationCase,
    directory: routes.DirectoryServerRoute,
    browser: authentication.Browser | None,
    payment: Payment,
    page_url: str,
) -> authentication.AuthenticationCase:
    """Asks the issuer. The result of a challenge comes to an address that only the directory server learns."""
    results_key = make_once_key(app.random_bytes)
    shopper_token = shopper_urls.write_shopper_token(payment.merchant_id, payment.id, results_key)
    asked = msgspec.structs.replace(case, results_hash=hash_once_key(results_key))
    conversation = exchanges.authenticate(
        order,
        asked,
        terms=directory.terms,
        browser=browser,
        method_done="U" if case.method_url is None else "Y" if case.is_method_done else "N",
        now=app.clock.now(),
        notification_url=page_url,
        results_url=f"{app.base_url}/v1/threeDSecure/results/{shopper_token}",
        simulator_overrides=await app.choose_overrides(
            Partner.DIRECTORY_SERVER, directory.wire, payment, order.simulator_overrides
        ),
    )
    answered = await app.converse(conversation, directory.wire, about=payment, label="authentication request")
    return answered or exchanges.fail_case(asked, exchanges.UNREACHABLE)


async def hand_over(
    app: App,
    order: Order,
    started: Payment,
    case: authentication.AuthenticationCase,
    stage: authentication.Stage,
    key: bytes,
    idempotency_key: IdempotencyKey | None,
) -> Answer:
    """Leaves the payment waiting for its shopper, with the security code sealed under a key that only the shopper's
    address has.

    Neither the row nor the answer for an idempotency key has that address, so it is answered once.
    """
    now = app.clock.now()
    case = msgspec.structs.replace(case, shopper_token_hash=hash_once_key(key))
    cvv = order.account.cvv if isinstance(order.account, CardAccount) else None
    row = authentication.AuthenticationRow(
        merchant_id=started.merchant_id,
        id=started.id,
        stage=stage,
        created_at=now,
        expires_at=now + LIMITS.challenge_lifetime,
        body=case,
        sealed_secret=seal_once(cvv, key, owner=make_secret_name(started), random_bytes=app.random_bytes),
    )
    completion = signing.complete_signed(
        app, started, msgspec.structs.replace(_AWAY, details=refusals.describe_case(case))
    )
    answer = answer_payment(completion.payment, app.envelope)
    kept = keep_answer(app, idempotency_key, started.merchant_id, started.id, answer)
    unit = [
        *payments.completion_writes(completion, kept),
        *authentications.insert_authentication_writes(signing.sign(app, row)),
    ]
    if not await app.database.write(unit, label="authentication pending"):
        return answer_payment(await charging.get_payment(app, started, started.id), app.envelope)
    data = exchanges.make_method_data(case, make_method_url(app, started)) if case.method_url else ""
    handover = shopper_urls.render_handover(charging.make_shopper_url(app, started, key), case.method_url, data)
    return answer_payment(completion.payment, app.envelope, handover)


def make_method_url(app: App, payment: Payment) -> str:
    """Returns the address to which the issuer's hidden page reports that it is done."""
    return f"{app.base_url}/v1/threeDSecure/method/{shopper_urls.write_shopper_token(payment.merchant_id, payment.id)}"


def make_secret_name(payment: Payment) -> str:
    return make_owner("authentication", payment.merchant_id, payment.id)


async def pass_on(
    app: App, order: Order, started: Payment, route: routes.Route, case: authentication.AuthenticationCase
) -> Verdict:
    """Continues after an authentication: declines the payment, or charges it with the proof."""
    details = refusals.describe_case(case)
    refusal = refusals.find_authentication_refusal(case)
    if refusal is not None:
        return Verdict(outcome=Outcome.DECLINED, code=refusal, details=details)
    if started.payment_type == AUTHENTICATION:
        code = codes.AUTHENTICATED_WITHOUT_CHALLENGE if case.flow == "frictionless" else route.approved_code
        return Verdict(outcome=Outcome.APPROVED, code=code, details=details)
    proven = msgspec.structs.replace(order.details, authentication=refusals.make_authentication(case))
    proven_order = msgspec.structs.replace(order, details=proven)
    bound = routes.bind_to_proof(app, started, route) if route.alternatives else route
    verdict = await charging.charge(app, proven_order, started, bound)
    return msgspec.structs.replace(verdict, details={**verdict.details, **details})
