import re
from html.parser import HTMLParser

import pytest

from pacfourier.reports.page import Markup, _paragraph, figure, page, section, table

NASTY = '<script>alert("&")</script>'
SVG = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'
VOID = {"meta", "img", "path"}


class Nesting(HTMLParser):
    """Collects tags, and fails where one is closed that is not the last opened."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def parsed(text):
    parser = Nesting()
    parser.feed(text)
    assert parser.open == []
    return parser.seen


@pytest.fixture
def document():
    rows = [["a", 1], [NASTY, 2.5]]
    parts = (_paragraph(NASTY), table(["name", NASTY], rows, numeric=[1]), figure(SVG, NASTY))
    return page(NASTY, section(NASTY, *parts, figure(b"\x89PNG", NASTY)), NASTY)


def test_page_is_one_document_with_its_own_style(document):
    assert document.startswith("<!doctype html>")
    tags = [tag for tag, _ in parsed(document)]
    assert all(tags.count(tag) == 1 for tag in ("html", "head", "title", "style", "body", "h1"))
    assert '<meta charset="utf-8">' in document
    assert 'name="viewport"' in document
    assert "prefers-color-scheme: dark" in document


def test_plain_text_is_escaped_everywhere(document):
    assert "<script" not in document
    # Title, head line, section, paragraph, two in the table, two in each figure less the SVG's
    # alternative text, and the loose text at the end.
    assert document.count("&lt;script&gt;") == 10


def test_markup_is_not_escaped_twice():
    inner = _paragraph(Markup("<b>bold</b>"))
    assert inner == "<p><b>bold</b></p>"
    assert inner in section("title", inner)
    assert "<td><b>1</b></td>" in table(["n", "m"], [["a", Markup("<b>1</b>")]])


def test_tables_align_numbers_and_scroll_in_their_own_box():
    text = table(["name", "n"], [["a", 1]], numeric=[1], caption="A & B")
    box = '<div class="scroll" tabindex="0" role="region" aria-label="A &amp; B"><table>'
    assert text.startswith(box)
    assert "<caption><span>A &amp; B</span></caption>" in text
    assert '<tr><th scope="col">name</th><th scope="col" class="number">n</th></tr>' in text
    assert '<tr><th scope="row">a</th><td class="number">1</td></tr>' in text


def test_figures_are_embedded():
    assert figure(SVG, "c").startswith("<figure><svg")
    assert figure(Markup("<ul></ul><svg></svg>"), "c").startswith("<figure><ul></ul><svg>")
    assert 'src="data:image/png;base64,iVBORw=="' in figure(b"\x89PNG\r"[:4], "c")


def test_nothing_is_fetched_from_a_network(document):
    fetching = [
        value
        for _, attributes in parsed(document)
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "srcset")
    ]
    assert all(value.startswith("data:") for value in fetching)
    assert fetching
    assert not re.search(r"@import|url\(|<link|<script", document)
