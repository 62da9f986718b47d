"""What SEPA banks can write: a small Latin alphabet. Other letters are spelled out or lose their accents."""

from __future__ import annotations

import re
import unicodedata

NAME_MAX = 70
REMITTANCE_MAX = 140
NOT_PROVIDED = "NOTPROVIDED"

_SPELLED = str.maketrans(
    {
        "Ä": "Ae",
        "Ö": "Oe",
        "Ü": "Ue",
        "ä": "ae",
        "ö": "oe",
        "ü": "ue",
        "ß": "ss",
        "Æ": "AE",
        "æ": "ae",
        "Œ": "OE",
        "œ": "oe",
        "Ø": "O",
        "ø": "o",
        "Ð": "D",
        "ð": "d",
        "Þ": "TH",
        "þ": "th",
        "Ł": "L",
        "ł": "l",
        "Đ": "D",
        "đ": "d",
        "ı": "i",  # noqa: RUF001, the Turkish one
        "&": "+",
        "_": "-",
        "*": ".",
        "€": "E",
        "’": "'",  # noqa: RUF001, typographic on purpose
        "–": "-",  # noqa: RUF001
        "—": "-",
    }
)
_BLANKS = re.compile(r"\s+")
_FOREIGN = re.compile(r"[^A-Za-z0-9/?:().,'+ -]")
_SLASHES = re.compile("/{2,}")


def write_text(text: str, length_max: int) -> str:
    """What cannot be written becomes a full stop, as the banks do it themselves; never empty.

    A text neither begins nor ends with a slash nor has two in a row, because those have a meaning to banks.
    """
    spelled = unicodedata.normalize("NFC", text).translate(_SPELLED)
    plain = "".join(each for each in unicodedata.normalize("NFKD", spelled) if not unicodedata.combining(each))
    written = _SLASHES.sub("/", _FOREIGN.sub(".", _BLANKS.sub(" ", plain)))
    return written.strip(" /")[:length_max].strip(" /") or NOT_PROVIDED
