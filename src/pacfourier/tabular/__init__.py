"""Certified classifiers for tables: CSV or Parquet files with numbers and categories."""

from pacfourier.errors import InputError
from pacfourier.extras import explain_missing_extra

# Every module of this package is imported after this one, so all are covered.
with explain_missing_extra():
    from pacfourier.tabular.facts import certificate_facts, error_facts, fit_facts
    from pacfourier.tabular.large import fit_file, is_large, n_rows_to_read
    from pacfourier.tabular.model import ObservedError, TabularModel, fit_table
    from pacfourier.tabular.model_files import check_output, load_model, save_model, write_file
    from pacfourier.tabular.table_files import read_table, with_columns

__all__ = [
    "InputError",
    "ObservedError",
    "TabularModel",
    "certificate_facts",
    "check_output",
    "error_facts",
    "fit_facts",
    "fit_file",
    "fit_table",
    "is_large",
    "load_model",
    "n_rows_to_read",
    "read_table",
    "save_model",
    "with_columns",
    "write_file",
]
