"""Scripts that browsers load are typed modules. What they do is tested in browsers."""

from __future__ import annotations

import re

import pytest

from tidy.source_tree import SOURCE, expect_none, name
from tollgate.web.pages.scripts import ModuleError, read_module

SCRIPTS = sorted(SOURCE.rglob("*.js"))
TYPES = sorted(SOURCE.rglob("*.d.ts"))

# A type that fits everything finds nothing; a fault that is hidden is not found either.
UNTYPED = re.compile(
    r"\{\s*\*\s*\}|[<{(\[:|&,=]\s*any\s*(?:[]\[<>{}()|&;,]|$)|@ts-(?:ignore|nocheck|expect-error)|eslint-disable"
)


def test_every_script_is_checked_and_says_first_what_lives_in_it() -> None:
    unnamed = [path for path in SCRIPTS if not path.read_text("utf-8").startswith("// @ts-check\n// ")]
    expect_none(map(name, unnamed), "a script begins with // @ts-check and what lives in it")


def test_no_script_is_excused_from_its_types() -> None:
    found = [
        f"{name(path)}:{number}: {line.strip()}"
        for path in (*SCRIPTS, *TYPES)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if UNTYPED.search(line)
    ]
    expect_none(found, "every value has a type, and no fault is hidden from TypeScript or eslint")


@pytest.mark.parametrize(
    "line",
    [
        "/** @param {any} value */",
        "/** @type {Map<string, any>} */",
        "/** @param {*} value */",
        "  values: any[];",
        "// @ts-ignore",
    ],
)
def test_the_ruler_sees_a_planted_excuse(line: str) -> None:
    assert UNTYPED.search(line)


def test_the_ruler_leaves_the_word_alone() -> None:
    assert not UNTYPED.search("// It counts for this browser, any other, and any.")


def test_every_script_imports_and_exports_in_the_form_that_can_be_joined() -> None:
    found = []
    for path in SCRIPTS:
        try:
            read_module(path)
        except ModuleError as error:
            found.append(str(error))
    expect_none(found, "the forms of import and export are listed in web/pages/scripts.py")
