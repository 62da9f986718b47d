"""The connector of acquirers that speak ISO 8583: field table, codec, messages and transcripts.

Sockets, length headers and time-outs belong to the wire.
"""
