import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = (
    "pacfourier",
    "pacfourier.spectra",
    "pacfourier.bounds",
    "pacfourier.bounds.printed",
    "pacfourier.export",
    "pacfourier.plots",
    "pacfourier.datasets",
    "Command line",
)


def written_page():
    specification = importlib.util.spec_from_file_location("api", DOCS / "api.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.page()


def test_the_page_of_public_names_is_up_to_date():
    """If this fails, run ``python docs/api.py > docs/api.md``."""
    assert (DOCS / "api.md").read_text() == written_page()


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_covers_every_public_module_and_the_command_line(section):
    assert f"\n## {section}\n" in (DOCS / "api.md").read_text()
