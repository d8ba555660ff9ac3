"""Build self-contained HTML pages, which need no network to be shown."""

import base64
from collections.abc import Collection, Iterable
from html import escape

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --soft: #545d6b; --line: #d8dce3;
  --paper: #ffffff; --band: #f4f6f9; --link: #0b5cad; --good: #1a7f37; --bad: #b42318;
  --series-0: #0b5cad; --series-1: #b3480b; --series-2: #19753c; --series-3: #8430b0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ec; --soft: #a9b2c0;
  --line: #3b424f; --paper: #15181d; --band: #1e232b; --link: #7cbcff; --good: #5fcf80;
  --bad: #ff9188; --series-0: #6cb2ff; --series-1: #f4a261; --series-2: #6fd392;
  --series-3: #d3a4f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1.25rem 4rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0.5rem 0 1.5rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0.75rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 0.5rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.verdict { border-left: 0.35rem solid var(--bad); background: var(--band);
  padding: 0.75rem 1rem; margin: 0 0 1.25rem; }
.verdict.good { border-color: var(--good); }
.verdict p { margin: 0.4rem 0; }
.scroll { overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; min-width: 100%; overflow-wrap: break-word; }
caption { text-align: left; color: var(--soft); font-size: 0.9rem; padding: 0 0 0.4rem; }
caption span { display: inline-block; position: sticky; left: 0; max-width: calc(100vw - 2.5rem); }
th, td { padding: 0.4rem 0.75rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); min-width: 5rem; max-width: 30rem; }
td:first-child:nth-last-child(2), th:first-child:nth-last-child(2) { min-width: 9rem; }
th { font-weight: 600; }
tbody th { font-weight: 500; }
thead th { background: var(--band); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
@media (max-width: 30rem) { th, td { padding: 0.4rem 0.4rem; min-width: 0; max-width: 11rem; }
  .scroll { font-size: 0.9rem; }
  td:first-child:nth-last-child(2), th:first-child:nth-last-child(2) { min-width: 5.5rem; } }
summary { cursor: pointer; margin: 0.75rem 0; font-weight: 600; }
figure { margin: 1rem 0; }
figure img { display: block; max-width: 100%; height: auto; background: #ffffff;
  border-radius: 0.25rem; }
figcaption { color: var(--soft); font-size: 0.9rem; margin-top: 0.5rem; }
.beside { display: grid; gap: 0 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
.beside > * { min-width: 0; }
.chart { display: block; width: 100%; max-width: 28rem; height: auto; }
.chart text { fill: var(--soft); font: 12px system-ui, sans-serif; }
.chart text.name { fill: var(--ink); }
.chart .middle { text-anchor: middle; }
.chart .end { text-anchor: end; }
.chart .grid { stroke: var(--line); fill: none; }
.chart .axis { stroke: var(--soft); fill: none; }
.guide { stroke: var(--soft); stroke-dasharray: 2 3; fill: none; }
.s0 { --colour: var(--series-0); }
.s1 { --colour: var(--series-1); stroke-dasharray: 7 3; }
.s2 { --colour: var(--series-2); stroke-dasharray: 2 2; }
.s3 { --colour: var(--series-3); stroke-dasharray: 9 3 2 3; }
.line, .stem { stroke: var(--colour); stroke-width: 2; fill: none; stroke-linejoin: round; }
.dot { fill: var(--colour); stroke: none; }
.ring { fill: none; stroke: var(--colour); }
.bar { fill: var(--series-0); }
.count { fill: var(--line); stroke: var(--soft); }
.legend { list-style: none; margin: 0 0 0.5rem; padding: 0; display: flex; flex-wrap: wrap;
  gap: 0.1rem 1.25rem; }
.key { width: 2.1rem; height: 0.65rem; margin-right: 0.4rem; }
@media print { :root { --ink: #000000; --soft: #444444; --line: #bbbbbb; --paper: #ffffff;
  --band: #ffffff; --series-0: #0b5cad; --series-1: #b3480b; --series-2: #19753c;
  --series-3: #8430b0; } body { max-width: none; padding: 0; font-size: 10pt; }
  .scroll { overflow: visible; } h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; } details::details-content { content-visibility: visible;
  display: block; } }
"""
# The browser itself refuses to fetch anything for the page or to run a script in it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class Markup(str):
    """Text that is already HTML; all other strings are escaped."""


def page(title: str, *sections: str) -> Markup:
    """Return a complete document.

    Parameters
    ----------
    title : str
        Plain text.
    *sections : str
        Results of ``section``, ``table``, ``figure`` and ``_paragraph``, or plain text.

    Returns
    -------
    document : Markup
    """
    return Markup(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n{_joined(sections)}\n</main>\n</body>\n</html>\n"
    )


def section(title: str, *parts: str) -> Markup:
    """Return a part of a page with a title."""
    return Markup(f"<section>\n<h2>{escape(title)}</h2>\n{_joined(parts)}\n</section>")


def subsection(title: str, *parts: str) -> Markup:
    """Return a part of a section with a title."""
    return Markup(f"<h3>{escape(title)}</h3>\n{_joined(parts)}")


def verdict(is_good: bool, *parts: str) -> Markup:
    """Return what the reader must see first, in a box. Its edge is green or red."""
    kind = "verdict good" if is_good else "verdict"
    return Markup(f'<div class="{kind}">\n{_joined(parts)}\n</div>')


def side_by_side(*parts: str) -> Markup:
    """Return parts beside each other on a wide screen, and below each other on a narrow one."""
    items = "\n".join(f"<div>{_joined([part])}</div>" for part in parts)
    return Markup(f'<div class="beside">\n{items}\n</div>')


def details(title: str, *parts: str) -> Markup:
    """Return parts that stay hidden until the reader opens them."""
    return Markup(f"<details><summary>{escape(title)}</summary>\n{_joined(parts)}\n</details>")


def _paragraph(text: str) -> Markup:
    """Return a paragraph."""
    return Markup(f"<p>{_escaped(text)}</p>")


def table(
    headers: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    numeric: Collection[int] = (),
    caption: str = "",
) -> Markup:
    """Return a table, which scrolls inside its own box on a narrow screen.

    The first cell of each row is the header of the row.

    Parameters
    ----------
    headers : iterable of str
    rows : iterable of iterables
        Cells that are not strings are converted by ``str``.
    numeric : collection of int, default=()
        Positions of the columns to align to the right.
    caption : str, default=""
        What the table shows. It also names the box for those who do not see it.

    Returns
    -------
    table : Markup
    """
    head = "".join(_cell("th", "col", each, k in numeric) for k, each in enumerate(headers))
    body = "\n".join(_row(row, numeric) for row in rows)
    title = f"<caption><span>{_escaped(caption)}</span></caption>\n" if caption else ""
    # With the keyboard, only a box that can have the focus can be scrolled.
    box = f'tabindex="0" role="region" aria-label="{escape(caption or "Table")}"'
    return Markup(
        f'<div class="scroll" {box}><table>\n{title}<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def figure(image: str | bytes, caption: str) -> Markup:
    """Return an embedded image: SVG text is put inline, PNG bytes are encoded as base64.

    PNG images get a white ground. SVG images have none: draw them in the colours of the page.
    """
    if isinstance(image, bytes):
        data = base64.b64encode(image).decode("ascii")
        image = f'<img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
    elif not isinstance(image, Markup):
        # The declaration and the doctype before the element must not be inside a page.
        image = image[image.index("<svg") :]
    return Markup(f"<figure>{image}<figcaption>{_escaped(caption)}</figcaption></figure>")


def _row(cells: Iterable[object], numeric: Collection[int]) -> str:
    first, *others = cells
    items = [_cell("th", "row", first, 0 in numeric)]
    items += [_cell("td", "", cell, k in numeric) for k, cell in enumerate(others, start=1)]
    return f"<tr>{''.join(items)}</tr>"


def _cell(tag: str, scope: str, content: object, is_number: bool) -> str:
    kind = ' class="number"' if is_number else ""
    reach = f' scope="{scope}"' if scope else ""
    return f"<{tag}{reach}{kind}>{_escaped(content)}</{tag}>"


def _escaped(part: object) -> str:
    return part if isinstance(part, Markup) else escape(str(part))


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(part if isinstance(part, Markup) else _paragraph(part) for part in parts)
