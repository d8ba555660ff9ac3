"""Fail if the built site loads anything from outside, or links to a file that it does not have.

Sphinx itself checks links between pages, and writes the others as they are.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself, and what it fetches after a click.
LOADED = {"src", "srcset", "poster", "data"}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "manifest"}
OUTSIDE_IN_STYLE = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")


class Page(HTMLParser):
    """The addresses in a page: those that are loaded, and all of them."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.addresses = [], []
        self.feed(text)
        self.loaded += OUTSIDE_IN_STYLE.findall(text)

    def handle_starttag(self, tag, attributes):
        """Collect the addresses of a tag."""
        values = {name: value or "" for name, value in attributes}
        found = [values[name] for name in LOADED & values.keys()]
        if tag == "link" and LOADED_LINKS & {*values.get("rel", "").split()}:
            found.append(values.get("href", ""))
        self.loaded += found
        self.addresses += found
        if tag in ("a", "link"):
            self.addresses.append(values.get("href", ""))


def is_outside(address):
    """Return whether an address leads to another host."""
    return bool(urlsplit(address).netloc)


def missing_files(path, addresses):
    """Return the addresses of a page that lead to no file of the site."""
    local = {unquote(urlsplit(each).path) for each in addresses if not urlsplit(each).scheme}
    return sorted(each for each in local if each and not (path.parent / each).exists())


def pages(folder):
    """Return the pages of the site. Those in ``_static`` are templates of the theme."""
    paths = sorted(folder.rglob("*.html"))
    return [path for path in paths if path.relative_to(folder).parts[0] != "_static"]


def faults(folder):
    """Yield what is wrong, one line each."""
    for path in pages(folder):
        page = Page(path.read_text())
        name = path.relative_to(folder)
        yield from (f"{name}: loads {each}" for each in page.loaded if is_outside(each))
        inside = [each for each in page.addresses if not is_outside(each)]
        yield from (f"{name}: no file {each}" for each in missing_files(path, inside))
    for path in sorted(folder.rglob("*.css")):
        for each in OUTSIDE_IN_STYLE.findall(path.read_text()):
            yield f"{path.relative_to(folder)}: loads {each}"


def main():
    """Print all faults and the number of pages; return the exit status."""
    folder = Path(sys.argv[1])
    found = list(faults(folder))
    for line in found:
        print(line)
    n_pages = len(pages(folder))
    print(f"{n_pages} pages, {len(found)} addresses that are missing or loaded from outside")
    return 1 if found or not n_pages else 0


if __name__ == "__main__":
    sys.exit(main())
