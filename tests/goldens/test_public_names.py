"""The public names and their signatures are those in ``public_names.txt``."""

from difflib import unified_diff

import pytest
from tests.goldens.names import FILE, MODULES, names_of

HOW = "If this is meant, write the file anew with: python -m tests.goldens.names"


def changed(before, after):
    """Return the lines that went, with a minus, and those that came, with a plus."""
    lines = list(unified_diff(before, after, lineterm="", n=0))[2:]
    return [line for line in lines if not line.startswith("@@")]


def listed(module):
    """Return the lines of a module in the file: its name, a dot, and a name without dots."""
    lines = FILE.read_text("utf-8").splitlines()
    own = [line for line in lines if line.startswith(f"{module}.")]
    others = [f"{each}." for each in MODULES if each.startswith(f"{module}.")]
    # ``pacfourier.bounds`` is a name of ``pacfourier``; what stands below it is not.
    return [line for line in own if not line.startswith(tuple(others))]


@pytest.mark.parametrize("module", MODULES)
def test_public_names_are_those_in_the_file(module):
    try:
        found = names_of(module)
    except ModuleNotFoundError as error:
        if error.name.startswith("pacfourier"):
            raise
        pytest.skip(f"needs {error.name}")
    lines = changed(listed(module), found)
    assert not lines, "\n".join(["Public names have changed:", *lines, HOW])


def test_every_line_belongs_to_a_module():
    lines = FILE.read_text("utf-8").splitlines()
    assert sorted(lines) == sorted(line for each in MODULES for line in listed(each))


def test_what_changed_is_shown():
    before = ["a.f(x)", "a.g(y=1)", "a.h()"]
    assert changed(before, list(before)) == []
    assert changed(before, ["a.f(x)", "a.g(y=2)", "a.h()"]) == ["-a.g(y=1)", "+a.g(y=2)"]
