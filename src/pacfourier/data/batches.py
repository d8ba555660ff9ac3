"""Fits on batches that are never in memory together."""

from functools import reduce
from itertools import chain

import numpy as np
from scipy import sparse

from pacfourier.data.samples import n_rows
from pacfourier.estimators.learned import LearnedFourierMap
from pacfourier.estimators.parameters import check_count
from pacfourier.estimators.pb_landmarks import PBLandmarks


def fit_batches(estimator, batches, *, classes=None):
    """Fit an estimator batch by batch: what it learns is what ``fit`` learns of all of them.

    Memory is that of a batch and of the sums. A batch that cannot be used, anywhere, leaves the
    estimator as it was.

    Parameters
    ----------
    estimator : PBRFF, OKRFF or PBLandmarks with given landmarks
    batches : iterable of (X, y) or (X, y, sample_weight)
        A generator will do for one pass: if ``classes`` are given, and the bandwidth is not
        computed from data. Else the classes (or the range of y) are found in a first pass, and
        the batches must be such that one can begin again: a list, or ``parquet_batches``.
    classes : array-like of shape (n_classes,), default=None
        Every class that may come. None means that they are looked for.

    Returns
    -------
    estimator : object
        The same, fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pacfourier import PBRFF
    >>> X, y = load_iris(return_X_y=True)
    >>> batches = [(X[start : start + 40], y[start : start + 40]) for start in range(0, 150, 40)]
    >>> fit_batches(PBRFF(5, random_state=0), batches).transform(X).shape
    (150, 10)
    """
    if not isinstance(estimator, LearnedFourierMap | PBLandmarks):
        raise ValueError(f"estimator must be PBRFF, OKRFF or PBLandmarks, got {estimator!r}.")
    return estimator._learn(Batches(batches), classes, reset=True)


def parquet_batches(source, target, *, columns=None, batch_size=65536):
    """Return batches of Parquet files, a folder of them or an Arrow dataset, for ``fit_batches``.

    Parquet files are read a group of rows at a time.

    Parameters
    ----------
    source : str, pathlib.Path, list of them or pyarrow.dataset.Dataset
    target : str
        Name of the column of labels.
    columns : list of str, default=None
        Names of the columns of inputs. None means all but the target.
    batch_size : int, default=65536
        Number of rows of a batch, at most.

    Returns
    -------
    batches : ParquetBatches
        Tables of inputs with their labels, read anew in each pass.
    """
    return ParquetBatches(source, target, columns, batch_size)


class ParquetBatches:
    """Batches of an Arrow dataset; what is not needed is not read."""

    def __init__(self, source, target, columns, batch_size):
        from pyarrow import dataset

        is_open = isinstance(source, dataset.Dataset)
        self.dataset = source if is_open else dataset.dataset(source, format="parquet")
        self.names = column_names(self.dataset.schema)
        self.target = target
        self.columns = _input_columns(columns, target, self.names)
        check_count("batch_size", batch_size)
        self.batch_size = batch_size

    def __iter__(self):
        for table in self.tables([*self.columns, self.target]):
            yield table[self.columns], table[self.target]

    def labels(self):
        """Yield the labels alone, batch by batch."""
        for table in self.tables([self.target]):
            yield table[self.target]

    def tables(self, columns):
        """Yield some columns of the dataset, batch by batch."""
        # The schema of the whole: a file may have fewer columns, or others of the same names.
        scan = {"schema": self.dataset.schema, "columns": columns, "batch_size": self.batch_size}
        scan |= {"batch_readahead": 0, "fragment_readahead": 0, "use_threads": False}
        for fragment in self.dataset.get_fragments():
            # Arrow reads ahead within what it is asked for: a whole Parquet file, but for this.
            has_groups = hasattr(fragment, "split_by_row_group")
            for group in fragment.split_by_row_group() if has_groups else [fragment]:
                for batch in group.to_batches(**scan):
                    yield batch.to_pandas(ignore_metadata=True)


def _input_columns(columns, target, names):
    """Return the columns of inputs that are meant, if these and the target are there."""
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names, got {columns!r}.")
    inputs = [name for name in names if name != target] if columns is None else list(columns)
    missing = [name for name in (target, *inputs) if name not in names]
    if missing:
        raise ValueError(f"columns and target must be among {names}, got {missing}.")
    if target in inputs:
        raise ValueError(f"columns must not hold the target, got {target!r} in both.")
    return inputs


def column_names(schema):
    """Return the names of the columns, without those that pandas wrote for its index."""
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    return [name for name in schema.names if name not in index]


class Batches:
    """Batches as the blocks of a sample."""

    def __init__(self, batches):
        self._batches = batches
        rows, head = map(_checked_batch, batches), []
        for batch in rows:
            head.append(batch)
            if n_rows(batch[0]):
                break
        else:
            raise ValueError("batches must hold a sample at least, got none.")
        # What cannot begin again is not always its own iterator: the first pass goes on from here.
        self._first, self._opened = head[-1][0], chain(head, rows)
        self._n_rows = None

    def heading(self):
        """Return a batch of inputs, which shows the columns of all."""
        if sparse.issparse(self._first):
            return self._first.tocsr()
        return self._first if hasattr(self._first, "shape") else np.asarray(self._first)

    def fold(self, function, merge, only_labels=False):
        """Return the results of ``function(index, X, y, weights)``, merged in order."""
        rows = enumerate(self._counted(self._rows(only_labels)))
        return reduce(merge, (function(index, *batch) for index, batch in rows))

    def _rows(self, only_labels):
        if only_labels and isinstance(self._batches, ParquetBatches):
            return ((None, y, None) for y in self._batches.labels())
        opened, self._opened = self._opened, None
        return map(_checked_batch, self._batches) if opened is None else opened

    def _counted(self, rows):
        """Yield batches, and raise ValueError if there are other rows than in the pass before."""
        count = 0
        for batch in rows:
            yield batch
            count += n_rows(batch[1])
        if self._n_rows not in (None, count):
            raise ValueError(
                "batches must be iterable more than once (a list, parquet_batches) unless classes "
                "are given and gamma is not computed from data, "
                f"got {self._n_rows} rows in one pass and {count} in another."
            )
        self._n_rows = count


def _checked_batch(batch):
    """Return (X, y, weights), None for weights that are not given."""
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        kind = f"{len(batch)} items" if isinstance(batch, tuple | list) else type(batch).__name__
        raise ValueError(f"batches must hold (X, y) or (X, y, sample_weight), got {kind}.")
    X, y, weights = (*batch, None)[:3]
    if not hasattr(y, "__len__") and not hasattr(y, "shape"):
        raise ValueError(f"batches must hold the labels y, got {y!r}.")
    return X, y, weights
