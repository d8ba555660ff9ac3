"""Certified classifiers for tables that fit in memory."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

from pacfourier.bounds import holdout
from pacfourier.errors import InputError, listed
from pacfourier.estimators.pbrff import PBRFF
from pacfourier.pacbayes.assumptions import Ties
from pacfourier.pacbayes.certificate import Certificate
from pacfourier.tabular.class_labels import check_classes, check_drop, table_labels
from pacfourier.tabular.columns import Columns, column_encoder, table_columns
from pacfourier.tabular.fresh_rows import (
    FEWEST_ROWS_RECOGNISED,
    agreement_probability,
    bucket_counts,
    n_buckets,
    noisy_counts,
)

# The other rows, three out of five, are the training rows.
PREPROCESSING_SHARE, HELD_OUT_SHARE = 0.15, 0.25
FEWEST_ROWS = 50
# Also the fewest training rows of a class: cross-validation needs one per fold.
N_FOLDS = 5
PENALTIES = {"C": [1.0, 10.0, 100.0, 1000.0]}
# A smaller probability of chance agreement means that rows are not new. The probability is an
# approximation; in simulations, fewer than one in a thousand honest tables fall below this level.
COINCIDENCE = 2e-4


class ObservedError(NamedTuple):
    """The errors of a classifier on rows that were not used to choose it."""

    n_errors: int
    n_samples: int
    epsilon: float

    @property
    def bound(self) -> float:
        """The exact binomial (Clopper-Pearson) bound on the error on future rows."""
        return holdout(**self._asdict()).value


@dataclass(frozen=True, eq=False)
class TabularModel:
    """A fitted classifier for tables.

    Attributes
    ----------
    columns : Columns
        Which columns of a table are used.
    pipeline : Pipeline
        The encoder of the columns, the learned map and the linear classifier.
    record : dict
        Facts about the fit, as plain numbers, strings and lists.
    row_counts : array of shape (n_buckets,)
        Noisy counts of rows and their classes, to recognise the table later (``fresh_rows``).
    """

    columns: Columns
    pipeline: Pipeline
    record: dict[str, Any]
    row_counts: np.ndarray

    def predictions(self, table: pd.DataFrame) -> dict[str, np.ndarray]:
        """Return the columns to add to a table: the predicted class and the probabilities."""
        mapped = self.pipeline[:-1].transform(self.columns.values(table))
        classifier = self.pipeline[-1]
        probabilities = zip(classifier.classes_, classifier.predict_proba(mapped).T, strict=True)
        return {f"predicted_{self.record['target_column']}": classifier.predict(mapped)} | {
            f"probability_{name}": values for name, values in probabilities
        }

    def notes(self, table: pd.DataFrame) -> list[str]:
        """Return notes on the values and columns of a table that the model does not use."""
        expected = {*self.columns.names, *self.columns.left_out, self.record["target_column"]}
        extra = [name for name in table.columns if name not in expected]
        unknown = [f"columns that the model does not know are ignored: {listed(extra)}."]
        return [*self.columns.notes(table), *(unknown if extra else [])]

    def certificate(self) -> Certificate:
        """Return the certificate of the learned map, computed again."""
        features = self.pipeline["features"]
        return features.certificate(self.record["epsilon"], ties=self.record["ties"])

    @property
    def held_out_error(self) -> ObservedError:
        """The errors on the held-out rows."""
        confusion = np.asarray(self.record["confusion"])
        n_rows = int(confusion.sum())
        return ObservedError(n_rows - int(np.trace(confusion)), n_rows, self.record["epsilon"])

    @property
    def no_bound_reason(self) -> str:
        """Why the rows of the table are not independent draws; empty if nothing is found."""
        assumptions = self.record["certificate"]["assumptions"]
        violated = [item for item in assumptions if item["status"] == "violated"]
        return " ".join(item["reason"] for item in violated if item["name"] == "sample")

    def fresh_error(self, table: pd.DataFrame, *, is_fresh: bool = False) -> ObservedError:
        """Return the errors on new rows with their classes.

        The rows must be new, and you have to see to it. The model recognises only a table that is,
        for the most part, the one that it was fitted on. It stores nothing by which single rows
        could be recognised, by this method or by other people (see ``fresh_rows``).

        Parameters
        ----------
        table : DataFrame
            New rows. If the table of the fit is recognised, the method raises an InputError.
        is_fresh : bool, default=False
            Whether you declare that no row was in the table of the fit. This is needed if the model
            was fitted on fewer than 400 rows, which cannot be recognised.

        Returns
        -------
        error : ObservedError
        """
        labels = table_labels(table, self.record["target_column"])
        encoded = self.pipeline["columns"].transform(self.columns.values(table))
        counts = bucket_counts(encoded, labels, len(self.row_counts))
        n_stored = sum(self.record["rows"])
        _check_fresh(self.row_counts, counts, n_stored=n_stored, n_rows=len(labels))
        if n_stored < FEWEST_ROWS_RECOGNISED and not is_fresh:
            raise InputError(
                f"data must be declared to be new rows, because the {n_stored} rows of the fit are "
                "too few to be recognised: pass --fresh if none of these rows was among them."
            )
        n_errors = int((self.pipeline[1:].predict(encoded) != labels).sum())
        return ObservedError(n_errors, len(labels), self.record["epsilon"])


def _check_fresh(stored: np.ndarray, counts: np.ndarray, *, n_stored: int, n_rows: int) -> None:
    """Raise an error if the counts of rows are closer to those of the fit than chance allows."""
    if agreement_probability(stored, counts, n_stored=n_stored, n_rows=n_rows) < COINCIDENCE:
        raise InputError(
            f"data must be new rows, got {n_rows} rows, many of which the model was fitted on: "
            "independent rows would differ more from them. The error on known rows says nothing "
            "about future rows: use rows that the model has not seen."
        )


class TableSplit(NamedTuple):
    """Positions of the rows of a table, by what they are used for."""

    preprocessing: np.ndarray
    training: np.ndarray
    held_out: np.ndarray


def random_split(n_rows: int, seed: int) -> TableSplit:
    """Split rows three ways at random, without looking at their classes.

    Each part of independent rows is then a sample of independent rows. That would not be true of
    a stratified split, which fixes the number of rows of each class.
    """
    order = np.random.default_rng(seed).permutation(n_rows)
    n_preprocessing = round(PREPROCESSING_SHARE * n_rows)
    n_held_out = round(HELD_OUT_SHARE * n_rows)
    return TableSplit(*np.split(order, [n_preprocessing, n_rows - n_held_out]))


def fit_table(
    table: pd.DataFrame,
    target_column: str,
    *,
    drop: Sequence[str] = (),
    binary: bool = False,
    ties: Ties = None,
    n_frequencies: int = 100,
    epsilon: float = 0.05,
    seed: int = 0,
) -> TabularModel:
    """Train a certified classifier on a table.

    The rows are split three ways. The *preprocessing* rows fit the encoder of the columns. The
    *training* rows fit the Fourier map with its certificate, and the linear classifier. The
    *held-out* rows give the bound on the error.

    Parameters
    ----------
    table : DataFrame
    target_column : str
        Name of the column that holds the classes.
    drop : sequence of str, default=()
        Names of columns to leave out.
    binary : bool, default=False
        Declare that there are only two classes, which makes the certificate tighter.
    ties : {None, "genuine"}, default=None
        What repeated rows are. Above 1 % of them there are no bounds, unless you declare that they
        are "genuine": independent draws of a distribution that repeats values, not copies.
    n_frequencies : int, default=100
    epsilon : float, default=0.05
        Probability with which each bound may fail: the certificate, and the bound on the error.
    seed : int, default=0

    Returns
    -------
    model : TabularModel
    """
    started = time.perf_counter()
    check_ties(ties)
    labels = _checked_labels(table, target_column, epsilon)
    check_binary(binary, np.unique(labels))
    split = random_split(len(table), seed)
    check_training_classes(Counter(labels[split.training]), np.unique(labels), target_column)
    inputs = table.drop(columns=target_column)
    check_drop(drop, inputs.columns)
    columns = table_columns(inputs.iloc[np.sort(split.preprocessing)], drop)
    X = columns.values(inputs)
    encoder = column_encoder(columns).fit(X.iloc[split.preprocessing])
    encoded = encoder.transform(X)
    training_labels = labels[split.training]
    features = untrained_features(binary, n_frequencies, seed)
    mapped = features.fit(encoded[split.training], training_labels).transform(
        encoded[split.training]
    )
    classifier = trained_classifier(mapped, training_labels, seed)
    pipeline = Pipeline([("columns", encoder), ("features", features), ("classifier", classifier)])
    errors = confusion(pipeline[1:], encoded[split.held_out], labels[split.held_out])
    facts = {"target_column": target_column, "epsilon": epsilon, "seed": seed, "ties": ties}
    facts |= {"confusion": errors.tolist(), "notes": columns.notes(inputs)}
    counts = bucket_counts(encoded, labels, n_buckets(len(table)))
    return finished_model(columns, pipeline, split, counts, started, facts)


def finished_model(
    columns: Columns,
    pipeline: Pipeline,
    split: TableSplit,
    counts: np.ndarray,
    started: float,
    facts: dict[str, Any],
) -> TabularModel:
    """Return the fitted model with its record.

    Parameters
    ----------
    columns, pipeline
        See ``TabularModel``.
    split : TableSplit
    counts : array of shape (n_buckets,)
        How many rows fall into each bucket, without noise.
    started : float
        When the fit began, in seconds of ``time.perf_counter``.
    facts : dict
        The target column, epsilon, the seed, ties, the confusion matrix and the notes.
    """
    seconds = time.perf_counter() - started
    certificate = pipeline["features"].certificate(facts["epsilon"], ties=facts["ties"])
    record = facts | {
        "seconds": seconds,
        "classes": pipeline.classes_.tolist(),
        "rows": [len(part) for part in split],
        "certificate": certificate.to_dict(),
        "notes": [*_omissions(columns), *facts["notes"], *_missing_certificate_notes(certificate)],
        "versions": {name: version(name) for name in ("pacfourier", "scikit-learn", "numpy")},
    }
    # Without a seed: the seed of the fit is in the file, and with it others could undo the noise.
    rng = np.random.default_rng()
    _forget_rows(pipeline["features"], rng)
    return TabularModel(columns, pipeline, record, noisy_counts(counts, rng))


def _forget_rows(features: PBRFF, rng: np.random.Generator) -> None:
    """Replace the fingerprints of training rows by random numbers, in place.

    The certificate needs only how often each of them occurs.
    """
    n_fingerprints = len(features._summary.fingerprints)
    numbers = rng.integers(0, 2**64, n_fingerprints, dtype=np.uint64)
    features._summary = replace(features._summary, fingerprints=np.sort(numbers))


def _checked_labels(table: pd.DataFrame, target_column: str, epsilon: float) -> np.ndarray:
    check_epsilon(epsilon)
    labels = table_labels(table, target_column)
    if len(table) < FEWEST_ROWS:
        raise InputError(f"data must have {FEWEST_ROWS} rows or more, got {len(table)}.")
    check_classes(labels, target_column)
    return labels


def check_epsilon(epsilon: float) -> None:
    """Raise an error if epsilon is not a probability."""
    if not 0 < epsilon < 1:
        raise InputError(f"epsilon must lie between 0 and 1, got {epsilon!r}.")


def check_ties(ties: str | None) -> None:
    """Raise an error if ties is not one of the words that describe repeated rows."""
    if ties not in (None, "genuine"):
        raise InputError(f"ties must be 'genuine' or left out, got {ties!r}.")


def check_training_classes(
    counts: Mapping[str, int], classes: np.ndarray, target_column: str
) -> None:
    """Raise an error if a class has fewer training rows than cross-validation has folds."""
    rare = [name for name in classes if counts[name] < N_FOLDS]
    if rare:
        raise InputError(
            f"target {target_column!r} must have {N_FOLDS} rows or more of each class among the "
            f"training rows (three fifths of all rows), got fewer of {listed(rare)}: merge rare "
            "classes or leave out their rows."
        )


def check_binary(binary: bool, classes: np.ndarray) -> None:
    """Raise an error if two classes are declared but the table has another number of them."""
    if binary and len(classes) != 2:
        raise InputError(
            f"binary must come with two classes, got {len(classes)}: leave the option out."
        )


def untrained_features(binary: bool, n_frequencies: int, seed: int) -> PBRFF:
    """Return the unfitted map; only the user can know that there are no more than two classes."""
    kind = "binary" if binary else "multiclass"
    return PBRFF(n_frequencies, target_type=kind, random_state=seed)


def trained_classifier(features: np.ndarray, labels: np.ndarray, seed: int) -> LogisticRegression:
    """Return the linear classifier on the features of the map."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    search = GridSearchCV(LogisticRegression(max_iter=2000), PENALTIES, cv=folds)
    return search.fit(features, labels).best_estimator_


def _omissions(columns: Columns) -> list[str]:
    return [f"column {name!r} is left out: {why}." for name, why in columns.left_out.items()]


def _missing_certificate_notes(certificate: Certificate) -> list[str]:
    return [f"there is no certificate: {item.reason}" for item in certificate.violations]


def confusion(classifier: Any, X: Any, labels: np.ndarray) -> np.ndarray:
    """Return the number of rows by true class (row) and predicted class (column)."""
    return confusion_matrix(labels, classifier.predict(X), labels=classifier.classes_)
