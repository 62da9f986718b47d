"""The list of payments: search, filters, saved views, pages and files of what is found.

One payment has a page of its own.
"""

from urllib.parse import urlencode

from tollgate.catalog import audit_actions, brands, limits, payment_types, permissions, results
from tollgate.contract.searching import ResultState
from tollgate.flows.search_payments import search_all, search_page
from tollgate.office import payment_columns, payment_queries, visits
from tollgate.payments.reporting import Place
from tollgate.store import saved_views
from tollgate.store.saved_views import SavedView
from tollgate.values import make_id, to_datetime
from tollgate.web.request import Reply

ROUTES = visits.OfficeRoutes()
_PATH = f"{visits.OF_MERCHANT}/payments"
_VIEWS = f"{visits.OF_MERCHANT}/saved-views"
_TYPES = [(code, f"{code}: {row.label}") for code, row in payment_types.PAYMENT_TYPES.items()]
_STATES = [(state, state.capitalize()) for state in ResultState]
_GROUPS = [(group.id, group.id.replace("_", " ")) for group in results.GROUPS]
_ANY = ("", "any")


@ROUTES.add("GET", _PATH, permissions.Permission.VIEW_PAYMENTS, may_be_behind=True)
async def show_payments(visit: visits.Visit) -> Reply:
    """Lists payments, newest first: those that fit the search and the filters of the address."""
    asked, merchant = payment_queries.read_asked(visit), visit.get_merchant()
    page = await search_page(visit.app, merchant.id, asked.query, asked.after, is_newest_first=asked.is_newest_first)
    channels: dict[str, str] = {channel.id: channel.name for channel in visit.list_channels()}
    views = await saved_views.list_views(visit.app.database, visit.user.id, merchant.id, limits.LIMITS.saved_views_max)
    exported = {channel.id for channel in visit.list_channels(permissions.Permission.EXPORT_PAYMENTS)}
    return visit.render(
        "payments.html",
        title="Transactions",
        asked=asked,
        page=page,
        rows=[(found, payment_columns.list_cells(found, channels)) for found in page.rows],
        columns=payment_columns.COLUMNS,
        older=_make_address(asked, "before", page.older),
        newer=_make_address(asked, "after", page.newer),
        newest=None if asked.after is None else asked.address,
        views=views,
        may_export=bool(exported & set(asked.query.channel_ids)),
        leaves_out=not exported >= set(asked.query.channel_ids),
        choices={
            "channel": [_ANY, *channels.items()],
            "type": [_ANY, *_TYPES],
            "brand": [_ANY, *[(brand, brand) for brand in sorted(brands.BRANDS)]],
            "result": [_ANY, *_STATES, *_GROUPS],
        },
        find=asked.filters.get,
        is_filtered=bool(asked.filters),
    )


def _make_address(asked: payment_queries.Asked, name: str, place: Place | None) -> str | None:
    """Returns the query of another page of this list; None where there is none."""
    return None if place is None else urlencode({**asked.filters, name: payment_queries.render_place(place)})


@ROUTES.add("GET", f"{_PATH}/export.csv", permissions.Permission.EXPORT_PAYMENTS, may_be_behind=True)
async def export_csv(visit: visits.Visit) -> Reply:
    """Sends all pages of the list as a file for table programs."""
    return await _export(visit, payment_columns.FileKind.CSV)


@ROUTES.add("GET", f"{_PATH}/export.json", permissions.Permission.EXPORT_PAYMENTS, may_be_behind=True)
async def export_json(visit: visits.Visit) -> Reply:
    """Sends all pages of the list as JSON."""
    return await _export(visit, payment_columns.FileKind.JSON)


async def _export(visit: visits.Visit, kind: payment_columns.FileKind) -> Reply:
    asked, merchant = payment_queries.read_asked(visit, permissions.Permission.EXPORT_PAYMENTS), visit.get_merchant()
    await visit.record(audit_actions.AuditAction.PAYMENTS_EXPORTED, "", format=kind, **asked.filters)
    channels: dict[str, str] = {channel.id: channel.name for channel in visit.list_channels()}
    name = f"payments-{to_datetime(visit.app.clock.now()):%Y%m%d-%H%M%S}.{kind}"
    parts = payment_columns.write_file(kind, search_all(visit.app, merchant.id, asked.query), channels)
    disposition = (b"content-disposition", f'attachment; filename="{name}"'.encode())
    return Reply(200, b"", payment_columns.CONTENT_TYPES[kind], (disposition,), chunks=parts)


@ROUTES.add("POST", _VIEWS, permissions.Permission.VIEW_PAYMENTS)
async def save_view(visit: visits.Visit) -> Reply:
    """Saves the filters of the list under a name."""
    name, merchant = visit.find("name"), visit.get_merchant()
    if not name or len(name) > limits.LIMITS.saved_view_name_length_max or not name.isprintable():
        raise visits.refuse_field("name", f"1 to {limits.LIMITS.saved_view_name_length_max} printable characters")
    asked = payment_queries.read_asked(visit)
    kept = await saved_views.list_views(visit.app.database, visit.user.id, merchant.id, limits.LIMITS.saved_views_max)
    if len(kept) >= limits.LIMITS.saved_views_max:
        raise visits.refuse_field("name", f"you have {limits.LIMITS.saved_views_max} views already: delete one first")
    view = SavedView(
        user_id=visit.user.id,
        id=make_id(visit.app.random_bytes),
        merchant_id=merchant.id,
        name=name,
        query=asked.address,
        created_at=visit.app.clock.wall(),
    )
    await visit.record(audit_actions.AuditAction.VIEW_SAVED, name, query=view.query)
    await saved_views.insert_view(visit.app.database, view)
    return visit.go(f"{visit.base}/payments?{view.query}", f"The view {name} is saved.")


@ROUTES.add("POST", f"{_VIEWS}/{{id}}/delete", permissions.Permission.VIEW_PAYMENTS)
async def delete_view(visit: visits.Visit) -> Reply:
    """Deletes a saved view of the user."""
    merchant_id = visit.get_merchant().id
    await visit.record(audit_actions.AuditAction.VIEW_DELETED, visit.names[0])
    if not await saved_views.delete_view(visit.app.database, visit.user.id, merchant_id, visit.names[0]):
        raise visits.make_not_found("view")
    return visit.go(f"{visit.base}/payments", "The view is deleted.")
