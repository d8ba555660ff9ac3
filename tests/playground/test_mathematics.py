"""The playground's mathematics, held to the library and to definitions."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from tests.playground.goldens import BOUNDS, FILE, RIDGE_PENALTY, SETTINGS, goldens
from tests.playground.javascript import needs_node, returned

from pacfourier.spectra import GAMMA_GRID

GOLDENS = json.loads(FILE.read_text("utf-8"))
# The page computes in double precision, like the library. What differs is the order of sums.
ATOL = 1e-6


def test_the_goldens_are_those_of_the_library():
    now = goldens()
    for kind in ("samples", "bounds"):
        assert now[kind].keys() == GOLDENS[kind].keys()
        for name, case in now[kind].items():
            stored = GOLDENS[kind][name]
            assert case.keys() == stored.keys()
            for key, value in case.items():
                assert_allclose(value, stored[key], rtol=0, atol=1e-9, err_msg=f"{name}: {key}")


def test_the_goldens_are_certified_at_many_values():
    # Else they would not see a wrong grid or a wrong price.
    values = [case["certificate"] for case in GOLDENS["samples"].values()]
    assert sum(value < 0.45 for value in values) >= 2
    assert {case["centre"] for case in GOLDENS["bounds"].values()} >= {0.0, 0.6}
    assert all(case["value"] < 0.5 for case in GOLDENS["bounds"].values())


LEARNED = """
const flat = (rows) => Float64Array.from(rows.flat());
const points = flat(data.points), frequencies = flat(data.frequencies);
const labels = Float64Array.from(data.labels);
// Noise that makes the draw keep what the library kept.
const noise = new Float64Array(data.frequencies.length);
data.kept.forEach((m, k) => { noise[m] = 1e6 - 1e3 * k; });
const sums = alignmentSums(points, labels, frequencies);
const choice = { beta: data.beta, size: data.kept.length, epsilon: data.epsilon };
const result = learned({ points, labels }, { frequencies, noise }, sums, choice);
const { divergence, phaseNats, confidenceNats } = result.certificate;
return {
  ...result,
  natsPerPoint: (divergence + phaseNats + confidenceNats) / labels.length,
  decisions: decisions(features(points, result.keptFrequencies), result.model),
};
"""


@needs_node
@pytest.mark.parametrize("name", SETTINGS)
def test_the_page_finds_what_the_library_finds(name):
    case = GOLDENS["samples"][name]
    found = returned(LEARNED, **case)
    pairs = {
        "losses": found["losses"],
        "posterior": found["posterior"],
        "kept": found["kept"],
        "empirical_loss": found["sampleLoss"],
        "divergence": found["divergence"],
        "certificate": found["certificate"]["value"],
        "rho": found["certificate"]["rho"],
        "nats_per_point": found["natsPerPoint"],
        "kept_certificate": found["deployedCertificate"]["value"],
        "unrelated": found["yardsticks"]["unrelated"],
        "decisions": found["decisions"],
    }
    for key, value in pairs.items():
        assert_allclose(value, case[key], rtol=0, atol=ATOL, err_msg=key)


@needs_node
@pytest.mark.parametrize("name", [str(n) for n in BOUNDS])
def test_the_certificate_is_that_of_the_library(name):
    case = GOLDENS["bounds"][name]
    code = """
    data.posterior = Float64Array.from(data.posterior);
    return [firstOrder(data), firstOrderGrid(data.n, data.posterior.length, data.epsilon)];
    """
    found, grid = returned(code, **case)
    for key in ("value", "rho", "arc", "eta", "centre"):
        assert_allclose(found[key], case[key], rtol=0, atol=ATOL, err_msg=key)
    for key, names in {"eta": "grid", "centre": "centres", "weight": "weights"}.items():
        assert_allclose([point[key] for point in grid], case[names], rtol=0, atol=1e-12)


@needs_node
def test_the_penalty_is_that_of_the_goldens():
    assert returned("return RIDGE_PENALTY;") == RIDGE_PENALTY


@needs_node
def test_losses_are_means_over_pairs(rng):
    points, frequencies = rng.normal(size=(12, 2)), 10 * rng.normal(size=(7, 2))
    labels = np.where(rng.random(12) < 0.4, 1, -1)
    code = """return alignmentLosses(alignmentSums(Float64Array.from(data.points.flat()),
        data.labels, Float64Array.from(data.frequencies.flat())));"""
    found = returned(
        code, points=points.tolist(), labels=labels.tolist(), frequencies=frequencies.tolist()
    )
    cosines = np.cos((points[:, None] - points) @ frequencies.T)
    losses = (1 - np.outer(labels, labels)[..., None] * cosines) / 2
    others = ~np.eye(12, dtype=bool)
    # The page's cosines and sines are right to 4e-12, and a loss has two factors of each.
    assert_allclose(found, losses[others].mean(axis=0), rtol=0, atol=2e-11)


@needs_node
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([], "Add at least two points, one of each colour."),
        ([1], "Add at least two points, one of each colour."),
        ([-1, -1, -1], "All points have one colour. Add a point of the other colour."),
        ([1, -1], None),
    ],
)
def test_samples_that_cannot_be_learned_from_say_why(labels, words):
    assert returned("return obstacle(data.labels);", labels=labels) == words


@needs_node
def test_a_sample_without_signal_has_a_vacuous_certificate():
    code = """
    const { points, labels } = presetSample("moons", 300, 1);
    const noise = uniformGenerator(7), shuffled = labels.map(() => noise() < 0.5 ? -1 : 1);
    const pool = candidatePool(500, null, 3);
    return [labels, shuffled].map((each) => learned({ points, labels: each }, pool,
      alignmentSums(points, each, pool.frequencies), { beta: 4, size: 10, epsilon: 0.05 }))
      .map(({ certificate, sampleLoss }) => [certificate.value, sampleLoss]);
    """
    (real, real_loss), (shuffled, _) = returned(code)
    assert real_loss < real < 0.45
    assert 0.49 < shuffled <= 0.5


@needs_node
def test_kept_frequencies_are_drawn_without_replacement_by_their_weights():
    # The first draw has the law of the posterior. The second has it given the first.
    posterior, n_draws = np.array([0.5, 0.3, 0.15, 0.05]), 20_000
    code = """
    const posterior = Float64Array.from(data.posterior), uniform = uniformGenerator(1);
    const noise = () => posterior.map(() => -Math.log(-Math.log(uniform())));
    return Array.from({ length: data.n }, () => drawnFrequencies(posterior, 2, noise()));
    """
    first, second = np.array(returned(code, posterior=posterior.tolist(), n=n_draws)).T
    assert (first != second).all()
    joint = np.outer(posterior / (1 - posterior), posterior)
    np.fill_diagonal(joint, 0)
    for drawn, law in ((first, posterior), (second, joint.sum(axis=0))):
        shares = np.bincount(drawn, minlength=4) / n_draws
        assert (np.abs(shares - law) < 5 * np.sqrt(law * (1 - law) / n_draws)).all()


@needs_node
@pytest.mark.parametrize("gamma", [0.3, 4.0, None])
def test_candidates_are_draws_of_the_prior(gamma):
    # The two coordinates of a candidate share a bandwidth, so count one of them.
    n = 20_000
    frequencies = returned(
        "return candidatePool(data.n, data.gamma, 5).frequencies;", n=n, gamma=gamma
    )
    gammas = GAMMA_GRID if gamma is None else [gamma]
    for least in (0.01, 0.5, 5.0):
        law = np.mean([2 * norm.sf(least / np.sqrt(2 * each)) for each in gammas])
        share = np.mean(np.abs(frequencies[::2]) > least)
        assert abs(share - law) < 5 * np.sqrt(law * (1 - law) / n) + 1e-12


@needs_node
@pytest.mark.parametrize("name", ["moons", "circles", "xor", "blobs", "spirals"])
def test_presets_are_repeatable_draws_of_two_equal_classes(name):
    code = "return [1, 1, 2].map((seed) => presetSample(data.name, 400, seed));"
    first, again, other = returned(code, name=name)
    assert first == again
    assert first != other
    points, labels = np.reshape(first["points"], (-1, 2)), np.array(first["labels"])
    assert set(labels) == {-1, 1}
    assert abs(labels.mean()) < 5 / np.sqrt(400)
    assert (np.abs(points) < 2).mean() > 0.98


@needs_node
def test_the_table_of_the_kernel_interpolates_it(rng):
    # Bilinear interpolation is wrong by at most h^2 |w|^2 / 8 for a cosine, in each coordinate.
    frequencies, weights = rng.normal(size=(9, 2)), rng.dirichlet(np.ones(9))
    differences = rng.uniform(-3.9, 3.9, (50, 2))
    code = """
    const table = kernelTable(Float64Array.from(data.frequencies.flat()),
      Float64Array.from(data.weights));
    return [table.step, data.differences.map(([x, y]) => kernelValue(table, x, y))];
    """
    step, values = returned(
        code,
        frequencies=frequencies.tolist(),
        weights=weights.tolist(),
        differences=differences.tolist(),
    )
    exact = np.cos(differences @ frequencies.T) @ weights
    # A share of 0.005 of the mass is left out, and the rest is scaled up.
    left_out = 0.01
    error = step**2 / 8 * (weights @ (frequencies**2).sum(axis=1))
    assert_allclose(values, exact, rtol=0, atol=error + left_out)


@needs_node
def test_sums_of_waves_on_a_grid(rng):
    frequencies, cosines, sines = rng.normal(size=(6, 2)), rng.normal(size=6), rng.normal(size=6)
    xs, ys = np.linspace(-2, 2, 5), np.linspace(-2, 1, 4)
    code = """return [regularGrid(-2, 2, 5), waveGrid(data.frequencies.flat(), data.cosines,
        data.sines, data.xs, data.ys)];"""
    nodes, values = returned(
        code,
        frequencies=frequencies.tolist(),
        cosines=cosines.tolist(),
        sines=sines.tolist(),
        xs=xs.tolist(),
        ys=ys.tolist(),
    )
    phases = np.stack(np.meshgrid(xs, ys), axis=-1) @ frequencies.T
    exact = np.cos(phases) @ cosines + np.sin(phases) @ sines
    assert_allclose(nodes, xs, rtol=0, atol=1e-12)
    assert_allclose(np.reshape(values, (4, 5)), exact, rtol=0, atol=1e-12)
