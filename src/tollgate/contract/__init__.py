"""The merchant's language: form text to orders, payments to JSON. No I/O, no clock, no random numbers."""
