"""The draw "complementary" of PBRFF and OKRFF."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from pacfourier import OKRFF, PBRFF, fit_batches
from pacfourier.bounds.divergences import kl_divergence
from pacfourier.core.alignment.sums import balanced_losses
from pacfourier.data import reservoir
from pacfourier.estimators import complementary
from pacfourier.estimators.complementary import _MOST_REVISED, _shortlist_size

X, Y = load_iris(return_X_y=True)
LABELS = {
    "binary": (Y > 0).astype(int),
    "multiclass": np.array(["a", "b", "c"])[Y],
    "multilabel": np.column_stack([Y > 0, Y > 1]).astype(int),
    "continuous": X[:, 3] + 0.001,
    "outputs": X[:, 2:] + 0.001,
}
KINDS = {"outputs": "continuous"}


def model(estimator=PBRFF, n_frequencies=6, **parameters):
    settings = {"random_state": 0, "draw": "complementary", **parameters}
    settings = {"n_candidates": 500, "precision": "double", **settings}
    return estimator(n_frequencies, **settings)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("estimator", [PBRFF, OKRFF])
def test_frequencies_are_chosen_for_every_kind_of_labels(estimator, kind):
    y, target_type = LABELS[kind], KINDS.get(kind, kind)
    fitted = model(estimator, target_type=target_type).fit(X, y)
    assert len(set(fitted.kept_)) == 6
    np.testing.assert_array_equal(fitted.frequencies_, fitted.pool_[fitted.kept_])
    np.testing.assert_allclose(fitted.frequency_weights_, 1 / 6)
    again = model(estimator, target_type=target_type).fit(X, y)
    np.testing.assert_array_equal(again.kept_, fitted.kept_)


def naive_choice(fitted, weights, outputs, n_frequencies=6):
    """Take in turn the shortlisted candidate of largest merit times decrease of the error.

    Then put into each place the one that decreases the error most.
    """
    shortlist = np.argsort(fitted.selection_losses_, kind="stable")
    shortlist = shortlist[: _shortlist_size(n_frequencies, len(X))]
    roots, kept = np.sqrt(weights)[:, np.newaxis], []
    outputs = outputs / np.sqrt([np.cov(each, aweights=weights, bias=True) for each in outputs.T])
    merits = np.maximum(1 - 2 * balanced_losses(fitted.sums_, fitted._target), 0) ** 0.25
    phases = X @ fitted.pool_[:].T.astype(float)

    def error(indices):
        columns = np.concatenate([np.cos(phases[:, indices]), np.sin(phases[:, indices])], axis=1)
        design = np.column_stack([np.ones(len(X)), columns]) * roots
        fit = np.linalg.lstsq(design, outputs * roots, rcond=None)[0]
        return np.square(design @ fit - outputs * roots).sum()

    def gains(others):
        before = error(others)
        return {m: before - error([*others, m]) for m in shortlist if m not in others}

    for _ in range(n_frequencies):
        found = gains(kept)
        kept.append(max(found, key=lambda m, found=found: merits[m] * found[m]))
    for place in range(n_frequencies):
        found = gains(kept[:place] + kept[place + 1 :])
        kept[place] = max(found, key=found.get)
    return kept


@pytest.mark.parametrize("class_weight", ["balanced", None])
def test_the_choice_is_that_of_new_fits_with_every_candidate(class_weight, rng):
    y, weights = np.resize([0, 0, 0, 1, 1, 2], 150), rng.uniform(0.2, 2.0, 150)
    y = np.where(Y == 2, Y, y)
    settings = {"gamma": 0.3, "n_candidates": 800, "class_weight": class_weight}
    fitted = model(**settings).fit(X, y, sample_weight=weights)
    per_class = np.bincount(y, weights)
    balanced = weights / per_class[y] if class_weight else weights
    outputs = 2.0 * np.eye(3)[y] - 1
    # The ridge and single precision may change late steps, where candidates gain next to nothing.
    assert fitted.kept_.tolist()[:4] == naive_choice(fitted, balanced, outputs)[:4]


def test_the_choice_of_few_frequencies_is_revised(monkeypatch):
    """Forward selection takes the first of more. An exchange changes some of them."""
    few, more = (model(n_frequencies=n).fit(X, Y) for n in (_MOST_REVISED, _MOST_REVISED + 1))
    monkeypatch.setattr(complementary, "_MOST_REVISED", 0)
    forward = few.redraw(n_frequencies=_MOST_REVISED)
    np.testing.assert_array_equal(more.kept_[:-1], forward.kept_)
    assert 0 < (few.kept_ != forward.kept_).sum() < _MOST_REVISED


def test_weights_change_the_choice():
    plain = model().fit(X, Y)
    weighted = model().fit(X, Y, sample_weight=np.where(Y == 1, 9.0, 1.0))
    unbalanced = model(class_weight=None).fit(X, Y, sample_weight=np.where(Y == 1, 9.0, 1.0))
    # Balanced classes undo weights that depend on the class only.
    np.testing.assert_array_equal(weighted.kept_, plain.kept_)
    assert not np.array_equal(unbalanced.kept_, plain.kept_)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("estimator", [PBRFF, OKRFF])
def test_partial_fit_merge_and_batches_equal_fit(estimator, kind, rng, monkeypatch):
    """With all rows in the reservoir, and with a part of them."""
    order = rng.permutation(len(X))
    rows, y = X[order], LABELS[kind][order]
    classes = np.unique(y) if y.ndim == 1 and kind != "continuous" else None
    parts = np.array_split(np.arange(len(X)), 3)
    for most_rows in (5000, 60):
        monkeypatch.setattr(reservoir, "_MOST_ROWS", most_rows)
        whole = model(estimator).fit(X, LABELS[kind])
        streamed, ones = clone(whole), []
        for part in parts:
            streamed.partial_fit(rows[part], y[part], classes=classes)
            ones.append(clone(whole).partial_fit(rows[part], y[part], classes=classes))
        batches = [(rows[part], y[part]) for part in parts]
        in_batches = fit_batches(clone(whole), batches)
        for other in (streamed, ones[0].merge(ones[1]).merge(ones[2]), in_batches):
            np.testing.assert_array_equal(other.kept_, whole.kept_)


def test_sparse_and_single_precision_rows():
    dense = model(gamma=0.1).fit(X, Y)
    thin = model(gamma=0.1).fit(sparse.csr_array(X), Y)
    np.testing.assert_allclose(thin.frequencies_, dense.frequencies_, atol=1e-6)
    single = model(gamma=0.1).fit(X.astype(np.float32), Y)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert len(set(single.kept_)) == 6


def test_threads_do_not_change_the_choice(rng):
    rows = rng.standard_normal((900, 60))
    y = rng.integers(0, 3, 900)
    kept = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            kept.append(
                PBRFF(40, n_candidates=600, draw="complementary", random_state=0).fit(rows, y).kept_
            )
    np.testing.assert_array_equal(*kept)


def test_dask_collections_and_tensors_give_the_same():
    da, torch = pytest.importorskip("dask.array"), pytest.importorskip("torch")
    whole = model().fit(X, Y)
    blocks = da.from_array(X, chunks=(40, -1)), da.from_array(Y, chunks=40)
    np.testing.assert_array_equal(model().fit(*blocks).kept_, whole.kept_)
    np.testing.assert_array_equal(model().fit(torch.as_tensor(X), Y).kept_, whole.kept_)


@pytest.mark.parametrize(
    "parameters", [{"n_frequencies": 11}, {"class_weight": None}, {"draw": "weighted"}]
)
def test_redraw_equals_a_new_fit(parameters):
    y = np.where(Y == 1, 2, Y)
    fitted = pickle.loads(pickle.dumps(model().fit(X, y)))
    redrawn = fitted.redraw(**parameters)
    expected = clone(fitted).set_params(**parameters).fit(X, y)
    np.testing.assert_array_equal(redrawn.kept_, expected.kept_)
    assert len(fitted.kept_) == 6


def test_a_model_without_rows_says_what_to_do():
    fitted = model(draw="weighted").fit(X, Y)
    assert fitted._rows is None
    for act in (
        lambda: fitted.redraw(draw="complementary"),
        lambda: model().fit(X, Y).merge(fitted),
        lambda: clone(fitted).fit(X, Y).set_params(draw="complementary").partial_fit(X, Y),
    ):
        with pytest.raises(ValueError, match="fit again with draw='complementary'"):
            act()
    with pytest.raises(ValueError, match="n_frequencies must be at most n_candidates=500"):
        model(n_frequencies=501).fit(X, Y)
    assert sorted(model(n_frequencies=500).fit(X, Y).kept_) == list(range(500))


@pytest.mark.parametrize("estimator", [PBRFF, OKRFF])
def test_the_certificate_pays_for_the_kept_frequencies(estimator):
    fitted = model(estimator).fit(X, Y)
    certificate = fitted.certificate(duplicates="genuine")
    weights = np.bincount(fitted.kept_, np.full(6, 1 / 6), minlength=500)
    assert certificate.empirical_loss == pytest.approx(weights @ fitted.losses_)
    assert certificate.divergence == pytest.approx(kl_divergence(weights))
    assert certificate.divergence == pytest.approx(np.log(500 / 6))


def noise(n_samples, n_features, rng):
    """Labels that say nothing: every frequency has the true loss 1/2."""
    return rng.standard_normal((n_samples, n_features)), rng.choice([-1, 1], n_samples)


@pytest.mark.parametrize("estimator", [PBRFF, OKRFF])
def test_certificates_cover_random_labels(estimator):
    """100 samples; if a bound failed with probability 0.05, none would with probability 6e-3.

    The choice overfits: the loss on the sample is always below the truth, which is 1/2.
    """
    rng = np.random.default_rng(7)
    names = ("kl", "catoni_grid", "unexpected_bernstein", "first_order", "f_divergence", "auto")
    losses = []
    for seed in range(100):
        settings = {"gamma": 0.02, "target_type": "binary", "random_state": seed}
        fitted = model(estimator, **settings).fit(*noise(40, 40, rng))
        losses.append(fitted.losses_[fitted.kept_].mean())
        for name in names:
            for of in ("deployed", "posterior"):
                # The bound before its ceiling: at 1/2, the truth, it could not fail.
                assert fitted.certificate(bound=name, of=of).details.value >= 0.5 - 1e-9
    assert max(losses) < 0.5
    assert np.mean(losses) < 0.48


def test_rows_outside_the_reservoir_do_not_matter_to_the_choice(monkeypatch):
    monkeypatch.setattr(reservoir, "_MOST_ROWS", 50)
    fitted = model().fit(X, Y)
    assert fitted._rows.X.shape == (50, 4)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.redraw(n_frequencies=6).kept_, fitted.kept_)


def test_ten_digits_need_half_the_errors():
    """A linear model on ten frequencies; the ratio is 0.6 on average over splits."""
    digits, labels = load_digits(return_X_y=True)
    parts = train_test_split(digits / 16, labels, random_state=0)
    fitted = PBRFF(10, n_candidates=5000, draw="complementary", random_state=0).fit(
        parts[0], parts[2]
    )
    errors = []
    for each in (fitted, fitted.redraw(draw="weighted")):
        ridge = RidgeClassifier(alpha=1e-3).fit(each.transform(parts[0]), parts[2])
        errors.append(1 - ridge.score(each.transform(parts[1]), parts[3]))
    assert errors[0] < 0.8 * errors[1]
