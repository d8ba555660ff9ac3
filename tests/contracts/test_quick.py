"""``make quick`` has tests of every room, and only files that exist."""

from pathlib import Path

import pytest
from conftest import FOLDER, QUICK, is_quick, pytest_ignore_collect

TESTS = FOLDER / "tests"
# Benchmarks are no room of the package.
ROOMS = {path.parent for path in TESTS.glob("*/**/test_*.py")} - {TESTS / "benchmarks"}


@pytest.mark.parametrize("path", QUICK)
def test_what_is_listed_exists(path):
    assert (FOLDER / path).exists()


@pytest.mark.parametrize("room", sorted({room.relative_to(TESTS).parts[0] for room in ROOMS}))
def test_every_room_has_quick_tests(room):
    assert any(is_quick(path) for path in (TESTS / room).rglob("test_*.py"))


@pytest.mark.parametrize(
    ("path", "expression", "expected"),
    [
        (Path(__file__), "quick", None),
        (TESTS / "test_cli.py", "quick", True),
        (TESTS / "test_cli.py", "not slow", None),
        (TESTS, "quick", None),
    ],
)
def test_only_quick_files_are_imported_for_them(
    pytestconfig, monkeypatch, path, expression, expected
):
    monkeypatch.setattr(pytestconfig.option, "markexpr", expression)
    assert pytest_ignore_collect(path, pytestconfig) is expected
