"""Tollgate, a payment gateway that anyone can run. Its packages are described in ARCHITECTURE.md."""

__version__ = "0.1.0"
