"""The methods of the paper: each is a short function that yields the settings it tries.

A method is a function of (bench, width); ``METHODS`` lists them by name.
"""

import timeit
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy import sparse

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    PBLandmarks,
    RBFLandmarks,
    divergence_ball_posterior,
    gibbs_posterior,
)
from pacfourier.core.alignment.landmarks import landmark_similarities
from reproduction.plan import BETAS, N_CANDIDATES, RHOS
from reproduction.protocol import Bench, Setting

Method = Callable[[Bench, float], Iterator[Setting]]


def mapped(bench: Bench, parameters: dict[str, float], model: Any) -> Setting:
    """Return the setting that a fitted map stands for."""
    parts = bench.parts
    train, valid = model.transform(parts.X_train), model.transform(parts.X_valid)
    return Setting(parameters, train, valid, lambda: model.transform(parts.X_test))


def random_features(bench: Bench, width: float) -> Iterator[Setting]:
    """Yield one map with frequencies of the prior."""
    seed = bench.seed("RFF", "iid", width)
    model = RFF(int(width), gamma=bench.gamma, random_state=seed)
    yield mapped(bench, {}, model.fit(bench.parts.X_train))


def learned_features(bench: Bench, width: float, *, estimator: type) -> Iterator[Setting]:
    """Yield maps with frequencies of a posterior, one for each beta or rho."""
    fitted = fitted_posterior(bench, estimator)
    name, grid = ("beta", BETAS) if estimator is PBRFF else ("rho", RHOS)
    for value in grid:
        chosen = {name: value if estimator is PBRFF else value * N_CANDIDATES}
        model = fitted.redraw(n_frequencies=int(width), draw="replacement", **chosen)
        yield mapped(bench, chosen, model)


# A worker fits the same map for each width of a split.
@lru_cache(maxsize=2)
def fitted_posterior(bench: Bench, estimator: type) -> Any:
    """Return PBRFF or OKRFF, fitted on the candidate frequencies that both share on a split."""
    common = {"n_candidates": N_CANDIDATES, "target_type": "binary", "class_weight": None}
    model = estimator(gamma=bench.gamma, random_state=bench.seed("candidates"), **common)
    return model.fit(bench.parts.X_train, bench.parts.y_train)


def posterior_seconds(bench: Bench, name: str) -> float:
    """Return the time in which one posterior of PBRFF or OKRFF is computed from its losses."""
    losses, n = fitted_posterior(bench, PBRFF).losses_, len(bench.parts.y_train)

    def posteriors() -> None:
        if name == "PBRFF":
            for beta in BETAS:
                gibbs_posterior(losses, beta * np.sqrt(n))
        else:
            for rho in RHOS:
                divergence_ball_posterior(losses, rho * N_CANDIDATES)

    # The shortest of five: other work on the machine only adds to a time.
    n_posteriors = len(BETAS) if name == "PBRFF" else len(RHOS)
    return min(timeit.repeat(posteriors, number=1, repeat=5)) / n_posteriors


def rbf_landmarks(bench: Bench, width: float, *, landmarks: str) -> Iterator[Setting]:
    """Yield one map of kernel values to landmarks."""
    yield mapped(bench, {}, kernel_map(bench, width, landmarks))


def kernel_map(bench: Bench, width: float, landmarks: str) -> RBFLandmarks:
    """Return the fitted map of kernel values to landmarks."""
    seed = bench.seed("landmarks", landmarks, width)
    model = RBFLandmarks(landmarks, n_landmarks=width / 100, gamma=bench.gamma, random_state=seed)
    return model.fit(bench.parts.X_train, bench.parts.y_train)


def pb_landmarks(
    bench: Bench, width: float, *, landmarks: str, D: int | None = None, beta: float | None = None
) -> Iterator[Setting]:
    """Yield maps of learned similarities to the same landmarks, for each D and beta not given."""
    points: Any = landmarks
    if landmarks == "kmeans":
        prior = kernel_map(bench, width, landmarks)
        points = (prior.landmarks_, prior.landmark_labels_)
    widths, betas = bench.profile.landmark_grid(width)
    for n_frequencies in (D,) if D else widths:
        model = PBLandmarks(
            points,
            n_landmarks=width / 100,
            n_frequencies=n_frequencies,
            gamma=bench.gamma,
            random_state=bench.seed("landmarks", landmarks, width),
        ).fit(bench.parts.X_train, bench.parts.y_train)
        yield from tempered(bench, model, (beta,) if beta else betas)


def tempered(bench: Bench, model: PBLandmarks, betas: tuple[float, ...]) -> Iterator[Setting]:
    """Yield the model at each beta; all betas share their cosines."""
    parts = bench.parts
    stack = sparse.vstack if sparse.issparse(parts.X_train) else np.vstack
    X, n_train = stack([parts.X_train, parts.X_valid]).astype(np.float32), len(parts.y_train)
    models = [model.redraw(beta=beta) for beta in betas]
    posteriors = np.stack([each.posterior_ for each in models])
    found = landmark_similarities(X, model.pool_, model.phases_, posteriors)
    for each, similarities in zip(models, found, strict=True):
        parameters = {"n_frequencies": model.n_frequencies, "beta": each.beta}
        train, valid = similarities[:n_train], similarities[n_train:]
        yield Setting(parameters, train, valid, partial(each.transform, parts.X_test))


METHODS: dict[str, Method] = {
    "RFF": random_features,
    "OKRFF": partial(learned_features, estimator=OKRFF),
    "PBRFF": partial(learned_features, estimator=PBRFF),
    "RBF-C": partial(rbf_landmarks, landmarks="kmeans"),
    "RBF-R": partial(rbf_landmarks, landmarks="random"),
    "PB-C": partial(pb_landmarks, landmarks="kmeans"),
    "PB-C(beta=1)": partial(pb_landmarks, landmarks="kmeans", beta=1.0),
    "PB-C(D=64)": partial(pb_landmarks, landmarks="kmeans", D=64),
    "PB-R": partial(pb_landmarks, landmarks="random"),
}
