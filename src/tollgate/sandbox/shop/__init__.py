"""The demo shop of a test host."""
