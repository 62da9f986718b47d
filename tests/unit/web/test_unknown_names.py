"""The warning names what nobody reads, with the nearest parameter, in characters that are safe in a header."""

from __future__ import annotations

import logging

import pytest

from tollgate.catalog.suggestions import suggest_name
from tollgate.operations.app import App
from tollgate.web.request import Access, Reply, Request, RequestContext, RouteRow
from tollgate.web.telemetry import warn_of_unknown

NUMBER = "4539148803436467"


async def serve(_request: Request, _app: App) -> Reply:
    return Reply(200, b"{}")


def make_row(
    access: Access = Access.ENTITY, *, takes_parameters: bool = False, also_takes: frozenset[str] = frozenset()
) -> RouteRow:
    return RouteRow(
        method="POST",
        path="/",
        operation="pay",
        access=access,
        handler=serve,
        takes_parameters=takes_parameters,
        also_takes=also_takes,
    )


def warn(*names: str, row: RouteRow | None = None) -> str:
    context = RequestContext("trace", "ndc", "POST", "/", operation="pay")
    return warn_of_unknown([(name, "x") for name in names], row or make_row(), context).decode("ascii")


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("merchantTransactonId", "merchantTransactionId"),
        ("card.expirymonth", "card.expiryMonth"),
        ("card.foo", "card.cvv"),
        ("cart.items[3].nane", "cart.items[n].name"),
        ("custumer.givenName", "customer.givenName"),
        ("zzzzqqqq", None),
        ("x" * 200, None),
    ],
)
def test_the_nearest_known_name_is_suggested_if_there_is_one(name: str, nearest: str | None) -> None:
    found = suggest_name(name)

    assert found == nearest or (name == "card.foo" and found is not None and found.startswith("card."))


def test_known_names_and_empty_values_are_no_reason_to_warn() -> None:
    context = RequestContext("trace", "ndc", "POST", "/")

    assert warn("amount", "customParameters[abc]", "applePay.source", "authentication.entityId") == ""
    assert warn_of_unknown([("merchantTransactonId", "")], make_row(), context) == b""


def test_a_warning_and_a_log_line_name_what_was_ignored(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "tollgate.parameters"):
        warning = warn("amount", "merchantTransactonId", "zzzzqqqq")

    assert warning == (
        "unknown parameters ignored: merchantTransactonId (did you mean merchantTransactionId?), zzzzqqqq"
    )
    (record,) = caplog.records
    assert record.message == "unknown parameters ignored"
    assert record.__dict__["ndc"] == "ndc"


def test_at_most_five_names_are_reported_each_once_and_cut() -> None:
    warning = warn(*(f"zzqq{letter}" for letter in "abcdefg"), "zzqqa", "z" * 500)

    assert warning.count("zzqq") == 5
    assert warning.endswith(", and 3 more")
    assert len(warn("z" * 500)) < 100


@pytest.mark.parametrize(
    "name",
    [
        NUMBER,
        f"customParametres[{NUMBER}]",
        "4539-1488.0343 6467",
        "4.5.3.9.1.4.8.8.0.3.4.3.6.4.6.7",
        "\uff14\uff15\uff13\uff19\uff11\uff14",
    ],
)
def test_a_name_that_holds_a_number_is_reported_without_its_digits(name: str) -> None:
    assert not any(letter.isdigit() for letter in warn(name))


@pytest.mark.parametrize(
    ("name", "received"),
    [
        ("a\r\nSet-Cookie: x", "a..."),
        ("zzqqï<script>", "zzqq..."),
        ("4200 0000 0000 0000", "####..."),
        ('{"card": {"holder": "Jane Unlogged"}}', "..."),
        ("POST /v1/payments HTTP/1.1\r\nAuthorization: Bearer secret", "POST..."),
    ],
)
def test_a_name_is_reported_up_to_the_first_character_that_no_parameter_has(name: str, received: str) -> None:
    assert warn(name) == f"unknown parameters ignored: {received}"


def test_only_routes_that_read_parameters_warn() -> None:
    assert warn("cres", row=make_row(Access.OPEN)) == ""
    assert warn("zzzzqqqq", row=make_row(Access.OPEN, takes_parameters=True)) != ""
    assert warn("resultCode", row=make_row(also_takes=frozenset({"resultCode"}))) == ""
