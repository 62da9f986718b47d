"""Pages to erase a person: a search, what it found, and the erasure, which go on in steps with a bar.

What is erased is decided in `flows`.
"""

from tollgate.catalog.permissions import Permission
from tollgate.flows import erase_person
from tollgate.office.visits import OF_MERCHANT, OfficeRoutes, Visit, make_not_found, refuse_field
from tollgate.operations.audit_log import Actor
from tollgate.payments.erasure import Erasure, Phase, SearchKind
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()
_PATH = f"{OF_MERCHANT}/erasure"
_VALUE_LENGTH_MAX = 255
_KINDS = (
    (SearchKind.EMAIL, "E-mail address"),
    (SearchKind.CUSTOMER, "Customer id (customer.merchantCustomerId)"),
    (SearchKind.REGISTRATION, "Registration id"),
    (SearchKind.PAYMENT, "Payment id"),
)


def _check(visit: Visit) -> None:
    """A person may have paid on any channel, so the role has to reach all of them."""
    for channel in visit.app.merchants.list_channels(visit.get_merchant().id):
        visit.check(Permission.ERASE_DATA, channel.id)


def _get_actor(visit: Visit) -> Actor:
    return Actor(visit.user.id, visit.user.name, visit.request.address)


async def _get_erasure(visit: Visit) -> Erasure:
    _check(visit)
    found = await erase_person.find_erasure(visit.app, visit.get_merchant().id, visit.names[0])
    if found is None:
        raise make_not_found("erasure")
    return found


@ROUTES.add("GET", _PATH, Permission.ERASE_DATA)
async def show_search(visit: Visit) -> Reply:
    """Shows the form to look for a person, and the erasures that are under way."""
    _check(visit)
    known = await erase_person.list_erasures(visit.app, visit.get_merchant().id)
    return visit.render("erasure.html", title="Personal data", kinds=_KINDS, known=known, phases=Phase)


@ROUTES.add("POST", _PATH, Permission.ERASE_DATA, needs_confirmation=True)
async def begin(visit: Visit) -> Reply:
    """Begins the search for a person."""
    _check(visit)
    kind, value = visit.find("kind"), visit.find("value")
    if kind not in set(SearchKind):
        raise refuse_field("kind", "choose what to search by")
    if not value or len(value) > _VALUE_LENGTH_MAX:
        raise refuse_field("value", f"must have 1 to {_VALUE_LENGTH_MAX} characters")
    begun = await erase_person.begin_erasure(visit.app, visit.get_merchant().id, SearchKind(kind), value)
    return visit.go(f"{visit.base}/erasure/{begun.id}")


@ROUTES.add("GET", f"{_PATH}/{{id}}", Permission.ERASE_DATA)
async def show_erasure(visit: Visit) -> Reply:
    """Shows how far a search or an erasure has come, and what was found."""
    erasure = await _get_erasure(visit)
    return visit.render("erasure_steps.html", title="Personal data", erasure=erasure, phases=Phase)


@ROUTES.add("POST", f"{_PATH}/{{id}}", Permission.ERASE_DATA)
async def go_on(visit: Visit) -> Reply:
    """Takes the next step of a search, or of an erasure that was confirmed."""
    erasure = await _get_erasure(visit)
    await erase_person.step_erasure(visit.app, erasure, _get_actor(visit))
    return visit.go(f"{visit.base}/erasure/{erasure.id}")


@ROUTES.add("POST", f"{_PATH}/{{id}}/confirm", Permission.ERASE_DATA, needs_confirmation=True)
async def confirm(visit: Visit) -> Reply:
    """Begins to erase what was found."""
    erasure = await _get_erasure(visit)
    if erasure.phase is not Phase.FOUND or not erasure.found_counts:
        raise refuse_field("erasure", "there is nothing to erase, or it was begun before")
    await erase_person.confirm_erasure(visit.app, erasure, _get_actor(visit))
    return visit.go(f"{visit.base}/erasure/{erasure.id}")
