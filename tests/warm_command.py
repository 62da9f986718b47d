"""The command `tollgate` for a shell that runs many: a small program passes each on to a process that is warm.

It has no standard input, and works in one folder with one set of variables.
"""

from __future__ import annotations

import json
import os
import socketserver
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from warm import run_warm

COMMAND_S = 300.0

_PROGRAM = """#!{python} -IS
import json, socket, sys
with socket.create_connection(("127.0.0.1", {port})) as line:
    line.sendall(json.dumps(sys.argv[1:]).encode() + b"\\n")
    code, out, err = json.load(line.makefile())
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""


def _enter_folder() -> None:
    os.chdir(os.environ["PWD"])


@contextmanager
def serve_command(path: Path, folder: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Puts the program at a path; what it is asked runs in the folder, with these variables."""

    class Passing(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            arguments = json.loads(self.rfile.readline())
            own = {**variables, "PWD": str(folder)}
            done = run_warm(arguments, own, COMMAND_S, check=False, prepare=_enter_folder)
            self.wfile.write(json.dumps([done.returncode, done.stdout, done.stderr]).encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Passing) as server:
        path.write_text(_PROGRAM.format(python=sys.executable, port=server.server_address[1]))
        path.chmod(0o755)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
