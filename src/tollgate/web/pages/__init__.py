"""Pages for the shopper's browser: their templates, headers, scripts and styles."""
