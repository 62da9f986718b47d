"""The page of one file for a bank, and its download, which shows account data. Lists are in `lists`."""

from collections.abc import Mapping

from tollgate.catalog import audit_actions, permissions
from tollgate.connectors.sepa_files import Scheme
from tollgate.flows.sepa_files import export_file
from tollgate.office.visits import OF_MERCHANT, OfficeRoutes, Visit, make_not_found
from tollgate.store.bank_files import BANK_FILES, BankFile
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()
_PATH = f"{OF_MERCHANT}/bank-files/{{id}}"
_XML = b"application/xml"

SCHEMES: Mapping[str, str] = {Scheme.DEBITS: "direct debits", Scheme.CREDITS: "credit transfers"}


@ROUTES.add("GET", _PATH, permissions.Permission.VIEW_PAYMENTS)
async def show_bank_file(visit: Visit) -> Reply:
    """Shows the sums of a file; what it says has account numbers, and is only downloaded."""
    file = await _get_file(visit)
    visit.check(permissions.Permission.VIEW_PAYMENTS, file.channel_id)
    return visit.render(
        "one_bank_file.html",
        title=f"Bank file {file.id}",
        bank_file=file,
        scheme=SCHEMES.get(file.scheme, ""),
        channel=visit.app.merchants.find_channel(file.channel_id),
        may_download=visit.may(permissions.Permission.EXPORT_PAYMENTS, file.channel_id),
    )


async def _get_file(visit: Visit) -> BankFile:
    found = await BANK_FILES.find(visit.app.database, visit.get_merchant().id, visit.names[0])
    if found is None:
        raise make_not_found("bank file")
    return found


@ROUTES.add("POST", f"{_PATH}/download", permissions.Permission.EXPORT_PAYMENTS)
async def download_bank_file(visit: Visit) -> Reply:
    """Sends the XML of a file and notes its first export."""
    file = await _get_file(visit)
    visit.check(permissions.Permission.EXPORT_PAYMENTS, file.channel_id)
    await visit.record(audit_actions.AuditAction.BANK_FILE_VIEWED, file.id, entries=str(file.entries))
    body = await export_file(visit.app.database, visit.app.keyring, file, visit.app.clock.now())
    return Reply(200, body, _XML, ((b"content-disposition", f'attachment; filename="{file.id}.xml"'.encode()),))
