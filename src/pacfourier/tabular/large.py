"""Certified classifiers for Parquet files larger than memory, which are read in several passes."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyarrow import ArrowException, parquet
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from pacfourier.data.batches import fit_batches
from pacfourier.data.parquet import column_names, parquet_batches
from pacfourier.errors import InputError
from pacfourier.pacbayes.assumptions import Ties
from pacfourier.tabular.class_labels import (
    MOST_CLASSES,
    check_classes,
    check_drop,
    check_target_column,
    table_labels,
)
from pacfourier.tabular.columns import Columns, column_encoder, table_columns, unread_notes
from pacfourier.tabular.fresh_rows import bucket_counts, n_buckets
from pacfourier.tabular.model import (
    FEWEST_ROWS,
    N_FOLDS,
    TableSplit,
    TabularModel,
    check_binary,
    check_epsilon,
    check_ties,
    check_training_classes,
    confusion,
    finished_model,
    random_split,
    trained_classifier,
    untrained_features,
)
from pacfourier.tabular.table_files import check_names, parquet_errors

# Tables that need more memory than this are read in passes.
LARGE_BYTES = 2**30
# The size of a row is estimated from the first rows of groups that are spread over the file.
SAMPLED_ROWS, SAMPLED_GROUPS = 100, 10
BATCH_ROWS = 65536
# The most rows in memory at once: to fit the encoder, and to fit the linear classifier.
MOST_PREPROCESSING, MOST_CLASSIFIER = 100_000, 50_000
# All columns are read three times: to choose rows, to learn the map and to count errors.
N_PASSES = 3

Advance = Callable[[int], object]


def is_large(path: Path) -> bool:
    """Return whether a file is a Parquet table that needs too much memory to be read at once."""
    try:
        file = parquet.ParquetFile(path, memory_map=True)
    # ``read_table`` handles files that are not Parquet.
    except (OSError, ArrowException):
        return False
    with file, parquet_errors(path):
        return _bytes_in_memory(file) > LARGE_BYTES


def _bytes_in_memory(file: parquet.ParquetFile) -> float:
    """Estimate the memory of a table in pandas, which can be far more than the size of the file."""
    n_bytes, n_rows = 0, 0
    for group in range(0, file.num_row_groups, max(1, file.num_row_groups // SAMPLED_GROUPS)):
        # A group may have no rows, and then no batch.
        for batch in islice(file.iter_batches(SAMPLED_ROWS, row_groups=[group]), 1):
            n_bytes += sum(_column_bytes(column) for _, column in batch.to_pandas().items())
            n_rows += batch.num_rows
    return file.metadata.num_rows * n_bytes / max(1, n_rows)


def _column_bytes(column: pd.Series) -> int:
    # The texts of a categorical column are stored once, whatever the number of rows.
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.nbytes
    return column.memory_usage(index=False, deep=True)


def n_rows_to_read(path: Path) -> int:
    """Return how many rows ``fit_file`` reads in all its passes together."""
    return N_PASSES * parquet.read_metadata(path).num_rows


def fit_file(
    path: Path,
    target_column: str,
    *,
    drop: Sequence[str] = (),
    binary: bool = False,
    ties: Ties = None,
    n_frequencies: int = 100,
    epsilon: float = 0.05,
    seed: int = 0,
    advance: Advance | None = None,
) -> TabularModel:
    """Train a certified classifier on a Parquet file, in bounded memory.

    The model is that of ``fit_table``, with two differences. At most 100,000 preprocessing rows
    are used. The linear classifier is fitted on 50,000 training rows, drawn at random, and on at
    least five rows of each class. The map and its certificate use all training rows, and the bound
    on the error uses all held-out rows. The memory is 10 bytes per row of the file.

    Parameters
    ----------
    path : pathlib.Path
    target_column, drop, binary, ties, n_frequencies, epsilon, seed
        As in ``fit_table``.
    advance : callable, default=None
        Called with the number of rows of every batch that was read.

    Returns
    -------
    model : TabularModel
    """
    started = time.perf_counter()
    check_epsilon(epsilon)
    check_ties(ties)
    file = SplitFile(path, target_column, seed, advance)
    check_drop(drop, file.batches.columns)
    classes, examples = file.checked_classes()
    check_binary(binary, classes)
    preprocessing, training = file.chosen_rows(examples)
    columns = table_columns(preprocessing.drop(columns=target_column).sort_index(), drop)
    encoder = column_encoder(columns).fit(columns.values(preprocessing))
    rows = TrainingBatches(file, columns, encoder)
    features = untrained_features(binary, n_frequencies, seed)
    fit_batches(features, iter(rows), classes=classes)
    mapped = features.transform(encoder.transform(columns.values(training)))
    classifier = trained_classifier(mapped, table_labels(training, target_column), seed)
    pipeline = Pipeline([("columns", encoder), ("features", features), ("classifier", classifier)])
    facts = {"target_column": target_column, "epsilon": epsilon, "seed": seed, "ties": ties}
    facts |= {"confusion": _held_out_confusion(file, columns, pipeline).tolist()}
    facts |= {"notes": [*_limits(file.split), *unread_notes(rows.unread)]}
    return finished_model(columns, pipeline, file.split, rows.counts, started, facts)


def _limits(split: TableSplit) -> list[str]:
    """Return one note per part of the table that was too large to be used completely."""
    uses = [
        ("columns are preprocessed with", MOST_PREPROCESSING, len(split.preprocessing)),
        ("the classifier is fitted on", MOST_CLASSIFIER, len(split.training)),
    ]
    return [f"{use} about {most:,} of {n:,} rows." for use, most, n in uses if n > most]


class SplitFile:
    """A Parquet file with its rows split three ways, read batch by batch.

    Parameters
    ----------
    path : pathlib.Path
    target_column : str
    seed : int
        Seed of the split.
    advance : callable or None
        Called with the number of rows of every batch that was read.
    """

    def __init__(self, path: Path, target_column: str, seed: int, advance: Advance | None) -> None:
        with parquet_errors(path):
            names = column_names(parquet.read_schema(path))
        check_names(names)
        check_target_column(target_column, names)
        self.path, self.target_column, self.advance = path, target_column, advance
        self.batches: Any = parquet_batches(path, target_column, batch_size=BATCH_ROWS)
        self.n_rows = self.batches.dataset.count_rows()
        if self.n_rows < FEWEST_ROWS:
            raise InputError(f"data must have {FEWEST_ROWS} rows or more, got {self.n_rows}.")
        self.split = random_split(self.n_rows, seed)
        self._part_of = np.empty(self.n_rows, dtype=np.int8)
        for number, part in enumerate(self.split):
            self._part_of[part] = number

    def is_in(self, part: str, rows: slice) -> np.ndarray:
        """Return which of some rows belong to a part, by its name in ``TableSplit``."""
        return self._part_of[rows] == TableSplit._fields.index(part)

    def tables(self) -> Iterator[tuple[slice, pd.DataFrame]]:
        """Yield all columns of the rows, batch by batch, with the positions of the rows."""
        for rows, table in self._positioned(self.batches.names):
            yield rows, table
            if self.advance:
                self.advance(len(table))

    def checked_classes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes, and the positions of the first training rows of each class.

        Only the target column is read.
        """
        counts: Counter[str] = Counter()
        examples = pd.Series(dtype=str)
        for rows, table in self._positioned([self.target_column]):
            labels = table_labels(table, self.target_column)
            counts.update(labels.tolist())
            found = pd.Series(labels, index=table.index)[self.is_in("training", rows)]
            examples = _first_of_each(pd.concat([examples, found]))
            # So many classes are an error in any case: stop before they fill the memory.
            if len(counts) > MOST_CLASSES:
                break
        classes = np.array(sorted(counts))
        check_classes(classes, self.target_column)
        check_training_classes(Counter(examples), classes, self.target_column)
        return classes, examples.index.to_numpy()

    def chosen_rows(self, examples: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return preprocessing rows and training rows, as many as may be in memory.

        The training rows include the examples, so that the classifier knows every class.
        """
        training = self.split.training[:MOST_CLASSIFIER]
        training = np.append(training, np.setdiff1d(examples, training))
        preprocessing = self.split.preprocessing[:MOST_PREPROCESSING]
        is_wanted = np.zeros(self.n_rows, dtype=bool)
        is_wanted[np.concatenate([preprocessing, training])] = True
        chosen = pd.concat([table[is_wanted[rows]] for rows, table in self.tables()])
        return chosen.loc[preprocessing], chosen.loc[training]

    def _positioned(self, columns: list[str]) -> Iterator[tuple[slice, pd.DataFrame]]:
        start = 0
        with parquet_errors(self.path):
            for table in self.batches.tables(columns):
                table.index = range(start, start + len(table))
                yield slice(start, start + len(table)), table
                start += len(table)


class TrainingBatches:
    """The encoded training rows of a file, in one pass that also looks at all other rows.

    Attributes
    ----------
    counts : array of shape (n_buckets,)
        How many rows of the file fall into each bucket; complete after the pass.
    unread : Counter
        How many values of each column of numbers are not numbers.
    """

    def __init__(self, file: SplitFile, columns: Columns, encoder: ColumnTransformer) -> None:
        self.file, self.columns, self.encoder = file, columns, encoder
        self.counts = np.zeros(n_buckets(file.n_rows), dtype=int)
        self.unread: Counter[str] = Counter()

    def __iter__(self) -> Iterator[tuple[Any, np.ndarray]]:
        for rows, table in self.file.tables():
            encoded = self.encoder.transform(self.columns.values(table))
            labels = table_labels(table, self.file.target_column)
            self.counts += bucket_counts(encoded, labels, len(self.counts))
            self.unread.update(self.columns.unread(table))
            chosen = self.file.is_in("training", rows)
            yield encoded[chosen], labels[chosen]


def _held_out_confusion(file: SplitFile, columns: Columns, pipeline: Pipeline) -> np.ndarray:
    total = np.zeros((len(pipeline.classes_),) * 2, dtype=int)
    for rows, table in file.tables():
        held_out = table[file.is_in("held_out", rows)]
        if len(held_out):
            labels = table_labels(held_out, file.target_column)
            total += confusion(pipeline, columns.values(held_out), labels)
    return total


def _first_of_each(labels: pd.Series) -> pd.Series:
    return labels.groupby(labels).head(N_FOLDS)
