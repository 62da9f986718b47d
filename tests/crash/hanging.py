"""A test that starts one of everything and never ends. It is no test of ours: another kills the run that it is in."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import msgspec
from playwright.sync_api import sync_playwright

from acquirer import AcquirerProcess
from browser.conftest import CHROMIUM_FLAGS, PATIENCE_MS, find_chromium
from gateway import GatewayProcess
from postgres import PostgresCluster

REPORT = "HANGING_REPORT"
"""The variable that names the file to write when all has started."""


class Started(msgspec.Struct):
    pid: int
    """The process that the test runs in."""
    folders: list[str]


def test_it_hangs(cluster: PostgresCluster, tmp_path: Path, disk_path: Path) -> None:
    shared = cluster.create_database()
    cold = GatewayProcess(tmp_path / "cold", shared, ["--workers", "2"], is_cold=True)
    with GatewayProcess(tmp_path / "warm"), cold, AcquirerProcess(), sync_playwright() as playwright:
        playwright.chromium.launch(executable_path=find_chromium(), args=list(CHROMIUM_FLAGS), timeout=PATIENCE_MS)
        started = Started(os.getpid(), [str(cluster.folder), str(tmp_path), str(disk_path), os.environ["TMPDIR"]])
        report = Path(os.environ[REPORT])
        report.with_suffix(".new").write_bytes(msgspec.json.encode(started))
        report.with_suffix(".new").rename(report)
        threading.Event().wait()
