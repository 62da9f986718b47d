"""The functions of the frames that touch no page, as tests call them: by Node, as name and arguments."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

from tollgate.web.pages.scripts import join_modules
from tollgate.widget.serving import BRAND_ROWS
from tollgate.widget.serving import FRAMES_FOLDER as FOLDER

NOW = {"year": 2026, "month": 11}

RUNNER = """
const CALLS = {
  readDigits, groupDigits, deleteAcross, deleteAtSlash, detectBrand, detectAmong, validateNumber, limitLength,
  writeExpiry, validateExpiry, validateField, listStyles, listColors, mergeOptions,
  set: (field, ...given) => FIELDS[field].set(...given),
  values: (field, ...given) => FIELDS[field].values(...given),
  listAccepting: (number) => Object.keys(BRAND_ROWS).filter((code) => acceptsNumber(code, number)),
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const answers = JSON.parse(line).map(([name, ...given]) => CALLS[name](...given));
  process.stdout.write(JSON.stringify(answers) + "\\n");
});
"""

Call = Callable[..., list[Any]]


def run_frames() -> Iterator[Call]:
    """Yields once."""
    parts = FOLDER / "parts"
    program = f'"use strict";\n{BRAND_ROWS}{join_modules(parts / "fields.js", parts / "options.js")}\n{RUNNER}'
    path = shutil.which("node")
    assert path is not None, "no Node is installed: make machine"
    with subprocess.Popen([path, "-e", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdin is not None
        assert node.stdout is not None
        asked, answered = node.stdin, node.stdout

        def ask(*calls: tuple[Any, ...]) -> list[Any]:
            print(json.dumps(calls), file=asked, flush=True)
            answers: list[Any] = json.loads(answered.readline())
            return answers

        yield ask


def form(*accepted: str, **changes: Any) -> dict[str, Any]:
    return {
        "accepted": accepted,
        "brand": None,
        "detects": True,
        "priority": [],
        "formats": True,
        "allowsEmpty": False,
        **changes,
    }
