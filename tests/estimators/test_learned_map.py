import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from pacfourier import OKRFF, PBRFF, RFF, alignment_losses, spectra
from pacfourier.pacbayes.balls import divergence_ball_posterior
from pacfourier.pacbayes.posteriors import gibbs_posterior

LEARNED = [PBRFF, OKRFF]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def small(iris):
    X, y = iris
    return {
        "binary": (X[:100], y[:100]),
        "multiclass": (X, np.array(["a", "b", "c"])[y]),
        "multilabel": (X, np.eye(3, dtype=int)[y]),
        "continuous": (X[:, :3], X[:, 3] + 0.001),
        "multioutput": (X[:, :2], X[:, 2:] + 0.001),
    }


def fitted(estimator, X, y, **parameters):
    parameters = {"n_candidates": 700, "random_state": 0, "precision": "double", **parameters}
    return estimator(7, **parameters).fit(X, y)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel", "continuous"])
@pytest.mark.parametrize("estimator", LEARNED)
def test_losses_are_those_of_the_candidates(estimator, kind, small):
    X, y = small[kind]
    model = fitted(estimator, X, y)
    expected = alignment_losses(X, y, model.pool_[:])
    np.testing.assert_allclose(model.losses_, expected, atol=1e-10)
    assert model.posterior_.sum() == pytest.approx(1)
    assert model.frequency_weights_.sum() == pytest.approx(1)
    np.testing.assert_array_equal(model.frequencies_, model.pool_[model.kept_])


def test_posterior_is_the_papers_without_balance(iris):
    X, y = iris
    model = fitted(PBRFF, X, y, beta=2.0, class_weight=None, draw="replacement")
    expected = gibbs_posterior(model.losses_, 2.0 * np.sqrt(150))
    np.testing.assert_allclose(model.posterior_, expected)
    model = fitted(OKRFF, X, y, rho=3.0, mu=1.5, class_weight=None)
    np.testing.assert_allclose(model.posterior_, divergence_ball_posterior(model.losses_, 3.0, 1.5))


def test_ess_makes_the_posterior_twice_as_wide_as_the_map(iris):
    for n_frequencies in (1, 7, 50):
        model = PBRFF(n_frequencies, n_candidates=1000, random_state=0).fit(*iris)
        size = 1 / np.square(model.posterior_).sum()
        assert size == pytest.approx(2 * n_frequencies, rel=1e-6)


@pytest.mark.parametrize(
    "kind", ["binary", "multiclass", "multilabel", "continuous", "multioutput"]
)
@pytest.mark.parametrize("estimator", LEARNED)
def test_partial_fit_and_merge_equal_fit(estimator, kind, small, rng):
    X, y = small[kind]
    order = rng.permutation(len(X))
    X, y = X[order], y[order]
    whole = fitted(estimator, X, y)
    classes = np.unique(y) if y.ndim == 1 and kind != "continuous" else None
    parts = np.array_split(np.arange(len(X)), 3)
    streamed = clone(whole)
    for part in parts:
        streamed.partial_fit(X[part], y[part], classes=classes)
    first, second, third = (
        clone(whole).partial_fit(X[part], y[part], classes=classes) for part in parts
    )
    for model in (streamed, first.merge(second).merge(third), first.merge(second.merge(third))):
        np.testing.assert_allclose(model.losses_, whole.losses_, atol=1e-11)
        np.testing.assert_allclose(model.posterior_, whole.posterior_, atol=1e-6)
        np.testing.assert_array_equal(model.kept_, whole.kept_)


def test_merge_leaves_both_sides_alone(iris):
    X, y = iris
    first, second = fitted(PBRFF, X[::2], y[::2]), fitted(PBRFF, X[1::2], y[1::2])
    before = first.losses_.copy(), second.losses_.copy()
    merged = first.merge(second)
    assert not np.allclose(merged.losses_, before[0])
    np.testing.assert_array_equal(first.losses_, before[0])
    np.testing.assert_array_equal(second.losses_, before[1])


def test_merge_needs_the_same_candidates(iris):
    X, y = iris
    model = fitted(PBRFF, X, y)
    others = [
        fitted(PBRFF, X, y, random_state=1),
        fitted(PBRFF, X, y, n_candidates=800),
        fitted(PBRFF, X, y, gamma=0.1),
        fitted(PBRFF, X[:, :3], y),
        fitted(OKRFF, X, y),
    ]
    for other in others:
        with pytest.raises(ValueError, match="merge needs two estimators over the same"):
            model.merge(other)


def test_fit_forgets_what_partial_fit_saw(iris):
    X, y = iris
    model = fitted(PBRFF, X, y)
    again = clone(model).partial_fit(X[:100], y[:100]).fit(X, y)
    np.testing.assert_array_equal(again.losses_, model.losses_)


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        (PBRFF, {"beta": 3.0}),
        (PBRFF, {"class_weight": None}),
        (PBRFF, {"n_frequencies": 11, "draw": "distinct"}),
        (OKRFF, {"rho": 2.0, "mu": 3.0}),
    ],
)
def test_redraw_equals_a_new_fit(estimator, parameters, iris):
    X, y = iris
    model = fitted(estimator, X, y)
    before = model.get_params(), model.posterior_.copy()
    redrawd = model.redraw(**parameters)
    expected = clone(model).set_params(**parameters).fit(X, y)
    np.testing.assert_array_equal(redrawd.posterior_, expected.posterior_)
    np.testing.assert_array_equal(redrawd.frequencies_, expected.frequencies_)
    assert redrawd.get_params() == expected.get_params()
    assert (model.get_params(), model.posterior_.tolist()) == (before[0], before[1].tolist())


@pytest.mark.parametrize("estimator", LEARNED)
def test_small_pools_are_learned_from_all_the_same(estimator, iris):
    model = estimator(100, n_candidates=200, random_state=0).fit(*iris)
    kept = model.selection_losses_[model.kept_]
    assert kept.max() <= np.median(model.selection_losses_) + 1e-9
    assert (model.frequency_weights_ > 0).all()


def test_a_later_batch_may_be_one_weighted_row(iris):
    X, y = iris
    model = fitted(PBRFF, X[::2], y[::2]).partial_fit(X[1:2], y[1:2], sample_weight=[2.0])
    assert model.sums_.weight == pytest.approx(77)


def test_redraw_refuses_what_needs_a_new_fit(iris):
    model = fitted(PBRFF, *iris)
    with pytest.raises(ValueError, match=r"redraw takes .* got \['gamma'\]"):
        model.redraw(gamma=1.0)
    with pytest.raises(ValueError, match="beta must be positive"):
        model.redraw(beta=-1.0)


@pytest.mark.parametrize("draw", ["replacement", "distinct", "weighted"])
def test_features_give_the_deployed_kernel(draw, iris):
    X, y = iris
    model = fitted(PBRFF, X, y, draw=draw)
    deltas = X[:, np.newaxis] - X
    waves = np.cos(deltas @ model.frequencies_.T.astype(float))
    features = model.transform(X)
    np.testing.assert_allclose(features @ features.T, waves @ model.frequency_weights_, atol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_kernel_is_that_of_the_whole_posterior(container, iris):
    X, y = iris
    model = fitted(PBRFF, X, y, beta=1.0)
    deltas = X[:, np.newaxis] - X[:20]
    expected = np.cos(deltas @ model.pool_[:].T.astype(float)) @ model.posterior_
    gram = model.kernel_matrix(container(X), container(X[:20]))
    np.testing.assert_allclose(gram, expected, atol=1e-10)
    assert SVC(kernel=model.kernel_matrix).fit(X, y).score(X, y) > 0.9


def test_kernel_of_the_prior_tends_to_the_rbf_kernel(iris):
    """Hoeffding over 150 x 150 pairs, failure probability 1e-6."""
    X, _ = iris
    model = RFF(50_000, gamma=0.2, random_state=0).fit(X)
    radius = np.sqrt(2 * np.log(2 * 150 * 150 / 1e-6) / 50_000)
    assert np.abs(model.kernel_matrix(X) - rbf_kernel(X, gamma=0.2)).max() < radius
    np.testing.assert_allclose(model.kernel_matrix(X), model.transform(X) @ model.transform(X).T)


@pytest.mark.parametrize("estimator", [RFF, PBRFF, OKRFF])
def test_same_seed_gives_the_same_map_whatever_the_input_type(estimator, iris):
    X, y = iris
    model = estimator(20, random_state=3).fit(X, y)
    for other_X in (X.astype(np.float32), sparse.csr_matrix(X), np.asfortranarray(X), X.tolist()):
        other = estimator(20, random_state=3).fit(other_X, y)
        np.testing.assert_array_equal(other.frequencies_, model.frequencies_)
        np.testing.assert_array_equal(other.pool_[:100], model.pool_[:100])
    with threadpool_limits(1, user_api="blas"):
        alone = estimator(20, random_state=3).fit(X, y)
    np.testing.assert_array_equal(alone.frequencies_, model.frequencies_)
    assert not np.array_equal(
        estimator(20, random_state=4).fit(X, y).frequencies_, model.frequencies_
    )


@pytest.mark.parametrize("estimator", [RFF, PBRFF, OKRFF])
def test_dtype_is_kept(estimator, iris):
    X, y = iris
    for dtype in (np.float32, np.float64):
        assert estimator(5).fit(X.astype(dtype), y).transform(X.astype(dtype)).dtype == dtype


def test_zero_weights_are_absent_samples(iris):
    X, y = iris
    weights = np.resize([0.0, 1.0, 2.0], 150)
    kept = weights > 0
    model = PBRFF(9, random_state=0).fit(X, y, sample_weight=weights)
    expected = PBRFF(9, random_state=0).fit(X[kept], y[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(model.losses_, expected.losses_)


def test_balance_undoes_a_skew_of_the_classes(iris):
    """Half of one class left out, the rest doubled in weight: the same balanced losses."""
    X, y = iris
    half = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y == 0)[:25]])
    weights = np.where(y[half] == 0, 2.0, 1.0)
    skewed = fitted(PBRFF, X[half], y[half]).selection_losses_
    reweighted = PBRFF(7, n_candidates=700, random_state=0, precision="double")
    reweighted.fit(X[half], y[half], sample_weight=weights)
    np.testing.assert_allclose(reweighted.selection_losses_, skewed, atol=1e-12)


def test_label_sets_may_be_sparse_and_labels_a_column(small):
    X, y = small["multilabel"]
    expected = fitted(PBRFF, X, y)
    np.testing.assert_array_equal(fitted(PBRFF, X, sparse.csr_matrix(y)).losses_, expected.losses_)
    X, y = small["binary"]
    with pytest.warns(DataConversionWarning):
        column = fitted(PBRFF, X, y[:, np.newaxis])
    np.testing.assert_array_equal(column.losses_, fitted(PBRFF, X, y).losses_)


def test_pickle_keeps_everything(iris):
    X, y = iris
    model = PBRFF(9, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.redraw(beta=1.0).kept_, model.redraw(beta=1.0).kept_)
    assert again.merge(model).losses_.shape == model.losses_.shape


def test_pickle_does_not_grow_with_the_width_of_the_pool(iris):
    """A stored pool would take 20,000 x 2,000 floats, 160 MB."""
    X, y = iris
    wide = np.tile(X, (1, 500))
    assert len(pickle.dumps(PBRFF(5, random_state=0).fit(wide, y))) < 3e6


def test_feature_names_say_which_wave(iris):
    pytest.importorskip("pandas")
    X, y = iris
    model = PBRFF(2, random_state=0).fit(X, y)
    names = ["pbrff_cos0", "pbrff_cos1", "pbrff_sin0", "pbrff_sin1"]
    assert model.get_feature_names_out().tolist() == names
    frame = model.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == names


def test_maps_work_inside_pipelines_and_searches(iris):
    X, y = iris
    numbers = ColumnTransformer([("waves", PBRFF(10, random_state=0), [0, 1, 2])])
    with_columns = make_pipeline(numbers, LogisticRegression(C=100, max_iter=1000))
    assert with_columns.fit(X, y).score(X, y) > 0.9
    pipeline = make_pipeline(StandardScaler(), OKRFF(random_state=0), LogisticRegression(C=100))
    grid = {"okrff__n_frequencies": [1, 20], "okrff__rho": [10.0, 1000.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("load", [load_wine, load_digits])
@pytest.mark.parametrize("estimator", LEARNED)
def test_labels_help_when_frequencies_are_few(estimator, load):
    """Mean over ten splits at D = 5, raw inputs, default parameters: learned beats random."""
    X, y = load(return_X_y=True)

    def error(transformer, seed):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed, stratify=y)
        model = make_pipeline(transformer, RidgeClassifier(alpha=1e-3))
        return 1 - model.fit(X_train, y_train).score(X_test, y_test)

    learned = np.mean([error(estimator(5, random_state=seed), seed) for seed in range(10)])
    random = np.mean([error(RFF(5, random_state=seed), seed) for seed in range(10)])
    assert learned < 0.8 * random


def test_labels_help_regression():
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

    def score(transformer):
        return make_pipeline(transformer, Ridge(1e-2)).fit(X_train, y_train).score(X_test, y_test)

    learned = np.mean(
        [score(PBRFF(5, target_type="continuous", random_state=s)) for s in range(10)]
    )
    random = np.mean([score(RFF(5, random_state=s)) for s in range(10)])
    assert learned > random + 0.1


def test_many_integers_are_questioned():
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(UserWarning, match=r"distinct integers .* target_type='continuous'"):
        PBRFF(5, n_candidates=50).fit(X, y)


def test_many_integers_that_were_declared_are_not_questioned():
    """Warnings are errors here."""
    X, y = load_diabetes(return_X_y=True)
    model = PBRFF(5, n_candidates=50, target_type="multiclass").fit(X, y)
    assert len(model.classes_) == 214


def test_a_spectrum_can_be_an_object_of_the_user(iris):
    X, y = iris
    mixture = spectra.Mixture([spectra.Matern(0.1, nu=2.5), spectra.RBF(1.0)])
    model = PBRFF(5, kernel=mixture, random_state=0).fit(X, y)
    assert model.pool_.spectrum == mixture
    assert clone(model).get_params()["kernel"] == mixture


@pytest.mark.parametrize("name", ["rbf", "laplacian", "matern", "rational_quadratic"])
@pytest.mark.parametrize("gamma", [0.3, "scale", "median", "multiscale"])
def test_every_spectrum_takes_every_bandwidth(name, gamma, iris):
    X, y = iris
    model = PBRFF(20, n_candidates=2000, kernel=name, gamma=gamma, random_state=0)
    features = model.fit_transform(X, y)
    assert LogisticRegression(C=100, max_iter=1000).fit(features, y).score(features, y) > 0.8


@pytest.mark.parametrize("kind", [PBRFF, OKRFF])
def test_a_new_fit_forgets_names_and_classes(kind, rng):
    pandas = pytest.importorskip("pandas")
    X = rng.standard_normal((40, 2))
    model = kind(5, n_candidates=50, random_state=0)
    model.fit(pandas.DataFrame(X, columns=["a", "b"]), np.resize([0, 1], 40))
    assert hasattr(model, "feature_names_in_")
    assert hasattr(model, "classes_")
    model.fit(X, X[:, 0])
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "classes_")
    # Without a warning of names.
    model.transform(X)
