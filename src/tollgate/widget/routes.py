"""The rows of this room in the route table. What each row does is told beside its handler."""

from tollgate.widget import frames, serving

ROUTES = (*serving.ROUTES, *frames.ROUTES)
