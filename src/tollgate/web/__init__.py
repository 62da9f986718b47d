"""HTTP in: the server, who may call, how often, and the merchant's endpoints."""

from tollgate.web.api import METRICS, ROUTES
from tollgate.web.pages import ANYWHERE, Pages
from tollgate.web.protocol import BoundedHttp
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, get_channel, reply_with
from tollgate.web.routes import RouteTable
from tollgate.web.server import Gateway
from tollgate.web.throttle import Throttles, configure_throttles

__all__ = [
    "ANYWHERE",
    "METRICS",
    "ROUTES",
    "Access",
    "BoundedHttp",
    "Caller",
    "Gateway",
    "Pages",
    "Reply",
    "Request",
    "RouteRow",
    "RouteTable",
    "Throttles",
    "configure_throttles",
    "get_channel",
    "reply_with",
]
