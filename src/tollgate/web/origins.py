"""What browsers ask before a script of a shop's page may call: answered for every path whose row lets any origin read.

A page whose own scripts add a header to every call makes its browser ask so. No row of a door is written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tollgate.operations.app import App
from tollgate.web.request import Access, Reply, Request, RouteRow

ANY_ORIGIN = (
    (b"access-control-allow-origin", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
)
_MAY_BE_SENT = (
    (b"access-control-allow-methods", b"GET, HEAD, POST"),
    (b"access-control-allow-headers", b"*"),
    (b"access-control-max-age", b"7200"),
)


async def answer_preflight(request: Request, app: App) -> Reply:  # noqa: ARG001
    return Reply(204, b"", b"text/plain", _MAY_BE_SENT)


def open_to_all_origins(rows: Iterable[RouteRow]) -> Iterator[RouteRow]:
    """The rows, and beside each that any origin may read what a browser or a proxy asks about it first."""
    asked: set[str] = set()
    for row in rows:
        yield row
        if not row.is_for_any_origin:
            continue
        if row.path not in asked:
            asked.add(row.path)
            yield RouteRow(
                method="OPTIONS",
                path=row.path,
                operation="preflight",
                summary="",
                access=Access.OPEN,
                handler=answer_preflight,
                hides_path=row.hides_path,
                is_for_any_origin=True,
            )
