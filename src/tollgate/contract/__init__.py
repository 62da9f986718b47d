"""The merchant's language: form text to orders, payments to JSON. Pure: no I/O, no clock, no chance."""
