"""Every assumption that a certificate says "holds" was seen by code, which is named here.

Each line has a twin: the same line where the code has not seen it, or has seen that it is false.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler

import pacfourier
from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    FourierClassifier,
    FourierRegressor,
    GibbsRFF,
    PBLandmarks,
    bounds,
    certify,
)
from pacfourier.bounds import BoundRecord
from pacfourier.tabular.certifying import fresh_certificate
from pacfourier.tabular.fitting import fit_table
from pacfourier.tabular.model import FitSettings
from pacfourier.tabular.reading.table_files import open_table

pytest.importorskip("skrub")

RNG = np.random.default_rng(0)
X, FRESH = RNG.normal(size=(2, 450, 3))
Y, FRESH_Y = ((rows[:, 0] > 0).astype(int) for rows in (X, FRESH))
OWN = BoundRecord(
    name="own", function=bounds.kl, needs=("loss", "divergence", "n_samples", "pairs")
)


def table_of(rows, labels):
    return pd.DataFrame(rows, columns=[*"abc"]).assign(y=np.where(labels == 1, "up", "down"))


@cache
def small_map(kind=PBRFF, **parameters):
    return kind(5, random_state=0, **parameters).fit(X, Y)


@cache
def landmarks(source):
    model = PBLandmarks(n_landmarks=5, landmarks=source, random_state=0)
    return model.fit(X, Y).certificate()


@cache
def predictor(kind=FourierClassifier, **parameters):
    return kind(5, piecewise=False, alpha=0.3, random_state=0, **parameters).fit(X, Y)


@cache
def table_fit():
    return fit_table(table_of(X, Y), "y", FitSettings(n_frequencies=5))


def in_pipeline(step, model):
    return certify(make_pipeline(step, model).fit(X, Y))


def certified_classifier():
    return FourierClassifier(5, piecewise=False, alpha=0.3, certify=0.3, random_state=0)


# Each kind of certificate that the library makes.
CERTIFICATES = {
    "map": lambda: small_map().certificate(),
    "map, two declared classes": lambda: small_map(target_type="binary").certificate(),
    "map, the whole posterior": lambda: small_map().certificate(of="posterior"),
    "map, at any time": lambda: small_map().certificate(bound="anytime"),
    "map, with mu": lambda: small_map(OKRFF).certificate(bound="f_divergence"),
    "map, a bound of your own": lambda: small_map().certificate(bound=OWN),
    "map without labels": lambda: small_map(RFF).certificate(X=X, y=Y),
    "sampler": lambda: small_map(GibbsRFF).certificate(),
    "sampler with rows held out": lambda: small_map(GibbsRFF, certify=0.3).certificate(),
    "landmarks": lambda: landmarks("medoids"),
    "landmarks that are points": lambda: landmarks("kmeans"),
    "kernel on fresh rows": lambda: certify(small_map(BoostedRFF), FRESH, FRESH_Y),
    "kernel on its own rows": lambda: certify(small_map(BoostedRFF), X, Y),
    "map after a normalizer": lambda: in_pipeline(Normalizer(), PBRFF(5, random_state=0)),
    "map after nothing": lambda: certify(make_pipeline(small_map())),
    "map after a scaler": lambda: in_pipeline(StandardScaler(), PBRFF(5, random_state=0)),
    "classifier": lambda: predictor(certify=0.3).certificate_,
    "classifier after a normalizer": lambda: in_pipeline(Normalizer(), certified_classifier()),
    "classifier after a scaler": lambda: in_pipeline(StandardScaler(), certified_classifier()),
    "regressor": lambda: predictor(FourierRegressor, certify=0.3).certificate_,
    "classifier on fresh rows": lambda: certify(predictor(), FRESH, FRESH_Y),
    "classifier on its own rows": lambda: certify(predictor(), X, Y),
    "command fit": lambda: table_fit().certificate,
    "command certify": lambda: fresh_certificate(
        table_fit().model, open_table(table_of(FRESH, FRESH_Y))
    ),
}

# The name of each line that can hold, the function that writes it, the code that has seen what the
# line says, and certificates in which the line holds and in which it does not.
SEEN = {
    "labels": (
        "pacbayes.assumptions:label_assumption",
        # The bound covers any number of classes, and asks whether two were declared.
        "pacbayes.evidence:alignment_evidence",
        "map",
        "map, two declared classes",
    ),
    "constants": (
        "pacbayes.assumptions:constant_assumption",
        # The table of our own bounds.
        "bounds:RECORDS",
        "map",
        "map, a bound of your own",
    ),
    "object": (
        "pacbayes.assumptions:object_assumption",
        "pacbayes.evidence:certified_weights",
        "map",
        "map, the whole posterior",
    ),
    "ladder": (
        "pacbayes.assumptions:ladder_assumption",
        # The pilot and the run have streams of their own.
        "estimators.gibbs_rff:GibbsRFF._climb",
        "sampler",
        "sampler with rows held out",
    ),
    "landmarks": (
        "pacbayes.assumptions:landmark_assumption",
        "estimators.pb_landmarks:PBLandmarks",
        "landmarks",
        "landmarks that are points",
    ),
    "steps": (
        "estimators.certify:_step_assumption",
        "estimators.certify:_LEARN_NOTHING",
        "classifier after a normalizer",
        "classifier after a scaler",
    ),
    "rows": (
        "pacbayes.holdout:_unseen_assumption",
        # It reads the table, and divides its rows before it looks at them.
        "tabular.training_rows:_prepared_reader",
        "command fit",
        "classifier",
    ),
}


def found(path):
    module, _, name = path.partition(":")
    thing = import_module(f"pacfourier.{module}")
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


def statuses(kind):
    return {item.name: item.status for item in CERTIFICATES[kind]().assumptions}


@pytest.mark.parametrize("kind", CERTIFICATES)
def test_what_holds_was_seen_by_code(kind):
    lines = CERTIFICATES[kind]().assumptions
    assert len(lines) >= 4
    assert {item.name for item in lines if item.status == "holds"} <= set(SEEN)
    assert all(item.reason.endswith(".") for item in lines)


@pytest.mark.parametrize("name", SEEN)
def test_each_line_that_holds_has_a_twin_that_does_not(name):
    writer, witness, kind, twin = SEEN[name]
    assert callable(found(writer))
    assert found(witness) is not None
    assert statuses(kind)[name] == "holds"
    # The temperatures are no assumption of a sampler that holds rows out.
    assert statuses(twin).get(name, "absent") in ("declared", "violated", "absent")


def test_no_other_function_says_that_something_holds():
    """Walk all code: who passes the text "holds" to an assumption is in the table above."""
    folder, writers = Path(pacfourier.__file__).parent, set()
    for path in folder.rglob("*.py"):
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
            for call in calls:
                texts = [each.value for each in call.args if isinstance(each, ast.Constant)]
                if getattr(call.func, "id", "") == "Assumption" and "holds" in texts:
                    writers.add(f"{module}:{function.name}")
    assert writers == {writer for writer, *_ in SEEN.values()}


def test_only_the_command_that_reads_the_table_vouches_for_its_rows():
    """``is_raw`` stands in one place, and training rows are violated wherever they are seen."""
    folder = Path(pacfourier.__file__).parent
    users = [path.name for path in folder.rglob("*.py") if "is_raw=True," in path.read_text()]
    assert users == ["fitting.py"]
    for kind in ("classifier on its own rows", "kernel on its own rows"):
        assert statuses(kind)["rows"] == "violated"
    for kind in ("sampler with rows held out", "regressor", "command certify"):
        assert statuses(kind)["rows"] == "declared"
