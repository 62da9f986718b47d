"""The address of the search index, which changes with what the index is made from. It is made in `search`."""

import hashlib
from functools import cache
from pathlib import Path

from tollgate.catalog import endpoints
from tollgate.docs import texts

SEARCH = f"{texts.DOCS}/search"


@cache
def get_path() -> str:
    """Returns the address from which pages load the index.

    Its sources are hashed and not the index, because making the index takes as long as rendering all texts.
    """
    made_from = hashlib.sha256(repr(endpoints.ENDPOINTS).encode())
    for path in (Path(__file__).with_name("search.py"), *(texts.ROOT / name for name in texts.FILES)):
        made_from.update(path.read_bytes())
    return f"{SEARCH}/{made_from.hexdigest()[:16]}.json"
