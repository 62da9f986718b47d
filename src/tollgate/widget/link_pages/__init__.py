"""The page of a payment link: what is to be paid, the form, and the receipt. What a link decides is told in `flows`."""

from tollgate.widget.link_pages.page import ROUTES

__all__ = ["ROUTES"]
