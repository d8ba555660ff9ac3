"""A classifier of tables that carries its certificates."""

import time
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline

from pacfourier.bounds import holdout
from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.errors import InputError, listed
from pacfourier.estimators.pbrff import PBRFF
from pacfourier.tabular.class_labels import check_classes, check_drop, table_labels
from pacfourier.tabular.columns import Columns, column_encoder, table_columns

# What remains, three rows of five, is learned from.
PREPARATION_SHARE, HELD_OUT_SHARE = 0.15, 0.25
FEWEST_ROWS = 50
# Also the smallest number of rows of a class that can be learned from: one a fold.
N_FOLDS = 5
PENALTIES = {"C": [1.0, 10.0, 100.0, 1000.0]}
# How unlikely a coincidence must be before fresh rows are taken for old ones.
COINCIDENCE = 0.001


class ObservedError(NamedTuple):
    """Errors of a classifier on rows that no choice has seen."""

    n_errors: int
    n_samples: int
    epsilon: float

    @property
    def bound(self):
        """The exact binomial (Clopper-Pearson) bound on the error on new rows."""
        return holdout(**self._asdict()).value


@dataclass(frozen=True, eq=False)
class TabularModel:
    """A fitted classifier of tables.

    Attributes
    ----------
    columns : Columns
        What is read of a table.
    pipeline : Pipeline
        The encoder of the columns, the learned map, the linear classifier.
    record : dict
        What is known of the fit, in plain numbers, strings and lists.
    fingerprints : array of shape (n_rows,)
        Those of all encoded rows of the table it was fitted on.
    """

    columns: Columns
    pipeline: Pipeline
    record: dict
    fingerprints: np.ndarray

    def predictions(self, table):
        """Return the predicted class of each row and the probability of each class, by name."""
        mapped = self.pipeline[:-1].transform(self.columns.values(table))
        classifier = self.pipeline[-1]
        probabilities = zip(classifier.classes_, classifier.predict_proba(mapped).T, strict=True)
        return {f"predicted_{self.record['target_column']}": classifier.predict(mapped)} | {
            f"probability_{name}": values for name, values in probabilities
        }

    def notes(self, table):
        """Return what of a table is not read, in words."""
        expected = {*self.columns.names, *self.columns.left_out, self.record["target_column"]}
        extra = [name for name in table.columns if name not in expected]
        unknown = [f"columns that the model does not know are ignored: {listed(extra)}."]
        return [*self.columns.notes(table), *(unknown if extra else [])]

    def certificate(self):
        """Return the certificate of the learned map, computed anew."""
        return self.pipeline["features"].certificate(self.record["epsilon"])

    @property
    def held_out_error(self):
        """The errors on the part of the table that was held out."""
        confusion = np.asarray(self.record["confusion"])
        n_rows = int(confusion.sum())
        return ObservedError(n_rows - int(np.trace(confusion)), n_rows, self.record["epsilon"])

    @property
    def refusal(self):
        """Why the rows of the fit are no sample of independent draws; empty if none is seen."""
        assumptions = self.record["certificate"]["assumptions"]
        violated = [item for item in assumptions if item["status"] == "violated"]
        return " ".join(item["reason"] for item in violated if item["name"] == "sample")

    def fresh_error(self, table):
        """Return the errors on labelled rows that are not those of the fit.

        Parameters
        ----------
        table : DataFrame
            Refused, by an InputError, where more of its rows are known than coincidence allows.

        Returns
        -------
        error : ObservedError
        """
        labels = table_labels(table, self.record["target_column"])
        encoded = self.pipeline["columns"].transform(self.columns.values(table))
        n_known = int(np.isin(row_fingerprints(encoded), self.fingerprints).sum())
        _check_fresh(n_known, len(labels), self.record["known_share"])
        n_errors = int((self.pipeline[1:].predict(encoded) != labels).sum())
        return ObservedError(n_errors, len(labels), self.record["epsilon"])


def _check_fresh(n_known, n_rows, known_share):
    """Refuse rows of which more are known than rows of one law coincide.

    The held-out rows of the fit say how many do: none of measurements, many of a few categories.
    """
    if n_known > stats.binom.isf(COINCIDENCE, n_rows, known_share):
        raise InputError(
            f"data must be fresh, got {n_known} of {n_rows} rows that the model was fitted on: "
            "their errors bound nothing."
        )


class TableSplit(NamedTuple):
    """Positions of the rows of each part of a table."""

    preparation: np.ndarray
    learning: np.ndarray
    held_out: np.ndarray


def random_split(n_rows, seed):
    """Cut rows into three parts, blindly.

    Any part of independent rows is then a sample of independent rows. A stratified part is
    not: its numbers of rows a class are fixed, where those of new rows vary.
    """
    order = np.random.default_rng(seed).permutation(n_rows)
    n_preparation, n_held_out = round(PREPARATION_SHARE * n_rows), round(HELD_OUT_SHARE * n_rows)
    return TableSplit(*np.split(order, [n_preparation, n_rows - n_held_out]))


def fit_table(
    table, target_column, *, drop=(), binary=False, n_frequencies=100, epsilon=0.05, seed=0
):
    """Train a certified classifier on a table.

    The rows are cut into three parts. The *preparation* fits the encoder of the columns and
    serves nothing else; the *learning* part gives the map, its certificate and the linear
    classifier; the *held-out* part gives the bound on the error.

    Parameters
    ----------
    table : DataFrame
    target_column : str
        Name of the column that holds the classes.
    drop : sequence of str, default=()
        Names of columns to leave out.
    binary : bool, default=False
        Whether the target can have two classes only, which makes the certificate tighter.
    n_frequencies : int, default=100
    epsilon : float, default=0.05
        Probability that the certificate fails, and that the bound on the error fails.
    seed : int, default=0

    Returns
    -------
    model : TabularModel
    """
    started = time.perf_counter()
    labels = _checked_labels(table, target_column, epsilon)
    check_binary(binary, np.unique(labels))
    split = random_split(len(table), seed)
    check_learning_part(Counter(labels[split.learning]), np.unique(labels), target_column)
    inputs = table.drop(columns=target_column)
    check_drop(drop, inputs.columns)
    columns = table_columns(inputs.iloc[np.sort(split.preparation)], drop)
    X = columns.values(inputs)
    encoder = column_encoder(columns).fit(X.iloc[split.preparation])
    encoded = encoder.transform(X)
    learning, held_out = (encoded[part] for part in split[1:])
    features = untrained_features(binary, n_frequencies, seed)
    features.fit(learning, labels[split.learning])
    classifier = trained_classifier(features.transform(learning), labels[split.learning], seed)
    pipeline = Pipeline([("columns", encoder), ("features", features), ("classifier", classifier)])
    return finished_model(
        columns,
        pipeline,
        split,
        row_fingerprints(encoded),
        target_column=target_column,
        epsilon=epsilon,
        seed=seed,
        confusion=confusion(pipeline[1:], held_out, labels[split.held_out]).tolist(),
        notes=columns.notes(inputs),
        seconds=time.perf_counter() - started,
    )


def finished_model(columns, pipeline, split, fingerprints, *, notes, **record):
    """Return the model of what was learned, with its record."""
    certificate = pipeline["features"].certificate(record["epsilon"])
    record |= {
        "classes": pipeline.classes_.tolist(),
        "rows": [len(part) for part in split],
        "certificate": certificate.to_dict(),
        "known_share": known_share(fingerprints, split),
        "notes": [*_omissions(columns), *notes, *_refusals(certificate)],
        "versions": {name: version(name) for name in ("pacfourier", "scikit-learn", "numpy")},
    }
    return TabularModel(columns, pipeline, record, fingerprints)


def _checked_labels(table, target_column, epsilon):
    check_epsilon(epsilon)
    labels = table_labels(table, target_column)
    if len(table) < FEWEST_ROWS:
        raise InputError(f"data must have {FEWEST_ROWS} rows or more, got {len(table)}.")
    check_classes(labels, target_column)
    return labels


def check_epsilon(epsilon):
    """Refuse what is no probability."""
    if not 0 < epsilon < 1:
        raise InputError(f"epsilon must lie between 0 and 1, got {epsilon!r}.")


def check_learning_part(counts, classes, target_column):
    """Refuse classes with fewer rows to learn from than there are folds."""
    rare = [name for name in classes if counts[name] < N_FOLDS]
    if rare:
        raise InputError(
            f"target {target_column!r} must have {N_FOLDS} rows or more of each class in the "
            f"learning part (three fifths of all rows), got fewer of {listed(rare)}: merge rare "
            "classes or leave them out."
        )


def check_binary(binary, classes):
    """Refuse a declaration of two classes that the table contradicts."""
    if binary and len(classes) != 2:
        raise InputError(f"binary must come with two classes, got {len(classes)}.")


def untrained_features(binary, n_frequencies, seed):
    """Return the map; that there can be but two classes is for the user to say."""
    kind = "binary" if binary else "multiclass"
    return PBRFF(n_frequencies, target_type=kind, random_state=seed)


def trained_classifier(features, labels, seed):
    """Return the linear classifier that follows the map."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    search = GridSearchCV(LogisticRegression(max_iter=2000), PENALTIES, cv=folds)
    return search.fit(features, labels).best_estimator_


def _omissions(columns):
    return [f"column {name!r} is left out: {why}." for name, why in columns.left_out.items()]


def _refusals(certificate):
    reasons = [item.reason for item in certificate.violations]
    return [f"nothing is certified: {reason} Repair the table and fit again." for reason in reasons]


def confusion(classifier, X, labels):
    """Return how many rows of each class (down) are given each class (across)."""
    return confusion_matrix(labels, classifier.predict(X), labels=classifier.classes_)


def known_share(fingerprints, split):
    """Return the share of held-out rows that equal one of the others."""
    others = np.concatenate([fingerprints[part] for part in (split.preparation, split.learning)])
    # In place, where np.isin holds fifty bytes a row.
    others.sort()
    held_out = np.sort(fingerprints[split.held_out])
    first, end = (np.searchsorted(others, held_out, side) for side in ("left", "right"))
    return float((first < end).mean())
