"""One use case from request to answer per file. Flows use operations and do not know HTTP."""
