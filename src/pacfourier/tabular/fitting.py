"""Fit a predictor to a table, certify it on rows held out, and compare it with two others."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pacfourier.bounds.safe_side import confidence
from pacfourier.data.holdout import one_of_each
from pacfourier.errors import InputError, listed
from pacfourier.estimators.fourier_classifier import FourierClassifier
from pacfourier.estimators.fourier_regressor import FourierRegressor
from pacfourier.estimators.prediction_certificates import prediction_certificate
from pacfourier.pacbayes.holdout import FreshRows
from pacfourier.pacbayes.prediction_certificate import RegressionCertificate
from pacfourier.tabular.baselines import fitted_baselines
from pacfourier.tabular.evaluation import (
    Result,
    confusion_counts,
    explained_variance,
    group_standard_error,
    losses_of,
    recall_thresholds,
)
from pacfourier.tabular.first_pass import Division
from pacfourier.tabular.model import FitSettings, HeldOut, TableCertificate, TableFit, TableModel
from pacfourier.tabular.reading.table_blocks import Reading
from pacfourier.tabular.reading.table_files import open_table
from pacfourier.tabular.row_digests import RowDigests
from pacfourier.tabular.training_rows import (
    LabelledRows,
    TrainingRows,
    frame_summary,
    training_rows,
)

_LIBRARIES = ("pacfourier", "scikit-learn", "numpy", "pandas")

# A function that is told what is being done, and which share of all work is done.
Progress = Callable[[str, float], None]
# The name of a model, its predictions for the rows held out, and the seconds of its fit.
_Compared = tuple[str, NDArray[Any], float]


class _TimedPredictor(NamedTuple):
    """A fitted predictor, and how long its fit took."""

    predictor: FourierClassifier | FourierRegressor
    seconds: float


def fit_table(
    table: Any,
    target: str,
    settings: FitSettings | None = None,
    *,
    reading: Reading | None = None,
    progress: Progress | None = None,
) -> TableFit:
    """Learn to predict one column of a table from the others.

    Parameters
    ----------
    table : path, str, or data frame of pandas or polars
        A CSV, TSV, Parquet, Arrow or JSON-lines file, or a data frame.
    target : str
        Name of the column to predict. More than 30 different numbers are amounts, and the model is
        a regression. All else are classes.
    settings : FitSettings, default=None
        What differs from the defaults.
    reading : Reading, default=None
        How to read a text file, if its separator and encoding are not to be found out.
    progress : function of a text and a float, default=None
        It is told what is being done, and which share of the work is done.

    Returns
    -------
    fit : TableFit
        The model, how good it is, and its certificate.
    """
    settings, started = settings or FitSettings(), time.perf_counter()
    report = progress or _quiet
    opened = open_table(Path(table) if isinstance(table, str) else table, reading or Reading())
    rows = training_rows(
        opened, _division_of(target, settings), lambda share: report("reading", 0.3 * share)
    )
    _check_weights(rows, settings)
    if settings.integers:
        rows.encoding.check_no_texts()
    # These come first: boosted trees need most memory, and ours loads compiled code.
    report("fitting two models to compare with", 0.3)
    others = _other_predictions(rows, settings)
    report("learning", 0.5)
    learned = _learned_predictor(rows.learned, settings)
    held_out = _held_out_rows(rows, learned.predictor)
    ours = ("this model", held_out.predictions, learned.seconds)
    results = _compared([ours, *others], rows.held_out, rows.target.task)
    certificate, final = None, learned.predictor
    if settings.certify is None:
        report("learning from all rows", 0.75)
        final = _learned_predictor(rows.learned.joined(rows.held_out), settings).predictor
    else:
        certificate = table_certificate(rows, final, settings)
    record = _fit_record(rows, settings, certificate)
    record |= _result_facts(results, held_out, rows, settings, certificate)
    record |= {"data": opened.name, "seconds": time.perf_counter() - started}
    classes = [str(name) for name in getattr(final, "classes_", ())]
    model = TableModel(
        target=replace(rows.target, classes=classes),
        columns=rows.columns,
        encoding=rows.encoding,
        predictor=final,
        record=record,
        row_digests=_digests(rows, settings),
    )
    report("done", 1.0)
    return TableFit(model, held_out, results, certificate, rows, settings)


def _quiet(stage: str, share: float) -> None:
    """Report no progress."""
    del stage, share


def _division_of(target: str, settings: FitSettings) -> Division:
    """Return how rows are divided."""
    share = True if settings.certify is None else settings.certify
    return Division(target, share, settings.group, settings.types or {}, settings.seed)


def _check_weights(rows: TrainingRows, settings: FitSettings) -> None:
    """Raise an error if classes are to be weighted that do not exist."""
    weights = settings.class_weight
    if weights is None:
        return
    if rows.target.task == "regression":
        raise InputError(
            f"--class-weight must come with classes, but {rows.target.name!r} holds amounts: "
            "leave it out, or pass --type with 'category'."
        )
    classes = np.unique(rows.learned.y)
    unknown = [] if isinstance(weights, str) else [name for name in weights if name not in classes]
    if unknown:
        raise InputError(
            f"--class-weight must name classes of the target, {listed(classes)}, got "
            f"{listed(unknown)}."
        )


def _learned_predictor(part: LabelledRows, settings: FitSettings) -> _TimedPredictor:
    """Fit a predictor to some rows. Amounts are numbers, and classes are texts."""
    started = time.perf_counter()
    model: Any = FourierRegressor()
    if part.y.dtype.kind != "f":
        model = FourierClassifier(class_weight=settings.class_weight)
    model.set_params(
        n_frequencies=settings.n_frequencies,
        # Tables of codes would be larger than the rest of the integers.
        piecewise=False if settings.integers else "auto",
        random_state=settings.seed,
    )
    model.fit(part.X, part.y)
    return _TimedPredictor(model, time.perf_counter() - started)


def _held_out_rows(rows: TrainingRows, predictor: Any) -> HeldOut:
    """Return the rows held out with their predictions."""
    X, truth = rows.held_out.X, rows.held_out.y
    is_classes = rows.target.task == "classification"
    probabilities = predictor.predict_proba(X) if is_classes else None
    return HeldOut(rows.frame, truth, predictor.predict(X), probabilities)


def _other_predictions(rows: TrainingRows, settings: FitSettings) -> list[_Compared]:
    """Return the predictions of two other models and a constant for the rows held out."""
    task, learned = rows.target.task, rows.learned
    found = [
        (baseline.name, baseline.predict(rows.held_out.X), baseline.seconds)
        for baseline in fitted_baselines(task, learned, settings.class_weight, settings.seed)
    ]
    constant = _usual_label(learned.y, task)
    shown = f"{constant:.4g}" if task == "regression" else repr(str(constant))
    return [*found, (f"always {shown}", np.full_like(rows.held_out.y, constant), 0.0)]


def _compared(models: list[_Compared], held_out: LabelledRows, task: str) -> list[Result]:
    """Return how good models are on the rows held out."""
    truth, found = held_out.y, []
    for name, predictions, seconds in models:
        losses = losses_of(truth, predictions, task)
        noise = group_standard_error(losses, held_out.groups)
        r2 = explained_variance(truth, predictions) if task == "regression" else None
        found.append(Result(name, float(losses.mean()), noise, seconds, r2))
    return found


def _usual_label(y: NDArray[Any], task: str) -> Any:
    """Return the most frequent class, or the median amount."""
    if task == "regression":
        return float(np.median(y))
    names, counts = np.unique(y, return_counts=True)
    return names[counts.argmax()]


def table_certificate(
    rows: TrainingRows, predictor: Any, settings: FitSettings
) -> TableCertificate:
    """Return the certificate from the rows held out."""
    places = one_of_each(rows.held_out.groups, rows.held_out.samples)
    X, y = rows.held_out.X[places], rows.held_out.y[places]
    summary = frame_summary(rows.frame.iloc[places], y)
    fresh = FreshRows(
        summary, rows.learned_summary, is_split=True, is_raw=True, group=settings.group
    )
    certificate = prediction_certificate(
        predictor, X, y, fresh, epsilon=settings.epsilon, duplicates=settings.duplicates
    )
    return cast("TableCertificate", certificate)


def _digests(rows: TrainingRows, settings: FitSettings) -> RowDigests:
    """Return the digests of the rows. Without a certificate, those held out were learned from."""
    learned, held_out, left_out = rows.sums
    if settings.certify is None:
        learned, held_out = learned + held_out, np.zeros_like(held_out)
    return RowDigests.of(learned, held_out, left_out)


def _fit_record(
    rows: TrainingRows, settings: FitSettings, certificate: "TableCertificate | None"
) -> dict[str, Any]:
    """Return what was done, as plain data."""
    n_certifying = 0 if certificate is None else certificate.n_samples
    return {
        "date": date.today().isoformat(),
        "versions": {name: version(name) for name in _LIBRARIES},
        "settings": {
            "n_frequencies": settings.n_frequencies,
            "certify": "a fifth" if settings.certify is True else settings.certify,
            "epsilon": settings.epsilon,
            "duplicates": settings.duplicates,
            "group": settings.group,
            "class_weight": settings.class_weight,
            "integers": settings.integers,
            "types": dict(settings.types or {}),
            "seed": settings.seed,
        },
        "rows": rows.counts | {"certifying": n_certifying},
        "notes": rows.notes,
        "is_certified": is_bounded(certificate),
        "headline": headline(certificate),
        "certificate": None if certificate is None else certificate.to_dict(),
    }


def is_bounded(certificate: "TableCertificate | None") -> bool:
    """Return whether a certificate has a bound."""
    if certificate is None or certificate.violations:
        return False
    return not isinstance(certificate, RegressionCertificate) or certificate.half_width() < np.inf


def headline(certificate: "TableCertificate | None") -> str:
    """Return what is certified, or why nothing is, in one sentence."""
    if certificate is None:
        return "Nothing is certified: all rows were learned from (--certify no)"
    if certificate.violations:
        reasons = " ".join(item.reason for item in certificate.violations)
        return f"Nothing is certified: {in_words_of_the_command(reasons)}"
    first, *_ = str(certificate).splitlines()
    if not is_bounded(certificate):
        return first
    return f"{first}, with probability {confidence(certificate.epsilon)}"


def in_words_of_the_command(text: str) -> str:
    """Return a message of the library with options of the command in place of parameters."""
    return text.replace(
        "duplicates='genuine' (--duplicates genuine on the command line)", "--duplicates genuine"
    )


def _result_facts(
    results: list[Result],
    held_out: HeldOut,
    rows: TrainingRows,
    settings: FitSettings,
    certificate: "TableCertificate | None",
) -> dict[str, Any]:
    """Return how good the model is, as plain data."""
    facts: dict[str, Any] = {"results": [each._asdict() for each in results]}
    facts |= {"confusion": None, "thresholds": [], "class counts": []}
    if held_out.probabilities is None:
        return facts
    classes, counts = np.unique(rows.learned.y, return_counts=True)
    confusion = confusion_counts(held_out.truth, held_out.predictions, classes.tolist())
    facts |= {"confusion": confusion.tolist(), "class counts": counts.tolist()}
    if len(classes) == 2 and certificate is not None and not certificate.violations:
        place, chosen = (
            int(counts.argmin()),
            one_of_each(rows.held_out.groups, rows.held_out.samples),
        )
        found = recall_thresholds(
            held_out.probabilities[chosen, place],
            held_out.truth[chosen] == classes[place],
            settings.epsilon,
        )
        facts["thresholds"] = [each._asdict() for each in found]
    return facts
