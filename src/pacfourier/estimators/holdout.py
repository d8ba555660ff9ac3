"""A certificate for any fitted Fourier map, from rows that it was not learned from."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import ComplexArray, FloatArray, host, is_tensor
from pacfourier.bounds import BoundRecord
from pacfourier.core.alignment.summary import sample_summary
from pacfourier.core.alignment.sums import alignment_sums
from pacfourier.core.alignment.targets import Target, TargetType, target_of
from pacfourier.core.features import ROWS_PER_TASK, fourier_features
from pacfourier.data.holdout import Share, n_held_out
from pacfourier.data.samples import Block, Sample, dense_labels, validated
from pacfourier.estimators.base import FourierMap
from pacfourier.pacbayes.assumptions import Duplicates
from pacfourier.pacbayes.certificate import Certificate
from pacfourier.pacbayes.holdout import FreshRows, FrozenKernel, frozen_certificate

__all__ = ["check_split", "frozen_kernel", "holdout_certificate", "split_sample"]


def holdout_certificate(
    model: Any,
    X: Any,
    y: Any,
    epsilon: float = 0.05,
    *,
    bound: str | BoundRecord = "auto",
    target_type: str | TargetType | None = None,
    duplicates: Duplicates = None,
) -> Certificate:
    """Return an upper bound on the alignment loss of a map's kernel, from rows it has not seen.

    Use it for maps that have no certificate of their own, such as ``BoostedRFF``, and for maps that
    are so far from their prior that keeping rows apart gives a smaller value. The kernel is fixed
    before the rows are read, so it does not matter how it was learned: you may have searched for
    the kernel, the bandwidth, the seed and all other parameters, as long as these rows had no part
    in it. The divergence is zero.

    If X shows that rows of the fit are among these rows, the certificate is refused.

    Parameters
    ----------
    model : RFF, PBRFF, OKRFF, GibbsRFF or BoostedRFF
        A fitted map. The kernel of its ``transform`` is certified.
    X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
        Rows that nothing was learned from, drawn from the distribution of new data. If a pipeline
        transforms rows before the map, transform these rows too, with steps that were fitted on
        other rows.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their labels.
    epsilon : float, default=0.05
        Probability, over these rows, that the bound fails.
    bound : {"auto", "anytime", "betting", "first_order", "chernoff", "unexpected_bernstein", \
            "anytime_bernstein", "kl"} or BoundRecord, default="auto"
        Name it before you see the value of any.

        - "betting": the smallest in most cases. It holds at any number of rows, so you may add
          rows until the value is good. Needs labels declared binary and a map learned from labels.
        - "first_order": needs the same, and only two moments of the rows.
        - "chernoff": for any labels.
        - "unexpected_bernstein": for classes; small if most values of the kernel are near zero.
        - "anytime_bernstein": the same at any number of rows, for a small price.
        - "kl": never smaller than "chernoff".
        - "auto": "betting" if it is possible, else "unexpected_bernstein" for classes, else
          "chernoff". The values do not influence this choice.
        - "anytime": "betting" if it is possible, else "anytime_bernstein".
    target_type : str or TargetType, default=None
        What y holds, as in ``PBRFF``. None means what the model was told. Declare "binary" if y
        can only have two values.
    duplicates : {None, "genuine"}, default=None
        What repeated rows are, as in ``PBRFF.certificate``.

    Returns
    -------
    certificate : Certificate
        ``certificate.value`` is the bound. If an assumption is violated, ``value`` raises an
        error that says how to fix it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from pacfourier import BoostedRFF
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoostedRFF(3, target_type="binary", random_state=0).fit(X[::2], y[::2])
    >>> bool(holdout_certificate(model, X[1::2], y[1::2]).value < 0.5)
    True
    """
    if not isinstance(model, FourierMap):
        raise ValueError(f"model must be a Fourier map such as PBRFF, got {model!r}.")
    check_is_fitted(model)
    X, y = validated(X, model, y, reset=False, multi_output=True, ensure_min_samples=2)
    y = dense_labels(y)
    declared = getattr(model, "target_type", "auto") if target_type is None else target_type
    target = target_of(y, declared, getattr(model, "classes_", None))
    kernel = frozen_kernel(model, Block(X, y), target)
    return frozen_certificate(kernel, epsilon=epsilon, bound=bound, duplicates=duplicates)


def frozen_kernel(
    model: Any, block: Block, target: Target, *, is_split: bool = False
) -> FrozenKernel:
    """Return what fresh rows say about the kernel of a fitted map."""
    frequencies, weights = model.frequencies_, model.frequency_weights_
    sums = alignment_sums(block.X, block.y, target, frequencies, precision="double")
    means = learned_means(model) if target.is_binary else None
    direction = np.zeros(2 * len(weights)) if means is None else score_direction(means, weights)
    gram, projections = feature_moments(block.X, frequencies, weights, direction)
    scores, concentration = None, None
    if means is not None:
        scores = (target.encode(block.y) @ np.asarray([-1.0, 1.0])) * projections
        concentration = amplitude_concentration(np.abs(means), weights)
    return FrozenKernel(
        weights=weights,
        sums=sums,
        target=target,
        second_moment=(
            kernel_second_moment(gram, sums.n_samples) if target.has_sign_agreements else None
        ),
        scores=scores,
        concentration=concentration,
        rows=FreshRows(
            summary=sample_summary(block.X, target.encode(block.y)),
            learned_from=getattr(model, "_summary", None),
            is_split=is_split,
        ),
    )


def learned_means(model: Any) -> ComplexArray | None:
    """Return the sums of y exp(i omega . x) over the rows of the fit, or None without labels.

    There is one per kept frequency. Only their angles and ratios matter.
    """
    if hasattr(model, "kept_"):
        waves = model.sums_.waves[:, model.kept_]
    elif hasattr(model, "_sums"):
        waves = model._sums.waves
    else:
        return None
    means: ComplexArray = waves[1] - waves[0]
    return means


def score_direction(means: ComplexArray, weights: FloatArray) -> FloatArray:
    r"""Return the vector d such that :math:`\varphi(x) \cdot d` is the score, up to its sign y.

    With the means :math:`a_m e^{i \varphi_m}` of the fit and :math:`q'_m \propto q_m a_m`,

    .. math:: \sum_m q'_m \cos(\omega_m \cdot x - \varphi_m) = \varphi(x) \cdot d, \qquad
              d = \frac{1}{\sum_l q_l a_l} \bigl(\sqrt{q_m}\, a_m \cos\varphi_m,
              \sqrt{q_m}\, a_m \sin\varphi_m\bigr)_m .
    """
    total = float(weights @ np.abs(means))
    parts = np.sqrt(weights) * np.stack([means.real, means.imag])
    return np.asarray(parts.ravel() / (total if total > 0 else 1.0))


def amplitude_concentration(amplitudes: FloatArray, weights: FloatArray) -> float:
    r"""Return :math:`(\mathbb{E}_q a)^2 / \mathbb{E}_q a^2`, or zero if all amplitudes are zero."""
    square = float(weights @ amplitudes**2)
    return min(float(weights @ amplitudes) ** 2 / square, 1.0) if square > 0 else 0.0


def kernel_second_moment(gram: FloatArray, n_samples: int) -> float:
    r"""Return the mean over pairs of the squared kernel, divided by four.

    .. math:: M_2 = \frac{1}{4 n (n - 1)} \sum_{i \ne j} k(x_i, x_j)^2
              = \frac{\lVert \sum_i \varphi_i \varphi_i^\top \rVert_F^2 - n}{4 n (n - 1)} ,

    because :math:`k(x, x) = \lVert \varphi(x) \rVert^2 = 1`.
    """
    pairs = n_samples * (n_samples - 1)
    return float((np.square(gram).sum() - n_samples) / (4 * pairs))


def feature_moments(
    X: Any, frequencies: FloatArray, weights: FloatArray, direction: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the sum of phi phi^T, and phi . direction of every row, in double precision."""
    gram, projections = np.zeros((len(direction), len(direction))), []
    for start in range(0, X.shape[0], ROWS_PER_TASK):
        rows = X[start : start + ROWS_PER_TASK]
        rows = rows.double() if is_tensor(rows) else rows.astype(np.float64)
        features = host(fourier_features(rows, frequencies, weights))
        gram += features.T @ features
        projections.append(features @ direction)
    return gram, np.concatenate(projections)


def check_split(share: Any) -> None:
    """Raise ValueError unless a share of rows is False, True or between 0 and 1."""
    is_share = isinstance(share, Real) and 0 < float(share) < 1
    if not isinstance(share, bool) and not is_share:
        raise ValueError(
            "certify must be False, True or the share of rows to hold out, between 0 and 1, got "
            f"{share!r}."
        )


def split_sample(sample: Any, share: Share, rng: np.random.Generator) -> tuple[Sample, Block]:
    """Set a share of the rows aside, at random and without looking at them."""
    block = sample.whole
    if block is None:
        raise ValueError(
            "certify must be False for Dask collections, because the rows are not in memory: "
            "keep rows apart yourself and pass them to holdout_certificate."
        )
    n_samples = sample.n_samples
    n_aside = n_held_out(share, n_samples)
    if min(n_aside, n_samples - n_aside) < 2:
        raise ValueError(
            f"certify must leave at least 2 rows on both sides, got {share!r} of {n_samples}."
        )
    order = rng.permutation(n_samples)
    aside, rest = (np.sort(part) for part in (order[:n_aside], order[n_aside:]))
    return Sample(Block(block.X[rest], block.y[rest])), Block(block.X[aside], block.y[aside])
