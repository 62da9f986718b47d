"""Starts localstripe on loopback with its file in a given folder: by itself it listens on every address and writes to
a fixed place. Nothing else of it is changed, its access log included.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import IO, Any

from aiohttp import web
from localstripe import resources, server


def main(port: int, folder: Path) -> None:
    def open_in_folder(name: str, mode: str) -> IO[Any]:
        return (folder / Path(name).name).open(mode)

    resources.open = open_in_folder
    log = logging.getLogger("aiohttp.access")
    log.setLevel(logging.DEBUG)
    log.addHandler(logging.StreamHandler())
    web.run_app(server.app, host="127.0.0.1", port=port, access_log=log)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
