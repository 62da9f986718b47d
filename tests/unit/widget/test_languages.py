"""Every language says everything, in its own words and script, and is found by the names pages and browsers use.
Whether a text is shown at the right moment is tested in a browser.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterable

import pytest

from tollgate.web.pages.scripts import join_modules
from tollgate.widget.languages import ALIASES, CODES, FALLBACK, FOLDER, KEYS, LANGUAGES, check_languages

PARTS = FOLDER.parent / "parts"
FACTS = frozenset({"name", "tag", "dir"})

# Words that a language shares with English; anything else that reads like English was forgotten.
SAME_EVERYWHERE = frozenset({"accountIban", "accountBic", "dir"})
SAME_WORDS = {
    "bankName": {"de", "nl", "dk", "se", "pl", "hu", "no"},
    "pin": {"de", "es", "it", "tr", "sl", "pt", "pl", "cz", "ro", "gr", "sk"},
    "optional": {"de"},
    "postcode": {"nl"},
    "card": {"ro"},
    # Digits are typed from left to right, so the letters that stand for them are as well.
    "mmyy": {"ar"},
    "ddmmyyyy": {"ar"},
}
SCRIPTS = {
    "bg": ("CYRILLIC",),
    "ru": ("CYRILLIC",),
    "gr": ("GREEK",),
    "ar": ("ARABIC",),
    "ja": ("CJK", "HIRAGANA", "KATAKANA"),
    "cn": ("CJK",),
    "ko": ("HANGUL",),
}
LATIN_ANYWHERE = SAME_EVERYWHERE | FACTS - {"name"} | {"pin", "mmyy", "ddmmyyyy"}

NAMES: dict[str, str | None] = {
    "de": "de",
    "de-AT": "de",
    "en-US": "en",
    "DA": "dk",
    "sv-SE": "se",
    "el": "gr",
    "cs-CZ": "cz",
    "zh-CN": "cn",
    "zh_Hans_SG": "cn",
    "nb-NO": "no",
    "pt-BR": "pt",
    " fr ": "fr",
    "be": "nl",
    "be-BY": "ru",
    "tlh": None,
    "": None,
    "-": None,
}

LABEL_LENGTH_MAX = 50
"""A label or a button has to fit into 280 pixels in two lines."""


def is_in_script(text: str, scripts: tuple[str, ...]) -> bool:
    return any(unicodedata.name(sign, "").startswith(scripts) for sign in text)


def find_languages(names: Iterable[str]) -> dict[str, str | None]:
    """Returns the code that the script itself finds for each name, run by Node."""
    node = shutil.which("node")
    assert node is not None, "no Node is installed: make machine"
    asked = list(names)
    tables = f"const TEXTS = {json.dumps(dict.fromkeys(CODES, 1))}, ALIASES = {json.dumps(ALIASES)};"
    finder = join_modules(PARTS / "texts.js")
    ask = f"console.log(JSON.stringify({json.dumps(asked)}.map((name) => findLanguage(name) || null)));"
    answer = subprocess.run([node, "-e", f"{tables}\n{finder}\n{ask}"], capture_output=True, check=True, timeout=300)
    return dict(zip(asked, json.loads(answer.stdout), strict=True))


def test_every_file_is_a_language_and_every_language_has_a_file() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(CODES) == set(LANGUAGES)
    assert len(CODES) == 25


def test_every_language_has_every_text_in_one_order() -> None:
    assert check_languages(LANGUAGES) == []


def test_a_missing_a_surplus_and_a_misplaced_text_are_noticed() -> None:
    whole = {"name": "English", "submit": "Pay"}

    assert check_languages({"en": whole, "de": {"name": "Deutsch"}}) == ["de lacks submit"]
    assert check_languages({"en": whole, "de": {**whole, "submit": ""}}) == ["de lacks submit"]
    assert check_languages({"en": whole, "de": {**whole, "more": "mehr"}}) == ["de alone has more"]
    assert check_languages({"en": whole, "de": {"submit": "Zahlen", "name": "Deutsch"}}) == ["de has another order"]


@pytest.mark.parametrize("code", [code for code in CODES if code != FALLBACK])
def test_no_text_was_left_in_english(code: str) -> None:
    same = [key for key in KEYS if key not in SAME_EVERYWHERE and LANGUAGES[code][key] == LANGUAGES[FALLBACK][key]]

    assert [key for key in same if code not in SAME_WORDS.get(key, ())] == []


def test_no_exception_from_that_is_out_of_date() -> None:
    listed = [(code, key) for key, codes in SAME_WORDS.items() for code in codes]

    assert [(code, key) for code, key in listed if LANGUAGES[code][key] != LANGUAGES[FALLBACK][key]] == []


@pytest.mark.parametrize("code", sorted(SCRIPTS))
def test_every_text_is_written_in_the_language_s_own_script(code: str) -> None:
    texts = LANGUAGES[code]

    assert [key for key in KEYS if key not in LATIN_ANYWHERE and not is_in_script(texts[key], SCRIPTS[code])] == []


@pytest.mark.parametrize("code", CODES)
def test_brand_and_amount_have_their_place_and_nothing_else_is_left_open(code: str) -> None:
    gaps = {key: re.findall(r"\{\w*\}|%\w|<", text) for key, text in LANGUAGES[code].items()}

    assert {key: found for key, found in gaps.items() if found} == {
        "payWith": ["{brand}"],
        "payAmount": ["{amount}"],
        "goToBrand": ["{brand}"],
        "emptyError": ["{field}"],
        "incompleteError": ["{field}"],
        "invalidError": ["{field}"],
    }


@pytest.mark.parametrize("code", CODES)
def test_labels_are_short_and_texts_are_tidy(code: str) -> None:
    texts = LANGUAGES[code]
    sentences = [key for key in KEYS if texts[key].endswith((".", "。", "…"))]

    assert [key for key in KEYS if key not in sentences and len(texts[key]) > LABEL_LENGTH_MAX] == []
    assert [key for key in KEYS if texts[key] != texts[key].strip() or "  " in texts[key]] == []
    assert [key for key in KEYS if key.endswith("Error") and not texts[key].endswith((".", "。"))] == []


def test_only_arabic_runs_from_right_to_left() -> None:
    assert {code: texts["dir"] for code, texts in LANGUAGES.items() if texts["dir"] != "ltr"} == {"ar": "rtl"}


def test_no_two_languages_have_one_name() -> None:
    assert (
        len({texts["name"] for texts in LANGUAGES.values()})
        == len({texts["tag"] for texts in LANGUAGES.values()})
        == 25
    )


def test_a_language_is_found_by_what_pages_and_browsers_call_it() -> None:
    assert find_languages(NAMES) == NAMES


def test_every_language_is_found_by_its_code_and_by_its_tag() -> None:
    assert find_languages(CODES) == {code: code for code in CODES}
    assert find_languages(texts["tag"] for texts in LANGUAGES.values()) == {
        texts["tag"]: code for code, texts in LANGUAGES.items()
    }


def test_every_alias_is_a_new_name_of_a_known_language() -> None:
    assert [name for name, code in ALIASES.items() if code not in LANGUAGES or name in LANGUAGES] == []
    assert [name for name in ALIASES if name != name.lower()] == []


def test_every_text_that_the_script_says_exists() -> None:
    script = "\n".join(path.read_text("utf-8") for path in sorted(PARTS.glob("*.js")))
    said = set(re.findall(r'\btranslate\(\s*"(\w+)"', script)) | set(re.findall(r'"([a-z]\w*Error)"', script))
    usual = re.search(r"const USUAL_ERRORS = \{(.*?)\};", script, re.DOTALL)

    assert "submit" in said
    assert usual is not None
    # Of these only a page's own text is said; else the field is empty, incomplete, not valid or expired.
    own = set(re.findall(r'"(\w+Error)"', usual[1])) | {"billingError"}
    assert sorted(said - set(KEYS) - own) == ["onError"]  # a hook of the page
