"""The routes of the payment form and of payment links, joined. Each module declares its own rows."""

from tollgate.widget import serving
from tollgate.widget.link_pages import page

ROUTES = (*serving.ROUTES, *page.ROUTES)
