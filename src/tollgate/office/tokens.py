"""Access tokens: listed, made, shown, changed, rotated and revoked by administrators, behind a fresh second factor.

Which token may do what is checked with each request, in `web`.
"""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from tollgate.catalog import audit_actions, permissions
from tollgate.catalog.scopes import SCOPE_ROWS
from tollgate.contract.tokens import TokenTerms, read_overlap, read_token_terms
from tollgate.flows import tokens
from tollgate.office import approvals, form_keys, visits
from tollgate.payments.merchants import Credential
from tollgate.store.audit_log import list_last_times
from tollgate.values import Instant, render_timestamp
from tollgate.vault.tokens import open_token, show_token
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/tokens"
_MAY = permissions.Permission.MANAGE_TOKENS
_NO_END = "0"


def _list_sent(visit: visits.Visit, name: str) -> list[str]:
    return [value for sent, value in visit.request.pairs if sent == name and value]


def _reaches(visit: visits.Visit, channel_ids: tuple[str, ...]) -> bool:
    """Tells whether the user may manage a token for these channels; without any, it is one for the whole merchant."""
    return all(visit.may(_MAY, each) for each in channel_ids or ("",))


def get_state(token: Credential, now: Instant) -> tuple[str, str]:
    """Returns the state of a token as a word, and the tone of its mark."""
    if token.revoked_at is not None:
        return "revoked", ""
    if token.is_expired(now):
        return "ended", ""
    return ("active", "good") if token.expires_at is None else ("ends", "open")


@ROUTES.add("GET", _PATH, _MAY, needs_confirmation=True)
async def show_tokens(visit: visits.Visit) -> Reply:
    """Lists the access tokens, without the tokens themselves."""
    merchant_id, now = visit.get_merchant().id, visit.app.clock.now()
    found = [each for each in await tokens.list_tokens(visit.app, merchant_id) if _reaches(visit, each.channel_ids)]
    ids = [each.id for each in found]
    shown = await list_last_times(visit.app.database, merchant_id, ids, audit_actions.AuditAction.TOKEN_VIEWED)
    rows = [(each, get_state(each, now), shown.get(each.id)) for each in found]
    return visit.render("tokens.html", title="Access tokens", rows=rows, **_list_choices(visit))


def _list_choices(visit: visits.Visit) -> dict[str, Any]:
    own = visit.list_channels(_MAY)
    return {
        "scope_rows": SCOPE_ROWS,
        "channels": own,
        "names": {each.id: each.name for each in own},
        "key": form_keys.make_form_key(visit),
    }


@ROUTES.add("POST", _PATH, _MAY, needs_confirmation=True)
async def submit_token(visit: visits.Visit) -> Reply:
    """Makes a token, or asks a second person first."""
    fields = {
        "label": visit.find("label"),
        "scopes": ",".join(_list_sent(visit, "scopes")),
        "channels": ",".join(_list_sent(visit, "channels")),
        "expires_days": visit.find("expires_days"),
        "key": form_keys.check_form_key(visit.find("key")),
    }
    terms = _read_terms(visit, fields)
    return await approvals.perform(
        visit,
        make_token,
        fields,
        back=f"{visit.base}/tokens",
        subject=fields["label"],
        summary=f"make an access token for {_describe(visit, terms)}, labelled '{fields['label']}'",
    )


def _describe(visit: visits.Visit, terms: TokenTerms) -> str:
    """Says what a token is for, because a second person knows no more about it."""
    names = {each.id: each.name for each in visit.list_channels(_MAY)}
    channels = ", ".join(names.get(each, each) for each in terms.channel_ids)
    end = "without an end" if terms.expires_at is None else f"until {render_timestamp(terms.expires_at)}"
    return f"{', '.join(terms.scopes) or 'all scopes'} on {channels or 'all channels'}, {end}"


def _read_terms(visit: visits.Visit, fields: Mapping[str, str]) -> TokenTerms:
    scopes, channel_ids = (list(filter(None, fields[name].split(","))) for name in ("scopes", "channels"))
    own = {each.id for each in visit.list_channels(_MAY)}
    terms = read_token_terms(
        fields["label"], scopes, channel_ids, fields["expires_days"], own=own, now=visit.app.clock.now()
    )
    if not terms.channel_ids:
        visit.check(_MAY, "")
    return terms


@approvals.declare_action("make access token", permissions.ApprovalKind.TOKEN, _MAY)
async def make_token(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Makes a token, which is shown on request and never told here."""
    token_id = form_keys.derive_id(visit, make_token.name, fields["key"])
    if await _is_made(visit, token_id):
        return "The access token had been made before. Show it when you need it."
    terms = _read_terms(visit, fields)
    new = tokens.make_token(visit.app, visit.get_merchant().id, terms, token_id)
    details = {name: text for name, text in fields.items() if name != "key"}
    await visit.record(audit_actions.AuditAction.TOKEN_ADDED, token_id, **details)
    await tokens.insert_token(visit.app, new)
    return f"The access token {terms.label or new.credential.id} was made. Show it when you need it."


async def _is_made(visit: visits.Visit, token_id: str) -> bool:
    """Tells whether an action that is carried out again had made its token before it was cut off."""
    return any(each.id == token_id for each in await tokens.list_tokens(visit.app, visit.get_merchant().id))


async def _get_token(visit: visits.Visit, token_id: str) -> Credential:
    found = await tokens.list_tokens(visit.app, visit.get_merchant().id)
    token = next((each for each in found if each.id == token_id and _reaches(visit, each.channel_ids)), None)
    if token is None:
        raise visits.make_not_found("access token")
    return token


def _render_token(visit: visits.Visit, token: Credential, clear: str = "") -> Reply:
    state = get_state(token, visit.app.clock.now())
    title = token.label or "Access token"
    return visit.render("token.html", title=title, token=token, state=state, clear=clear, **_list_choices(visit))


@ROUTES.add("GET", f"{_PATH}/{{id}}", _MAY, needs_confirmation=True)
async def show_token_page(visit: visits.Visit) -> Reply:
    """Shows the terms of one token, and what can be done with it."""
    return _render_token(visit, await _get_token(visit, visit.names[0]))


@ROUTES.add("POST", f"{_PATH}/{{id}}/show", _MAY, needs_confirmation=True)
async def show_clear_token(visit: visits.Visit) -> Reply:
    """Shows the token in clear, which the audit log records before."""
    token = await _get_token(visit, visit.names[0])
    await visit.record(audit_actions.AuditAction.TOKEN_VIEWED, token.id, label=token.label)
    return _render_token(visit, token, show_token(open_token(token, visit.app.keyring)))


@ROUTES.add("POST", f"{_PATH}/{{id}}", _MAY, needs_confirmation=True)
async def submit_token_changes(visit: visits.Visit) -> Reply:
    """Changes label, scopes and end of a token; to allow it more may need a second person."""
    token = await _get_token(visit, visit.names[0])
    fields = {
        "token": token.id,
        "label": visit.find("label"),
        "scopes": ",".join(_list_sent(visit, "scopes")),
        "expires_days": visit.find("expires_days"),
        "channels": ",".join(token.channel_ids),
    }
    back = f"{visit.base}/tokens/{token.id}"
    terms = _read_changes(visit, token, fields)
    if not _widens(token, terms):
        return visit.go(back, await change_token.run(visit, fields))
    more = _describe(visit, replace(terms, channel_ids=token.channel_ids))
    summary = f"allow the access token '{token.label or token.id}' more: {more}"
    return await approvals.perform(visit, change_token, fields, back=back, subject=token.id, summary=summary)


def _read_changes(visit: visits.Visit, token: Credential, fields: Mapping[str, str]) -> TokenTerms:
    days, scopes = fields["expires_days"], list(filter(None, fields["scopes"].split(",")))
    now = visit.app.clock.now()
    terms = read_token_terms(fields["label"], scopes, (), "" if days == _NO_END else days, own=(), now=now)
    return terms if days else replace(terms, expires_at=token.expires_at)


def _widens(token: Credential, terms: TokenTerms) -> bool:
    has_more = bool(token.scopes) and not (terms.scopes and set(terms.scopes) <= set(token.scopes))
    ends_later = token.expires_at is not None and (terms.expires_at is None or terms.expires_at > token.expires_at)
    return has_more or ends_later


@approvals.declare_action("change access token", permissions.ApprovalKind.TOKEN, _MAY)
async def change_token(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Changes the terms of a token."""
    token = await _get_token(visit, fields["token"])
    await visit.record(
        audit_actions.AuditAction.TOKEN_CHANGED, token.id, **{name: fields[name] for name in fields if name != "token"}
    )
    await tokens.change_token(visit.app, token, _read_changes(visit, token, fields))
    return "The access token was changed."


@ROUTES.add("POST", f"{_PATH}/{{id}}/rotate", _MAY, needs_confirmation=True)
async def submit_rotation(visit: visits.Visit) -> Reply:
    """Makes a token that follows this one, or asks a second person first."""
    token = await _get_token(visit, visit.names[0])
    hours = visit.find("overlap_hours")
    read_overlap(hours)
    return await approvals.perform(
        visit,
        rotate_token,
        {
            "token": token.id,
            "overlap_hours": hours,
            "key": form_keys.check_form_key(visit.find("key")),
            "channels": ",".join(token.channel_ids),
        },
        back=f"{visit.base}/tokens",
        subject=token.id,
        summary=f"rotate the access token '{token.label or token.id}'; the old one ends after {hours} hours",
    )


@approvals.declare_action("rotate access token", permissions.ApprovalKind.TOKEN, _MAY)
async def rotate_token(visit: visits.Visit, fields: Mapping[str, str]) -> str:
    """Makes the token that follows another."""
    new_id = form_keys.derive_id(visit, rotate_token.name, fields["key"])
    if await _is_made(visit, new_id):
        return "The access token had been rotated before. Show the new one when you need it."
    token = await _get_token(visit, fields["token"])
    await visit.record(audit_actions.AuditAction.TOKEN_ROTATED, token.id, hours=fields["overlap_hours"])
    new = await tokens.rotate_token(visit.app, token, read_overlap(fields["overlap_hours"]), new_id)
    return (
        f"The access token {new.credential.label or new.credential.id} follows the old one. Show it when you need it."
    )


@ROUTES.add("POST", f"{_PATH}/{{id}}/revoke", _MAY, needs_confirmation=True)
async def submit_revocation(visit: visits.Visit) -> Reply:
    """Takes a token away at once."""
    token = await _get_token(visit, visit.names[0])
    await visit.record(audit_actions.AuditAction.TOKEN_REVOKED, token.id, label=token.label)
    await tokens.revoke_token(visit.app, token)
    return visit.go(f"{visit.base}/tokens", f"The access token {token.label or token.id} is revoked.")
