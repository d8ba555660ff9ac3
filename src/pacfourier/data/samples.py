"""Validation of samples in memory: rows, labels and weights.

A reader is a function that validates some rows for an estimator and returns them as a ``Block``.
``labelled_rows`` reads any labels and weights, ``classed_rows`` reads classes without weights.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_array, check_consistent_length, check_X_y, column_or_1d
from sklearn.utils.validation import validate_data

from pacfourier.arrays import FloatArray, IntArray, by_kind, host, is_tensor
from pacfourier.core.alignment.targets import TargetType, coded_labels, distinct_labels
from pacfourier.core.prior.bandwidth import scale_moments

DTYPES = (np.float64, np.float32)
# The fourth powers of larger numbers overflow, which the guards of certificates sum up.
LARGEST = 1e75
# In single precision, the squares of larger numbers overflow.
LARGEST_SINGLE = 1e15


class Block(NamedTuple):
    """Validated rows, with their labels and weights. ``weights`` is None if all weights are one."""

    X: Any
    y: Any = None
    weights: FloatArray | None = None
    is_weighted: bool = False
    number: int = 0

    def take(self, rows: IntArray) -> "Block":
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return self._replace(X=self.X[rows], y=self.y[rows], weights=weights)


Reader: TypeAlias = Callable[..., Block]
"""A function of (estimator, X, y, sample_weight=None, *, reset, fewest) that returns a Block."""


class Witnesses(NamedTuple):
    """A few labels that have the same target as those of all samples, and the sample size."""

    labels: NDArray[Any]
    n_samples: int


@dataclass(frozen=True, eq=False)
class Sample:
    """A sample in memory, as a single block."""

    block: Block

    @property
    def n_samples(self) -> int:
        """The number of samples."""
        return int(self.block.X.shape[0])

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return int(self.block.X.shape[1])

    @property
    def heading(self) -> Any:
        """An array without rows, with the columns and the dtype of the sample."""
        return self.block.X[:0]

    @property
    def whole(self) -> Block:
        """All rows in one block."""
        return self.block

    def reduce(
        self,
        function: Callable[[Block], Any],
        merge: Callable[[Any, Any], Any],
        thinned: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Return the result of a function of the only block. There is nothing to merge."""
        del merge, thinned
        return function(self.block)

    def witnesses(self, kind: TargetType) -> Witnesses:
        """Return a few labels that have the same target as all labels."""
        return Witnesses(kind.witnesses(distinct_labels(self.block.y)), self.n_samples)

    def moments(self) -> FloatArray:
        """Return the moments from which ``scale_gamma`` computes a bandwidth."""
        return block_moments(self.block)

    def take(self, rows: IntArray) -> Any:
        """Return chosen rows."""
        return self.block.X[rows]


def labelled_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool, fewest: int
) -> Block:
    """Read rows with labels of any kind, and leave out the rows of weight zero."""
    X, y = validated(
        X, estimator, y, reset=reset, multi_output=True, ensure_min_samples=max(fewest, 1)
    )
    rows, y, weights = positive_weights(X, dense_labels(y), sample_weight, fewest)
    return Block(rows, y, weights, are_unequal(weights, X.shape[0]))


def learned_rows(estimator: Any, *data: Any, **checks: Any) -> Block:
    """Read rows with labels of any kind, coded beside the samples if that is faster."""
    block = labelled_rows(estimator, *data, **checks)
    # A reservoir keeps some of the labels, and weights belong to the codes.
    if block.weights is not None or estimator.draw == "complementary":
        return block
    return block._replace(y=coded_labels(block.X, block.y))


def classed_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool, fewest: int
) -> Block:
    """Read rows with their classes, and refuse weights."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight must be None for landmarks, got weights: fit without sample_weight."
        )
    if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
        raise ValueError(
            f"y must have one column of classes for {type(estimator).__name__}, got "
            f"{y.shape[1]}: fit one model per column."
        )
    X, y = validated(X, estimator, y, reset=reset, ensure_min_samples=max(fewest, 1))
    return Block(X, y)


@by_kind
def validated(
    X: Any, estimator: Any, y: Any = "no_validation", *, reset: bool, **checks: Any
) -> Any:
    """Return X, or X and y, as scikit-learn validates them for an estimator."""
    if hasattr(X, "__dask_graph__"):
        raise ValueError(
            f"X must be in memory for this method of {type(estimator).__name__}, "
            f"got {type(X).__module__}.{type(X).__name__}: call X.compute() first."
        )
    if not (isinstance(y, str) and y == "no_validation"):
        check_target(y, estimator)
    # The sum of huge numbers, by which scikit-learn looks for NaN, may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        found = validate_data(
            estimator, X, y, reset=reset, accept_sparse="csr", dtype=DTYPES, **checks
        )
    rows = found[0] if isinstance(found, tuple) else found
    if reset or not get_config()["assume_finite"]:
        largest = getattr(estimator, "_largest_single", LARGEST_SINGLE)
        check_size(rows, "X", type(estimator).__name__, largest)
    return (canonical(found[0]), found[1]) if isinstance(found, tuple) else canonical(found)


def is_plain(X: Any, estimator: Any) -> bool:
    """Return whether ``validated`` returns X as it is, if its numbers are small enough."""
    return (
        type(X) is np.ndarray
        and X.dtype in DTYPES
        and X.shape[1:] == (estimator.n_features_in_,)
        and len(X) > 0
        and not hasattr(estimator, "feature_names_in_")
    )


def limit_of(X: Any, estimator: Any) -> float:
    """Return the largest number that is allowed in X, infinity if it need not be checked."""
    if get_config()["assume_finite"]:
        return np.inf
    single = getattr(estimator, "_largest_single", LARGEST_SINGLE)
    return float(single) if X.dtype == np.float32 else LARGEST


def canonical(X: Any) -> Any:
    """Return a sparse matrix with sorted short indices, one entry per place. Arrays are unchanged.

    Entries that share a place add up. The matrix of the caller does not change.
    """
    if not hasattr(X, "tocsr"):
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return with_short_indices(X)


def with_short_indices(X: Any) -> Any:
    """Return a CSR matrix with indices of 32 bits, unless it is too large for them.

    The k-means of scikit-learn takes no others.
    """
    if X.indices.dtype == np.int32 or max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    indices, starts = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)((X.data, indices, starts), shape=X.shape)


@by_kind
def validated_pair(X: Any, estimator: Any, Y: Any) -> tuple[Any, Any]:
    """Return two validated sets of samples of the same kind. If Y is None, it is X."""
    if is_tensor(Y):
        raise ValueError(
            "X and Y must both be tensors or both be arrays, got an array for X and a tensor "
            "for Y: convert one of them."
        )
    X = validated(X, estimator, reset=False)
    return X, X if Y is None else validated(Y, estimator, reset=False)


@by_kind
def validated_inputs(X: Any, y: Any, frequencies: Any) -> tuple[Any, Any, Any]:
    """Return samples, labels and frequencies as arrays."""
    X, y = check_X_y(
        X,
        y,
        accept_sparse="csr",
        dtype=DTYPES,
        multi_output=True,
        ensure_min_samples=2,
    )
    check_size(X, "X", "alignment_losses")
    return canonical(X), y, check_array(frequencies, dtype=DTYPES)


@by_kind
def checked_heading(names: Any) -> Any:
    """Return an array without rows, with the columns of a table and a floating dtype."""
    return check_array(names[:0], accept_sparse="csr", dtype=DTYPES, ensure_min_samples=0)


@by_kind
def check_labels(y: Any) -> NDArray[Any]:
    """Return validated labels as a dense array, when there are no rows to compare them with."""
    check_no_missing(y)
    return dense_labels(
        check_array(y, accept_sparse="csr", ensure_2d=False, dtype=None, input_name="y")
    )


def dense_labels(y: Any) -> NDArray[Any]:
    """Return y as an array. If it has a single column, return it with one axis."""
    y = y.toarray() if hasattr(y, "toarray") else y
    return column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y


def check_size(values: Any, name: str, user: str, largest_single: float = LARGEST_SINGLE) -> None:
    """Raise ValueError if a number is so large that its powers overflow.

    Parameters
    ----------
    values : array or sparse matrix
    name : str
        The name of the values, for the error.
    user : str
        The name of the estimator or function that they were passed to.
    largest_single : float, default=1e15
        The largest value in single precision. Estimators that measure columns in units of their
        own, before they square them, allow larger ones.
    """
    # The extremes of a sparse matrix would sort the entries of the caller's matrix.
    stored = values.data if hasattr(values, "tocsr") else values
    if not stored.size:
        return
    is_single = stored.dtype == np.float32
    limit = largest_single if is_single else LARGEST
    low, high = float(stored.min()), float(stored.max())
    if max(-low, high) > limit:
        remedy = f"pass {name} in double precision" if is_single else f"divide {name} by a constant"
        raise ValueError(
            f"{name} must lie between -{_short(limit)} and {_short(limit)} for {user}, "
            f"got {high if high > -low else low:g}: {remedy}."
        )


def _short(number: float) -> str:
    return f"{number:.0e}".replace("+", "")


def check_target(y: Any, estimator: Any) -> None:
    """Raise ValueError if labels are missing, or cannot be used by an estimator."""
    name = type(estimator).__name__
    if y is None:
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None: call "
            "fit(X, y) with one label per row of X."
        )
    check_no_missing(y)
    labels = np.asarray(y)
    if is_regressor(estimator):
        _check_numbers(labels, name)
    if labels.ndim == 0 or labels.dtype.kind not in "OSU":
        return
    if labels.ndim == 2 and labels.shape[1] > 1:
        if labels.dtype.kind != "O" or any(isinstance(each, str) for each in labels.flat):
            raise ValueError(
                f"y must have one column if it holds text for {name}, got {labels.shape[1]}: fit "
                "one model per column."
            )
        return
    _check_one_type(labels, name, must_be_text=is_classifier(estimator))


def _check_numbers(labels: NDArray[Any], name: str) -> None:
    is_object = labels.dtype.kind == "O"
    objects = [each for each in labels.flat if not _is_number(each)] if is_object else []
    if labels.dtype.kind in "mMSU" or objects:
        kinds = ", ".join(sorted({type(each).__name__ for each in labels.flat}))
        found = kinds if objects else str(labels.dtype)
        raise ValueError(
            f"y must hold numbers for {name}, got {found}: convert y to numbers, for example with "
            "astype(float)."
        )
    if labels.dtype.kind == "f":
        check_size(labels, "y", name)


def _is_number(label: Any) -> bool:
    return isinstance(label, (bool, int, float, np.number, np.bool_))


def _check_one_type(labels: NDArray[Any], name: str, *, must_be_text: bool) -> None:
    """Refuse objects that have no order and, for classifiers, those that are not text."""
    if labels.dtype.kind != "O":
        return
    kinds = sorted({type(each).__name__ for each in labels.flat})
    remedy = "convert them, for example with y.astype(str)"
    if must_be_text and kinds not in ([], ["str"]):
        raise ValueError(
            f"y must hold text or an array of numbers for {name}, got objects of type "
            f"{', '.join(kinds)} (Unknown label type): {remedy}."
        )
    try:
        sorted(set(labels.flat))
    except TypeError:
        raise ValueError(
            f"y must hold labels of one type for {name}, got {', '.join(kinds)}: {remedy}."
        ) from None


@by_kind
def check_no_missing(y: Any) -> None:
    """Raise ValueError if objects or times are missing. Scikit-learn checks numbers."""
    labels = np.asarray(y)
    # None and sparse matrices become arrays without an axis.
    if labels.ndim == 0 or labels.dtype.kind not in "OmM":
        return
    missing = [each for each in _distinct(labels) if is_missing(each)]
    if missing:
        raise ValueError(f"y must have no missing labels, got {missing[0]!r}: drop these rows.")


def _distinct(labels: NDArray[Any]) -> set[Any]:
    try:
        return set(labels.flat)
    except TypeError:
        kinds = sorted({type(each).__name__ for each in labels.flat})
        raise ValueError(f"y must hold numbers or text, got {', '.join(kinds)}.") from None


def is_missing(label: Any) -> bool:
    """Return whether a value is None, NaN, or another mark of a gap."""
    # NaN is not equal to itself. For the NA of pandas the comparison gives NA.
    return label is None or str(label == label) != "True"


def positive_weights(
    X: Any, y: NDArray[Any], sample_weight: Any, fewest: int = 2
) -> tuple[Any, NDArray[Any], FloatArray | None]:
    """Check the weights, and leave out the samples of weight zero."""
    if sample_weight is None:
        return X, y, None
    weights = check_array(
        host(sample_weight), ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    check_consistent_length(X, weights)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be one number per sample, got {weights.shape}.")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must be non-negative, got {weights.min()}.")
    positive = weights > 0
    if positive.sum() < fewest:
        raise ValueError(
            f"sample_weight must be above zero for at least {fewest} samples, got {positive.sum()}."
        )
    if positive.any() and not 1e-100 < weights[positive].min() <= weights.max() < 1e100:
        raise ValueError(
            "sample_weight must lie between 1e-100 and 1e100, or be zero, "
            f"got {weights[positive].min()} to {weights.max()}."
        )
    return X[positive], y[positive], weights[positive]


def are_unequal(weights: FloatArray | None, n_given: int) -> bool:
    """Return whether some samples count more than others. Those of weight zero were left out."""
    return weights is not None and bool(len(weights) < n_given or np.ptp(weights) > 0)


def block_moments(block: Block) -> FloatArray:
    """Return the moments of a block, from which ``scale_gamma`` computes a bandwidth."""
    moments: FloatArray = scale_moments(block.X, block.weights)
    return moments
