"""Where the command begins: every file of commands adds its own to the program. What they do is not known here."""

import sys

from tollgate.cli import auditing, bank, keys, people, serving, wallets
from tollgate.cli.program import program
from tollgate.store.database import StoreFault
from tollgate.vault.keyring import KeyringError

COMMANDS = (serving, people, keys, auditing, bank, wallets)
"""Files that add commands by being read."""


def main() -> None:
    """What the operator can mend ends in one line; everything else keeps its traceback."""
    try:
        program()
    except (StoreFault, KeyringError) as error:
        sys.exit(f"tollgate: {error}")
