"""The search "racing" gives valid certificates, and nearly the posterior of the full search."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from pacfourier import OKRFF, PBRFF, alignment_losses, fit_batches
from pacfourier.bounds.divergences import kl_divergence
from pacfourier.core.alignment.sums import balanced_losses, target_losses
from pacfourier.estimators import learned
from pacfourier.pacbayes.balls import divergence_ball_posterior
from pacfourier.pacbayes.evidence import alignment_evidence, certified_weights, default_bound
from pacfourier.pacbayes.posteriors import gibbs_posterior

LEARNED = [PBRFF, OKRFF]
DRAWS = ["weighted", "distinct", "replacement", "complementary"]
N_CANDIDATES = 800


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6_000, 6))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0.4) + (X[:, 2] > 1)
    return X, y.astype(int)


def fitted(estimator, sample, **parameters):
    parameters = {"n_candidates": N_CANDIDATES, "random_state": 0, "search": "racing", **parameters}
    return estimator(7, **parameters).fit(*sample)


def seen_candidates(model):
    """Return the candidates that have the loss of their own on all rows, by definition."""
    return np.unique(model._representatives)


@pytest.mark.parametrize("kind", ["classes", "continuous", "multilabel"])
@pytest.mark.parametrize("estimator", LEARNED)
def test_a_fifth_of_the_candidates_have_exact_losses_and_stand_for_the_others(
    estimator, kind, sample
):
    X, y = sample
    labels = {"classes": y, "continuous": y + X[:, 3], "multilabel": np.eye(3, dtype=int)[y]}
    model = fitted(estimator, (X, labels[kind]), precision="double")
    seen = seen_candidates(model)
    assert len(seen) == N_CANDIDATES // 8 + N_CANDIDATES // 16
    exact = alignment_losses(X, labels[kind], model.pool_[seen])
    np.testing.assert_allclose(model.losses_[seen], exact, atol=1e-10)
    np.testing.assert_array_equal(model.losses_, model.losses_[model._representatives])


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("estimator", LEARNED)
def test_only_candidates_that_saw_all_rows_have_weight(estimator, draw, sample):
    model = fitted(estimator, sample, draw=draw)
    others = np.setdiff1d(np.arange(N_CANDIDATES), seen_candidates(model))
    assert not model.posterior_[others].any()
    assert model.posterior_.sum() == pytest.approx(1)
    assert np.isin(model.kept_, seen_candidates(model)).all()


@pytest.mark.parametrize("draw", DRAWS)
def test_candidates_whose_weights_vanish_are_kept_only_if_they_saw_all_rows(draw, sample):
    """A huge beta leaves a positive weight to one candidate; then zeros compete."""
    model = fitted(PBRFF, sample, draw=draw, beta=1e6)
    assert (model.posterior_ > 0).sum() < 7
    assert np.isin(model.kept_, seen_candidates(model)).all()


def test_the_naive_posterior(sample):
    """Every candidate takes the loss of its representative, and gives it its weight."""
    strong, weak = fitted(PBRFF, sample, beta=2.0), fitted(PBRFF, sample, beta=0.1)
    ball = fitted(OKRFF, sample, rho=30.0)
    weights = {
        strong: gibbs_posterior(strong.selection_losses_, 2.0 * np.sqrt(6_000)),
        weak: gibbs_posterior(weak.selection_losses_, 0.1 * np.sqrt(6_000)),
        ball: divergence_ball_posterior(ball.selection_losses_, 30.0, 2.0),
    }
    # Some groups weigh more than the best candidates, which are kept all the same.
    assert np.sort(weak.posterior_)[-7] > weights[weak].max()
    for model, before in weights.items():
        after = np.zeros(N_CANDIDATES)
        for candidate, representative in enumerate(model._representatives):
            after[representative] += before[candidate]
        np.testing.assert_allclose(model.posterior_, after, atol=1e-15)
        best = sorted(seen_candidates(model), key=lambda m: -before[m])[:7]
        np.testing.assert_array_equal(model.kept_, best)
        np.testing.assert_allclose(model.frequency_weights_, before[best] / before[best].sum())


@pytest.mark.parametrize("of", ["deployed", "posterior"])
@pytest.mark.parametrize("estimator", LEARNED)
def test_the_certificate_is_that_of_these_weights_after_a_full_search(estimator, of, sample):
    """The bounds hold for all weights of all candidates, with the losses of the full search."""
    raced = fitted(estimator, sample, precision="double")
    full = fitted(estimator, sample, precision="double", search="full")
    weights = certified_weights(of, raced.posterior_, raced.kept_, raced.frequency_weights_)
    evidence = alignment_evidence(full.sums_, full._target)
    certificate = raced.certificate(of=of)
    assert certificate.value == pytest.approx(default_bound(evidence, weights, 0.05), abs=1e-9)
    assert certificate.divergence == pytest.approx(kl_divergence(weights))


def test_a_race_is_no_gibbs_posterior_fixed_in_advance(sample):
    X, y = sample
    parameters = {"beta": 1.0, "class_weight": None, "target_type": "binary"}
    full = fitted(PBRFF, (X, y > 0), **parameters, search="full")
    assert full.certificate(bound="localised", of="posterior").value < 1
    raced = fitted(PBRFF, (X, y > 0), **parameters)
    with pytest.raises(ValueError, match="localised"):
        raced.certificate(bound="localised", of="posterior")


@pytest.mark.parametrize("parameters", [{}, {"beta": "bound"}, {"class_weight": None}])
def test_the_posterior_is_nearly_that_of_the_full_search(parameters, sample):
    """How much of the full posterior lies elsewhere, if groups share their weight evenly."""
    full = fitted(PBRFF, sample, n_candidates=4_000, search="full", **parameters)
    raced = fitted(PBRFF, sample, n_candidates=4_000, **parameters)
    groups = raced._representatives
    shared = raced.posterior_[groups] / np.bincount(groups, minlength=4_000)[groups]
    assert np.maximum(full.posterior_ - shared, 0).sum() < 0.02
    # The seven best of 4,000 are found on a third of the rows.
    np.testing.assert_array_equal(raced.kept_, full.kept_)
    assert raced.certificate().value == pytest.approx(full.certificate().value, abs=1e-3)


def test_few_rows_give_the_full_search(sample):
    X, y = sample
    few = X[:3_999], y[:3_999]
    raced, full = fitted(PBRFF, few), fitted(PBRFF, few, search="full")
    np.testing.assert_array_equal(raced.posterior_, full.posterior_)
    np.testing.assert_array_equal(raced.frequencies_, full.frequencies_)
    merged = fitted(PBRFF, few, search="full").merge(full)
    assert merged.sums_.n_samples == 2 * 3_999


def test_many_kept_frequencies_leave_no_candidate_out(sample):
    model = PBRFF(N_CANDIDATES // 4, n_candidates=N_CANDIDATES, search="racing", random_state=0)
    assert len(seen_candidates(model.fit(*sample))) == N_CANDIDATES


def test_sparse_rows_and_weights_of_samples(sample):
    X, y = sample
    weights = np.random.default_rng(1).uniform(0.5, 1.5, len(y))
    model = fitted(PBRFF, (sparse.csr_array(X), y, weights), precision="double")
    full = fitted(PBRFF, (X, y, weights), precision="double", search="full")
    seen = seen_candidates(model)
    np.testing.assert_allclose(model.losses_[seen], full.losses_[seen], atol=1e-10)
    np.testing.assert_allclose(model.selection_losses_[seen], full.selection_losses_[seen])


def test_the_number_of_threads_changes_nothing(sample):
    with threadpool_limits(1, user_api="blas"):
        alone = fitted(PBRFF, sample, n_candidates=8_100, precision="single")
    with threadpool_limits(2, user_api="blas"):
        together = fitted(PBRFF, sample, n_candidates=8_100, precision="single")
    np.testing.assert_array_equal(alone.posterior_, together.posterior_)


def test_redraw_goes_on_from_the_race(sample):
    model = fitted(PBRFF, sample, draw="complementary")
    redrawn = model.redraw(class_weight=None, n_frequencies=20, draw="distinct")
    assert np.isin(redrawn.kept_, seen_candidates(model)).all()
    np.testing.assert_allclose(redrawn.selection_losses_, target_losses(model.sums_, model._target))
    expected = balanced_losses(model.sums_, model._target)
    np.testing.assert_allclose(model.selection_losses_, expected)
    with pytest.raises(ValueError, match=r"n_frequencies must be at most 150, .* got 151: fit"):
        model.redraw(n_frequencies=151)
    assert len(model.redraw(n_frequencies=151, draw="replacement").kept_) == 151


@pytest.fixture
def few_are_many(monkeypatch):
    """Let "auto" race from 6,000 rows on, the size of the sample."""
    monkeypatch.setattr(learned, "FEWEST_RACING_PAIRS", 6_000 * N_CANDIDATES)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("estimator", LEARNED)
def test_auto_races_on_many_rows(estimator, sample):
    raced, found = fitted(estimator, sample), fitted(estimator, sample, search="auto")
    np.testing.assert_array_equal(found.posterior_, raced.posterior_)
    np.testing.assert_array_equal(found.frequencies_, raced.frequencies_)
    for call in (lambda: found.partial_fit(*sample), lambda: found.merge(found)):
        with pytest.raises(ValueError, match="candidates race: set search='full' and fit again"):
            call()


@pytest.mark.usefixtures("few_are_many")
def test_auto_does_not_race_with_fewer_rows_or_candidates(sample):
    X, y = sample
    found = fitted(PBRFF, (X[:5_999], y[:5_999]), search="auto")
    full = fitted(PBRFF, (X[:5_999], y[:5_999]), search="full")
    np.testing.assert_array_equal(found.posterior_, full.posterior_)
    assert found.partial_fit(X, y).sums_.n_samples == 11_999
    few = fitted(PBRFF, sample, search="auto", n_candidates=N_CANDIDATES - 1)
    assert few._representatives is None


@pytest.mark.usefixtures("few_are_many")
def test_auto_races_only_where_it_can(sample):
    """Parts of the data can be merged, and structured candidates are made in groups."""
    X, y = sample
    parameters = {"n_candidates": N_CANDIDATES, "random_state": 0}
    assert PBRFF().search == OKRFF().search == "auto"
    first = PBRFF(7, **parameters).partial_fit(X, y)
    batches = fit_batches(PBRFF(7, **parameters), [(X[:3_000], y[:3_000]), (X[3_000:], y[3_000:])])
    structured = fitted(PBRFF, sample, search="auto", sampling="structured")
    for model in (first, batches, structured):
        assert model._representatives is None
    assert first.merge(batches).sums_.n_samples == 12_000


def test_what_needs_the_full_search_says_so(sample):
    X, y = sample
    raced, full = fitted(PBRFF, sample), fitted(PBRFF, sample, search="full")
    for call in (
        lambda: raced.partial_fit(X, y),
        lambda: PBRFF(search="racing").partial_fit(X, y),
        lambda: raced.merge(full),
        lambda: full.merge(raced),
        lambda: raced.set_params(search="full").partial_fit(X, y),
    ):
        with pytest.raises(ValueError, match="race: set search='full' and fit again"):
            call()
    assert full.partial_fit(X, y).sums_.n_samples == 12_000
    with pytest.raises(ValueError, match="search must be one of"):
        PBRFF(search="half").fit(X, y)
    with pytest.raises(ValueError, match="sampling='structured'"):
        fitted(PBRFF, sample, sampling="structured")
    with pytest.raises(ValueError, match="needs X as an array in memory"):
        fit_batches(PBRFF(5, search="racing"), [(X[:3_000], y[:3_000]), (X[3_000:], y[3_000:])])


def test_dask_collections_need_the_full_search(sample):
    dask_array = pytest.importorskip("dask.array")
    X, y = (dask_array.from_array(each, chunks=2_000) for each in sample)
    with pytest.raises(ValueError, match="needs X as an array in memory"):
        fitted(PBRFF, (X, y))


def test_tensors_need_the_full_search(sample):
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="needs X as an array in memory"):
        fitted(PBRFF, (torch.as_tensor(sample[0]), torch.as_tensor(sample[1])))
