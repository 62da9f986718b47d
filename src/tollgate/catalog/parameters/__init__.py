"""Joins the parameter rows of all groups into one table and resolves the names clients send.
Values are judged by the rows' shapes.
"""

from __future__ import annotations

from tollgate.catalog.parameters.names import ALIASES, IGNORED_BESIDE, PARAMETERS, Resolved, find_parameter, resolve
from tollgate.catalog.parameters.row import Need, Parameter, Secrecy

__all__ = [
    "ALIASES",
    "IGNORED_BESIDE",
    "PARAMETERS",
    "Need",
    "Parameter",
    "Resolved",
    "Secrecy",
    "find_parameter",
    "resolve",
]
