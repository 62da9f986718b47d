"""Tollgate, a payment gateway that anyone can run. Its packages are described in ARCHITECTURE.md."""

__version__ = "0.1.0"

DISTRIBUTION = "tollgate-payments"
"""The name of the package that is built; `tollgate` on the public index belongs to somebody else."""
