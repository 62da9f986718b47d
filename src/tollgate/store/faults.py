"""What may go wrong with a database, in words that name no driver. Refusals to a merchant never live here.

StoreFault
├── Unavailable      not reachable, or not willing: nothing was written
├── Unconfirmed      sent, and nobody can say whether it is durable
├── Unwritable       this row, alone, cannot be written
├── Unreadable       this row is in the store and says what no code wrote
├── Damaged          the disk is full or failing: nobody in the batch was told that it is durable
├── AlreadyServed    another server holds the file
├── NoStore          there is no database where one was expected
└── WrongSchema      the tables are not the ones this release works with
"""

from __future__ import annotations


class StoreFault(Exception):
    """Breakage: caught by nobody below the guard."""


class Unavailable(StoreFault):
    pass


class Unconfirmed(StoreFault):
    pass


class Unwritable(StoreFault):
    pass


class Unreadable(StoreFault):
    pass


class Damaged(StoreFault):
    pass


class AlreadyServed(StoreFault):
    pass


class NoStore(StoreFault):
    pass


class WrongSchema(StoreFault):
    pass
