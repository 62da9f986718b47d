"""Endpoints of checkouts and payment links.

To a shopper's browser the id of either is a key, so no log shows it.
"""

from functools import partial

from tollgate.catalog.results import get_result
from tollgate.contract.checkouts import Submission
from tollgate.flows import checkouts, payment_links, resume
from tollgate.flows.submit import abandon_attempt, go_to_provider, show_form, submit_checkout
from tollgate.operations.app import App
from tollgate.payments.checkout import CheckoutKind
from tollgate.web.api.payments import answer_once, change_named
from tollgate.web.pages.rendering import ANYWHERE, Pages
from tollgate.web.request import Access, Caller, Reply, Request, Routes, get_channel, reply_with, see_other
from tollgate.web.telemetry import count_payment

_PATH = "/v1/checkouts"
_pages = Pages()


ROUTES = Routes()


@ROUTES.add("POST", _PATH, "create_checkout")
async def create_checkout(request: Request, caller: Caller, app: App) -> Reply:
    """Prepares a checkout for the hosted payment form; it lives for 30 minutes."""
    return await answer_once(request, caller, app, checkouts.prepare_checkout)


@ROUTES.add("POST", f"{_PATH}/{{id}}", "update_checkout")
async def update_checkout(request: Request, caller: Caller, app: App) -> Reply:
    """Changes a prepared checkout that nobody is paying, such as its amount."""
    return await change_named(request, caller, app, checkouts.change_checkout)


@ROUTES.add("DELETE", f"{_PATH}/{{id}}", "delete_checkout")
async def delete_checkout(request: Request, caller: Caller, app: App) -> Reply:
    """Cancels a prepared checkout that nobody is paying."""
    return reply_with(await checkouts.cancel_prepared(app, request.names[0], get_channel(caller)))


@ROUTES.add("GET", f"{_PATH}/{{id}}/registration", "read_checkout")
@ROUTES.add("GET", f"{_PATH}/{{id}}/payment", "read_checkout")
async def read_status(request: Request, caller: Caller, app: App) -> Reply:
    """Returns what became of a checkout, twice a minute at most; a success is returned once.

    HEAD is answered as GET would be and leaves the success for GET to return.
    """
    is_told = request.method != "HEAD"
    return reply_with(
        await checkouts.read_checkout(app, request.names[0], _get_kind(request), get_channel(caller), is_told=is_told)
    )


def _get_kind(request: Request) -> CheckoutKind:
    return CheckoutKind(request.path.rpartition("/")[2])


_add_form_route = partial(ROUTES.add, access=Access.OPEN, traces_checkout=True, hides_path=True, is_for_any_origin=True)


@_add_form_route("GET", f"{_PATH}/{{id}}/form", "describe_form")
async def describe_form(request: Request, app: App) -> Reply:
    """Returns the facts about a checkout that the script of the payment form needs."""
    codes, languages = (" ".join(text for name, text in request.pairs if name == asked) for asked in ("brands", "lang"))
    origin = request.header(b"origin")
    return reply_with(await show_form(app, request.names[0], codes, languages, origin=origin))


@_add_form_route("POST", f"{_PATH}/{{id}}/registration", "submit_checkout", takes_parameters=True)
@_add_form_route("POST", f"{_PATH}/{{id}}/payment", "submit_checkout", takes_parameters=True)
async def submit(request: Request, app: App) -> Reply:
    """The shopper's form pays or registers an account.

    A script gets JSON, because its `Accept` names it; a form without one is sent where its shopper goes next.
    """
    accept = request.header(b"accept")
    is_script = "json" in (accept or "")
    sent = Submission(
        pairs=request.pairs,
        address=request.address,
        # A script names what it can read itself, which is not what its browser accepts.
        accept=None if is_script else accept,
        user_agent=request.header(b"user-agent"),
        origin=request.header(b"origin"),
    )
    done = await submit_checkout(app, request.names[0], _get_kind(request), sent)
    if done.kind:
        count_payment(done.kind, get_result(done.answer.code).group)
    return reply_with(done.answer) if is_script else see_other(done.going_on.url)


@_add_form_route("POST", f"{_PATH}/{{id}}/abandoned", "abandon_checkout", also_takes=frozenset({"attempt"}))
async def abandon(request: Request, app: App) -> Reply:
    """The shopper's form gives up an `attempt` whose challenge or provider's window was closed."""
    origin = request.header(b"origin")
    return reply_with(await abandon_attempt(app, request.names[0], request.find("attempt"), origin=origin))


@ROUTES.add("GET", f"{_PATH}/{{id}}/provider", "send_to_provider", Access.OPEN, hides_path=True)
async def send_to_provider(request: Request, app: App) -> Reply:
    """Shows the page that takes a shopper on to a provider which expects a form."""
    forward = await go_to_provider(app, request.names[0])
    if isinstance(forward, resume.Lost):
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


@ROUTES.add("POST", _LINKS_PATH, "create_payment_link")
async def create_payment_link(request: Request, caller: Caller, app: App) -> Reply:
    """Creates a payment link: an address to send to a shopper, with a page that takes one payment."""
    return await answer_once(request, caller, app, payment_links.make_payment_link)


@ROUTES.add("GET", f"{_LINKS_PATH}/{{id}}", "read_payment_link", hides_path=True)
async def show_payment_link(request: Request, caller: Caller, app: App) -> Reply:
    """Returns the status of a payment link: open, paid, expired or ended."""
    return reply_with(await payment_links.read_payment_link(app, request.names[0], get_channel(caller), caller.ndc))


@ROUTES.add("DELETE", f"{_LINKS_PATH}/{{id}}", "delete_payment_link", hides_path=True)
async def delete_payment_link(request: Request, caller: Caller, app: App) -> Reply:
    """Ends a payment link that nobody has paid."""
    return reply_with(await payment_links.end_payment_link(app, request.names[0], get_channel(caller), caller.ndc))


@ROUTES.add("GET", f"{_LINKS_PATH}/{{id}}/checkouts/{{checkout}}/payment", "read_link_payment", hides_path=True)
async def show_link_payment(request: Request, caller: Caller, app: App) -> Reply:
    """Returns the payment of a payment link, any number of times."""
    link_id, checkout_id = request.names
    return reply_with(await payment_links.read_link_payment(app, link_id, checkout_id, get_channel(caller)))
