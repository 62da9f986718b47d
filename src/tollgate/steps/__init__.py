"""What several stories share: the house they happen in, the route, the driver of connectors."""

from tollgate.steps.directory import Directory
from tollgate.steps.dispatch import dispatch
from tollgate.steps.house import SUCCESS_CODES, House
from tollgate.steps.route import Route, choose_route

__all__ = ["SUCCESS_CODES", "Directory", "House", "Route", "choose_route", "dispatch"]
