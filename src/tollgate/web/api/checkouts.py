"""Endpoints of checkouts and payment links.

To a shopper's browser the id of either is a key, so no log shows it.
"""

from __future__ import annotations

from tollgate.catalog.results import get_result
from tollgate.contract.checkouts import Submission
from tollgate.flows.checkouts import cancel_prepared, change_checkout, prepare_checkout, read_checkout
from tollgate.flows.payment_links import end_payment_link, make_payment_link, read_link_payment, read_payment_link
from tollgate.flows.resume import Lost
from tollgate.flows.submit import abandon_attempt, go_to_provider, show_form, submit_checkout
from tollgate.operations.app import App
from tollgate.payments.checkout import CheckoutKind
from tollgate.web.api.payments import answer_once, change_named
from tollgate.web.pages.rendering import ANYWHERE, Pages
from tollgate.web.request import Access, Caller, Reply, Request, Routes, get_channel, reply_with
from tollgate.web.telemetry import count_payment

_PATH = "/v1/checkouts"
_pages = Pages()


ROUTES = Routes()


@ROUTES.add("POST", _PATH, "create_checkout", "Prepare a checkout for the hosted payment form; lives for 30 minutes.")
async def create_checkout(request: Request, caller: Caller, app: App) -> Reply:
    return await answer_once(request, caller, app, _PATH, prepare_checkout, operation="create_checkout")


@ROUTES.add(
    "POST",
    f"{_PATH}/{{id}}",
    "update_checkout",
    "Change a prepared checkout that nobody is paying, such as its amount.",
)
async def update_checkout(request: Request, caller: Caller, app: App) -> Reply:
    path = f"{_PATH}/{request.names[0]}"
    return await change_named(request, caller, app, path, change_checkout, operation="update_checkout")


@ROUTES.add("DELETE", f"{_PATH}/{{id}}", "delete_checkout", "Cancel a prepared checkout that nobody is paying.")
async def delete_checkout(request: Request, caller: Caller, app: App) -> Reply:
    return reply_with(await cancel_prepared(app, request.names[0], get_channel(caller)))


@ROUTES.add(
    "GET",
    f"{_PATH}/{{id}}/payment",
    "read_checkout",
    "What became of a checkout; a success is told once. Twice a minute at most.",
)
async def read_payment_status(request: Request, caller: Caller, app: App) -> Reply:
    return await _read_status(request, caller, app, CheckoutKind.PAYMENT)


@ROUTES.add(
    "GET",
    f"{_PATH}/{{id}}/registration",
    "read_checkout",
    "What became of a checkout that stores an account; a success is told once.",
)
async def read_registration_status(request: Request, caller: Caller, app: App) -> Reply:
    return await _read_status(request, caller, app, CheckoutKind.REGISTRATION)


async def _read_status(request: Request, caller: Caller, app: App, kind: CheckoutKind) -> Reply:
    """HEAD is answered as GET would be and leaves the status for GET to tell."""
    is_told = request.method != "HEAD"
    return reply_with(await read_checkout(app, request.names[0], kind, get_channel(caller), is_told=is_told))


@ROUTES.add(
    "GET",
    f"{_PATH}/{{id}}/form",
    "describe_form",
    "What the payment form has to know of a checkout, for its script.",
    Access.OPEN,
    traces_checkout=True,
    hides_path=True,
    is_for_any_origin=True,
)
async def describe_form(request: Request, app: App) -> Reply:
    codes, languages = (" ".join(text for name, text in request.pairs if name == asked) for asked in ("brands", "lang"))
    return reply_with(await show_form(app, request.names[0], codes, languages))


@ROUTES.add(
    "POST",
    f"{_PATH}/{{id}}/payment",
    "submit_checkout",
    "The shopper's form pays; JSON where `Accept` names it, else 303 to where the shopper goes next.",
    Access.OPEN,
    traces_checkout=True,
    takes_parameters=True,
    hides_path=True,
    is_for_any_origin=True,
)
async def submit_payment(request: Request, app: App) -> Reply:
    return await _submit(request, app, CheckoutKind.PAYMENT)


@ROUTES.add(
    "POST",
    f"{_PATH}/{{id}}/registration",
    "submit_checkout",
    "The shopper's form stores an account.",
    Access.OPEN,
    traces_checkout=True,
    takes_parameters=True,
    hides_path=True,
    is_for_any_origin=True,
)
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


@ROUTES.add(
    "POST",
    f"{_PATH}/{{id}}/abandoned",
    "abandon_checkout",
    "The shopper's form gives up an `attempt` whose challenge or provider's window was closed.",
    Access.OPEN,
    traces_checkout=True,
    also_takes=frozenset({"attempt"}),
    hides_path=True,
    is_for_any_origin=True,
)
async def abandon(request: Request, app: App) -> Reply:
    attempt_id = next((text for name, text in request.pairs if name == "attempt"), "")
    return reply_with(await abandon_attempt(app, request.names[0], attempt_id))


@ROUTES.add(
    "GET",
    f"{_PATH}/{{id}}/provider",
    "send_to_provider",
    "The page that takes a shopper on to a provider which wants a form.",
    Access.OPEN,
    hides_path=True,
)
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


_LINKS_PATH = "/paybylink/v1"


@ROUTES.add(
    "POST",
    _LINKS_PATH,
    "create_payment_link",
    "Make a payment link: an address to send to a shopper, with a page that takes one payment.",
)
async def create_payment_link(request: Request, caller: Caller, app: App) -> Reply:
    return await answer_once(request, caller, app, _LINKS_PATH, make_payment_link, operation="create_payment_link")


@ROUTES.add(
    "GET",
    f"{_LINKS_PATH}/{{id}}",
    "read_payment_link",
    "How a payment link stands: open, paid, expired or ended.",
    hides_path=True,
)
async def show_payment_link(request: Request, caller: Caller, app: App) -> Reply:
    return reply_with(await read_payment_link(app, request.names[0], get_channel(caller), caller.ndc))


@ROUTES.add(
    "DELETE",
    f"{_LINKS_PATH}/{{id}}",
    "delete_payment_link",
    "End a payment link that nobody has paid.",
    hides_path=True,
)
async def delete_payment_link(request: Request, caller: Caller, app: App) -> Reply:
    return reply_with(await end_payment_link(app, request.names[0], get_channel(caller), caller.ndc))


@ROUTES.add(
    "GET",
    f"{_LINKS_PATH}/{{id}}/checkouts/{{checkout}}/payment",
    "read_link_payment",
    "The payment of a payment link, as often as it is asked for.",
    hides_path=True,
)
async def show_link_payment(request: Request, caller: Caller, app: App) -> Reply:
    link_id, checkout_id = request.names
    return reply_with(await read_link_payment(app, link_id, checkout_id, get_channel(caller)))
