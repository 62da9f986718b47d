"""Runs a host: sockets, TLS, processes, logs, and the checks before it starts."""
