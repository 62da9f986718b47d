"""One Node for all tests of what the frames compute."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from unit.widget.frame_program import Call, run_frames


@pytest.fixture(scope="session")
def call() -> Iterator[Call]:
    """Answers of the frames' functions."""
    yield from run_frames()
