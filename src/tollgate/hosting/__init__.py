"""Runs a host: sockets, signals, TLS, logs, and what must be in place before. The last room below the command line."""

from tollgate.hosting.log import set_up_logs
from tollgate.hosting.readiness import NEEDS, find_missing, find_missing_acquirer
from tollgate.hosting.server import run

__all__ = ["NEEDS", "find_missing", "find_missing_acquirer", "run", "set_up_logs"]
