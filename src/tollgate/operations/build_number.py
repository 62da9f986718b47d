"""The number by which answers name the code of this host. Versions of releases are not known here."""

import hashlib
import os
import time
from pathlib import Path

_CODE = frozenset({".py", ".html", ".js", ".css", ".json", ".svg"})
"""The files that decide how this host behaves and looks."""


def get_build_number() -> str:
    """Returns a hash of the code of this host, and the time at which the code was last changed."""
    folder = Path(__file__).parent.parent
    paths = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    digest, newest = hashlib.sha1(usedforsecurity=False), 0.0
    for path in sorted(each for each in paths if os.path.splitext(each)[1] in _CODE):
        with open(path, "rb", buffering=0) as file:
            digest.update(file.read())
            newest = max(newest, os.fstat(file.fileno()).st_mtime)
    return f"{digest.hexdigest()}@{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(newest))} +0000"
