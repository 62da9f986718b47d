"""The profile of a user: password, second factors, recovery codes and sessions.

What these changes do is decided in `flows`.
"""

from tollgate.catalog.limits import LIMITS
from tollgate.flows import factors, sign_in
from tollgate.office import visits
from tollgate.office.passkeys import find_party
from tollgate.payments.users import Session
from tollgate.store import users
from tollgate.values import Secret
from tollgate.vault import passwords
from tollgate.web.request import Reply, see_other

ROUTES = visits.OfficeRoutes()
PROFILE = f"{visits.OFFICE}/profile"
_HOST_LENGTH_MAX = 253
"""A picture has room for the name of a host, and not for all that a header may hold."""


@ROUTES.add("GET", PROFILE, None)
async def show_profile(visit: visits.Visit) -> Reply:
    """Shows what the user signs in with, and where."""
    passkeys = await users.list_passkeys(visit.app.database, visit.user.id)
    return visit.render(
        "profile.html",
        title="Your profile",
        passkeys=passkeys,
        party=find_party(visit),
        sessions=await _list_sessions(visit),
        codes_left=len(visit.user.recovery_hashes),
        can_remove=not visit.app.is_live or len(passkeys) + (visit.user.sealed_totp is not None) > 1,
        length_min=passwords.PASSWORD_LENGTH_MIN,
    )


async def _list_sessions(visit: visits.Visit) -> list[Session]:
    now = visit.app.clock.wall()
    return [
        each
        for each in await users.list_sessions(visit.app.database, visit.user.id)
        if now - each.used_at <= LIMITS.session_idle and now - each.created_at <= LIMITS.session_lifetime
    ]


@ROUTES.add("POST", f"{PROFILE}/password", None, operation="office_second_factor")
async def submit_password(visit: visits.Visit) -> Reply:
    """Changes the password, and ends the other sessions."""
    origin = visits.get_origin(visit.request)
    current = Secret(visit.request.find("password")[: passwords.PASSWORD_LENGTH_MAX])
    if await sign_in.check_password(visit.app, visit.user, current, origin) is None:
        raise visits.refuse_field("password", "is wrong, or there were too many tries")
    new = await factors.change_password(visit.app, visit.visitor, read_new_password(visit), origin)
    reply = visit.go(PROFILE, "Your password is changed. Your other sessions have ended.")
    return carry_session(visit, new, reply)


def read_new_password(visit: visits.Visit) -> Secret:
    """Reads the new password, which is typed twice."""
    given, repeated = (visit.request.find(name) for name in ("new_password", "repeated_password"))
    if given != repeated:
        raise visits.refuse_field("repeated_password", "must be the same as the new password")
    return Secret(given)


def carry_session(visit: visits.Visit, new: sign_in.NewSession, reply: Reply) -> Reply:
    """Gives the browser the token of the session that replaces the present one, with a reply."""
    cookie = visits.make_cookie(visit.app, visits.get_cookie_name(visit.app), passwords.show_session_token(new.token))
    return Reply(reply.status, reply.body, reply.content_type, (*reply.headers, cookie))


# ---- second factors ----


@ROUTES.add("GET", f"{PROFILE}/totp", None, needs_confirmation=True)
async def show_totp(visit: visits.Visit) -> Reply:
    """Shows a new secret for an app that makes one-time codes."""
    return _render_totp(visit, passwords.make_totp_secret(visit.app.random_bytes))


def _render_totp(visit: visits.Visit, secret: Secret, fault: str = "") -> Reply:
    return visit.render(
        "totp.html",
        title="One-time codes",
        status=400 if fault else 200,
        fault=fault,
        **make_totp_values(visit, secret),
    )


def make_totp_values(visit: visits.Visit, secret: Secret) -> dict[str, str]:
    """Returns what `totp_form.html` shows of a secret."""
    host = (visit.request.header(b"host") or "").partition(":")[0]
    return {
        "picture": passwords.render_totp_picture(
            secret, visit.user.name, f"Tollgate {host[:_HOST_LENGTH_MAX]}".strip()
        ),
        "typed": passwords.show_totp_secret(secret),
        "sealed": passwords.seal_pending_totp(secret, visit.session.id, visit.app.keyring),
    }


def read_totp(visit: visits.Visit) -> Secret:
    """Reads the secret that the page with the picture carries."""
    secret = passwords.read_pending_totp(visit.find("sealed"), visit.session.id, visit.app.keyring)
    if secret is None:
        raise visits.refuse_field("code", "belongs to a page that has expired: please begin again")
    return secret


@ROUTES.add("POST", f"{PROFILE}/totp", None, needs_confirmation=True)
async def submit_totp(visit: visits.Visit) -> Reply:
    """Sets up one-time codes, after a first one was right."""
    secret, code = read_totp(visit), Secret(visit.find("code"))
    if not factors.is_first_code(visit.app, secret, code):
        return _render_totp(visit, secret, "The code is wrong. Please type the one that the app shows now.")
    made = await factors.add_totp(visit.app, visit.visitor, secret, code, visits.get_origin(visit.request))
    return _end_adding(visit, made, "One-time codes are set up.")


def _end_adding(visit: visits.Visit, made: list[Secret], notice: str) -> Reply:
    return render_codes(visit, made) if made else visit.go(PROFILE, notice)


def render_codes(visit: visits.Visit, made: list[Secret]) -> Reply:
    """Renders the only page that ever shows these recovery codes."""
    shown = [passwords.show_recovery_code(code) for code in made]
    return visit.render("recovery_codes.html", title="Recovery codes", codes=shown, onward=PROFILE)


@ROUTES.add("POST", f"{PROFILE}/totp/remove", None, needs_confirmation=True)
async def submit_totp_removal(visit: visits.Visit) -> Reply:
    """Removes one-time codes."""
    await factors.remove_totp(visit.app, visit.visitor, visits.get_origin(visit.request))
    return visit.go(PROFILE, "One-time codes are removed.")


@ROUTES.add("GET", f"{PROFILE}/passkey", None, needs_confirmation=True)
async def show_passkey(visit: visits.Visit) -> Reply:
    """Asks for the name of a new passkey, which the browser then makes."""
    return visit.render("passkey.html", title="Add a passkey", party=find_party(visit))


@ROUTES.add("POST", f"{PROFILE}/passkey", None, needs_confirmation=True)
async def submit_passkey(visit: visits.Visit) -> Reply:
    """Adds the passkey that the browser made."""
    return _end_adding(visit, await add_passkey(visit), "The passkey is added.")


async def add_passkey(visit: visits.Visit) -> list[Secret]:
    """Adds the passkey of the form; returns recovery codes if the user had none."""
    party = find_party(visit)
    if party is None:
        raise visits.refuse_field("passkey", "needs a host with a name")
    answer, name = visit.find("credential"), visit.find("name")
    return await factors.add_passkey(visit.app, visit.visitor, party, answer, name, visits.get_origin(visit.request))


@ROUTES.add("POST", f"{PROFILE}/passkeys/{{id}}/remove", None, needs_confirmation=True)
async def submit_passkey_removal(visit: visits.Visit) -> Reply:
    """Removes a passkey."""
    await factors.remove_passkey(visit.app, visit.visitor, visit.names[0], visits.get_origin(visit.request))
    return visit.go(PROFILE, "The passkey is removed.")


@ROUTES.add("POST", f"{PROFILE}/recovery-codes", None, needs_confirmation=True)
async def submit_recovery_codes(visit: visits.Visit) -> Reply:
    """Makes new recovery codes and shows them once."""
    made = await factors.replace_recovery_codes(visit.app, visit.visitor, visits.get_origin(visit.request))
    return render_codes(visit, made)


# ---- sessions ----


@ROUTES.add("POST", f"{PROFILE}/sessions/{{id}}/revoke", None)
async def submit_revocation(visit: visits.Visit) -> Reply:
    """Ends one session; the present one leads to the page to sign in."""
    await factors.revoke_session(visit.app, visit.visitor, visit.names[0], visits.get_origin(visit.request))
    return (
        see_other(visits.OFFICE) if visit.names[0] == visit.session.id else visit.go(PROFILE, "The session has ended.")
    )


@ROUTES.add("POST", f"{PROFILE}/revoke-others", None)
async def submit_other_revocations(visit: visits.Visit) -> Reply:
    """Ends all sessions but the present one."""
    await factors.revoke_other_sessions(visit.app, visit.visitor, visits.get_origin(visit.request))
    return visit.go(PROFILE, "Your other sessions have ended.")
