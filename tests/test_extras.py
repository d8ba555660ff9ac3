"""A missing optional library: one line that names the extra, and no traceback."""

import subprocess
import sys

import pytest

from pacfourier.extras import _EXTRA_OF_LIBRARY, MissingExtraError, explain_missing_extra

# Runs a line of code in a process that cannot import a library.
WITHOUT = "import sys; sys.modules[{library!r}] = None; sys.argv[0] = 'pacfourier'; {code}"
RUN = "from pacfourier.__main__ import main; main()"


def skip_unless_others_are_installed(library):
    """Skip a test about one missing library where another one is missing too."""
    for other in ("typer", "rich", "pandas", "pyarrow", "skops", "matplotlib"):
        if other != library:
            pytest.importorskip(other)


def run_without(library, code, *arguments):
    command = [sys.executable, "-c", WITHOUT.format(library=library, code=code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def advice(library):
    extra = _EXTRA_OF_LIBRARY[library]
    return f'{library} is not installed: pip install "pacfourier[{extra}]"'


@pytest.mark.parametrize("library", _EXTRA_OF_LIBRARY)
def test_a_missing_library_is_named_with_its_extra(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError) as raised, explain_missing_extra():
        __import__(library)
    assert str(raised.value) == advice(library)
    assert raised.value.name == library


def test_a_missing_submodule_is_named_by_its_library():
    with pytest.raises(MissingExtraError, match=r"^dask is not"), explain_missing_extra():
        raise ModuleNotFoundError("no module", name="dask.array")


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("no module", name="numpy"), ModuleNotFoundError(), ValueError()]
)
def test_other_errors_are_not_changed(error):
    with pytest.raises(type(error)) as raised, explain_missing_extra():
        raise error
    assert raised.value is error


def test_an_explained_error_is_not_explained_again():
    error = MissingExtraError("a message of its own", name="pandas")
    with pytest.raises(MissingExtraError) as raised, explain_missing_extra():
        raise error
    assert raised.value is error


def test_libraries_that_are_installed_are_imported():
    pytest.importorskip("pandas")
    with explain_missing_extra():
        import pandas as pd
    assert pd.DataFrame({"a": [1]}).shape == (1, 1)


@pytest.mark.parametrize(
    ("library", "arguments"),
    [
        ("typer", ["--help"]),
        ("rich", ["--help"]),
        ("skops", ["fit", "data.csv", "--target", "kind"]),
        ("pandas", ["predict", "model.skops", "data.csv"]),
        ("pyarrow", ["fit", "data.csv", "--target", "kind"]),
        ("skrub", ["fit", "data.csv", "--target", "kind"]),
    ],
)
def test_the_command_says_what_to_install(library, arguments):
    if library != "typer":
        skip_unless_others_are_installed(library)
    result = run_without(library, RUN, *arguments)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == f"Error: {advice(library)}\n"


def test_the_command_works_with_its_libraries():
    skip_unless_others_are_installed(None)
    result = subprocess.run(
        [sys.executable, "-m", "pacfourier", "--help"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0
    assert "certify" in result.stdout


@pytest.mark.parametrize(
    ("library", "code"),
    [
        ("matplotlib", "from pacfourier.plots.axes import drawing_axes; drawing_axes(None)"),
        ("pandas", "from pacfourier.tabular import fit_table"),
        ("pyarrow", "from pacfourier.tabular import open_table"),
    ],
)  # fmt: skip
def test_modules_say_what_to_install(library, code):
    if library != "matplotlib":
        skip_unless_others_are_installed(library)
    result = run_without(library, code)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].endswith(f"MissingExtraError: {advice(library)}")


def test_the_package_itself_needs_no_extra():
    # Not torch: scipy itself looks into ``sys.modules`` for it.
    absent = sorted(set(_EXTRA_OF_LIBRARY) - {"torch"})
    code = f"sys.modules |= dict.fromkeys({absent}); import pacfourier, pacfourier.plots"
    result = run_without("typer", code)
    assert result.returncode == 0, result.stderr
