"""The block and allow lists of a merchant: values whose payments are refused, or accepted whatever rules say.

Values are kept as keyed hashes and shown masked; a card is named by a payment that used it.
"""

from collections.abc import Mapping

from tollgate.catalog import audit_actions, permissions, risk_rows
from tollgate.contract import risk_rules as contract
from tollgate.office import approvals, chains, form_keys, visits
from tollgate.operations import risk_rules
from tollgate.operations.approvals import needs_approval
from tollgate.payments.risk import Entry, ListName
from tollgate.store import risk
from tollgate.values import DAY
from tollgate.vault import sealing
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/lists"
_SEES, _MAY = permissions.Permission.VIEW_RISK, permissions.Permission.MANAGE_RISK
_KIND = permissions.ApprovalKind.RISK
_FIELDS = ("list", "attribute", "value", "payment", "end", "note")


@ROUTES.add("GET", _PATH, _SEES)
async def show_lists(visit: visits.Visit) -> Reply:
    """Lists the entries of both lists, newest first; they count for all channels."""
    visit.check(_SEES, "")
    entries = await risk.list_entries(visit.app.database, visit.get_merchant().id)
    return visit.render(
        "risk_lists.html",
        title="Block and allow lists",
        entries=entries[::-1],
        lists=[(each, f"{each.capitalize()} list") for each in ListName],
        attributes=[(each, each.replace("_", " ")) for each in risk_rows.BLOCK_CODES],
        payment=visit.find("payment"),
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
    shown = _describe(sent)
    if needs_approval(visit.app.four_eyes, _KIND) and "value" in sent:
        # What waits for a second person is stored in clear, and a value names a person.
        sent["value"] = sealing.seal(
            sent["value"].encode(), owner=_get_owner(visit, key), keyring=visit.app.keyring
        ).hex()
    return await approvals.perform(
        visit, add_entry, {"key": key, **sent}, back=f"{visit.base}/lists", subject=shown, summary=f"put {shown}"
    )


def _describe(sent: Mapping[str, str]) -> str:
    """Says what goes where, because a second person knows no more about it; refuses what is on no list."""
    attribute, name = sent.get("attribute", ""), sent.get("list", "")
    if attribute not in risk_rows.BLOCK_CODES or name not in list(ListName):
        raise visits.refuse_field("attribute", "and list must be those of the form")
    if "payment" in sent:
        value = f"of payment {sent['payment']}"
    else:
        if attribute == risk_rows.Attribute.CARD:
            raise visits.refuse_field("payment", "must name a payment that used the card")
        text = contract.normalize(risk_rows.Attribute(attribute), sent.get("value", ""))
        if not text:
            raise visits.refuse_field("value", f"is no {attribute}")
        value = contract.mask_value(risk_rows.Attribute(attribute), text)
    end = f" until {sent['end']}" if "end" in sent else ""
    return f"the {attribute} {value} on the {name} list{end}"


def _get_owner(visit: visits.Visit, key: str) -> str:
    return sealing.make_owner("list entry", visit.get_merchant().id, key)


@approvals.declare_action("add list entry", _KIND, _MAY)
async def add_entry(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Puts a value on a list, once for each form."""
    app, merchant_id = visit.app, visit.get_merchant().id
    entry_id = form_keys.derive_id(visit, add_entry.name, fields["key"])
    if any(each.id == entry_id for each in await risk.list_entries(app.database, merchant_id)):
        return "The entry had been added before."
    sent = {name: text for name, text in fields.items() if name not in ("key", "end")}
    if needs_approval(app.four_eyes, _KIND) and "value" in sent:
        sent["value"] = _open_value(visit, fields)
    end = visits.read_day("end", fields.get("end", ""))
    told = {name: text for name, text in sent.items() if name != "value"}
    await visit.record(audit_actions.AuditAction.RISK_LIST_CHANGED, entry_id, change=_describe(sent), **told)
    entry = await risk_rules.add_entry(
        app.database,
        app.keyring,
        merchant_id,
        sent,
        by=visit.user.name,
        now=app.clock.now(),
        new_id=entry_id,
        # The day itself is included.
        ends_at=None if end is None else end + DAY,
    )
    await app.merchants.refresh(app.database)
    return f"The {entry.attribute} {entry.shown} is on the {entry.list} list."


def _open_value(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    try:
        sealed = bytes.fromhex(fields["value"])
        owner = _get_owner(visit, fields["key"])
        return sealing.open_sealed(sealed, owner=owner, keyring=visit.app.keyring).decode()
    except (ValueError, sealing.EnvelopeError):
        raise visits.refuse_field("value", "cannot be read any more: please ask for the entry again") from None


@ROUTES.add("POST", f"{_PATH}/entries/{{id}}/remove", _MAY)
async def submit_removal(visit: visits.Visit) -> Reply:
    """Removes an entry."""
    visit.check(_MAY, "")
    entry = await _find_entry(visit, visit.names[0])
    if entry is None:
        raise visits.make_not_found("entry")
    summary = f"take the {entry.attribute} {entry.shown} off the {entry.list} list"
    return await approvals.perform(
        visit, remove_entry, {"entry": entry.id}, back=f"{visit.base}/lists", subject=entry.id, summary=summary
    )


async def _find_entry(visit: visits.Visit, entry_id: str) -> Entry | None:
    entries = await risk.list_entries(visit.app.database, visit.get_merchant().id)
    return next((each for each in entries if each.id == entry_id), None)


@approvals.declare_action("remove list entry", _KIND, _MAY)
async def remove_entry(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Removes an entry; one that is gone stays so."""
    entry = await _find_entry(visit, fields["entry"])
    if entry is None:
        return "The entry had been removed before."
    change = f"the {entry.attribute} {entry.shown} off the {entry.list} list"
    await visit.record(audit_actions.AuditAction.RISK_LIST_CHANGED, entry.id, change=change)
    await risk_rules.remove_entry(visit.app.database, entry.merchant_id, entry.id)
    await visit.app.merchants.refresh(visit.app.database)
    return f"The {entry.attribute} {entry.shown} is on the {entry.list} list no more."
