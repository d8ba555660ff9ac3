"""Public names with their signatures: ``python -m tests.goldens.names`` writes them anew.

A line has no types, whose text depends on the versions of Python and NumPy, and a class shows only
the methods that this package defines.
"""

import inspect
from importlib import import_module
from pathlib import Path

FILE = Path(__file__).parent / "public_names.txt"
# A module of public names lists them in ``__all__``.
MODULES = (
    "pacfourier",
    "pacfourier.bounds",
    "pacfourier.export",
    "pacfourier.plots",
    "pacfourier.spectra",
    "pacfourier.tabular",
)


class Name(str):
    """A text that is shown without quotes."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


def shown(default):
    """Return a default, or the name of a function or class, whose text would have an address."""
    is_named = is_called(default) and default is not inspect.Parameter.empty
    return Name(default.__name__) if is_named else default


def signature(function):
    """Return names and defaults of parameters, such as ``(X, y=None)``."""
    found = inspect.signature(function)
    plain = [
        each.replace(annotation=each.empty, default=shown(each.default))
        for each in found.parameters.values()
    ]
    return str(found.replace(parameters=plain, return_annotation=found.empty))


def is_called(value):
    """Return whether a value is a function or class, not an object or a type for annotations."""
    return inspect.isfunction(value) or inspect.isclass(value)


def member_lines(name, kind, public):
    """Return a line for each method and property that no other public class has defined."""
    for member in sorted(each for each in dir(kind) if not each.startswith("_")):
        owner = next(each for each in kind.__mro__ if member in vars(each))
        is_ours = owner.__module__.startswith("pacfourier")
        if not is_ours or (owner is not kind and owner in public):
            continue
        value = vars(owner)[member]
        if isinstance(value, property):
            yield f"{name}.{member} property"
        elif inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
            yield f"{name}.{member}{signature(getattr(kind, member))}"


def names_of(module):
    """Return the lines of a module."""
    found = import_module(module)
    values = {name: getattr(found, name) for name in sorted(found.__all__)}
    public = [value for value in values.values() if inspect.isclass(value)]
    lines = []
    for name, value in values.items():
        full = f"{module}.{name}"
        lines.append(f"{full}{signature(value)}" if is_called(value) else full)
        if inspect.isclass(value):
            lines.extend(member_lines(full, value, public))
    return lines


if __name__ == "__main__":
    FILE.write_text("\n".join(line for each in MODULES for line in names_of(each)) + "\n", "utf-8")
