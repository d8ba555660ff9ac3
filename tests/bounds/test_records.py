"""One record per bound: found without a list of names, and complete."""

import sys
from functools import partial
from inspect import signature

import pytest

from pacfourier import bounds

NEW_BOUND = """
from pacfourier.bounds.record import BoundRecord
from pacfourier.bounds.result import Bound

def trivial(*, loss, epsilon):
    return Bound(value=1.0, empirical_term=loss, divergence_term=0.0, parameters={},
                 theorem="trivial", reference="none")

RECORDS = (BoundRecord(name="trivial", function=trivial, needs=("loss",)),)
"""
MIXTURE = {"weights": [1.0], "losses": [0.3], "divergences": [1.0], "n_train": 9, "epsilon": 0.05}


def test_a_new_file_is_all_that_a_new_bound_takes(tmp_path, monkeypatch):
    (tmp_path / "_trivial.py").write_text(NEW_BOUND)
    monkeypatch.setattr(bounds, "__path__", [*bounds.__path__, str(tmp_path)])
    found = bounds._records()
    sys.modules.pop("pacfourier.bounds._trivial")
    assert set(found) == {*bounds.RECORDS, "trivial"}
    assert found["trivial"].function(loss=0.1, epsilon=0.05).value == 1.0


def test_records_cannot_be_changed():
    with pytest.raises(TypeError, match="does not support item assignment"):
        bounds.RECORDS["kl"] = bounds.RECORDS["norm"]


@pytest.mark.parametrize("name", bounds.RECORDS)
def test_a_record_calls_its_function_with_what_it_takes(name):
    record = bounds.RECORDS[name]
    parameters = signature(record.function).parameters
    required = {key for key, item in parameters.items() if item.default is item.empty}
    assert required <= {"epsilon", *record.needs} <= set(parameters)
    assert record.function.__module__ == getattr(bounds, name).__module__


def test_only_bounds_with_an_exponential_moment_say_so():
    without = {name for name, record in bounds.RECORDS.items() if not record.exponential}
    # A sampler that starts again at every n has no supermartingale.
    anytime = {name for name, record in bounds.RECORDS.items() if record.anytime}
    assert anytime == {"anytime_first_order", "anytime_bernstein"}
    assert without == {"f_divergence", "localised", *anytime}


def test_bounds_of_landmarks_have_the_form_that_mixtures_ask_for():
    for record in bounds.RECORDS.values():
        if "pairs" in record.needs:
            others = {"second_moment": 0.2, "n_hypotheses": 5}
            own = {key: value for key, value in others.items() if key in record.needs}
            mixed = bounds.landmark_mixture(**MIXTURE, bound=partial(record.function, **own))
            assert mixed.theorem.endswith("landmark mixture")


def test_a_mixture_takes_a_bound_from_outside_the_package():
    def doubled(*, loss, divergence, n_samples, epsilon, pairs):
        case = {"loss": loss, "divergence": divergence, "n_samples": n_samples}
        return bounds.kl(**case, epsilon=epsilon / 2, pairs=pairs)

    mixed = bounds.landmark_mixture(**MIXTURE, bound=doubled)
    assert mixed.value > bounds.landmark_mixture(**MIXTURE).value
    with pytest.raises(ValueError, match=r"does not take \['divergence'\]"):
        bounds.landmark_mixture(**MIXTURE, bound=bounds.holdout_alignment)
