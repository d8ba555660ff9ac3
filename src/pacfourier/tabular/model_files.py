"""Save and load models: files are written completely or not at all, and loading runs no code."""

import os
import uuid
import zipfile
from pathlib import Path

import skops.io

from pacfourier.errors import InputError
from pacfourier.tabular.model import TabularModel
from pacfourier.trusted_files import trusted_object

# All types in a model, besides plain data.
TYPES = frozenset(
    {
        "pacfourier.core.alignment.sums.AlignmentSums",
        "pacfourier.core.prior.frequencies.FrequencyPool",
        "pacfourier.spectra.Mixture",
        "pacfourier.spectra.RBF",
        "pacfourier.core.alignment.summary.SampleSummary",
        "pacfourier.core.alignment.targets.BinaryTarget",
        "pacfourier.core.alignment.targets.ClassTarget",
        "pacfourier.estimators.pbrff.PBRFF",
        "pacfourier.tabular.columns.Columns",
        "pacfourier.tabular.model.TabularModel",
        "sklearn.compose._column_transformer.ColumnTransformer",
        "sklearn.impute._base.SimpleImputer",
        "sklearn.linear_model._logistic.LogisticRegression",
        "sklearn.pipeline.Pipeline",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.preprocessing._encoders.OneHotEncoder",
    }
)


def check_output(path: Path, suffix: str) -> None:
    """Raise an error if a file cannot be written there, before any work is done."""
    if not path.name.endswith(suffix):
        raise InputError(f"the output must end in {suffix}, got {str(path)!r}.")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"the output must be a file in a writable folder, got {str(path)!r}.")


def write_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all: an older file stays until the new one is complete."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"the output must be writable, got {str(path)!r}: {error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def save_model(model: TabularModel, path: Path) -> None:
    """Write a model to a ``.skops`` file."""
    write_file(path, skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED))


def load_model(path: Path) -> TabularModel:
    """Return the model in a ``.skops`` file; a file that holds other types gives an error.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    model : TabularModel
    """
    rule = "model must be a file that 'pacfourier fit' wrote"
    model = trusted_object(path, TYPES, rule)
    if not isinstance(model, TabularModel):
        raise InputError(f"{rule}, got {str(path)!r}: it holds a {type(model).__name__}.")
    return model
