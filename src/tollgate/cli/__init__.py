"""The `tollgate` command. Each file adds the commands of one concern."""

from tollgate.cli.entry import main

__all__ = ["main"]
