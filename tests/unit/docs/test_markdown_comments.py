"""A comment at the beginning of a text is for those who edit it; one in a block of code belongs to the code."""

from __future__ import annotations

from tollgate.docs import markdown


def test_a_comment_is_left_out_at_the_beginning_and_kept_in_code() -> None:
    text = "<!-- Written by a tool. -->\n# Title\n\n```vue\n<!-- Shop.vue -->\n<template></template>\n```\n"

    html = markdown.render(text, str).html

    assert "Written" not in html
    assert "&lt;!-- Shop.vue --&gt;\n&lt;template&gt;" in html
