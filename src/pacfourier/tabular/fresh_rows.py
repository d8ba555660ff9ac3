"""Tell whether a table of new rows is, for the most part, the table that a model was fitted on.

A model stores how many rows of its table fall into each of a few buckets, with noise. A hash of
the row and its class gives the bucket. A second sample of the same law has other counts. A copy has
the same counts, and this agreement is better than chance allows.

The counts do not tell whether a given row was in the table. The noise is a difference of two
geometric variables, so one row more or less changes the probability of what is stored by a factor
of three at most (differential privacy with epsilon = ln 3). Someone who gives even odds to a row
being in the table or missing from it is at most 75 % sure after reading the counts, even if they
know all other rows. Exchanging one row for another changes two counts, and the factor is nine: who
knows all rows but one, and has two candidates for it, is at most 90 % sure.

The price is that only large overlaps are found. In buckets that hold a few rows each, one row has
a z-score s of less than one. If a share a of m new rows are copies, they have a z-score of a s
sqrt(m) together. For 5 % of 200 rows this is 0.7 s, so a check that found them would recognise a
single row even better. A hash of every row would do both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pacfourier.arrays import FloatArray
from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.model.plain_fields import PlainFields

ROWS_PER_BUCKET, MOST_BUCKETS = 4, 256
# Numbers are rounded to this share of a standard deviation before rows are compared.
ROUNDING = 1 / 64
# Rows that are rounded at once.
BLOCK = 8192

LabelledPart = tuple[NDArray[Any], NDArray[Any]]
# Buckets with fewer rows in both tables together may hold nothing but noise.
FEWEST_ROWS_COMPARED = 6
# With fewer buckets to compare, the counts of two independent tables agree too often.
FEWEST_BUCKETS_COMPARED = 8
# Tables of the fit with fewer rows go unnoticed too often: 20 % of those with 100 rows, 0.2 % with
# 200, and none of 6,000 with 400.
FEWEST_ROWS_RECOGNISED = 400
# One row changes the probability of a noisy count by this factor at most.
ODDS_FACTOR = 3
# The second and the fourth cumulant of the noise.
NOISE_VARIANCE, NOISE_CUMULANT = 1.5, 8.25


@dataclass(frozen=True, eq=False)
class RowCounts:
    """How many rows of a table fall into each bucket, with noise.

    Attributes
    ----------
    units : array of shape (n_encoded,)
        Numbers that differ by much less than these count as equal, so that rounding hides no copy.
    label_unit : float
        The same for labels that are amounts; zero for classes.
    counts : array of shape (n_buckets,)
    n_rows : int
    """

    units: FloatArray
    label_unit: float
    counts: NDArray[np.int64]
    n_rows: int

    def bucket_counts(self, X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.int64]:
        """Return how many rows with their labels fall into each bucket."""
        return bucket_counts(X, y, self.units, self.label_unit, len(self.counts))

    def agreement(self, counts: NDArray[np.int64], n_rows: int) -> float:
        """Return the probability that independent rows agree with the stored counts so well."""
        return agreement_probability(self.counts, counts, n_stored=self.n_rows, n_rows=n_rows)

    def to_data(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return vars(self).copy()

    @classmethod
    def from_data(cls, data: Any, n_encoded: int) -> "RowCounts":
        """Return the counts in plain data that was read from a file, after checks."""
        fields = PlainFields(data, "row counts")
        units = fields.finite("units", (n_encoded,), np.float64)
        fields.require((units > 0).all(), "units", "be positive", units)
        counts = fields.array("counts", (None,), np.int64)
        is_right = 0 < len(counts) <= MOST_BUCKETS
        fields.require(is_right, "counts", f"be 1 to {MOST_BUCKETS}", len(counts))
        label_unit = fields.value("label_unit")
        is_right = type(label_unit) is float and 0 <= label_unit < np.inf
        fields.require(is_right, "label_unit", "be zero or positive", label_unit)
        n_rows = fields.value("n_rows")
        fields.require(type(n_rows) is int and n_rows > 0, "n_rows", "be positive", n_rows)
        return cls(units, label_unit, counts, n_rows)


def row_counts(parts: Sequence[LabelledPart], rng: np.random.Generator) -> RowCounts:
    """Return the noisy counts of the rows of a fit.

    Parameters
    ----------
    parts : sequence of pairs (X, y)
        Rows as numbers, and their labels: names of classes, or amounts. The first part decides the
        units.
    rng : Generator
        It must not come from a seed that others know: they could undo the noise.
    """
    X, y = parts[0]
    deviations = X.std(axis=0, dtype=np.float64)
    units = np.where(deviations > 0, deviations, 1.0)
    label_unit = float(y.std() or 1.0) if y.dtype.kind == "f" else 0.0
    n_rows = sum(len(y) for _, y in parts)
    size = n_buckets(n_rows)
    counts = sum(bucket_counts(X, y, units, label_unit, size) for X, y in parts)
    return RowCounts(units, label_unit, noisy_counts(np.asarray(counts), rng), n_rows)


def n_buckets(n_rows: int) -> int:
    """Return the number of buckets for a table of this size."""
    return min(n_rows // ROWS_PER_BUCKET, MOST_BUCKETS)


def bucket_counts(
    X: NDArray[Any], y: NDArray[Any], units: FloatArray, label_unit: float, n_buckets: int
) -> NDArray[np.int64]:
    """Return how many rows with their labels fall into each bucket."""
    labels = np.rint(y / (label_unit * ROUNDING)) if label_unit else y
    names, codes = np.unique(labels, return_inverse=True)
    hashes = [int.from_bytes(blake2b(str(name).encode(), digest_size=8).digest()) for name in names]
    keys = rounded_fingerprints(X, units) ^ np.array(hashes, dtype=np.uint64)[codes]
    keys *= np.uint64(0x9E3779B97F4A7C15)
    return np.bincount((keys >> np.uint64(32)) % np.uint64(n_buckets), minlength=n_buckets)


def rounded_fingerprints(X: NDArray[Any], units: FloatArray) -> NDArray[np.uint64]:
    """Return one number per row, which is equal for rows that are equal after rounding."""
    parts = [np.zeros(0, dtype=np.uint64)]
    for start in range(0, len(X), BLOCK):
        rounded = np.rint(X[start : start + BLOCK] / (units * ROUNDING))
        parts.append(row_fingerprints(rounded))
    return np.concatenate(parts)


def noisy_counts(counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return counts with noise. Others could undo noise that comes from a known seed."""
    gain, loss = rng.geometric(1 - 1 / ODDS_FACTOR, size=(2, len(counts)))
    return counts + gain - loss


def agreement_probability(
    stored: np.ndarray, counts: np.ndarray, *, n_stored: int, n_rows: int
) -> float:
    r"""Return the probability that independent rows agree with the stored counts so well.

    With :math:`b = m / n`, where :math:`n` rows are stored and :math:`m` are new, and the pooled
    share :math:`p_k` of a bucket, independent tables have

    .. math:: \mathbb{E}(f_k - b \tilde c_k)^2 = v_k = u_k + b^2 \sigma^2, \qquad
              u_k = (1 + b) m p_k, \qquad
              S = \sum_k \frac{u_k}{v_k} \frac{(f_k - b \tilde c_k)^2}{v_k} .

    If a share :math:`a` of the new rows are copies, :math:`u_k` is multiplied by
    :math:`1 - 2ab/(1 + b)`, and :math:`S` is small. Its lower tail is taken to be that of a gamma
    variable of the same mean and variance. The variance uses the fourth cumulants of the counts,
    which are nearly Poisson, and of the noise.

    Parameters
    ----------
    stored, counts : arrays of shape (n_buckets,)
        The noisy counts of the fit, and the counts of the new rows.
    n_stored, n_rows : int
        The number of rows of the fit, and of new rows.

    Returns
    -------
    probability : float
        It is one if there are too few buckets to tell.
    """
    ratio, pooled = n_rows / n_stored, stored + counts
    shares = np.where(pooled >= FEWEST_ROWS_COMPARED, pooled, 0) / (n_stored + n_rows)
    counted = (1 + ratio) * n_rows * shares
    variances = counted + ratio**2 * NOISE_VARIANCE
    weights = counted / variances
    mean = float(weights @ (1 - shares))
    if mean < FEWEST_BUCKETS_COMPARED:
        return 1.0
    cumulants = (1 + ratio**3) * n_rows * shares + ratio**4 * NOISE_CUMULANT
    variance = float(weights**2 @ (2 + cumulants / variances**2))
    statistic = float(weights @ ((counts - ratio * stored) ** 2 / variances))
    return float(special.gammainc(mean**2 / variance, statistic * mean / variance))
