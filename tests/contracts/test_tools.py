import ast
import re
import subprocess
import textwrap
from pathlib import Path

import pytest
from tools import (
    audit,
    function_sizes,
    import_graph,
    oldest_versions,
    public_marks,
    site_links,
)


def package(folder, modules):
    """Write a package, given as sources by file, and return its graph."""
    for name, source in {"__init__": "", **modules}.items():
        path = folder / "pkg" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    return import_graph.package_graph(folder, "pkg")


@pytest.mark.parametrize(
    "source",
    [
        "import pkg.b",
        "from pkg import b",
        "from pkg.b import f",
        "from . import b",
        "from .b import f",
    ],
)
def test_every_form_of_import_is_an_arrow(tmp_path, source):
    graph = package(tmp_path, {"a": source, "b": "import numpy\ndef f(): pass"})
    assert graph == {"pkg": set(), "pkg.a": {"pkg.b"}, "pkg.b": set()}
    assert import_graph.cycles(graph) == []
    assert import_graph.layers(graph) == [["pkg.a"], ["pkg", "pkg.b"]]


def test_lazy_imports_close_a_cycle(tmp_path):
    graph = package(
        tmp_path,
        {"a": "import pkg.b", "b": "def f():\n    from pkg import c", "c": "import pkg.a"},
    )
    assert import_graph.cycles(graph) == [["pkg.a", "pkg.b", "pkg.c", "pkg.a"]]


def test_a_submodule_that_imports_from_its_package_closes_a_cycle(tmp_path):
    graph = package(
        tmp_path, {"__init__": "from pkg.a import f", "a": "def f():\n    from pkg import f"}
    )
    assert import_graph.cycles(graph) == [["pkg", "pkg.a", "pkg"]]


def test_folders_are_merged(tmp_path):
    empty = dict.fromkeys(("low/__init__", "low/a", "high/__init__"), "")
    graph = package(tmp_path, {**empty, "high/b": "import pkg.low.a"})
    merged = import_graph.folder_graph(graph)
    assert merged == {"pkg": set(), "pkg.low": set(), "pkg.high": {"pkg.low"}}


def test_the_graph_of_the_package_has_every_module():
    graph = import_graph.package_graph()
    assert "pacfourier.spectra" in graph["pacfourier"]
    assert set().union(*graph.values()) <= graph.keys()


@pytest.mark.parametrize(
    ("sources", "wrong"),
    [
        ({"a": "def f(): pass"}, ["pkg.a.f is public, but not used elsewhere"]),
        ({"a": "SIZE: int = 3"}, ["pkg.a.SIZE is public, but not used elsewhere"]),
        ({"a": "def _f(): pass", "b": "from pkg.a import _f"}, ["pkg.a._f is private, but used"]),
        (
            {"a": "def _f(): pass", "b": "from pkg import a\na._f()"},
            ["pkg.a._f is private, but used"],
        ),
        ({"a": "def f(): pass\ndef _g(): f()", "b": "from pkg.a import f"}, []),
        ({"a": "class A: pass", "__init__": "from pkg.a import A"}, []),
        ({"a": "@app.command()\ndef fit(): pass"}, []),
    ],
)
def test_marks_say_whether_a_name_is_used_elsewhere(tmp_path, sources, wrong):
    package(tmp_path, sources)
    found = public_marks.wrong_marks(tmp_path, "pkg")
    assert len(found) == len(wrong)
    assert all(line.startswith(start) for line, start in zip(found, wrong, strict=True))


def test_sizes_do_not_count_docstrings_and_self():
    source = """
        class A:
            def f(self, a, /, b, *, c):
                '''One.

                Two.
                '''
                x = a
                return x

            @staticmethod
            def g(a): pass

        async def h():
            '''Nothing else.'''
    """
    found = {
        name: (function_sizes.body_lines(function), function_sizes.n_positional(function, method))
        for name, function, method in function_sizes.functions(ast.parse(textwrap.dedent(source)))
    }
    assert found == {"A.f": (2, 2), "A.g": (1, 1), "h": (0, 0)}


def test_faults_of_size_name_function_and_value(tmp_path):
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "m.py").write_text("def f(a, b, c, d, e, f, g):\n" + "    a = 1\n" * 61)
    lines, positional = function_sizes.faults(tmp_path)
    assert lines == "core/m.py:1: f must have at most 60 lines, got 61"
    assert positional.startswith("core/m.py:1: f must have at most 6 positional parameters, got 7")


def test_oldest_versions_are_the_lower_bounds():
    assert oldest_versions.oldest_versions(["numpy>=2.0", "scikit-learn>=1.6"]) == [
        "numpy==2.0",
        "scikit-learn==1.6",
    ]
    with pytest.raises(SystemExit, match="name>=version"):
        oldest_versions.oldest_versions(["numpy"])


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pickle", ["pickle"]),
        ("from dill import load", ["dill"]),
        ("def f():\n    import marshal as m", ["marshal"]),
        ("eval('1')\nexec('2')", ["eval", "exec"]),
        ("model.eval()\nre.compile('a')\nimport pickles", []),
    ],
)
def test_sources_that_run_code_from_data_are_found(source, found):
    assert [name for _, name in audit.forbidden_uses(source)] == found


def test_no_source_of_the_package_runs_code_from_data():
    sources = [path.read_text("utf-8") for path in audit.SOURCES.rglob("*.py")]
    assert len(sources) > 100
    assert not any(map(audit.forbidden_uses, sources))


@pytest.mark.parametrize(
    ("returned", "output", "errors", "expected"),
    [
        (0, "", "No known vulnerabilities found", (True, "none found")),
        (0, "numpy could not be audited", "", (True, "could not look up 1 distributions")),
        (1, "numpy 1.0 CVE-1", "Found 1 known vulnerability", (False, "numpy 1.0 CVE-1")),
        (1, "", "ConnectionError", (True, "did not reach its database")),
    ],
)
def test_the_audit_says_what_was_looked_up(returned, output, errors, expected, monkeypatch):
    result = subprocess.CompletedProcess([], returned, output, errors)
    monkeypatch.setattr(audit.importlib.util, "find_spec", lambda name: name)
    monkeypatch.setattr(audit.subprocess, "run", lambda *_, **__: result)
    has_no_flaws, line = audit.known_flaws()
    assert has_no_flaws == expected[0]
    assert expected[1] in line


def test_the_lock_names_one_version_of_every_dependency():
    root = Path(audit.__file__).parents[1]
    lines = (root / "requirements" / "test.lock").read_text().splitlines()
    locked = [re.fullmatch(r"([\w.-]+)==([\w.+!]+)", line).group(1).lower() for line in lines]
    assert len(set(locked)) == len(locked)
    assert {"numpy", "scipy", "scikit-learn", "numba", "threadpoolctl", "skops"} <= set(locked)
    assert "--constraint requirements/test.lock" in (root / "Makefile").read_text()


def test_pages_of_the_site_load_nothing_from_outside_and_link_to_files(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#top">b</a> <a href="https://example.org">e</a>'
    )
    (tmp_path / "b.html").write_text('<img src="data:image/png;base64,AA=="> <a href="#top">up</a>')
    assert list(site_links.faults(tmp_path)) == []
    (tmp_path / "b.html").write_text(
        '<script src="https://example.org/x.js"></script> <link rel="stylesheet" href="//a.org/s">'
        "<style>@font-face { src: url(https://b.org/f.woff) }</style> <a href=c.html>gone</a>"
    )
    (tmp_path / "s.css").write_text('@import "https://c.org/t.css";')
    assert list(site_links.faults(tmp_path)) == [
        "b.html: loads https://example.org/x.js",
        "b.html: loads //a.org/s",
        "b.html: loads https://b.org/f.woff",
        "b.html: no file c.html",
        "s.css: loads https://c.org/t.css",
    ]
