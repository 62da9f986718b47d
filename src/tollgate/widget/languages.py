"""The texts of the payment form in every language it speaks, and the ways a page or a browser may name a language.
The texts stand in languages/, one file each; which text is shown when is the script's matter.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

FOLDER = Path(__file__).parent / "languages"

FALLBACK = "en"

CODES = (
    *("en", "de", "fr", "es", "it", "nl", "dk", "fi", "se", "tr", "ja", "sl", "pt"),
    *("pl", "cz", "hu", "bg", "ro", "ru", "cn", "gr", "no", "sk", "ar", "ko"),
)
"""The interface names some languages by their country; the `tag` among the texts is what a browser calls them."""

ALIASES: Mapping[str, str] = {
    "da": "dk",
    "sv": "se",
    "cs": "cz",
    "el": "gr",
    "zh": "cn",
    "nb": "no",
    "nn": "no",
    "mo": "ro",
    # Countries, as pages write them by analogy with the interface's own codes.
    "jp": "ja",
    "kr": "ko",
    "at": "de",
    "be": "nl",
    # Only with its country does this one mean Belarusian.
    "be-by": "ru",
}
"""Other names in lower case; a region that is not named here is cut off."""


class IncompleteLanguage(Exception):
    """A file of texts lacks some, or has some that no other has."""


def check_languages(languages: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Lists the texts that a language lacks, has beyond the fallback, or has in another order."""
    keys = tuple(languages[FALLBACK])
    faults = []
    for code, texts in languages.items():
        faults += [f"{code} lacks {key}" for key in keys if not texts.get(key)]
        faults += [f"{code} alone has {key}" for key in texts if key not in keys]
        if not faults and tuple(texts) != keys:
            faults.append(f"{code} has another order")
    return faults


def _load_languages() -> Mapping[str, Mapping[str, str]]:
    languages: dict[str, Mapping[str, str]] = {
        code: MappingProxyType(json.loads((FOLDER / f"{code}.json").read_text("utf-8"))) for code in CODES
    }
    faults = check_languages(languages)
    if faults:
        raise IncompleteLanguage("; ".join(faults))
    return MappingProxyType(languages)


LANGUAGES: Mapping[str, Mapping[str, str]] = _load_languages()

KEYS: tuple[str, ...] = tuple(LANGUAGES[FALLBACK])
"""Every text has one of these names: a label, a message, or a fact about the language itself."""
