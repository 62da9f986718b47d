"""Draws addresses as codes to scan. What an address leads to is not known here."""

from __future__ import annotations

import base64
import io

import segno

_SCALE = 8
"""Pixels for each square: sharp on a screen and on a printed letter."""


def draw_code(url: str) -> str:
    """Returns a PNG, in base64."""
    picture = io.BytesIO()
    segno.make(url, error="m", micro=False).save(picture, kind="png", scale=_SCALE)
    return base64.b64encode(picture.getvalue()).decode()
