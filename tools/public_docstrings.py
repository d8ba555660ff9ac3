"""Fail on public functions, classes and methods whose docstring is incomplete.

numpydoc finds what is missing: parameters that are not documented, unknown or in another order,
and return values that are not documented. The rules for the form of all docstrings, public or not,
are in ``[tool.numpydoc_validation]`` of pyproject.toml.
"""

import dataclasses
import importlib
import inspect
import sys
from collections import Counter

from numpydoc.validate import validate

MODULES = (
    "pacfourier",
    "pacfourier.bounds",
    "pacfourier.export",
    "pacfourier.spectra",
    "pacfourier.plots",
)
CHECKS = ("GL08", "PR01", "PR02", "PR03", "RT01", "YD01")


def public_objects():
    """Yield the full name and the object of everything public that has a docstring."""
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            member = getattr(module, name)
            if callable(member):
                yield f"{member.__module__}.{member.__qualname__}", member
            if inspect.isclass(member):
                yield from public_methods(member)


def public_methods(cls):
    """Yield the public methods and properties of a class, where this package first defines them.

    A method that replaces one of a base class keeps its contract and need not repeat it.
    """
    seen = set()
    for base in reversed(cls.__mro__):
        new = [name for name in vars(base) if not name.startswith("_") and name not in seen]
        seen.update(new)
        if base.__module__.startswith("pacfourier"):
            for name in new:
                if is_documented_here(vars(base)[name]):
                    yield f"{base.__module__}.{base.__qualname__}.{name}", vars(base)[name]


def is_documented_here(member):
    """Return whether a member of a class is a method or a property."""
    kinds = (property, classmethod, staticmethod)
    return inspect.isfunction(member) or isinstance(member, kinds)


def faults(name, member):
    """Return what numpydoc finds wrong in one docstring, as pairs of code and message."""
    checks = set(CHECKS)
    if inspect.isclass(member) or isinstance(member, property):
        checks.discard("RT01")
    if dataclasses.is_dataclass(member) and "Attributes\n" in inspect.getdoc(member):
        # The parameters of a data class are its attributes: documented once.
        checks.discard("PR01")
    return [(code, text) for code, text in validate(name)["errors"] if code in checks]


def main():
    """Print all faults and their number; return the exit status."""
    objects = dict(public_objects())
    found = [(name, *fault) for name, member in objects.items() for fault in faults(name, member)]
    for name, code, text in found:
        print(f"{name}: {code} {text}")
    counts = Counter(code for _, code, _ in found)
    print(f"{len(objects)} public objects, {len(found)} faults {dict(sorted(counts.items()))}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
