"""Tollgate, a payment gateway that anyone can run. The rooms inside are described in ARCHITECTURE.md."""

__version__ = "0.1.0"
