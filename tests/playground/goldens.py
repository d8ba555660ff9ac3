"""Write ``golden.json``: small samples and what the library finds in them.

Run ``python -m tests.playground.goldens`` if the library's numbers have changed on purpose. The
candidates are part of the file, so the page needs no random generator of the library.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import RidgeClassifier

from pacfourier import PBRFF
from pacfourier.bounds import first_order
from reproduction.toy import four_squares

FILE = Path(__file__).parent / "golden.json"
# The penalty of the page's linear model.
RIDGE_PENALTY = 0.1


def samples():
    """Return samples by name: ordinary, unequal and small ones, and one of equal points."""
    moons, moon_labels = make_moons(200, noise=0.15, random_state=0)
    blobs, blob_labels = make_blobs(
        [90, 30], centers=[[-0.6, 0.2], [0.6, 0.0]], cluster_std=0.3, random_state=1
    )
    squares, square_labels = four_squares(25, 2)
    return {
        "moons": (moons.round(4), moon_labels),
        "blobs of unequal size": (blobs.round(4), blob_labels),
        "squares": (squares.round(4), square_labels),
        "two points": (np.array([[0.0, 0.5], [1.0, -0.25]]), np.array([0, 1])),
        "equal points": (np.full((6, 2), 0.75), np.array([0, 1, 0, 1, 1, 1])),
    }


SETTINGS = {
    "moons": {"gamma": "multiscale", "beta": 4.0, "n_frequencies": 8, "epsilon": 0.05},
    "blobs of unequal size": {"gamma": 2.0, "beta": 1.0, "n_frequencies": 5, "epsilon": 0.01},
    "squares": {"gamma": 3.0, "beta": 20.0, "n_frequencies": 20, "epsilon": 0.2},
    "two points": {"gamma": 1.0, "beta": 1.0, "n_frequencies": 3, "epsilon": 0.05},
    "equal points": {"gamma": 1.0, "beta": 2.0, "n_frequencies": 3, "epsilon": 0.1},
}


# Epsilon by number of points.
BOUNDS = {30: 0.05, 150: 0.01, 600: 0.2, 5000: 0.05, 100_000: 0.05}


def golden(X, y, *, gamma, beta, n_frequencies, epsilon):
    """Return a sample with its candidates, and the library's numbers for both."""
    model = PBRFF(
        n_frequencies,
        gamma=gamma,
        beta=beta,
        target_type="binary",
        n_candidates=40,
        draw="distinct",
        class_weight=None,
        precision="double",
        random_state=0,
    ).fit(X, y)
    whole, kept = (
        model.certificate(epsilon, bound="first_order", of=of, duplicates="genuine")
        for of in ("posterior", "deployed")
    )
    features = model.transform(X)
    linear = RidgeClassifier(alpha=RIDGE_PENALTY).fit(features, y)
    return {
        "points": X.tolist(),
        "labels": np.where(y == 1, 1, -1).tolist(),
        "frequencies": model.pool_[:].astype(float).tolist(),
        "kept": model.kept_.tolist(),
        "beta": beta,
        "epsilon": epsilon,
        "losses": model.losses_.tolist(),
        "posterior": model.posterior_.tolist(),
        "empirical_loss": whole.empirical_loss,
        "divergence": whole.divergence,
        "certificate": whole.value,
        "rho": whole.details.parameters["rho"],
        "nats_per_point": whole.details.divergence_term,
        "kept_certificate": kept.value,
        "unrelated": whole.yardsticks.unrelated,
        "decisions": linear.decision_function(features).tolist(),
    }


def golden_bound(n_samples, epsilon):
    """Return weak and strong waves, and the certificate of the library for them."""
    rng = np.random.default_rng(n_samples)
    posterior = rng.dirichlet(np.ones(12))
    amplitudes = rng.uniform(0, min(1, 12 / np.sqrt(n_samples)), 12)
    least = 2 * amplitudes**2 - 1
    seconds = least + rng.random(12) * (1 - least)
    bound = first_order(
        posterior=posterior,
        prior=np.full(12, 1 / 12),
        amplitudes=amplitudes,
        second_harmonics=seconds,
        n_samples=n_samples,
        epsilon=epsilon,
    )
    return {
        "posterior": posterior.tolist(),
        "amplitudes": amplitudes.tolist(),
        "seconds": seconds.tolist(),
        "n": n_samples,
        "epsilon": epsilon,
        "value": bound.value,
        **{name: np.asarray(value).tolist() for name, value in bound.parameters.items()},
    }


def goldens():
    """Return all samples, and bounds for numbers of points between few and very many."""
    return {
        "samples": {name: golden(*sample, **SETTINGS[name]) for name, sample in samples().items()},
        "bounds": {str(n): golden_bound(n, epsilon) for n, epsilon in BOUNDS.items()},
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(goldens()) + "\n", "utf-8")
