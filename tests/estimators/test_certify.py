"""Steps before a map: those that learn from its rows are refused, those that learn nothing pass."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
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
    GibbsRFF,
    PBLandmarks,
    certify,
    certify_predictions,
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
def test_steps_that_learn_are_refused_unless_fitted_on_other_rows(steps, sample):
    X, y = sample
    refused = certify(make_pipeline(*steps, small()).fit(X, y))
    name = type(steps[-1]).__name__
    assert steps_of(refused).status == "violated"
    with pytest.raises(ValueError, match=r"steps: .* Fit the steps before the map on other rows"):
        _ = refused.value
    prepared = make_pipeline(*steps).fit(X[:100], y[:100])
    feature_map = small().fit(prepared.transform(X[100:]), y[100:])
    accepted = certify(
        make_pipeline(*prepared, feature_map), steps_fitted_on="other rows", epsilon=0.1
    )
    assert steps_of(accepted).status == "declared"
    assert accepted.value == feature_map.certificate(0.1).value
    if not isinstance(steps[-1], Pipeline | FeatureUnion | ColumnTransformer):
        assert name in steps_of(refused).reason
        assert name in steps_of(accepted).reason


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


def test_the_certificate_is_that_of_the_map(sample):
    for feature_map in (small(), small(GibbsRFF), PBLandmarks(n_landmarks=5, random_state=0)):
        pipeline = make_pipeline(Normalizer(), feature_map, LogisticRegression()).fit(*sample)
        certificate, expected = certify(pipeline, epsilon=0.1), pipeline[1].certificate(0.1)
        assert certificate.details == expected.details
        assert certificate.assumptions[:-1] == expected.assumptions
        # Rows are not needed, and change nothing.
        assert certify(pipeline, *sample, epsilon=0.1) == certificate


@pytest.mark.parametrize("step", [StandardScaler(), PCA(2), LinearDiscriminantAnalysis()])
def test_steps_before_a_predictor_are_refused_alike(step, sample):
    """They were fitted on the rows held out. Fitted on others, or on new rows, they are fine."""
    X, y = sample
    model = FourierClassifier(5, certify=0.5, random_state=0)
    pipeline = make_pipeline(step, model).fit(X[:200], y[:200])
    refused = certify(pipeline)
    assert steps_of(refused).status == "violated"
    with pytest.raises(ValueError, match=r"Call certify_predictions\(pipeline, X_new, y_new\)"):
        _ = refused.error
    assert certify_predictions(pipeline, X[200:], y[200:]).error < 1
    accepted = certify(pipeline, steps_fitted_on="other rows", epsilon=0.2)
    assert steps_of(accepted).status == "declared"
    assert accepted.error < pipeline[-1].certificate_.error


def test_a_predictor_alone_in_a_pipeline_keeps_its_certificate(sample):
    model = FourierClassifier(5, certify=0.5, random_state=0)
    pipeline = make_pipeline(Normalizer(), model).fit(*sample)
    found = certify(pipeline)
    assert steps_of(found).status == "holds"
    assert found.error == pipeline[-1].certificate_.error


def test_a_map_without_labels_needs_them(sample):
    X, y = sample
    pipeline = make_pipeline(Normalizer(), small(RFF)).fit(X)
    expected = pipeline[1].certificate(0.05, X=Normalizer().transform(X), y=y)
    assert certify(pipeline, X, y).details == expected.details
    with pytest.raises(ValueError, match="X and y must be given for RFF"):
        certify(pipeline, X)


def test_texts_can_be_hashed():
    words = np.random.default_rng(0).choice(["red", "green", "blue", "grey"], size=(200, 3))
    texts = [" ".join(row) for row in words]
    pipeline = make_pipeline(HashingVectorizer(n_features=16), small())
    pipeline.fit(texts, words[:, 0] == "red")
    assert steps_of(certify(pipeline)).status == "holds"


def test_bad_arguments_are_refused(sample):
    fitted = make_pipeline(small()).fit(*sample)
    with pytest.raises(ValueError, match="pipeline must be a Pipeline, got PBRFF"):
        certify(fitted[-1])
    with pytest.raises(ValueError, match=r"steps_fitted_on must be one of .* got 'none'"):
        certify(fitted, steps_fitted_on="none")
    for steps in ([Normalizer()], [small(), small()], [BoostedRFF(5)]):
        with pytest.raises(ValueError, match="must have one step with a certificate, got"):
            certify(make_pipeline(*steps))
