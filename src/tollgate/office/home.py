"""The first page: it leads to the only merchant of a user, or lists the merchants to choose from.

What a merchant has is shown by other pages.
"""

from tollgate.catalog.permissions import ROLE_PERMISSIONS, Role
from tollgate.office.visits import OFFICE, OfficeRoutes, Visit, list_merchants
from tollgate.web.request import Reply

ROUTES = OfficeRoutes()


@ROUTES.add("GET", OFFICE, None)
async def show_home(visit: Visit) -> Reply:
    """Lists the merchants that the user may see."""
    merchants = list_merchants(visit.app, visit.grants)
    if len(merchants) == 1:
        return visit.go(f"{OFFICE}/merchants/{merchants[0].id}/overview")
    return visit.render("home.html", title="Merchants", roles=ROLE_PERMISSIONS, platform=Role.PLATFORM)
