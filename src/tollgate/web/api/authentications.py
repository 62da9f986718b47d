"""Endpoints of 3-D Secure, and the address by which a shopper's browser comes back to a payment.

What a message means is known to the connector.
"""

from tollgate.catalog import codes, payment_types, results
from tollgate.connectors.threeds import exchanges
from tollgate.contract.answers import answer_payment
from tollgate.contract.authentications import BROWSER_FIELDS, read_collected_browser
from tollgate.contract.shopper_urls import METHOD_FIELD
from tollgate.flows import pay, resume
from tollgate.operations.app import App
from tollgate.payments.authentication import Browser
from tollgate.values import NotFound
from tollgate.web.api.payments import begin
from tollgate.web.pages.rendering import ANYWHERE, Pages
from tollgate.web.request import Access, Caller, Reply, Request, Routes, reply_with, see_other

_pages = Pages()
_JSON = b"application/json;charset=UTF-8"


ROUTES = Routes()


@ROUTES.add("POST", "/v1/threeDSecure", "authenticate")
async def create_authentication(request: Request, caller: Caller, app: App) -> Reply:
    """Authenticates a shopper without paying; the result may be sent along with a payment later."""
    return await begin(request, caller, app)


@ROUTES.add("GET", "/v1/threeDSecure/{id}", "read_authentication", Access.TOKEN)
async def read_authentication(request: Request, caller: Caller, app: App) -> Reply:
    """Reads an authentication; 404 where there is none."""
    payment = await pay.look_up(app, caller.merchant_id, request.names[0])
    if payment is None or payment.payment_type != payment_types.AUTHENTICATION:
        raise NotFound(results.get_result(codes.PAYMENT_UNKNOWN))
    return reply_with(answer_payment(payment, app.envelope))


@ROUTES.add("POST", "/v1/threeDSecure/results/{token}", "take_result", Access.OPEN, hides_path=True, takes_bytes=True)
async def take_result(request: Request, app: App) -> Reply:
    """The directory server reports the result of a challenge (RReq, answered by RRes).

    The status is always the same, because the protocol has its own words for what is wrong with a message.
    """
    return Reply(200, await resume.accept_challenge_result(app, request.names[0], request.body), _JSON)


@ROUTES.add("POST", "/v1/threeDSecure/method/{token}", "take_method", Access.OPEN, hides_path=True)
async def take_method(request: Request, app: App) -> Reply:
    """The issuer's hidden page (3DS method) reports that it is done."""
    sent = dict(request.pairs).get(METHOD_FIELD)
    await resume.accept_method_result(app, request.names[0], None if sent is None else exchanges.read_method_data(sent))
    return _pages.end("Done", "")


_SHOPPER_PATH = "/v1/shopper/{token}"

_COLLECTED = "collected"
_ANSWER = "cres"
_ASKS = {member.replace("screen_color_depth", "color_depth"): name for name, member in BROWSER_FIELDS.items()}
_ONE_MOMENT = "We are checking this with your bank. Please do not close this page."


@ROUTES.add("POST", _SHOPPER_PATH, "shopper_submits", Access.OPEN, hides_path=True)
@ROUTES.add("GET", _SHOPPER_PATH, "shopper_arrives", Access.OPEN, hides_path=True)
async def receive_shopper(request: Request, app: App) -> Reply:
    """The shopper's browser comes back to a payment; `redirect.url` of an answer leads here."""
    shopper_token = request.names[0]
    arrival = resume.Arrival(
        page_url=f"{app.base_url}/v1/shopper/{shopper_token}",
        shopper_token=shopper_token,
        browser=_read_browser(request),
        has_answer=any(name == _ANSWER for name, _ in request.pairs),
        address=request.address,
    )
    match await resume.arrive(app, arrival):
        case resume.GoHome(url=url, checkout_id=checkout_id) as home if url and checkout_id:
            return _bring_home(url, checkout_id, home)
        case resume.GoHome(url=url):
            return _go(request, url) if url else _pages.end("Thank you", "You can close this page now.")
        case resume.Forward(url=url, fields=fields, is_nested=is_nested):
            return _pages.render(
                "forward.html",
                form_targets=ANYWHERE,
                framed_by=ANYWHERE,
                frames=ANYWHERE if is_nested else (),
                permits=("payment",) if is_nested else (),
                nested=is_nested,
                title="On to your bank",
                text="Your bank wants to know that it is you who pays.",
                url=url,
                method="post",
                fields=fields,
            )
        case resume.Collect() as collect:
            return _collect(app, shopper_token, collect)
        case resume.Wait(note=note):
            return _pages.render(
                "wait.html",
                framed_by=ANYWHERE,
                title="One moment",
                text=_ONE_MOMENT,
                note=note,
                url=f"/v1/shopper/{shopper_token}",
            )
        case resume.Lost():
            return _pages.lose()


def _go(request: Request, url: str) -> Reply:
    """Takes the shopper to an address; after a form by a page, because the form's policy may forbid a redirect."""
    if request.method != "POST":
        return see_other(url)
    return _pages.render(
        "leave.html", framed_by=ANYWHERE, title="Back to the shop", text="You are being taken back.", url=url
    )


def _bring_home(url: str, checkout_id: str, home: resume.GoHome) -> Reply:
    """Renders the page that returns to the shop; the shop's page may frame this one, or have opened it."""
    return _pages.render(
        "home.html",
        framed_by=ANYWHERE,
        title="Back to the shop",
        text="You are being taken back.",
        url=url,
        checkout_id=checkout_id,
        origin=home.shop_origin,
        is_paid=home.is_paid,
    )


def _collect(app: App, shopper_token: str, collect: resume.Collect) -> Reply:
    frame = None
    if collect.method_url is not None:
        frame = {
            "url": collect.method_url,
            "name": METHOD_FIELD,
            "value": collect.method_data,
            "until": "/v1/threeDSecure/method/",
            "done_name": "done",
        }
    return _pages.render(
        "collect.html",
        form_targets=ANYWHERE if frame else (),
        framed_by=ANYWHERE,
        frames=ANYWHERE if frame else (),
        title="One moment",
        text=_ONE_MOMENT,
        action=f"{app.base_url}/v1/shopper/{shopper_token}",
        fields={_COLLECTED: "1"},
        asks=_ASKS,
        frame=frame,
    )


def _read_browser(request: Request) -> Browser | None:
    """Reads the browser's facts from our own page alone: a shop may post here too, with fields of its own."""
    sent = dict(request.pairs)
    if request.method != "POST" or _COLLECTED not in sent:
        return None
    return read_collected_browser(
        sent, accept=request.header(b"accept"), user_agent=request.header(b"user-agent"), ip=None
    )
