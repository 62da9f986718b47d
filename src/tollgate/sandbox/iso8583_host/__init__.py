"""A simulated ISO 8583 host, which runs by itself: its rules, its ledger and its server.

It needs no store and no settings, because it stands in for another company's machine.
"""
