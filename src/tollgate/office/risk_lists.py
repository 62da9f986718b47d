"""The block and allow lists of a merchant: values whose payments are refused, or accepted whatever rules say.

Values are kept as keyed hashes and shown masked; a card is named by a payment that used it.
"""

from collections.abc import Mapping

import msgspec

from tollgate.catalog import audit_actions, limits, permissions, risk_rows
from tollgate.office import approvals, chains, form_keys, payment_queries, visits
from tollgate.operations import risk_rules
from tollgate.payments.reporting import Place
from tollgate.payments.risk import Entry, ListName
from tollgate.store import risk_lists
from tollgate.values import DAY
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/lists"
_SEES, _MAY = permissions.Permission.VIEW_RISK, permissions.Permission.MANAGE_RISK
_KIND = permissions.ApprovalKind.RISK
_FIELDS = ("list", "attribute", "value", "payment", "note")


@ROUTES.add("GET", _PATH, _SEES)
async def show_lists(visit: visits.Visit) -> Reply:
    """Lists the entries of both lists, newest first; they count for all channels."""
    visit.check(_SEES, "")
    before, page = payment_queries.read_place(visit, "before"), limits.LIMITS.office_page
    found = await risk_lists.list_newest_entries(visit.app.database, visit.get_merchant().id, page + 1, before=before)
    last = found[page - 1] if len(found) > page else None
    return visit.render(
        "risk_lists.html",
        title="Block and allow lists",
        entries=found[:page],
        following=payment_queries.render_place(Place(last.created_at, last.id)) if last is not None else "",
        is_first=before is None,
        lists=[(each, f"{each.capitalize()} list") for each in ListName],
        attributes=[(each, each.replace("_", " ")) for each in risk_rows.BLOCK_CODES],
        key=form_keys.make_form_key(visit),
        may_change=visit.may(_MAY, ""),
    )


@ROUTES.add("POST", f"{_PATH}/entries", _MAY)
async def submit_entry(visit: visits.Visit) -> Reply:
    """Puts a value on a list, or asks a second person first."""
    visit.check(_MAY, "")
    sent = {name: visit.find(name) for name in _FIELDS if visit.find(name)}
    key = form_keys.check_form_key(visit.find("key"))
    if "value" in sent and "payment" in sent:
        raise visits.refuse_field("payment", "and a value: please give one of them")
    if "payment" in sent:
        await chains.get_found(visit, sent["payment"])
    end = visits.read_day("end", visit.find("end"))
    # Before anybody is asked, so that a second person sees only what can be done.
    entry = await risk_rules.read_entry(
        visit.app.database,
        visit.app.keyring,
        visit.get_merchant().id,
        sent,
        by=visit.user.name,
        now=visit.app.clock.now(),
        new_id=form_keys.derive_id(visit, add_entry.name, key),
        # The day itself is included.
        ends_at=None if end is None else end + DAY,
    )
    of_payment = f" of payment {sent['payment']}" if "payment" in sent else ""
    until = f" until {visit.find('end')}" if end is not None else ""
    change = f"put the {_describe_value(entry)}{of_payment} on the {entry.list} list{until}"
    # What waits for a second person is stored in clear, so it has the hash of the value, as the list has.
    fields = {"key": key, "entry": msgspec.json.encode(entry).decode(), "change": change}
    return await approvals.perform(
        visit, add_entry, fields, back=f"{visit.base}/lists", subject=entry.id, summary=change
    )


def _describe_value(entry: Entry) -> str:
    return f"{entry.attribute.replace('_', ' ')} {entry.shown}"


@approvals.declare_action("add list entry", _KIND, _MAY)
async def add_entry(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Puts a value on a list, once for each form."""
    database = visit.app.database
    entry = msgspec.json.decode(fields["entry"], type=Entry)
    if await risk_lists.find_entry(database, entry.merchant_id, entry.id) is not None:
        return "The entry had been added before."
    await visit.record(audit_actions.AuditAction.RISK_LIST_CHANGED, entry.id, change=fields["change"], note=entry.note)
    # It counts from now on, and not from when it was asked for.
    counted = msgspec.structs.replace(entry, created_at=visit.app.clock.now(), created_by=visit.user.name)
    await risk_rules.save_entry(database, counted)
    await visit.app.merchants.refresh(database)
    return f"The {_describe_value(entry)} is on the {entry.list} list."


@ROUTES.add("POST", f"{_PATH}/entries/{{id}}/remove", _MAY)
async def submit_removal(visit: visits.Visit) -> Reply:
    """Removes an entry."""
    visit.check(_MAY, "")
    entry = await risk_lists.find_entry(visit.app.database, visit.get_merchant().id, visit.names[0])
    if entry is None:
        raise visits.make_not_found("entry")
    summary = f"take the {_describe_value(entry)} off the {entry.list} list"
    return await approvals.perform(
        visit, remove_entry, {"entry": entry.id}, back=f"{visit.base}/lists", subject=entry.id, summary=summary
    )


@approvals.declare_action("remove list entry", _KIND, _MAY)
async def remove_entry(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Removes an entry; one that is gone stays so."""
    database = visit.app.database
    entry = await risk_lists.find_entry(database, visit.get_merchant().id, fields["entry"])
    if entry is None:
        return "The entry had been removed before."
    change = f"take the {_describe_value(entry)} off the {entry.list} list"
    await visit.record(audit_actions.AuditAction.RISK_LIST_CHANGED, entry.id, change=change)
    await risk_rules.remove_entry(database, entry.merchant_id, entry.id)
    await visit.app.merchants.refresh(database)
    return f"The {_describe_value(entry)} is on the {entry.list} list no more."
