"""Pages for the shopper's browser: the renderer, its headers, and the files that pages load."""

from tollgate.web.pages.assets import ROUTES
from tollgate.web.pages.policy import ANYWHERE
from tollgate.web.pages.renderer import Pages
from tollgate.web.pages.scripts import join_modules, read_browser_file, wrap_modules

__all__ = ["ANYWHERE", "ROUTES", "Pages", "join_modules", "read_browser_file", "wrap_modules"]
