"""Write ``index.html``: the page with its style and scripts inside, so that one file is enough.

Run ``python docs/playground/build.py`` after a change of the other files in this folder.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
PARTS = {
    "style": ("style.css",),
    "mathematics": (
        "alignment.js",
        "certificate.js",
        "linear_model.js",
        "learned.js",
        "samples.js",
        "grids.js",
    ),
    "page": ("pictures.js", "state.js", "texts.js", "scenes.js", "controls.js"),
}


def assembled() -> str:
    """Return the page with the contents of its parts."""
    page = (FOLDER / "page.html").read_text("utf-8")
    for name, files in PARTS.items():
        sources = [(FOLDER / file).read_text("utf-8").strip() for file in files]
        page = page.replace(f"{{{{{name}}}}}", "\n\n".join(sources))
    return page


if __name__ == "__main__":
    (FOLDER / "index.html").write_text(assembled(), "utf-8")
