"""The demo shop of a test host: a merchant's pages around the payment form, to try it and to copy from."""

from tollgate.sandbox.shop.doors import ROUTES

__all__ = ["ROUTES"]
