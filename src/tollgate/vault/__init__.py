"""Seals and opens what must not be stored in clear, with keys from a ring that can be rotated. Talks to no database."""
