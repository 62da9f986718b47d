"""The route table: finds the row for a method and a path, and answers what browsers ask before a cross-origin call.

The rows are declared beside their handlers.
"""

from collections.abc import Iterable, Iterator

from tollgate.catalog import codes, results
from tollgate.operations.app import App
from tollgate.values import NotFound, WrongMethod
from tollgate.web.request import Access, Match, Reply, Request, RouteRow

_Shape = tuple[str | None, ...]


class RouteTable:
    """Paths are looked up by their shape: the fixed words, with a gap where a name goes."""

    def __init__(self, rows: Iterable[RouteRow]) -> None:
        self.rows = tuple(rows)
        self._by_shape: dict[_Shape, dict[str, RouteRow]] = {}
        self._gaps: dict[int, list[tuple[int, ...]]] = {}
        # Most requests spell a path without gaps as its row does, and need not be taken apart.
        self._plain = {
            (method, row.path): Match(row, ())
            for row in self.rows
            if "{" not in row.path
            for method in _methods_of(row)
        }
        self._open = frozenset(path for _, path in self._plain)
        # A log shows a secret path up to its first gap; the operation, which it shows too, tells such paths apart.
        self._secret = {
            tuple(_split(row.path.partition("{")[0])): row.path.partition("}")[0] + "}"
            for row in self.rows
            if row.hides_path
        }
        self._secret_lengths = sorted({len(words) for words in self._secret})
        for row in self.rows:
            shape = tuple(None if word.startswith("{") else word for word in _split(row.path))
            methods = self._by_shape.setdefault(shape, {})
            if row.method in methods:
                raise ValueError(f"two rows for {row.method} {row.path}")
            methods |= dict.fromkeys(_methods_of(row), row)
            gaps = tuple(place for place, word in enumerate(shape) if word is None)
            known = self._gaps.setdefault(len(shape), [])
            if gaps not in known:
                # Fewer gaps first: a fixed word wins over a name.
                known.append(gaps)
                known.sort(key=len)

    def find(self, method: str, path: str) -> Match:
        return self._plain.get((method, path)) or self._match_shape(method, path)

    def hide(self, path: str) -> str:
        """Returns the path as a log may show it, whether a row is found for it or not.

        A path with a wrong method or a word too many contains the secret all the same.
        """
        if path in self._open:
            return path
        words = tuple(_split(path))
        for length in self._secret_lengths:
            hidden = self._secret.get(words[:length]) if len(words) > length else None
            if hidden is not None:
                return hidden
        return path

    def _match_shape(self, method: str, path: str) -> Match:
        words = _split(path)
        for gaps in self._gaps.get(len(words), ()):
            methods = self._by_shape.get(tuple(None if at in gaps else word for at, word in enumerate(words)))
            if methods is None:
                continue
            row = methods.get(method)
            if row is None:
                raise WrongMethod(results.get_result(codes.METHOD_NOT_ALLOWED), sorted(methods))
            return Match(row, tuple(words[place] for place in gaps))
        raise NotFound(results.get_result(codes.INVALID_REQUEST), "no such path")


def _methods_of(row: RouteRow) -> tuple[str, ...]:
    """Returns the methods of a row; HEAD is GET answered without its body."""
    return ("GET", "HEAD") if row.method == "GET" else (row.method,)


def _split(path: str) -> list[str]:
    """Splits a path without empty words, because some clients write `//v1/payments/`."""
    return [word for word in path.split("/") if word]


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
    """Yields the rows, and the preflight row of each path that any origin may read."""
    asked: set[str] = set()
    for row in rows:
        yield row
        if row.is_for_any_origin and row.path not in asked:
            asked.add(row.path)
            yield RouteRow(
                method="OPTIONS",
                path=row.path,
                operation="preflight",
                access=Access.OPEN,
                handler=answer_preflight,
                hides_path=row.hides_path,
                is_for_any_origin=True,
            )
