"""The rows of this room in the route table. What each row does is told beside its handler."""

from tollgate.widget import frames, link_pages, serving

ROUTES = (*serving.ROUTES, *frames.ROUTES, *link_pages.ROUTES)
