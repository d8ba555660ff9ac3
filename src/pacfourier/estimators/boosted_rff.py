"""Fourier features from rounds of boosting, with frequencies that move."""

from typing import Any, Self

import numpy as np

from pacfourier.arrays import FloatArray
from pacfourier.core.alignment.targets import Outputs, Target, TargetType, target_of, target_type_of
from pacfourier.core.boosting.cosine_model import (
    CosineModel,
    Losses,
    Penalties,
    hinge_losses,
    model_gradient,
    moved_model,
    square_losses,
)
from pacfourier.core.boosting.residuals import residual_losses
from pacfourier.core.boosting.scaling import scaled_columns
from pacfourier.core.prior.frequencies import DRAW_STREAM, FrequencyPool
from pacfourier.data.samples import labelled_rows
from pacfourier.estimators.base import (
    SupervisedFourierMap,
    all_or_nothing,
    check_count,
    check_positive,
    drawn_seed,
    reporter,
    set_classes,
    warn_of_many_classes,
)
from pacfourier.estimators.learned import SMALL_WORK
from pacfourier.pacbayes.posteriors import (
    draw_frequencies,
    gibbs_posterior,
    inverse_temperature_of_size,
)
from pacfourier.spectra import RBF, Mixture

LOSSES: dict[str, Losses] = {"hinge": hinge_losses, "square": square_losses}
# Bandwidths of the candidates, in units of one over the mean squared distance of two samples.
RELATIVE_GAMMAS = tuple(2 * 10.0**k for k in np.arange(-2, 1.25, 0.5))
N_CANDIDATES = 1200
# Moving frequencies are held by a normal prior: its precision, in units of the mean squared
# distance. Its price is shared by all samples, as a divergence is in a bound.
PRIOR_PRECISION = 0.25
# Steps a round of small samples, which more would fit to noise, and of large ones.
FEWEST_STEPS, MOST_STEPS = 20, 50


class BoostedRFF(SupervisedFourierMap):
    r"""Fourier features from rounds that align with what the model still gets wrong.

    Each round draws candidates from a multi-scale prior, weighs samples by how wrong the
    current model is on them, keeps some frequencies by a Gibbs draw on the alignment with these
    residuals, and moves *all* frequencies and amplitudes together by a few quasi-Newton steps.
    At 5 to 20 frequencies the directions are what is scarce: drawn ones are wasted on wide data,
    moved ones are not. What is kept is the frequencies: fit any linear model on the map.

    Classes may be of unequal size: the intercept is free, so that in every draw what the model
    puts too low weighs as much as what it puts too high. Weights that also balance the classes
    in the loss were measured, and do harm where one is rare.

    There is no certificate: frequencies that were moved to fit a sample have no prior.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number D of frequencies; the map has 2 D columns.
    target_type : {"auto", "binary", "multiclass", "multilabel", "continuous"}, default="auto"
        What y holds, as in ``PBRFF``.
    n_rounds : int, default=4
        In how many parts they are added.
    n_steps : int or "auto", default="auto"
        Quasi-Newton steps after each round. Large samples bear more: "auto" is half the square
        root of their number, 20 at least and 50 at most.
    ridge : float, default=0.01
        Penalty on the squared amplitudes, against the mean loss.
    random_state : int, RandomState or None, default=None
        With an integer the frequencies are the same for any number of threads.
    verbose : bool, default=False
        Whether to write a line to standard error after each round.

    Attributes
    ----------
    frequencies_ : array of shape (n_frequencies, n_features)
        In the units of X; during the fit each column is measured by its standard deviation.
    frequency_weights_, posterior_ : arrays of shape (n_frequencies,)
        All equal.
    classes_ : array of shape (n_classes,)
        The classes, where y holds classes.
    n_features_in_ : int

    See Also
    --------
    PBRFF : One pass, no moves, with a certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(BoostedRFF(5, random_state=0), LogisticRegression())
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        n_frequencies: int = 100,
        *,
        target_type: str | TargetType = "auto",
        n_rounds: int = 4,
        n_steps: int | str = "auto",
        ridge: float = 0.01,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.target_type = target_type
        self.n_rounds = n_rounds
        self.n_steps = n_steps
        self.ridge = ridge
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            How many copies each sample stands for. Their sum is the sample size that shares
            the price of the prior: small sums hold frequencies back.

        Returns
        -------
        self : object
        """
        self._check_parameters()
        with all_or_nothing(self) as draft:
            X, y, weights, *_ = labelled_rows(draft, X, y, sample_weight, reset=True, fewest=2)
            copies = np.ones(len(y)) if weights is None else weights
            target = target_of(y, self.target_type)
            warn_of_many_classes(target, X.shape[0], self.target_type, stacklevel=3)
            set_classes(draft, target)
            n_steps = self._steps(copies.sum())
            scaled, scales = scaled_columns(X, copies, self._dtype(X.shape, n_steps))
            # The mean squared distance of two samples is twice the variance: one per column.
            spread = 2 * max(int(np.isfinite(scales).sum()), 1)
            model = self._boosted(scaled, spread, scaled_outputs(target, y, copies), copies)
            draft.frequencies_ = model.frequencies / scales
            draft.frequency_weights_ = np.full(self.n_frequencies, 1 / self.n_frequencies)
            draft.pool_, draft.posterior_ = draft.frequencies_, draft.frequency_weights_
        return self

    def _check_parameters(self) -> None:
        for name in ("n_frequencies", "n_rounds"):
            check_count(name, getattr(self, name))
        if self.n_steps != "auto":
            check_count("n_steps", self.n_steps, "'auto'")
        check_positive("ridge", self.ridge)
        target_type_of(self.target_type)

    def _dtype(self, shape: tuple[int, ...], n_steps: int) -> type[np.floating[Any]]:
        """Return double precision if that takes no time, because steps amplify rounding."""
        work = shape[0] * shape[1] * self.n_frequencies * self.n_rounds * n_steps
        return np.float64 if work <= SMALL_WORK else np.float32

    def _steps(self, n_samples: float) -> int:
        if self.n_steps != "auto":
            return int(self.n_steps)
        return int(np.clip(np.sqrt(n_samples) / 2, FEWEST_STEPS, MOST_STEPS))

    def _boosted(self, X: Any, spread: float, outputs: Outputs, copies: FloatArray) -> CosineModel:
        """Return the model after all rounds; ``spread`` is the mean squared distance of samples."""
        labels, losses = outputs.values, LOSSES[outputs.loss]
        n_steps = self._steps(copies.sum())
        weights = copies / copies.sum()
        seed = drawn_seed(self.random_state)
        report = reporter(self)
        prior = Mixture([RBF(gamma / spread) for gamma in RELATIVE_GAMMAS])
        penalties = Penalties(self.ridge, PRIOR_PRECISION * spread / copies.sum())
        # The best constant: its residuals weigh the same on both sides of every output.
        model = CosineModel.constant(X.shape[1], np.average(labels, axis=0, weights=copies))
        _, _, residuals = model_gradient(model, X, labels, losses, weights)
        sizes = _round_sizes(self.n_frequencies, self.n_rounds)
        for number, size in enumerate(sizes):
            pool = FrequencyPool(prior, max(N_CANDIDATES, 2 * size), X.shape[1], seed + number)
            chosen = _drawn(X, residuals * weights[:, np.newaxis], pool, size)
            model = moved_model(
                model.extended(chosen), X, labels, losses, weights, penalties, n_steps=n_steps
            )
            loss, _, residuals = model_gradient(model, X, labels, losses, weights)
            report(f"round {number + 1}/{len(sizes)}: mean loss {loss:.4f}")
        return model


def _round_sizes(total: int, n_rounds: int) -> list[int]:
    """Cut a number of frequencies into parts as equal as they can be, none of them empty."""
    return [len(part) for part in np.array_split(np.arange(total), min(n_rounds, total))]


def scaled_outputs(target: Target, y: Any, copies: FloatArray) -> Outputs:
    """Return what the model predicts; numbers are scaled to deviation one."""
    outputs = target.outputs(y)
    if outputs.loss == "square":
        outputs = outputs._replace(values=scaled_columns(outputs.values, copies, np.float64)[0])
    return outputs


def _drawn(X: Any, residuals: FloatArray, pool: FrequencyPool, size: int) -> FloatArray:
    """Draw frequencies from the Gibbs posterior of the alignment with the residuals."""
    scores = residual_losses(X, residuals, pool)
    temperature = inverse_temperature_of_size(scores, min(2 * size, len(pool) / 2))
    posterior = gibbs_posterior(scores, temperature)
    chosen, _ = draw_frequencies(posterior, size, "distinct", pool.stream(DRAW_STREAM))
    return pool[chosen]
