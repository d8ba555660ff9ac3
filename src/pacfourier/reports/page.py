"""Build self-contained HTML pages, which need no network to be shown."""

import base64
from collections.abc import Collection, Iterable
from html import escape

__all__ = ["Markup", "details", "figure", "page", "paragraph", "section", "table"]

STYLE = """
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5b6472; --line: #d8dce3;
  --paper: #ffffff; --band: #f4f6f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ec; --soft: #a2abb9;
  --line: #383f4b; --paper: #15181d; --band: #1e232b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1.25rem 4rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0.5rem 0 1.5rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0.75rem; }
.scroll { overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; min-width: 100%; overflow-wrap: normal; }
th, td { padding: 0.4rem 0.75rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); min-width: 5rem; }
td:first-child:nth-last-child(2) { min-width: 11rem; }
th { background: var(--band); font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
summary { cursor: pointer; margin: 0.75rem 0; font-weight: 600; }
figure { margin: 1rem 0; }
figure svg, figure img { display: block; max-width: 100%; height: auto; background: #ffffff;
  border-radius: 0.25rem; }
figcaption { color: var(--soft); font-size: 0.9rem; margin-top: 0.5rem; }
"""


class Markup(str):
    """Text that is already HTML; all other strings are escaped."""


def page(title: str, *sections: str) -> Markup:
    """Return a complete document.

    Parameters
    ----------
    title : str
        Plain text.
    *sections : str
        Results of ``section``, ``table``, ``figure`` and ``paragraph``, or plain text.

    Returns
    -------
    document : Markup
    """
    return Markup(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{_joined(sections)}\n</body>\n</html>\n"
    )


def section(title: str, *parts: str) -> Markup:
    """Return a part of a page with a title."""
    return Markup(f"<section>\n<h2>{escape(title)}</h2>\n{_joined(parts)}\n</section>")


def details(title: str, *parts: str) -> Markup:
    """Return parts that stay hidden until the reader opens them."""
    return Markup(f"<details><summary>{escape(title)}</summary>\n{_joined(parts)}\n</details>")


def paragraph(text: str) -> Markup:
    """Return a paragraph."""
    return Markup(f"<p>{_escaped(text)}</p>")


def table(
    headers: Iterable[str], rows: Iterable[Iterable[object]], *, numeric: Collection[int] = ()
) -> Markup:
    """Return a table, which scrolls inside its own box on a narrow screen.

    Parameters
    ----------
    headers : iterable of str
    rows : iterable of iterables
        Cells that are not strings are converted by ``str``.
    numeric : collection of int, default=()
        Positions of the columns to align to the right.

    Returns
    -------
    table : Markup
    """
    head = _row("th", headers, numeric)
    body = "\n".join(_row("td", row, numeric) for row in rows)
    return Markup(
        f'<div class="scroll"><table>\n<thead>{head}</thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def figure(image: str | bytes, caption: str) -> Markup:
    """Return an embedded image: SVG text is put inline, PNG bytes are encoded as base64."""
    if isinstance(image, bytes):
        data = base64.b64encode(image).decode("ascii")
        image = f'<img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
    else:
        # The declaration and the doctype before the element must not be inside a page.
        image = image[image.index("<svg") :]
    return Markup(f"<figure>{image}<figcaption>{_escaped(caption)}</figcaption></figure>")


def _row(tag: str, cells: Iterable[object], numeric: Collection[int]) -> str:
    kinds = {True: f'<{tag} class="number">', False: f"<{tag}>"}
    items = (
        f"{kinds[place in numeric]}{_escaped(cell)}</{tag}>" for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(items)}</tr>"


def _escaped(part: object) -> str:
    return part if isinstance(part, Markup) else escape(str(part))


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(part if isinstance(part, Markup) else paragraph(part) for part in parts)
