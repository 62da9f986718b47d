"""The entry point of the command. Every file of commands adds its own to the program."""

import sys
from importlib import import_module

from tollgate.cli.program import program
from tollgate.store.database import StoreFault
from tollgate.vault.keyring import KeyringError

COMMANDS = (
    *("serving", "people", "acquirers", "accounts", "dispatching", "users", "tokens", "keys", "auditing", "bank"),
    *("countries", "wallets", "webhooks", "endpoints", "events", "listening", "triggering"),
    *("erasing", "evidence", "recording", "risk", "risk_try", "sandbox", "describing"),
)
"""The files of commands, which add them when they are imported."""
for _name in COMMANDS:
    import_module(f"tollgate.cli.{_name}")


def main() -> None:
    """Runs the command; a fault that the operator can fix is printed in one line, all others keep their traceback."""
    try:
        program()
    except (StoreFault, KeyringError) as error:
        sys.exit(f"tollgate: {error}")
