"""Tables larger than memory: the same model, from a Parquet file that is read in passes."""

import time
from collections import Counter
from itertools import islice

import numpy as np
import pandas as pd
from pyarrow import ArrowException, parquet
from sklearn.pipeline import Pipeline

from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.data.batches import column_names, fit_batches, parquet_batches
from pacfourier.errors import InputError
from pacfourier.tabular.class_labels import (
    MOST_CLASSES,
    check_classes,
    check_drop,
    check_target,
    table_labels,
)
from pacfourier.tabular.columns import column_encoder, table_columns, unread_notes
from pacfourier.tabular.model import (
    FEWEST_ROWS,
    N_FOLDS,
    TableSplit,
    check_binary,
    check_epsilon,
    check_learning_part,
    confusion,
    finished_model,
    random_split,
    trained_classifier,
    untrained_features,
)
from pacfourier.tabular.table_files import check_names, parquet_errors

# Tables that take more in memory are not read at once.
LARGE_BYTES = 2**30
# What a row takes is measured on the first rows of groups that lie evenly in the file.
SAMPLED_ROWS, SAMPLED_GROUPS = 100, 10
BATCH_ROWS = 65536
# Rows in memory at once: of the preparation, and of those that the classifier learns from.
MOST_PREPARED, MOST_CLASSIFIED = 100_000, 50_000
# How often all columns are read: to choose rows, to learn, to count errors.
N_PASSES = 3


def is_large(path):
    """Return whether a file is a Parquet table too large to be read at once."""
    try:
        file = parquet.ParquetFile(path, memory_map=True)
    # What is no Parquet is for ``read_table`` to read or refuse.
    except (OSError, ArrowException):
        return False
    with file, parquet_errors(path):
        return _bytes_in_memory(file) > LARGE_BYTES


def _bytes_in_memory(file):
    """Estimate what a table takes in pandas: in a file, a text that is repeated takes no room."""
    n_bytes, n_rows = 0, 0
    for group in range(0, file.num_row_groups, max(1, file.num_row_groups // SAMPLED_GROUPS)):
        # None of a group without rows.
        for batch in islice(file.iter_batches(SAMPLED_ROWS, row_groups=[group]), 1):
            n_bytes += sum(_column_bytes(column) for _, column in batch.to_pandas().items())
            n_rows += batch.num_rows
    return file.metadata.num_rows * n_bytes / max(1, n_rows)


def _column_bytes(column):
    # Categories are held once, however many rows there are.
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.nbytes
    return column.memory_usage(index=False, deep=True)


def n_rows_to_read(path):
    """Return how many rows ``fit_file`` reads, all passes together."""
    return N_PASSES * parquet.read_metadata(path).num_rows


def fit_file(
    path,
    target_column,
    *,
    drop=(),
    binary=False,
    n_frequencies=100,
    epsilon=0.05,
    seed=0,
    advance=None,
):
    """Train a certified classifier on a Parquet file, in bounded memory.

    The model is that of ``fit_table``, but for this: of the preparation 100,000 rows at most are
    used, and the linear classifier learns from 50,000 rows of the learning part, both drawn
    blindly, and from five rows of each class at least. The map and its certificate are of all of
    the learning part, the bound on the error of all rows that are held out. What is kept of every
    row is a fingerprint, its part and its place in the blind order, 17 bytes; at the end, 13 more
    to compare the fingerprints.

    Parameters
    ----------
    path : pathlib.Path
    target_column : str
        Name of the column that holds the classes.
    drop : sequence of str, default=()
        Names of columns to leave out.
    binary : bool, default=False
        Whether the target can have two classes only, which makes the certificate tighter.
    n_frequencies : int, default=100
    epsilon : float, default=0.05
        Probability that the certificate fails, and that the bound on the error fails.
    seed : int, default=0
    advance : callable, default=None
        Called with the number of rows of every batch that was read.

    Returns
    -------
    model : TabularModel
    """
    started = time.perf_counter()
    check_epsilon(epsilon)
    file = SplitFile(path, target_column, seed, advance)
    check_drop(drop, file.batches.columns)
    classes, examples = file.checked_classes()
    check_binary(binary, classes)
    preparation, learning = file.chosen_rows(examples)
    columns = table_columns(preparation.drop(columns=target_column).sort_index(), drop)
    encoder = column_encoder(columns).fit(columns.values(preparation))
    fingerprints, unread = np.empty(file.n_rows, dtype=np.uint64), Counter()

    def learning_batches():
        for rows, table in file.tables():
            encoded = encoder.transform(columns.values(table))
            fingerprints[rows] = row_fingerprints(encoded)
            unread.update(columns.unread(table))
            chosen = file.is_in("learning", rows)
            yield encoded[chosen], table_labels(table, target_column)[chosen]

    features = untrained_features(binary, n_frequencies, seed)
    fit_batches(features, learning_batches(), classes=classes)
    mapped = features.transform(encoder.transform(columns.values(learning)))
    classifier = trained_classifier(mapped, table_labels(learning, target_column), seed)
    pipeline = Pipeline([("columns", encoder), ("features", features), ("classifier", classifier)])
    return finished_model(
        columns,
        pipeline,
        file.split,
        fingerprints,
        target_column=target_column,
        epsilon=epsilon,
        seed=seed,
        confusion=_held_out_confusion(file, columns, pipeline).tolist(),
        notes=[*_limits(file.split), *unread_notes(unread)],
        seconds=time.perf_counter() - started,
    )


def _limits(split):
    """Return which parts were too large to be used whole, in words."""
    uses = [
        ("columns are prepared on", MOST_PREPARED, len(split.preparation)),
        ("the classifier learns from", MOST_CLASSIFIED, len(split.learning)),
    ]
    return [f"{use} about {most:,} of {n:,} rows." for use, most, n in uses if n > most]


def _held_out_confusion(file, columns, pipeline):
    total = np.zeros((len(pipeline.classes_),) * 2, dtype=int)
    for rows, table in file.tables():
        held_out = table[file.is_in("held_out", rows)]
        if len(held_out):
            labels = table_labels(held_out, file.target_column)
            total += confusion(pipeline, columns.values(held_out), labels)
    return total


class SplitFile:
    """A Parquet file whose rows are cut into parts, read batch by batch."""

    def __init__(self, path, target_column, seed, advance):
        with parquet_errors(path):
            names = column_names(parquet.read_schema(path))
        check_names(names)
        check_target(target_column, names)
        self.path, self.target_column, self.advance = path, target_column, advance
        self.batches = parquet_batches(path, target_column, batch_size=BATCH_ROWS)
        self.n_rows = self.batches.dataset.count_rows()
        if self.n_rows < FEWEST_ROWS:
            raise InputError(f"data must have {FEWEST_ROWS} rows or more, got {self.n_rows}.")
        self.split = random_split(self.n_rows, seed)
        self._part_of = np.empty(self.n_rows, dtype=np.int8)
        for number, part in enumerate(self.split):
            self._part_of[part] = number

    def is_in(self, part, rows):
        """Return which of the rows, a slice, belong to a part."""
        return self._part_of[rows] == TableSplit._fields.index(part)

    def tables(self):
        """Yield all columns of the rows, batch by batch, with the positions of the rows."""
        for rows, table in self._positioned(self.batches.names):
            yield rows, table
            if self.advance:
                self.advance(len(table))

    def checked_classes(self):
        """Return the classes, if all can be learned from; reads the target alone.

        With them, the positions of the first rows of each class in the learning part.
        """
        counts, examples = Counter(), pd.Series(dtype=str)
        for rows, table in self._positioned([self.target_column]):
            labels = table_labels(table, self.target_column)
            counts.update(labels.tolist())
            found = pd.Series(labels, index=table.index)[self.is_in("learning", rows)]
            examples = _first_of_each(pd.concat([examples, found]))
            # So many are refused, whatever follows: no more of them need be held.
            if len(counts) > MOST_CLASSES:
                break
        classes = np.array(sorted(counts))
        check_classes(classes, self.target_column)
        check_learning_part(Counter(examples), classes, self.target_column)
        return classes, examples.index.to_numpy()

    def chosen_rows(self, examples):
        """Return rows of the preparation and of the learning part, as many as memory takes.

        The examples are among the latter: a class without a row would be lost, and its held-out
        rows with it.
        """
        learning = self.split.learning[:MOST_CLASSIFIED]
        learning = np.append(learning, np.setdiff1d(examples, learning))
        wanted = self.split.preparation[:MOST_PREPARED], learning
        is_wanted = np.zeros(self.n_rows, dtype=bool)
        is_wanted[np.concatenate(wanted)] = True
        chosen = pd.concat([table[is_wanted[rows]] for rows, table in self.tables()])
        return tuple(chosen.loc[positions] for positions in wanted)

    def _positioned(self, columns):
        start = 0
        with parquet_errors(self.path):
            for table in self.batches.tables(columns):
                table.index = range(start, start + len(table))
                yield slice(start, start + len(table)), table
                start += len(table)


def _first_of_each(labels):
    return labels.groupby(labels).head(N_FOLDS)
