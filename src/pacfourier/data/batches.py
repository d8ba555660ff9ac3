"""Fitting on batches when not all of them fit in memory."""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np

from pacfourier.data.blocks import n_rows


def fit_batches(estimator: Any, batches: Iterable[Any], *, classes: Any = None) -> Any:
    """Fit an estimator batch by batch.

    Only one batch and the sums are in memory. The result is that of ``fit`` on all batches
    together. If a batch is not valid, you get an error and the estimator does not change.

    ``FourierClassifier`` and ``FourierRegressor`` read the batches many times. A first pass draws
    50,000 rows, on which a recipe is chosen. All rows of a batch are shuffled, but batches come in
    their order, so each should hold rows of every kind. The result is then nearly that of ``fit``.

    Parameters
    ----------
    estimator : PBRFF, OKRFF, PBLandmarks with given landmarks, FourierClassifier, FourierRegressor
    batches : iterable of (X, y) or (X, y, sample_weight)
        A generator can be read only once. This is enough for a map if ``classes`` are given and the
        bandwidth is not computed from data. Otherwise a first pass looks for the classes (or the
        range of y), so pass something that can be read again: a list, or ``parquet_batches``.
    classes : array-like of shape (n_classes,), default=None
        Every class that may occur. None means that a first pass looks for them.

    Returns
    -------
    estimator : object
        The same estimator, fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pacfourier import PBRFF
    >>> X, y = load_iris(return_X_y=True)
    >>> batches = [(X[start : start + 40], y[start : start + 40]) for start in range(0, 150, 40)]
    >>> fit_batches(PBRFF(5, random_state=0), batches).transform(X).shape
    (150, 10)
    """
    learn = getattr(estimator, "_learn", None)
    if learn is None or isinstance(estimator, type):
        raise ValueError(
            "estimator must learn from batches, as PBRFF, OKRFF, PBLandmarks, FourierClassifier "
            f"and FourierRegressor do, got {estimator!r}."
        )
    return learn(_Batches(batches), classes, is_first=True)


class _Batches:
    """Batches as the blocks of a sample."""

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches = batches
        rows, head = map(_checked_batch, batches), []
        for batch in rows:
            head.append(batch)
            if n_rows(batch[0]):
                break
        else:
            raise ValueError("batches must hold at least one sample, got none.")
        # Some iterables can be read only once, so the first pass continues from here.
        self._first = head[-1][0]
        self._opened: Iterator[Any] | None = chain(head, rows)
        self._n_rows: int | None = None

    def heading(self) -> Any:
        """Return the inputs of one batch. All batches have the same columns."""
        if hasattr(self._first, "tocsr"):
            return self._first.tocsr()
        return self._first if hasattr(self._first, "shape") else np.asarray(self._first)

    def fold(
        self,
        function: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        only_labels: bool = False,
    ) -> Any:
        """Return the results of ``function(index, X, y, weights)``, merged in order."""
        return reduce(merge, (function(*block) for block in self.each(only_labels)))

    def each(self, only_labels: bool = False) -> Iterator[Any]:
        """Yield (index, X, y, weights) of one batch after another."""
        for index, batch in enumerate(self._counted(self._rows(only_labels))):
            yield index, *batch

    def _rows(self, only_labels: bool) -> Iterator[Any]:
        # Batches from files can read the column of labels alone.
        read_labels = getattr(self._batches, "labels", None)
        if only_labels and callable(read_labels):
            return ((None, y, None) for y in read_labels())
        opened, self._opened = self._opened, None
        return map(_checked_batch, self._batches) if opened is None else opened

    def _counted(self, rows: Iterator[Any]) -> Iterator[Any]:
        """Yield batches. Raise ValueError if an earlier pass had another number of rows."""
        count = 0
        for batch in rows:
            yield batch
            count += n_rows(batch[1])
        if self._n_rows not in (None, count):
            raise ValueError(
                "batches must be iterable more than once (a list, parquet_batches) for this fit, "
                f"got {self._n_rows} rows in one pass and {count} in another. Maps need one pass "
                "only if classes are given and gamma is not computed from data."
            )
        self._n_rows = count


def _checked_batch(batch: Any) -> tuple[Any, Any, Any]:
    """Return (X, y, weights), where weights are None if they are not given."""
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        kind = f"{len(batch)} items" if isinstance(batch, tuple | list) else type(batch).__name__
        raise ValueError(f"batches must hold (X, y) or (X, y, sample_weight), got {kind}.")
    X, y, weights = (*batch, None)[:3]
    if not hasattr(y, "__len__") and not hasattr(y, "shape"):
        raise ValueError(f"batches must hold the labels y, got {y!r}.")
    return X, y, weights
