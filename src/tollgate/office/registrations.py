"""The page of one registration, and its deletion, which is that of the interface. Lists are in `lists`."""

from collections.abc import Mapping

from tollgate.catalog import audit_actions, limits, permissions
from tollgate.contract.fields import read_fields
from tollgate.flows.registrations import deregister
from tollgate.office import checkouts, visits
from tollgate.office.schedules import SCHEDULE_TONES, describe_plan
from tollgate.operations.app import Call
from tollgate.payments.registration import WIPED, Registration, RegistrationState, TokenState
from tollgate.store import listings
from tollgate.store.schedules import list_schedules
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/registrations/{{id}}"

REGISTRATION_TONES: Mapping[RegistrationState, str] = {
    RegistrationState.PENDING: "open",
    RegistrationState.ACTIVE: "good",
    RegistrationState.REJECTED: "bad",
    RegistrationState.DELETED: "",
    RegistrationState.ERASED: "",
}


def describe_account(registration: Registration) -> str:
    """Returns the masked account: the last digits and the expiry of a card, the method of any other."""
    card = registration.card
    if card is None:
        return registration.method.replace("_", " ")
    return f"{card.bin}•••{card.last_digits}, {card.expiry_month}/{card.expiry_year}"


@ROUTES.add("GET", _PATH, permissions.Permission.VIEW_PAYMENTS)
async def show_registration(visit: visits.Visit) -> Reply:
    """Shows a registration with its schedules and its payments."""
    registration = await _get_registration(visit)
    database, merchant_id = visit.app.database, registration.merchant_id
    visit.check(permissions.Permission.VIEW_PAYMENTS, registration.channel_id)
    found = await listings.list_registration_payments(
        database, merchant_id, registration.id, limits.LIMITS.payments_shown
    )
    schedules = await list_schedules(database, merchant_id, registration.id, limits.LIMITS.schedules_shown)
    return visit.render(
        "one_registration.html",
        title=f"Registration {registration.id}",
        registration=registration,
        account=describe_account(registration),
        tone=REGISTRATION_TONES[registration.state],
        token_tone="good" if (token := registration.network_token) and token.state is TokenState.ACTIVE else "open",
        channel=visit.app.merchants.find_channel(registration.channel_id),
        payments=checkouts.keep_visible(visit, found),
        schedules=[
            (each, describe_plan(each), SCHEDULE_TONES[each.state])
            for each in schedules
            if visit.may(permissions.Permission.VIEW_PAYMENTS, each.channel_id)
        ],
        may_delete=registration.state not in WIPED
        and visit.may(permissions.Permission.ERASE_DATA, registration.channel_id),
    )


async def _get_registration(visit: visits.Visit) -> Registration:
    found = await listings.REGISTRATION_LISTING.find(visit.app.database, visit.get_merchant().id, visit.names[0])
    if found is None:
        raise visits.make_not_found("registration")
    return found


@ROUTES.add("POST", f"{_PATH}/delete", permissions.Permission.ERASE_DATA)
async def delete_registration(visit: visits.Visit) -> Reply:
    """Deletes a registration: the account is wiped, and its schedules end."""
    registration = await _get_registration(visit)
    visit.check(permissions.Permission.ERASE_DATA, registration.channel_id)
    channel = visit.app.merchants.get_channel(registration.channel_id)
    fields = read_fields([], visit.app.make_situation("delete_registration", channel))
    await visit.record(audit_actions.AuditAction.REGISTRATION_DELETED, registration.id)
    await deregister(visit.app, fields, registration.id, Call(channel, f"{channel.id}_{visit.request.trace}"))
    return visit.go(f"{visit.base}/registrations/{registration.id}", "The registration was deleted.")
