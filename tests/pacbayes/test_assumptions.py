"""Every assumption from plain facts; violations say what was seen and how to fix it."""

from dataclasses import replace

import numpy as np
import pytest

from pacfourier import spectra
from pacfourier.bounds import RECORDS
from pacfourier.core.alignment.summary import sample_summary
from pacfourier.core.alignment.targets import ClassTarget, target_of
from pacfourier.pacbayes import assumptions


def summary_of(X, y=None):
    y = np.arange(len(X)) % 2 if y is None else y
    return sample_summary(X, ClassTarget(np.arange(2)).encode(y))


@pytest.fixture
def summary(rng):
    return summary_of(rng.standard_normal((200, 2)))


def test_independent_rows_are_declared(summary):
    assert assumptions.sample_assumption(summary).status == "declared"
    assert assumptions.input_assumption(summary).status == "declared"


def test_weights_and_copies_violate_the_sample(summary):
    weighted = assumptions.sample_assumption(replace(summary, is_weighted=True))
    copied = assumptions.sample_assumption(summary.merge(summary))
    assert weighted.status == copied.status == "violated"
    assert "fit without sample_weight" in weighted.reason
    assert "50.0 % of the rows repeat others" in copied.reason
    declared = assumptions.sample_assumption(replace(summary, is_weighted=True), "genuine")
    assert declared == weighted


DTYPES = {
    "fractions": lambda rng: rng.integers(0, 9, (300, 2)) / 7,
    "single": lambda rng: (rng.integers(0, 9, (300, 2)) / 7).astype(np.float32),
    "whole numbers": lambda rng: rng.integers(0, 9, (300, 2)).astype(float),
    "zero or one": lambda rng: rng.integers(0, 2, (300, 4)).astype(float),
}


@pytest.mark.parametrize("kind", DTYPES)
def test_repeats_are_judged_the_same_way_for_every_dtype(kind, rng):
    summary = summary_of(DTYPES[kind](rng))
    refused = assumptions.sample_assumption(summary)
    assert refused.status == "violated"
    for words in (
        "duplicates='genuine'",
        "before rows were copied",
        "Removing repeated rows does not help",
        "different labels",
    ):
        assert words in refused.reason
    assert f"{summary.n_disputed} of {summary.n_repeated} occur" in refused.reason
    declared = assumptions.sample_assumption(summary, "genuine")
    assert declared.status == "declared"
    share = f"declared, although {100 * summary.repeated_share:.1f} % of the rows repeat others"
    assert share in declared.reason


def test_few_repeats_need_no_word(rng):
    X = rng.standard_normal((200, 2))
    X[-2:] = X[:2]
    plain = assumptions.sample_assumption(summary_of(X))
    assert plain == assumptions.sample_assumption(summary_of(X), "genuine")
    assert plain.status == "declared"
    assert "(1.0 % of the rows repeat others)" in plain.reason
    X[-3:] = X[:3]
    assert assumptions.sample_assumption(summary_of(X)).status == "violated"


@pytest.mark.parametrize("duplicates", ["copies", True, ""])
def test_other_words_for_ties_are_refused(duplicates, summary):
    with pytest.raises(ValueError, match="duplicates must be None or 'genuine'"):
        assumptions.sample_assumption(summary, duplicates)


def test_standardising_on_the_sample_violates_the_inputs(rng):
    X = rng.uniform(1, 2, (200, 9))
    violated = assumptions.input_assumption(summary_of((X - X.mean(0)) / X.std(0)))
    assert violated.status == "violated"
    assert "on this sample: fit the scaler on a separate split" in violated.reason
    assert assumptions.input_assumption(summary_of(X / X.max(0))).status == "declared"


@pytest.mark.parametrize(
    ("source", "status", "words"),
    [
        ("scale", "violated", "use gamma='multiscale'"),
        ("median", "violated", "chosen on a separate split"),
        ("multiscale", "declared", "the seed and the number of candidates were not chosen"),
        (0.25, "declared", "gamma=0.25, the seed and the number of candidates were not chosen"),
        (spectra.Matern(0.3), "declared", "the kernel before learning, the seed"),
    ],
)
def test_the_prior_must_not_come_from_the_sample(source, status, words):
    assumption = assumptions.prior_assumption(source)
    assert assumption.status == status
    assert words in assumption.reason


@pytest.mark.parametrize(
    ("y", "status"),
    [
        (np.array([0, 1, 2]), "declared"),
        (np.array([[0, 1], [1, 1]]), "declared"),
        (np.array([0.5, 1.2]), "violated"),
    ],
)
def test_numbers_are_scaled_on_the_sample(y, status):
    assert assumptions.loss_assumption(target_of(y)).status == status


def test_what_is_declared_by_the_caller(summary):
    assert "their number was fixed in advance" in assumptions.sample_assumption(summary).reason
    loss = assumptions.loss_assumption(target_of(np.array([0, 1])))
    assert "not cut into classes by looking at this sample" in loss.reason
    assert assumptions.label_assumption(is_binary=True).status == "declared"
    assert assumptions.label_assumption(is_binary=False).status == "holds"
    assert assumptions.constant_assumption(RECORDS["kl"]).status == "holds"
    mu = assumptions.constant_assumption(RECORDS["f_divergence"])
    assert mu.reason.startswith("mu was fixed before")
    assert assumptions.object_assumption("deployed").status == "holds"
    assert assumptions.object_assumption("posterior").status == "declared"
    assert assumptions.choice_assumption().status == assumptions.run_assumption().status
    assert assumptions.ladder_assumption().status == "holds"


@pytest.mark.parametrize(
    ("source", "are_samples", "are_foreign", "status"),
    [
        ("random", True, False, "declared"),
        ("given", True, False, "declared"),
        ("function", True, False, "declared"),
        ("medoids", True, False, "holds"),
        ("given", False, True, "declared"),
        ("given", False, False, "violated"),
        ("kmeans", False, True, "violated"),
    ],
)
def test_landmarks_must_be_samples_or_strangers(source, are_samples, are_foreign, status):
    facts = {"are_samples": are_samples, "are_foreign": are_foreign}
    assert assumptions.landmark_assumption(source, **facts).status == status
