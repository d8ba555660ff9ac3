"""Models as files: written whole or not at all, read without running what they hold."""

import os
import uuid
import zipfile

import skops.io

from pacfourier.errors import InputError, listed
from pacfourier.tabular.model import TabularModel

# What a model is made of besides what skops trusts of scikit-learn and numpy. A dtype, of which
# an imputer remembers one, is a name of numbers: nothing runs when it is made.
TRUSTED = frozenset(
    {
        "numpy.dtype",
        "pacfourier.core.alignment.sums.AlignmentSums",
        "pacfourier.core.prior.frequencies.FrequencyPool",
        "pacfourier.spectra.Mixture",
        "pacfourier.spectra.RBF",
        "pacfourier.core.alignment.summary.SampleSummary",
        "pacfourier.core.alignment.targets.ClassTarget",
        "pacfourier.estimators.pbrff.PBRFF",
        "pacfourier.tabular.columns.Columns",
        "pacfourier.tabular.model.TabularModel",
    }
)


def check_output(path, suffix):
    """Refuse a place where a file cannot be written, before any work is done."""
    if not path.name.endswith(suffix):
        raise InputError(f"the output must end in {suffix}, got {str(path)!r}.")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"the output must be a file in a writable folder, got {str(path)!r}.")


def write_file(path, data):
    """Write bytes to a file, whole or not at all: what was there before stays until the end."""
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


def save_model(model, path):
    """Write a model to a ``.skops`` file."""
    write_file(path, skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED))


def load_model(path):
    """Return the model in a ``.skops`` file; one that holds any other type is refused.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    model : TabularModel
    """
    refusal = f"model must be a file that 'pacfourier fit' wrote, got {str(path)!r}"
    if not path.is_file():
        raise InputError(f"{refusal}: no such file.")
    try:
        data = path.read_bytes()
        foreign = sorted(set(skops.io.get_untrusted_types(data=data)) - TRUSTED)
        model = None if foreign else skops.io.loads(data, trusted=sorted(TRUSTED))
    # A broken file breaks skops in many ways, none of which a user can tell apart.
    except Exception as error:
        raise InputError(f"{refusal}: {type(error).__name__}: {error}") from None
    if foreign:
        raise InputError(f"{refusal}: it holds the foreign types {listed(foreign)}.")
    if not isinstance(model, TabularModel):
        raise InputError(f"{refusal}: it holds a {type(model).__name__}.")
    return model
