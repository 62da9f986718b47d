"""Texts become HTML that a strict policy allows, with anchors, links and regions. What the texts say is not judged."""

from __future__ import annotations

import re

from tollgate.docs import markdown
from tollgate.docs.headings import Rendered

PAGES = {"000.100.110": "/docs/codes/000.100.110"}
PLACES = markdown.Places(lambda target: f"/led/{target}", PAGES.get, lambda _target: (640, 480))


def render(text: str) -> Rendered:
    return markdown.render(f"# Title\n\nThe lead.\n\n{text}", PLACES)


def test_html_of_a_text_is_shown_and_not_run() -> None:
    html = render('<script>alert(1)</script>\n\n<b onclick="x">bold</b>').html

    assert "<script" not in html
    assert "<b" not in html
    assert "&lt;script&gt;" in html


def test_a_comment_is_left_out_at_the_beginning_and_kept_in_code() -> None:
    text = "<!-- Written by a tool. -->\n# Title\n\n```vue\n<!-- Shop.vue -->\n<template></template>\n```\n"

    html = markdown.render(text, PLACES).html

    assert "Written" not in html
    assert "&lt;!-- Shop.vue --&gt;\n&lt;template&gt;" in html


def test_headings_have_anchors_as_the_links_of_the_texts_spell_them() -> None:
    headings = render("## `card` and, *also*, more\n\n## Same\n\nFirst words.\n\n## Same\n").headings

    assert [heading.anchor for heading in headings] == ["title", "card-and-also-more", "same", "same-1"]
    assert [heading.words for heading in headings] == ["The lead.", "", "First words.", ""]


def test_a_heading_links_to_itself_and_the_title_does_not() -> None:
    html = render("## One\n").html

    assert '<h1 id="title">Title</h1>' in html
    assert re.search(r'<h2 id="one">One <a class="anchor" href="#one" aria-label="[^"]+"></a></h2>', html)


def test_the_list_of_sections_has_the_second_and_third_level() -> None:
    rendered = render("## Two\n\n### Three\n\n#### Four\n")

    assert [heading.text for heading in rendered.listed] == ["Two", "Three"]


def test_code_that_has_a_page_links_to_it_once() -> None:
    html = render("A `000.100.110`, a `000.000.001` and [a `000.100.110`](x.md).\n\n## `000.100.110`\n").html

    assert html.count('<a href="/docs/codes/000.100.110"><code>000.100.110</code></a>') == 1
    assert "<code>000.000.001</code>" in html
    assert '<a href="/led/x.md">a <code>000.100.110</code></a>' in html


def test_every_region_has_a_name_of_its_own() -> None:
    html = render("## One\n\n```sh\na\n```\n\n    b\n\n| x |\n|---|\n| y |\n").html
    names = re.findall(r'role="region"[^>]*aria-label="([^"]+)"|aria-label="([^"]+)"[^>]*role="region"', html)

    assert [first or second for first, second in names] == ["One: code", "One: code 2", "One: table"]
    assert html.count('tabindex="0"') == 3


def test_code_stays_as_it_was_written() -> None:
    html = render("```sh\ncurl $BASE -d '<&>' -d entityId=$ENTITY\n```\n").html

    assert '<p class="language">Shell</p>' in html
    assert "<code>curl $BASE -d '&lt;&amp;&gt;' -d entityId=$ENTITY\n</code>" in html


def test_the_label_of_a_language_cannot_break_out() -> None:
    assert "<i>" not in render("```<i>\nx\n```\n").html


def test_a_picture_is_loaded_late_and_leaves_room_for_itself() -> None:
    html = render("![A shop](images/shop.png)\n").html

    assert '<img src="/led/images/shop.png" alt="A shop" loading="lazy" width="640" height="480"' in html


def test_a_row_that_begins_with_code_can_be_linked_to() -> None:
    rendered = render(
        "## a\n\n| name | note |\n|---|---|\n| `a` | one |\n| `b c` | two |\n| d | three |\n| `b c` | four |\n"
    )

    assert [(row.anchor, row.key, row.note) for row in rendered.rows] == [("b-c", "b c", "two")]
    assert rendered.html.count('<tr id="b-c">') == 1


def test_a_word_of_the_glossary_can_be_linked_to() -> None:
    rendered = render("| word | meaning |\n|---|---|\n| soft decline | Try again. |\n")

    assert [(row.anchor, row.note) for row in rendered.rows] == [("soft-decline", "Try again.")]


def test_an_empty_head_is_no_head() -> None:
    html = render("|   | b |\n|---|---|\n| c | d |\n").html

    assert "<th>b</th>" in html
    assert html.count("<th>") == 1
    assert html.count("<td>") == html.count("</td>") == 3


def test_words_of_a_row_are_rendered_without_a_paragraph() -> None:
    assert markdown.render_inline("`000.100.110` & <b>", PAGES.get) == (
        '<a href="/docs/codes/000.100.110"><code>000.100.110</code></a> &amp; &lt;b&gt;'
    )
