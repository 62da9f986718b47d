"""Reads deploy/compose.yaml as a compose program does. What its services need is checked elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
_VARIABLE = re.compile(r"\$\{(?P<name>\w+):-(?P<default>[^}]*)\}")


def read_services() -> dict[str, Any]:
    services: dict[str, Any] = read_compose()["services"]
    return services


def read_compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return read


def list_variables(service: str, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Lists what a service finds in its environment if the operator gave these variables."""

    def choose(found: re.Match[str]) -> str:
        return (given or {}).get(found["name"]) or found["default"]

    named = read_services()[service]["environment"]
    return {name: _VARIABLE.sub(choose, str(value)) for name, value in named.items()}
