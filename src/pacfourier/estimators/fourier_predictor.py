"""What the classifier and the regressor share: parameters, the fit, and rows held out."""

import copy
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.core.boosting.descent import Labelled
from pacfourier.core.boosting.objectives import Objective
from pacfourier.data.samples import Block, labelled_rows, validated
from pacfourier.estimators.base import check_count, check_option, check_positive, reporter
from pacfourier.estimators.certify_predictions import (
    prediction_certificate,
    row_summary,
    summable,
)
from pacfourier.estimators.frames import (
    FrameEncoder,
    check_no_text,
    encoded_rows,
    fitted_encoder,
    frame_rows,
    needs_encoding,
    taken,
)
from pacfourier.estimators.training import (
    Recipe,
    Task,
    Trained,
    best_trial,
    possible_recipes,
    sharpness,
    trained,
    trial_of,
)
from pacfourier.pacbayes.holdout import FreshRows
from pacfourier.pacbayes.prediction_certificate import PredictionCertificate

# More rows held out for a certificate would make it little tighter.
MOST_HELD_OUT = 10_000
EPSILON = 0.05
# With fewer rows no recipe can be told from another, and the middle one is used.
FEWEST_ROWS_OF_A_TRIAL = 60


class Split(NamedTuple):
    """The rows of a fit, which of them are learned from and held out, and how to encode them."""

    block: Block
    learned: IntArray
    held_out: IntArray
    encoder: FrameEncoder | None = None


class FourierPredictor(BaseEstimator):
    """Base class of predictors: a linear model plus cosines whose frequencies are learned."""

    n_frequencies: Any
    strength: Any
    codes: Any
    certify: Any
    ties: Any
    random_state: Any
    verbose: Any
    certificate_: PredictionCertificate
    # How data frames become numbers; None for arrays and numeric frames.
    _encoder: FrameEncoder | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _check_parameters(self) -> None:
        check_count("n_frequencies", self.n_frequencies)
        if self.strength != "auto":
            check_positive("strength", self.strength)
        check_option("codes", self.codes, ("auto", True, False))
        check_option("ties", self.ties, (None, "genuine"))
        is_share = isinstance(self.certify, Real) and 0 < float(self.certify) < 1
        if self.certify is not False and not is_share:
            raise ValueError(
                "certify must be False or the share of rows to hold out, between 0 and 1, got "
                f"{self.certify!r}."
            )

    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Split:
        """Validate the rows of a fit, and hold out some of them if a certificate is wanted."""
        check_no_text(X)
        is_encoded = needs_encoding(X)
        read = frame_rows if is_encoded else labelled_rows
        block = read(self, X, y, sample_weight, reset=True, fewest=2)
        learned, held_out = self._parts(block.X.shape[0], seed)
        # Rows held out have no part in the encoding: else the certificate would be about a
        # predictor that has seen them.
        encoder = fitted_encoder(taken(block.X, learned), seed) if is_encoded else None
        self._encoder = encoder
        return Split(block, learned, held_out, encoder)

    def _parts(self, n_samples: int, seed: int) -> tuple[IntArray, IntArray]:
        """Return the rows to learn from and the rows held out."""
        if self.certify is False:
            return np.arange(n_samples), np.arange(0)
        size = min(int(np.ceil(float(self.certify) * n_samples)), MOST_HELD_OUT)
        if size > n_samples - 2:
            raise ValueError(
                f"certify must leave at least two rows to learn from, got {self.certify} of "
                f"{n_samples} samples."
            )
        order = np.random.default_rng([seed, 2]).permutation(n_samples)
        return np.sort(order[size:]), np.sort(order[:size])

    def _learn_from(self, rows: Labelled, objective: Objective, seed: int) -> None:
        """Choose a recipe on rows set aside, train the model, and set the fitted attributes."""
        report = reporter(self)
        task = Task(rows, objective, self.n_frequencies, seed)
        recipes = possible_recipes(rows.X, self.codes, self.strength)
        if rows.n_samples < FEWEST_ROWS_OF_A_TRIAL:
            recipes = recipes[len(recipes) > 1 :][:1]
        if len(recipes) == 1:
            self._store(trained(task, recipes[0], report), recipes[0])
            return
        best = best_trial([trial_of(task, recipe, report) for recipe in recipes])
        found = trained(task, best.recipe, report)
        self._store(self._calibrated(found, sharpness(best, objective)), best.recipe)

    def _calibrated(self, found: Trained, factor: float) -> Trained:
        """Return the model with calibrated scores. Only probabilities need it."""
        del factor
        return found

    def _store(self, found: Trained, recipe: Recipe) -> None:
        self._trained = found
        self.coded_, self.strength_ = recipe
        self.frequencies_, self.cosines_, self.sines_, self.linear_, self.intercept_ = found.model

    def _certify(self, split: Split) -> None:
        """Set ``certificate_`` from the rows held out, or delete that of an earlier fit."""
        if hasattr(self, "certificate_"):
            del self.certificate_
        if not len(split.held_out):
            return
        X, y = split.block.X, np.asarray(split.block.y)
        # Both parts at once, so that a column is read as numbers in both or in none.
        numbers = summable(X)
        held_out, learned = (
            row_summary(numbers[rows], y[rows]) for rows in (split.held_out, split.learned)
        )
        predictor = copy.copy(self)
        if split.encoder is None:
            # Validated rows have no names, and scikit-learn would warn about that.
            predictor.__dict__.pop("feature_names_in_", None)
        self.certificate_ = prediction_certificate(
            predictor,
            taken(X, split.held_out),
            y[split.held_out],
            FreshRows(held_out, learned, is_split=True),
            epsilon=EPSILON,
            ties=self.ties,
        )

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._trained.scores(self._numbers(X))

    def _numbers(self, X: Any) -> Any:
        """Return validated rows as numbers. Data frames are encoded as in the fit."""
        if self._encoder is not None:
            return encoded_rows(self, self._encoder, X)
        check_no_text(X)
        return validated(X, self, reset=False)


def labelled(split: Split, labels: FloatArray, weights: FloatArray | None) -> Labelled:
    """Return the rows to learn from, with labels of all rows coded as numbers."""
    rows = split.learned
    copies = np.ones(len(rows)) if weights is None else weights[rows] / weights[rows].mean()
    X = taken(split.block.X, rows)
    numbers = X if split.encoder is None else split.encoder.encoded(X)
    return Labelled(numbers, labels[rows].astype(np.float32), copies.astype(np.float32))
