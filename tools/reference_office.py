"""The reference page of permissions: what each role may do, and which permission each page needs."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from tools.reference_markdown import code, page, section, table

from tollgate import sandbox
from tollgate.catalog.permissions import FOUR_EYES_ROWS, PERMISSION_ROWS, Role
from tollgate.office.routes import PAGE_ROWS
from tollgate.office.visits import OfficeRoutes, OfficeRow
from tollgate.payments.users import Stage
from tollgate.values import render_hundredths


def list_page_rows() -> list[OfficeRow]:
    """Lists the pages of the back office, with those that only a test host has."""
    found = list(PAGE_ROWS)
    for each in pkgutil.walk_packages(sandbox.__path__, "tollgate.sandbox."):
        routes = getattr(importlib.import_module(each.name), "ROUTES", None)
        found += [row for row in getattr(routes, "pages", ()) if isinstance(routes, OfficeRoutes) and row not in found]
    return found


def _describe_pages() -> Iterator[tuple[str, ...]]:
    for row in list_page_rows():
        needs = row.permission.value if row.permission else "none"
        if Stage.SIGNED_IN not in row.stages:
            needs = "a sign-in that is not complete"
        yield code(row.path), row.method, needs, "yes" if row.needs_confirmation else ""


def render_permissions() -> str:
    intro = [
        "A user has roles for a merchant or for one of its channels; the platform role counts for all merchants.",
        "A page of a merchant for which a user has no role is not found. *Fresh* pages ask for the second factor",
        "again if it was not given within the last minutes.",
        "",
    ]
    head = ("permission", "means", *[role.value for role in Role])
    rows = (
        (code(row.permission.value), row.text, *["yes" if role in row.roles else "" for role in Role])
        for row in PERMISSION_ROWS
    )
    eyes = (
        (code(row.kind.value), row.text, render_hundredths(row.above) if row.above else "") for row in FOUR_EYES_ROWS
    )
    return page(
        "Permissions",
        intro,
        section("Roles"),
        table(head, rows),
        section("Four eyes", "A second person confirms these on a live host, unless `--four-eyes` names others."),
        table(("action", "what", "above"), eyes),
        section("Pages"),
        table(("path", "method", "permission", "fresh"), _describe_pages()),
    )
