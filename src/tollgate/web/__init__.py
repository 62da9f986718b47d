"""HTTP in: connections, routes, callers, the endpoints of the API and the shopper's pages."""
