import inspect
import re
import subprocess
import sys

import pytest

import pacfourier

PUBLIC = [getattr(pacfourier, name) for name in pacfourier.__all__]
CALLABLES = [item for item in PUBLIC if callable(item)]
EXTRAS = ("matplotlib", "dask", "typer", "rich", "pandas", "pyarrow", "skops")
# scikit-learn itself imports rich, pandas and pyarrow where they are installed.
LATE = sorted({"numba", "torch", "triton", "distributed", *EXTRAS} - {"rich", "pandas", "pyarrow"})


def test_every_public_name_is_here_once():
    assert len(set(pacfourier.__all__)) == len(PUBLIC)
    assert set(pacfourier.bounds.__all__) == set(pacfourier.bounds.__all__)


@pytest.mark.parametrize("module", LATE)
def test_importing_the_package_does_not_import(module):
    code = f"import sys, pacfourier; sys.exit('{module}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_homes_of_public_names_are_complete():
    modules = {name for name in pacfourier.__all__ if inspect.ismodule(getattr(pacfourier, name))}
    assert modules == {"bounds", "spectra"}
    assert sorted([*pacfourier._HOMES, *modules]) == sorted(pacfourier.__all__)
    assert set(pacfourier.__all__) <= set(dir(pacfourier))
    for name, home in pacfourier._HOMES.items():
        assert getattr(pacfourier, name).__module__.startswith(home), name


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="'pacfourier' has no attribute 'numpy'"):
        _ = pacfourier.numpy


def test_names_are_imported_when_they_are_first_used():
    code = "import sys, pacfourier; assert 'numpy' not in sys.modules; pacfourier.PBRFF"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_importing_the_package_needs_no_extra():
    code = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS})); import pacfourier"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("item", CALLABLES, ids=lambda item: item.__name__)
def test_every_parameter_is_documented_with_its_default(item):
    documented = inspect.getdoc(item)
    for name, parameter in inspect.signature(item).parameters.items():
        assert re.search(rf"^[\w, ]*\b{name}\b[\w, ]*( :|$)", documented, re.MULTILINE), name
        if parameter.default not in (inspect.Parameter.empty, None):
            default = str(parameter.default)
            assert f'default="{default}"' in documented or f"default={default}" in documented


def test_okrff_and_pbrff_share_their_defaults():
    first = inspect.signature(pacfourier.PBRFF).parameters
    second = inspect.signature(pacfourier.OKRFF).parameters
    shared = set(first) & set(second)
    assert len(shared) == len(first) - 1
    assert all(first[name].default == second[name].default for name in shared)
