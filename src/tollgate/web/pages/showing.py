"""Filters of templates for merchants and developers: times, amounts, results and states as people read them.

Nothing is looked up here but the meaning of result codes.
"""

from collections.abc import Callable, Mapping

from markupsafe import Markup

from tollgate.catalog.results import RESULTS
from tollgate.values import Instant, render_hundredths, to_datetime

_NONE = Markup('<span class="none">none</span>')


def show_time(at: Instant | None) -> Markup:
    """Renders a time in UTC; a script shows it in the reader's zone, with UTC on hover."""
    if at is None:
        return _NONE
    moment = to_datetime(at)
    text = f"{moment:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(f"{moment:%Y-%m-%dT%H:%M:%SZ}", text, text)


def show_amount(hundredths: int, currency: str = "") -> str:
    """Renders an amount with groups of three digits: `1,234.50 EUR`."""
    text = render_hundredths(hundredths)
    whole, _, cents = text.partition(".")
    return f"{int(whole):,}.{cents} {currency}".strip() if whole not in ("-0",) else f"{text} {currency}".strip()


def show_result(code: str) -> Markup:
    """Renders a result code with its meaning, coloured by its group, as a link to the page that describes it."""
    result = RESULTS.get(code)
    if result is None:
        return Markup('<span class="result {}">{}</span>').format(get_tone("unknown"), code)
    link = Markup('<a class="result {}" href="/docs/codes/{}" title="{}">{}</a>')
    return link.format(get_tone(result.group), code, result.description, code)


_TONES = {"success": "good", "success_review": "open", "pending": "open", "pending_long": "open"}


def get_tone(group: str) -> str:
    """Returns the class by which a group of results is coloured: good, open or bad."""
    return _TONES.get(group, "bad")


def show_badge(text: object, tone: str = "") -> Markup:
    return Markup('<span class="badge {}">{}</span>').format(tone, text)


FILTERS: Mapping[str, Callable[..., object]] = {
    "when": show_time,
    "amount": show_amount,
    "result": show_result,
    "badge": show_badge,
}
