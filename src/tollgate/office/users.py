"""Users: the people of one merchant for its administrators, and all users of the host for the platform role.

Who may change whom is decided in `flows`.
"""

from collections.abc import Callable
from typing import Any

from tollgate.catalog import limits, permissions
from tollgate.flows import sign_in, users
from tollgate.flows.users import Authority, Given, Listed
from tollgate.office.visits import OF_MERCHANT, OFFICE, OfficeRoutes, PageHandler, Visit, refuse_field
from tollgate.operations.audit_log import Actor
from tollgate.payments.users import Grant
from tollgate.values import read_hundredths
from tollgate.vault.passwords import show_password
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()
_MANAGE = permissions.Permission.MANAGE_USERS


def _add(method: str, path: str, *, needs_confirmation: bool = False) -> Callable[[PageHandler], PageHandler]:
    """Declares a page twice: for the users of a merchant, and for those of the host."""

    def declare(handler: PageHandler) -> PageHandler:
        for start in (OF_MERCHANT, OFFICE):
            ROUTES.add(method, f"{start}/users{path}", _MANAGE, needs_confirmation=needs_confirmation)(handler)
        return handler

    return declare


def _get_base(visit: Visit) -> str:
    return f"{visit.base if visit.merchant else OFFICE}/users"


def _get_authority(visit: Visit) -> Authority:
    return Authority(Actor(visit.user.id, visit.user.name, visit.request.address), visit.grants)


def _get_merchant_id(visit: Visit) -> str:
    return visit.merchant.id if visit.merchant else ""


@_add("GET", "")
async def show_users(visit: Visit) -> Reply:
    """Lists users by name; the list of the host has pages."""
    by, after = _get_authority(visit), visit.find("after")
    found = await users.list_users(visit.app, by, _get_merchant_id(visit) or None)
    rows = [each for each in found if each.user.name > after]
    return visit.render(
        "users.html",
        title="Users" if visit.merchant else "Users of this host",
        rows=rows[: limits.LIMITS.office_page],
        after=rows[limits.LIMITS.office_page - 1].user.name if len(rows) > limits.LIMITS.office_page else "",
        is_platform=by.is_platform,
        is_confirmed=sign_in.is_confirmed(visit.app, visit.session),
        **_list_choices(visit, by),
    )


def _list_choices(visit: Visit, by: Authority) -> dict[str, Any]:
    """Returns what the forms offer: roles within the reader's own, and where they may count."""
    merchant_id = _get_merchant_id(visit)
    names = {str(each.id): each.name for each in visit.list_channels(_MANAGE)} if visit.merchant else {}
    lowest = [
        Grant(user_id="", merchant_id=merchant_id, channel_id=each, role=permissions.Role.VIEWER)
        for each in ("", *names)
    ]
    merchants = visit.app.merchants.list_merchants() if by.is_platform else []
    return {
        "base": _get_base(visit),
        "places": [(each.channel_id, names.get(each.channel_id, "All channels")) for each in lowest if by.covers(each)],
        "roles": [
            role
            for role in permissions.Role
            if role is not permissions.Role.PLATFORM or (by.is_platform and not merchant_id)
        ],
        "permission_rows": [
            row for row in permissions.PERMISSION_ROWS if by.is_platform or row.roles != {permissions.Role.PLATFORM}
        ],
        "channel_names": names,
        "merchant_names": {merchant.id: merchant.name for merchant in merchants},
    }


def _read_grant(visit: Visit, user_id: str = "") -> Grant:
    """Reads a role: on a merchant's page for it or a channel, on the host's for the chosen merchant or the host."""
    try:
        role = permissions.Role(visit.find("role"))
        limit = read_hundredths(visit.find("refund_limit")) if visit.find("refund_limit") else None
    except ValueError:
        raise refuse_field("role", "and limit: please choose a role, and write the limit like 1000.00") from None
    merchant_id = _get_merchant_id(visit) or ("" if role is permissions.Role.PLATFORM else visit.find("merchant"))
    return Grant(
        user_id=user_id, merchant_id=merchant_id, channel_id=visit.find("channel"), role=role, refund_limit=limit
    )


@_add("POST", "", needs_confirmation=True)
async def add_user(visit: Visit) -> Reply:
    """Adds a user and shows its first password once."""
    given = await users.add_user(visit.app, _get_authority(visit), visit.find("name"), _read_grant(visit))
    return _show_password(visit, given, "The user is added")


def _show_password(visit: Visit, given: Given, title: str) -> Reply:
    shown = show_password(given.password)
    return visit.render("one_time_password.html", title=title, user=given.user, password=shown, base=_get_base(visit))


@_add("GET", "/{id}", needs_confirmation=True)
async def show_user(visit: Visit) -> Reply:
    """Shows a user with its roles, and what may be done with it."""
    by, found = _get_authority(visit), await _get(visit)
    return visit.render(
        "user.html",
        title=found.user.name,
        row=found,
        is_self=found.user.id == visit.user.id,
        is_platform=by.is_platform,
        **_list_choices(visit, by),
    )


async def _get(visit: Visit) -> Listed:
    return await users.get_listed(visit.app, _get_authority(visit), visit.names[0], _get_merchant_id(visit) or None)


@_add("POST", "/{id}/roles", needs_confirmation=True)
async def give_role(visit: Visit) -> Reply:
    """Gives a user one more role, or another limit."""
    await users.give_role(visit.app, _get_authority(visit), _read_grant(visit, visit.names[0]))
    return visit.go(f"{_get_base(visit)}/{visit.names[0]}", "The role is given.")


@_add("POST", "/{id}/roles/take", needs_confirmation=True)
async def take_role(visit: Visit) -> Reply:
    """Takes a role from a user; one without roles for the merchant is in its list no more."""
    found, wanted = await _get(visit), _read_grant(visit, visit.names[0])
    key = (wanted.merchant_id, wanted.channel_id, wanted.role)
    grant = next((each for each in found.grants if (each.merchant_id, each.channel_id, each.role) == key), None)
    if grant is None:
        raise refuse_field("role", "the user does not have it any more")
    await users.take_role(visit.app, _get_authority(visit), grant)
    is_gone = visit.merchant is not None and len(found.grants) == 1
    return visit.go(_get_base(visit) if is_gone else f"{_get_base(visit)}/{found.user.id}", "The role is taken.")


@_add("POST", "/{id}/reset", needs_confirmation=True)
async def reset_user(visit: Visit) -> Reply:
    """Gives a user a new password for one sign-in, and shows it once."""
    found = await _get(visit)
    given = await users.reset_user(visit.app, _get_authority(visit), found.user.id, _get_merchant_id(visit))
    return _show_password(visit, given, "The user is reset")


@_add("POST", "/{id}/disable", needs_confirmation=True)
async def disable_user(visit: Visit) -> Reply:
    """Lets a user in no more."""
    found = await _get(visit)
    await users.disable_user(visit.app, _get_authority(visit), found.user.id, _get_merchant_id(visit))
    return visit.go(f"{_get_base(visit)}/{found.user.id}", f"{found.user.name} can no longer sign in.")


@_add("POST", "/{id}/enable", needs_confirmation=True)
async def enable_user(visit: Visit) -> Reply:
    """Lets a user in again."""
    found = await _get(visit)
    await users.enable_user(visit.app, _get_authority(visit), found.user.id, _get_merchant_id(visit))
    return visit.go(f"{_get_base(visit)}/{found.user.id}", f"{found.user.name} can sign in again.")
