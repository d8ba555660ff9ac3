import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_public_names_is_up_to_date():
    """Write it again with ``python docs/api.py > docs/api.md``."""
    specification = importlib.util.spec_from_file_location("api", DOCS / "api.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert (DOCS / "api.md").read_text() == module.page()
