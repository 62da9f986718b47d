"""The commands of all texts: a reader pastes every block, from top to bottom, into one shell beside a sandbox."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from api.merchants import wait_until
from fences import Fence, list_fences
from gateway import Client, GatewayProcess, inherit_variables
from ports import find_free_port
from tollgate.catalog.results import get_result
from tollgate.docs import texts
from warm_command import serve_command

SHELL = list_fences("sh")
SHELL_S = 600
"""It takes less than a minute; a busy machine may need several."""
PLACE = "\x1e"
"""This sign precedes the place of a block in the records of answers and of what the shell printed."""
GOOD_GROUPS = {"success", "pending"}

SHOWN_ONLY: Mapping[str, str] = {
    r"make (serve|test)\b": "does not end, or runs this test",
    r"tollgate (serve|listen|acquirer-host)\b": "does not end",
    r"--test-url tcp:": "needs a simulated host that runs in another shell",
    r"acquirer-secret": "needs a key of a processor",
    r"tollgate (account|route)\b": "needs accounts at acquirers, and payments that they had",
    r"/etc/tollgate|/srv/(archive|backups)|/opt/tollgate": "writes the files of a live host",
    r"docker compose|buildah build": "needs images of others",
    r"\$ psql ": "needs PostgreSQL",
    r"tollgate events replay .*\nreplay \d+ events": "asks a question, and shows the answer",
    r"wallet-key add": "needs the keys of a wallet's provider",
    r"tollgate risk block .* card": "needs a payment of your own",
    r"tollgate decrypt": "shows what is printed, or the headers of a delivery of your own",
}
"""A block of `console` is shown and not run: the pattern finds it, and the reason follows."""

CURL = """#!/bin/bash
set -o pipefail
{curl} --max-time 100 "$@" | tee -a "$ANSWERS"
"""
"""Records each answer, also one that a command reads."""


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """A sandbox of its own, because the blocks move its clock."""
    with GatewayProcess(tmp_path_factory.mktemp("gateway")) as gateway:
        yield gateway


def run_in_shell(script: str, gateway: GatewayProcess, folder: Path) -> str:
    """Returns what a careful shell printed, which ends at the first command that failed or variable that is unset."""
    programs = folder / "programs"
    programs.mkdir()
    (programs / "curl").write_text(CURL.format(curl=shutil.which("curl")))
    (programs / "curl").chmod(0o755)
    # Some blocks read the texts, and some write files, which do not belong into the checkout.
    (folder / "docs").symlink_to(texts.ROOT / "docs")
    variables = {
        **inherit_variables(),
        "TOLLGATE_DATA": str(gateway.data),
        "ANSWERS": str(folder / "answers"),
        "SHOP_PORT": str(find_free_port()),
        "HOOK_PORT": str(find_free_port()),
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    command = ["bash", "-euo", "pipefail", "-c", script]
    with (
        serve_command(programs / "tollgate", folder, variables),
        (folder / "printed").open("w+") as printed,
    ):
        shell = subprocess.Popen(
            command, cwd=folder, env=variables, stdout=printed, stderr=printed, start_new_session=True
        )
        try:
            code = shell.wait(timeout=SHELL_S)
        finally:
            # Two blocks leave a server running, as they do for the reader.
            os.killpg(shell.pid, signal.SIGKILL)
        printed.seek(0)
        text = printed.read()
    assert code == 0, PLACE + text.rpartition(PLACE)[2]
    return text


def mark_place(fence: Fence) -> str:
    return f"printf '{PLACE}%s\\n' {fence.place} | tee -a \"$ANSWERS\"\n{fence.block}"


def test_every_block_runs_from_top_to_bottom_in_one_shell(sandbox: GatewayProcess, tmp_path: Path) -> None:
    asked = f"""printf '{PLACE}%s' "$BASE" "$ENTITY" """
    printed = run_in_shell("\n".join([*map(mark_place, SHELL), asked]), sandbox, tmp_path)
    client = sandbox.client()
    answers = read_answers((tmp_path / "answers").read_text("utf-8"))

    assert printed.split(PLACE)[-2:] == [client.base_url, client.entity_id]
    assert len(answers) > len(SHELL) / 2
    assert [f"{place}: {answer}" for place, answer in answers if not is_told(place, answer)] == []
    check_readme(client, [answer for place, answer in answers if place.startswith("README.md:")])


def check_readme(client: Client, answers: list[dict[str, Any]]) -> None:
    refunds = [answer for answer in answers if answer.get("paymentType") == "RF"]
    schedule = next(answer["id"] for answer in answers if "plan" in answer)
    assert [answer["referencedId"] for answer in refunds] == [answers[0]["id"]]
    # The block waits for two seconds, which is enough for a reader; a busy machine may take longer.
    wait_until(lambda: bool(client.get(f"/scheduling/v1/schedules/{schedule}").json["runs"]))


def is_told(place: str, answer: dict[str, Any]) -> bool:
    """Is true if a request went through, or the text around it names the code with which it was refused."""
    code = answer["result"]["code"]
    text = (texts.ROOT / place.partition(":")[0]).read_text("utf-8")
    return get_result(code).group in GOOD_GROUPS or f"`{code}`" in text


def read_answers(recorded: str) -> list[tuple[str, dict[str, Any]]]:
    """Returns each answer with the place of its block; answers stand without a line's end between them."""
    decoder = json.JSONDecoder()
    found: list[tuple[str, dict[str, Any]]] = []
    for part in recorded.split(PLACE)[1:]:
        place, _, printed = part.partition("\n")
        starts = re.finditer(r'\{"(?:id|result|ndc)":', printed)
        found.extend((place, decoder.raw_decode(printed, at.start())[0]) for at in starts)
    return [(place, answer) for place, answer in found if "ndc" in answer and "result" in answer]


def test_every_text_with_commands_is_run_and_the_readme_is_first() -> None:
    assert SHELL[0].text == "README.md"
    assert len({fence.text for fence in SHELL}) > 15


def test_a_block_that_is_only_shown_has_its_reason() -> None:
    shown = list_fences("console")
    assert [fence.place for fence in shown if not any(re.search(pattern, fence.block) for pattern in SHOWN_ONLY)] == []
    blocks = "".join(fence.block for fence in shown)
    assert [pattern for pattern in SHOWN_ONLY if not re.search(pattern, blocks)] == []


def test_no_block_names_a_host_that_may_be_another() -> None:
    assert [fence.place for fence in SHELL if re.search(r"127\.0\.0\.1:8080", fence.block)] == []
