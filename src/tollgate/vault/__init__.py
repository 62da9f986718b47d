"""Encrypts and signs with keys from a ring that can be rotated. It uses no database."""
