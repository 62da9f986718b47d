"""Load over HTTP: writes the Lua script for a request, runs wrk with it, reads what it counted. Knows no payment."""

from __future__ import annotations

import json
import secrets
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SPARE_S = 30
"""wrk may take so much longer than its duration before it is given up."""

# The reference is appended to the body, so that no two requests are the same; `done` prints its counts as JSON.
_SCRIPT = """
local path, headers, bodies, mark = %(path)s, %(headers)s, %(bodies)s, %(mark)s
local count = 0
function request()
  count = count + 1
  return wrk.format("POST", path, headers, bodies[count %% #bodies + 1] .. mark .. count)
end
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\\n{"answered": %%d, "microseconds": %%d, "refused": %%d, "broken": %%d, "p50_us": %%d, "p99_us": %%d}\\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
"""


@dataclass(frozen=True)
class Call:
    """One kind of request; `unique_name` is the field that carries a different value each time."""

    url: str
    path: str
    headers: Mapping[str, str]
    bodies: Sequence[str]
    """They are sent in turn."""
    unique_name: str


@dataclass(frozen=True)
class Load:
    connections: int
    answered: int
    seconds: float
    p50_ms: float
    p99_ms: float

    @property
    def per_second(self) -> float:
        return self.answered / self.seconds


def send_load(call: Call, connections: int, seconds: int) -> Load:
    """Every answer must be a success: a fast refusal is no payment."""
    with tempfile.TemporaryDirectory(prefix="tollgate-wrk-") as folder:
        script = Path(folder) / "request.lua"
        script.write_text(_render_script(call), "utf-8")
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "20s", "-s", str(script), call.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + SPARE_S, check=True)
    counted = json.loads(done.stdout.strip().splitlines()[-1])
    if counted["refused"] or counted["broken"] or not counted["answered"]:
        raise RuntimeError(f"not every request was answered with success: {counted}")
    return Load(
        connections=connections,
        answered=counted["answered"],
        seconds=counted["microseconds"] / 1e6,
        p50_ms=counted["p50_us"] / 1e3,
        p99_ms=counted["p99_us"] / 1e3,
    )


def _render_script(call: Call) -> str:
    headers = {**call.headers, "Content-Type": "application/x-www-form-urlencoded"}
    return _SCRIPT % {
        "path": _quote(call.path),
        "headers": "{" + ", ".join(f"[{_quote(name)}] = {_quote(text)}" for name, text in headers.items()) + "}",
        "bodies": "{" + ", ".join(map(_quote, call.bodies)) + "}",
        "mark": _quote(f"&{call.unique_name}={secrets.token_hex(6)}-"),
    }


def _quote(text: str) -> str:
    """JSON and Lua agree on how plain ASCII text is quoted."""
    if not text.isascii() or not text.isprintable():
        raise ValueError("a script is written in printable ASCII only")
    return json.dumps(text)
