"""Certified predictors for tables: files or data frames with numbers, categories, dates and text.

Public names are imported when they are first used: a prediction does not wait for what only a fit
needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pacfourier.extras import explain_missing_extra

if TYPE_CHECKING:
    from pacfourier.tabular.certifying import fresh_certificate
    from pacfourier.tabular.fitting import fit_table
    from pacfourier.tabular.model import FitSettings, TableFit, TableModel
    from pacfourier.tabular.model_files import load_model, save_model
    from pacfourier.tabular.reading.table_blocks import Reading
    from pacfourier.tabular.reading.table_files import open_table

__all__ = [
    "FitSettings",
    "Reading",
    "TableFit",
    "TableModel",
    "fit_table",
    "fresh_certificate",
    "load_model",
    "open_table",
    "save_model",
]

_HOMES = {
    "FitSettings": "model",
    "Reading": "reading.table_blocks",
    "TableFit": "model",
    "TableModel": "model",
    "fit_table": "fitting",
    "fresh_certificate": "certifying",
    "load_model": "model_files",
    "open_table": "reading.table_files",
    "save_model": "model_files",
}


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with explain_missing_extra():
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
