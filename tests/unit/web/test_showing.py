"""Result codes as merchants and developers see them. Other filters are seen in the pages that use them."""

from __future__ import annotations

import pytest

from tollgate.web.pages.showing import show_result


@pytest.mark.parametrize(("code", "tone"), [("000.100.110", "good"), ("000.200.000", "open"), ("800.100.155", "bad")])
def test_a_result_links_to_the_page_that_describes_it(code: str, tone: str) -> None:
    shown = show_result(code)

    assert shown.startswith(f'<a class="result {tone}" href="/docs/codes/{code}" title="')
    assert shown.endswith(f">{code}</a>")


def test_an_unknown_result_is_shown_without_a_link() -> None:
    assert show_result("<b>") == '<span class="result bad">&lt;b&gt;</span>'
