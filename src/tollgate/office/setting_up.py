"""A new user chooses a password here, and on a live host sets up a second factor, before any other page.

Each step ends with a new session, and the last one with that of a user who is signed in.
"""

import msgspec

from tollgate.flows import factors, sign_in
from tollgate.office.passkeys import find_party
from tollgate.office.profile import add_passkey, carry_session, make_totp_values, read_new_password, read_totp
from tollgate.office.visits import OFFICE, SET_UP, OfficeRoutes, Visit, get_origin, refuse_field, render_open
from tollgate.payments.users import Stage
from tollgate.store import users
from tollgate.values import Secret
from tollgate.vault import passwords
from tollgate.web.request import Reply, see_other

ROUTES = OfficeRoutes()
_HERE = frozenset({Stage.SETTING_UP})


@ROUTES.add("GET", SET_UP, None, stages=_HERE)
async def show_set_up(visit: Visit) -> Reply:
    """Asks for what is still missing."""
    if visit.user.must_change_password:
        length_min = passwords.PASSWORD_LENGTH_MIN
        return render_open(
            visit.app, "set_up_password.html", title="Choose a password", visit=visit, length_min=length_min
        )
    return _render_factors(visit, passwords.make_totp_secret(visit.app.random_bytes))


def _render_factors(visit: Visit, secret: Secret, fault: str = "") -> Reply:
    return render_open(
        visit.app,
        "set_up_factor.html",
        title="Set up a second factor",
        status=400 if fault else 200,
        visit=visit,
        fault=fault,
        party=find_party(visit),
        **make_totp_values(visit, secret),
    )


@ROUTES.add("POST", f"{SET_UP}/password", None, stages=_HERE, operation="office_second_factor")
async def submit_first_password(visit: Visit) -> Reply:
    """Replaces the password that somebody else knows."""
    if not visit.user.must_change_password:
        raise refuse_field("new_password", "was chosen already")
    origin = get_origin(visit.request)
    new = await factors.change_password(visit.app, visit.visitor, read_new_password(visit), origin)
    return carry_session(visit, new, see_other(OFFICE))


@ROUTES.add("POST", f"{SET_UP}/totp", None, stages=_HERE)
async def submit_first_totp(visit: Visit) -> Reply:
    """Sets up one-time codes, after a first one was right."""
    _check_password_first(visit)
    secret, code = read_totp(visit), Secret(visit.find("code"))
    if not factors.is_first_code(visit.app, secret, code):
        return _render_factors(visit, secret, "The code is wrong. Please type the one that the app shows now.")
    made = await factors.add_totp(visit.app, visit.visitor, secret, code, get_origin(visit.request))
    return await _end(visit, made)


@ROUTES.add("POST", f"{SET_UP}/passkey", None, stages=_HERE)
async def submit_first_passkey(visit: Visit) -> Reply:
    """Adds the passkey that the browser made."""
    _check_password_first(visit)
    return await _end(visit, await add_passkey(visit))


def _check_password_first(visit: Visit) -> None:
    if visit.user.must_change_password:
        raise refuse_field("new_password", "must be chosen first")


async def _end(visit: Visit, made: list[Secret]) -> Reply:
    """Shows the recovery codes once; the user is signed in from here on."""
    user = await users.find_user(visit.app.database, visit.user.id) or visit.user
    new = await sign_in.pass_set_up(
        visit.app, msgspec.structs.replace(visit.visitor, user=user), get_origin(visit.request)
    )
    shown = [passwords.show_recovery_code(code) for code in made]
    page = render_open(visit.app, "set_up_codes.html", title="Recovery codes", codes=shown, onward=OFFICE)
    return carry_session(visit, new, page)
