"""What the goldens fit, and what they keep of it.

Every name of a parameter is written in this file only. If one is renamed, change it here: the
goldens stay.
"""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from tests.export.conftest import compiled_program
from tests.export.test_c_source import compiled as compiled_floats
from tests.export.test_integers import compiled as compiled_integers
from tests.goldens.samples import AMOUNTS, CLASSES, EVERYTHING, FRAMES

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    FourierClassifier,
    FourierRegressor,
    GibbsRFF,
    PBLandmarks,
    RBFLandmarks,
    alignment_losses,
    certify,
    fit_batches,
)
from pacfourier.export import quantised

SEEDS = (0, 1)
# Of so many fresh rows we keep the columns of a map, and the scores of a predictor.
N_MAPPED, N_SCORED = 4, 20
# Of so many candidates we keep the losses.
N_LOSSES = 10


class Case(NamedTuple):
    """One kind of fit: how it is observed, given a sample and a seed, and on which samples."""

    observe: Any
    samples: dict[str, Any]


def features(model, sample):
    return model.transform(sample.fresh[:N_MAPPED])


def bound(certificate):
    """Return the observed loss, the divergence, and the certified value unless it is refused."""
    values = [] if certificate.violations else [certificate.value]
    return [certificate.empirical_loss, certificate.divergence, *values]


def random_map(sample, seed):
    model = RFF(8, gamma=0.1, random_state=seed).fit(sample.X)
    pipeline = make_pipeline(Normalizer(), RFF(8, gamma=2.0, random_state=seed)).fit(sample.X)
    inner = pipeline[:-1].transform(sample.X)
    of_pipeline = pipeline[-1].certificate(X=inner, y=sample.y)
    return {
        "features": features(model, sample),
        "features, median bandwidth": features(RFF(8, random_state=seed).fit(sample.X), sample),
        "losses": alignment_losses(sample.X, sample.y, model.frequencies_),
        "certificate": bound(model.certificate(X=sample.X, y=sample.y)),
        "certificate of a pipeline": bound(of_pipeline),
    }


def learned_map(kind, sample, seed):
    """Observe a map that chooses among candidates."""
    X, y = sample.X, sample.y
    model = kind(8, n_candidates=2000, random_state=seed).fit(X, y)
    small = partial(kind, 8, n_candidates=500, random_state=seed)
    complementary = small(draw="complementary").fit(X, y)
    weights = np.linspace(1, 2, len(X))
    return {
        "features": features(model, sample),
        "kernel": model.kernel_matrix(sample.fresh[:N_MAPPED]),
        "losses": model.losses_[:N_LOSSES],
        "mean and least loss": [model.losses_.mean(), model.losses_.min()],
        "certificate": bound(model.certificate()),
        "certificate of the posterior": bound(model.certificate(of="posterior")),
        "certificate on fresh rows": bound(certify(model, sample.fresh, sample.fresh_labels)),
        "certificate of a pipeline": bound(certify(make_pipeline(Normalizer(), small()).fit(X, y))),
        "features, complementary": features(complementary, sample),
        "losses, weighted rows": small().fit(X, y, weights).losses_[:N_LOSSES],
    }


def gibbs_map(sample, seed):
    # Few steps to a posterior near the prior: many steps would make rounding large.
    small = partial(GibbsRFF, 8, beta=5.0, n_particles=20, n_steps=6, random_state=seed)
    model = small().fit(sample.X, sample.y)
    held_out = small(certify=1 / 3).fit(sample.X, sample.y)
    return {
        "features": features(model, sample),
        "losses": model.losses_,
        "certificate": bound(model.certificate()),
        "features, rows held out": features(held_out, sample),
        "certificate, rows held out": bound(held_out.certificate()),
    }


def boosted_map(sample, seed):
    # Many quasi-Newton steps would make rounding large.
    model = BoostedRFF(8, n_rounds=2, n_steps=8, random_state=seed).fit(sample.X, sample.y)
    certificate = certify(model, sample.fresh, sample.fresh_labels)
    return {
        "features": features(model, sample),
        "kernel": model.kernel_matrix(sample.fresh[:N_MAPPED]),
        "certificate on fresh rows": bound(certificate),
    }


def random_landmarks(sample, seed):
    choices = ("medoids", "kmeans", "stratified")
    return {
        f"features, {choice}": features(
            RBFLandmarks(choice, n_landmarks=8, random_state=seed).fit(sample.X, sample.y), sample
        )
        for choice in choices
    }


def learned_landmarks(sample, seed):
    small = partial(PBLandmarks, n_landmarks=8, gamma=0.1, random_state=seed)
    model = small().fit(sample.X, sample.y)
    return {
        "features": features(model, sample),
        "certificate": bound(model.certificate()),
    }


def batches(sample):
    return [(sample.X[start : start + 80], sample.y[start : start + 80]) for start in (0, 80, 160)]


def classifier(sample, seed):
    """Observe a classifier whose penalty and columns are chosen on validation rows, and others."""
    small = partial(FourierClassifier, 6, random_state=seed)
    fixed = partial(small, alpha=1.0, piecewise=False)
    model, held_out = small().fit(sample.X, sample.y), fixed(certify=0.3).fit(sample.X, sample.y)
    parts, batched = fixed(), fit_batches(fixed(), batches(sample), classes=np.unique(sample.y))
    for X, y in batches(sample):
        parts.partial_fit(X, y, np.unique(sample.y))
    some = sample.fresh[:N_SCORED]
    fresh = certify(model, sample.fresh, sample.fresh_labels, duplicates="genuine")
    return {
        "scores, automatic": model.decision_function(some),
        "classes, automatic": model.predict(some),
        "probabilities, automatic": model.predict_proba(some),
        "chosen, automatic": [model.alpha_, float(model.piecewise_)],
        "certificate, automatic": [fresh.error, fresh.observed_error],
        "scores, rows held out": held_out.decision_function(some),
        "certificate, rows held out": [
            held_out.certificate_.error,
            held_out.certificate_.observed_error,
        ],
        "scores, in parts": parts.decision_function(some),
        "scores, in batches": batched.decision_function(some),
    }


def regressor(sample, seed):
    """Observe a regressor, as the classifier, and one for medians."""
    small = partial(FourierRegressor, 6, random_state=seed)
    fixed = partial(small, alpha=1.0, piecewise=False)
    model, held_out = small().fit(sample.X, sample.y), fixed(certify=0.3).fit(sample.X, sample.y)
    medians = fixed(loss="absolute_error").fit(sample.X, sample.y)
    two = fixed().fit(sample.X, np.column_stack([sample.y, -2 * sample.y]))
    some = sample.fresh[:N_SCORED]
    fresh = certify(model, sample.fresh, sample.fresh_labels, duplicates="genuine")
    return {
        "amounts, automatic": model.predict(some),
        "chosen, automatic": [model.alpha_, float(model.piecewise_)],
        "certificate, automatic": [fresh.half_width(), fresh.exceedance(0.5)],
        "amounts, rows held out": held_out.predict(some),
        "certificate, rows held out": [held_out.certificate_.half_width()],
        "amounts, medians": medians.predict(some),
        "amounts, two outputs": two.predict(some),
    }


def frame_classifier(sample, seed):
    model = FourierClassifier(6, certify=0.3, random_state=seed).fit(sample.X, sample.y)
    some = sample.fresh[:N_SCORED]
    return {
        "scores, automatic": model.decision_function(some),
        "classes, automatic": model.predict(some),
        "certificate, automatic": [model.certificate_.error],
    }


def programs(kind, sample, seed):
    """Observe C programs: with and without coded columns, and of integers."""
    plain, coded = (
        kind(6, alpha=1.0, piecewise=codes, random_state=seed).fit(sample.X, sample.y)
        for codes in (False, True)
    )
    integers = quantised(plain, sample.X, sample.y)
    rows = sample.fresh[:N_SCORED].astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        program = partial(compiled_program, Path(folder), checks=())
        of_plain = compiled_floats(program, plain)(rows)
        of_coded = compiled_floats(program, coded)(rows)
        of_integers = compiled_integers(program, integers)(integers.rows(rows))
    return {
        **outputs(of_plain, plain),
        **outputs(of_coded, coded, ", coded"),
        **outputs(of_integers, plain, ", integers"),
    }


def outputs(found, model, name=""):
    """Return scores and classes of a program, or the amounts that it predicts."""
    scores, predictions = found
    if not hasattr(model, "classes_"):
        return {f"amounts{name}": predictions[:, 0]}
    return {f"scores{name}": scores, f"classes{name}": model.classes_[predictions[:, 0]]}


CASES = {
    "RFF": Case(random_map, EVERYTHING),
    "PBRFF": Case(partial(learned_map, PBRFF), EVERYTHING),
    "OKRFF": Case(partial(learned_map, OKRFF), EVERYTHING),
    "GibbsRFF": Case(gibbs_map, EVERYTHING),
    "BoostedRFF": Case(boosted_map, EVERYTHING),
    "RBFLandmarks": Case(random_landmarks, CLASSES),
    "PBLandmarks": Case(learned_landmarks, CLASSES),
    "FourierClassifier": Case(classifier, CLASSES),
    "FourierRegressor": Case(regressor, AMOUNTS),
    "FrameClassifier": Case(frame_classifier, FRAMES),
    "ClassifierPrograms": Case(partial(programs, FourierClassifier), CLASSES),
    "RegressorPrograms": Case(partial(programs, FourierRegressor), AMOUNTS),
}
