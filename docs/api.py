"""Write the list of all public names: ``python docs/api.py > docs/api.md``."""

import inspect
import re
import sys

import typer
from sklearn.base import BaseEstimator, TransformerMixin

import pacfourier
from pacfourier import bounds, cli, datasets, export, plots, spectra, tabular
from pacfourier.bounds import printed

MODULES = {
    "pacfourier": (pacfourier, "Estimators, functions of losses, and reading data in batches."),
    "pacfourier.spectra": (spectra, "Kernels with their Fourier transforms, for `kernel=`."),
    "pacfourier.bounds": (bounds, "PAC-Bayes bounds as functions of numbers."),
    "pacfourier.bounds.printed": (
        printed,
        "The paper's bounds as printed, for comparison only: see [Errata](errata.md).",
    ),
    "pacfourier.export": (export, "Fitted predictors outside of Python: see [Export](export.md)."),
    "pacfourier.tabular": (tabular, "Your own table, in Python: see [Tables](tables.md)."),
    "pacfourier.plots": (plots, "Figures of fitted estimators. They need matplotlib."),
    "pacfourier.datasets": (datasets, "The data sets of the paper."),
}
HEAD = """# Public names

Look up here what the library offers: every public name with the first line of its docstring and
its parameters. `help(name)` shows the full documentation, with examples. For estimators, the list
names the methods that other scikit-learn transformers do not have. `docs/api.py` writes this page.
"""


def page():
    """Return the page, in Markdown."""
    parts = [HEAD]
    for name, (module, purpose) in MODULES.items():
        parts += [f"## {name}\n", f"{purpose}\n"]
        parts += [entry(each, getattr(module, each)) for each in listed(module)]
        parts.append("")
    parts += ["## Command line\n", "`pacfourier COMMAND --help` explains every option.\n"]
    parts += [command_entry(name, each) for name, each in commands().items()]
    return "\n".join(parts).rstrip() + "\n"


def listed(module):
    """Return the public names of a module, without the modules among them."""
    return [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]


def entry(name, member):
    """Return the list item of a name: first line, special methods, parameters without types."""
    if not callable(member):
        return item(name, f"Constant: {', '.join(f'`{value!r}`' for value in member)}.")
    methods = ", ".join(f"`{method}`" for method in own_methods(member))
    more = f" Methods: {methods}." if methods else ""
    return item(name, first_line(member) + more, f"{name}{plain_signature(member)}")


def item(name, summary, usage=None):
    """Return a list item, with the usage on a line of its own."""
    return f"- **`{name}`**: {summary}" + (f"\\\n  `{usage}`" if usage else "")


def first_line(member):
    """Return the first line of a docstring, with its markup turned into Markdown."""
    line = inspect.getdoc(member).splitlines()[0].replace("``", "`")
    return re.sub(r":\w+:(?=`)", "", line)


def plain_signature(member):
    """Return the parameters with their defaults, without types."""
    signature = inspect.signature(member)
    parameters = [
        each.replace(annotation=each.empty, default=shown(each.default))
        for each in signature.parameters.values()
    ]
    return signature.replace(parameters=parameters, return_annotation=signature.empty)


def shown(default):
    """Return a default value, with functions and classes replaced by their names."""
    is_named = inspect.isfunction(default) or inspect.isclass(default)
    return Named(default) if is_named and default is not inspect.Parameter.empty else default


class Named:
    """A function or a class as a default value. It is printed as its name."""

    def __init__(self, member):
        self.member = member

    def __repr__(self):
        return self.member.__name__


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


def commands():
    """Return the subcommands of the program ``pacfourier`` by name."""
    return typer.main.get_command(cli.app).commands


def command_entry(name, command):
    """Return the list item of a command: its arguments, options and first line of help."""
    usage = " ".join(usage_word(parameter) for parameter in command.params)
    return item(name, command.help.splitlines()[0], f"pacfourier {name} {usage}")


def usage_word(parameter):
    """Return an argument or an option as usage lines show it: brackets mean optional."""
    if parameter.param_type_name == "argument":
        word = parameter.name.upper()
    else:
        value = "" if parameter.is_flag else f" {parameter.name.upper()}"
        word = parameter.opts[0] + value
    return word if parameter.required else f"[{word}]"


if __name__ == "__main__":
    sys.stdout.write(page())
