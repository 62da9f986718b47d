"""All suites share these: a temporary folder, the server's event loop, two sizes of Hypothesis runs.

A suite's own fixtures stay there.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from cleaning import Cleanup, end_with_parent, make_run_folder

DISK = "DISK_TMPDIR"
"""The variable that names the temporary folder of the machine itself."""
_AT_EXIT: list[Cleanup] = []
"""Kept, and never finished here: at the exit of this process others still remove files of their own."""

LONGEST = (
    "test_office_crashes", "test_follow_up_crashes", "test_load", "test_background_crashes", "test_method_crashes",
    "test_payment_crashes",
    "test_office_pages", "test_shop", "test_payment_links", "test_widget_accordion", "test_widget_interruptions",
    "test_webhook_deliveries", "test_webhook_processes", "test_nothing_at_rest", "test_parallel_follow_ups",
    "test_sandbox_commands", "test_additions", "test_office_matrix", "test_office_hostile_values", "test_processes",
)  # fmt: skip
"""Files that stay whole and take long: they begin first, so that no process works on one while the others are idle."""

# Derandomized, so that a run of the suites is the same everywhere; `make prove` draws afresh and much longer.
settings.register_profile(
    "test", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("prove", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))


def pytest_configure(config: pytest.Config) -> None:
    """Every temporary file of a run goes to one folder; processes that share the run get it by their environment."""
    # A shell starts what runs in its background with interrupts ignored, and whatever tests start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        end_with_parent()
        return
    os.environ.setdefault(DISK, tempfile.gettempdir())
    folder, cleanup = make_run_folder()
    cleanup.start()
    _AT_EXIT.append(cleanup)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONGEST)))


@pytest.fixture(scope="session")
def disk() -> Path:
    """The temporary folder of the machine itself, for tests about durability."""
    return Path(os.environ[DISK])


@pytest.fixture
def disk_path(disk: Path) -> Iterator[Path]:
    """A folder on the disk; `tmp_path` may be in memory."""
    folder = Path(tempfile.mkdtemp(prefix="tollgate-disk-", dir=disk))
    with Cleanup(folder):
        yield folder


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Tests marked with anyio run on the loop that the server runs on."""
    return "asyncio", {"use_uvloop": True}
