"""Tells a browser what to make or to sign with a passkey. Its answer comes with the form of the page that asked.

Whether the answer is right is decided in `flows`.
"""

from tollgate.catalog import codes, results
from tollgate.flows import factors, sign_in
from tollgate.office.visits import OFFICE, OfficeRoutes, Visit, refuse_field
from tollgate.payments.users import Stage
from tollgate.values import Forbidden
from tollgate.vault import passkeys
from tollgate.vault.passkeys import Party
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()


def find_party(visit: Visit) -> Party | None:
    """Finds the name for which passkeys are made; None where the host was reached by an address."""
    host = visit.request.header(b"host") or ""
    return passkeys.find_party(visit.app.base_url, host, is_live=visit.app.is_live)


@ROUTES.add("POST", f"{OFFICE}/passkeys/new", None, stages=frozenset({Stage.SETTING_UP, Stage.SIGNED_IN}))
async def ask_new(visit: Visit) -> Reply:
    """Answers what the browser needs to make a passkey."""
    if visit.session.stage is Stage.SIGNED_IN and not sign_in.is_confirmed(visit.app, visit.session):
        raise Forbidden(results.get_result(codes.UNAUTHENTICATED), "please confirm again that it is you")
    return Reply(200, (await factors.ask_new_passkey(visit.app, visit.visitor, _get_party(visit))).encode())


@ROUTES.add("POST", f"{OFFICE}/passkeys/use", None, stages=frozenset({Stage.SECOND_FACTOR, Stage.SIGNED_IN}))
async def ask_use(visit: Visit) -> Reply:
    """Answers what the browser needs to sign with a passkey."""
    return Reply(200, (await factors.ask_passkey(visit.app, visit.visitor, _get_party(visit))).encode())


def _get_party(visit: Visit) -> Party:
    party = find_party(visit)
    if party is None:
        raise refuse_field("passkey", "needs a host with a name")
    return party
