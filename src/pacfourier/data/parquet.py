"""Batches of Parquet files, read one group of rows at a time."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

from pacfourier.extras import explain_missing_extra


def parquet_batches(
    source: Any, target_column: str, *, columns: list[str] | None = None, batch_size: int = 65536
) -> "_ParquetBatches":
    """Return batches of Parquet files, a folder of them or an Arrow dataset, for ``fit_batches``.

    Parquet files are read one group of rows at a time, so memory stays small.

    Parameters
    ----------
    source : str, pathlib.Path, list of them or pyarrow.dataset.Dataset
    target_column : str
        Name of the column that holds the labels.
    columns : list of str, default=None
        Names of the input columns. None means all columns except the target.
    batch_size : int, default=65536
        Largest number of rows of a batch.

    Returns
    -------
    batches : ParquetBatches
        Tables of inputs with their labels. The files are read again in each pass.
    """
    return _ParquetBatches(source, target_column, columns, batch_size)


class _ParquetBatches:
    """Batches of an Arrow dataset; only the columns in use are read."""

    def __init__(
        self, source: Any, target_column: str, columns: list[str] | None, batch_size: int
    ) -> None:
        with explain_missing_extra():
            from pyarrow import dataset

        is_open = isinstance(source, dataset.Dataset)
        self.dataset = source if is_open else dataset.dataset(source, format="parquet")
        self.names = _column_names(self.dataset.schema)
        self.target_column = target_column
        self.columns = _input_columns(columns, target_column, self.names)
        if not isinstance(batch_size, Integral) or batch_size < 1:
            raise ValueError(f"batch_size must be a positive integer, got {batch_size!r}.")
        self.batch_size: int = batch_size

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for table in self.tables([*self.columns, self.target_column]):
            yield table[self.columns], table[self.target_column]

    def labels(self) -> Iterator[Any]:
        """Yield the labels alone, batch by batch."""
        for table in self.tables([self.target_column]):
            yield table[self.target_column]

    def tables(self, columns: list[str]) -> Iterator[Any]:
        """Yield some columns of the dataset, batch by batch."""
        # The schema of the whole dataset, because one file may lack columns or have other types.
        scan = {"schema": self.dataset.schema, "columns": columns, "batch_size": self.batch_size}
        scan |= {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
        for fragment in self.dataset.get_fragments():
            # Arrow would read ahead over the whole file, so it gets one group of rows at a time.
            has_groups = hasattr(fragment, "split_by_row_group")
            for group in fragment.split_by_row_group() if has_groups else [fragment]:
                for batch in group.to_batches(**scan):
                    yield batch.to_pandas(ignore_metadata=True)


def _input_columns(columns: list[str] | None, target_column: str, names: list[str]) -> list[str]:
    """Return the names of the input columns, after checking that these and the target exist."""
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names, got {columns!r}.")
    inputs = [name for name in names if name != target_column] if columns is None else list(columns)
    missing = [name for name in (target_column, *inputs) if name not in names]
    if missing:
        raise ValueError(f"columns and target_column must be among {names}, got {missing}.")
    if target_column in inputs:
        raise ValueError(f"columns must not contain target_column, got {target_column!r} in both.")
    return inputs


def _column_names(schema: Any) -> list[str]:
    """Return the names of the columns, without those that hold the index of a pandas table."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return [name for name in schema.names if name not in index]
