"""The `tollgate` command. Each file adds the commands of one concern; what they do is done in the rooms below."""

from tollgate.cli.entry import main

__all__ = ["main"]
