"""Lists of checkouts, registrations, schedules and bank files: one table of rows, one page for all.

The pages of single ones are in modules of their own.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import IntEnum
from functools import partial
from typing import Any

import msgspec

from tollgate.catalog import limits, permissions
from tollgate.office import bank_files, checkouts, registrations, schedules, visits
from tollgate.payments import checkout, registration, reporting, schedule
from tollgate.store import listings
from tollgate.store.bank_files import BankFile
from tollgate.store.schedules import list_schedules
from tollgate.values import hide_checkout_ids
from tollgate.web.pages import showing
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
for _module in (checkouts, registrations, schedules, bank_files):
    ROUTES.extend(_module.ROUTES)
    ROUTES.pages.extend(_module.ROUTES.pages)

_PLACE_LENGTH = 8

Cells = list[object]
"""The first cell is the text of the link."""


class ListRow(msgspec.Struct, frozen=True, kw_only=True):
    """One list and its columns."""

    path: str
    title: str
    heads: tuple[str, ...]
    render: Callable[[visits.Visit, Any], Cells]
    get_name: Callable[[Any], str]
    """Returns the last word of the path of a row's own page."""
    listing: listings.Listing[Any]
    states: type[IntEnum] | None
    search: Callable[[visits.Visit, str], Awaitable[Sequence[Any]]]
    hint: str
    """It says what can be searched for."""
    empty: str
    """It says what to do while there are none."""


def _render_channel(visit: visits.Visit, channel_id: str) -> str:
    channel = visit.app.merchants.find_channel(channel_id)
    return channel_id if channel is None else channel.name


def _show_state(state: IntEnum, tones: Mapping[Any, str]) -> object:
    return showing.show_badge(state.name.lower(), tones.get(state, ""))


def _render_checkout(visit: visits.Visit, row: checkout.Checkout) -> Cells:
    money = checkouts.find_money(visit.app, row)
    return [
        hide_checkout_ids(row.id).partition(".")[0],
        showing.show_time(row.created_at),
        _show_state(row.state, checkouts.CHECKOUT_TONES),
        row.kind,
        "" if money is None else showing.show_amount(money.hundredths, money.currency),
        row.attempts,
        showing.show_time(row.expires_at),
        _render_channel(visit, row.channel_id),
    ]


def _render_registration(visit: visits.Visit, row: registration.Registration) -> Cells:
    return [
        row.id,
        showing.show_time(row.created_at),
        _show_state(row.state, registrations.REGISTRATION_TONES),
        row.brand,
        registrations.describe_account(row),
        showing.show_time(row.used_at),
        _render_channel(visit, row.channel_id),
    ]


def _render_schedule(visit: visits.Visit, row: schedule.Schedule) -> Cells:
    return [
        row.id,
        showing.show_time(row.created_at),
        _show_state(row.state, schedules.SCHEDULE_TONES),
        showing.show_amount(row.money.hundredths, row.money.currency),
        schedules.describe_plan(row),
        showing.show_time(row.next_at),
        _render_channel(visit, row.channel_id),
    ]


def _render_bank_file(visit: visits.Visit, row: BankFile) -> Cells:
    return [
        row.id,
        showing.show_time(row.created_at),
        bank_files.SCHEMES.get(row.scheme, row.scheme),
        row.due_on,
        row.entries,
        showing.show_amount(row.total, row.currency),
        showing.show_time(row.exported_at),
        _render_channel(visit, row.channel_id),
    ]


async def _search_payments(visit: visits.Visit, text: str) -> list[Any]:
    ids = [channel.id for channel in visit.list_channels()]
    merchant_id = visit.get_merchant().id
    return [
        *await listings.list_transaction_payments(visit.app.database, merchant_id, ids, text, limits.LIMITS.office_page)
    ]


async def _search_checkouts(visit: visits.Visit, text: str) -> Sequence[checkout.Checkout]:
    ids = [text, *[payment.checkout_id for payment in await _search_payments(visit, text)]]
    return await _list_found(visit, listings.CHECKOUT_LISTING.find, ids)


async def _search_registrations(visit: visits.Visit, text: str) -> Sequence[registration.Registration]:
    ids = [text, *[payment.registration_id for payment in await _search_payments(visit, text)]]
    return await _list_found(visit, listings.REGISTRATION_LISTING.find, ids)


async def _search_schedules(visit: visits.Visit, text: str) -> Sequence[schedule.Schedule]:
    merchant_id = visit.get_merchant().id
    found = await list_schedules(visit.app.database, merchant_id, text, limits.LIMITS.office_page)
    return [*await _list_found(visit, listings.SCHEDULE_LISTING.find, [text]), *found]


async def _search_bank_files(visit: visits.Visit, text: str) -> Sequence[BankFile]:
    return await _list_found(visit, listings.BANK_FILE_LISTING.find, [text])


async def _list_found(visit: visits.Visit, find: Callable[..., Awaitable[Any]], ids: Sequence[str | None]) -> list[Any]:
    """Finds rows by their ids, each once."""
    database, merchant_id = visit.app.database, visit.get_merchant().id
    found = [await find(database, merchant_id, each) for each in dict.fromkeys(filter(None, ids))]
    return [each for each in found if each is not None]


LISTS = (
    ListRow(
        path="checkouts",
        title="Checkouts",
        heads=("Checkout", "Created", "State", "Kind", "Amount", "Attempts", "Expires", "Channel"),
        render=_render_checkout,
        get_name=checkouts.get_reference,
        listing=listings.CHECKOUT_LISTING,
        states=checkout.CheckoutState,
        search=_search_checkouts,
        hint="The id of a checkout, or the merchantTransactionId of its payment.",
        empty="Prepare one with POST /v1/checkouts, or pay in the demo shop of a test host.",
    ),
    ListRow(
        path="registrations",
        title="Registrations",
        heads=("Registration", "Created", "State", "Brand", "Account", "Last use", "Channel"),
        render=_render_registration,
        get_name=lambda row: row.id,
        listing=listings.REGISTRATION_LISTING,
        states=registration.RegistrationState,
        search=_search_registrations,
        hint="The id of a registration, or the merchantTransactionId of a payment with it.",
        empty="Send createRegistration=true with a payment, or an account to POST /v1/registrations.",
    ),
    ListRow(
        path="schedules",
        title="Schedules",
        heads=("Schedule", "Created", "State", "Amount", "Plan", "Next run", "Channel"),
        render=_render_schedule,
        get_name=lambda row: row.id,
        listing=listings.SCHEDULE_LISTING,
        states=schedule.ScheduleState,
        search=_search_schedules,
        hint="The id of a schedule or of its registration.",
        empty="Charge a registration by a plan with POST /scheduling/v1/schedules.",
    ),
    ListRow(
        path="bank-files",
        title="Bank files",
        heads=("File", "Created", "Kind", "Due on", "Entries", "Sum", "Exported", "Channel"),
        render=_render_bank_file,
        get_name=lambda row: row.id,
        listing=listings.BANK_FILE_LISTING,
        states=None,
        search=_search_bank_files,
        hint="The id of a file.",
        empty="Approved direct debits and credits are put into files a few days before they are due.",
    ),
)


async def show_list(row: ListRow, visit: visits.Visit) -> Reply:
    """Lists the newest rows, or those that a search finds; only of channels that the user may see."""
    channel_ids = [channel.id for channel in visit.list_channels()]
    text, following = visit.find("q")[: limits.LIMITS.office_search_length_max], None
    state = _read_state(visit, row)
    if text:
        known = set(channel_ids)
        found = [each for each in await row.search(visit, text) if each.channel_id in known]
        if row.path == "checkouts" and [each.id for each in found] == [text]:
            # The id is enough to pay, so the page that shows the checkout does not have it.
            return visit.go(f"{visit.base}/checkouts/{checkouts.get_reference(found[0])}")
    else:
        found, following = await row.listing.list_page(
            visit.app.database,
            visit.get_merchant().id,
            channel_ids,
            before=_read_place(visit),
            state=state,
            limit=limits.LIMITS.office_page,
        )
    return visit.render(
        "list.html",
        title=row.title,
        row=row,
        rows=[(f"{visit.base}/{row.path}/{row.get_name(each)}", row.render(visit, each)) for each in found],
        text=text,
        state="" if state is None else str(state),
        states=[("", "all"), *[(str(int(each)), each.name.lower()) for each in row.states or ()]],
        # A part of the id is enough to tell rows of one instant apart, and no credential.
        following=None if following is None else f"{following.at}.{following.id[:_PLACE_LENGTH]}",
        is_first=not visit.find("before"),
    )


def _read_state(visit: visits.Visit, row: ListRow) -> int | None:
    text = visit.find("state")
    if not text or row.states is None:
        return None
    if text not in {str(int(each)) for each in row.states}:
        raise visits.refuse_field("state", "must be one of those listed")
    return int(text)


def _read_place(visit: visits.Visit) -> reporting.Place | None:
    at, _, last_id = visit.find("before").partition(".")
    if not at:
        return None
    if not (at.isascii() and at.isdigit() and len(at) < len(str(2**63))):
        raise visits.refuse_field("before", "must be the end of another page")
    return reporting.Place(int(at), last_id)


for _row in LISTS:
    ROUTES.add("GET", f"{visits.OF_MERCHANT}/{_row.path}", permissions.Permission.VIEW_PAYMENTS, may_be_behind=True)(
        partial(show_list, _row)
    )
