"""The mandate of a direct debit: every language of the form has a text that names the creditor."""

from __future__ import annotations

import hashlib
import string

import pytest

from tollgate.catalog.mandates import MANDATE_TEXTS, render_mandate
from tollgate.widget.languages import CODES


def test_every_language_of_the_form_has_a_mandate_and_no_other_has() -> None:
    assert set(MANDATE_TEXTS) == set(CODES)
    assert len(set(MANDATE_TEXTS.values())) == len(CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_mandate_names_creditor_and_identifier_once_each(code: str) -> None:
    text = MANDATE_TEXTS[code]

    assert sorted(name for _, name, _, _ in string.Formatter().parse(text) if name) == ["creditor", "identifier"]
    assert "SEPA" in text
    assert text.endswith((".", "。"))
    assert "  " not in text


def test_a_legal_text_changes_on_purpose_only() -> None:
    """A rename of identifiers once changed the first word of one of these sentences."""
    texts = "\n".join(f"{code} {MANDATE_TEXTS[code]}" for code in sorted(MANDATE_TEXTS))

    assert hashlib.sha256(texts.encode()).hexdigest()[:16] == "50cf733e67b423a7"


def test_a_name_with_braces_is_only_a_name() -> None:
    received = render_mandate("en", "{identifier} & <Sons>", "DE98ZZZ09999999999")

    assert received is not None
    assert "authorise {identifier} & <Sons> (creditor identifier DE98ZZZ09999999999)" in received
    assert render_mandate("tlh", "Shop", "DE98ZZZ09999999999") is None
