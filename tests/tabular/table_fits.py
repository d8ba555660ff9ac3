"""Small fits of tables, for tests of what is said about them."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

import pacfourier
from pacfourier import FourierClassifier, FourierRegressor


@dataclass(frozen=True)
class Column:
    name: str
    kind: str


@dataclass(frozen=True)
class TableColumns:
    used: tuple
    left_out: dict


@dataclass(frozen=True)
class Target:
    name: str
    task: str
    classes: list


class Encoding(NamedTuple):
    """Numbers and dates as they are, and a column of zeros and ones for each category."""

    kinds: dict
    categories: dict
    medians: dict

    @classmethod
    def learned(cls, frame, kinds):
        categories = {
            name: sorted(frame[name].dropna().unique())
            for name in kinds
            if kinds[name] == "category"
        }
        medians = {name: frame[name].median() for name in kinds if kinds[name] == "number"}
        return cls(kinds, categories, medians)

    @property
    def sources(self):
        return [name for name in self.kinds for _ in range(len(self.categories.get(name, "1")))]

    def encoded(self, frame):
        parts = []
        for name, kind in self.kinds.items():
            column = frame[name]
            if kind == "category":
                parts += [
                    (column == value).fillna(False).astype(float) for value in self.categories[name]
                ]
            elif kind == "number":
                parts.append(column.fillna(self.medians[name]))
            elif kind == "date":
                parts.append(column.astype("datetime64[s]").astype("int64") / 1e7)
            else:
                parts.append(column.str.len())
        return np.column_stack(parts).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Model:
    target: Target
    columns: TableColumns
    encoding: Any
    predictor: Any
    record: dict

    def predictions(self, frame):
        return self.predictor.predict(self.encoding.encoded(frame))

    def probabilities(self, frame):
        return self.predictor.predict_proba(self.encoding.encoded(frame))

    def rarer_place(self):
        return int(np.argmin(self.record["class counts"]))


class Result(NamedTuple):
    name: str
    error: float
    standard_error: float
    seconds: float
    r2: float | None = None


@dataclass(frozen=True, eq=False)
class HeldOut:
    frame: pd.DataFrame
    truth: np.ndarray
    predictions: np.ndarray
    probabilities: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Fit:
    model: Model
    held_out: HeldOut
    results: list
    certificate: Any


def fitted(frame, y, kinds, *, certify=True, n_frequencies=8, left_out=None):
    """Return a fit of a typed frame: the last 30 % of its rows are held out."""
    is_amount = y.dtype.kind == "f"
    size = int(0.7 * len(y))
    encoding = Encoding.learned(frame[:size], kinds)
    kind = FourierRegressor if is_amount else FourierClassifier
    predictor = kind(n_frequencies, alpha=1.0, piecewise=False, random_state=0)
    predictor.fit(encoding.encoded(frame[:size]), y[:size])
    classes = [] if is_amount else [str(each) for each in predictor.classes_]
    columns = TableColumns(tuple(Column(*each) for each in kinds.items()), left_out or {})
    target = Target("outcome", "regression" if is_amount else "classification", classes)
    model = Model(target, columns, encoding, predictor, {})
    rest = frame[size:].reset_index(drop=True)
    held_out = HeldOut(
        rest, y[size:], model.predictions(rest), None if is_amount else model.probabilities(rest)
    )
    certificate = None
    if certify:
        X = encoding.encoded(rest)
        certificate = pacfourier.certify(predictor, X, y[size:], duplicates="genuine")
    model = replace(model, record=record_of(model, held_out, certificate, size))
    return Fit(model, held_out, results_of(held_out, is_amount), certificate)


def results_of(held_out, is_amount):
    errors = (
        np.abs(held_out.truth - held_out.predictions)
        if is_amount
        else (held_out.truth != held_out.predictions).astype(float)
    )
    noise = errors.std() / np.sqrt(len(errors))
    r2 = 0.8 if is_amount else None
    scale = errors.mean() + 1e-3
    return [
        Result("pacfourier", errors.mean(), noise, 1.25, r2),
        Result("linear model", 1.1 * scale, noise, 0.1, r2),
        Result("boosted trees", 1.05 * scale, noise, 0.4, r2),
        Result("constant", 10 * scale, noise, 0.0, 0.0 if is_amount else None),
    ]


def record_of(model, held_out, certificate, n_learned):
    classes = model.target.classes
    confusion = [
        [int(((held_out.truth == a) & (held_out.predictions == b)).sum()) for b in classes]
        for a in classes
    ]
    thresholds = [
        {"recall": recall, "threshold": 0.1 / recall, "precision": 0.5, "alarms": 0.2}
        for recall in (0.5, 0.8, 0.9, 0.95, 0.99)
    ]
    return {
        "data": "table.csv",
        "date": "2026-11-17T00:00:00",
        "seconds": 2.5,
        "versions": {"pacfourier": "1.0", "numpy": "2.3"},
        "settings": {
            "n_frequencies": 8,
            "certify": 0.3 if certificate else False,
            "epsilon": 0.05,
            "duplicates": "genuine",
            "group": None,
            "class_weight": None,
            "seed": 0,
        },
        "rows": {
            "read": n_learned + len(held_out.truth),
            "without label": 0,
            "learned": n_learned,
            "held out": len(held_out.truth),
            "certifying": len(held_out.truth) if certificate else 0,
        },
        "notes": [
            "12 of 2,400 values of 'age' are no numbers, such as 'unknown': they count as missing."
        ],
        "headline": headline(model, certificate),
        "is_certified": certificate is not None,
        "certificate": certificate.to_dict() if certificate else None,
        "confusion": confusion or None,
        "class counts": [int((held_out.truth == name).sum()) for name in classes],
        "thresholds": thresholds if len(classes) == 2 and certificate else [],
    }


def headline(model, certificate):
    if certificate is None:
        return "Nothing is certified: --certify is no."
    if model.target.task == "regression":
        width = certificate.half_width()
        return f"Absolute error <= {width:.4g} for 90 % of new rows, with probability 0.95"
    return f"Error on new rows <= {certificate.error:.4f}, with probability 0.95"


def two_classes(**options):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    order = np.random.default_rng(0).permutation(len(y))
    frame = X.iloc[order].reset_index(drop=True)
    labels = np.where(y.to_numpy()[order], "benign", "malignant")
    left_out = {"id": "it has a different value in every row", "source": "it has a single value"}
    return fitted(frame, labels, dict.fromkeys(frame, "number"), left_out=left_out, **options)


def mixed_frame(n_rows, rng):
    """Return numbers with gaps, categories with gaps, dates and texts, by name."""
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 12, n_rows).round(1),
            "income per household and year": rng.lognormal(10, 1, n_rows),
            "job": rng.choice(
                ["nurse", "teacher", "baker & pastry cook <master>", "pilot"], n_rows
            ),
            "since": pd.Timestamp("2019-01-01")
            + pd.to_timedelta(rng.integers(0, 2000, n_rows), "D"),
            "remark": rng.choice(["good", "rather long and <odd>", "short one"], n_rows),
            "noise": rng.normal(size=n_rows),
        }
    )
    frame.loc[::17, "age"] = np.nan
    frame["job"] = frame["job"].astype("str")
    frame.loc[5::19, "job"] = None
    return frame


MIXED = dict(
    zip(
        ["age", "income per household and year", "job", "since", "remark", "noise"],
        ["number", "number", "category", "date", "text", "number"],
        strict=True,
    )
)


def rare_class(**options):
    rng = np.random.default_rng(1)
    frame = mixed_frame(3000, rng)
    score = (frame["age"].fillna(40) - 40) / 12 + 1.5 * (frame["job"] == "pilot").fillna(False)
    labels = np.where(score + 0.5 * rng.normal(size=3000) > 3.2, "yes <b>", "no")
    return fitted(frame, labels, MIXED, **options)


def many_classes(**options):
    rng = np.random.default_rng(2)
    place = rng.integers(0, 26, 2600)
    frame = pd.DataFrame(rng.normal(size=(2600, 6)), columns=[f"x{k}" for k in range(6)])
    centres = 3 * rng.normal(size=(26, 6))
    frame += centres[place]
    labels = np.array([chr(65 + each) for each in place])
    return fitted(frame, labels, dict.fromkeys(frame, "number"), **options)


def amounts(**options):
    rng = np.random.default_rng(3)
    frame = mixed_frame(1500, rng)
    y = 3 * np.sin((frame["age"].fillna(40) - 40) / 8) + 2.0 * (frame["job"] == "nurse").fillna(
        False
    ).astype(float)
    days = (frame["since"] - pd.Timestamp("2019-01-01")).dt.days
    values = (y + days / 500 + 0.5 * rng.normal(size=1500)).to_numpy(dtype=float)
    return fitted(frame, values, MIXED, **options)


def long_names(**options):
    rng = np.random.default_rng(4)
    frame = mixed_frame(400, rng)
    labels = np.where(
        frame["age"].fillna(40) + 5 * rng.normal(size=400) > 40,
        "Wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
        "a class whose name is as long as a sentence, with 'quotes' and \N{SNOWMAN}",
    )
    frame["job"] = frame["job"] + " of the municipal hospital of a town with a long name"
    names = {name: f"{name} " + "M" * 70 for name in frame}
    kinds = {names[name]: kind for name, kind in MIXED.items()}
    return fitted(frame.rename(columns=names), labels, kinds, **options)


FITS = {
    "two classes": two_classes,
    "rare class": rare_class,
    "many classes": many_classes,
    "amounts": amounts,
    "long names": long_names,
}
