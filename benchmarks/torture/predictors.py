"""Random fits of the predictors, held to what every predictor must satisfy."""

from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.torture.attacks import attack
from benchmarks.torture.samples import Case, fitted, random_case
from scipy import sparse

from pacfourier import FourierClassifier, FourierRegressor


def random_parameters(rng: np.random.Generator, seed: int, case: Case) -> dict[str, Any]:
    """Return parameters of both predictors."""
    codes = ["auto", False] if sparse.issparse(case.passed) else ["auto", True, False]
    certify = float(rng.choice([0.0, 0.3, 0.5]))
    return {
        "n_frequencies": int(rng.integers(1, 6)),
        "alpha": ["auto", float(10.0 ** rng.uniform(-6, 6))][rng.integers(2)],
        "piecewise": codes[rng.integers(len(codes))],
        "certify": certify if certify and case.weights is None and case.y.ndim == 1 else False,
        "duplicates": "genuine",
        "random_state": seed,
    }


def predictions_of(model: Any, case: Case) -> list[Any]:
    """Return what a second fit must repeat."""
    return [model.predict(case.passed)]


@attack(800)
def fits_of_classifiers(seed: int, _folder: Path) -> None:
    """Fit ``FourierClassifier``: probabilities, predictions and the bound on the error."""
    case = random_case(seed, ("binary", "multiclass", "multilabel"))
    rng = np.random.default_rng([seed, 1])
    parameters = random_parameters(rng, seed, case)
    balance = None if case.y.ndim == 2 else [None, "balanced"][rng.integers(2)]
    model = fitted(
        FourierClassifier(class_weight=balance, **parameters), case, seed, predictions_of
    )
    shares, predictions = model.predict_proba(case.passed), model.predict(case.passed)
    assert np.isfinite(shares).all()
    assert shares.min() >= 0
    assert shares.max() <= 1 + 1e-6
    if case.y.ndim == 2:
        np.testing.assert_array_equal(predictions, (shares > 0.5).astype(predictions.dtype))
        return
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-5)
    best = np.take_along_axis(shares, np.searchsorted(model.classes_, predictions)[:, None], 1)
    np.testing.assert_allclose(best[:, 0], shares.max(axis=1), rtol=0, atol=1e-5)
    assert set(predictions.tolist()) <= set(case.y.tolist())
    if parameters["certify"] is not False and not model.certificate_.violations:
        assert model.certificate_.is_wrong.mean() <= model.certificate_.error <= 1


@attack(800)
def fits_of_regressors(seed: int, _folder: Path) -> None:
    """Fit ``FourierRegressor``: finite predictions of the right shape."""
    case, rng = random_case(seed, ("continuous", "multioutput")), np.random.default_rng([seed, 1])
    loss = str(rng.choice(["squared_error", "absolute_error", "huber"]))
    parameters = random_parameters(rng, seed, case)
    model = FourierRegressor(loss=loss, **parameters)
    fitted(model, case, seed, predictions_of)
    predictions = model.predict(case.passed)
    assert predictions.shape == case.y.shape
    assert np.isfinite(predictions).all()
