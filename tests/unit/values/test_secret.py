"""A secret cannot be shown, compared, stored or hashed by mistake."""

from __future__ import annotations

import copy
import json
import pickle
import traceback

import pytest

from tollgate.values import Secret

TEXT = "4200000000000000"


def test_a_secret_prints_as_stars_however_it_is_printed() -> None:
    secret = Secret(TEXT)

    for shown in (str(secret), repr(secret), f"{secret}", f"{secret:>40}", f"{secret!r}", f"{[secret]}", "%s" % secret):  # noqa: UP031
        assert "***" in shown
        assert TEXT not in shown


def test_a_secret_does_not_travel() -> None:
    secret = Secret(TEXT)

    for carry in (pickle.dumps, copy.copy, copy.deepcopy, json.dumps, hash, vars):
        with pytest.raises(TypeError):
            carry(secret)


def test_secrets_are_compared_on_purpose_only() -> None:
    with pytest.raises(TypeError, match="matches"):
        assert Secret(TEXT) == TEXT
    assert Secret(TEXT).matches(Secret(TEXT))
    assert not Secret(TEXT).matches(Secret(TEXT[::-1]))


def test_a_secret_is_revealed_when_asked_and_has_a_length() -> None:
    assert Secret(TEXT).reveal() == TEXT
    assert len(Secret(TEXT)) == len(TEXT)


def test_a_traceback_does_not_show_it() -> None:
    try:
        raise LookupError(Secret(TEXT))
    except LookupError:
        assert TEXT not in traceback.format_exc()
