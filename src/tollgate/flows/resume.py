"""The shopper comes back from a provider's or an issuer's page: the payment continues, and the shopper is sent on.

The browser proves nothing. Every step expects the state before it, so that tabs, reloads and back buttons are safe.
"""

from collections.abc import Mapping
from hmac import compare_digest

import msgspec

from tollgate.catalog import codes
from tollgate.catalog.payment_types import AUTHENTICATION
from tollgate.catalog.results import is_success
from tollgate.connectors.exchange import WireReply, WireRequest
from tollgate.connectors.threeds import exchanges, refusals
from tollgate.contract import orders, shopper_urls
from tollgate.flows.authenticate import ask_directory_server, make_method_url, make_secret_name, pass_on, uses_browser
from tollgate.flows.recover import OUT_OF_TIME
from tollgate.operations import card_testing, charging, checkouts, journal, routes, signing
from tollgate.operations.app import App
from tollgate.payments import authentication
from tollgate.payments.accounts import CardAccount
from tollgate.payments.checkout import CheckoutState
from tollgate.payments.order import Order
from tollgate.payments.payment import DECIDED, Outcome, Payment, State, Verdict
from tollgate.store import authentications, payments
from tollgate.store.checkouts import find_checkout, lock_checkout_writes
from tollgate.store.statements import Write
from tollgate.values import SECOND, CheckoutId, Secret
from tollgate.vault import sealing
from tollgate.vault.signing import hash_once_key, open_once

_SESSION_OVER = Verdict(outcome=Outcome.DECLINED, code=codes.SESSION_EXPIRED)
_PAID_ELSEWHERE = Verdict(outcome=Outcome.DECLINED, code=codes.DUPLICATE_REQUEST)
_LOCK_TRIES_MAX = 3
"""Tries to lock a checkout, which another attempt may lock and release in between."""


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """A browser at the shopper's address, and what it brings."""

    page_url: str
    shopper_token: str
    browser: authentication.Browser | None = None
    """The data that our own page collected; None where it was not shown yet."""
    has_answer: bool = False
    """The browser comes from the issuer's page."""
    address: str = ""
    """The address of the browser."""


class GoHome(msgspec.Struct, frozen=True):
    url: str | None
    """The address of the shop; None where the merchant named none."""
    checkout_id: CheckoutId | None = None
    """The checkout, where the shopper used the payment form, whose page may be waiting."""
    shop_origin: str = ""
    """The origin of that page."""
    is_paid: bool = False
    """The page may show the success before it leaves."""


class Forward(msgspec.Struct, frozen=True):
    url: str
    fields: Mapping[str, str]
    is_nested: bool = False
    """The shop's page shows this page in a frame, and must not learn where the shopper goes next."""


class Collect(msgspec.Struct, frozen=True):
    method_url: str | None
    method_data: str
    return_url: str | None


class Wait(msgspec.Struct, frozen=True):
    note: str | None = None
    """The text that the issuer wants its card holder to read meanwhile."""


class Lost(msgspec.Struct, frozen=True):
    pass


Next = GoHome | Forward | Collect | Wait | Lost


async def arrive(app: App, arrival: Arrival) -> Next:
    shopper_token = shopper_urls.read_shopper_token(arrival.shopper_token)
    payment = (
        None
        if shopper_token is None
        else await payments.find_payment(app.database, shopper_token.merchant_id, shopper_token.payment_id)
    )
    if shopper_token is None or payment is None:
        return Lost()
    signing.trust(app, payment)
    row = await authentications.find_authentication(app.database, shopper_token.merchant_id, shopper_token.payment_id)
    if row is not None:
        return await _go_on(app, payment, row, shopper_token, arrival)
    if len(shopper_token.key) > 0:
        return Lost()
    # The provider is asked, whatever the browser says; what is still open is asked again by a worker.
    if await ask_provider(app, payment) is not None:
        payment = await charging.get_payment(app, payment, payment.id)
    return go_home(app, payment)


async def ask_provider(app: App, payment: Payment) -> Verdict | None:
    """Asks the provider about a waiting payment, completes what it has decided, and returns its answer.

    Follow-ups are left out, because no shopper is sent away for them.
    """
    if payment.state is not State.WAITING or payment.chain_id is not None:
        return None
    channel = app.merchants.get_channel(payment.channel_id)
    route = routes.get_route(app, channel, payment)
    question = route.connector.inquire(await charging.recall_original(app, payment, route), route.approved_code)
    answered = await app.dispatch(question, route.wire, about=payment, label="inquiry on return")
    verdict = await charging.check_lateness(app, payment, answered)
    if verdict.outcome in DECIDED:
        is_written = await app.database.write(
            payments.completion_writes(signing.complete_signed(app, payment, verdict), expected=State.WAITING),
            label="completion on return",
        )
        if is_written:
            charging.note_decision(app, payment, answered)
    return verdict


async def _go_on(
    app: App,
    payment: Payment,
    row: authentication.AuthenticationRow,
    shopper_token: shopper_urls.ShopperToken,
    arrival: Arrival,
) -> Next:
    if not compare_digest(hash_once_key(shopper_token.key), row.body.shopper_token_hash):
        return Lost()
    if row.stage is authentication.Stage.CLOSED or row.sealed_secret is None or payment.state is not State.WAITING:
        return Wait() if payment.state is State.STARTED else go_home(app, payment)
    cvv = open_once(row.sealed_secret, shopper_token.key, owner=make_secret_name(payment))
    if cvv is None:
        return Lost()
    signing.trust(app, row)
    if row.expires_at <= app.clock.now():
        await close(app, payment, OUT_OF_TIME)
        return go_home(app, payment)
    if row.stage is authentication.Stage.OPEN:
        found = await _ask_issuer(app, payment, row, arrival)
        if isinstance(found, Collect):
            return found
        row = found
    if row.stage is authentication.Stage.CHALLENGED:
        if not arrival.has_answer:
            return _show_challenge(payment, row.body)
        # The issuer sends its result before it sends the shopper back, so there is none.
        failed = exchanges.fail_case(row.body, exchanges.UNANSWERED)
        moved = msgspec.structs.replace(row, stage=authentication.Stage.ANSWERED, body=failed)
        row = await _move(app, moved, authentication.Stage.CHALLENGED, label="challenge unanswered")
    await finish(app, payment, row.body, cvv, arrival.address)
    return go_home(app, await charging.get_payment(app, payment, payment.id))


async def _ask_issuer(
    app: App, payment: Payment, row: authentication.AuthenticationRow, arrival: Arrival
) -> authentication.AuthenticationRow | Collect:
    order = await _recall(app, payment, None)
    request = order.authentication or authentication.AuthenticationRequest()
    browser = request.browser or arrival.browser
    case = row.body
    is_method_due = case.method_url is not None and not case.is_method_done
    if uses_browser(request) and arrival.browser is None and (browser is None or is_method_due):
        data = exchanges.make_method_data(case, make_method_url(app, payment)) if is_method_due else ""
        return Collect(case.method_url if is_method_due else None, data, order.return_url)
    case = await _note_asked(app, row)
    channel = app.merchants.get_channel(payment.channel_id)
    view = routes.find_view(app, channel, payment.account_id) or channel
    directory = routes.choose_directory_server(app, view, payment.test_mode)
    if directory is None:
        answered = exchanges.fail_case(case, exchanges.UNREACHABLE)
    else:
        answered = await ask_directory_server(app, order, case, directory, browser, payment, arrival.page_url)
    stage = authentication.Stage.CHALLENGED if answered.result is None else authentication.Stage.ANSWERED
    moved = msgspec.structs.replace(row, stage=stage, body=answered)
    return await _move(app, moved, authentication.Stage.OPEN, label="issuer answered")


async def _move(
    app: App, moved: authentication.AuthenticationRow, seen: authentication.Stage, *, label: str
) -> authentication.AuthenticationRow:
    """Writes the next stage. If another tab or the issuer's result was faster, that counts and is returned."""
    if await authentications.move_authentication(app.database, signing.sign(app, moved), seen, label=label):
        return moved
    fresh = await authentications.find_authentication(app.database, moved.merchant_id, moved.id)
    return moved if fresh is None else signing.trust(app, fresh)


async def _note_asked(app: App, row: authentication.AuthenticationRow) -> authentication.AuthenticationCase:
    """Returns the case under which to ask.

    A directory server refuses an id that it knows, so a reloaded page or a new process asks under another one.
    """
    if row.body.is_asked:
        server_id = exchanges.make_server_id(app.random_bytes)
        return msgspec.structs.replace(row.body, server_id=server_id, is_method_done=False)
    asked = msgspec.structs.replace(row.body, is_asked=True)
    noted = signing.sign(app, msgspec.structs.replace(row, body=asked))
    await app.database.write(
        authentications.move_authentication_writes(noted, authentication.Stage.OPEN), label="issuer asked"
    )
    return asked


def _show_challenge(payment: Payment, case: authentication.AuthenticationCase) -> Next:
    """Shows the challenge as often as the shopper reloads; without an address of the issuer the shopper waits."""
    if case.acs_url is None:
        return Wait(case.card_holder_text)
    challenge = exchanges.make_challenge(case, orders.find_window(payment.echo))
    return Forward(case.acs_url, challenge, payment.checkout_id is not None)


async def finish(
    app: App, payment: Payment, case: authentication.AuthenticationCase, cvv: Secret | None, address: str = ""
) -> None:
    """Finishes a payment after its authentication.

    Before the charge, the payment is put back to started, which succeeds once. A process that dies then leaves an
    attempt like any other.

    address: that of the shopper's browser; "" where the shopper did not come back.
    """
    channel = app.merchants.get_channel(payment.channel_id)
    route = routes.resume_route(app, channel, payment)
    order = await _recall(app, payment, cvv)
    if refusals.find_authentication_refusal(case) is not None or payment.payment_type == AUTHENTICATION:
        verdict = await pass_on(app, order, payment, route, case)
        if await close(app, payment, verdict):
            _note_result(app, order, payment, verdict.code, address)
        return
    checkout_id = payment.checkout_id
    for _ in range(_LOCK_TRIES_MAX):
        locking = [] if checkout_id is None else await _lock_checkout(app, payment, checkout_id)
        if locking is None:
            return
        deadline_at = app.clock.wall() + int(app.patience_s * SECOND)
        ending = authentications.end_authentication_writes(payment)
        if await app.database.write(
            [*locking, *payments.reopen_writes(payment, deadline_at), *ending], label="payment resumed"
        ):
            started = await charging.get_payment(app, payment, payment.id)
            answer = await charging.conclude(app, started, await pass_on(app, order, started, route, case), None)
            _note_result(app, order, payment, answer.code, address)
            return
        if checkout_id is None:
            return


def _note_result(app: App, order: Order, payment: Payment, code: str, address: str) -> None:
    form_address = "" if payment.checkout_id is None else address
    payer = card_testing.make_payer(order, payment.merchant_id, payment.ndc, form_address)
    if app.card_testing is not None and payer is not None:
        app.card_testing.note_result(payer, code)


async def _lock_checkout(app: App, payment: Payment, checkout_id: CheckoutId) -> list[Write] | None:
    """Returns the writes that lock the checkout.

    Returns None where another attempt has it, or after declining the payment because the checkout is over, paid or
    changed.
    """
    checkout, now = await find_checkout(app.database, payment.merchant_id, checkout_id), app.clock.now()
    if checkout is None or checkout.expires_at <= now or checkout.state is CheckoutState.CANCELLED:
        await close(app, payment, _SESSION_OVER)
        return None
    if checkout.state is not CheckoutState.OPEN:
        if checkout.subject_id != payment.id:
            await close(app, payment, _PAID_ELSEWHERE)
        return None
    if checkouts.find_prepared_money(app, checkout) != payment.money:
        await close(app, payment, _SESSION_OVER)
        return None
    return lock_checkout_writes(checkout, payment.id, now)


async def close(app: App, payment: Payment, verdict: Verdict) -> bool:
    """Completes a waiting payment without a charge. Returns false where another request was faster."""
    completion = signing.complete_signed(app, payment, verdict)
    unit = [
        *payments.completion_writes(completion, expected=State.WAITING),
        *authentications.end_authentication_writes(payment),
    ]
    return await app.database.write(unit, label="closed without charge")


async def _recall(app: App, payment: Payment, cvv: Secret | None) -> Order:
    sealed = await payments.find_sealed_account(app.database, payment.merchant_id, payment.id)
    if sealed is None:
        raise LookupError(f"payment {payment.id} waits for its shopper and has no account")
    owner = sealing.make_owner("payment", payment.merchant_id, payment.id)
    account = sealing.open_account(sealed, owner=owner, keyring=app.keyring)
    hidden = sealing.open_hidden(sealed, owner=owner, keyring=app.keyring)
    if isinstance(account, CardAccount) and cvv is not None and len(cvv):
        account = msgspec.structs.replace(account, cvv=cvv)
    return orders.recall_order(payment, account, app.merchants.get_channel(payment.channel_id), hidden)


def go_home(app: App, payment: Payment) -> GoHome:
    """Returns the shopper to the shop, if the channel still allows the address."""
    address, channel = payment.return_url, app.merchants.get_channel(payment.channel_id)
    if address is None or not app.may_lead_to(channel, address):
        return GoHome(None)
    origin = orders.get_shop_origin(payment.echo)
    is_paid = payment.result_code != "" and is_success(payment.result_code)
    return GoHome(shopper_urls.make_return_url(address, payment), payment.checkout_id, origin, is_paid)


async def accept_challenge_result(app: App, token_text: str, body: bytes) -> bytes:
    """Answers in the words of the protocol, whatever was sent."""
    token = shopper_urls.read_shopper_token(token_text)
    row = await _find_row(app, token)
    if token is None or row is None or not compare_digest(row.body.results_hash, hash_once_key(token.key)):
        return exchanges.answer_result(body, None, accepted=False)
    answer = await _take_challenge_result(app, row, body)
    about, request = journal.About(row.merchant_id, row.id, row.created_at), WireRequest(path="RReq", body=body, key="")
    app.journal.note_message(app.clock.now(), about, "challenge result", request, WireReply(200, answer))
    return answer


async def _take_challenge_result(app: App, row: authentication.AuthenticationRow, body: bytes) -> bytes:
    result = exchanges.read_result(body, row.body) if row.stage is authentication.Stage.CHALLENGED else None
    if result is None or row.expires_at <= app.clock.now():
        return exchanges.answer_result(body, row.body, accepted=False)
    answered = msgspec.structs.replace(
        row, stage=authentication.Stage.ANSWERED, body=msgspec.structs.replace(row.body, result=result)
    )
    accepted = await authentications.move_authentication(
        app.database, signing.sign(app, answered), authentication.Stage.CHALLENGED, label="challenge result"
    )
    if accepted and row.body.acs_url is None:
        # The shopper was asked outside the browser and does not come back, so the security code stays sealed.
        payment = await payments.find_payment(app.database, row.merchant_id, row.id)
        if payment is not None and payment.state is State.WAITING:
            await finish(app, signing.trust(app, payment), answered.body, None)
    return exchanges.answer_result(body, row.body, accepted=accepted)


async def accept_method_result(app: App, token_text: str, server_id: str | None) -> None:
    """Records that the hidden page is done, which is only a hint to the issuer."""
    row = await _find_row(app, shopper_urls.read_shopper_token(token_text))
    if row is None or row.stage is not authentication.Stage.OPEN or row.body.server_id != server_id:
        return
    done = msgspec.structs.replace(row, body=msgspec.structs.replace(row.body, is_method_done=True))
    await authentications.move_authentication(
        app.database, signing.sign(app, done), authentication.Stage.OPEN, label="3DS method done"
    )


async def _find_row(app: App, token: shopper_urls.ShopperToken | None) -> authentication.AuthenticationRow | None:
    if token is None:
        return None
    row = await authentications.find_authentication(app.database, token.merchant_id, token.payment_id)
    return None if row is None else signing.trust(app, row)
