"""The entry point of the command. Every file of commands adds its own to the program."""

import sys

from tollgate.cli import (
    acquirers,
    auditing,
    bank,
    countries,
    describing,
    endpoints,
    erasing,
    events,
    evidence,
    keys,
    listening,
    people,
    recording,
    risk,
    risk_try,
    sandbox,
    serving,
    tokens,
    triggering,
    users,
    wallets,
    webhooks,
)
from tollgate.cli.program import program
from tollgate.store.database import StoreFault
from tollgate.vault.keyring import KeyringError

COMMANDS = (
    *(serving, people, acquirers, users, tokens, keys, auditing, bank, countries, wallets),
    *(webhooks, endpoints, events, listening, triggering),
    *(erasing, evidence, recording, risk, risk_try, sandbox, describing),
)
"""The files add their commands when they are imported."""


def main() -> None:
    """Runs the command; a fault that the operator can fix is printed in one line, all others keep their traceback."""
    try:
        program()
    except (StoreFault, KeyringError) as error:
        sys.exit(f"tollgate: {error}")
