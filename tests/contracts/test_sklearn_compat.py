import ast
from pathlib import Path

import pytest
import sklearn

import pacfourier
from pacfourier.sklearn_compat import output_container

PACKAGE = Path(pacfourier.__file__).parent


def imported_names(source):
    """Return the full name of everything that a source imports, also inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def private_names(source):
    """Return the private names of scikit-learn that a source imports."""
    names = [name.split(".") for name in imported_names(source)]
    return [
        ".".join(parts)
        for parts in names
        if parts[0] == "sklearn"
        and any(part.startswith("_") and not part.endswith("__") for part in parts)
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from sklearn.utils._x import y", ["sklearn.utils._x.y"]),
        ("def f():\n    from sklearn.utils import _x", ["sklearn.utils._x"]),
        ("import sklearn._x", ["sklearn._x"]),
        ("from sklearn import __version__", []),
        ("from sklearn.utils import check_array", []),
    ],
)
def test_private_names_are_found(source, expected):
    assert private_names(source) == expected


def test_one_module_imports_private_names_of_scikit_learn():
    found = {
        path.relative_to(PACKAGE).as_posix(): names
        for path in PACKAGE.rglob("*.py")
        if (names := private_names(path.read_text()))
    }
    assert set(found) == {"sklearn_compat.py"}, found


def test_output_container_of_the_estimator_comes_before_the_global_one():
    estimator = pacfourier.RFF()
    assert output_container(estimator) == "default"
    with sklearn.config_context(transform_output="pandas"):
        assert output_container(estimator) == "pandas"
        assert output_container(estimator.set_output(transform="default")) == "default"
    assert output_container(estimator.set_output(transform="pandas")) == "pandas"
