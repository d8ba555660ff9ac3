"""Fourier features learned in rounds of boosting, with frequencies that move."""

from typing import Any, Self

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.alignment.targets import Outputs, Target, TargetType, target_of, target_type_of
from pacfourier.core.boosting.columns import described_columns
from pacfourier.core.boosting.cosine_model import (
    CosineModel,
    Losses,
    Penalties,
    hinge_losses,
    model_gradient,
    moved_model,
    square_losses,
)
from pacfourier.core.boosting.descent import Decays, Descent, Labelled
from pacfourier.core.boosting.objectives import Objective
from pacfourier.core.boosting.scaling import scaled_columns
from pacfourier.core.prior.frequencies import FrequencyPool
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
from pacfourier.estimators.learned_map import SMALL_WORK, learned_of
from pacfourier.estimators.training import (
    FEW_COLUMNS,
    LARGE_SAMPLE,
    N_CANDIDATES,
    Task,
    coded_rows,
    drawn_frequencies,
    drawn_onto,
    epoch_losses,
    epochs,
    in_memory,
    mean_square,
    residual_prior,
    start_rows,
)

_LOSSES: dict[str, Losses] = {"hinge": hinge_losses, "square": square_losses}
# A normal prior keeps frequencies from moving too far. This is its precision, in units of the mean
# squared distance. The penalty is divided by the number of samples, like a divergence in a bound.
_PRIOR_PRECISION = 0.25
# Steps per round for small samples, which more steps would overfit, and for large ones.
FEWEST_STEPS, MOST_STEPS = 20, 50
# The penalties are part of the loss, so nothing decays beside them.
_NO_DECAYS = Decays(0.0, 0.0, 0.0)


class BoostedRFF(SupervisedFourierMap):
    """Fourier features from rounds that align with what the model still gets wrong.

    Use it for the smallest error with few columns, for classification or regression. Fit any linear
    model on the map. There is no certificate from the sample itself, because frequencies that were
    moved to fit it do not come from a prior. ``certify`` certifies the map on rows that
    were held out.

    The frequencies belong to a linear model on cosines and sines, which is fitted along with them.
    Each round has three steps:

    1. Draw candidate frequencies from a prior with several bandwidths, and compute how well they
       align with the residuals of the current model.
    2. Choose some of them at random, by a Gibbs posterior over these alignments.
    3. Move *all* frequencies and amplitudes together, by a few quasi-Newton steps on the loss. A
       large sample makes some passes of stochastic descent on the same loss instead.

    With 5 to 20 frequencies, each one must point in a useful direction. On data with many features
    few random directions are useful, so moving the frequencies helps most there.

    Classes may have unequal sizes. The model has a free intercept, so in every round the samples
    with scores that are too low weigh as much as those with scores that are too high. Balancing the
    classes in the loss was tried in benchmarks and made the results worse when a class is rare.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number of frequencies to learn. The map has two columns per frequency.
    target_type : {"auto", "binary", "multiclass", "multilabel", "continuous"}, default="auto"
        What y holds. "auto" infers it from y: integers and strings are classes, numbers with a
        fractional part are continuous, and a matrix of zeros and ones is multilabel.
    n_rounds : int, default=4
        Number of rounds. Each adds an equal share of the frequencies.
    n_steps : int or "auto", default="auto"
        Number of quasi-Newton steps after each round. "auto" is half the square root of the number
        of samples, but at least 20 and at most 50: more steps would overfit small samples. For a
        dense X with at least 10,000 rows and more than 10 columns, "auto" makes passes over
        mini-batches instead: about 1,600 steps in all rounds together, in 5 to 60 passes or so.
    ridge : float, default=0.01
        Penalty on the squared amplitudes, relative to the mean loss.
    random_state : int, RandomState or None, default=None
        Seed of the candidates and the choice among them. Pass an integer for reproducible results;
        they do not depend on the number of threads.
    verbose : bool, default=False
        Whether to write a line to standard error after each round.

    Attributes
    ----------
    frequencies_ : array of shape (n_frequencies, n_features)
        The learned frequencies, in the units of X. During the fit, columns are measured in units
        of their own, mostly their standard deviations, so X need not be scaled.
    frequency_weights_ : array of shape (n_frequencies,)
        Weights of the frequencies in the kernel of the map. All are equal and they sum to one.
    pool_ : array of shape (n_frequencies, n_features)
        The same as ``frequencies_``, because all frequencies are kept.
    posterior_ : array of shape (n_frequencies,)
        The same as ``frequency_weights_``.
    classes_ : array of shape (n_classes,)
        The classes. Only defined if y holds classes.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (n_features,)
        Names of the features seen during fit. Only defined if all column names of X are strings.

    See Also
    --------
    PBRFF : One pass over the data, frequencies that do not move, and a certificate.

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

    # Columns are measured in their own units before anything is squared.
    _largest_single = 1e35

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix or tensor of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples each row stands for. The sum of the weights is used as the sample size.
            If it is small, frequencies are pulled more strongly towards zero.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        with all_or_nothing(self) as draft:
            block = labelled_rows(draft, X, y, sample_weight, reset=True, fewest=2)
            X, y, weights, *_ = block
            copies = np.ones(len(y)) if weights is None else weights
            target = target_of(y, self.target_type)
            warn_of_many_classes(target, X.shape[0], self.target_type, stacklevel=3)
            set_classes(draft, target)
            outputs = _scaled_outputs(target, y, copies)
            boosted = self._descended if self._is_large(X) else self._boosted
            draft.frequencies_ = boosted(X, outputs, copies)
            draft.frequency_weights_ = np.full(self.n_frequencies, 1 / self.n_frequencies)
            draft.pool_, draft.posterior_ = draft.frequencies_, draft.frequency_weights_
            learned = learned_of(block, target, draft.pool_, "double")
            draft._sums, draft._summary = learned.sums, learned.summary
        return self

    def _check_parameters(self) -> None:
        for name in ("n_frequencies", "n_rounds"):
            check_count(name, getattr(self, name))
        if self.n_steps != "auto":
            check_count("n_steps", self.n_steps, "'auto'")
        check_positive("ridge", self.ridge)
        target_type_of(self.target_type)

    def _dtype(self, shape: tuple[int, ...], n_steps: int) -> type[np.floating[Any]]:
        """Return double precision for small problems, because steps amplify rounding errors."""
        work = shape[0] * shape[1] * self.n_frequencies * self.n_rounds * n_steps
        return np.float64 if work <= SMALL_WORK else np.float32

    def _steps(self, n_samples: float) -> int:
        if self.n_steps != "auto":
            return int(self.n_steps)
        return int(np.clip(np.sqrt(n_samples) / 2, FEWEST_STEPS, MOST_STEPS))

    def _is_large(self, X: Any) -> bool:
        """Return whether mini-batches are faster than quasi-Newton steps, and as good."""
        is_wide = X.shape[1] > FEW_COLUMNS and not hasattr(X, "tocsr")
        return self.n_steps == "auto" and is_wide and X.shape[0] >= LARGE_SAMPLE

    def _boosted(self, X: Any, outputs: Outputs, copies: FloatArray) -> FloatArray:
        """Return the frequencies after all rounds of quasi-Newton steps."""
        n_steps = self._steps(copies.sum())
        scaled, scales = scaled_columns(X, copies, self._dtype(X.shape, n_steps))
        varying = _varying_columns(scales)
        if len(varying) < X.shape[1]:
            scaled = scaled[:, varying]
        labels, losses = outputs.values, _LOSSES[outputs.loss]
        weights = copies / copies.sum()
        seed = drawn_seed(self.random_state)
        report = reporter(self)
        # The mean squared distance is twice the variance, and each scaled column has one.
        spread = 2 * len(varying)
        prior = residual_prior(spread)
        penalties = self._penalties(spread, copies)
        # At the best constant, positive and negative residuals have the same total.
        model = CosineModel.constant(len(varying), np.average(labels, axis=0, weights=copies))
        _, _, residuals = model_gradient(model, scaled, labels, losses, weights)
        sizes = _round_sizes(self.n_frequencies, self.n_rounds)
        for number, size in enumerate(sizes):
            pool = FrequencyPool(prior, max(N_CANDIDATES, 2 * size), len(varying), seed + number)
            chosen = drawn_frequencies(scaled, residuals * weights[:, np.newaxis], pool, size)
            model = moved_model(
                model.extended(chosen), scaled, labels, losses, weights, penalties, n_steps=n_steps
            )
            loss, _, residuals = model_gradient(model, scaled, labels, losses, weights)
            report(f"round {number + 1}/{len(sizes)}: mean loss {loss:.4f}")
        frequencies = np.zeros((self.n_frequencies, X.shape[1]))
        frequencies[:, varying] = model.frequencies / scales[varying]
        return frequencies

    def _descended(self, X: Any, outputs: Outputs, copies: FloatArray) -> FloatArray:
        """Return the frequencies after all rounds of passes over mini-batches."""
        X, labels = in_memory(X), outputs.values.astype(np.float32)
        columns = described_columns(X, copies, coded=False)
        weights = (copies / copies.mean()).astype(np.float32)
        rows = coded_rows(columns, Labelled(X, labels, weights))
        few = rows.take(start_rows(len(labels)))
        objective = Objective(_LOSSES[outputs.loss], constant=lambda means: means)
        penalties = self._penalties(2 * mean_square(rows.X), copies)
        seed, report = drawn_seed(self.random_state), reporter(self)
        rng = np.random.default_rng(seed)
        model = CosineModel.constant(X.shape[1], np.average(labels, axis=0, weights=copies))
        sizes = _round_sizes(self.n_frequencies, self.n_rounds)
        n_epochs = -(-epochs(len(labels)) // len(sizes))
        for number, size in enumerate(sizes):
            start = drawn_onto(model, few, Task(rows, objective, size, seed + number))
            descent = Descent.start(start, objective.losses, _NO_DECAYS, penalties)
            *_, loss = epoch_losses(descent, rows, len(labels), n_epochs, rng)
            model = descent.model
            report(f"round {number + 1}/{len(sizes)}: mean loss {loss:.4f}")
        return model.frequencies / columns.units

    def _penalties(self, spread: float, copies: FloatArray) -> Penalties:
        """Return the penalties if ``spread`` is the mean squared distance between samples."""
        return Penalties(self.ridge, _PRIOR_PRECISION * spread / copies.sum())


def _varying_columns(scales: FloatArray) -> IntArray:
    """Return the columns that a frequency can see: those that vary, or the first if none does."""
    varying = np.flatnonzero(np.isfinite(scales))
    return varying if len(varying) else np.arange(1)


def _round_sizes(total: int, n_rounds: int) -> list[int]:
    """Split a number of frequencies into parts of nearly equal size, none of them empty."""
    return [len(part) for part in np.array_split(np.arange(total), min(n_rounds, total))]


def _scaled_outputs(target: Target, y: Any, copies: FloatArray) -> Outputs:
    """Return what the model predicts. Continuous labels are scaled to unit variance."""
    outputs = target.outputs(y)
    if outputs.loss == "square":
        outputs = outputs._replace(values=scaled_columns(outputs.values, copies, np.float64)[0])
    return outputs
