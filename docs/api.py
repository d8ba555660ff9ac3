"""Write the page of all public names: ``python docs/api.py > docs/api.md``."""

import inspect
import sys

from sklearn.base import BaseEstimator, TransformerMixin

import pacfourier
from pacfourier import bounds, plots, spectra

MODULES = {
    "pacfourier": pacfourier,
    "pacfourier.bounds": bounds,
    "pacfourier.spectra": spectra,
    "pacfourier.plots": plots,
}
HEAD = """# Public names

With their parameters and first sentences; `help(name)` has the rest, with examples. Methods are
named where scikit-learn's transformers do not have them. Written by `docs/api.py`.
"""


def page():
    """Return the page, in Markdown."""
    parts = [HEAD]
    for module, content in MODULES.items():
        parts.append(f"## {module}\n")
        members = [(name, getattr(content, name)) for name in content.__all__]
        parts += [entry(name, member) for name, member in members if callable(member)]
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def entry(name, member):
    """Return an item of a list: name, parameters without their types, first sentence, methods."""
    summary = inspect.getdoc(member).splitlines()[0].replace(":math:", "")
    methods = ", ".join(f"`{method}`" for method in own_methods(member))
    more = f" Methods: {methods}." if methods else ""
    return f"- `{name}{plain_signature(member)}` {summary}{more}"


def plain_signature(member):
    """Return the parameters with their defaults, without types."""
    signature = inspect.signature(member)
    parameters = [
        each.replace(annotation=each.empty, default=shown(each.default))
        for each in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters, return_annotation=signature.empty)


def shown(default):
    """Return a default value as it shall show."""
    return Named(default) if inspect.isfunction(default) else default


class Named:
    """A function as a default value: it shows as its name."""

    def __init__(self, function):
        self.function = function

    def __repr__(self):
        return self.function.__name__


def own_methods(member):
    """Return the public methods of an estimator that not every transformer has."""
    if not hasattr(member, "fit"):
        return []
    known = {*dir(TransformerMixin), *dir(BaseEstimator), "fit", "transform"}
    return [
        name
        for name in dir(member)
        if not name.startswith(("_", "set_", "get_feature")) and name not in known
    ]


if __name__ == "__main__":
    sys.stdout.write(page())
