"""One call certifies each kind of model, and looks at steps, groups and times."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)

from pacfourier import (
    PBRFF,
    RFF,
    BoostedRFF,
    FourierClassifier,
    FourierRegressor,
    GibbsRFF,
    PBLandmarks,
    certify,
)


class ScalingNormalizer(Normalizer):
    """A subclass may learn something after all."""


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, (X[:, 0] + 0.3 * rng.normal(size=300) > 0).astype(int)


def small(map_class=PBRFF, **parameters):
    return map_class(5, random_state=0, **parameters)


def steps_of(certificate):
    (assumption,) = [each for each in certificate.assumptions if each.name == "steps"]
    return assumption


HARMLESS = {
    "nothing": ([], "holds"),
    "passthrough": (["passthrough"], "holds"),
    "normalizer": ([Normalizer()], "holds"),
    "binarizer": ([Binarizer()], "holds"),
    "polynomial": ([PolynomialFeatures()], "holds"),
    "union": ([FeatureUnion([("n", Normalizer()), ("p", "passthrough")])], "holds"),
    "columns": (
        [ColumnTransformer([("n", Normalizer(), [0, 1])], remainder="passthrough")],
        "holds",
    ),
    "nested": ([make_pipeline(Normalizer(), PolynomialFeatures())], "holds"),
    "function": ([FunctionTransformer(np.tanh)], "declared"),
}
HARMFUL = {
    "scaler": [StandardScaler()],
    "components": [PCA(2)],
    "discriminant": [LinearDiscriminantAnalysis()],
    "subclass": [ScalingNormalizer()],
    "second": [Normalizer(), StandardScaler()],
    "nested": [make_pipeline(Normalizer(), PCA(2))],
    "union": [FeatureUnion([("n", Normalizer()), ("s", PCA(2))])],
    "columns": [ColumnTransformer([("s", StandardScaler(), [0, 1])], remainder="passthrough")],
}


@pytest.mark.parametrize(("steps", "status"), HARMLESS.values(), ids=HARMLESS)
def test_steps_that_learn_nothing_pass(steps, status, sample):
    pipeline = make_pipeline(*steps, small()).fit(*sample)
    assumption = steps_of(certify(pipeline))
    assert assumption.status == status
    for step in steps:
        assert isinstance(step, str | Pipeline | FeatureUnion | ColumnTransformer) or (
            type(step).__name__ in assumption.reason
        )


@pytest.mark.parametrize("steps", HARMFUL.values(), ids=HARMFUL)
def test_steps_that_learn_are_refused_but_not_on_fresh_rows(steps, sample):
    X, y = sample
    pipeline = make_pipeline(*steps, small()).fit(X[:150], y[:150])
    refused = certify(pipeline)
    assert steps_of(refused).status == "violated"
    with pytest.raises(ValueError, match=r"steps: .* Call certify\(model, X_new, y_new\)"):
        _ = refused.value
    if not isinstance(steps[-1], Pipeline | FeatureUnion | ColumnTransformer):
        assert type(steps[-1]).__name__ in steps_of(refused).reason
    accepted, last = certify(pipeline, X[150:], y[150:]), pipeline[-1]
    assert "steps" not in {item.name for item in accepted.assumptions}
    alone = certify(last, pipeline[:-1].transform(X[150:]), y[150:], duplicates="genuine")
    assert accepted.value == alone.details.value


@pytest.mark.parametrize("step", [LinearDiscriminantAnalysis(), PLSRegression(1)])
def test_supervised_steps_no_longer_certify_noise(step):
    """Labels are coin flips, and many columns let the step separate them on its own rows."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 250)), rng.integers(0, 2, 300)
        feature_map = small(gamma=0.1, target_type="binary", n_candidates=200)
        feature_map.fit(step.fit(X, y).transform(X), y)
        pipeline = make_pipeline(step, feature_map)
        # The truth is 1/2, and the map alone certifies less.
        assert feature_map.certificate().value < 0.5
        with pytest.raises(ValueError, match=f"{type(step).__name__} may learn from the rows"):
            _ = certify(pipeline).value


def test_without_rows_it_is_the_certificate_of_the_map(sample):
    for feature_map in (small(), small(GibbsRFF), PBLandmarks(n_landmarks=5, random_state=0)):
        pipeline = make_pipeline(Normalizer(), feature_map).fit(*sample)
        found, expected = certify(pipeline, epsilon=0.1), pipeline[1].certificate(0.1)
        assert found.details == expected.details
        assert found.assumptions[:-1] == expected.assumptions
        # A map alone has no steps to look at.
        assert certify(pipeline[1], epsilon=0.1) == expected
    assert certify(pipeline[1], bound="kl").bound == "kl"


@pytest.mark.parametrize("step", [StandardScaler(), PCA(2), LinearDiscriminantAnalysis()])
def test_steps_before_a_predictor_are_refused_alike(step, sample):
    """They were fitted on the rows held out. On new rows they are fine."""
    X, y = sample
    model = FourierClassifier(5, certify=0.5, random_state=0)
    pipeline = make_pipeline(step, model).fit(X[:200], y[:200])
    refused = certify(pipeline)
    assert steps_of(refused).status == "violated"
    with pytest.raises(ValueError, match=r"Call certify\(model, X_new, y_new\)"):
        _ = refused.error
    assert certify(pipeline, X[200:], y[200:]).error < 1


def test_a_predictor_in_a_pipeline_keeps_its_certificate(sample):
    model = FourierClassifier(5, certify=0.5, random_state=0)
    pipeline = make_pipeline(Normalizer(), model).fit(*sample)
    found = certify(pipeline)
    assert steps_of(found).status == "holds"
    assert found.error == pipeline[-1].certificate_.error
    assert certify(pipeline, epsilon=0.2).error < found.error
    assert certify(pipeline[-1]).to_dict() == pipeline[-1].certificate_.to_dict()


def test_a_search_has_seen_the_rows_held_out(sample):
    """It compared models on all rows, so the best one was not chosen without those."""
    X, y = sample
    grid = {"n_frequencies": [2, 3]}
    model = FourierClassifier(certify=0.5, alpha=0.3, piecewise=False, random_state=0)
    search = GridSearchCV(model, grid, cv=2).fit(X[:200], y[:200])
    with pytest.raises(ValueError, match="GridSearchCV may learn from the rows of the predictor"):
        _ = certify(search).error
    fresh = certify(search, X[200:], y[200:])
    assert fresh.error == certify(search.best_estimator_, X[200:], y[200:]).error < 1
    nested = make_pipeline(Normalizer(), GridSearchCV(model, grid, cv=2)).fit(X, y)
    assert "Normalizer, GridSearchCV" not in steps_of(certify(nested)).reason
    assert steps_of(certify(nested)).reason.startswith("GridSearchCV may learn")


def halves(sample):
    X, y = sample
    return (X[:150], y[:150]), (X[150:], y[150:])


MODELS = {
    "map": (small(), "value"),
    "map without certificate": (small(BoostedRFF, n_steps=3), "value"),
    "map that ignores labels": (small(RFF), "value"),
    "classifier": (FourierClassifier(2, alpha=0.3, piecewise=False, random_state=0), "error"),
    "regressor": (FourierRegressor(2, alpha=0.3, piecewise=False, random_state=0), "half_width"),
    "foreign classifier": (LogisticRegression(), "error"),
    "foreign regressor": (Ridge(), "half_width"),
    "features and a classifier": (make_pipeline(small(), LogisticRegression()), "error"),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("around", ["alone", "pipeline", "search"])
def test_fresh_rows_certify_every_kind_of_model(name, around, sample):
    inner, bound = MODELS[name]
    model = clone(inner)
    if around == "pipeline":
        model = make_pipeline(StandardScaler(), model)
    if around == "search":
        is_map = hasattr(model, "transform")
        # A map has no score of its own.
        scoring = (lambda *_: 0.0) if is_map else None
        model = GridSearchCV(model, {}, cv=2, scoring=scoring)
    learned_from, fresh = halves(sample)
    certificate = certify(model.fit(*learned_from), *fresh)
    value = getattr(certificate, bound)
    assert 0 < (value() if callable(value) else value) < 3
    assert certificate.n_samples == 150
    if not isinstance(inner, RFF | Ridge | LogisticRegression | Pipeline):
        refused = {item.name for item in certify(model, *learned_from).violations}
        # The scaler in the pipeline has standardised these rows.
        assert "rows" in refused <= {"rows", "inputs"}


@pytest.mark.parametrize("name", [each for each in MODELS if each != "map"])
def test_without_rows_a_model_needs_a_certificate_of_its_own(name, sample):
    model = clone(MODELS[name][0]).fit(*sample)
    with pytest.raises(ValueError, match=r"its fit left no certificate. Call certify\(model, X_n"):
        certify(model)
    advice = r"from, or fit it with certify=True\.$"
    if not isinstance(model, FourierClassifier | FourierRegressor):
        advice = r"from\.$"
    with pytest.raises(ValueError, match=advice):
        certify(make_pipeline(Normalizer(), model))


def test_a_binarizer_does_not_make_rows_repeated(sample):
    learned_from, fresh = halves(sample)
    pipeline = make_pipeline(Binarizer(), small()).fit(*learned_from)
    assert not certify(pipeline, *fresh).violations
    assert certify(pipeline).violations


def test_texts_can_be_hashed():
    words = np.random.default_rng(0).choice(["red", "green", "blue", "grey"], size=(200, 3))
    texts = [" ".join(row) for row in words]
    pipeline = make_pipeline(HashingVectorizer(n_features=16), small())
    pipeline.fit(texts, words[:, 0] == "red")
    assert steps_of(certify(pipeline)).status == "holds"


def test_bad_arguments_are_refused(sample):
    X, y = sample
    feature_map, model = small().fit(X, y), FourierClassifier(2, certify=0.5).fit(X, y)
    for given in ({"y": y}, {"groups": y}, {"time": y}, {"target_type": "binary"}):
        with pytest.raises(ValueError, match="must be left out without X, got"):
            certify(feature_map, **given)
    with pytest.raises(ValueError, match="y must be given with X, got None"):
        certify(feature_map, X)
    for given in ({"bound": "kl"}, {"duplicates": "genuine"}):
        with pytest.raises(ValueError, match="must be left out for a predictor without X, got"):
            certify(model, **given)
    for given in ({"bound": "kl"}, {"target_type": "binary"}):
        with pytest.raises(ValueError, match="must be left out for a predictor, got"):
            certify(model, X, y, **given)
    with pytest.raises(ValueError, match="its fit left no certificate"):
        certify(make_pipeline(Normalizer()))
    with pytest.raises(NotFittedError):
        certify(small(), X, y)
