"""The account of a merchant: its channels with their entity ids and settings; and the merchants of the host.

What a setting may be is decided in `contract`, and each has its explanation there.
"""

from collections.abc import Mapping

from tollgate.catalog import audit_actions, permissions
from tollgate.catalog.connectors import ACQUIRER_CONNECTORS
from tollgate.contract.channels import HIDDEN_LOGIN, get_channel_value, hide_login, render_channel_value
from tollgate.flows import channels, sign_in
from tollgate.office import approvals, visits
from tollgate.operations import acquirer_accounts
from tollgate.payments.merchants import CHANNEL_FLAGS, Channel, ChannelFlag, Form
from tollgate.payments.routing import Strategy
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/account"
_HOST_PATH = f"{visits.OFFICE}/merchants"
_GROUPS = {
    "": "Requests",
    "acquirer": "Acquirer",
    "routing": "Routing",
    "creditor": "Direct debits",
    "three_ds": "3-D Secure",
    "token_terms": "Network tokens",
}
_SPELLINGS = {
    "3ds": "3-D Secure",
    "bic": "BIC",
    "bin": "BIN",
    "ca": "CA",
    "cvv": "CVV",
    "iban": "IBAN",
    "url": "address",
}


def _make_label(name: str) -> str:
    """Returns a flag as people read it: `Live address` for `--live-url`."""
    text = name.removeprefix("--").replace("three-ds", "3ds").replace("-", " ")
    words = [_SPELLINGS.get(word, word) for word in text.split()]
    return " ".join([words[0][0].upper() + words[0][1:], *words[1:]])


def _list_fields(channel: Channel) -> dict[str, list[dict[str, object]]]:
    """Returns the fields of the form by group: name, label, value, explanation, and the options of a switch."""
    groups: dict[str, list[dict[str, object]]] = {}
    for flag in CHANNEL_FLAGS:
        field = make_field(flag, render_channel_value(get_channel_value(channel, flag)))
        groups.setdefault(_GROUPS[flag.group], []).append(field)
    return groups


def make_field(flag: ChannelFlag, value: str) -> dict[str, object]:
    """Returns the field of a setting as `setting_fields.html` shows it."""
    return {
        "name": flag.parameter,
        "label": _make_label(flag.name),
        "value": hide_login(value),
        "text": flag.text,
        "options": _list_options(flag),
    }


def _list_options(flag: ChannelFlag) -> list[tuple[str, str]]:
    if flag.form is Form.CONNECTOR:
        return [(name.value, name.value) for name in ACQUIRER_CONNECTORS]
    if flag.form is Form.STRATEGY:
        return [(strategy.value, strategy.value) for strategy in Strategy]
    if flag.form is not Form.SWITCH:
        return []
    return list(zip(("false", "true"), map(_make_label, reversed(flag.names.split("/"))), strict=True))


@ROUTES.add("GET", _PATH, permissions.Permission.VIEW_ACCOUNT)
async def show_account(visit: visits.Visit) -> Reply:
    """Shows the merchant and its channels."""
    await visit.record(audit_actions.AuditAction.ACCOUNT_VIEWED, visit.get_merchant().id)
    return visit.render(
        "account.html",
        title="Account",
        channels=visit.list_channels(permissions.Permission.VIEW_ACCOUNT),
        may_add=visit.may(permissions.Permission.MANAGE_CHANNELS, ""),
    )


@ROUTES.add("POST", f"{_PATH}/channels", permissions.Permission.MANAGE_CHANNELS)
async def submit_channel(visit: visits.Visit) -> Reply:
    """Adds a channel, whose settings are changed on its own page."""
    visit.check(permissions.Permission.MANAGE_CHANNELS, "")
    name, entity_id = visit.find("name"), visit.find("entity_id")
    await visit.record(audit_actions.AuditAction.CHANNEL_ADDED, entity_id, name=name)
    new = await channels.add_channel(visit.app, visit.get_merchant().id, name, entity_id)
    return visit.go(f"{visit.base}/account/channels/{new.id}", f"The channel {name} was added.")


@ROUTES.add("GET", f"{_PATH}/channels/{{id}}", permissions.Permission.VIEW_ACCOUNT)
async def show_channel(visit: visits.Visit) -> Reply:
    """Shows all settings of a channel, as a form for those who may change them."""
    channel = get_channel(visit, visit.names[0], permissions.Permission.VIEW_ACCOUNT)
    await visit.record(audit_actions.AuditAction.ACCOUNT_VIEWED, channel.id)
    return visit.render(
        "channel.html",
        title=channel.name,
        channel=channel,
        groups=_list_fields(channel),
        may_change=visit.may(permissions.Permission.MANAGE_CHANNELS, channel.id),
    )


def get_channel(visit: visits.Visit, channel_id: str, permission: permissions.Permission) -> Channel:
    """Returns a channel for which the user has a permission; any other is unknown."""
    found = next((each for each in visit.list_channels(permission) if each.id == channel_id), None)
    if found is None:
        raise visits.make_not_found("channel")
    return found


@ROUTES.add("POST", f"{_PATH}/channels/{{id}}", permissions.Permission.MANAGE_CHANNELS)
async def submit_channel_changes(visit: visits.Visit) -> Reply:
    """Changes the settings that differ from what they were.

    Another address of an acquirer needs a fresh factor, and may need a second person.
    """
    channel = get_channel(visit, visit.names[0], permissions.Permission.MANAGE_CHANNELS)
    shown = {field["name"]: field["value"] for fields in _list_fields(channel).values() for field in fields}
    sent = {name: value.strip() for name, value in visit.request.pairs}
    changes = channels.read_channel_changes(
        channel, {name: value for name, value in sent.items() if value != shown.get(name)}
    )
    for name, value in changes.items():
        if HIDDEN_LOGIN in value:
            raise visits.refuse_field(name, "write the user and password of the address again, they are not shown")
    back = f"{visit.base}/account/channels/{channel.id}"
    if not changes:
        return visit.go(back, "Nothing was changed.")
    # Before anybody is asked, so that a second person sees only what can be done.
    acquirer_accounts.apply_changes(visit.app, channel, changes)
    fields = {"channel": channel.id, **changes}
    if not channels.changes_routing(changes):
        return visit.go(back, await change_channel.run(visit, fields))
    if not sign_in.is_confirmed(visit.app, visit.session):
        return visits.ask_to_confirm(back)
    return await approvals.perform(
        visit,
        change_channel,
        fields,
        back=back,
        subject=channel.id,
        # The second person has to know the new address.
        summary=f"set {', '.join(f'{name} to {hide_login(text)}' for name, text in changes.items())} of the channel "
        f"'{channel.name}'",
        channel_id=channel.id,
    )


@approvals.declare_action("change channel", permissions.ApprovalKind.ROUTING, permissions.Permission.MANAGE_CHANNELS)
async def change_channel(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Changes the settings of a channel."""
    channel = get_channel(visit, fields["channel"], permissions.Permission.MANAGE_CHANNELS)
    changes = {name: text for name, text in fields.items() if name != "channel"}
    told = {name: hide_login(text) for name, text in changes.items()}
    await visit.record(audit_actions.AuditAction.CHANNEL_CHANGED, channel.id, **told)
    await channels.change_channel(visit.app, channel, changes)
    return f"Changed: {', '.join(changes)}."


@ROUTES.add("GET", _HOST_PATH, permissions.Permission.MANAGE_HOST)
async def show_merchants(visit: visits.Visit) -> Reply:
    """Lists all merchants of the host."""
    rows = [(each, len(visit.app.merchants.list_channels(each.id))) for each in visit.app.merchants.list_merchants()]
    return visit.render("merchants.html", title="Merchants", rows=rows)


@ROUTES.add("POST", _HOST_PATH, permissions.Permission.MANAGE_HOST)
async def submit_merchant(visit: visits.Visit) -> Reply:
    """Adds a merchant."""
    name, merchant_id = visit.find("name"), visit.find("id")
    await visit.record(audit_actions.AuditAction.MERCHANT_ADDED, merchant_id, name=name)
    new = await channels.add_merchant(visit.app, name, merchant_id)
    return visit.go(f"{_HOST_PATH}/{new.id}/account", f"The merchant {name} was added. Give it a channel.")
