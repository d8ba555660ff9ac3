"""Fail on functions of the package that are too long or take too many positional arguments.

A body has at most 60 lines, without its docstring. In the folders of mathematics, at most six
parameters can be passed by position, without ``self``; the others are keyword-only.
"""

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "pacfourier"
MOST_LINES = 60
MOST_POSITIONAL = 6
MATHEMATICS = ("core", "bounds", "pacbayes")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def functions(tree, owner=""):
    """Yield every function of a tree with its dotted name and whether it is a method."""
    for node in ast.iter_child_nodes(tree):
        name = f"{owner}{node.name}." if hasattr(node, "name") and node.name else owner
        if isinstance(node, FUNCTIONS):
            yield name.rstrip("."), node, isinstance(tree, ast.ClassDef)
        yield from functions(node, name)


def body_lines(function):
    """Return the number of lines of a body, without its docstring."""
    statements = function.body[ast.get_docstring(function) is not None :]
    return statements[-1].end_lineno - statements[0].lineno + 1 if statements else 0


def n_positional(function, is_method):
    """Return how many parameters can be passed by position, without the first of a method."""
    decorators = {ast.unparse(decorator) for decorator in function.decorator_list}
    n_bound = int(is_method and "staticmethod" not in decorators)
    return len(function.args.posonlyargs) + len(function.args.args) - n_bound


def faults(package=PACKAGE):
    """Yield one line of text for every function that breaks a rule."""
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        for name, function, is_method in functions(ast.parse(path.read_text())):
            where = f"{place}:{function.lineno}: {name}"
            lines, positional = body_lines(function), n_positional(function, is_method)
            if lines > MOST_LINES:
                yield f"{where} must have at most {MOST_LINES} lines, got {lines}"
            if place.parts[0] in MATHEMATICS and positional > MOST_POSITIONAL:
                yield (
                    f"{where} must have at most {MOST_POSITIONAL} positional parameters, "
                    f"got {positional}; make the others keyword-only"
                )


if __name__ == "__main__":
    found = list(faults())
    print("\n".join(found) or "No function is too long or has too many positional parameters.")
    sys.exit(1 if found else 0)
