from dataclasses import replace
from functools import partial
from inspect import signature

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from pacfourier import OKRFF, PBRFF, RFF, GibbsRFF, PBLandmarks, bounds, spectra
from pacfourier.bounds import Bound, BoundRecord
from pacfourier.bounds.divergences import kl_divergence
from pacfourier.core.alignment.sums import alignment_sums, signed_waves
from pacfourier.core.alignment.targets import target_of
from reproduction.datasets import load


def two_gaussians(n_samples, rng, n_features=2):
    """Classes -1, +1 with equal odds and means -1/2, +1/2 along the first axis."""
    y = rng.choice([-1, 1], n_samples)
    X = rng.standard_normal((n_samples, n_features))
    X[:, 0] += y / 2
    return X, y


def true_losses(frequencies):
    """(1 - |E y exp(i w.x)|^2) / 2, with |E y exp(i w.x)| = exp(-|w|^2 / 2) |sin(w_1 / 2)|."""
    frequencies = frequencies.astype(float)
    amplitudes = np.exp(-0.5 * np.sum(frequencies**2, axis=1)) * np.sin(frequencies[:, 0] / 2)
    return (1 - amplitudes**2) / 2


def statuses(certificate):
    return {item.name: item.status for item in certificate.assumptions}


@pytest.fixture
def sample(rng):
    return two_gaussians(400, rng)


def fitted(sample, estimator=PBRFF, **parameters):
    parameters = {"n_candidates": 300, "target_type": "binary", "random_state": 0, **parameters}
    return estimator(10, **parameters).fit(*sample)


def test_second_moments_equal_the_double_loop(rng):
    X, y = two_gaussians(30, rng)
    frequencies = rng.standard_normal((8, 2))
    sums = alignment_sums(X, y, target_of(y), frequencies, precision="double")
    signs = np.where(np.equal.outer(y, y), 1, -1)
    pairs = ~np.eye(30, dtype=bool)
    for m, omega in enumerate(frequencies):
        losses = (1 - signs * np.cos((X[:, np.newaxis] - X) @ omega)) / 2
        assert sums.second_moments()[m] == pytest.approx(np.mean((losses[pairs] - 0.5) ** 2))


def test_signed_waves_equal_their_definition(rng):
    X, y = two_gaussians(30, rng)
    frequencies = rng.standard_normal((8, 2))
    sums = alignment_sums(X, y, target_of(y), frequencies, precision="double")
    amplitudes, harmonics = signed_waves(sums)
    phases = X @ frequencies.T
    means = (y[:, np.newaxis] * np.exp(1j * phases)).mean(axis=0)
    np.testing.assert_allclose(amplitudes, np.abs(means))
    np.testing.assert_allclose(
        harmonics, np.cos(2 * (phases - np.angle(means))).mean(axis=0), atol=1e-12
    )


@pytest.mark.parametrize("draw", ["weighted", "distinct", "replacement"])
def test_what_is_deployed_is_certified(draw, sample):
    model = fitted(sample, draw=draw)
    certificate = model.certificate()
    weights = np.zeros(300)
    for index, weight in zip(model.kept_, model.frequency_weights_, strict=True):
        weights[index] += weight
    assert certificate.empirical_loss == pytest.approx(weights @ model.losses_)
    assert certificate.divergence == pytest.approx(kl_divergence(weights))
    features = model.transform(sample[0])
    gram = features @ features.T
    signs = np.outer(sample[1], sample[1])
    pairs = ~np.eye(400, dtype=bool)
    direct = np.mean((1 - signs * gram)[pairs]) / 2
    assert certificate.empirical_loss == pytest.approx(direct, abs=1e-6)


def test_the_whole_posterior_can_be_certified(sample):
    model = fitted(sample, beta=2.0, class_weight=None)
    certificate = model.certificate(of="posterior")
    assert certificate.empirical_loss == pytest.approx(model.posterior_ @ model.losses_)
    assert certificate.divergence == pytest.approx(kl_divergence(model.posterior_))
    localised = model.certificate(of="posterior", bound="localised")
    expected = bounds.localised(
        loss=certificate.empirical_loss,
        n_samples=400,
        epsilon=0.05,
        inverse_temperature=2.0 * np.sqrt(400),
    )
    assert localised.value == pytest.approx(min(expected.value, 0.5))
    with pytest.raises(ValueError, match="localised"):
        model.certificate(bound="localised")
    model.set_params(beta=0.001)
    assert model.certificate(of="posterior", bound="localised").value == localised.value
    by_data = fitted(sample, beta="ess", class_weight=None).set_params(beta=1.0)
    with pytest.raises(ValueError, match="localised"):
        by_data.certificate(of="posterior", bound="localised")


def test_auto_is_the_better_of_two_at_half_epsilon(sample):
    model = fitted(sample)
    halves = [
        model.certificate(0.05, bound=name).value
        for name in ("first_order", "unexpected_bernstein")
    ]
    assert model.certificate(0.1).value == min(halves)


def test_binary_is_declared_never_inferred(sample):
    """With target_type="auto" two classes may be all that the sample shows of many."""
    certificate = fitted(sample, target_type="auto").certificate()
    assert certificate.bounds_tried == ("unexpected_bernstein",)
    assert certificate.ceiling == 1.0
    assert statuses(certificate)["labels"] == "holds"
    for name in ("first_order", "norm"):
        with pytest.raises(ValueError, match="declared binary labels"):
            fitted(sample, target_type="auto").certificate(bound=name)
    declared = fitted(sample).certificate()
    assert declared.ceiling == 0.5
    assert statuses(declared)["labels"] == "declared"


def test_partial_fit_and_merge_give_the_same_certificate(sample):
    X, y = sample
    whole = fitted(sample, precision="double")
    first, second = (
        clone(whole).partial_fit(X[rows], y[rows], classes=[-1, 1])
        for rows in (slice(0, 150), slice(150, 400))
    )
    streamed = clone(whole).partial_fit(X[:150], y[:150], classes=[-1, 1])
    streamed.partial_fit(X[150:], y[150:])
    for model in (first.merge(second), streamed):
        assert model.certificate().value == pytest.approx(whole.certificate().value, abs=1e-9)


@pytest.mark.parametrize(
    ("target_type", "name"), [("binary", "anytime_first_order"), ("auto", "anytime_bernstein")]
)
def test_a_stream_may_be_stopped_at_any_time(target_type, name, rng):
    model = PBRFF(10, n_candidates=200, target_type=target_type, random_state=0)
    found = []
    for _ in range(4):
        certificate = model.partial_fit(*two_gaussians(300, rng)).certificate(bound="anytime")
        assert certificate.bounds_tried == (name,)
        assert certificate.value >= true_losses(model.frequencies_) @ model.frequency_weights_
        found.append(certificate.value)
    assert found[-1] < found[0]
    reasons = {item.name: item.reason for item in certificate.assumptions}
    assert "fixed in advance" not in reasons["sample"]
    assert "stop any time" in reasons["stream"]
    assert "at all numbers of samples at once, here 1,200" in repr(certificate)
    plain = model.certificate()
    assert "fixed in advance" in repr(plain)
    assert "stream" not in statuses(plain)


def test_streams_have_no_certificate_where_none_is_proved(sample):
    X, y = sample
    sets = PBRFF(5, random_state=0).fit(X, np.stack([y > 0, X[:, 1] > 0], axis=1).astype(int))
    with pytest.raises(ValueError, match="'anytime_bernstein' needs labels that are classes"):
        sets.certificate(bound="anytime")
    moved = GibbsRFF(5, n_particles=10, n_steps=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="needs candidates drawn from the prior"):
        moved.certificate(bound="anytime")
    landmarks = PBLandmarks("random", n_landmarks=3, gamma=1.0, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="bound must be 'auto'"):
        landmarks.certificate(bound="anytime")


def test_sparse_and_dense_give_the_same_certificate(sample):
    X, y = sample
    dense = fitted((X, y)).certificate()
    thin = fitted((sparse.csr_array(X), y)).certificate()
    assert thin.value == pytest.approx(dense.value, abs=1e-9)
    assert statuses(thin) == statuses(dense)


@pytest.mark.parametrize("estimator", [PBRFF, OKRFF])
def test_certificates_cover_the_truth(estimator):
    """300 samples, posteriors and draws learned on each; at epsilon = 0.05 none may fail.

    If a bound failed with probability 0.05 this would happen with probability 2e-7.
    """
    rng = np.random.default_rng(5)
    names = ("kl", "hoeffding_grid", "hoeffding_peeling", "catoni_grid", "norm")
    names += ("unexpected_bernstein", "first_order", "f_divergence", "auto")
    for seed in range(300):
        model = estimator(
            5,
            n_candidates=60,
            target_type="binary",
            gamma=1.0,
            draw="replacement",
            random_state=seed,
        ).fit(*two_gaussians(100, rng))
        truth = true_losses(model.pool_[:])
        deployed = np.bincount(model.kept_, model.frequency_weights_, minlength=60) @ truth
        for name in names:
            assert model.certificate(bound=name).value >= deployed - 1e-9
            posterior = model.certificate(bound=name, of="posterior")
            assert posterior.value >= model.posterior_ @ truth - 1e-9


def test_certificates_are_not_vacuous(rng):
    """Far under one half for a problem that is easy to align with."""
    X, y = two_gaussians(4000, rng)
    X[:, 0] += 2 * y
    model = fitted((X, y), gamma="multiscale", n_candidates=2000)
    assert model.certificate().value < 0.2


def test_temperature_by_the_bound_has_the_smallest_certificate(rng):
    sample = two_gaussians(3000, rng)
    best = fitted(sample, beta="bound", class_weight=None, gamma=0.5)
    certified = best.certificate(of="posterior").value
    for beta in (0.1, 0.5, 1.0, 2.0, 5.0, 20.0):
        assert certified <= best.redraw(beta=beta).certificate(of="posterior").value + 1e-4


def test_many_classes_are_certified(rng):
    y = rng.integers(0, 5, 2000)
    X = rng.standard_normal((2000, 2)) * 0.3 + np.array([np.cos(y), np.sin(y)]).T * 2
    model = PBRFF(10, n_candidates=500, random_state=0).fit(X, y)
    certificate = model.certificate()
    assert certificate.bound == "unexpected_bernstein"
    assert certificate.empirical_loss < certificate.value < 1


def test_label_sets_are_certified(rng):
    y = rng.integers(0, 2, (2000, 3))
    X = y + 0.2 * rng.standard_normal((2000, 3))
    certificate = PBRFF(10, n_candidates=500, random_state=0).fit(X, y).certificate()
    assert certificate.bound == "catoni_grid"
    assert certificate.empirical_loss < certificate.value < 1


def test_random_features_are_certified_by_any_sample(sample, rng):
    model = RFF(20, gamma=0.5, random_state=0).fit(sample[0])
    X, y = two_gaussians(3000, rng)
    certificate = model.certificate(X=X, y=y, target_type="binary")
    assert certificate.divergence == pytest.approx(0, abs=1e-12)
    assert true_losses(model.frequencies_).mean() <= certificate.value <= 0.5
    assert statuses(certificate)["prior"] == "declared"


VIOLATIONS = {
    "scale": ({"gamma": "scale"}, {}, "prior", "gamma='multiscale'"),
    "median": ({"gamma": "median"}, {}, "prior", "separate split"),
    "weights": ({}, {"sample_weight": True}, "sample", "without sample_weight"),
    "scaler": ({}, {"scaled": True}, "inputs", "separate split, or use a fixed transform"),
    "repeated rows": ({}, {"repeated": True}, "sample", "50.0 % of the rows repeat others"),
    "zero weights": ({}, {"sample_weight": True, "dropped": True}, "sample", "sample_weight"),
    "numbers": ({"target_type": "continuous"}, {}, "loss", "cut them into classes"),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_violated_assumptions_refuse_the_value_and_name_the_repair(name, sample, rng):
    parameters, changes, assumption, repair = VIOLATIONS[name]
    X, y = sample
    if changes.get("scaled"):
        X = StandardScaler().fit_transform(X)
    if changes.get("repeated"):
        X, y = np.tile(X, (2, 1)), np.tile(y, 2)
    weights = rng.uniform(0.5, 2, len(y)) if changes.get("sample_weight") else None
    if changes.get("dropped"):
        weights = np.resize([0.0, 1.0], len(y))
    parameters = {"n_candidates": 300, "target_type": "binary", "random_state": 0, **parameters}
    certificate = PBRFF(10, **parameters).fit(X, y, sample_weight=weights).certificate()
    violated = {key for key, value in statuses(certificate).items() if value == "violated"}
    assert violated == {assumption}
    with pytest.raises(ValueError, match=repair):
        _ = certificate.value


@pytest.mark.parametrize("estimator", [PBRFF, OKRFF])
@pytest.mark.parametrize("weight", [1e-30, 0.5, 2.0, 5.0, 1e30])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_a_weight_of_all_samples_changes_no_certificate(estimator, weight, precision, sample):
    X, y = sample
    plain = fitted(sample, estimator, precision=precision).certificate()
    model = estimator(
        10, n_candidates=300, target_type="binary", precision=precision, random_state=0
    ).fit(X, y, np.full(len(y), weight))
    certificate = model.certificate()
    assert plain.bound == "first_order"
    assert certificate.value == pytest.approx(plain.value, rel=1e-6)
    assert certificate.empirical_loss == pytest.approx(plain.empirical_loss, rel=1e-6)


def test_equal_weights_on_noise_certify_nothing(rng):
    """Labels that know nothing of X have the loss 1/2, and no certificate below it."""
    for seed in range(20):
        X, y = rng.standard_normal((400, 2)), rng.choice([-1, 1], 400)
        model = PBRFF(5, n_candidates=200, target_type="binary", random_state=seed)
        assert model.fit(X, y, np.full(400, 3.0)).certificate().value == 0.5


def test_rounded_losses_cost_the_localised_bound(sample):
    model = fitted(sample, beta=1.0, class_weight=None, precision="single")
    certificate = model.certificate(of="posterior", bound="localised")
    exact = fitted(sample, beta=1.0, class_weight=None, precision="double")
    assert model.sums_.rounding.max() > 0
    assert certificate.details.value > exact.certificate(of="posterior", bound="localised").value


def test_assumptions_that_cannot_be_checked_are_declared(sample):
    certificate = fitted(sample, gamma=0.3).certificate()
    assert statuses(certificate) == {
        "sample": "declared",
        "prior": "declared",
        "inputs": "declared",
        "loss": "declared",
        "labels": "declared",
        "constants": "holds",
        "object": "holds",
    }
    assert statuses(fitted(sample).certificate())["prior"] == "declared"
    own = fitted(sample, kernel=spectra.Matern(0.3)).certificate()
    assert statuses(own)["prior"] == "declared"
    assert statuses(fitted(sample).certificate(of="posterior"))["object"] == "declared"


def test_what_was_declared_at_fit_stays(sample):
    """Parameters changed after the fit do not change what its certificate says."""
    X, y = sample
    three = np.where(X[:, 1] > 1, 2, y)
    model = PBRFF(10, n_candidates=300, gamma="median", random_state=0).fit(X, three)
    model.set_params(target_type="binary", gamma=0.3)
    certificate = model.certificate()
    assert certificate.ceiling == 1.0
    assert statuses(certificate)["prior"] == "violated"
    declared, inferred = fitted(sample), fitted(sample, target_type="auto")
    assert declared.merge(inferred).certificate().ceiling == 1.0


def test_data_given_twice_are_noticed(sample):
    X, y = sample
    once = fitted(sample)
    streamed = clone(once).partial_fit(X, y).partial_fit(X, y)
    for model in (once.merge(once), streamed):
        with pytest.raises(ValueError, match="400 occur with different labels") as refusal:
            _ = model.certificate().value
        assert ", 0 of 400 occur" in str(refusal.value)


def test_constants_of_a_bound_that_were_not_paid_for_are_declared(sample):
    model = fitted(sample, beta=1.0, class_weight=None)
    localised = model.certificate(of="posterior", bound="localised")
    assert statuses(localised)["constants"] == "declared"
    chi_square = fitted(sample, estimator=OKRFF, mu=2.0).certificate(bound="f_divergence")
    assert statuses(chi_square)["constants"] == "declared"


def test_a_few_equal_rows_of_rounded_values_are_no_violation(sample):
    X, y = sample
    X[-2:] = X[:2]
    certificate = fitted((X, y)).certificate()
    assert statuses(certificate)["sample"] == "declared"
    assert "0.5 % of the rows repeat others" in str(certificate)


TIED = {
    "bootstrap": lambda rng: rng.integers(0, 4, (100, 6))[rng.integers(0, 100, 3000)],
    "survey": lambda rng: rng.integers(1, 6, (1000, 3)),
    "letters": lambda rng: rng.binomial(15, 0.5, (4000, 4)),
    "flags": lambda rng: rng.integers(0, 2, (500, 8)),
    "one digit": lambda rng: rng.standard_normal((2000, 2)).round(1),
}


@pytest.mark.parametrize("name", TIED)
def test_repeated_rows_need_one_word(name, rng):
    X = TIED[name](rng).astype(float)
    y = (X[:, 0] > X[:, 0].mean()).astype(int)
    model = fitted((X, y))
    with pytest.raises(
        ValueError, match=r"% of the rows repeat others\. If .* duplicates='genuine'"
    ):
        _ = model.certificate().value
    share = model._summary.repeated_share
    declared = model.certificate(duplicates="genuine")
    assert declared.value <= 0.5
    assert f"declared, although {100 * share:.1f} % of the rows repeat others" in str(declared)
    untied = fitted((X + 1e-6 * rng.standard_normal(X.shape), y)).certificate()
    assert untied.value == pytest.approx(declared.value, abs=1e-3)


def every_kind(X, y):
    """Yield a function that certifies, for every estimator that has a certificate."""
    yield partial(RFF(5, gamma=0.5, random_state=0).fit(X).certificate, X=X, y=y)
    for model in (
        PBRFF(5, n_candidates=50, random_state=0),
        OKRFF(5, n_candidates=50, random_state=0),
        GibbsRFF(5, n_particles=5, n_steps=2, random_state=0),
        PBLandmarks("random", n_landmarks=3, n_frequencies=9, gamma=0.5, random_state=0),
    ):
        yield model.fit(X, y).certificate


def test_every_estimator_takes_the_word(rng):
    X = rng.integers(0, 3, (200, 3)).astype(float)
    for certify in every_kind(X, np.arange(200) % 2):
        assert statuses(certify())["sample"] == "violated"
        assert statuses(certify(duplicates="genuine"))["sample"] == "declared"
        with pytest.raises(ValueError, match="duplicates must be None or 'genuine', got 'copies'"):
            certify(duplicates="copies")


def test_a_bootstrap_that_is_declared_genuine_is_why_the_word_is_asked_for(rng):
    """100 rows drawn 3,000 times: the certificate of noise is then below its true loss of 1/2."""
    X, y = rng.integers(0, 4, (100, 6)).astype(float), rng.choice([-1, 1], 100)
    rows = rng.integers(0, 100, 3000)
    model = fitted((X[rows], y[rows]), beta=5.0)
    assert model.certificate(duplicates="genuine").value < 0.5
    with pytest.raises(ValueError, match="before rows were copied"):
        _ = model.certificate().value


def extreme_samples(name):
    """Real data, and data of few values, where roundings do not average out."""
    rng = np.random.default_rng(0)
    y = np.arange(30_000) % 2
    if name == "indicators":
        return np.column_stack([y, rng.integers(0, 2, 30_000)]).astype(float), y
    if name == "two values":
        return np.where(y, 101.3, 100.1)[:, np.newaxis], y
    if name == "large":
        return (1000.0 * y)[:, np.newaxis], y
    data = load(name)
    return data.X[::7], data.y[::7]


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize("name", ["mnist17", "ads", "adult", "indicators", "two values", "large"])
def test_single_precision_is_paid_for(name):
    X, y = extreme_samples(name)
    single, double = (
        PBRFF(10, n_candidates=1500, target_type="binary", precision=precision, random_state=0).fit(
            X, y
        )
        for precision in ("single", "double")
    )
    errors = np.abs(single.losses_ - double.losses_)
    assert (errors <= single.sums_.rounding + 1e-12).all()
    moved = single.sums_.second_moments() - double.sums_.second_moments()
    assert (np.abs(moved) <= single.sums_.rounding + 1e-12).all()
    assert double.sums_.rounding.max() == 0.0
    certificate = single.certificate()
    assert certificate.rounding < 1e-3
    exact_amplitudes, exact_harmonics = signed_waves(double.sums_)
    amplitudes, harmonics = signed_waves(single.sums_)
    is_single = single.sums_.rounding > 0
    assert (amplitudes[is_single] <= exact_amplitudes[is_single]).all()
    assert (harmonics >= exact_harmonics - 1e-9).all()
    # The same posterior, with and without rounding: never below.
    double.kept_, double.frequency_weights_ = single.kept_, single.frequency_weights_
    for bound in ("first_order", "unexpected_bernstein", "kl", "norm"):
        rounded, exact = (model.certificate(bound=bound) for model in (single, double))
        assert rounded.details.value >= exact.details.value - 1e-12


def test_unknown_objects_are_refused(sample):
    with pytest.raises(ValueError, match="of must be one of"):
        fitted(sample).certificate(of="model")


@pytest.mark.usefixtures("data_folder")
def test_gaps_on_digits_one_and_seven():
    """The gaps (bound less empirical loss) of a reference table, up to the draw of the prior.

    The losses themselves vary by 0.02 with the 1,000 frequencies of the best bandwidth.
    """
    data = load("mnist17")
    rows = np.random.default_rng(0).permutation(len(data.y))[:9102]
    X, y = data.X[rows].astype(np.float32), data.y[rows]
    model = PBRFF(
        n_candidates=10_000, beta=1.0, class_weight=None, target_type="binary", random_state=0
    ).fit(X, y)
    certificate = model.certificate(of="posterior", bound="kl")
    expected = {"kl": 0.0373, "unexpected_bernstein": 0.0246, "first_order": 0.0223}
    for name, gap in expected.items():
        value = model.certificate(of="posterior", bound=name).value
        assert value - certificate.empirical_loss == pytest.approx(gap, abs=0.004)
    printed = bounds.printed.theorem3(
        loss=certificate.empirical_loss,
        divergence=certificate.divergence,
        n_samples=9102,
        epsilon=0.05,
        inverse_temperature=np.sqrt(9102),
    )
    assert printed.value - certificate.empirical_loss > 3 * expected["kl"]


def mcallester(*, loss, divergence, n_samples, epsilon, pairs):
    """A bound that the package does not have: Pinsker's relaxation of kl."""
    n_terms = n_samples // 2 if pairs else n_samples
    nats = divergence + np.log(2 * np.sqrt(n_terms) / epsilon)
    return Bound(
        value=loss + np.sqrt(nats / (2 * n_terms)),
        empirical_term=loss,
        divergence_term=nats / n_terms,
        parameters={},
        theorem="McAllester",
        reference="maurer2004",
    )


MCALLESTER = BoundRecord(
    name="mcallester",
    function=mcallester,
    needs=("loss", "divergence", "n_samples", "pairs"),
    exponential=True,
)


@pytest.fixture
def learned_maps(sample):
    options = {"gamma": 0.5, "random_state": 0}
    return [
        PBRFF(5, n_candidates=50, **options).fit(*sample),
        GibbsRFF(5, n_particles=10, n_steps=5, **options).fit(*sample),
        PBLandmarks("random", n_landmarks=5, n_frequencies=20, **options).fit(*sample),
    ]


def test_a_bound_from_outside_the_package_serves_every_map(learned_maps, sample):
    for model in learned_maps:
        own, tighter = model.certificate(bound=MCALLESTER), model.certificate(bound="kl")
        assert own.bound == "mcallester"
        assert own.bounds_tried == ("mcallester",)
        assert own.divergence == tighter.divergence
        assert tighter.details.value <= own.details.value <= tighter.details.value + 0.1
        assert "McAllester" in str(own)
    prior = RFF(5, gamma=0.5, random_state=0).fit(sample[0])
    assert prior.certificate(X=sample[0], y=sample[1], bound=MCALLESTER).bound == "mcallester"
    assert "mcallester" not in bounds.RECORDS


def test_a_bound_from_outside_is_refused_where_it_does_not_hold(learned_maps):
    fixed, sampled, landmarks = learned_maps
    undeclared = replace(MCALLESTER, exponential=False)
    with pytest.raises(ValueError, match="needs candidates drawn from the prior"):
        sampled.certificate(bound=undeclared)
    with pytest.raises(ValueError, match="'pairs' in its needs"):
        landmarks.certificate(bound=replace(MCALLESTER, needs=("loss", "divergence", "n_samples")))
    with pytest.raises(ValueError, match="bound='mcallester' needs two classes"):
        fixed.certificate(bound=replace(MCALLESTER, requires=("binary",), advice="two classes."))


def test_a_constant_of_a_bound_from_outside_is_declared(learned_maps):
    record = replace(MCALLESTER, constant="gamma")
    for model in learned_maps:
        certificate = model.certificate(bound=record)
        assert statuses(certificate)["constants"] == "declared"
        assert "gamma was fixed before the sample was seen" in str(certificate)


@pytest.mark.parametrize("estimator", [PBRFF, OKRFF, GibbsRFF, PBLandmarks, RFF])
def test_certificates_are_asked_for_in_the_same_way(estimator):
    parameters = list(signature(estimator.certificate).parameters.values())[1:]
    names = [item.name for item in parameters if item.name not in ("X", "y")]
    assert names[:2] == ["epsilon", "bound"]
    assert names[2:] in (["of", "duplicates"], ["target_type", "duplicates"])
    assert [item.name for item in parameters if item.kind is not item.KEYWORD_ONLY] == ["epsilon"]
