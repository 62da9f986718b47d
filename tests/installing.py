"""Builds the wheel, and the variables with which uv finds packages where this machine's pip finds them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from os import environ
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD_S = 300
_SETTING = re.compile(r"(?P<place>[\w:]+)\.(?P<name>[a-z-]+)='(?P<value>.*)'")
_UV_NAMES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "cert": ("SSL_CERT_FILE", " "),
}
"""The variable of uv for each setting of pip, and what separates its values."""
_NETWORK = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE")


def build_wheel(folder: Path) -> Path:
    """Builds the wheel of this checkout into the folder."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=BUILD_S)
    return next(folder.glob("*.whl"))


def translate_settings(listed: str) -> dict[str, str]:
    """Turns what `pip config list` prints into variables of uv; a variable of pip wins over its files."""
    found: dict[str, str] = {}
    lines = [match for line in listed.splitlines() if (match := _SETTING.fullmatch(line))]
    for match in sorted(lines, key=lambda each: each["place"] == ":env:"):
        if match["name"] in _UV_NAMES:
            variable, separator = _UV_NAMES[match["name"]]
            found[variable] = separator.join(match["value"].replace("\\n", " ").split())
    return found


def list_uv_variables() -> Mapping[str, str]:
    """Returns all that uv needs to know of this machine, and nothing of this checkout but the versions it locks."""
    pip = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(pip, check=True, capture_output=True, text=True, timeout=BUILD_S).stdout
    uv = [str(Path(sys.executable).with_name("uv")), "cache", "dir"]
    cache = subprocess.run(uv, check=True, capture_output=True, text=True, timeout=BUILD_S).stdout.strip()
    return {
        **{name: environ[name] for name in _NETWORK if name in environ},
        **translate_settings(listed),
        "UV_CACHE_DIR": cache,
        # pip looks at all its indexes at once, too.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_CONSTRAINT": str(ROOT / "requirements.lock"),
        "UV_PYTHON": sys.base_prefix + "/bin/python3",
        "UV_PYTHON_DOWNLOADS": "never",
    }
