"""The number by which answers name the code of this host. Versions of releases are not known here."""

import hashlib
import time
from pathlib import Path

_CODE = frozenset({".py", ".html", ".js", ".css", ".json", ".svg"})
"""The files that decide how this host behaves and looks."""


def get_build_number() -> str:
    """Returns a hash of the code of this host, and the time at which the code was last changed."""
    folder = Path(__file__).parent.parent
    digest, newest = hashlib.sha1(usedforsecurity=False), 0.0
    for path in sorted(each for each in folder.rglob("*") if each.suffix in _CODE):
        digest.update(path.read_bytes())
        newest = max(newest, path.stat().st_mtime)
    return f"{digest.hexdigest()}@{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(newest))} +0000"
