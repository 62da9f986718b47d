"""A merchant's colours as rules of the page's style, as far as they can be read: text keeps a contrast of 4.5 to 1.

Colours were checked to be hex when the link was made; whoever writes them into a page relies on it.
"""

from __future__ import annotations

from collections.abc import Mapping

_PAPERS = {"light": "#ffffff", "dark": "#1a212c"}
"""Texts stand on these; link.css has the same colours."""
_BUTTONS = {"light": "#1f5fbf", "dark": "#8ab8ff"}
"""The form's own button."""
_BLACK, _WHITE = "#000000", "#ffffff"
_READABLE = 4.5
_VISIBLE = 3.0
_TEXTS = {"merchant": "--merchant", "amount": "--amount"}


def render_colours(given: Mapping[str, str]) -> str:
    """Returns a style sheet; a text colour that cannot be read on its ground is left out or made black or white."""
    rules = {scheme: _list_rules(given, scheme) for scheme in _PAPERS}
    light, dark = rules["light"], rules["dark"]
    return light + (f"@media (prefers-color-scheme: dark) {{{dark}}}" if dark else "")


def _list_rules(given: Mapping[str, str], scheme: str) -> str:
    paper = _PAPERS[scheme]
    texts = [
        f"{name}:{given[role]}"
        for role, name in _TEXTS.items()
        if role in given and measure_contrast(given[role], paper) >= _READABLE
    ]
    root = f":root{{{';'.join(texts)}}}" if texts else ""
    button, text = given.get("button"), given.get("button_text")
    if button is None and (text is None or measure_contrast(text, _BUTTONS[scheme]) < _READABLE):
        return root
    ground = button or _BUTTONS[scheme]
    ink = text if text and measure_contrast(text, ground) >= _READABLE else choose_ink(ground)
    edge = ground if measure_contrast(ground, paper) >= _VISIBLE else ink
    return f"{root}.link .wpwl-button-pay{{background:{ground};color:{ink};border:1px solid {edge}}}"


def choose_ink(ground: str) -> str:
    return max((_BLACK, _WHITE), key=lambda ink: measure_contrast(ink, ground))


def measure_contrast(one: str, other: str) -> float:
    """Returns the contrast ratio of two colours as WCAG defines it, from 1 to 21."""
    lighter, darker = sorted((_measure_light(one), _measure_light(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _measure_light(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(each * 2 for each in colour[1:])
    red, green, blue = (_straighten(int(digits[at : at + 2], 16) / 255) for at in (0, 2, 4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _straighten(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
