"""How often certificates are false, and how often honest samples are refused.

Each case draws samples from a law whose true loss is known by construction, fits, and asks for a
certificate without any declaration. The result is one Markdown table. ``--write`` puts it into
docs/certificates.md.
"""

import argparse
import io
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

from pacfourier import (
    PBRFF,
    FourierClassifier,
    bounds,
    certify,
)
from pacfourier.cli.tables import _show_thresholds
from pacfourier.errors import InputError
from pacfourier.pacbayes.prediction_certificate import (
    ClassificationCertificate,
    RegressionCertificate,
    label_set_counts,
)
from pacfourier.pacbayes.predictions import least_half_widths
from pacfourier.tabular.certifying import fresh_certificate
from pacfourier.tabular.evaluation import _RECALLS
from pacfourier.tabular.fitting import fit_table
from pacfourier.tabular.model import FitSettings
from pacfourier.tabular.reading.table_files import open_table

PAGE = Path(__file__).parents[1] / "docs" / "certificates.md"
START, END = "<!-- table of benchmarks/guards.py -->", "<!-- end of the table -->"
# Certificates of labels without signal are clipped at their true loss of exactly 1/2.
ROUNDING = 1e-9
EPSILON = 0.05


class GuardTrial(NamedTuple):
    """One sample: its certificate and the truth.

    Attributes
    ----------
    value : float or None
        The certificate without a declaration. None if it is refused.
    unguarded : float or None
        What the certificate would be without any guard. For a legal sample, it is what
        duplicates="genuine" gives. None if it cannot be told.
    truth : float
        What the certificate must not be below.
    is_due : bool
        Whether the rule asks for a refusal: more than 1 % of repeated rows, or something that
        depends on the rows of the certificate.
    """

    value: float | None
    unguarded: float | None
    truth: float
    is_due: bool


@dataclass(frozen=True)
class Case:
    """A kind of sample.

    Attributes
    ----------
    name : str
    is_legal : bool
        Whether the theorem covers the sample, possibly with a declaration.
    trial : callable
        From a random generator to a GuardTrial.
    rule : str
        When the rule refuses the value.
    is_exact : bool
        Whether the bound is exact, so that it is false in 5 % of all samples, as it may be. All
        other bounds have room to spare.
    """

    name: str
    is_legal: bool
    trial: Callable[[np.random.Generator], GuardTrial]
    rule: str
    is_exact: bool = False


def trial_of(certificate: Any, truth: float, *, is_due: bool) -> GuardTrial:
    """Return the trial of a certificate."""
    value = None if certificate.violations else certificate.value
    return GuardTrial(value, min(certificate.details.value, certificate.ceiling), truth, is_due)


def repeated_share(X: np.ndarray) -> float:
    """Return the share of rows that repeat another row."""
    return 1 - len(np.unique(X, axis=0)) / len(X)


def fitted(X: np.ndarray, y: np.ndarray, seed: int = 0) -> PBRFF:
    """Return a map that follows the sample closely."""
    model = PBRFF(10, n_candidates=300, beta=5.0, target_type="binary", random_state=seed)
    return model.fit(X, y)


@dataclass(frozen=True)
class AtomicLaw:
    """A law on finitely many points, with the probability of the label +1 at each of them."""

    points: np.ndarray
    odds: np.ndarray

    def sample(self, rng: np.random.Generator, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
        """Return independent rows and labels; all points are equally likely."""
        rows = rng.integers(0, len(self.points), n_samples)
        return self.points[rows], np.where(rng.random(n_samples) < self.odds[rows], 1, -1)

    def loss(self, model: PBRFF) -> float:
        """Return the true alignment loss (1 - |E y exp(i w.x)|^2) / 2 of the map's kernel."""
        phases = model.frequencies_.astype(float) @ self.points.T
        means = np.exp(1j * phases) @ (2 * self.odds - 1) / len(self.odds)
        return float(model.frequency_weights_ @ (1 - np.abs(means) ** 2) / 2)


def grid_law(*levels: int) -> AtomicLaw:
    """Return the uniform law on a grid; the first column says something about the label."""
    points = np.asarray(list(product(*map(range, levels))), dtype=float)
    return AtomicLaw(points, 0.2 + 0.6 * points[:, 0] / (levels[0] - 1))


def atomic_trial(rng: np.random.Generator, *, law: AtomicLaw, n_samples: int) -> GuardTrial:
    """Independent rows of a law with atoms, which repeat by right."""
    X, y = law.sample(rng, n_samples)
    model = fitted(X, y)
    return trial_of(model.certificate(EPSILON), law.loss(model), is_due=repeated_share(X) > 0.01)


def noise_trial(
    rng: np.random.Generator, *, draw: Callable[[np.random.Generator], np.ndarray]
) -> GuardTrial:
    """Independent rows with labels that say nothing: every kernel has the true loss 1/2."""
    X = draw(rng)
    model = fitted(X, rng.choice([-1, 1], len(X)))
    return trial_of(model.certificate(EPSILON), 0.5, is_due=repeated_share(X) > 0.01)


def bootstrap_trial(rng: np.random.Generator, *, n_levels: int) -> GuardTrial:
    """3,000 rows drawn again and again from 100 rows of noise."""
    X, y = rng.integers(0, n_levels, (100, 6)).astype(float), rng.choice([-1, 1], 100)
    rows = rng.integers(0, 100, 3000)
    return trial_of(fitted(X[rows], y[rows]).certificate(EPSILON), 0.5, is_due=True)


def merged_trial(rng: np.random.Generator) -> GuardTrial:
    """Two parts of 600 rows of noise, of which 200 are the same."""
    X, y = rng.standard_normal((1000, 5)), rng.choice([-1, 1], 1000)
    merged = fitted(X[:600], y[:600]).merge(fitted(X[400:], y[400:]))
    return trial_of(merged.certificate(EPSILON), 0.5, is_due=True)


def upstream_trial(rng: np.random.Generator, *, step: Callable[[], Any]) -> GuardTrial:
    """Put a step before the map that has learned the labels of the rows, which are noise."""
    X, y = rng.standard_normal((300, 150)), rng.choice([-1, 1], 300)
    fitted_step = step().fit(X, y)
    pipeline = make_pipeline(fitted_step, fitted(fitted_step.transform(X), y))
    return trial_of(certify(pipeline, epsilon=EPSILON), 0.5, is_due=True)


def scaler_trial(rng: np.random.Generator, *, levels: int, shape: Any) -> GuardTrial:
    """Whole numbers and noise, scaled by what other rows of the same law say."""
    other, X = rng.integers(0, levels, (2, *shape)).astype(float)
    model = fitted(StandardScaler().fit(other).transform(X), rng.choice([-1, 1], len(X)))
    return trial_of(model.certificate(EPSILON, duplicates="genuine"), 0.5, is_due=False)


def own_scaler_trial(rng: np.random.Generator, *, levels: int, shape: Any) -> GuardTrial:
    """Whole numbers and noise, scaled by what the rows themselves say."""
    X = StandardScaler().fit_transform(rng.integers(0, levels, shape).astype(float))
    model = fitted(X, rng.choice([-1, 1], len(X)))
    return trial_of(model.certificate(EPSILON, duplicates="genuine"), 0.5, is_due=True)


def fresh_trial(rng: np.random.Generator, *, is_fresh: bool) -> GuardTrial:
    """Certify a map that learned noise by heart, on its own rows or on new ones."""
    X, y = rng.standard_normal((300, 20)), rng.choice([-1, 1], 300)
    model = PBRFF(10, beta=50.0, target_type="binary", random_state=0).fit(X, y)
    if is_fresh:
        X, y = rng.standard_normal((300, 20)), rng.choice([-1, 1], 300)
    return trial_of(certify(model, X, y, epsilon=EPSILON), 0.5, is_due=not is_fresh)


def noise_table(n_rows: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table whose classes are noise."""
    columns = pd.DataFrame(rng.standard_normal((n_rows, 3)), columns=[*"abc"])
    return columns.assign(y=rng.choice(["down", "up"], n_rows))


# Cases with the same seeds share their fits, which take most of the time.
@lru_cache(maxsize=8)
def noise_model(n_rows: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """Return a table of noise and the model that was fitted to it."""
    table = noise_table(n_rows, np.random.default_rng(seed))
    return table, fit_table(table, "y", FitSettings(n_frequencies=20, seed=seed)).model


def table_trial(rng: np.random.Generator, *, is_fresh: bool, n_rows: int) -> GuardTrial:
    """As before, for the error of a saved table model: the classes are noise."""
    first, model = noise_model(n_rows, int(rng.integers(2**31)))
    try:
        table = noise_table(n_rows, rng) if is_fresh else first.sample(frac=1, random_state=0)
        value: float | None = fresh_certificate(model, open_table(table)).error
    except InputError:
        value = None
    return GuardTrial(value, value, 0.5, not is_fresh)


def margin_trial(rng: np.random.Generator) -> GuardTrial:
    """Certify a linear classifier of noise, on rows of norm 1,700: all have an error of 1/2.

    The weights are tiny, so their divergence is, too. The bound divides by the norms itself.
    """
    X = rng.standard_normal((100, 150))
    X *= 1700 / np.linalg.norm(X, axis=1, keepdims=True)
    y = rng.choice([-1.0, 1.0], 100)
    w = 6.0 * np.linalg.lstsq(X, y, rcond=None)[0]
    value = bounds.gaussian_linear(
        features=X, labels=y, w=w, prior_mean=np.zeros(150), epsilon=EPSILON
    ).value
    return GuardTrial(value, value, 0.5, False)


def stream_trial(rng: np.random.Generator) -> GuardTrial:
    """Noise in 15 batches of 40 rows, stopped where bound="anytime" looks best."""
    model = PBRFF(10, n_candidates=100, beta=5.0, target_type="binary", random_state=0)
    best = 1.0
    for _ in range(15):
        model.partial_fit(rng.standard_normal((40, 3)), rng.choice([-1, 1], 40), classes=[-1, 1])
        best = min(best, model.certificate(EPSILON, bound="anytime").value)
    return GuardTrial(best, best, 0.5, False)


# Certificates of predictors ---------------------------------------------------------------------

# Five kinds of rows with two labels. The first kind is usual: it has the first label and is
# predicted so. In the others, the first label is missed where the second one is present, and
# predicted in vain where the second one is predicted.
LABELS = np.array([[1, 0], [1, 1], [0, 0], [1, 1], [0, 1]])
PREDICTED = np.array([[1, 0], [0, 0], [1, 1], [0, 1], [1, 1]])
SHARES = np.array([0.992548, 0.00371825, 0.00371825, 0.00000775, 0.00000775])


def label_rates_trial(rng: np.random.Generator) -> GuardTrial:
    """Recall and precision of both labels, together. The value is how far all are below theirs."""
    kinds = rng.choice(len(SHARES), 1000, p=SHARES)
    labels, predicted = LABELS[kinds], PREDICTED[kinds]
    hits = SHARES @ (LABELS * PREDICTED)
    truth = np.concatenate([hits / (SHARES @ LABELS), hits / (SHARES @ PREDICTED)])
    counts = label_set_counts(labels, predicted)
    is_wrong = (labels != predicted).any(axis=1)
    spare = []
    for each in (counts, replace(counts, are_disjoint=True)):
        found = ClassificationCertificate(EPSILON, (), is_wrong, None, each)
        bounds_found = [*found.recall.values(), *found.precision.values()]
        spare.append(float((truth - bounds_found).min()))
    return GuardTrial(spare[0], spare[1], 0.0, False)


def interval_trial(rng: np.random.Generator) -> GuardTrial:
    """Labels in cents around a constant prediction. The value is the coverage of the interval."""
    y, prediction = rng.integers(1, 2000, 5) / 100, -rng.integers(1, 2000) / 100
    rows, coverage = rng.integers(0, len(y), 200), 0.9
    errors = np.abs(y - prediction)[rows]
    scores = least_half_widths(y[rows], np.full(len(rows), prediction))
    covered = []
    for each in (scores, errors):
        h = RegressionCertificate(EPSILON, (), errors, each).half_width(coverage)
        covered.append(float(np.mean((prediction - h <= y) & (y <= prediction + h))))
    return GuardTrial(covered[0], covered[1], coverage, False)


# Predictors: rows that were seen, weights, and rare classes --------------------------------------


def small_classifier(**parameters: Any) -> FourierClassifier:
    """Return a classifier that is fitted quickly."""
    given = {"alpha": 0.3, "piecewise": False, "random_state": 0, **parameters}
    return FourierClassifier(5, **given)


def error_trial(certificate: Any, truth: float, *, is_due: bool) -> GuardTrial:
    """Return the trial of a certificate of errors. Without checks, all its assumptions hold."""
    value = None if certificate.violations else certificate.error
    return GuardTrial(value, replace(certificate, assumptions=()).error, truth, is_due)


def step_trial(rng: np.random.Generator, *, step: Callable[[], Any], is_due: bool) -> GuardTrial:
    """Fit a pipeline whose first step sees the rows held out. The labels are coin flips."""
    X, y = rng.standard_normal((300, 150)), rng.integers(0, 2, 300)
    fitted_step = step().fit(X, y)
    model = small_classifier(certify=0.3).fit(fitted_step.transform(X), y)
    pipeline = make_pipeline(fitted_step, model)
    return error_trial(certify(pipeline), 0.5, is_due=is_due)


def own_rows_trial(rng: np.random.Generator, *, n_known: int) -> GuardTrial:
    """Certify a classifier of noise on rows that it learned from, or on 300 new ones."""
    X, y = rng.standard_normal((300, 50)), rng.integers(0, 2, 300)
    model = small_classifier().fit(X, y)
    rows = X[:n_known], y[:n_known]
    if not n_known:
        rows = rng.standard_normal((300, 50)), rng.integers(0, 2, 300)
    return error_trial(certify(model, *rows), 0.5, is_due=n_known > 0)


def weighted_trial(rng: np.random.Generator, *, is_weighted: bool) -> GuardTrial:
    """One row in ten has the weight 5, and the opposite label of the others.

    If a classifier is wrong with probability e on the others, its error is 0.1 + 0.8 e, and its
    weighted error is (0.5 + 0.4 e) / 1.4.
    """
    X, is_heavy = rng.standard_normal((400, 2)), rng.random(400) < 0.1
    y = ((X[:, 0] > 0) ^ is_heavy).astype(int)
    weights = np.where(is_heavy, 5.0, 1.0) if is_weighted else np.full(400, 5.0)
    model = small_classifier(certify=0.5).fit(X, y, sample_weight=weights)
    truth = 0.5 / 1.4 if is_weighted else 0.1
    return error_trial(model.certificate_, truth, is_due=is_weighted)


def rare_trial(rng: np.random.Generator) -> GuardTrial:
    """One row in fifty has the second class, whatever X is: no error is below 0.02."""
    X, y = rng.standard_normal((150, 2)), (rng.random(150) < 0.02).astype(int)
    try:
        certificate = small_classifier(certify=0.5).fit(X, y).certificate_
    except ValueError:
        # Fits of one class, or of one whose only row comes last, are refused by right.
        return GuardTrial(None, None, 0.02, y.sum() < 2)
    return error_trial(certificate, 0.02, is_due=False)


REPEATS = "if more than 1 % of the rows repeat others"
ALWAYS, NEVER = "always", "never"


# What is shown about a fit of a table, and groups of rows.


def printed_thresholds(model: Any) -> list[tuple[float, float]]:
    """Return the recalls that the command promises for a model, with the thresholds it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        _show_thresholds(model)
    lines = [line.split() for line in printed.getvalue().splitlines()]
    numbers = [line for line in lines if line and line[0] in map(str, _RECALLS)]
    return [(float(line[0]), float(line[1].replace("too", "0"))) for line in numbers]


def threshold_trial(rng: np.random.Generator) -> GuardTrial:
    """Two categorical columns: the recall at a printed threshold is a sum over eight cells.

    The promise that is furthest from the truth counts, as a bound on the share that is missed.
    """
    cells = pd.DataFrame(list(product("abcd", "ef")), columns=["x", "y"])
    odds = 1 / (1 + np.exp(1.0 + 0.7 * rng.standard_normal(len(cells))))
    rows = rng.integers(0, len(cells), 4000)
    names = np.where(rng.random(4000) < odds[rows], "fault", "fine")
    settings = FitSettings(n_frequencies=20, duplicates="genuine", seed=int(rng.integers(2**31)))
    model = fit_table(cells.iloc[rows].assign(target=names), "target", settings).model
    place = model.rarer_place()
    shares = model.probabilities(model.columns.typed(cells))[:, place]
    masses = (odds if model.target.classes[place] == "fault" else 1 - odds) / odds.sum()
    missed = [(1 - r, masses[shares < t].sum()) for r, t in printed_thresholds(model)]
    promised, truth = max(missed, key=lambda pair: pair[1] - pair[0], default=(1.0, 0.0))
    return GuardTrial(promised, promised, float(truth), False)


def patient_table(n_patients: int, n_visits: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return visits of patients. All of a patient look alike, and the class is a coin for each."""
    measured = np.repeat(rng.standard_normal((n_patients, 3)), n_visits, axis=0)
    measured += 0.01 * rng.standard_normal(measured.shape)
    names = np.repeat(rng.permutation(10 * n_patients)[:n_patients], n_visits)
    classes = np.repeat(rng.choice(["down", "up"], n_patients), n_visits)
    return pd.DataFrame(measured, columns=[*"abc"]).assign(patient=names, y=classes)


def patient_trial(rng: np.random.Generator) -> GuardTrial:
    """Certify on 40 new patients with 50 visits each: every model errs on half of them."""
    settings = FitSettings(n_frequencies=20, group="patient", seed=int(rng.integers(2**31)))
    model = fit_table(patient_table(100, 5, rng), "y", settings).model
    table = open_table(patient_table(40, 50, rng))
    value = fresh_certificate(model, table, epsilon=EPSILON).error
    unguarded = fresh_certificate(model, table, epsilon=EPSILON, group="none").error
    return GuardTrial(value, unguarded, 0.5, False)


def visits_trial(rng: np.random.Generator) -> GuardTrial:
    """As before, in Python: without groups, the visits of a patient count as independent."""
    known, table = patient_table(100, 1, rng), patient_table(40, 50, rng)
    model = small_classifier().fit(known[[*"abc"]], known["y"])
    certify_visits = partial(certify, model, table[[*"abc"]], table["y"], epsilon=EPSILON)
    trial = error_trial(certify_visits(groups=table["patient"]), 0.5, is_due=False)
    return trial._replace(unguarded=certify_visits().error)


def law_trial(rng: np.random.Generator) -> GuardTrial:
    """Three clinics in ten have 50 rows that are coins; the others have two rows that are clear.

    The truth is the error over what the headline names: rows of clinics, or else new rows.
    """
    is_hard_clinic = rng.random(300) < 0.3
    clinic = np.repeat(np.arange(300), np.where(is_hard_clinic, 50, 2))
    is_hard = is_hard_clinic[clinic]
    sign = rng.choice(["minus", "plus"], len(is_hard))
    target = np.where(is_hard, rng.choice(["minus", "plus"], len(is_hard)), sign)
    columns = {"kind": np.where(is_hard, "hard", "easy"), "sign": sign, "clinic": clinic}
    settings = FitSettings(n_frequencies=5, duplicates="genuine", group="clinic")
    fit = fit_table(pd.DataFrame(columns).assign(target=target), "target", settings)
    easy = pd.DataFrame({"kind": ["easy"] * 2, "sign": ["minus", "plus"], "clinic": [0, 1]})
    wrong = float(np.mean(fit.model.predict(easy) != easy["sign"]))
    share = 0.3 if "new groups" in str(fit.certificate) else 0.3 * 50 / (0.3 * 50 + 0.7 * 2)
    value = fit.certificate.error
    return GuardTrial(value, value, share * 0.5 + (1 - share) * wrong, False)


CASES = (
    Case(
        "bootstrap of 100 rows of categories", False, partial(bootstrap_trial, n_levels=4), ALWAYS
    ),
    Case(
        "bootstrap of 100 rows of whole numbers",
        False,
        partial(bootstrap_trial, n_levels=1000),
        ALWAYS,
    ),
    Case("`merge` of two parts that share rows", False, merged_trial, ALWAYS),
    Case(
        "rows that take only 20 different values",
        True,
        partial(atomic_trial, law=grid_law(5, 4), n_samples=400),
        REPEATS,
    ),
    Case("one 0/1 column", True, partial(atomic_trial, law=grid_law(2), n_samples=400), REPEATS),
    Case(
        "one column with three different values",
        True,
        partial(atomic_trial, law=grid_law(3), n_samples=400),
        REPEATS,
    ),
    Case(
        "three normal columns, rounded to one decimal",
        True,
        partial(noise_trial, draw=lambda rng: rng.standard_normal((1000, 3)).round(1)),
        REPEATS,
    ),
    Case(
        "survey, five answers on a scale of five",
        True,
        partial(atomic_trial, law=grid_law(5, 5, 5, 5, 5), n_samples=1000),
        REPEATS,
    ),
    Case(
        "784 normal columns",
        True,
        partial(noise_trial, draw=lambda rng: rng.standard_normal((400, 784))),
        NEVER,
    ),
    Case(
        "linear discriminant analysis before the map, fitted on the sample",
        False,
        partial(upstream_trial, step=LinearDiscriminantAnalysis),
        ALWAYS,
    ),
    Case(
        "PLS regression before the map, fitted on the sample",
        False,
        partial(upstream_trial, step=partial(PLSRegression, 2)),
        ALWAYS,
    ),
    Case(
        "training rows of a map passed to `certify` as if they were new",
        False,
        partial(fresh_trial, is_fresh=False),
        ALWAYS,
    ),
    Case(
        "new rows passed to `certify` with a map", True, partial(fresh_trial, is_fresh=True), NEVER
    ),
    Case(
        "training table of 400 rows passed to `pacfourier certify` as if it were new",
        False,
        partial(table_trial, is_fresh=False, n_rows=400),
        ALWAYS,
    ),
    Case(
        "training table of 100 rows passed to `pacfourier certify` as if it were new",
        False,
        partial(table_trial, is_fresh=False, n_rows=100),
        ALWAYS,
    ),
    *(
        Case(
            f"new table {size}passed to `pacfourier certify`",
            True,
            partial(table_trial, is_fresh=True, n_rows=n_rows),
            NEVER,
            is_exact=True,
        )
        for size, n_rows in (("", 400), ("of 100 rows ", 100))
    ),
    Case(
        "linear classifier certified by `bounds.gaussian_linear`, rows of norm 1,700",
        True,
        margin_trial,
        NEVER,
    ),
    Case(
        '4 columns of five values, `StandardScaler` fitted on other rows, `duplicates="genuine"`',
        True,
        partial(scaler_trial, levels=5, shape=(600, 4)),
        NEVER,
    ),
    Case(
        '4 columns of five values, `StandardScaler` fitted on the sample, `duplicates="genuine"`',
        False,
        partial(own_scaler_trial, levels=5, shape=(600, 4)),
        ALWAYS,
    ),
    Case('stream with `bound="anytime"`, stopped at its best value', True, stream_trial, NEVER),
    Case(
        "recall and precision of two labels per row, together",
        True,
        label_rates_trial,
        NEVER,
        is_exact=True,
    ),
    Case("intervals for labels in cents, as computed", True, interval_trial, NEVER, is_exact=True),
    *(
        Case(
            f"`{name}` before `FourierClassifier(certify=0.3)`, fitted on all rows",
            is_legal,
            partial(step_trial, step=step, is_due=not is_legal),
            NEVER if is_legal else ALWAYS,
            is_exact=is_legal,
        )
        for name, step, is_legal in (
            ("LinearDiscriminantAnalysis", LinearDiscriminantAnalysis, False),
            ("PLSRegression", partial(PLSRegression, 2), False),
            ("SelectKBest", partial(SelectKBest, k=5), False),
            ("StandardScaler", StandardScaler, False),
            ("Normalizer", Normalizer, True),
        )
    ),
    *(
        Case(
            f"{name} passed to `certify`",
            n_known == 0,
            partial(own_rows_trial, n_known=n_known),
            ALWAYS if n_known else NEVER,
            is_exact=n_known == 0,
        )
        for name, n_known in (
            ("all 300 rows of the fit", 300),
            ("20 of 300 rows of the fit", 20),
            ("300 new rows", 0),
        )
    ),
    Case(
        "`sample_weight` with `certify=0.5`",
        False,
        partial(weighted_trial, is_weighted=True),
        ALWAYS,
    ),
    Case(
        "`sample_weight` with `certify=0.5`, all weights equal",
        True,
        partial(weighted_trial, is_weighted=False),
        NEVER,
        is_exact=True,
    ),
    Case(
        "`certify=0.5` with one row in fifty of the second class",
        True,
        rare_trial,
        "if fewer than two rows have the second class",
        is_exact=True,
    ),
    Case(
        "recall at the thresholds that `pacfourier fit` prints, two categorical columns",
        True,
        threshold_trial,
        NEVER,
        is_exact=True,
    ),
    Case(
        "40 new patients with 50 visits each passed to `certify`, with `groups`",
        True,
        visits_trial,
        NEVER,
        is_exact=True,
    ),
    Case(
        "40 new patients with 50 visits each passed to `pacfourier certify`, after `--group`",
        False,
        patient_trial,
        NEVER,
        is_exact=True,
    ),
    Case(
        "`pacfourier fit --group`, clinics of unequal size: the error over what the text names",
        True,
        law_trial,
        NEVER,
        is_exact=True,
    ),
)


def is_false(value: float | None, truth: float) -> bool:
    """Return whether a certificate was given that is below the truth."""
    return value is not None and value < truth - ROUNDING


def row_of(case: Case, n_trials: int, seed: int, jobs: int = 1) -> dict[str, Any]:
    """Return one row of the table: counts over independent samples."""
    rngs = (np.random.default_rng([seed, k]) for k in range(n_trials))
    trials = Parallel(jobs)(delayed(case.trial)(rng) for rng in rngs)
    refused = [trial.value is None for trial in trials]
    return {
        "sample": case.name,
        "legal": "yes" if case.is_legal else "no",
        "should be refused": case.rule,
        "samples": n_trials,
        "refused": sum(refused),
        "of these, rightly": sum(
            no and trial.is_due for no, trial in zip(refused, trials, strict=True)
        ),
        "false": sum(is_false(trial.value, trial.truth) for trial in trials),
        "false on average, at most": round(EPSILON * n_trials) if case.is_exact else 0,
        "false without checks": (
            "unknown"
            if any(trial.unguarded is None for trial in trials)
            else sum(is_false(trial.unguarded, trial.truth) for trial in trials)
        ),
    }


def table_of(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    names = list(rows[0])
    lines = [names, ["---"] * len(names), *([str(row[name]) for name in names] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Print the table, and put it into the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200, help="samples per case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--write", action="store_true", help="put it into docs/certificates.md")
    options = parser.parse_args()
    rows = []
    for number, case in enumerate(CASES):
        rows.append(row_of(case, options.trials, options.seed + number, options.jobs))
        print(rows[-1], flush=True)
    table = table_of(rows)
    print(table)
    if options.write:
        before, rest = PAGE.read_text().split(START)
        PAGE.write_text(f"{before}{START}\n\n{table}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    # Other processes find the cases by the name of the module.
    from benchmarks import guards

    guards.main()
