"""A certified classifier from one's own table: CSV or Parquet, numbers and categories."""

from pacfourier.errors import InputError
from pacfourier.tabular.facts import certificate_facts, error_facts, fit_facts
from pacfourier.tabular.large import fit_file, is_large, n_rows_to_read
from pacfourier.tabular.model import ObservedError, TabularModel, fit_table
from pacfourier.tabular.model_files import check_output, load_model, save_model, write_file
from pacfourier.tabular.table_files import read_table

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
    "write_file",
]
