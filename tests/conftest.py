"""What every suite shares: the server's event loop, two sizes of Hypothesis runs. A suite's own fixtures stay there."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Derandomized, so that a run of the suites is the same everywhere; `make prove` draws afresh and much longer.
settings.register_profile(
    "test", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("prove", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Tests marked with anyio run on the loop that the server runs on."""
    return "asyncio", {"use_uvloop": True}
