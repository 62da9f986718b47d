"""A new user chooses a password here, and on a live host sets up a second factor, before any other page.

Each step ends with a new session, and the last one with that of a user who is signed in.
"""

import msgspec

from tollgate.flows import factors, sign_in
from tollgate.office import passkeys, profile, visits
from tollgate.payments.users import Stage
from tollgate.store import users
from tollgate.values import Secret
from tollgate.vault import passwords
from tollgate.web.request import Reply, see_other

ROUTES = visits.OfficeRoutes()
_HERE = frozenset({Stage.SETTING_UP})


@ROUTES.add("GET", visits.SET_UP, None, stages=_HERE)
async def show_set_up(visit: visits.Visit) -> Reply:
    """Asks for what is still missing."""
    if visit.user.must_change_password:
        length_min = passwords.PASSWORD_LENGTH_MIN
        return visits.render_open(
            visit.app, "set_up_password.html", title="Choose a password", visit=visit, length_min=length_min
        )
    return _render_factors(visit, passwords.make_totp_secret(visit.app.random_bytes))


def _render_factors(visit: visits.Visit, secret: Secret, fault: str = "") -> Reply:
    return visits.render_open(
        visit.app,
        "set_up_factor.html",
        title="Set up a second factor",
        status=400 if fault else 200,
        visit=visit,
        fault=fault,
        party=passkeys.find_party(visit),
        **profile.make_totp_values(visit, secret),
    )


@ROUTES.add("POST", f"{visits.SET_UP}/password", None, stages=_HERE, operation="office_second_factor")
async def submit_first_password(visit: visits.Visit) -> Reply:
    """Replaces the password that somebody else knows."""
    if not visit.user.must_change_password:
        raise visits.refuse_field("new_password", "was chosen already")
    origin = visits.get_origin(visit.request)
    new = await factors.change_password(visit.app, visit.visitor, profile.read_new_password(visit), origin)
    return profile.carry_session(visit, new, see_other(visits.OFFICE))


@ROUTES.add("POST", f"{visits.SET_UP}/totp", None, stages=_HERE)
async def submit_first_totp(visit: visits.Visit) -> Reply:
    """Sets up one-time codes, after a first one was right."""
    _check_password_first(visit)
    secret, code = profile.read_totp(visit), Secret(visit.find("code"))
    if not factors.is_first_code(visit.app, secret, code):
        return _render_factors(visit, secret, "The code is wrong. Please type the one that the app shows now.")
    made = await factors.add_totp(visit.app, visit.visitor, secret, code, visits.get_origin(visit.request))
    return await _end(visit, made)


@ROUTES.add("POST", f"{visits.SET_UP}/passkey", None, stages=_HERE)
async def submit_first_passkey(visit: visits.Visit) -> Reply:
    """Adds the passkey that the browser made."""
    _check_password_first(visit)
    return await _end(visit, await profile.add_passkey(visit))


def _check_password_first(visit: visits.Visit) -> None:
    if visit.user.must_change_password:
        raise visits.refuse_field("new_password", "must be chosen first")


async def _end(visit: visits.Visit, made: list[Secret]) -> Reply:
    """Shows the recovery codes once; the user is signed in from here on."""
    user = await users.find_user(visit.app.database, visit.user.id) or visit.user
    new = await sign_in.pass_set_up(
        visit.app, msgspec.structs.replace(visit.visitor, user=user), visits.get_origin(visit.request)
    )
    shown = [passwords.show_recovery_code(code) for code in made]
    page = visits.render_open(visit.app, "set_up_codes.html", title="Recovery codes", codes=shown, onward=visits.OFFICE)
    return profile.carry_session(visit, new, page)
