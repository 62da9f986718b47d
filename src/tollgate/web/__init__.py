"""HTTP in: the server, who may call, how often, and the merchant's endpoints."""

from tollgate.web.access import write_access_lines
from tollgate.web.api import METRICS, ROUTES
from tollgate.web.connections import Connections
from tollgate.web.head import Head
from tollgate.web.pages import ANYWHERE, Pages, join_modules, read_browser_file, wrap_modules
from tollgate.web.protocol import Application, HttpConnection
from tollgate.web.proxies import Proxies
from tollgate.web.request import Access, Caller, Reply, Request, RouteRow, get_channel, redirect, reply_with
from tollgate.web.routes import RouteTable
from tollgate.web.server import Gateway
from tollgate.web.throttle import Throttles, configure_throttles
from tollgate.web.visit import Visit

__all__ = [
    "ANYWHERE",
    "METRICS",
    "ROUTES",
    "Access",
    "Application",
    "Caller",
    "Connections",
    "Gateway",
    "Head",
    "HttpConnection",
    "Pages",
    "Proxies",
    "Reply",
    "Request",
    "RouteRow",
    "RouteTable",
    "Throttles",
    "Visit",
    "configure_throttles",
    "get_channel",
    "join_modules",
    "read_browser_file",
    "redirect",
    "reply_with",
    "wrap_modules",
    "write_access_lines",
]
