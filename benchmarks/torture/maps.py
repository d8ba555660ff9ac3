"""Random fits of every feature map, compared with the naive twins."""

from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.torture import naive
from benchmarks.torture.attacks import attack
from benchmarks.torture.samples import Case, fitted, random_case
from scipy import sparse

from pacfourier import OKRFF, PBRFF, RFF, BoostedRFF, GibbsRFF, PBLandmarks, RBFLandmarks

CLASSES = ("binary", "multiclass")
KERNELS = ("rbf", "laplacian", "matern", "rational_quadratic")
# Beyond such phases not even double precision knows the angle.
LARGEST_PHASE = 1e9


def dense(values: Any) -> Any:
    """Return a sparse matrix as an array."""
    return values.toarray() if hasattr(values, "toarray") else values


def learned(model: Any, _case: Case) -> list[Any]:
    """Return what a second fit must repeat."""
    names = ("frequencies_", "posterior_", "losses_", "landmarks_")
    return [dense(getattr(model, name)) for name in names if hasattr(model, name)]


def check_map(model: Any, case: Case) -> None:
    """Compare the features with their twin."""
    frequencies = model.frequencies_.astype(np.float64)
    phase = naive.largest_phase(case.X, frequencies)
    found = model.transform(case.passed)
    assert np.isfinite(found).all()
    assert abs(model.posterior_.sum() - 1) < 1e-9
    if phase < LARGEST_PHASE:
        expected = naive.features(case.X, frequencies, model.frequency_weights_)
        # Phases of up to 1,678 are taken in single precision if the rows are.
        single = 0.0 if found.dtype == np.float64 else 2e-5 + 2e-6 * min(phase, 2e4)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 + 1e-14 * phase + single)


def check_losses(model: Any, case: Case, frequencies: Any) -> None:
    """Compare the losses with their twin. Single precision has the stated allowance."""
    phase = naive.largest_phase(case.X, frequencies)
    if phase > LARGEST_PHASE:
        return
    sums = model.sums_
    # An error of every wave moves the sum over pairs by this much, relative to the pairs i != j.
    allowed = 1e-9 + (1e-14 * phase + sums.loss_rounding) * 4 * sums.weight**2 / sums.pairs
    error = np.abs(model.losses_ - naive.alignment_losses(case, frequencies))
    assert (error <= allowed).all(), f"A loss is wrong by {error.max():.2g}."


def check_certificate(certificate: Any) -> None:
    """Check that a bound is not below what it bounds, except where it meets its ceiling."""
    if certificate.violations:
        return
    assert certificate.empirical_loss - 1e-12 <= certificate.value or (
        certificate.value == certificate.ceiling
    )
    assert 0 <= certificate.value <= 1


def random_prior(rng: np.random.Generator) -> dict[str, Any]:
    """Return parameters of the prior."""
    gamma = [float(10.0 ** rng.integers(-20, 10)), "scale", "median", "multiscale"]
    return {
        "gamma": gamma[rng.integers(4)],
        "kernel": str(rng.choice(KERNELS)),
    }


def learned_parameters(rng: np.random.Generator, seed: int, case: Case) -> dict[str, Any]:
    """Return parameters of ``PBRFF`` and ``OKRFF``."""
    return {
        "n_frequencies": int(rng.integers(1, 8)),
        "n_candidates": 16,
        "draw": str(rng.choice(["replacement", "distinct", "weighted", "complementary"])),
        "class_weight": [None, "balanced"][rng.integers(2)],
        "precision": str(rng.choice(["auto", "single", "double"])),
        "target_type": case.target_type,
        "random_state": seed,
        **random_prior(rng),
    }


def check_learned(model: Any, case: Case) -> None:
    """Check what the maps with candidates have in common."""
    check_losses(model, case, model.pool_[np.arange(16)].astype(np.float64))
    check_map(model, case)
    check_certificate(model.certificate(0.05, duplicates="genuine"))


@attack(9_000)
def fits_of_pbrff(seed: int, _folder: Path) -> None:
    """Fit ``PBRFF``: losses, features and certificate."""
    case, rng = random_case(seed), np.random.default_rng([seed, 1])
    beta = [float(10.0 ** rng.integers(-3, 19)), "ess", "bound"][rng.integers(3)]
    model = PBRFF(beta=beta, **learned_parameters(rng, seed, case))
    check_learned(fitted(model, case, seed, learned), case)


@attack(4_000)
def fits_of_okrff(seed: int, _folder: Path) -> None:
    """Fit ``OKRFF``: losses, features and certificate."""
    case, rng = random_case(seed), np.random.default_rng([seed, 1])
    rho = [float(10.0 ** rng.uniform(-3, 4)), "ess"][rng.integers(2)]
    mu = float(rng.choice([1.5, 2.0, 3.0]))
    model = OKRFF(rho=rho, mu=mu, **learned_parameters(rng, seed, case))
    check_learned(fitted(model, case, seed, learned), case)


@attack(3_000)
def fits_of_rff(seed: int, _folder: Path) -> None:
    """Fit ``RFF``: features and certificate."""
    case, rng = random_case(seed, weighted=False), np.random.default_rng([seed, 1])
    model = RFF(int(rng.integers(1, 20)), random_state=seed, **random_prior(rng))
    check_map(fitted(model, case, seed, learned), case)
    certificate = model.certificate(
        X=case.passed, y=case.y, target_type=case.target_type, duplicates="genuine"
    )
    check_certificate(certificate)


@attack(1_500)
def fits_of_gibbs_rff(seed: int, _folder: Path) -> None:
    """Fit ``GibbsRFF`` with few steps: losses, features and certificate."""
    case, rng = random_case(seed, weighted=False), np.random.default_rng([seed, 1])
    model = GibbsRFF(
        int(rng.integers(1, 6)),
        gamma=[float(10.0 ** rng.integers(-8, 4)), "scale", "multiscale"][rng.integers(3)],
        beta=float(10.0 ** rng.uniform(-2, 3)),
        target_type=case.target_type,
        n_particles=int(rng.integers(2, 6)),
        n_steps=2,
        class_weight=[None, "balanced"][rng.integers(2)],
        precision=str(rng.choice(["auto", "single", "double"])),
        random_state=seed,
    )
    fitted(model, case, seed, learned)
    check_losses(model, case, model.pool_.astype(np.float64))
    check_map(model, case)
    check_certificate(model.certificate(0.05, duplicates="genuine"))


@attack(1_500)
def fits_of_boosted_rff(seed: int, _folder: Path) -> None:
    """Fit ``BoostedRFF`` with few steps: features."""
    case, rng = random_case(seed), np.random.default_rng([seed, 1])
    model = BoostedRFF(
        int(rng.integers(1, 6)),
        target_type=case.target_type,
        n_rounds=int(rng.integers(1, 3)),
        n_steps=2,
        ridge=float(10.0 ** rng.uniform(-4, 1)),
        random_state=seed,
    )
    check_map(fitted(model, case, seed, learned), case)


def landmark_parameters(rng: np.random.Generator, seed: int) -> dict[str, Any]:
    """Return parameters of both maps to landmarks."""
    gamma = [float(10.0 ** rng.integers(-20, 10)), "scale", "median"][rng.integers(3)]
    choice = str(rng.choice(["medoids", "kmeans", "random", "stratified"]))
    return {"landmarks": choice, "n_landmarks": 4, "gamma": gamma, "random_state": seed}


@attack(3_000)
def fits_of_rbf_landmarks(seed: int, _folder: Path) -> None:
    """Fit ``RBFLandmarks`` with the RBF kernel: similarities."""
    case, rng = random_case(seed, CLASSES, weighted=False), np.random.default_rng([seed, 1])
    model = fitted(RBFLandmarks(**landmark_parameters(rng, seed)), case, seed, learned)
    X, points = case.X.astype(np.float64), dense(model.landmarks_).astype(np.float64)
    squares = ((X[:, np.newaxis] - points) ** 2).sum(axis=2)
    gamma = model.spectrum_.gamma
    # Distances come from inner products, of sparse rows without a shift.
    reach = gamma * ((X**2).sum(axis=1) if sparse.issparse(case.passed) else squares).max()
    single = 0.0 if case.X.dtype == np.float64 else 1e-6 * (1 + np.sqrt(reach))
    allowed = 1e-9 + 16 * np.finfo(np.float64).eps * reach + single
    found = model.transform(case.passed)
    np.testing.assert_allclose(found, np.exp(-gamma * squares), rtol=0, atol=allowed)
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-6


@attack(3_000)
def fits_of_pb_landmarks(seed: int, _folder: Path) -> None:
    """Fit ``PBLandmarks``: losses, similarities and certificate."""
    case, rng = random_case(seed, CLASSES, weighted=False), np.random.default_rng([seed, 1])
    model = PBLandmarks(
        n_frequencies=6,
        beta=float(10.0 ** rng.integers(-3, 12)),
        **landmark_parameters(rng, seed),
    )
    fitted(model, case, seed, learned)
    found = model.transform(case.passed)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(model.posterior_.sum(axis=1), 1, rtol=0, atol=1e-9)
    X, points = case.X.astype(np.float64), dense(model.landmarks_).astype(np.float64)
    for number, point in enumerate(points):
        frequencies = model.frequencies_of(number).astype(np.float64)
        phase = naive.largest_phase(np.vstack([X, points]), frequencies)
        if phase > LARGEST_PHASE:
            continue
        single = 0.0 if case.X.dtype == np.float64 else 4e-5 + 4e-6 * min(phase, 2e4)
        allowed = 1e-9 + 1e-14 * phase + single
        similarities = np.cos((X - point) @ frequencies.T) @ model.posterior_[number]
        np.testing.assert_allclose(found[:, number], similarities, rtol=0, atol=allowed)
        is_own, label = bool(model.is_sample_[number]), model.landmark_labels_[number]
        losses = naive.landmark_losses(X, case.y, point, label, frequencies) / (len(X) - is_own)
        np.testing.assert_allclose(model.losses_[number], losses, rtol=0, atol=4 * allowed)
    check_certificate(model.certificate(0.05, duplicates="genuine"))
