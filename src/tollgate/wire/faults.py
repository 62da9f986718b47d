"""How a request can fail on its way; what that means for whoever sent it is decided above.

Unsent              it never left, so it may be sent again
  Forbidden         it never will: this host does not go to that address
Silent              it left, and nobody knows
"""

from __future__ import annotations


class Unsent(Exception):
    """The request never left this machine, so nothing can have happened."""


class Forbidden(Unsent):
    """Nobody may be sent to this address from here, today or later."""


class Silent(Exception):
    """The request left and no usable answer came back: anything may have happened."""
