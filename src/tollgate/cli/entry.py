"""The entry point of the command: loads the program and runs it. The commands are in the other files."""

import gc
import sys


def main() -> None:
    """Runs the command; a fault that the operator can fix is printed in one line, all others keep their traceback."""
    # Loading makes 200,000 objects that stay, and the search for garbage among them would take a tenth of its time.
    gc.disable()
    from tollgate.cli.program import program
    from tollgate.store.database import StoreFault
    from tollgate.vault.keyring import KeyringError

    gc.freeze()
    gc.enable()
    try:
        program()
    except (StoreFault, KeyringError) as error:
        sys.exit(f"tollgate: {error}")
