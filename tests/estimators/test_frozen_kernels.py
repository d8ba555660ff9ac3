"""Kernels certified on rows that they were not learned from."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import Normalizer, StandardScaler

from pacfourier import (
    OKRFF,
    PBRFF,
    RFF,
    BoostedRFF,
    GibbsRFF,
    PBLandmarks,
    bounds,
    certify,
)
from pacfourier.bounds import BoundRecord
from pacfourier.data.samples import Block, Sample
from pacfourier.estimators.base import drawn_seed
from pacfourier.estimators.frozen_kernels import frozen_kernel
from pacfourier.estimators.gibbs_rff import SPLIT_STREAM, split_sample
from pacfourier.pacbayes.holdout import FreshRows, frozen_certificate
from reproduction.datasets import load

X, Y = load_breast_cancer(return_X_y=True)
FIT, FRESH = (X[::2], Y[::2]), (X[1::2], Y[1::2])
SMALL_GIBBS = {"n_particles": 10, "n_steps": 5, "random_state": 0}
MAPS = {
    "PBRFF": PBRFF(6, n_candidates=200, target_type="binary", random_state=0),
    "OKRFF": OKRFF(6, n_candidates=200, target_type="binary", random_state=0),
    "GibbsRFF": GibbsRFF(6, target_type="binary", **SMALL_GIBBS),
    "BoostedRFF": BoostedRFF(3, n_steps=5, target_type="binary", random_state=0),
}
NAMES = ("betting", "first_order", "chernoff", "unexpected_bernstein", "kl")


def fitted(name, **parameters):
    return clone(MAPS[name]).set_params(**parameters).fit(*FIT)


@pytest.fixture(scope="module")
def model():
    return fitted("PBRFF")


def certified(model, fresh=FRESH, **options):
    return certify(model, *fresh, **options)


def status(certificate, name):
    return next(item.status for item in certificate.assumptions if item.name == name)


def assert_refused(certificate, reason):
    with pytest.raises(ValueError, match=reason):
        _ = certificate.value


def pair_losses(model, X, y):
    """The loss of the deployed kernel on every ordered pair of rows, by its features."""
    features = model.transform(X)
    agreement = np.where(y[:, None] == y[None, :], 1, -1)
    return ((1 - agreement * (features @ features.T)) / 2)[~np.eye(len(y), dtype=bool)]


def naive_scores(model, learned_from, fresh):
    """The scores and their concentration, frequency by frequency, from both samples of rows."""
    (A, b), (C, d) = learned_from, fresh
    signs, total, votes, amplitudes = 2.0 * b - 1, 0.0, np.zeros(len(C)), []
    for frequency, weight in zip(model.frequencies_, model.frequency_weights_, strict=True):
        mean = np.mean(signs * np.exp(1j * A @ frequency))
        amplitudes.append(abs(mean))
        total += weight * abs(mean)
        votes += weight * abs(mean) * np.cos(C @ frequency - np.angle(mean))
    squares = model.frequency_weights_ @ np.square(amplitudes)
    return (2.0 * d - 1) * votes / total, total**2 / squares


@pytest.mark.parametrize("name", MAPS)
def test_the_bounds_are_those_of_the_kernel_on_the_fresh_rows(name):
    model = fitted(name)
    losses = pair_losses(model, *FRESH)
    scores, kappa = naive_scores(model, FIT, FRESH)
    n, case = len(scores), {"epsilon": 0.05}
    moment = float(np.mean((losses - 0.5) ** 2))
    mean = {"loss": losses.mean(), "n_samples": n}
    expected = {
        "betting": bounds.holdout_betting(scores=scores, concentration=kappa, **case),
        "first_order": bounds.holdout_first_order(
            score=scores.mean(), squared_score=np.mean(scores**2), n_samples=n,
            concentration=kappa, **case,
        ),
        "chernoff": bounds.holdout_alignment(**mean, **case),
        "unexpected_bernstein": bounds.unexpected_bernstein(
            **mean, **case, divergence=0.0, second_moment=moment, n_hypotheses=1
        ),
        "kl": bounds.kl(**mean, **case, divergence=0.0),
    }  # fmt: skip
    for bound, details in expected.items():
        certificate = certified(model, bound=bound)
        assert certificate.value == pytest.approx(min(details.value, 0.5), abs=1e-9)
        assert certificate.empirical_loss == pytest.approx(losses.mean(), abs=1e-9)
        assert certificate.divergence == 0
        assert certificate.bounds_tried == (bound,)
        assert status(certificate, "rows") == "declared"
    assert certified(model).bound == "betting"


def test_the_value_is_below_chance_and_above_the_empirical_loss(model):
    values = [certified(model, bound=bound) for bound in NAMES]
    assert all(each.empirical_loss < each.value < 0.5 for each in values)
    assert min(values, key=lambda each: each.value).bound == "betting"


def test_auto_depends_on_what_is_declared_only():
    assert certified(fitted("PBRFF", target_type="auto")).bound == "unexpected_bernstein"
    assert certified(fitted("PBRFF", target_type="auto"), target_type="binary").bound == "betting"
    assert certified(RFF(4, gamma=1e-4).fit(FIT[0]), target_type="binary").ceiling == 0.5
    sets = np.stack([Y, 1 - Y], axis=1)
    multilabel = PBRFF(5, n_candidates=50).fit(X[::2], sets[::2])
    assert certified(multilabel, (X[1::2], sets[1::2])).bound == "chernoff"


def test_many_classes():
    X, y = load_iris(return_X_y=True)
    model = PBRFF(5, n_candidates=100, random_state=0).fit(X[::2], y[::2])
    certificate = certify(model, X[1::2], y[1::2])
    losses = pair_losses(model, X[1::2], y[1::2])
    assert certificate.bound == "unexpected_bernstein"
    assert certificate.details.parameters["second_moment"] == pytest.approx(
        np.mean((losses - 0.5) ** 2)
    )
    with pytest.raises(ValueError, match="'betting' needs declared binary labels"):
        certify(model, X[1::2], y[1::2], bound="betting")


def test_a_map_without_labels_has_no_scores():
    with pytest.raises(ValueError, match="'first_order' needs declared binary labels and a map"):
        certified(RFF(4, gamma=1e-4).fit(FIT[0]), bound="first_order", target_type="binary")


def test_a_bound_of_your_own(model):
    record = BoundRecord(name="own", function=bounds.kl, needs=("loss", "divergence", "n_samples"))
    assert certified(model, bound=record).value == certified(model, bound="kl").value


@pytest.mark.parametrize("kind", ["sparse", "float32", "tensor"])
def test_kinds_of_arrays_agree(kind, model):
    """The same rows as CSR or tensor; float32 rows have another kernel, rounded by 1e-4."""
    rows = FRESH[0]
    if kind == "tensor":
        rows = pytest.importorskip("torch").as_tensor(rows)
    rows = {"sparse": sparse.csr_array, "float32": np.float32}.get(kind, lambda X: X)(rows)
    for bound in NAMES:
        found = certified(model, (rows, FRESH[1]), bound=bound).value
        tolerance = 1e-3 if kind == "float32" else 1e-9
        assert found == pytest.approx(certified(model, bound=bound).value, abs=tolerance)


@pytest.mark.parametrize("name", MAPS)
def test_rows_of_the_fit_are_refused(name):
    model = fitted(name)
    for rows in (FIT, (X, Y), (FIT[0][::-2], FIT[1][::-2])):
        assert_refused(certified(model, rows), "rows: some of them were learned from")
    assert certified(model).value < 0.5


def test_a_bandwidth_is_learned_from_rows_too():
    assert_refused(
        certified(RFF(4, gamma="median").fit(FIT[0]), FIT), "rows: some of them were learned from"
    )
    assert certified(RFF(4, gamma="median").fit(FIT[0])).value <= 1
    # This kernel does not depend on any row.
    assert certified(RFF(4, gamma=1e-4).fit(FIT[0]), FIT).value <= 1


def test_a_scaler_may_be_fitted_on_the_rows_of_the_fit_only():
    own = StandardScaler().fit(FIT[0])
    model = clone(MAPS["PBRFF"]).fit(own.transform(FIT[0]), FIT[1])
    assert certified(model, (own.transform(FRESH[0]), FRESH[1])).value < 0.5
    fresh = StandardScaler().fit_transform(FRESH[0])
    both = StandardScaler().fit_transform(X)
    for first, second in ((own.transform(FIT[0]), fresh), (both[::2], both[1::2])):
        model = clone(MAPS["PBRFF"]).fit(first, FIT[1])
        assert_refused(certified(model, (second, FRESH[1])), "inputs: columns have mean 0")


def test_the_fit_may_be_weighted_but_fresh_rows_may_not_repeat():
    model = clone(MAPS["PBRFF"]).fit(*FIT, sample_weight=np.linspace(0.5, 2, len(FIT[1])))
    assert certified(model).value < 0.5
    repeated = tuple(np.concatenate([part, part[:50]]) for part in FRESH)
    assert_refused(certified(model, repeated), r"sample: .* of the rows repeat others")


def test_numbers_have_no_certificate():
    model = PBRFF(4, n_candidates=50).fit(X[::2], X[::2, 0])
    assert_refused(certified(model, (X[1::2], X[1::2, 0])), "loss: the numbers in y were centred")


@pytest.mark.parametrize("other", [Normalizer(), PBLandmarks(), None])
def test_other_models_are_refused(other):
    with pytest.raises(ValueError, match=r"model must be a classifier, .* or a Fourier map"):
        certified(other)


def test_bad_arguments_are_refused(model):
    with pytest.raises(ValueError, match=r"bound must be 'auto', .*'betting'"):
        certified(model, bound="catoni_grid")
    with pytest.raises(ValueError, match="epsilon must be in"):
        certified(model, epsilon=1.0)
    with pytest.raises(ValueError, match="y must hold known classes"):
        certified(model, (FRESH[0], FRESH[1] + 1))
    with pytest.raises(ValueError, match="features"):
        certified(model, (FRESH[0][:, 1:], FRESH[1]))


def noise(rng):
    """Labels that say nothing: the true loss of every kernel is 1/2."""
    return rng.standard_normal((120, 40)), rng.choice([-1, 1], 120)


@pytest.fixture(scope="module")
def overfitted():
    """60 kernels that learned noise, with 40 of 120 rows held out."""
    rng = np.random.default_rng(7)
    settings = {"n_particles": 12, "beta": 60.0, "n_steps": 15, "target_type": "binary"}
    found = []
    for seed in range(60):
        rows, labels = noise(rng)
        model = GibbsRFF(6, gamma=0.02, certify=1 / 3, random_state=seed, **settings)
        stream = np.random.default_rng([drawn_seed(seed), SPLIT_STREAM])
        rest, _ = split_sample(Sample(Block(rows, labels)), 1 / 3, stream)
        found.append((model.fit(rows, labels), rest.whole))
    return found


@pytest.mark.parametrize("bound", ["betting", "first_order", "chernoff", "unexpected_bernstein"])
def test_kernels_that_learned_noise_are_covered(bound, overfitted):
    """At epsilon = 0.2, more than 12 failures of 60 would be above nominal.

    On the rows of the fit nearly all fail: the test can see rows that are not fresh.
    """
    failures, stale = 0, 0
    for model, learned_from in overfitted:
        # The bound before its ceiling: at 1/2, the truth, it could not fail.
        failures += model.certificate(0.2, bound=bound).details.value < 0.5
        kernel = frozen_kernel(model, learned_from, model._target, FreshRows(model._summary))
        stale += frozen_certificate(kernel, epsilon=0.2, bound=bound).details.value < 0.5
    assert failures <= 12
    assert stale > 50


def split(rows=X, labels=Y, **parameters):
    settings = {"target_type": "binary", **SMALL_GIBBS, **parameters}
    return GibbsRFF(6, certify=0.25, **settings).fit(rows, labels)


def test_rows_set_aside_are_certified_and_not_learned_from():
    model = split()
    certificate = model.certificate()
    assert certificate.n_samples == 143
    assert model.sums_.n_samples == 569 - 143
    assert model.inverse_temperature_ == pytest.approx(20 * np.sqrt(569 - 143))
    assert certificate.divergence == 0
    assert certificate.value < 0.5
    # A step of a pipeline may have seen them before.
    assert status(certificate, "rows") == "declared"
    assert status(certificate, "run") == "declared"


def test_the_split_is_blind_and_the_fit_sees_only_its_rows():
    """Other values and labels in the held-out rows change nothing but the certificate."""
    whole = split()
    stream = np.random.default_rng([drawn_seed(0), SPLIT_STREAM])
    aside = stream.permutation(569)[:143]
    rows, labels = X.copy(), Y.copy()
    rows[aside], labels[aside] = X[aside][::-1] * 1.01, 1 - Y[aside]
    changed = split(rows, labels)
    np.testing.assert_array_equal(changed.frequencies_, whole.frequencies_)
    np.testing.assert_array_equal(changed.losses_, whole.losses_)
    assert changed.certificate().value == 0.5
    rest = np.setdiff1d(np.arange(569), aside)
    same = certify(whole, X[aside], Y[aside])
    assert same.value == pytest.approx(whole.certificate().value)
    assert_refused(certify(whole, X[rest], Y[rest]), "some of them were learned from")


@pytest.mark.parametrize("kind", ["sparse", "tensor"])
def test_the_split_takes_sparse_rows_and_tensors(kind):
    rows = sparse.csr_array(X)
    if kind == "tensor":
        rows = pytest.importorskip("torch").as_tensor(X)
    found, expected = split(rows).certificate(), split().certificate()
    # Rounding may decide whether a move is accepted, so the kernels may differ a little.
    assert found.value == pytest.approx(expected.value, abs=0.05)
    assert found.n_samples == 143


def test_the_prior_may_come_from_the_rows_of_the_fit():
    assert split(gamma="median").certificate().value < 0.5
    assert_refused(
        GibbsRFF(6, gamma="median", **SMALL_GIBBS).fit(X, Y).certificate(),
        "gamma='median' was computed from the sample",
    )


def test_a_split_sees_copies_and_scalers_on_all_rows():
    assert_refused(
        split(np.repeat(X, 2, axis=0), np.repeat(Y, 2)).certificate(),
        r"sample: .* of the rows repeat others",
    )
    assert_refused(
        split(StandardScaler().fit_transform(X)).certificate(), "inputs: columns have mean 0"
    )


def test_only_the_kept_kernel_was_certified():
    model = split()
    with pytest.raises(ValueError, match="of must be one of"):
        model.certificate(of="posterior")
    with pytest.raises(ValueError, match="redraw would change the kernel"):
        model.redraw(n_frequencies=3)
    again = pickle.loads(pickle.dumps(model))
    assert again.certificate().value == model.certificate().value


def test_without_a_split_nothing_changes():
    model = GibbsRFF(6, **SMALL_GIBBS).fit(X, Y)
    assert model.certificate().n_samples == 569
    assert model.set_params(certify=0.5).certificate().n_samples == 569
    assert model.redraw(n_frequencies=3).certificate().n_samples == 569


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1, "half", None])
def test_impossible_shares_are_refused(share):
    with pytest.raises(ValueError, match="certify must be False, True or the share"):
        GibbsRFF(6, certify=share).fit(X, Y)


def test_true_holds_out_a_fifth():
    model = GibbsRFF(6, certify=True, **SMALL_GIBBS).fit(X, Y)
    assert model.certificate().n_samples == 114


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match=r"from and 2 to hold out, got 0\.1 of 10 rows\."):
        GibbsRFF(2, certify=0.1).fit(X[15:25], Y[15:25])


def test_dask_collections_are_refused():
    array = pytest.importorskip("dask.array")
    lazy = array.from_array(X, chunks=(200, 30)), array.from_array(Y, chunks=200)
    with pytest.raises(ValueError, match="certify must be False for Dask collections"):
        GibbsRFF(6, certify=0.5, **SMALL_GIBBS).fit(*lazy)
    with pytest.raises(ValueError, match="X must be in memory"):
        certify(fitted("PBRFF"), *lazy)


@pytest.mark.slow
@pytest.mark.usefixtures("data_folder")
def test_mnist_is_certified_below_the_bar():
    """One third of 9,102 rows certifies 0.106; all rows, at a price of 70 nats, 0.17."""
    X, y, _ = load("mnist17")
    rows = np.random.default_rng(0).permutation(len(y))[:9102]
    model = GibbsRFF(
        100, beta=60.0, n_steps=60, certify=1 / 3, target_type="binary", random_state=0
    ).fit(X[rows], y[rows])
    assert model.certificate(bound="betting").value < 0.112
    assert model.certificate(bound="chernoff").value < 0.120
