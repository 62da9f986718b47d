"""A secret is a type: it prints as `***`, does not pickle and does not compare with `==`. Nothing is decrypted here."""

from __future__ import annotations

from hmac import compare_digest
from typing import NoReturn


class Secret:
    """Text that must not reach a log, a traceback or the store."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The clear text; may be called in the vault and in connectors only, which a tidy test counts."""
        return self._text

    def matches(self, other: Secret) -> bool:
        """Compare in constant time."""
        return compare_digest(self._text.encode(), other._text.encode())

    def __len__(self) -> int:
        return len(self._text)

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return "***"

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("secrets are compared with matches()")

    def __hash__(self) -> NoReturn:
        raise TypeError("secrets are not dictionary keys")

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets do not pickle")
