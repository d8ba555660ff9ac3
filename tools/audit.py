"""Check what the package trusts: its own sources, the licences and known flaws of what it installs.

``python tools/audit.py`` fails if a source file of the package uses pickle, eval or exec, or if an
installed distribution has a licence that is not known to be free. Known flaws are looked up with
pip-audit if that is installed and reaches its database; otherwise a line says that they were not.
"""

import ast
import importlib.util
import re
import subprocess
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src" / "pacfourier"
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FREE = re.compile(
    r"\b(MIT|BSD|Apache|PSF|Python|ISC|MPL|Mozilla|HPND|LGPL|Zlib|Unlicense|CC0|0BSD|NCSA|GPL|"
    r"public domain)",
    re.IGNORECASE,
)


def forbidden_uses(source: str) -> list[tuple[int, str]]:
    r"""Return the lines of a source that run code from data, and what they use.

    >>> forbidden_uses("import pickle\nmodel.eval()\neval('1')")
    [(1, 'pickle'), (3, 'eval')]
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(node.module or "").partition(".")[0]]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [(node.lineno, node.func.id)] if node.func.id in FORBIDDEN_CALLS else []
        found += [(node.lineno, name) for name in names if name in FORBIDDEN_MODULES]
    return sorted(found)


def licence_of(distribution: Distribution) -> str:
    """Return what a distribution says about its licence, or an empty text."""
    metadata = distribution.metadata
    classifiers = [each for each in metadata.get_all("Classifier", []) if "License" in each]
    texts = [metadata.get("License-Expression"), *classifiers, metadata.get("License")]
    files = [path for path in distribution.files or [] if "LICEN" in path.name.upper()]
    texts += [path.read_text()[:200] for path in files[:1]]
    return "; ".join(text for text in texts if text)


def known_flaws() -> tuple[bool, str]:
    """Return whether no known flaw was found, and a line that says so."""
    if importlib.util.find_spec("pip_audit") is None:
        return True, "not looked up: pip-audit is not installed"
    command = [sys.executable, "-m", "pip_audit", "--skip-editable", "--progress-spinner", "off"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode and "Found" not in found.stderr:
        return True, "not looked up: pip-audit did not reach its database"
    n_skipped = found.stdout.count("could not be audited")
    if found.returncode == 0 and n_skipped:
        return True, f"none found, but pip-audit could not look up {n_skipped} distributions"
    return found.returncode == 0, found.stdout.strip() or "none found"


def main() -> int:
    """Print the findings; return 1 if any of them is bad."""
    uses = [
        f"{path.relative_to(SOURCES.parents[1])}:{line}: {name}"
        for path in sorted(SOURCES.rglob("*.py"))
        for line, name in forbidden_uses(path.read_text("utf-8"))
    ]
    installed = list(distributions())
    unknown = [each.metadata["Name"] for each in installed if not FREE.search(licence_of(each))]
    has_no_flaws, flaws = known_flaws()
    print(f"sources that run code from data: {', '.join(uses) or 'none'}")
    print(f"licences: {len(installed)} distributions, unknown: {', '.join(unknown) or 'none'}")
    print(f"known flaws: {flaws}")
    return int(bool(uses or unknown) or not has_no_flaws)


if __name__ == "__main__":
    sys.exit(main())
