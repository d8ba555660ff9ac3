"""Save and load models: files are written completely or not at all, and loading runs no code."""

import os
import uuid
import zipfile
from pathlib import Path

import skops.io

from pacfourier.errors import InputError, listed
from pacfourier.tabular.model import TabularModel

# The types in a model that skops does not trust by itself. The dtype is one that an imputer stores;
# it only names a kind of number, so loading it runs no code.
TRUSTED = frozenset(
    {
        "numpy.dtype",
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
    rule = f"model must be a file that 'pacfourier fit' wrote, got {str(path)!r}"
    if not path.is_file():
        raise InputError(f"{rule}: no such file.")
    try:
        data = path.read_bytes()
        foreign = sorted(set(skops.io.get_untrusted_types(data=data)) - TRUSTED)
        model = None if foreign else skops.io.loads(data, trusted=sorted(TRUSTED))
    # skops raises many kinds of errors on a damaged file; to a user they all mean the same.
    except Exception as error:
        raise InputError(f"{rule}: {type(error).__name__}: {error}") from None
    if foreign:
        raise InputError(f"{rule}: it holds types that no model has, {listed(foreign)}.")
    if not isinstance(model, TabularModel):
        raise InputError(f"{rule}: it holds a {type(model).__name__}.")
    return model
