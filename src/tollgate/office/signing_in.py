"""Pages to sign in and out, to give the second factor, and to confirm who is there.

Whether a password or a code is right is decided in `flows`.
"""

from urllib.parse import quote

import msgspec

from tollgate.flows import factors, sign_in
from tollgate.flows.sign_in import Factor, NewSession
from tollgate.office import passkeys, visits
from tollgate.operations.app import App
from tollgate.payments.users import Stage
from tollgate.store import users
from tollgate.values import Secret
from tollgate.vault import passwords
from tollgate.web.request import Reply, Request, see_other

ROUTES = visits.OfficeRoutes()
_FORM = "form"
"""The use of the cookie with which the form to sign in is compared."""
_WRONG = (
    "The name or the password is wrong, or there were too many tries. "
    "After 10 failures a name is locked for 30 minutes."
)
_WRONG_CODE = "The code or the passkey is wrong, was used before, or there were too many tries."
_AT_ANY_STAGE = frozenset(Stage)


def choose_next(text: str) -> str:
    """Returns the page to go to after a form: one of the back office, of the documentation, or the front page."""
    is_own = text in ("/", "/docs") or text.startswith((f"{visits.OFFICE}/", "/docs/"))
    is_path = text.isascii() and text.isprintable() and not any(each in text for each in ("\\", "//", "?"))
    return text if is_own and is_path else visits.OFFICE


@ROUTES.add_open("GET", visits.SIGN_IN, "office_sign_in_page")
async def show_sign_in(request: Request, app: App) -> Reply:
    """Shows the form to sign in."""
    return _render_sign_in(request, app, choose_next(request.find("next")))


def _render_sign_in(request: Request, app: App, following: str, fault: str = "") -> Reply:
    # The form has a token of its own, or else another site could sign a browser in as somebody else.
    known = visits.find_cookie(request, visits.get_cookie_name(app, _FORM))
    token = Secret(known) if known else passwords.make_session_token(app.random_bytes)
    reply = visits.render_open(
        app,
        "sign_in.html",
        title="Sign in",
        status=400 if fault else 200,
        form_token=passwords.make_form_token(token),
        next=following,
        fault=fault,
        name=request.find("name") if fault else "",
    )
    if known:
        return reply
    cookie = visits.make_cookie(app, visits.get_cookie_name(app, _FORM), passwords.show_session_token(token))
    return msgspec.structs.replace(reply, headers=(*reply.headers, cookie))


@ROUTES.add_open("POST", visits.SIGN_IN, "office_sign_in")
async def submit_sign_in(request: Request, app: App) -> Reply:
    """Judges name and password."""
    cookie = visits.find_cookie(request, visits.get_cookie_name(app, _FORM))
    visits.check_form(request, Secret(cookie) if cookie else None)
    following = choose_next(request.find("next"))
    password = Secret(request.find("password")[: passwords.PASSWORD_LENGTH_MAX])
    new = await sign_in.sign_in(app, request.find("name"), password, visits.get_origin(request))
    if new is None:
        return _render_sign_in(request, app, following, _WRONG)
    return enter(app, new, following)


def enter(app: App, new: NewSession, following: str) -> Reply:
    """Gives the browser the token of its new session, and leads on."""
    target = (
        f"{visits.SECOND_FACTOR}?next={quote(following)}" if new.session.stage is Stage.SECOND_FACTOR else following
    )
    token = passwords.show_session_token(new.token)
    return see_other(target, visits.make_cookie(app, visits.get_cookie_name(app), token))


@ROUTES.add("GET", visits.SECOND_FACTOR, None, stages=frozenset({Stage.SECOND_FACTOR}))
async def show_second_factor(visit: visits.Visit) -> Reply:
    """Asks for the second factor."""
    return await render_challenge(visit, visits.SECOND_FACTOR, "Second factor")


@ROUTES.add(
    "POST", visits.SECOND_FACTOR, None, stages=frozenset({Stage.SECOND_FACTOR}), operation="office_second_factor"
)
async def submit_second_factor(visit: visits.Visit) -> Reply:
    """Judges a passkey, a one-time code or a recovery code."""
    factor = await _find_second_factor(visit)
    if factor is None:
        return await render_challenge(visit, visits.SECOND_FACTOR, "Second factor", _WRONG_CODE)
    new = await sign_in.pass_second_factor(visit.app, visit.visitor, factor, visits.get_origin(visit.request))
    return enter(visit.app, new, choose_next(visit.find("next")))


async def render_challenge(visit: visits.Visit, action: str, title: str, fault: str = "") -> Reply:
    """Renders the page that asks for a code, or for the password of a user without a second factor."""
    return visits.render_open(
        visit.app,
        "challenge.html",
        title=title,
        status=400 if fault else 200,
        visit=visit,
        action=action,
        fault=fault,
        next=choose_next(visit.find("next")),
        has_factor=await sign_in.has_second_factor(visit.app, visit.user),
        has_passkey=bool(await users.list_passkeys(visit.app.database, visit.user.id)),
        party=passkeys.find_party(visit),
    )


@ROUTES.add("GET", visits.CONFIRM, None)
async def show_confirm(visit: visits.Visit) -> Reply:
    """Asks again who is there, before a page that needs it."""
    return await render_challenge(visit, visits.CONFIRM, "Confirm that it is you")


@ROUTES.add("POST", visits.CONFIRM, None, operation="office_second_factor")
async def submit_confirm(visit: visits.Visit) -> Reply:
    """Judges the code, or the password of a user without a second factor."""
    factor = await _find_factor(visit)
    if factor is None:
        return await render_challenge(visit, visits.CONFIRM, "Confirm that it is you", _WRONG_CODE)
    await sign_in.confirm(visit.app, visit.visitor, factor, visits.get_origin(visit.request))
    return visit.go(choose_next(visit.find("next")))


async def _find_factor(visit: visits.Visit) -> Factor | None:
    if await sign_in.has_second_factor(visit.app, visit.user):
        return await _find_second_factor(visit)
    # A password may begin or end with a space.
    password = Secret(visit.request.find("code")[: passwords.PASSWORD_LENGTH_MAX])
    return await sign_in.check_password(visit.app, visit.user, password, visits.get_origin(visit.request))


async def _find_second_factor(visit: visits.Visit) -> Factor | None:
    origin, answer = visits.get_origin(visit.request), visit.find("credential")
    if answer:
        return await factors.check_passkey(visit.app, visit.visitor, passkeys.find_party(visit), answer, origin)
    return await sign_in.check_code(visit.app, visit.user, Secret(visit.find("code")), origin)


@ROUTES.add("POST", f"{visits.OFFICE}/sign-out", None, stages=_AT_ANY_STAGE)
async def submit_sign_out(visit: visits.Visit) -> Reply:
    """Ends the session."""
    await sign_in.sign_out(visit.app, visit.visitor, visits.get_origin(visit.request))
    return see_other(visits.SIGN_IN, visits.make_cookie(visit.app, visits.get_cookie_name(visit.app), "", lasts_s=0))
