"""The draw "complementary": frequencies chosen together, on a bounded part of the rows."""

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.alignment.sums import AlignmentSums, balanced_losses
from pacfourier.core.alignment.targets import Target
from pacfourier.core.features import features_in
from pacfourier.core.prior.frequencies import FrequencyPool
from pacfourier.core.sampling.complementary import column_products, exchanged_choice, forward_choice
from pacfourier.core.threads import single_threaded_blas
from pacfourier.data.reservoir import Reservoir

# Up to so many frequencies, the choice is revised: each is taken out once and chosen anew. On
# validation data this helped at 10 and 20, and a similar step did harm at 50.
_MOST_REVISED = 20
# Gains are multiplied by this power of 1 - 2 loss.
_PREFERENCE = 0.25


def complementary_frequencies(
    rows: Reservoir | None,
    pool: FrequencyPool,
    posterior: FloatArray,
    losses: FloatArray,
    size: int,
    *,
    target: Target,
    sums: AlignmentSums,
    is_balanced: bool,
) -> IntArray:
    """Return the indices of candidates that explain the labels of some rows together.

    The candidates of largest weight compete. One of smaller loss on all samples is preferred to one
    that explains the same on these rows: the rows may mislead, and the certificate is smaller.

    Parameters
    ----------
    rows : Reservoir or None
        The rows on which residuals are computed.
    pool : FrequencyPool
        The candidates.
    posterior, losses : arrays of shape (n_candidates,)
        Their posterior weights, and the losses that these were computed from.
    size : int
        How many to choose.
    target : Target
        How labels are coded.
    sums : AlignmentSums
        Sums over all samples.
    is_balanced : bool
        Whether all classes get the same weight.
    """
    if rows is None:
        raise ValueError(
            "draw='complementary' needs some rows of the data, and this model was fitted with "
            "another draw: fit again with draw='complementary'."
        )
    balance = target.balance(sums.totals) if is_balanced else None
    weights = rows.weights
    if balance is not None:
        weights = weights * (target.encode(rows.y) @ balance.scale)
    # Many weights are equal or zero. Among those, the losses decide.
    ranking = np.lexsort((losses, -posterior))
    shortlist = ranking[: _shortlist_size(size, len(rows.keys))]
    # For two classes, 1 - 2 loss is the squared length of the mean of y exp(i omega . x).
    merits = np.maximum(1 - 2 * balanced_losses(sums, target)[shortlist], 0) ** _PREFERENCE
    # Sums in another order could turn the choice between near copies.
    with single_threaded_blas():
        features = features_in(rows.X, pool[shortlist], np.ones(len(shortlist)), "single")
        waves = features.T.reshape(2, len(shortlist), -1)
        products = column_products(waves, target.outputs(rows.y).values, weights, merits)
        chosen = forward_choice(products, size)
        if size <= _MOST_REVISED:
            chosen = exchanged_choice(products, chosen)
    return shortlist[chosen]


def _shortlist_size(n_frequencies: int, n_rows: int) -> int:
    """Return how many of the best candidates compete for a number of places.

    With more rows, more candidates can be told apart.
    """
    return max(600 + n_rows // 12, 4 * n_frequencies)
