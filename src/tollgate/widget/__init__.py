"""The shopper's payment form: the script for the shop's page, the frames that hold card data, languages and looks."""

from tollgate.widget.routes import ROUTES
from tollgate.widget.script import SCRIPT, Script

__all__ = ["ROUTES", "SCRIPT", "Script"]
