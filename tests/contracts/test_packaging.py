import re
import tomllib
from pathlib import Path

import pacfourier

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_is_written_in_one_file():
    path = Path(PROJECT["tool"]["hatch"]["version"]["path"])
    assert path == Path("src/pacfourier/__init__.py")
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert "version" not in PROJECT["project"]
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", pacfourier.__version__)


def test_the_package_ships_its_types():
    assert (Path(pacfourier.__file__).parent / "py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["project"]["classifiers"]
