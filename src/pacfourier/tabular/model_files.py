"""Save and load models of tables. A file holds plain data only, and loading it runs no code."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pacfourier.errors import InputError
from pacfourier.tabular.columns import Columns
from pacfourier.tabular.encoding import Encoding
from pacfourier.tabular.fresh_rows import RowCounts
from pacfourier.tabular.model import TableModel
from pacfourier.tabular.plain_files import plain_bytes, plain_data
from pacfourier.tabular.predictor_data import predictor_data, predictor_of
from pacfourier.tabular.table_target import TableTarget

FORMAT = "pacfourier table 1"


def model_bytes(model: TableModel) -> bytes:
    """Return the content of the ``.skops`` file of a model."""
    return plain_bytes(
        {
            "format": FORMAT,
            "target": model.target.to_data(),
            "columns": model.columns.to_data(),
            "encoding": model.encoding.to_data(),
            "predictor": predictor_data(model.predictor),
            "record": model.record,
            "row counts": model.row_counts.to_data(),
        }
    )


def load_model(path: Path) -> TableModel:
    """Return the model in a ``.skops`` file that ``pacfourier fit`` wrote.

    Everything is checked before it is used: a file of any other content gives an error.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    model : TableModel
    """
    rule = f"model must be a file that 'pacfourier fit' wrote, got {str(path)!r}"
    if not path.is_file():
        raise InputError(f"{rule}: no such file.")
    try:
        return model_of(plain_data(path.read_bytes(), rule))
    except InputError as error:
        raise InputError(str(error) if rule in str(error) else f"{rule}: {error}") from None
    # Data of the wrong structure fails in many ways; to a user they all mean the same.
    except Exception as error:
        raise InputError(f"{rule}: {type(error).__name__}: {error}") from None


def model_of(data: Mapping[str, Any]) -> TableModel:
    """Return the model in plain data, after all checks."""
    if data["format"] != FORMAT:
        raise InputError(f"its format must be {FORMAT!r}, got {data['format']!r}.")
    target = TableTarget.from_data(data["target"])
    columns, encoding = Columns.from_data(data["columns"]), Encoding.from_data(data["encoding"])
    predictor = predictor_of(data["predictor"])
    check_parts(target, columns, encoding, predictor)
    counts = RowCounts.from_data(data["row counts"], len(encoding.names))
    return TableModel(target, columns, encoding, predictor, checked_record(data["record"]), counts)


def check_parts(target: TableTarget, columns: Columns, encoding: Encoding, predictor: Any) -> None:
    """Raise an error if the parts of a model do not fit together."""
    unknown = set(encoding.sources) - {column.name for column in columns.used}
    if unknown:
        raise InputError(f"its encoding must read columns of the table, got {sorted(unknown)}.")
    if predictor.n_features_in_ != len(encoding.names):
        raise InputError(
            f"its predictor must read {len(encoding.names)} numbers, got "
            f"{predictor.n_features_in_}."
        )
    classes = [str(name) for name in getattr(predictor, "classes_", ())]
    if classes != list(target.classes):
        raise InputError("its predictor must have the classes of its target.")


def checked_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a fit, after a check of what commands read from it."""
    texts = ("data", "date", "headline")
    is_right = (
        all(isinstance(record[name], str) for name in texts)
        and all(isinstance(note, str) for note in record["notes"])
        and all(isinstance(count, int) for count in record["class counts"])
        and all(isinstance(count, int) for count in record["rows"].values())
        and all(isinstance(each["error"], float) for each in record["results"])
    )
    if not is_right:
        raise InputError("its record must have the entries that a fit writes.")
    return dict(record)
