"""Checkouts for the hosted payment form: the merchant prepares and asks, the shopper's form looks and submits.

What happens in between is told in `flows`. To a shopper's browser the id is a key, so no log shows it.
"""

from __future__ import annotations

from tollgate.catalog.results import get_result
from tollgate.contract.checkouts import Submission
from tollgate.flows.checkouts import cancel_prepared, change_checkout, prepare_checkout, read_checkout
from tollgate.flows.resume import Lost
from tollgate.flows.submit import abandon_attempt, go_to_provider, show_form, submit_checkout
from tollgate.operations.app import App
from tollgate.payments.checkout import CheckoutKind
from tollgate.web.api.changes import answer_once, change_named
from tollgate.web.metrics import count_payment
from tollgate.web.pages import ANYWHERE, Pages
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, get_channel, reply_with

_PATH = "/v1/checkouts"
_pages = Pages()


async def create_checkout(request: Request, caller: Caller, app: App) -> Reply:
    return await answer_once(request, caller, app, _PATH, prepare_checkout, operation="checkout")


async def update_checkout(request: Request, caller: Caller, app: App) -> Reply:
    path = f"{_PATH}/{request.names[0]}"
    return await change_named(request, caller, app, path, change_checkout, operation="checkout_update")


async def delete_checkout(request: Request, caller: Caller, app: App) -> Reply:
    return reply_with(await cancel_prepared(app, request.names[0], get_channel(caller)))


async def read_payment_status(request: Request, caller: Caller, app: App) -> Reply:
    return await _read_status(request, caller, app, CheckoutKind.PAYMENT)


async def read_registration_status(request: Request, caller: Caller, app: App) -> Reply:
    return await _read_status(request, caller, app, CheckoutKind.REGISTRATION)


async def _read_status(request: Request, caller: Caller, app: App, kind: CheckoutKind) -> Reply:
    """HEAD is answered as GET would be and leaves the status for GET to tell."""
    is_told = request.method != "HEAD"
    return reply_with(await read_checkout(app, request.names[0], kind, get_channel(caller), is_told=is_told))


async def describe_form(request: Request, app: App) -> Reply:
    codes, languages = (" ".join(text for name, text in request.pairs if name == asked) for asked in ("brands", "lang"))
    return reply_with(await show_form(app, request.names[0], codes, languages))


async def submit_payment(request: Request, app: App) -> Reply:
    return await _submit(request, app, CheckoutKind.PAYMENT)


async def submit_registration(request: Request, app: App) -> Reply:
    return await _submit(request, app, CheckoutKind.REGISTRATION)


async def _submit(request: Request, app: App, kind: CheckoutKind) -> Reply:
    """A script wants to read the answer; a form without one is sent where its shopper goes next."""
    accept = request.header(b"accept")
    is_script = "json" in (accept or "")
    sent = Submission(
        pairs=request.pairs,
        address=request.address,
        # A script names what it can read itself, which is not what its browser accepts.
        accept=None if is_script else accept,
        user_agent=request.header(b"user-agent"),
    )
    done = await submit_checkout(app, request.names[0], kind, sent)
    if done.kind:
        count_payment(done.kind, get_result(done.answer.code).group)
    if is_script:
        return reply_with(done.answer)
    return Reply(303, b"", b"text/plain", ((b"location", done.going_on.url.encode()),))


async def abandon(request: Request, app: App) -> Reply:
    attempt_id = next((text for name, text in request.pairs if name == "attempt"), "")
    return reply_with(await abandon_attempt(app, request.names[0], attempt_id))


async def send_to_provider(request: Request, app: App) -> Reply:
    forward = await go_to_provider(app, request.names[0])
    if isinstance(forward, Lost):
        return _pages.lose()
    return _pages.render(
        "forward.html",
        form_targets=ANYWHERE,
        framed_by=ANYWHERE,
        title="On to your payment",
        text="You finish the payment on the provider's page.",
        url=forward.url,
        method="post",
        fields=forward.fields,
    )


ROUTES = (
    RouteRow(
        method="POST",
        path=_PATH,
        operation="create_checkout",
        summary="Prepare a checkout for the hosted payment form; lives for 30 minutes.",
        access=Access.ENTITY,
        handler=create_checkout,
    ),
    RouteRow(
        method="POST",
        path=f"{_PATH}/{{id}}",
        operation="update_checkout",
        summary="Change a prepared checkout that nobody is paying, such as its amount.",
        access=Access.ENTITY,
        handler=update_checkout,
    ),
    RouteRow(
        method="DELETE",
        path=f"{_PATH}/{{id}}",
        operation="delete_checkout",
        summary="Cancel a prepared checkout that nobody is paying.",
        access=Access.ENTITY,
        handler=delete_checkout,
    ),
    RouteRow(
        method="GET",
        path=f"{_PATH}/{{id}}/payment",
        operation="read_checkout",
        summary="What became of a checkout; a success is told once. Twice a minute at most.",
        access=Access.ENTITY,
        handler=read_payment_status,
    ),
    RouteRow(
        method="GET",
        path=f"{_PATH}/{{id}}/registration",
        operation="read_checkout",
        summary="What became of a checkout that stores an account; a success is told once.",
        access=Access.ENTITY,
        handler=read_registration_status,
    ),
    RouteRow(
        method="POST",
        path=f"{_PATH}/{{id}}/payment",
        operation="submit_checkout",
        summary="The shopper's form pays; JSON where `Accept` names it, else 303 to where the shopper goes next.",
        access=Access.OPEN,
        handler=submit_payment,
        traces_checkout=True,
        takes_parameters=True,
        hides_path=True,
        is_for_any_origin=True,
    ),
    RouteRow(
        method="POST",
        path=f"{_PATH}/{{id}}/registration",
        operation="submit_checkout",
        summary="The shopper's form stores an account.",
        access=Access.OPEN,
        handler=submit_registration,
        traces_checkout=True,
        takes_parameters=True,
        hides_path=True,
        is_for_any_origin=True,
    ),
    RouteRow(
        method="GET",
        path=f"{_PATH}/{{id}}/form",
        operation="describe_form",
        summary="What the payment form has to know of a checkout, for its script.",
        access=Access.OPEN,
        handler=describe_form,
        traces_checkout=True,
        hides_path=True,
        is_for_any_origin=True,
    ),
    RouteRow(
        method="POST",
        path=f"{_PATH}/{{id}}/abandoned",
        operation="abandon_checkout",
        summary="The shopper's form gives up an `attempt` whose challenge or provider's window was closed.",
        access=Access.OPEN,
        handler=abandon,
        traces_checkout=True,
        also_takes=frozenset({"attempt"}),
        hides_path=True,
        is_for_any_origin=True,
    ),
    RouteRow(
        method="GET",
        path=f"{_PATH}/{{id}}/provider",
        operation="send_to_provider",
        summary="The page that takes a shopper on to a provider which wants a form.",
        access=Access.OPEN,
        handler=send_to_provider,
        hides_path=True,
    ),
)
