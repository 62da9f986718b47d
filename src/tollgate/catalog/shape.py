"""The shapes that a single text value can have to match. No parameter is named here."""

import re
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass
from datetime import datetime

from tollgate.catalog.countries import ALPHA2_CODES, ALPHA3_CODES, NUMERIC_CODES
from tollgate.catalog.currencies import CURRENCIES
from tollgate.catalog.ibans import is_bic, is_iban

# TAB, CR and LF are legal in free text; lone surrogates are not characters and could not be stored.
_FORBIDDEN_LETTERS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff"
_FORBIDDEN = re.compile(f"[{_FORBIDDEN_LETTERS}]")

# A browser would read a backslash as a slash, and the others end an attribute or a header.
_URL_CHARACTER = r"[^\s\x00-\x20\x7f-\x9f\ud800-\udfff<>\"`\\]"

# Schemes that run or read something in the shopper's browser instead of leading somewhere, or that no browser goes to.
UNSAFE_SCHEMES = frozenset(
    {
        *("about", "blob", "data", "file", "filesystem", "jar", "javascript", "resource", "vbscript", "view-source"),
        *("chrome", "chrome-extension", "edge", "moz-extension", "safari-web-extension"),
        *("ftp", "ws", "wss"),
        # These start a program of the shopper's machine, or hide another address in themselves.
        *("intent", "search", "search-ms", "shell", "ms-msdt"),
    }
)
WEB_SCHEMES = frozenset({"http", "https"})
_REVERSE_DNS = re.compile(r"[a-z][a-z0-9-]*(?:\.[a-z0-9][a-z0-9-]*)+")
_OWN_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,63}")

TRUE_WORDS = frozenset({"true", "True", "1"})
"""The texts that mean true in a boolean shape, strict or lenient."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A length, and then either choices, a pattern (with an optional check) or free text."""

    length_min: int
    length_max: int
    pattern: re.Pattern[str] | None
    choices: tuple[str, ...]
    check: Callable[[str], bool] | None
    message: str
    """The text for the client: what would be accepted."""
    notation: str
    """The text for the reference."""

    def accepts(self, text: str) -> bool:
        if not self.length_min <= len(text) <= self.length_max:
            return False
        if self.choices:
            return text in self.choices
        if self.pattern is None:
            # Nearly all text is printable, and that test is several times faster than a search.
            return text.isprintable() or _FORBIDDEN.search(text) is None
        if self.pattern.fullmatch(text) is None:
            return False
        return self.check is None or self.check(text)

    def make_test(self) -> Callable[[str], object]:
        """Makes a test that answers as `accepts` does; most are a single call of a function written in C."""
        if self.choices:
            return frozenset(self.choices).__contains__
        if self.pattern is None or self.check is not None:
            return self.accepts
        has_length = rf"(?=(?s:.){{{self.length_min},{self.length_max}}}\Z)"
        return re.compile(f"{has_length}(?:{self.pattern.pattern})").fullmatch


@dataclass(frozen=True, slots=True)
class Between:
    """A whole number within bounds, both included."""

    low: int
    high: int

    def __call__(self, text: str) -> bool:
        return self.low <= int(text) <= self.high


def is_true(text: str | None) -> bool:
    return text in TRUE_WORDS


def text(length_min: int, length_max: int) -> Shape:
    message = f"must have {length_min} to {length_max} characters"
    return Shape(length_min, length_max, None, (), None, message, _notation("AN", length_min, length_max))


def name(length_min: int, length_max: int) -> Shape:
    """Takes a text that has more than digits and separators."""
    return pattern(
        rf"(?![\d\s./-]*\Z)[^{_FORBIDDEN_LETTERS}]*",
        length_min,
        length_max,
        message=f"must have {length_min} to {length_max} characters and not consist of digits only",
        notation=f"A{length_max}, {length_min}-{length_max}, not digits only",
    )


def pattern(
    regex: str,
    length_min: int,
    length_max: int,
    check: Callable[[str], bool] | None = None,
    *,
    message: str = "",
    notation: str = "",
) -> Shape:
    """The regex is matched against the whole value; lengths bound the work before it starts."""
    return Shape(
        length_min,
        length_max,
        re.compile(regex),
        (),
        check,
        message or f"must match ^{regex}$",
        notation or f"AN{length_max}, {regex}",
    )


def digits(length_min: int, length_max: int) -> Shape:
    bounds = f"{length_min}" if length_min == length_max else f"{length_min},{length_max}"
    regex = f"[0-9]{{{bounds}}}"
    return pattern(regex, length_min, length_max, notation=_notation("N", length_min, length_max))


def number(low: int, high: int) -> Shape:
    length_max = len(str(high))
    message = f"must be a number from {low} to {high}"
    notation = f"N{length_max}, {low}-{high}"
    return pattern("[0-9]+", 1, length_max, Between(low, high), message=message, notation=notation)


def choice(*values: str) -> Shape:
    lengths = [len(value) for value in values]
    message = f"must be one of [{', '.join(values)}]"
    return Shape(min(lengths), max(lengths), None, values, None, message, ", ".join(values))


def amount(digits_max: int = 10) -> Shape:
    regex = rf"[0-9]{{1,{digits_max}}}(\.[0-9]{{2}})?"
    return pattern(regex, 1, digits_max + 3, notation=f"N{digits_max}.N2")


def exact_amount(digits_max: int = 10) -> Shape:
    """An amount whose decimals are not optional."""
    regex = rf"[0-9]{{1,{digits_max}}}\.[0-9]{{2}}"
    return pattern(regex, 4, digits_max + 3, notation=f"N{digits_max + 3}, {regex}")


def listed(regex: str, length: int, codes: Container[str], noun: str, notation: str) -> Shape:
    return pattern(regex, length, length, codes.__contains__, message=f"must be an {noun}", notation=notation)


def _notation(letters: str, length_min: int, length_max: int) -> str:
    if length_min <= 1:
        return f"{letters}{length_max}"
    bounds = f"exactly {length_max}" if length_min == length_max else f"{length_min}-{length_max}"
    return f"{letters}{length_max}, {bounds}"


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_unsafe_scheme(scheme: str) -> bool:
    """Returns True if no page may ever lead to an address of this scheme, even if a channel lists it."""
    lowered = scheme.lower()
    return lowered in UNSAFE_SCHEMES or lowered.startswith("ms-") or _OWN_SCHEME.fullmatch(lowered) is None


BOOLEAN = choice("true", "false")
LOOSE_BOOLEAN = choice("true", "false", "True", "1", "0")
"""It takes the spellings of languages that write their own booleans."""

DATE = pattern(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    10,
    10,
    _is_moment,
    message="must be a calendar date yyyy-MM-dd",
    notation="AN10, yyyy-MM-dd",
)
RECENT_DATE = pattern(
    "(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}",
    10,
    10,
    _is_moment,
    message="must be a calendar date yyyy-MM-dd of 1900 to 2099",
    notation="AN10, yyyy-MM-dd, year 19xx or 20xx",
)
TIMESTAMP = pattern(
    "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}",
    19,
    19,
    _is_moment,
    message="must be a time yyyy-MM-dd HH:mm:ss",
    notation="AN19, yyyy-MM-dd HH:mm:ss",
)
DATE_OR_TIMESTAMP = pattern(
    "[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2})?",
    10,
    19,
    _is_moment,
    message="must be a date yyyy-MM-dd or a time yyyy-MM-dd HH:mm:ss",
    notation="AN19, yyyy-MM-dd or yyyy-MM-dd HH:mm:ss",
)

CURRENCY = listed("[A-Z]{3}", 3, CURRENCIES, "ISO 4217 currency code", "A3, ISO 4217")
COUNTRY2 = listed("[A-Z]{2}", 2, ALPHA2_CODES, "ISO 3166-1 alpha-2 country code", "A2, ISO 3166-1 alpha-2")
COUNTRY3 = listed("[A-Z]{3}", 3, ALPHA3_CODES, "ISO 3166-1 alpha-3 country code", "A3, ISO 3166-1 alpha-3")
COUNTRY_NUMERIC = listed("[0-9]{3}", 3, NUMERIC_CODES, "ISO 3166-1 numeric country code", "N3, ISO 3166-1 numeric")
COUNTRY2_OR_NUMERIC = pattern(
    "[A-Z]{2}|[0-9]{3}",
    2,
    3,
    (ALPHA2_CODES | NUMERIC_CODES).__contains__,
    message="must be an ISO 3166-1 alpha-2 or numeric country code",
    notation="A2 or N3, ISO 3166-1",
)
IBAN = pattern(
    "[a-zA-Z]{2}[0-9]{2}[a-zA-Z0-9]{11,27}",
    15,
    31,
    is_iban,
    message="must be an IBAN without blanks and with a correct checksum",
)
BIC = pattern("[a-zA-Z0-9]{8}([a-zA-Z0-9]{3})?", 8, 11, is_bic, message="must be a BIC of 8 or 11 characters")

URL = pattern(
    rf"[hH][tT][tT][pP][sS]?://(?![/?#])(?![^/?#]*@){_URL_CHARACTER}+",
    8,
    2048,
    message="must be an http or https URL",
    notation="AN2048, http or https URL",
)
"""A page or an image is always on the web."""
RETURN_URL = pattern(
    rf"(?![hH][tT][tT][pP][sS]?://(?:[/?#]|[^/?#]*@))[a-zA-Z][a-zA-Z0-9+.-]{{0,63}}://{_URL_CHARACTER}+",
    5,
    2048,
    lambda text: not is_unsafe_scheme(text.partition(":")[0]),
    message="must be an absolute URL of the web or of an app",
    notation="AN2048, absolute URL",
)
"""A browser may be sent to the web or to an app, and never to a scheme that runs script."""


def may_return_to(url: str, schemes: Collection[str], *, is_lenient: bool) -> bool:
    """Returns True if a browser may be sent to the address: to the web, or to an app by a scheme of the channel.

    On a lenient channel an app may also have any scheme with a dot, which is how mobile SDKs spell theirs.
    """
    scheme = url.partition("://")[0].lower()
    if scheme in WEB_SCHEMES:
        return True
    is_known = scheme in schemes or (is_lenient and _REVERSE_DNS.fullmatch(scheme) is not None)
    return is_known and not is_unsafe_scheme(scheme)
