"""Settings of the site: ``make docs`` builds it into ``docs/_build/html``."""

import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert

import pacfourier

DOCS = Path(__file__).parent
# The gallery finds its order there.
sys.path.append(str(DOCS))
# Browsers show these only as letters of their own, and `convert` does not know the last.
LETTERS = {
    r"\mathbb{E}": "\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL E}",
    r"\mathcal L": "\N{SCRIPT CAPITAL L}",
    r"\mathcal{N}": "\N{MATHEMATICAL SCRIPT CAPITAL N}",
    r"\arg": r"\operatorname{arg}",
}

project = "pacfourier"
author = "The pacfourier developers"
project_copyright = author
version = release = pacfourier.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "lessons", "playground"]
templates_path = ["_templates"]
# Names in docstrings that lead nowhere are warnings, and warnings are errors.
nitpicky = True

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
myst_url_schemes = ["http", "https", "mailto"]

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples", "lessons"],
    "gallery_dirs": ["gallery", "tutorials/lessons"],
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "within_subsection_order": "gallery_order.ReadingOrder",
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "pacfourier"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_math_renderer = "mathml"
html_sidebars = {"index": [], "playground": [], "changelog": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def visit_formula(display):
    """Return a visitor that writes a formula as MathML, which browsers show without a script."""

    def visit(translator, node):
        formula = node.astext()
        for command, letter in LETTERS.items():
            formula = formula.replace(command, letter)
        mathml = convert(formula, display=display)
        translator.body.append(mathml if display == "inline" else f"<div>{mathml}</div>")
        raise nodes.SkipNode

    return visit


def skip_inherited_from_scikit_learn(app, what, name, obj, skip, options):
    """Leave out methods that every estimator of scikit-learn has."""
    del app, what, name, options
    return skip or str(getattr(obj, "__module__", "")).startswith("sklearn.")


def write_command_line_page(app):
    """Write the page of the command line from its own help."""
    del app
    command = [sys.executable, "-m", "typer", "pacfourier.cli", "utils", "docs"]
    command += ["--name", "pacfourier", "--title", "Command line"]
    page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (DOCS / "generated").mkdir(exist_ok=True)
    (DOCS / "generated" / "command-line.md").write_text(page)


def copy_playground(app, exception):
    """Copy the playground, which is one file that needs no other."""
    if exception is None:
        page = Path(app.outdir) / "playground" / "index.html"
        page.parent.mkdir(exist_ok=True)
        shutil.copy(DOCS / "playground" / "index.html", page)


def setup(app):
    """Register what is above."""
    inline, block = visit_formula("inline"), visit_formula("block")
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect("autodoc-skip-member", skip_inherited_from_scikit_learn)
    app.connect("builder-inited", write_command_line_page)
    app.connect("build-finished", copy_playground)
