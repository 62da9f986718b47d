"""The result table proves itself: unique, sorted, grouped as clients group it, and worded as clients compare it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import groupby

import pytest

from tollgate.catalog.result_rows import ROWS_BY_GROUP
from tollgate.catalog.results import GROUP_EXCEPTIONS, GROUPS, RESULTS, get_result, is_pending, is_review, is_success

CODES_KNOWN_AT_LEAST = 659

WIRE_TEXTS = {
    "000.000.000": "Transaction succeeded",
    "000.000.100": "successful request",
    "000.100.110": "Request successfully processed in 'Merchant in Integrator Test Mode'",
    "000.100.112": "Request successfully processed in 'Merchant in Connector Test Mode'",
    "000.200.000": "transaction pending",
    "000.200.100": "successfully created checkout",
    "000.200.101": "successfully updated checkout",
    "100.100.101": "invalid creditcard, bank account number or bank name",
    "100.390.112": "Technical Error in 3D system",
    "200.100.103": "invalid Request Message. The request contains structural errors",
    "200.300.404": "invalid or missing parameter",
    "600.200.100": "invalid Payment Method",
    "700.400.510": "capture needs at least one successful transaction of type (PA)",
    "700.400.520": "refund needs at least one successful transaction of type (CP or DB or RB or RC)",
    "700.400.530": "reversal needs at least one successful transaction of type (CP or DB or RB or PA)",
    "700.400.580": "cannot find transaction",
    "800.100.151": "transaction declined (invalid card)",
    "800.120.100": "Too many requests. Please try again later.",
    "800.900.201": "unknown channel",
    "800.900.300": "invalid authentication information",
}

ANSWERED_BY_THE_GATEWAY = [
    "000.000.000",
    "000.000.100",
    "000.100.110",
    "000.100.112",
    "000.200.000",
    "000.200.100",
    "000.200.101",
    "000.200.102",
    "000.200.103",
    "100.100.101",
    "100.100.303",
    "100.100.601",
    "100.100.700",
    "100.550.300",
    "100.550.303",
    "200.100.103",
    "200.300.403",
    "200.300.404",
    "600.200.500",
    "600.200.700",
    "600.200.701",
    "700.100.500",
    "700.300.700",
    "700.400.100",
    "700.400.200",
    "700.400.300",
    "700.400.402",
    "700.400.510",
    "700.400.520",
    "700.400.530",
    "700.400.562",
    "700.400.570",
    "700.400.580",
    "700.400.700",
    "800.110.100",
    "800.120.100",
    "800.600.100",
    "800.700.100",
    "800.900.201",
    "800.900.300",
    "800.900.301",
    "900.100.100",
    "900.100.200",
    "900.100.300",
    "900.100.400",
    "999.999.999",
]

OWN_STATUS = {
    "800.120.100": 429,
    "800.900.201": 403,
    "800.900.300": 403,
    "800.900.301": 403,
    "999.999.999": 500,
}

GROUPS_ANSWERED_200 = {"success", "success_review", "pending", "pending_long", "chargeback"}


def classify_by_pattern(code: str) -> str | None:
    return next((group.id for group in GROUPS if re.match(group.regex, code)), None)


def test_no_code_stands_in_two_rows() -> None:
    counts = Counter(row.code for rows in ROWS_BY_GROUP.values() for row in rows)

    assert [code for code, count in counts.items() if count > 1] == []


def test_the_catalogue_is_as_long_as_the_list_clients_know() -> None:
    assert len(RESULTS) >= CODES_KNOWN_AT_LEAST


def test_results_come_in_code_order_under_their_own_code() -> None:
    assert list(RESULTS) == sorted(RESULTS)
    assert all(result.code == code for code, result in RESULTS.items())


def test_every_code_has_three_blocks_of_three_digits() -> None:
    assert [code for code in RESULTS if not re.fullmatch(r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}", code)] == []


@pytest.mark.parametrize("group_id", ROWS_BY_GROUP)
def test_rows_of_a_group_with_the_same_cause_are_written_together_and_in_code_order(group_id: str) -> None:
    runs = [list(rows) for _, rows in groupby(ROWS_BY_GROUP[group_id], key=lambda row: row.cause)]

    assert runs
    assert len(runs) == len({rows[0].cause for rows in runs})
    assert [rows for rows in runs if rows != sorted(rows)] == []


def test_every_table_of_rows_belongs_to_exactly_one_group() -> None:
    assert list(ROWS_BY_GROUP) == [group.id for group in GROUPS]


@pytest.mark.parametrize("group_id", ROWS_BY_GROUP)
def test_every_code_is_in_the_group_its_pattern_gives_it(group_id: str) -> None:
    codes = [result.code for result in RESULTS.values() if result.group == group_id]

    assert [code for code in codes if GROUP_EXCEPTIONS.get(code, classify_by_pattern(code)) != group_id] == []


def test_an_exception_is_listed_only_where_the_patterns_disagree() -> None:
    needless = [code for code, group_id in GROUP_EXCEPTIONS.items() if classify_by_pattern(code) == group_id]

    assert needless == []
    assert GROUP_EXCEPTIONS.keys() <= RESULTS.keys()


@pytest.mark.parametrize("code", ANSWERED_BY_THE_GATEWAY)
def test_every_code_the_gateway_answers_by_itself_has_a_row(code: str) -> None:
    assert get_result(code).code == code


def test_an_unknown_code_is_breakage() -> None:
    with pytest.raises(KeyError):
        get_result("123.456.789")


def test_descriptions_that_clients_compare_are_exact() -> None:
    assert {code: get_result(code).description for code in WIRE_TEXTS} == WIRE_TEXTS


def test_a_missing_contract_begins_with_the_words_clients_look_for() -> None:
    assert get_result("600.200.500").description.startswith("Invalid payment data.")


def test_no_other_row_has_a_wire_text_of_its_own() -> None:
    assert {code for code, result in RESULTS.items() if result.wire_text} == {*WIRE_TEXTS, "600.200.500"}


def test_every_text_is_one_line_of_at_most_255_characters() -> None:
    for result in RESULTS.values():
        assert re.fullmatch(r"\S.*\.", result.text), result.code
        assert len(result.text) <= 255, result.code
        assert len(result.description) <= 255, result.code


def test_no_two_codes_say_the_same() -> None:
    counts = Counter(result.text for result in RESULTS.values())

    assert [text for text, count in counts.items() if count > 1] == []


def test_status_follows_the_group_except_for_the_listed_codes() -> None:
    expected = {
        code: OWN_STATUS.get(code, 200 if result.group in GROUPS_ANSWERED_200 else 400)
        for code, result in RESULTS.items()
    }

    assert {code: result.http_status for code, result in RESULTS.items()} == expected


@pytest.mark.parametrize(
    ("code", "success", "review", "pending"),
    [
        ("000.000.000", True, False, False),
        ("000.100.110", True, False, False),
        ("000.100.211", True, False, False),
        ("000.300.000", True, False, False),
        ("000.400.110", True, False, False),
        ("000.500.000", True, False, False),
        ("000.400.000", True, True, False),
        ("000.400.100", True, True, False),
        ("000.200.000", False, False, True),
        ("100.400.500", False, False, True),
        ("800.400.500", False, False, True),
        ("000.100.200", False, False, False),
        ("000.400.030", False, False, False),
        ("000.400.101", False, False, False),
        ("000.400.102", False, False, False),
        ("100.390.112", False, False, False),
        ("300.100.100", False, False, False),
        ("800.100.151", False, False, False),
        ("900.100.300", False, False, False),
    ],
)
def test_a_code_says_whether_money_moved(code: str, success: bool, review: bool, pending: bool) -> None:
    assert (is_success(code), is_review(code), is_pending(code)) == (success, review, pending)


@pytest.mark.parametrize("predicate", [is_success, is_review, is_pending], ids=lambda predicate: predicate.__name__)
def test_asking_about_an_unknown_code_is_breakage(predicate: Callable[[str], bool]) -> None:
    with pytest.raises(KeyError):
        predicate("123.456.789")
