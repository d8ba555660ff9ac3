"""Fail on a name whose mark is wrong: public without a user, or private with one elsewhere.

A function, class or constant of a module is public if another module mentions it or the package
exports it (``pacfourier/__init__.py`` imports it). All others start with an underscore, and no
other module mentions those. Run ``python -m tools.public_marks``.
"""

import ast
import sys
from collections import Counter

from tools.import_graph import PACKAGE, SOURCE, module_name

# ``pacfourier.bounds`` looks for the first in all of its modules; the second is the command.
FOUND_BY_NAME = {"RECORDS", "main"}
# Users read the names of these modules as ``spectra.RBF`` and ``bounds.printed.kl``.
PUBLIC_MODULES = {"pacfourier.spectra", "pacfourier.bounds.printed"}


def defined_names(tree):
    """Return the names that a module defines at its top. Imports and commands do not count."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not is_command(node):
            names.add(node.name)
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        names.update(each.id for each in targets if isinstance(each, ast.Name))
    return {name for name in names - FOUND_BY_NAME if not name.startswith("__")}


def is_command(node):
    """Return whether a decorator hands a function to a command line, which calls it."""
    return any(".command" in ast.unparse(each) for each in node.decorator_list)


def mentioned_names(tree):
    """Return pairs of a module and a name of it that a tree mentions."""
    modules, pairs = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            pairs.update((node.module, each.name) for each in node.names)
            modules.update(
                (each.asname or each.name, f"{node.module}.{each.name}") for each in node.names
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            pairs.add((modules.get(node.value.id), node.attr))
    return pairs


def wrong_marks(source=SOURCE, package=PACKAGE):
    """Return one line for each name whose mark is wrong.

    Parameters
    ----------
    source : path
        The folder that contains the package.
    package : str

    Returns
    -------
    lines : list of str
    """
    trees = {
        module_name(path, source): ast.parse(path.read_text())
        for path in sorted((source / package).rglob("*.py"))
    }
    pairs = {name: mentioned_names(tree) for name, tree in trees.items()}
    users = Counter(
        pair for name, mentioned in pairs.items() for pair in mentioned if pair[0] != name
    )
    lines = []
    for module in sorted(trees.keys() - PUBLIC_MODULES):
        for name in sorted(defined_names(trees[module])):
            is_used = users[module, name] > 0
            if is_used == name.startswith("_"):
                fault = (
                    "private, but used elsewhere" if is_used else "public, but not used elsewhere"
                )
                lines.append(f"{module}.{name} is {fault}")
    return lines


if __name__ == "__main__":
    found = wrong_marks()
    print("\n".join(found))
    sys.exit(bool(found))
