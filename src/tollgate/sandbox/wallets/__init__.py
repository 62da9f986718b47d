"""The simulated wallet provider of a test host."""
