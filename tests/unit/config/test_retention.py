"""The operator sets within limits how long accounts are stored, and the app uses that setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from tollgate.config import Settings, load_settings
from tollgate.payments.registration import Retention
from tollgate.vault.keyring import make_keyring, save_keyring
from tollgate.wiring import open_app

NAMES = (
    "registration_card_months",
    "registration_idle_months",
    "registration_extension_months",
    "payment_account_days",
)


def test_nobody_who_says_nothing_keeps_accounts_for_ever() -> None:
    assert [getattr(Settings(), name) for name in NAMES] == [14, 14, 24, 430]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["-1", "forever", "1e9", "100000000"])
def test_a_time_that_no_calendar_knows_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name.replace("_", "-")):
        load_settings(variables={f"TOLLGATE_{name.upper()}": value})


@pytest.mark.anyio
async def test_the_app_stores_accounts_as_long_as_the_setting_says(tmp_path: Path) -> None:
    variables = {f"TOLLGATE_{name.upper()}": str(index) for index, name in enumerate(NAMES)}
    save_keyring(make_keyring(), tmp_path / "keys.json")
    app, wires = await open_app(load_settings({"data": str(tmp_path)}, variables), exclusive=True)
    await wires.close()
    await app.database.close()

    assert app.retention == Retention(card_months=0, idle_months=1, extension_months=2, payment_days=3)
