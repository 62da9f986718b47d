"""The README's commands: a reader pastes every block, from top to bottom, into one shell beside a running sandbox."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.merchants import wait_until
from gateway import GatewayProcess, inherit_variables
from ports import find_free_port

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
PAGES = ("README.md", "docs/payment-links.md")
"""A reader meets the pages in this order; each uses what the earlier ones have set."""
BLOCKS = [block for page in PAGES for block in FENCE.findall((ROOT / page).read_text("utf-8"))]
SHELL_S = 300
ASIDE = "\x1e"
"""This line precedes what a test asks the shell, so that it is found among the answers."""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A sandbox of its own, because the blocks move its clock."""
    with GatewayProcess(tmp_path_factory.mktemp("gateway")) as gateway:
        yield gateway


def run_in_shell(script: str, gateway: GatewayProcess, folder: Path) -> str:
    """Returns what a careful shell printed, which ends at the first command that failed or variable that is unset."""
    # An answer that refuses is a failed command, too.
    (folder / ".curlrc").write_text("fail-with-body\nmax-time = 100\n")
    own = {"TOLLGATE_DATA": str(gateway.data), "CURL_HOME": str(folder), "SHOP_PORT": str(find_free_port())}
    variables = {**inherit_variables(), **own, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["bash", "-euo", "pipefail", "-c", script]
    with (folder / "printed").open("w+") as printed:
        shell = subprocess.Popen(
            command, cwd=ROOT, env=variables, stdout=printed, stderr=printed, start_new_session=True
        )
        try:
            code = shell.wait(timeout=SHELL_S)
        finally:
            # One block leaves a web server running, as it does for the reader.
            os.killpg(shell.pid, signal.SIGKILL)
        printed.seek(0)
        text = printed.read()
    assert code == 0, text
    return text


def test_every_block_runs_from_top_to_bottom(sandbox: GatewayProcess, tmp_path: Path) -> None:
    blocks = [block for language, block in BLOCKS if language == "sh"]
    asked = f"""printf '{ASIDE}%s' "$BASE" "$ENTITY" "$ID" "$REGISTRATION" "$SCHEDULE" """
    printed, *values = run_in_shell("\n".join([*blocks, asked]), sandbox, tmp_path).split(ASIDE)
    answers = read_answers(printed)
    client = sandbox.client()
    base, entity, payment, registration, schedule = values

    assert (base, entity) == (client.base_url, client.entity_id)
    assert {answer["result"]["code"] for answer in answers} <= {"000.100.110", "000.200.000", "000.000.100"}
    assert [answer["paymentType"] for answer in answers if answer.get("referencedId") == payment] == ["RF"]
    assert client.get(f"/v1/registrations/{registration}").code == "000.100.110"
    # The last block waits for two seconds, which is enough for a reader; a busy machine may take longer.
    wait_until(lambda: bool(client.get(f"/scheduling/v1/schedules/{schedule}").json["runs"]))


def read_answers(printed: str) -> list[dict[str, Any]]:
    """Returns the answers that curl printed, which stand without a line's end between them."""
    decoder = json.JSONDecoder()
    found = [decoder.raw_decode(printed, at.start())[0] for at in re.finditer(r'\{"(?:id|result)":', printed)]
    answers = [each for each in found if "ndc" in each]
    assert len(answers) > 5
    return answers


def test_what_starts_a_sandbox_and_does_not_end_is_no_block_to_run() -> None:
    assert [block for language, block in BLOCKS if "make serve" in block and language != "console"] == []
    assert {language for language, _ in BLOCKS} <= {"sh", "console", "json", "mermaid"}


def test_no_block_names_a_host_that_may_be_another() -> None:
    assert [block for language, block in BLOCKS if language == "sh" and re.search(r"127\.0\.0\.1:8080", block)] == []
