"""The acquirer accounts of a channel: how one is chosen, how each does, and adding, changing and closing them.

What an account may be is decided in `operations`, as for the commands.
"""

from collections.abc import Mapping

import msgspec

from tollgate.catalog import audit_actions, permissions
from tollgate.contract.channels import get_channel_value, hide_login, render_channel_value
from tollgate.flows import channels, sign_in
from tollgate.office import account, approvals, form_keys, visits
from tollgate.operations import acquirer_accounts
from tollgate.payments import merchants
from tollgate.payments.merchants import Channel, FurtherAccount
from tollgate.store import routing_counts
from tollgate.values import HOUR
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_CHANNEL = f"{visits.OF_MERCHANT}/routing/channels/{{id}}"
_ACCOUNT = f"{visits.OF_MERCHANT}/routing/accounts/{{id}}"
_SEES, _MAY = permissions.Permission.VIEW_ROUTING, permissions.Permission.MANAGE_ROUTING
_KIND = permissions.ApprovalKind.ROUTING
_RATE_HOURS = 24
_CHANGING = tuple(flag for flag in merchants.ACCOUNT_FLAGS if flag.parameter not in merchants.IDENTITY_FLAGS)
"""The settings of an account that may change while it has payments."""
_CHOICE = tuple(flag for flag in merchants.CHANNEL_FLAGS if flag.group == "routing")


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """An acquirer account as the pages show it."""

    id: str
    name: str
    view: Channel
    """The channel as this account would have it."""
    further: FurtherAccount | None
    """The row of the account; None for the first one, whose settings are those of the channel."""
    is_failing: bool
    rates: tuple[routing_counts.RoutingCount, ...] = ()
    """Charges by currency within the last hours."""

    @property
    def terms(self) -> merchants.AcquirerTerms:
        return self.view.acquirer or merchants.AcquirerTerms()

    @property
    def is_closed(self) -> bool:
        return self.view.is_closed if self.further is None else self.further.is_closed

    @property
    def addresses(self) -> dict[str, str]:
        found = {"test": self.view.test_url, "live": self.view.live_url}
        return {name: hide_login(address) for name, address in found.items() if address}

    @property
    def mark(self) -> str:
        """Returns what a form of this account is compared with."""
        return form_keys.make_mark((self.name, self.terms, self.is_closed))


async def list_shown(visit: visits.Visit, channel: Channel) -> list[Shown]:
    """Lists the accounts of a channel, the first one first, with those that are closed."""
    now = visit.app.clock.now()
    further = {each.id: each for each in visit.app.merchants.list_further_accounts(channel.id)}
    shown = []
    for view in visit.app.merchants.list_accounts(channel, closed=True):
        account_id = view.first_account_id
        own = further.get(account_id)
        rates = await routing_counts.list_sums(
            visit.app.database, channel.merchant_id, account_id, now // HOUR - _RATE_HOURS
        )
        shown.append(
            Shown(
                id=account_id,
                name=own.name if own else f"{channel.name} (first account)",
                view=_fill(view),
                further=own,
                is_failing=visit.app.circuits.is_open(account_id, now),
                rates=tuple(rates),
            )
        )
    return shown


@ROUTES.add("GET", _CHANNEL, _SEES)
async def show_channel(visit: visits.Visit) -> Reply:
    """Shows how a channel chooses among its acquirer accounts, and each of them."""
    channel = account.get_channel(visit, visit.names[0], _SEES)
    return visit.render(
        "routing_channel.html",
        title=f"Routing of {channel.name}",
        channel=channel,
        routing=channel.routing or merchants.RoutingTerms(),
        accounts=await list_shown(visit, channel),
        choice=_list_fields(_fill(channel), _CHOICE),
        fields=_list_fields(_make_bare(channel), merchants.ACCOUNT_FLAGS),
        key=form_keys.make_form_key(visit),
        mark=form_keys.make_mark(channel.routing),
        hours=_RATE_HOURS,
        may_change=visit.may(_MAY, channel.id),
    )


def _fill(channel: Channel) -> Channel:
    """Returns a channel with the terms that count where it has none, so that pages show them."""
    return msgspec.structs.replace(
        channel,
        routing=channel.routing or merchants.RoutingTerms(),
        acquirer=channel.acquirer or merchants.AcquirerTerms(),
    )


def _make_bare(channel: Channel) -> Channel:
    """Returns a channel with an account of which nothing is known yet."""
    terms = merchants.AcquirerTerms()
    return msgspec.structs.replace(channel, test_url=None, live_url=None, acquirer=terms, three_ds=None)


def _list_fields(view: Channel, flags: tuple[merchants.ChannelFlag, ...]) -> list[dict[str, object]]:
    return [account.make_field(flag, render_channel_value(get_channel_value(view, flag))) for flag in flags]


def _read_changes(visit: visits.Visit, view: Channel, flags: tuple[merchants.ChannelFlag, ...]) -> dict[str, str]:
    names = {flag.parameter for flag in flags}
    sent = {name: value.strip() for name, value in visit.request.pairs if name in names}
    return channels.read_channel_changes(view, sent)


@ROUTES.add("POST", _CHANNEL, _MAY)
async def submit_choice(visit: visits.Visit) -> Reply:
    """Changes how a channel chooses among its accounts."""
    channel = account.get_channel(visit, visit.names[0], _MAY)
    form_keys.check_mark(visit.find("mark"), channel.routing)
    changes, back = _read_changes(visit, _fill(channel), _CHOICE), _get_channel_path(visit, channel.id)
    if not changes:
        return visit.go(back, "Nothing was changed.")
    acquirer_accounts.apply_changes(visit.app, channel, changes)
    return await approvals.perform(
        visit,
        change_choice,
        {"channel": channel.id, "mark": form_keys.make_mark(channel.routing), **changes},
        back=back,
        subject=channel.id,
        summary=f"{_describe(changes)} of the channel '{channel.name}'",
        channel_id=channel.id,
    )


def _describe(changes: Mapping[str, str]) -> str:
    """Says what is changed, because a second person knows no more about it."""
    return f"set {', '.join(f'{name} to {hide_login(text)}' for name, text in changes.items())}"


def _get_channel_path(visit: visits.Visit, channel_id: str) -> str:
    return f"{visit.base}/routing/channels/{channel_id}"


@approvals.declare_action("change routing", _KIND, _MAY)
async def change_choice(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Changes how a channel chooses among its accounts, if it still chooses as it did when this was asked for."""
    channel = account.get_channel(visit, fields["channel"], _MAY)
    changes = {name: text for name, text in fields.items() if name not in ("channel", "mark")}
    if not channels.read_channel_changes(_fill(channel), changes):
        return "The channel had been changed before."
    form_keys.check_mark(fields["mark"], channel.routing)
    await visit.record(audit_actions.AuditAction.CHANNEL_CHANGED, channel.id, **changes)
    await channels.change_channel(visit.app, channel, changes)
    return f"Changed: {', '.join(changes)}."


@ROUTES.add("POST", f"{_CHANNEL}/accounts", _MAY, needs_confirmation=True)
async def submit_account(visit: visits.Visit) -> Reply:
    """Adds an acquirer account to a channel, or asks a second person first."""
    channel = account.get_channel(visit, visit.names[0], _MAY)
    names = {"name", *[flag.parameter for flag in merchants.ACCOUNT_FLAGS]}
    sent = {name: text.strip() for name, text in visit.request.pairs if name in names and text.strip()}
    # Before anybody is asked, so that a second person sees only what can be done.
    acquirer_accounts.check_name(sent.get("name", ""))
    acquirer_accounts.apply_changes(visit.app, _make_bare(channel), sent, merchants.ACCOUNT_FLAGS)
    return await approvals.perform(
        visit,
        add_account,
        {"channel": channel.id, "key": form_keys.check_form_key(visit.find("key")), **sent},
        back=_get_channel_path(visit, channel.id),
        subject=channel.id,
        summary=f"add an acquirer account to the channel '{channel.name}': {_describe(sent)}",
        channel_id=channel.id,
    )


@approvals.declare_action("add acquirer account", _KIND, _MAY)
async def add_account(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Adds an acquirer account, once for each form."""
    channel = account.get_channel(visit, fields["channel"], _MAY)
    account_id = form_keys.derive_id(visit, add_account.name, fields["key"])
    if any(each.id == account_id for each in visit.app.merchants.list_further_accounts(channel.id)):
        return "The acquirer account had been added before."
    sent = {name: text for name, text in fields.items() if name not in ("channel", "key")}
    told = {name: hide_login(text) for name, text in sent.items()}
    await visit.record(audit_actions.AuditAction.ACQUIRER_ACCOUNT_ADDED, account_id, channel=channel.id, **told)
    app = form_keys.make_app(visit, add_account.name, fields["key"])
    added = await acquirer_accounts.add_account(app, channel, sent)
    return f"The acquirer account {added.name} was added."


# ---- one account ----


async def _get_shown(visit: visits.Visit, account_id: str, permission: permissions.Permission) -> Shown:
    """Returns an account of a channel for which the user has a permission; any other is unknown."""
    for channel in visit.list_channels(permission):
        if account_id in {each.first_account_id for each in visit.app.merchants.list_accounts(channel, closed=True)}:
            return next(each for each in await list_shown(visit, channel) if each.id == account_id)
    raise visits.make_not_found("acquirer account")


@ROUTES.add("GET", _ACCOUNT, _SEES)
async def show_account(visit: visits.Visit) -> Reply:
    """Shows one acquirer account, and what may be changed of it."""
    shown = await _get_shown(visit, visit.names[0], _SEES)
    return visit.render(
        "routing_account.html",
        title=shown.name,
        account=shown,
        fields=_list_fields(shown.view, _CHANGING),
        hours=_RATE_HOURS,
        may_change=visit.may(_MAY, shown.view.id) and not shown.is_closed,
        may_reopen=visit.may(_MAY, shown.view.id) and shown.further is not None and shown.is_closed,
    )


@ROUTES.add("POST", _ACCOUNT, _MAY)
async def submit_changes(visit: visits.Visit) -> Reply:
    """Changes the settings of an account that differ; all but its name need a fresh factor."""
    shown = await _get_shown(visit, visit.names[0], _MAY)
    form_keys.check_mark(visit.find("mark"), (shown.name, shown.terms, shown.is_closed))
    changes, back = _read_changes(visit, shown.view, _CHANGING), f"{visit.base}/routing/accounts/{shown.id}"
    if shown.further is not None and visit.find("name") not in ("", shown.name):
        changes["name"] = visit.find("name")
        acquirer_accounts.check_name(changes["name"])
    if not changes:
        return visit.go(back, "Nothing was changed.")
    acquirer_accounts.apply_changes(visit.app, shown.view, changes, merchants.ACCOUNT_FLAGS)
    if channels.changes_routing(changes) and not sign_in.is_confirmed(visit.app, visit.session):
        return visits.ask_to_confirm(back)
    return await approvals.perform(
        visit,
        change_account,
        {"account": shown.id, "mark": shown.mark, **changes},
        back=back,
        subject=shown.id,
        summary=f"{_describe(changes)} of the acquirer account '{shown.name}'",
        channel_id=shown.view.id,
    )


@approvals.declare_action("change acquirer account", _KIND, _MAY)
async def change_account(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Changes an account as it was when this was asked for."""
    shown = await _get_shown(visit, fields["account"], _MAY)
    changes = {name: text for name, text in fields.items() if name not in ("account", "mark")}
    if not channels.read_channel_changes(shown.view, changes) and changes.get("name", shown.name) == shown.name:
        return "The acquirer account had been changed before."
    form_keys.check_mark(fields["mark"], (shown.name, shown.terms, shown.is_closed))
    await visit.record(audit_actions.AuditAction.ACQUIRER_ACCOUNT_CHANGED, shown.id, **changes)
    if shown.further is None:
        await channels.change_channel(visit.app, visit.app.merchants.get_channel(shown.view.id), changes)
    else:
        await acquirer_accounts.change_account(visit.app, shown.further, changes)
    return f"Changed: {', '.join(changes)}."


@ROUTES.add("POST", f"{_ACCOUNT}/state", _MAY)
async def submit_state(visit: visits.Visit) -> Reply:
    """Closes an account for new payments, or opens it again."""
    shown = await _get_shown(visit, visit.names[0], _MAY)
    form_keys.check_mark(visit.find("mark"), (shown.name, shown.terms, shown.is_closed))
    if shown.further is None:
        raise visits.refuse_field("state", "of the first account is that of its channel: close the channel instead")
    state = "open" if shown.is_closed else "closed"
    return await approvals.perform(
        visit,
        set_state,
        {"account": shown.id, "state": state},
        back=f"{visit.base}/routing/accounts/{shown.id}",
        subject=shown.id,
        summary=f"{'close' if state == 'closed' else 'open'} the acquirer account '{shown.name}'",
        channel_id=shown.view.id,
    )


@approvals.declare_action("close or open acquirer account", _KIND, _MAY)
async def set_state(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Closes an account or opens it again; an account that is in that state stays as it is."""
    shown = await _get_shown(visit, fields["account"], _MAY)
    state = fields["state"]
    if shown.further is None or shown.is_closed == (state == "closed"):
        return f"The acquirer account was {state} before."
    await visit.record(audit_actions.AuditAction.ACQUIRER_ACCOUNT_CHANGED, shown.id, state=state)
    save = acquirer_accounts.close_account if state == "closed" else acquirer_accounts.reopen_account
    await save(visit.app, shown.further)
    return f"The acquirer account {shown.name} is {state}."
