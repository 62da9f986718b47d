"""Payments, and the rules by which they change. No I/O, no clock, no random numbers."""
