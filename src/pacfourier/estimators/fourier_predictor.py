"""What the classifier and the regressor share: parameters, the fit, and rows held out."""

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
from pacfourier.estimators.certify_predictions import prediction_certificate, row_summary
from pacfourier.estimators.training import (
    Recipe,
    Task,
    Trained,
    best_trial,
    possible_recipes,
    trained,
    trial_of,
)
from pacfourier.pacbayes.holdout import FreshRows
from pacfourier.pacbayes.linear_predictions import LinearCertificate
from pacfourier.pacbayes.prediction_certificate import PredictionCertificate

# More rows held out for a certificate would make it little tighter.
MOST_HELD_OUT = 10_000
EPSILON = 0.05
# With fewer rows no recipe can be told from another, and the middle one is used.
FEWEST_ROWS_OF_A_TRIAL = 60


class Split(NamedTuple):
    """The rows of a fit, and which of them are learned from and held out."""

    block: Block
    learned: IntArray
    held_out: IntArray


class FourierPredictor(BaseEstimator):
    """Base class of predictors: a linear model plus cosines whose frequencies are learned."""

    n_frequencies: Any
    strength: Any
    codes: Any
    certify: Any
    ties: Any
    random_state: Any
    verbose: Any
    certificate_: PredictionCertificate | LinearCertificate
    _certify_rules: tuple[str, ...] = ()

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
        if self.certify not in (False, *self._certify_rules) and not is_share:
            rules = "".join(f", {rule!r}" for rule in self._certify_rules)
            raise ValueError(
                f"certify must be False{rules} or the share of rows to hold out, between 0 and 1, "
                f"got {self.certify!r}."
            )

    def _read(self, X: Any, y: Any, sample_weight: Any, seed: int) -> Split:
        """Validate the rows of a fit, and hold out some of them if a certificate is wanted."""
        block = labelled_rows(self, X, y, sample_weight, reset=True, fewest=2)
        n_samples = block.X.shape[0]
        if self.certify is False:
            return Split(block, np.arange(n_samples), np.arange(0))
        if self.certify == "pac-bayes":
            size = n_samples // 2
        else:
            size = min(int(np.ceil(float(self.certify) * n_samples)), MOST_HELD_OUT)
        if size > n_samples - 2:
            raise ValueError(
                f"certify must leave at least two rows to learn from, got {self.certify} of "
                f"{n_samples} samples."
            )
        order = np.random.default_rng([seed, 2]).permutation(n_samples)
        return Split(block, np.sort(order[size:]), np.sort(order[:size]))

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
        self._store(Trained.of(found.model, found.columns, best.factor), best.recipe)

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
        X, y = split.block.X[split.held_out], np.asarray(split.block.y)[split.held_out]
        self.certificate_ = prediction_certificate(
            self, X, y, fresh_rows(split), epsilon=EPSILON, ties=self.ties
        )

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._trained.scores(validated(X, self, reset=False))


def fresh_rows(split: Split) -> FreshRows:
    """Return what the rows held out and the rows learned from are."""
    X, y = split.block.X, np.asarray(split.block.y)
    summaries = [row_summary(X[rows], y[rows]) for rows in (split.held_out, split.learned)]
    return FreshRows(summaries[0], summaries[1], is_split=True)


def labelled(split: Split, labels: FloatArray, weights: FloatArray | None) -> Labelled:
    """Return the rows to learn from, with labels of all rows coded as numbers."""
    rows = split.learned
    copies = np.ones(len(rows)) if weights is None else weights[rows] / weights[rows].mean()
    return Labelled(split.block.X[rows], labels[rows].astype(np.float32), copies.astype(np.float32))
