r"""Gradient boosting random Fourier features (GBRFF), for the comparison with few frequencies.

The method is GBRFF2, the second algorithm of Gautheron, Germain, Habrard, Metzler, Morvant, Sebban
and Zantedeschi, "Landmark-based Ensemble Learning with Random Fourier Features and Gradient
Boosting", ECML PKDD 2020. We implemented it from the formulas of the paper: the constant at the
start, the exponential weights, the normal draw of a frequency, the exponential objective for its
phase and then for the frequency itself, the penalty on the frequency, and the closed-form step.

The paper leaves some choices open. Ours are:

- Columns are divided by their standard deviation, as in ``BoostedRFF``, and centred if X is dense.
  Gamma is in units of one over the number of columns that vary. The phases of a first draw then
  have variance 2 gamma for any X.
- The phase is the best one of a grid, followed by a local search. Ten steps of L-BFGS then move the
  frequency.
- Residuals are y w, with w = exp(-y H), or the same divided by the largest. As w gets smaller from
  round to round, the penalty gains weight against the data; the division prevents this. Each
  version was better on some validation part, so both compete.
- The grid has gamma 0.1 or 1 (10 was much worse), a penalty of 0, 2^-5 or 2^-2, and both residuals.

There are two methods. "GBRFF ensemble" is the classifier of the paper, the sign of a sum of D
cosines. "GBRFF" uses the D frequencies as a map of 2 D columns, with the same linear SVM as all
other methods. Both choose their setting on validation data. ``small_d.py`` runs them.
"""

import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from pacfourier.data.samples import validated
from pacfourier.estimators.base import FourierMap
from reproduction.methods import mapped
from reproduction.protocol import Bench, Setting

GAMMAS = (0.1, 1.0)
PENALTIES = (0.0, 2.0**-5, 2.0**-2)
GRID = tuple(itertools.product(GAMMAS, PENALTIES, (False, True)))
N_PHASES = 32
N_STEPS = 10
# Larger exponents are cut, so that the loss of one sample stays finite in single precision.
LARGEST_EXPONENT = 50.0


def first_score(y: np.ndarray) -> float:
    """Return the constant with the smallest exponential loss, 1/2 ln((1 + mean) / (1 - mean))."""
    return float(np.arctanh(np.mean(y)))


def wave_losses(waves: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """Return the exponential loss of each wave value against its residual."""
    return np.exp(np.minimum(-residuals * waves, LARGEST_EXPONENT))


def best_phase(turns: np.ndarray, residuals: np.ndarray) -> float:
    """Return the phase b in [-pi, pi] with the smallest mean loss of cos(turns - b)."""
    cosines, sines = np.cos(turns), np.sin(turns)

    def loss(phase: float) -> float:
        waves = cosines * np.cos(phase) + sines * np.sin(phase)
        return float(wave_losses(waves, residuals).mean())

    grid = np.linspace(-np.pi, np.pi, N_PHASES, endpoint=False)
    first = grid[np.argmin([loss(phase) for phase in grid])]
    step = 2 * np.pi / N_PHASES
    found = minimize_scalar(loss, bounds=(first - step, first + step), method="bounded")
    phase = found.x if found.fun < loss(first) else first
    return float((phase + np.pi) % (2 * np.pi) - np.pi)


def penalised_loss(
    frequency: np.ndarray, X: Any, residuals: np.ndarray, phase: float, penalty: float
) -> tuple[float, np.ndarray]:
    r"""Return the penalised mean loss of :math:`\cos(\omega \cdot x - b)` and its gradient."""
    turns = X @ frequency.astype(X.dtype) - phase
    losses = wave_losses(np.cos(turns), residuals)
    pull = losses * residuals * np.sin(turns) / len(turns)
    gradient = (X.T @ pull.astype(X.dtype)).astype(np.float64)
    value = losses.mean() + penalty * frequency @ frequency
    return float(value), gradient + 2 * penalty * frequency


def moved_frequency(
    frequency: np.ndarray, X: Any, residuals: np.ndarray, phase: float, penalty: float
) -> np.ndarray:
    """Return the frequency after some steps of L-BFGS, with the phase fixed."""
    found = minimize(
        penalised_loss,
        frequency,
        args=(X, residuals, phase, penalty),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": N_STEPS},
    )
    return found.x


def step_size(weights: np.ndarray, margins: np.ndarray) -> float:
    r"""Return 1/2 ln of the weighted sum of 1 + margin over that of 1 - margin.

    A margin m = y h lies in [-1, 1], so that :math:`e^{-\alpha m}` is at most
    :math:`(1 + m) e^{-\alpha} / 2 + (1 - m) e^{\alpha} / 2`: this step minimises the weighted
    sum of that bound, and with it the exponential loss never grows.
    """
    return float(np.arctanh(weights @ margins / weights.sum()))


class GBRFF(FourierMap):
    """Sum of cosines for labels -1 and +1. Each round adds one cosine.

    Parameters
    ----------
    n_frequencies : int, default=100
        Number of rounds.
    gamma : float, default=1
        Bandwidth of the normal draw at the start of a round, in units of one over the number of
        columns that vary.
    penalty : float, default=0
        Weight of the squared norm of a frequency.
    is_divided : bool, default=False
        Whether the residuals of a round are divided by the largest one.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    frequencies_ : array of shape (n_frequencies, n_features)
        In the units of X.
    losses_ : list of float
        Mean exponential loss on the training data before the first round and after each round.
    """

    def __init__(
        self, n_frequencies=100, *, gamma=1.0, penalty=0.0, is_divided=False, random_state=None
    ):
        self.n_frequencies = n_frequencies
        self.gamma = gamma
        self.penalty = penalty
        self.is_divided = is_divided
        self.random_state = random_state

    def fit(self, X, y):
        """Add one cosine per round."""
        X = validated(X, self, reset=True)
        rng = check_random_state(self.random_state)
        # The phase is fixed while a frequency moves, so the origin matters. Centring would make
        # sparse samples dense.
        self.scaler_ = StandardScaler(with_mean=isinstance(X, np.ndarray)).fit(X)
        scaled = self.scaler_.transform(X).astype(np.float32)
        deviation = np.sqrt(2 * self.gamma / max(1, np.count_nonzero(self.scaler_.var_)))
        self.first_score_, rounds = first_score(y), []
        weights = np.exp(-y * self.first_score_)
        self.losses_ = [float(weights.mean())]
        for _ in range(self.n_frequencies):
            draw = deviation * rng.standard_normal(X.shape[1])
            residuals = y * weights / (weights.max() if self.is_divided else 1)
            frequency, phase = self._learned_wave(scaled, residuals, draw)
            margins = y * np.cos(scaled @ frequency.astype(np.float32) - phase)
            rounds.append((frequency, phase, step_size(weights, margins)))
            weights *= np.exp(-rounds[-1][2] * margins)
            self.losses_.append(float(weights.mean()))
        frequencies, self.phases_, self.steps_ = map(np.array, zip(*rounds, strict=True))
        self.scaled_frequencies_ = frequencies.astype(np.float32)
        self.frequencies_ = (frequencies / self.scaler_.scale_).astype(np.float32)
        self.frequency_weights_ = np.full(self.n_frequencies, 1 / self.n_frequencies)
        self.pool_, self.posterior_ = self.frequencies_, self.frequency_weights_
        return self

    def _learned_wave(self, X, residuals, draw):
        phase = best_phase(X @ draw.astype(X.dtype), residuals)
        return moved_frequency(draw, X, residuals, phase, self.penalty), phase

    def predict(self, X):
        """Return the sign of the sum of cosines."""
        turns = self.scaler_.transform(X).astype(np.float32) @ self.scaled_frequencies_.T
        scores = self.first_score_ + np.cos(turns - self.phases_) @ self.steps_
        return np.where(scores > 0, 1, -1)


@lru_cache(maxsize=2)
def fitted_grid(bench: Bench, width: float) -> list[tuple[dict[str, float], GBRFF]]:
    """Return the settings of the grid with their models, which both methods share."""
    parts, seed, found = bench.parts, bench.seed("GBRFF", width), []
    for gamma, penalty, is_divided in GRID:
        settings = {"gamma": gamma, "penalty": penalty, "is_divided": is_divided}
        model = GBRFF(int(width), **settings, random_state=seed)
        found.append((settings, model.fit(parts.X_train, parts.y_train)))
    return found


def boosted_waves(bench: Bench, width: float, *, is_ensemble: bool) -> Iterator[Setting]:
    """Yield the map or the classifier of each setting."""
    for settings, model in fitted_grid(bench, width):
        yield (classified if is_ensemble else mapped)(bench, settings, model)


def classified(bench: Bench, settings: dict[str, float], model: GBRFF) -> Setting:
    """Return a classifier as a candidate whose only feature is its decision.

    On one column of signs, a linear SVM can only agree with it or predict a constant.
    """
    parts = bench.parts

    def decisions(X: Any) -> np.ndarray:
        return model.predict(X)[:, np.newaxis].astype(np.float64)

    train, valid = decisions(parts.X_train), decisions(parts.X_valid)
    return Setting(settings, train, valid, lambda: decisions(parts.X_test))
