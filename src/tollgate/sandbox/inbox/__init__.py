"""The inboxes of a test host, which receive webhooks without set-up."""
