"""Linear classifiers certified with a prior from other rows."""

import json
import math

import numpy as np
import pytest
from scipy import sparse

from pacfourier import bounds
from pacfourier.core.alignment.summary import sample_summary
from pacfourier.pacbayes.holdout import FreshRows
from pacfourier.pacbayes.linear_predictions import (
    SCALES,
    STEPS,
    gaussian_posterior,
    linear_certificate,
)


def summary_of(features):
    return sample_summary(features, sparse.csr_array(np.ones((len(features), 1))))


def sample(seed=0, n_rows=400):
    """Two classes that differ along the first of three columns; weights of both halves."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_rows, 3))
    labels = np.where(features[:, 0] + 0.3 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
    half = n_rows // 2
    w_prior, w = (4 * features[rows].T @ labels[rows] / half for rows in (slice(half), slice(None)))
    rows = FreshRows(summary_of(features[half:]), summary_of(features[:half]), is_split=True)
    return features[half:], labels[half:], {"w": w, "w_prior": w_prior}, rows


def test_the_posterior_is_the_best_of_the_grid():
    features, labels, weights, _ = sample()
    w, w_prior = weights.values()
    found = gaussian_posterior(features, labels, epsilon=0.05, **weights)
    for scale in SCALES:
        for step in STEPS:
            value = bounds.gaussian_linear(
                features=features,
                labels=labels,
                w=scale * ((1 - step) * w_prior + step * w),
                prior_mean=scale * w_prior,
                epsilon=0.05 / len(SCALES),
            ).value
            assert found.bound.value <= value + 1e-12
    again = bounds.gaussian_linear(
        features=features,
        labels=labels,
        w=found.mean,
        prior_mean=found.prior_mean,
        epsilon=0.05 / len(SCALES),
    )
    assert again.value == found.bound.value


@pytest.mark.parametrize("is_drawn", [False, True])
def test_weights_that_learned_noise_are_covered(is_drawn):
    """Labels are tosses of a coin, so every classifier has the error 1/2 on new rows.

    The weights are learned from the certified rows themselves. The tolerance is 4 standard errors.
    """
    epsilon, n_samples, n_failures = 0.3, 100, 0
    rng = np.random.default_rng(1)
    for _ in range(n_samples):
        features, labels = rng.normal(size=(30, 5)), rng.choice([-1.0, 1.0], 30)
        certificate = linear_certificate(
            features,
            labels,
            FreshRows(summary_of(features)),
            w=features.T @ labels,
            w_prior=rng.normal(size=5),
            epsilon=epsilon,
            rng=rng if is_drawn else None,
        )
        n_failures += certificate.error < 0.5
    assert n_failures / n_samples <= epsilon + 4 * math.sqrt(epsilon * (1 - epsilon) / n_samples)


def test_what_is_certified_is_said():
    features, labels, weights, rows = sample()
    random = linear_certificate(features, labels, rows, **weights)
    drawn = linear_certificate(features, labels, rows, rng=np.random.default_rng(0), **weights)
    assert random.drawn is None
    assert random.error_of_mean == 2 * random.error < 1
    assert drawn.observed_error == np.mean(np.sign(features @ drawn.drawn) != labels)
    with pytest.raises(ValueError, match="error_of_mean needs weights that are drawn for each"):
        _ = drawn.error_of_mean
    assert str(random).startswith("Error of the random classifier <= 0.")
    assert "each prediction draws new weights" in str(random)
    assert str(drawn).startswith("Error of the drawn classifier <= 0.")
    assert "and over the draw" in str(drawn)
    for certificate in (random, drawn):
        contents = json.loads(json.dumps(certificate.to_dict()))
        assert contents["error"] == certificate.error > contents["observed_error"]
        assert {item.status for item in certificate.assumptions} == {"declared"}


def test_refused_unless_repeated_rows_are_declared():
    features, labels, weights, _ = sample()
    twice = np.tile(features, (2, 1))
    options = {"rows": FreshRows(summary_of(twice)), **weights}
    refused = linear_certificate(twice, np.tile(labels, 2), **options)
    for bound in ("error", "error_of_mean"):
        with pytest.raises(ValueError, match=r"No certificate\. sample"):
            getattr(refused, bound)
    assert refused.to_dict()["error"] is None
    assert str(refused).startswith("No certificate for the random classifier")
    assert refused.assumptions[1].status == "declared"
    assert linear_certificate(twice, np.tile(labels, 2), ties="genuine", **options).error < 1


def test_epsilon_is_checked():
    features, labels, weights, rows = sample()
    with pytest.raises(ValueError, match=r"epsilon must be in \(0, 1\)"):
        linear_certificate(features, labels, rows, epsilon=0, **weights)
