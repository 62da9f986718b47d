"""Routing of a merchant: the rows by which requests are given to channels, and the channels with their accounts.

The accounts of one channel have pages of their own.
"""

from collections.abc import Mapping

from tollgate.catalog import audit_actions, permissions
from tollgate.contract import dispatching as contract
from tollgate.flows import dispatching
from tollgate.office import account, approvals, form_keys, visits
from tollgate.payments.dispatching import DispatchRow
from tollgate.payments.merchants import RoutingTerms
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/routing"
_SEES, _MAY = permissions.Permission.VIEW_ROUTING, permissions.Permission.MANAGE_ROUTING
_KIND = permissions.ApprovalKind.ROUTING


@ROUTES.add("GET", _PATH, _SEES)
async def show_routing(visit: visits.Visit) -> Reply:
    """Shows the dispatch rows, to those who see all channels, and how each channel chooses its accounts."""
    channels = visit.list_channels(_SEES)
    rows = await _list_rows(visit) if visit.may(_SEES, "") else []
    return visit.render(
        "routing.html",
        title="Routing",
        channels=[
            (each, each.routing or RoutingTerms(), len(visit.app.merchants.list_accounts(each))) for each in channels
        ],
        names={each.id: each.name for each in channels},
        rows=[(row, contract.render_conditions(row.conditions)) for row in rows],
        terms=[(term.member, _make_label(term.member), term.text) for term in contract.TERMS],
        sees_rows=visit.may(_SEES, ""),
        may_change=visit.may(_MAY, ""),
        key=form_keys.make_form_key(visit),
        mark=form_keys.make_mark(rows),
    )


def _make_label(member: str) -> str:
    return {"bins": "BINs"}.get(member, member.replace("_", " ").capitalize())


async def _list_rows(visit: visits.Visit) -> list[DispatchRow]:
    return await dispatching.list_rows(visit.app.database, visit.get_merchant().id)


def _describe(visit: visits.Visit, row_conditions: Mapping[str, str], channel_id: str) -> str:
    """Says what a row does, because a second person knows no more about it."""
    found = visit.app.merchants.find_channel(channel_id)
    asked = ", ".join(f"{_make_label(name).lower()} {text}" for name, text in row_conditions.items())
    return f"{asked or 'everything'} to the channel '{found.name if found else channel_id}'"


async def _perform(
    visit: visits.Visit, action: approvals.GuardedAction, fields: Mapping[str, str], *, subject: str, summary: str
) -> Reply:
    return await approvals.perform(
        visit, action, fields, back=f"{visit.base}/routing", subject=subject, summary=summary
    )


@ROUTES.add("POST", f"{_PATH}/rows", _MAY)
async def submit_row(visit: visits.Visit) -> Reply:
    """Adds a dispatch row behind the others."""
    visit.check(_MAY, "")
    channel = account.get_channel(visit, visit.find("channel"), _MAY)
    sent = {term.member: visit.find(term.member) for term in contract.TERMS if visit.find(term.member)}
    # Before anybody is asked, so that a second person sees only what can be done.
    shown = contract.render_conditions(contract.read_conditions(sent))
    fields = {"channel": channel.id, "key": form_keys.check_form_key(visit.find("key")), **sent}
    summary = f"dispatch {_describe(visit, shown, channel.id)}"
    return await _perform(visit, add_row, fields, subject=channel.id, summary=summary)


@approvals.declare_action("add dispatch row", _KIND, _MAY)
async def add_row(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Adds a dispatch row, once for each form."""
    channel = account.get_channel(visit, fields["channel"], _MAY)
    row_id = form_keys.derive_id(visit, add_row.name, fields["key"])
    if any(row.id == row_id for row in await _list_rows(visit)):
        return "The dispatch row had been added before."
    sent = {name: text for name, text in fields.items() if name not in ("channel", "key")}
    await visit.record(audit_actions.AuditAction.DISPATCH_ROW_ADDED, row_id, channel=channel.id, **sent)
    await dispatching.add_row(visit.app.database, channel, sent, new_id=row_id)
    await visit.app.merchants.refresh(visit.app.database)
    return "The dispatch row was added behind the others."


async def _get_row(visit: visits.Visit) -> tuple[DispatchRow, list[DispatchRow]]:
    """Returns the row of the path and all rows, if they are those that the page showed."""
    visit.check(_MAY, "")
    rows = await _list_rows(visit)
    found = next((row for row in rows if row.id == visit.names[0]), None)
    if found is None:
        raise visits.make_not_found("dispatch row")
    form_keys.check_mark(visit.find("mark"), rows)
    return found, rows


@ROUTES.add("POST", f"{_PATH}/rows/{{id}}/move", _MAY)
async def submit_move(visit: visits.Visit) -> Reply:
    """Moves a dispatch row up or down by one place."""
    row, rows = await _get_row(visit)
    place = rows.index(row) + (0 if visit.find("to") == "up" else 2)
    if not 1 <= place <= len(rows):
        return visit.go(f"{visit.base}/routing", "Nothing was changed.")
    summary = f"move the dispatch row {_summarize(visit, row)} to place {place}"
    fields = {"row": row.id, "place": str(place), "mark": form_keys.make_mark(rows)}
    return await _perform(visit, move_row, fields, subject=row.id, summary=summary)


def _summarize(visit: visits.Visit, row: DispatchRow) -> str:
    return f"of {_describe(visit, contract.render_conditions(row.conditions), row.channel_id)}"


@approvals.declare_action("move dispatch row", _KIND, _MAY)
async def move_row(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Moves a dispatch row, if the rows are still those that were seen when this was asked for."""
    rows, place = await _list_rows(visit), int(fields["place"])
    if len(rows) >= place and rows[place - 1].id == fields["row"]:
        return "The dispatch row had been moved before."
    form_keys.check_mark(fields["mark"], rows)
    await visit.record(audit_actions.AuditAction.DISPATCH_ROW_MOVED, fields["row"], place=fields["place"])
    await dispatching.move_row(visit.app.database, visit.get_merchant().id, fields["row"], place)
    await visit.app.merchants.refresh(visit.app.database)
    return f"The dispatch row is at place {place} now."


@ROUTES.add("POST", f"{_PATH}/rows/{{id}}/remove", _MAY)
async def submit_removal(visit: visits.Visit) -> Reply:
    """Removes a dispatch row."""
    row, rows = await _get_row(visit)
    is_last = len(rows) == 1
    summary = f"remove the dispatch row {_summarize(visit, row)}" + (", the last one" if is_last else "")
    return await _perform(visit, remove_row, {"row": row.id}, subject=row.id, summary=summary)


@approvals.declare_action("remove dispatch row", _KIND, _MAY)
async def remove_row(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Removes a dispatch row; one that is gone stays so."""
    if all(row.id != fields["row"] for row in await _list_rows(visit)):
        return "The dispatch row had been removed before."
    await visit.record(audit_actions.AuditAction.DISPATCH_ROW_REMOVED, fields["row"])
    await dispatching.remove_row(visit.app.database, visit.get_merchant().id, fields["row"])
    await visit.app.merchants.refresh(visit.app.database)
    return "The dispatch row was removed."
