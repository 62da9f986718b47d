"""The switches of the demo shop: how its payment form is laid out and painted, and how its checkout behaves.

A visitor's choices live in a cookie, so that a reload and the next order keep them. Nothing is read or written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from tollgate.sandbox.tenant import SHOP

COOKIE = "tollgate_shop_switches"

_KEPT_S = 30 * 24 * 3600
_BETWEEN = "."
_SLOW_BANK_MS = "6000"


class Switch(msgspec.Struct, frozen=True):
    key: str
    label: str
    choices: Mapping[str, str]
    """Each choice has a name to show; the first one is the default."""

    @property
    def usual(self) -> str:
        return next(iter(self.choices))

    def read(self, text: str) -> str:
        return text if text in self.choices else self.usual


SWITCHES = (
    Switch("layout", "Layout", {"accordion": "Accordion", "classic": "Classic"}),
    Switch("style", "Style", {"card": "Card", "plain": "Plain", "logos": "Logos", "none": "None"}),
    Switch("colours", "Colours", {"shop": "Shop", "forest": "Forest", "plum": "Plum", "ink": "Ink"}),
    Switch("cards", "Stored cards", {"on": "On", "off": "Off"}),
    Switch("bank", "Bank", {"usual": "Usual", "slow": "Slow"}),
)


class Choices(msgspec.Struct, frozen=True):
    """One choice of each switch."""

    by_key: Mapping[str, str]

    @property
    def bank_delay_ms(self) -> str:
        """How late the simulated bank answers, as its override is written."""
        return _SLOW_BANK_MS if self.by_key["bank"] == "slow" else "0"

    def make_options(self) -> dict[str, object]:
        """Returns the choices as options of the form."""
        shows_cards = self.by_key["cards"] == "on"
        return {
            "layout": self.by_key["layout"],
            "style": self.by_key["style"],
            "showOneClickWidget": shows_cards,
            **({"registrations": {}} if shows_cards else {}),
        }

    def make_cookie(self, *, is_secure: bool) -> tuple[bytes, bytes]:
        value = _BETWEEN.join(self.by_key[switch.key] for switch in SWITCHES)
        secure = "; Secure" if is_secure else ""
        return (
            b"set-cookie",
            f"{COOKIE}={value}; Path={SHOP}; Max-Age={_KEPT_S}; HttpOnly; SameSite=Lax{secure}".encode(),
        )


def read_choices(pairs: Iterable[tuple[str, str]]) -> Choices:
    """From what a form sent; anything else than a known choice is the usual one."""
    said = dict(pairs)
    return Choices({switch.key: switch.read(said.get(switch.key, "")) for switch in SWITCHES})


def recall_choices(cookie: str) -> Choices:
    texts = cookie.split(_BETWEEN) if cookie.count(_BETWEEN) == len(SWITCHES) - 1 else [""] * len(SWITCHES)
    return read_choices(zip((switch.key for switch in SWITCHES), texts, strict=True))
