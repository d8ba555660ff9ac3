"""The methods that are compared: each is a short function that yields the settings it tries.

A method is a function of (bench, profile, width); ``METHODS`` lists them by name. Every method
tries several priors (ten bandwidths and, with landmarks, several D). Its certificate holds for all
of them at once, so it remains valid for the prior that was selected on the data.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    GibbsRFF,
    PBLandmarks,
    RBFLandmarks,
    alignment_losses,
)
from pacfourier.core.alignment.landmarks import landmark_similarities
from pacfourier.core.prior.frequencies import Sampling
from pacfourier.data.selection import kmeans_centroids
from pacfourier.experiments.plan import (
    BETAS,
    GAMMAS,
    N_CANDIDATES,
    RHOS,
    SMALL_WIDTHS,
    TABLE_PERCENTAGE,
    Profile,
    landmark_grid,
)
from pacfourier.experiments.protocol import EPSILON, Bench, Setting

# The most bytes that the similarities of several settings may take together.
LARGEST_STACK = 3 * 2**30

TriedSettings = Callable[[Bench, Profile, float], Iterator[Setting]]
Selections = dict[str, Callable[[dict[str, float]], bool]]


def _all(parameters: dict[str, float]) -> bool:
    del parameters
    return True


@dataclass(frozen=True)
class Method:
    """A method of an experiment.

    Attributes
    ----------
    experiments : tuple of {"greedy", "landmarks", "small-d"}
        The experiments that run it.
    settings : callable of (bench, profile, width)
        Yields the settings to select from.
    is_published : bool
        Whether it is a method of the paper.
    needs_bandwidth : bool
        Whether its settings use the bandwidth of the RBF SVM, which takes long to find.
    """

    experiments: tuple[str, ...]
    settings: TriedSettings
    is_published: bool = False
    needs_bandwidth: bool = True

    def selections(self, name: str, width: float) -> Selections:
        """Return which settings compete for a row of the results, by the name of the row."""
        if not name.startswith("PB-") or width != TABLE_PERCENTAGE:
            return {name: _all}
        return {
            name: _all,
            f"{name} beta=1": lambda parameters: parameters["beta"] == 1,
            f"{name} D=64": lambda parameters: parameters["n_frequencies"] == 64,
        }


def mapped(bench: Bench, parameters: dict[str, float], model: Any) -> Setting:
    """Return the setting that a fitted map stands for."""
    parts = bench.parts
    return Setting(
        parameters,
        model.transform(parts.X_train),
        model.transform(parts.X_valid),
        lambda: model.transform(parts.X_test),
        lambda: fourier_certificate(bench, model),
    )


def fourier_certificate(bench: Bench, model: Any) -> dict[str, float]:
    """Return the bound on the alignment loss of a map, and the loss on training and test rows.

    There is none on ads and farm, where 41 % and 22 % of the rows repeat others. Both were
    collected from web pages, where the same advertisement occurs many times, and equal rows nearly
    always have equal labels. So we do not declare that these rows are independent draws.
    """
    if not hasattr(model, "frequency_weights_"):
        return {}
    parts, epsilon = bench.parts, EPSILON / len(GAMMAS)
    if isinstance(model, RFF):
        data = {"X": parts.X_train, "y": parts.y_train, "target_type": "binary"}
        found = model.certificate(epsilon, **data)
    else:
        found = model.certificate(epsilon)
    if found.violations:
        return {}
    losses = alignment_losses(parts.X_test, parts.y_test, model.frequencies_)
    return {
        "certificate": found.value,
        "train_loss": found.empirical_loss,
        "test_loss": float(model.frequency_weights_ @ losses),
    }


def random_features(
    bench: Bench, profile: Profile, width: float, sampling: Sampling = "iid"
) -> Iterator[Setting]:
    """Yield one map with frequencies of the prior."""
    del profile
    seed = bench.seed("RFF", sampling, width)
    model = RFF(int(width), gamma=bench.gamma, sampling=sampling, random_state=seed)
    yield mapped(bench, {}, model.fit(bench.parts.X_train))


def learned_features(
    bench: Bench, profile: Profile, width: float, *, estimator: type, draw: str
) -> Iterator[Setting]:
    """Yield maps with frequencies of a posterior, one for each beta or rho."""
    del profile
    fitted = fitted_posterior(bench, estimator)
    name, grid = ("beta", BETAS) if estimator is PBRFF else ("rho", RHOS)
    for value in grid:
        chosen = {name: value if estimator is PBRFF else value * N_CANDIDATES}
        model = fitted.redraw(n_frequencies=int(width), draw=draw, **chosen)
        yield mapped(bench, chosen, model)


def fitted_posterior(bench: Bench, estimator: type) -> Any:
    """Return PBRFF or OKRFF, fitted on the candidate frequencies that both share on a split."""
    common = {"n_candidates": N_CANDIDATES, "target_type": "binary", "class_weight": None}
    seed = bench.seed("candidates")
    return bench.fitted(estimator(gamma=bench.gamma, random_state=seed, **common))


def median_features(bench: Bench, profile: Profile, width: float) -> Iterator[Setting]:
    """Yield one map of the prior whose bandwidth is the median distance; it needs no labels."""
    del profile
    model = RFF(int(width), gamma="median", random_state=bench.seed("RFF median", width))
    yield mapped(bench, {}, model.fit(bench.parts.X_train))._replace(certify=dict)


def default_features(
    bench: Bench, profile: Profile, width: float, *, draw: str
) -> Iterator[Setting]:
    """Yield one map of PBRFF with its default parameters but for the draw; all share one fit."""
    del profile
    seed = bench.seed("candidates")
    fitted = bench.fitted(PBRFF(draw="complementary", target_type="binary", random_state=seed))
    yield mapped(bench, {}, fitted.redraw(n_frequencies=int(width), draw=draw))


def boosted_features(bench: Bench, profile: Profile, width: float) -> Iterator[Setting]:
    """Yield one boosted map with its default parameters; it needs no bandwidth."""
    del profile
    model = BoostedRFF(int(width), random_state=bench.seed("BoostedRFF", width))
    model.fit(bench.parts.X_train, bench.parts.y_train)
    yield mapped(bench, {}, model)._replace(certify=dict)


def sampled_features(bench: Bench, profile: Profile, width: float) -> Iterator[Setting]:
    """Yield one map drawn from the continuous posterior; all widths share one fit."""
    del profile
    sampler = GibbsRFF(max(SMALL_WIDTHS), random_state=bench.seed("GibbsRFF"))
    yield mapped(bench, {}, bench.fitted(sampler).redraw(n_frequencies=int(width)))


def nystroem_features(
    bench: Bench, profile: Profile, width: float, *, basis: str
) -> Iterator[Setting]:
    """Yield one Nystroem map with as many columns as the Fourier maps have."""
    del profile
    X = bench.parts.X_train
    count = min(2 * int(width), X.shape[0])
    seed = bench.seed("Nystroem", basis, width)
    points = X if basis == "uniform" else kmeans_centroids(X, count, np.random.default_rng(seed))
    model = Nystroem(gamma=bench.gamma, n_components=count, random_state=seed).fit(points)
    yield mapped(bench, {}, model)


def rbf_landmarks(
    bench: Bench, profile: Profile, width: float, *, landmarks: str
) -> Iterator[Setting]:
    """Yield one map of kernel values to landmarks."""
    del profile
    yield mapped(bench, {}, _rbf_landmarks(bench, width, landmarks))


def _rbf_landmarks(bench: Bench, width: float, landmarks: str) -> RBFLandmarks:
    seed = bench.seed("landmarks", landmarks, width)
    model = RBFLandmarks(landmarks, n_landmarks=width / 100, gamma=bench.gamma, random_state=seed)
    return model.fit(bench.parts.X_train, bench.parts.y_train)


def pb_landmarks(
    bench: Bench, profile: Profile, width: float, *, landmarks: str
) -> Iterator[Setting]:
    """Yield maps of learned similarities to the same landmarks, for each D and beta."""
    parts = bench.parts
    points: Any = landmarks
    if landmarks == "kmeans":
        prior = _rbf_landmarks(bench, width, landmarks)
        points = (prior.landmarks_, prior.landmark_labels_)
    widths, betas = landmark_grid(profile, width)
    for n_frequencies in widths:
        model = PBLandmarks(
            points,
            n_landmarks=width / 100,
            n_frequencies=n_frequencies,
            gamma=bench.gamma,
            random_state=bench.seed("landmarks", landmarks, width),
        ).fit(parts.X_train, parts.y_train)
        yield from _tempered(bench, model, betas, n_priors=len(GAMMAS) * len(widths))


def _tempered(
    bench: Bench, model: PBLandmarks, betas: tuple[float, ...], n_priors: int
) -> Iterator[Setting]:
    """Yield the model at each beta; as many betas as fit in memory share their cosines."""
    parts, n_train = bench.parts, bench.parts.X_train.shape[0]
    X = bench.training_and_validation.astype(np.float32)
    at_once = max(1, LARGEST_STACK // (4 * X.shape[0] * len(model.phases_)))
    for start in range(0, len(betas), at_once):
        models = [model.redraw(beta=beta) for beta in betas[start : start + at_once]]
        posteriors = np.stack([each.posterior_ for each in models])
        stack = landmark_similarities(X, model.pool_, model.phases_, posteriors)
        for each, similarities in zip(models, stack, strict=True):
            yield Setting(
                {"n_frequencies": model.n_frequencies, "beta": each.beta},
                similarities[:n_train],
                similarities[n_train:],
                partial(each.transform, parts.X_test),
                partial(_landmark_certificate, each, EPSILON / n_priors),
            )


def _landmark_certificate(model: PBLandmarks, epsilon: float) -> dict[str, float]:
    """Return the bound on the mean loss of the landmarks; only random landmarks have one.

    As for Fourier maps, there is none on ads and farm.

    Every bandwidth and every D is a prior of its own, and one is selected on the data, so each
    gets its share of epsilon.
    """
    if model.landmarks != "random":
        return {}
    found: Any = model.certificate(epsilon)
    if found.violations:
        return {}
    return {"certificate": found.value, "train_loss": found.empirical_loss}


# Fourier maps are in the paper's figure and in the comparison at small D.
FOURIER = ("greedy", "small-d")


def with_defaults(settings: Callable[..., Iterator[Setting]], **options: Any) -> Method:
    """Return a method of the comparison at small D that runs with its defaults alone."""
    return Method(("small-d",), partial(settings, **options), needs_bandwidth=False)


METHODS: dict[str, Method] = {
    "RFF": Method(FOURIER, random_features, is_published=True),
    "OKRFF": Method(
        FOURIER,
        partial(learned_features, estimator=OKRFF, draw="replacement"),
        is_published=True,
    ),
    "PBRFF": Method(
        FOURIER,
        partial(learned_features, estimator=PBRFF, draw="replacement"),
        is_published=True,
    ),
    "orthogonal RFF": Method(FOURIER, partial(random_features, sampling="orthogonal")),
    "OKRFF distinct": Method(FOURIER, partial(learned_features, estimator=OKRFF, draw="distinct")),
    "PBRFF distinct": Method(FOURIER, partial(learned_features, estimator=PBRFF, draw="distinct")),
    "Nystroem uniform": Method(FOURIER, partial(nystroem_features, basis="uniform")),
    "Nystroem k-means": Method(FOURIER, partial(nystroem_features, basis="kmeans")),
    "RFF median": with_defaults(median_features),
    "PBRFF default": with_defaults(default_features, draw="weighted"),
    "PBRFF complementary": with_defaults(default_features, draw="complementary"),
    "GibbsRFF": with_defaults(sampled_features),
    "BoostedRFF": with_defaults(boosted_features),
    "RBF-C": Method(("landmarks",), partial(rbf_landmarks, landmarks="kmeans"), is_published=True),
    "RBF-R": Method(("landmarks",), partial(rbf_landmarks, landmarks="random"), is_published=True),
    "PB-C": Method(("landmarks",), partial(pb_landmarks, landmarks="kmeans"), is_published=True),
    "PB-R": Method(("landmarks",), partial(pb_landmarks, landmarks="random"), is_published=True),
}
