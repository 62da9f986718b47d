"""The connectors: one module per protocol. Each yields requests and returns a verdict; none does I/O."""
