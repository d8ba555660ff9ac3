"""Certificates of fitted predictors: any model, any kind of rows, and every guard."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    make_friedman1,
    make_multilabel_classification,
)
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from pacfourier import (
    FourierClassifier,
    FourierRegressor,
    bounds,
    certify,
    fit_batches,
)
from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.estimators.prediction_certificates import (
    _prediction_confidences,
    checked_labels,
    prediction_certificate,
    row_summary,
    summable,
)
from pacfourier.pacbayes.holdout import FreshRows

X, Y = load_digits(return_X_y=True)
# Digits come sorted by writer: a permutation makes the rows draws of one distribution.
ORDER = np.random.default_rng(0).permutation(len(Y))
FIT, FRESH = (X[ORDER[:900]], Y[ORDER[:900]]), (X[ORDER[900:]], Y[ORDER[900:]])


@pytest.fixture(scope="module")
def model():
    return GaussianNB().fit(*FIT)


@pytest.fixture(scope="module")
def certificate(model):
    return certify(model, *FRESH)


@pytest.fixture(scope="module")
def regression():
    rows, values = make_friedman1(800, noise=1.0, random_state=0)
    fitted = LinearRegression().fit(rows[:300], values[:300])
    return certify(fitted, rows[300:], values[300:]), fitted, rows[300:], values[300:]


def test_the_error_is_the_binomial_bound(model, certificate):
    n_errors = int((model.predict(FRESH[0]) != FRESH[1]).sum())
    n = len(FRESH[1])
    assert certificate.n_samples == n
    assert certificate.observed_error == n_errors / n
    assert certificate.error == bounds.holdout(n_errors=n_errors, n_samples=n, epsilon=0.05).value


def test_recall_and_precision_are_below_those_of_the_rows(model, certificate):
    predictions = model.predict(FRESH[0])
    for bound, score in [
        (certificate.recall, recall_score(FRESH[1], predictions, average=None)),
        (certificate.precision, precision_score(FRESH[1], predictions, average=None)),
    ]:
        assert list(bound) == list(range(10))
        values = np.array(list(bound.values()))
        assert (values < score).all()
        assert (values > score - 0.25).all()


def test_recall_of_one_class_is_a_binomial_bound_at_its_share(model, certificate):
    """Ten classes and two kinds of rates: each bound has a twentieth of epsilon."""
    is_three = FRESH[1] == 3
    n_missed = int((model.predict(FRESH[0])[is_three] != 3).sum())
    upper = bounds.holdout(
        n_errors=n_missed, n_samples=int(is_three.sum()), epsilon=0.05 / 20
    ).value
    assert certificate.recall[3] == 1 - upper


def test_accepted_rows_have_few_errors(model, certificate):
    for error in (0.1, 0.2):
        found = certificate.abstention(error)
        is_accepted = model.predict_proba(FRESH[0]).max(axis=1) >= found.threshold
        wrong = model.predict(FRESH[0]) != FRESH[1]
        assert found.accepted == is_accepted.mean()
        assert found.observed_error == wrong[is_accepted].mean() < error
    assert certificate.abstention().error == 0.01


def test_mean_losses_of_all_kinds(model, certificate):
    probability = model.predict_proba(FRESH[0])[np.arange(len(FRESH[1])), FRESH[1]]
    losses = (1 - probability) ** 2
    assert losses.mean() < certificate.mean_loss(losses) < losses.mean() + 0.05
    with pytest.raises(ValueError, match=r"losses must have 897 entries, got 3"):
        certificate.mean_loss([0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"of losses must be in \[0, 1\], got 1.5"):
        certificate.mean_loss(np.full(897, 1.5))


def test_smaller_epsilon_gives_larger_bounds(model, certificate):
    strict = certify(model, *FRESH, epsilon=0.001)
    assert strict.error > certificate.error
    assert strict.recall[0] < certificate.recall[0]
    assert strict.abstention(0.2).accepted < certificate.abstention(0.2).accepted


@pytest.mark.parametrize("epsilon", [0, 1, -0.1])
def test_epsilon_is_checked(model, epsilon):
    with pytest.raises(ValueError, match=r"epsilon must be in \(0, 1\)"):
        certify(model, *FRESH, epsilon=epsilon)


# Models and rows ---------------------------------------------------------------------------------


def test_confidences_are_probabilities_or_margins(model):
    rows = FRESH[0][:50]
    found = _prediction_confidences(model, rows)
    assert found.largest == 1.0
    np.testing.assert_array_equal(found.values, model.predict_proba(rows).max(axis=1))
    ridge = RidgeClassifier().fit(*FIT)
    scores = np.sort(ridge.decision_function(rows), axis=1)
    found = _prediction_confidences(ridge, rows)
    assert found.largest == np.inf
    np.testing.assert_allclose(found.values, scores[:, -1] - scores[:, -2])
    binary = RidgeClassifier().fit(FIT[0], FIT[1] == 3)
    found = _prediction_confidences(binary, rows).values
    np.testing.assert_array_equal(found, np.abs(binary.decision_function(rows)))


class Silent(ClassifierMixin, BaseEstimator):
    """A classifier that does not say how confident it is."""

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_abstention_needs_confidences():
    certificate = certify(Silent(), *FRESH)
    assert certificate.error > 0.8
    with pytest.raises(ValueError, match="needs a classifier with predict_proba"):
        certificate.abstention()


def test_confidences_must_be_finite():
    class Broken(Silent):
        def decision_function(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(ValueError, match="confidences of model must be finite"):
        certify(Broken(), *FRESH)


def test_the_wished_error_is_checked(certificate):
    with pytest.raises(ValueError, match=r"error must be in \(0, 1\), got 0"):
        certificate.abstention(0)


def test_searched_pipelines_are_certified_as_they_are():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        {"kneighborsclassifier__n_neighbors": [1, 5]},
        cv=2,
    ).fit(*FIT)
    certificate = certify(search, *FRESH)
    assert certificate.observed_error == pytest.approx(1 - search.score(*FRESH))
    assert certificate.abstention(0.1).accepted == 1.0


def test_a_tree_that_is_always_sure_accepts_all_rows_or_none():
    tree = DecisionTreeClassifier(random_state=0).fit(*FIT)
    certificate = certify(tree, *FRESH)
    above, below = certificate.error + 0.001, certificate.error - 0.001
    assert certificate.abstention(above).accepted == 1.0
    assert certificate.abstention(below).accepted == 0.0


@pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.coo_array, np.float32, list])
def test_kinds_of_rows_agree(convert):
    fitted = MultinomialNB().fit(*FIT)
    rows = FRESH[0].astype(convert) if convert is np.float32 else convert(FRESH[0])
    found, dense = (certify(fitted, each, FRESH[1]) for each in (rows, FRESH[0]))
    assert found.error == dense.error
    assert [item.status for item in found.assumptions] == ["declared"] * 4


def test_labels_may_be_text_objects_or_unknown_to_the_model():
    names = np.array(["zero", "one"] + ["more"] * 8)
    fitted = GaussianNB().fit(FIT[0], names[FIT[1]])
    fresh = names[FRESH[1]]
    text = certify(fitted, FRESH[0], fresh)
    objects = certify(fitted, FRESH[0], fresh.astype(object))
    assert text.to_dict() == objects.to_dict()
    assert set(text.recall) == {"zero", "one", "more"}
    new = certify(fitted, FRESH[0], np.where(fresh == "zero", "none", fresh))
    assert new.recall["none"] == 0
    assert new.recall["zero"] == 0
    assert new.error > text.error


def test_numbers_in_objects_are_numbers(model, certificate):
    found = certify(model, FRESH[0], FRESH[1].astype(object))
    assert found.error == certificate.error


def test_text_and_numbers_are_not_compared(model):
    with pytest.raises(ValueError, match=r"same type as the predictions.*convert y"):
        certify(model, FRESH[0], FRESH[1].astype(str))


def test_missing_labels_and_other_lengths_are_refused(model):
    labels = FRESH[1].astype(object)
    labels[3] = None
    with pytest.raises(ValueError, match="y must have no missing labels"):
        certify(model, FRESH[0], labels)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        certify(model, FRESH[0], FRESH[1][:-1])


def test_other_estimators_are_refused():
    clusters = KMeans(2, n_init=1, random_state=0).fit(FIT[0])
    with pytest.raises(
        ValueError,
        match=r"must be a classifier, .* such as PBRFF, got KMeans",
    ):
        certify(clusters, *FRESH)


def test_data_frames_with_text_and_gaps():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pandas.DataFrame(
        {"size": rng.normal(size=600), "colour": rng.choice(["red", "blue", None], 600)}
    )
    labels = pandas.Series(np.where(table["colour"] == "red", "yes", "no"))
    encoder = OneHotEncoder(handle_unknown="ignore")
    fitted = make_pipeline(encoder, KNeighborsClassifier(3)).fit(table[["colour"]], labels)
    found = certify(fitted, table[["colour"]], labels, duplicates="genuine")
    assert found.observed_error == 0
    assert summable(table).shape == (600, 2)
    summary = row_summary(table, checked_labels(labels))
    assert summary.repeated_share == 0
    twice = pandas.concat([table, table])
    assert row_summary(twice, np.tile(checked_labels(labels), 2)).repeated_share == 0.5


def test_rows_of_text_have_the_same_hash_in_every_sample():
    first = summable(["the cat", "a dog", "the cat"])
    second = summable(["a dog", "zebra"])
    assert first[1] == second[0]
    prints = row_fingerprints(first)
    assert prints[0] == prints[2] != prints[1]
    texts = ["good " * (1 + each % 7) + "bad " * (each % 3) + str(each) for each in range(200)]
    labels = np.arange(200) % 3 > 0
    fitted = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)
    assert certify(fitted, texts, labels).observed_error < 0.1


def test_tensors_have_the_summary_of_arrays():
    torch = pytest.importorskip("torch")
    whole = torch.as_tensor(FRESH[0].astype(int))
    for rows in (whole, whole.float()):
        found, array = (row_summary(each, FRESH[1]) for each in (rows, FRESH[0]))
        assert found.repeated_share == array.repeated_share
        np.testing.assert_allclose(found.powers, array.powers)


def test_one_probability_per_label_is_a_confidence():
    """Networks and one-versus-rest models return one column of probabilities per label."""
    rows, labels = make_multilabel_classification(200, n_classes=3, random_state=0)
    for inner in (LogisticRegression(), RidgeClassifier()):
        fitted = OneVsRestClassifier(inner).fit(rows, labels)
        found = _prediction_confidences(fitted, rows, are_sets=True).values
        if inner.__class__ is RidgeClassifier:
            np.testing.assert_array_equal(found, np.abs(fitted.decision_function(rows)).min(axis=1))
        else:
            distance = np.abs(fitted.predict_proba(rows) - 0.5).min(axis=1)
            np.testing.assert_allclose(found, 0.5 + distance)


def test_label_sets_count_every_label():
    rows, labels = make_multilabel_classification(1200, n_classes=4, random_state=0)
    fitted = RandomForestClassifier(20, random_state=0).fit(rows[:600], labels[:600])
    predictions = fitted.predict(rows[600:])
    truth = labels[600:]
    certificate = certify(fitted, rows[600:], truth)
    assert certificate.observed_error == np.mean((predictions != truth).any(axis=1))
    recall = recall_score(truth, predictions, average=None)
    assert (np.array(list(certificate.recall.values())) < recall).all()
    chances = np.array(fitted.predict_proba(rows[600:]))
    least = [min(max(label) for label in row) for row in chances.swapaxes(0, 1)]
    np.testing.assert_array_equal(certificate.confidences.values, least)
    sparse_truth = certify(fitted, rows[600:], sparse.csr_array(truth))
    assert sparse_truth.to_dict() == certificate.to_dict()
    with pytest.raises(ValueError, match="certify other outputs one at a time"):
        certify(fitted, rows[600:], truth + 1)


def test_each_of_several_labels_has_its_share_whether_it_occurs_or_not():
    rows, labels = make_multilabel_classification(1200, n_classes=4, random_state=0)
    fitted = OneVsRestClassifier(LogisticRegression()).fit(rows[:600], labels[:600])
    is_absent = labels[600:, 3] == 0
    rows, truth = rows[600:][is_absent], labels[600:][is_absent]
    n_missed = int(((fitted.predict(rows) == 0) & (truth == 1))[:, 0].sum())
    n_rows = int(truth[:, 0].sum())
    upper = bounds.holdout(n_errors=n_missed, n_samples=n_rows, epsilon=0.05 / 8).value
    assert certify(fitted, rows, truth).recall[0] == 1 - upper


# Regression --------------------------------------------------------------------------------------


def test_regression_bounds_follow_from_absolute_errors(regression):
    certificate, fitted, rows, values = regression
    errors = np.abs(values - fitted.predict(rows))
    assert certificate.n_samples == 500
    width = certificate.half_width(0.8)
    assert 0.8 < np.mean(errors <= width) < 0.86
    assert certificate.half_width(0.999) == np.inf
    n_above = int((errors > 4).sum())
    upper = bounds.holdout(n_errors=n_above, n_samples=500, epsilon=0.05).value
    assert certificate.exceedance(4) == upper
    mean = np.minimum(errors, 10).mean()
    assert mean < certificate.mean_absolute_error(10) < mean + 0.5
    assert certificate.mean_absolute_error(1) < 1


def test_regression_arguments_are_checked(regression):
    certificate = regression[0]
    with pytest.raises(ValueError, match=r"coverage must be in \(0, 1\), got 1"):
        certificate.half_width(1)
    with pytest.raises(ValueError, match="tolerance must be non-negative"):
        certificate.exceedance(-1)
    with pytest.raises(ValueError, match="limit must be positive"):
        certificate.mean_absolute_error(0)


def test_of_several_outputs_the_largest_error_counts():
    rng = np.random.default_rng(0)
    rows, values = rng.normal(size=(300, 3)), rng.normal(size=(300, 2))
    fitted = KNeighborsRegressor().fit(rows[:100], values[:100])
    certificate = certify(fitted, rows[100:], values[100:])
    distances = np.abs(values[100:] - fitted.predict(rows[100:]))
    np.testing.assert_array_equal(certificate.absolute_errors, distances.max(axis=1))
    with pytest.raises(ValueError, match="in the shape of the predictions"):
        certify(fitted, rows[100:], values[100:, 0])
    with pytest.raises(ValueError, match="y must hold numbers"):
        certify(fitted, rows[100:], values[100:].astype(str))


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_intervals_as_computed_contain_the_labels_they_were_calibrated_on(n_outputs):
    """Labels in cents. Distances that were rounded leave out the label they came from."""
    rng = np.random.default_rng(0)
    rows, values = rng.normal(size=(900, 3)), rng.integers(-5, 6, (900, n_outputs)) / 100
    if n_outputs == 1:
        values = values[:, 0]
    fitted = DummyRegressor(strategy="constant", constant=np.full(n_outputs, 19.99 / 3))
    fitted.fit(rows[:300], values[:300])
    certificate = certify(fitted, rows[300:], values[300:])
    predictions, truth = fitted.predict(rows[300:]), values[300:]
    for coverage in np.linspace(0.02, 0.98, 49):
        h = certificate.half_width(coverage)
        is_inside = (predictions - h <= truth) & (truth <= predictions + h)
        assert is_inside.reshape(600, -1).all(axis=1).mean() >= coverage


def test_regression_needs_finite_labels():
    rows, values = make_friedman1(100, random_state=0)
    fitted = DecisionTreeRegressor().fit(rows, values)
    values[3] = np.inf
    with pytest.raises(ValueError, match="must be finite"):
        certify(fitted, rows, values)


# Guards ------------------------------------------------------------------------------------------


def assert_refused(certificate, reason):
    assert certificate.violations
    with pytest.raises(ValueError, match=f"No certificate.*{reason}"):
        certificate.mean_loss(np.zeros(certificate.n_samples))
    contents = certificate.to_dict()
    assert contents.get("error", contents.get("half_width")) is None
    assert "No certificate" in repr(certificate)


def test_repeated_rows_are_refused_unless_they_are_declared(model):
    copies = np.repeat(np.arange(len(FRESH[1])), 2)
    rows = FRESH[0][copies], FRESH[1][copies]
    refused = certify(model, *rows)
    assert_refused(refused, r"sample: 50\.0 % of the rows repeat others")
    for bound in (
        lambda: refused.error,
        lambda: refused.recall,
        lambda: refused.precision,
        refused.abstention,
    ):
        with pytest.raises(ValueError, match="No certificate"):
            bound()
    declared = certify(model, *rows, duplicates="genuine")
    assert declared.error < 1
    assert "declared, although 50.0 % of the rows repeat others" in repr(declared)
    with pytest.raises(ValueError, match="duplicates must be None or 'genuine'"):
        certify(model, *FRESH, duplicates="copied")


def test_rows_that_were_scaled_on_themselves_are_refused():
    rows, labels = load_breast_cancer(return_X_y=True)
    fitted = GaussianNB().fit(rows[::2], labels[::2])
    own, other = (StandardScaler().fit(rows[part::2]) for part in (1, 0))
    certificate = certify(fitted, own.transform(rows[1::2]), labels[1::2])
    assert_refused(certificate, "inputs: columns have mean 0 and variance 1")
    assert certify(fitted, other.transform(rows[1::2]), labels[1::2]).error < 1


def test_regressions_are_refused_as_well(regression):
    _, fitted, rows, values = regression
    certificate = certify(fitted, np.tile(rows, (2, 1)), np.tile(values, 2))
    assert_refused(certificate, "sample")
    for bound in (certificate.half_width, lambda: certificate.exceedance(1.0)):
        with pytest.raises(ValueError, match="No certificate"):
            bound()


def test_rows_of_the_fit_are_recognised_if_the_model_remembers_them(model):
    fitted = GaussianNB().fit(*FIT)
    fitted._summary = row_summary(*FIT)
    assert certify(fitted, *FRESH).error < 1
    assert_refused(certify(fitted, *FIT), "rows: some of them were learned from")
    # Without the summary nothing is seen: that the rows are fresh is declared.
    assert certify(model, *FIT).assumptions[1].status == "declared"


def noise(seed, n_samples=300):
    """Return rows whose labels are coin flips: every classifier is wrong with probability 1/2."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_samples, 5)), rng.integers(0, 2, n_samples)


def learned_by_heart(*rows):
    return FourierClassifier(100, alpha=0.3, piecewise=True, random_state=0).fit(*rows)


def batches_of(X, y):
    return fit_batches(
        FourierClassifier(5, piecewise=False, random_state=0),
        [(X[start : start + 100], y[start : start + 100]) for start in range(0, len(y), 100)],
    )


def taught(X, y):
    model = FourierClassifier(5, random_state=0)
    for start in range(0, len(y), 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
    return model


def searched(X, y):
    model = make_pipeline(Normalizer(), FourierClassifier(random_state=0))
    return GridSearchCV(model, {"fourierclassifier__n_frequencies": [2]}, cv=2).fit(X, y)


FITS = {
    "in memory": learned_by_heart,
    "in batches": batches_of,
    "row by row": taught,
    "pickled": lambda *rows: pickle.loads(pickle.dumps(learned_by_heart(*rows))),
    "scaled": make_pipeline(StandardScaler(), FourierClassifier(5, random_state=0)).fit,
    "searched": searched,
    "amounts": FourierRegressor(5, random_state=0).fit,
}


@pytest.mark.parametrize("name", FITS)
def test_a_predictor_refuses_the_rows_that_it_learned_from(name):
    """All of them, some of them in another order, and 20 of them; new rows pass."""
    (X, y), fresh = noise(0), noise(1)
    model, order = FITS[name](X, y), np.random.default_rng(2).permutation(300)
    for chosen in (order, order[:100], order[:20]):
        rows = X[chosen], y[chosen]
        assert_refused(certify(model, *rows), "rows: some of them were learned from")
    assert not certify(model, *fresh).violations


def test_frames_with_text_are_recognised_too():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("skrub")
    X, y = noise(0)
    table = pandas.DataFrame(X, columns=[*"abcde"]).assign(f=np.where(X[:, 0] > 1, "x", None))
    model = FourierClassifier(5, random_state=0).fit(table[:200], y[:200])
    assert not certify(model, table[200:], y[200:]).violations
    assert_refused(certify(model, table[50:100], y[50:100]), "rows")


def test_rows_held_out_by_the_fit_were_not_learned_from():
    X, y = noise(0)
    model = FourierClassifier(5, certify=0.5, random_state=0).fit(X, y)
    assert_refused(certify(model, X, y), "rows")
    found = row_fingerprints(X)
    held_out = ~np.isin(found, model._summary.fingerprints)
    assert held_out.sum() == 150
    assert not certify(model, X[held_out], y[held_out]).violations


def test_steps_that_merge_rows_do_not_make_them_repeated():
    """A binarizer has 32 different rows, but the rows themselves do not repeat."""
    (X, y), fresh = noise(0), noise(1)
    model = make_pipeline(Binarizer(), FourierClassifier(5, random_state=0)).fit(X, y)
    assert not certify(model, *fresh).violations


def test_only_the_reader_of_the_table_has_seen_that_rows_are_untouched(model):
    known = {"summary": row_summary(*FRESH), "learned_from": row_summary(*FIT), "is_split": True}
    for is_raw, status in [(True, "holds"), (False, "declared")]:
        rows = FreshRows(**known, is_raw=is_raw)
        certificate = prediction_certificate(model, *FRESH, rows, epsilon=0.05)
        statuses = {item.name: item.status for item in certificate.assumptions}
        assert statuses["rows"] == status
        assert statuses["run"] == "declared"


@pytest.mark.parametrize(
    "step", [StandardScaler(), MinMaxScaler(), LinearDiscriminantAnalysis(), PLSRegression(1)]
)
def test_steps_before_a_fit_are_treated_alike(step):
    """None is refused, and none is said to hold. A scaler leaves a trace, which is named."""
    rows, labels = load_breast_cancer(return_X_y=True)
    model = FourierClassifier(5, certify=0.5, duplicates="genuine", random_state=0)
    prepared = step.fit(rows, labels).transform(rows)
    lines = {item.name: item for item in model.fit(prepared, labels).certificate_.assumptions}
    assert lines["rows"].status == lines["inputs"].status == "declared"
    assert "certifies all steps on new rows" in lines["rows"].reason
    is_scaler = isinstance(step, StandardScaler)
    assert ("a scaler saw the rows held out" in lines["inputs"].reason) == is_scaler
    alone = model.fit(rows, labels).certificate_.assumptions
    assert "scaler saw" not in str(alone)


# Text --------------------------------------------------------------------------------------------


def test_text_of_a_classifier(certificate):
    lines = str(certificate).splitlines()
    headline = lines[0].partition("<= ")
    assert headline[0] == "Error of the classifier "
    # Rounded up, and not by more than the last digit.
    assert 0 <= float(headline[2]) - certificate.error < 1e-4
    assert " ".join(lines[1].split()) == "holds with probability 0.95 over samples of 897"
    lowest = min(certificate.recall, key=certificate.recall.get)
    shown = next(line for line in lines if "lowest recall" in line)
    assert shown.endswith(f"(class {lowest})")
    assert 0 <= certificate.recall[lowest] - float(shown.split()[3]) < 1e-4
    assert [line.split()[1] for line in lines[5:]] == ["sample", "rows", "inputs", "object"]


def test_text_of_a_regressor(regression):
    certificate = regression[0]
    before, _, after = str(certificate).splitlines()[0].partition(" <= ")
    number, _, after = after.partition(" ")
    assert (before, after) == ("Absolute error of the regressor", "for 90 % of new rows")
    assert 0 <= float(number) - certificate.half_width() <= 1e-3
    assert "observed absolute error mean" in str(certificate)


def test_html_and_json_have_the_same_numbers(certificate, regression):
    contents = json.loads(json.dumps(certificate.to_dict()))
    assert contents["error"] == certificate.error
    assert contents["recall"] == list(certificate.recall.values())
    assert contents["assumptions"][0]["name"] == "sample"
    page = certificate._repr_html_()
    assert "Error of the classifier &lt;= " in page
    assert page.count("<tr>") == 4 + 4
    contents = json.loads(json.dumps(regression[0].to_dict()))
    assert contents["half_width"] == regression[0].half_width()
    assert "for 90 % of new rows" in regression[0]._repr_html_()


def test_too_few_rows_for_a_half_width_are_null_in_json():
    rows, values = make_friedman1(40, random_state=0)
    fitted = LinearRegression().fit(rows[:20], values[:20])
    certificate = certify(fitted, rows[20:], values[20:])
    assert certificate.to_dict()["half_width"] is None
    assert str(certificate).startswith("Too few rows to bound the absolute error")
