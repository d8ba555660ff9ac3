"""Every assumption from plain facts; violations say what was seen and how to fix it."""

from dataclasses import replace

import numpy as np
import pytest

from pacfourier import spectra
from pacfourier.core.alignment.summary import sample_summary
from pacfourier.core.alignment.targets import target_of
from pacfourier.pacbayes import assumptions


@pytest.fixture
def summary(rng):
    return sample_summary(rng.standard_normal((200, 2)))


def test_independent_rows_are_declared(summary):
    assert assumptions.sample_assumption(summary).status == "declared"
    assert assumptions.input_assumption(summary).status == "declared"


def test_weights_and_copies_violate_the_sample(summary):
    weighted = assumptions.sample_assumption(replace(summary, is_weighted=True))
    copied = assumptions.sample_assumption(summary.merge(summary))
    assert weighted.status == copied.status == "violated"
    assert "fit without sample_weight" in weighted.reason
    assert "50.0% of the rows repeat others" in copied.reason


@pytest.mark.parametrize("scale", [lambda X: (X - X.mean(0)) / X.std(0), lambda X: X / X.max(0)])
def test_scaling_on_the_sample_violates_the_inputs(scale, rng):
    summary = sample_summary(scale(rng.uniform(1, 2, (200, 2))))
    violated = assumptions.input_assumption(summary)
    assert violated.status == "violated"
    assert "on this very sample: fit the scaler on a separate split" in violated.reason


@pytest.mark.parametrize(
    ("source", "status", "words"),
    [
        ("scale", "violated", "use gamma='multiscale'"),
        ("median", "violated", "chosen on a separate split"),
        ("multiscale", "declared", "fixed in advance"),
        (0.25, "declared", "gamma=0.25 was not chosen by looking at this sample"),
        (spectra.Matern(0.3), "declared", "the spectrum was not chosen"),
    ],
)
def test_the_prior_must_not_come_from_the_sample(source, status, words):
    assumption = assumptions.prior_assumption(source)
    assert assumption.status == status
    assert words in assumption.reason


@pytest.mark.parametrize(
    ("y", "status"),
    [
        (np.array([0, 1, 2]), "holds"),
        (np.array([[0, 1], [1, 1]]), "holds"),
        (np.array([0.5, 1.2]), "violated"),
    ],
)
def test_numbers_are_scaled_on_the_sample(y, status):
    assert assumptions.loss_assumption(target_of(y)).status == status


def test_what_is_declared_by_the_caller():
    assert assumptions.label_assumption(is_binary=True).status == "declared"
    assert assumptions.label_assumption(is_binary=False).status == "holds"
    assert assumptions.constant_assumption(None).status == "holds"
    assert assumptions.constant_assumption("mu").reason.startswith("mu was fixed before")
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
