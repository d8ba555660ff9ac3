import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pacfourier import bounds
from pacfourier.bounds import BoundRecord
from pacfourier.bounds.divergences import kl_divergence
from pacfourier.pacbayes.certificate import Assumption, Certificate
from pacfourier.pacbayes.evidence import (
    Evidence,
    best_bound,
    bounds_to_try,
    default_bound,
)
from pacfourier.pacbayes.posteriors import _least_bounded_temperature, gibbs_posterior
from pacfourier.pacbayes.yardsticks import KernelYardsticks


@pytest.fixture
def evidence(rng):
    """Unit vectors around a mean, for 40 frequencies and 500 samples, two classes."""
    angles = rng.normal(0, rng.uniform(0.5, 3, (40, 1)), (40, 500))
    mean = np.exp(1j * angles).mean(axis=1)
    amplitudes = np.abs(mean)
    doubled = np.exp(2j * angles).mean(axis=1)
    n = 500
    return Evidence(
        losses=n / (2 * (n - 1)) * (1 - amplitudes**2),
        n_samples=n,
        is_binary=True,
        second_moments=(1 + (np.abs(n * doubled) ** 2 - n) / (n * (n - 1))) / 8,
        amplitudes=amplitudes,
        second_harmonics=(doubled * (mean / amplitudes).conj() ** 2).real,
        constants={"inverse_temperature": 20.0},
    )


@pytest.fixture
def posterior(evidence):
    return gibbs_posterior(evidence.losses, 20.0)


def value_of(bound, posterior, evidence, epsilon=0.05):
    """The value of "auto", of a name or of a record."""
    quantities = evidence.quantities(posterior)
    return best_bound(quantities, bounds_to_try(bound, quantities), epsilon)[1].value


def names_to_try(bound, posterior, evidence):
    return tuple(record.name for record in bounds_to_try(bound, evidence.quantities(posterior)))


def test_best_bound_pays_for_every_bound_it_tries(evidence, posterior):
    names = ("first_order", "unexpected_bernstein", "kl")
    records = tuple(bounds.RECORDS[name] for name in names)
    record, best = best_bound(evidence.quantities(posterior), records, 0.06)
    alone = {name: value_of(name, posterior, evidence, 0.02) for name in names}
    assert best.value == min(alone.values()) == alone[record.name]


def test_names_are_those_of_the_functions(evidence, posterior):
    loss, divergence = float(posterior @ evidence.losses), kl_divergence(posterior)
    shared = {"loss": loss, "divergence": divergence, "n_samples": 500, "epsilon": 0.05}
    moment = float(posterior @ evidence.second_moments)
    waves = {
        "posterior": posterior,
        "amplitudes": evidence.amplitudes,
        "second_harmonics": evidence.second_harmonics,
        "n_samples": 500,
        "epsilon": 0.05,
    }
    expected = {
        "kl": bounds.kl(**shared),
        "hoeffding_grid": bounds.hoeffding_grid(**shared, n_hypotheses=40),
        "hoeffding_peeling": bounds.hoeffding_peeling(**shared),
        "catoni_grid": bounds.catoni_grid(**shared, n_hypotheses=40),
        "unexpected_bernstein": bounds.unexpected_bernstein(
            **shared, second_moment=moment, n_hypotheses=40
        ),
        "anytime_bernstein": bounds.anytime_bernstein(
            **shared, second_moment=moment, n_hypotheses=40
        ),
        "norm": bounds.norm(**shared),
        "first_order": bounds.first_order(**waves, prior=np.full(40, 1 / 40)),
        "anytime_first_order": bounds.anytime_first_order(
            **waves, log_prior=np.full(40, -np.log(40))
        ),
        "f_divergence": bounds.f_divergence(
            loss=loss,
            power_divergence=40 * np.square(posterior).sum() - 1,
            n_samples=500,
            epsilon=0.05,
            mu=2.0,
            binary=True,
        ),
        "localised": bounds.localised(
            loss=loss, n_samples=500, epsilon=0.05, inverse_temperature=20.0
        ),
    }
    assert set(expected) == set(bounds.RECORDS)
    for name, bound in expected.items():
        value = value_of(name, posterior, evidence)
        assert value == pytest.approx(bound.value, rel=1e-12)
        assert value >= loss


def test_auto_depends_on_what_is_declared(evidence, posterior):
    classes = replace(evidence, is_binary=False, amplitudes=None, second_harmonics=None)
    sets = replace(classes, second_moments=None)
    expected = {
        ("first_order", "unexpected_bernstein"): evidence,
        ("unexpected_bernstein",): classes,
        ("catoni_grid",): sets,
    }
    assert names_to_try("anytime", posterior, evidence) == ("anytime_first_order",)
    assert names_to_try("anytime", posterior, classes) == ("anytime_bernstein",)
    for names, known in expected.items():
        assert names_to_try("auto", posterior, known) == names
        # With the particles of a sampler, kl is tried too, after first_order.
        sampled = replace(known, log_prior=np.full(40, -np.log(40)))
        with_kl = (*names[:-1], "kl", names[-1])
        assert names_to_try("auto", posterior, sampled) == with_kl


@pytest.mark.parametrize("name", ["first_order", "norm", "unexpected_bernstein", "localised"])
def test_bounds_refuse_evidence_that_they_have_not(name, evidence, posterior):
    bare = Evidence(losses=evidence.losses, n_samples=500)
    with pytest.raises(ValueError, match=f"bound='{name}' needs"):
        value_of(name, posterior, bare)


@pytest.mark.parametrize("name", ["f_divergence", "localised"])
def test_bounds_without_an_exponential_moment_refuse_a_sampler(name, evidence, posterior):
    sampled = replace(evidence, log_prior=np.full(40, -np.log(40)))
    with pytest.raises(ValueError, match=f"bound='{name}' needs candidates drawn from the prior"):
        value_of(name, posterior, sampled)


def test_a_record_says_what_is_missing_if_it_has_no_advice(evidence, posterior):
    record = BoundRecord(name="own", function=bounds.kl, needs=("loss", "margin"))
    with pytest.raises(ValueError, match="bound='own' needs margin, which this model does not"):
        value_of(record, posterior, evidence)


@pytest.mark.parametrize("name", ["best", "theorem4", "printed", None, bounds.kl])
def test_unknown_and_printed_bounds_cannot_be_chosen(name, evidence, posterior):
    with pytest.raises(ValueError, match="bound must be 'auto'"):
        value_of(name, posterior, evidence)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -1.0])
def test_epsilon_is_a_probability(epsilon, evidence, posterior):
    with pytest.raises(ValueError, match="epsilon must be in"):
        value_of("kl", posterior, evidence, epsilon)


def test_certified_temperature_beats_the_others(evidence):
    def value(t):
        return value_of("auto", gibbs_posterior(evidence.losses, t), evidence)

    bound = partial(default_bound, evidence, epsilon=0.05)
    best = value(_least_bounded_temperature(evidence.losses, bound))
    assert best <= min(value(t) for t in np.geomspace(0.1, 1e4, 40)) + 1e-3


@pytest.fixture
def certificate(evidence, posterior):
    quantities = evidence.quantities(posterior)
    tried = bounds_to_try("auto", quantities)
    best, details = best_bound(quantities, tried, 0.05)
    return Certificate(
        empirical_loss=float(posterior @ evidence.losses),
        divergence=kl_divergence(posterior),
        n_samples=500,
        epsilon=0.05,
        bound=best.name,
        bounds_tried=tuple(record.name for record in tried),
        of="deployed",
        ceiling=0.5,
        rounding=0.0,
        details=details,
        assumptions=(Assumption("prior", "holds", "fixed <in advance>."),),
        yardsticks=KernelYardsticks(agreement=0.04, class_shares=(0.4, 0.6), n_samples=500),
    )


def test_certificate_reads_well(certificate):
    text = str(certificate)
    assert repr(certificate) == text
    assert text.startswith("Alignment loss of the deployed kernel <= 0.")
    assert "best of 2" in text
    assert "0.95 over samples of 500" in text
    shown = float(text.split("<= ")[1].split()[0])
    assert certificate.value <= shown < certificate.value + 1e-4
    html = certificate._repr_html_()
    assert "fixed &lt;in advance&gt;." in html
    assert html.count("<tr>") == html.count("</tr>") == 8


def test_certificate_says_what_its_value_means(certificate):
    for text in (str(certificate), certificate._repr_html_()):
        assert "perfect 0.0000, unrelated to the labels 0.4800, constant 0.4800" in text
    assert certificate.normalised == pytest.approx(certificate.value / 0.48, rel=1e-12)
    weak = replace(certificate, details=replace(certificate.details, value=0.49))
    assert weak.normalised > 1
    assert "below unrelated         no: this does not show" in str(weak)
    good = replace(certificate, details=replace(certificate.details, value=0.47))
    assert good.normalised < 1
    assert "below unrelated         yes: the kernel carries information" in str(good)
    assert "a kernel that was not learned may do so too" in str(good)


def test_certificate_goes_to_json_and_back(certificate):
    data = json.loads(json.dumps(certificate.to_dict()))
    assert data["value"] == certificate.value
    assert data["normalised"] == certificate.normalised
    assert data["yardsticks"] == pytest.approx({"perfect": 0, "unrelated": 0.48, "constant": 0.48})
    assert data["assumptions"][0]["status"] == "holds"
    assert data["bound"] == certificate.bound
    assert data["bounds_tried"] == ["first_order", "unexpected_bernstein"]


def test_violated_assumptions_refuse_the_value(certificate):
    broken = Assumption("inputs", "violated", "scaled on the sample: use a split.")
    refused = replace(certificate, assumptions=(*certificate.assumptions, broken))
    with pytest.raises(ValueError, match=r"No certificate\. inputs: scaled on the sample: use a"):
        _ = refused.value
    assert str(refused).startswith("No certificate for the deployed kernel")
    assert refused.to_dict()["value"] is refused.to_dict()["normalised"] is None
    with pytest.raises(ValueError, match="No certificate"):
        _ = refused.normalised
    assert "unrelated to the labels 0.4800" in str(refused)
    assert "below unrelated" not in str(refused)
    assert "#cf222e" in refused._repr_html_()


def test_certificate_is_clipped_at_what_cannot_be_exceeded(certificate):
    weak = replace(certificate, details=replace(certificate.details, value=0.7))
    assert weak.value == 0.5
    assert replace(weak, ceiling=1.0).value == 0.7
