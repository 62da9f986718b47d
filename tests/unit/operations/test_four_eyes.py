"""The actions that a second person confirms, as the setting names them."""

from __future__ import annotations

import pytest

from tollgate.catalog.permissions import (
    FOUR_EYES_ROWS,
    PERMISSION_ROWS,
    ROLE_PERMISSIONS,
    ApprovalKind,
    Permission,
    Role,
)
from tollgate.operations.approvals import needs_approval, read_four_eyes


def test_a_live_host_has_every_row_and_a_test_host_none() -> None:
    assert set(read_four_eyes("", is_live=True)) == set(ApprovalKind) == {row.kind for row in FOUR_EYES_ROWS}
    assert read_four_eyes("", is_live=False) == {}
    assert read_four_eyes("none", is_live=True) == {}


def test_a_refund_above_its_amount_needs_a_second_person() -> None:
    rows = read_four_eyes("refund=10.00,token", is_live=False)
    assert not needs_approval(rows, ApprovalKind.REFUND, 1000)
    assert needs_approval(rows, ApprovalKind.REFUND, 1001)
    assert needs_approval(rows, ApprovalKind.TOKEN)
    assert not needs_approval(rows, ApprovalKind.RECORD)


@pytest.mark.parametrize("text", ["cake", "token=5", "refund=1.5", "refund,,token", "none,token"])
def test_what_is_no_action_is_refused_by_the_name_of_the_setting(text: str) -> None:
    with pytest.raises(ValueError, match="--four-eyes"):
        read_four_eyes(text, is_live=True)


def test_every_permission_has_one_row_and_the_platform_has_all() -> None:
    assert [row.permission for row in PERMISSION_ROWS] == list(Permission)
    assert ROLE_PERMISSIONS[Role.PLATFORM] == set(Permission)
    assert ROLE_PERMISSIONS[Role.VIEWER] == {Permission.VIEW_PAYMENTS}
    assert ROLE_PERMISSIONS[Role.ADMINISTRATOR] == set(Permission) - {Permission.MANAGE_HOST}
