"""The route table: every path finds one row, and the rows agree with the other tables."""

from __future__ import annotations

import re

import pytest

from tollgate.catalog.throttles import THROTTLES, WRONG_TOKEN
from tollgate.docs.routes import ROUTES as DOCS_ROUTES
from tollgate.office.routes import ROUTES as OFFICE_ROUTES
from tollgate.sandbox.routes import ROUTES as SANDBOX_ROUTES
from tollgate.values import NotFound, WrongMethod
from tollgate.web.api import ROUTES
from tollgate.web.api.host import METRICS, NAME
from tollgate.web.request import Access, RouteRow
from tollgate.web.routes import RouteTable
from tollgate.widget.routes import ROUTES as WIDGET_ROUTES

TABLE = RouteTable([*ROUTES, METRICS, *SANDBOX_ROUTES])
LIVE_ROWS = (*ROUTES, NAME, *WIDGET_ROUTES, *OFFICE_ROUTES, *DOCS_ROUTES)
HOLE = re.compile(r"\{[a-z]+\}")


@pytest.mark.parametrize("row", TABLE.rows, ids=lambda row: row.operation)
def test_every_row_is_found_by_its_own_path(row: RouteRow) -> None:
    path = HOLE.sub("8a01", row.path)

    match = TABLE.find(row.method, path)

    assert match.row is row
    assert match.names == ("8a01",) * len(HOLE.findall(row.path))
    assert TABLE.find(row.method, f"/{path}//").row is row


def name_subject(row: RouteRow) -> tuple[str, Access, list[str]]:
    """Returns the subject of a row: its path without versions, ids, kinds and areas that older versions lack."""
    unsaid = r"v[0-9]+|scheduling|\{id\}|payment|registration"
    words = [word for word in row.path.split("/") if not re.fullmatch(unsaid, word)]
    return row.method, row.access, words


def test_an_operation_is_one_thing_in_all_its_versions() -> None:
    """Versions of one report share its name, and so its throttle; nothing else shares one but pages for people."""
    rows = [row for row in TABLE.rows if row.operation != "office"]
    subjects = {row.operation: name_subject(row) for row in rows}

    assert [row.path for row in rows if name_subject(row) != subjects[row.operation]] == []


def test_every_row_is_described() -> None:
    assert all((row.handler.__doc__ or "").rstrip().endswith(".") for row in TABLE.rows)


def test_what_moves_money_asks_for_an_entity() -> None:
    """The exceptions are endpoints whose address is itself a secret that was handed out."""
    posts = [row for row in TABLE.rows if row.method == "POST" and row.path.startswith("/v1/")]
    # Endpoints for webhooks move no money, and belong to the merchant. An acquirer signs its events.
    posts = [row for row in posts if not row.path.startswith(("/v1/webhooks", "/v1/acquirers"))]

    assert {row.access for row in posts if not row.hides_path} == {Access.ENTITY}
    assert {row.path for row in posts if row.hides_path} == {
        "/v1/checkouts/{id}/abandoned",
        "/v1/checkouts/{id}/payment",
        "/v1/checkouts/{id}/registration",
        "/v1/networkTokens/events/{token}",
        "/v1/shopper/{token}",
        "/v1/threeDSecure/results/{token}",
        "/v1/threeDSecure/method/{token}",
    }


SECRET_PATHS = sorted({row.path for row in TABLE.rows if row.hides_path})


@pytest.mark.parametrize("path", SECRET_PATHS)
def test_a_secret_in_a_path_is_hidden_however_the_path_is_written(path: str) -> None:
    named = HOLE.sub("8a01", path)

    for written in (named, f"/{named}//", f"{named}/more", named.replace("/8a01", "///8a01")):
        assert TABLE.hide(written) == path[: path.index("}") + 1]


@pytest.mark.parametrize("path", ["/v1/payments", "/v1/payments/8a01", "/v1/threeDSecure/8a01", "/nowhere", "/"])
def test_other_paths_are_shown_as_they_came(path: str) -> None:
    assert TABLE.hide(path) == path


def test_every_operation_of_a_live_host_is_throttled_but_its_health() -> None:
    live_rows = {row.operation for row in LIVE_ROWS}

    assert live_rows - set(THROTTLES) == {"healthz", "readyz"}
    assert set(THROTTLES) - live_rows == {WRONG_TOKEN}


def test_whoever_has_no_credential_is_counted_by_address() -> None:
    open_rows = {row.operation for row in LIVE_ROWS if row.access is Access.OPEN} & set(THROTTLES)

    assert {THROTTLES[operation].counted_by for operation in open_rows} == {"address"}


def test_a_fixed_word_wins_over_a_name() -> None:
    def row(path: str, operation: str) -> RouteRow:
        return RouteRow(method="GET", path=path, operation=operation, access=Access.OPEN, handler=METRICS.handler)

    table = RouteTable([row("/a/{name}", "named"), row("/a/fixed", "fixed"), row("/{one}/{two}", "both")])

    assert table.find("GET", "/a/fixed").row.operation == "fixed"
    assert table.find("GET", "/a/other").names == ("other",)
    assert table.find("GET", "/b/c").names == ("b", "c")


def test_two_rows_for_one_path_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="two rows"):
        RouteTable([METRICS, METRICS])


def test_a_known_path_with_another_method_lists_the_right_ones() -> None:
    with pytest.raises(WrongMethod) as refused:
        TABLE.find("DELETE", "/sandbox/clock")

    assert refused.value.allowed == ("GET", "HEAD", "POST")


@pytest.mark.parametrize("row", [row for row in TABLE.rows if row.method == "GET"], ids=lambda row: row.operation)
def test_head_works_wherever_get_does(row: RouteRow) -> None:
    assert TABLE.find("HEAD", HOLE.sub("8a01", row.path)).row is row


@pytest.mark.parametrize("path", ["/v1", "/v1/payments/a/b", "/V1/payments", "v1/payment"])
def test_an_unknown_path_is_not_found(path: str) -> None:
    with pytest.raises(NotFound):
        TABLE.find("GET", path)
