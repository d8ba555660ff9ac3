import json
from dataclasses import replace

import numpy as np
import pytest

from pacfourier import bounds
from pacfourier.pacbayes.certificate import Assumption, Certificate
from pacfourier.bounds.divergences import kl_divergence
from pacfourier.pacbayes.evidence import (
    BOUNDS,
    Evidence,
    best_bound,
    certified_inverse_temperature,
)
from pacfourier.pacbayes.posteriors import gibbs_posterior


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
        harmonics=(doubled * (mean / amplitudes).conj() ** 2).real,
        inverse_temperature=20.0,
    )


@pytest.fixture
def posterior(evidence):
    return gibbs_posterior(evidence.losses, 20.0)


def test_best_bound_pays_for_every_bound_it_tries(evidence, posterior):
    names = ("first_order", "unexpected_bernstein", "kl")
    name, best = best_bound(posterior, evidence, 0.06, names)
    alone = {key: best_bound(posterior, evidence, 0.02, (key,))[1].value for key in names}
    assert best.value == min(alone.values()) == alone[name]


def test_names_are_those_of_the_functions(evidence, posterior):
    loss, divergence = float(posterior @ evidence.losses), kl_divergence(posterior)
    shared = {"loss": loss, "divergence": divergence, "n_samples": 500, "epsilon": 0.05}
    moment = float(posterior @ evidence.second_moments)
    expected = {
        "kl": bounds.kl(**shared),
        "hoeffding_grid": bounds.hoeffding_grid(**shared, n_hypotheses=40),
        "hoeffding_peeling": bounds.hoeffding_peeling(**shared),
        "catoni_grid": bounds.catoni_grid(**shared, n_hypotheses=40),
        "unexpected_bernstein": bounds.unexpected_bernstein(
            **shared, second_moment=moment, n_hypotheses=40
        ),
        "norm": bounds.norm(**shared),
        "first_order": bounds.first_order(
            posterior=posterior,
            prior=np.full(40, 1 / 40),
            amplitudes=evidence.amplitudes,
            second_harmonics=evidence.harmonics,
            n_samples=500,
            epsilon=0.05,
        ),
        "f_divergence": bounds.f_divergence(
            loss=loss,
            divergence=40 * np.square(posterior).sum() - 1,
            n_samples=500,
            epsilon=0.05,
            mu=2.0,
            binary=True,
        ),
        "localised": bounds.localised(
            loss=loss, n_samples=500, epsilon=0.05, inverse_temperature=20.0
        ),
    }
    assert set(expected) == set(BOUNDS)
    for name, bound in expected.items():
        value = best_bound(posterior, evidence, 0.05, (name,))[1].value
        assert value == pytest.approx(bound.value, rel=1e-12)
        assert value >= loss


def test_default_bounds_depend_on_what_is_declared(evidence):
    assert evidence.default_bounds == ("first_order", "unexpected_bernstein")
    classes = replace(evidence, is_binary=False, amplitudes=None, harmonics=None)
    assert classes.default_bounds == ("unexpected_bernstein",)
    assert replace(classes, second_moments=None).default_bounds == ("catoni_grid",)


@pytest.mark.parametrize("name", ["first_order", "norm", "unexpected_bernstein", "localised"])
def test_bounds_refuse_evidence_that_they_have_not(name, evidence, posterior):
    bare = Evidence(losses=evidence.losses, n_samples=500)
    with pytest.raises(ValueError, match=f"bound='{name}' needs"):
        best_bound(posterior, bare, 0.05, (name,))


@pytest.mark.parametrize("name", ["best", "theorem4", "printed"])
def test_unknown_and_printed_bounds_cannot_be_chosen(name, evidence, posterior):
    with pytest.raises(ValueError, match="bound must be 'auto' or one of"):
        best_bound(posterior, evidence, 0.05, (name,))


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -1.0])
def test_epsilon_is_a_probability(epsilon, evidence, posterior):
    with pytest.raises(ValueError, match="epsilon must be in"):
        best_bound(posterior, evidence, epsilon, ("kl",))


def test_certified_temperature_beats_the_others(evidence):
    def value(t):
        posterior = gibbs_posterior(evidence.losses, t)
        return best_bound(posterior, evidence, 0.05, evidence.default_bounds)[1].value

    best = value(certified_inverse_temperature(evidence.losses, evidence))
    assert best <= min(value(t) for t in np.geomspace(0.1, 1e4, 40)) + 1e-3


@pytest.fixture
def certificate(evidence, posterior):
    name, details = best_bound(posterior, evidence, 0.05, evidence.default_bounds)
    return Certificate(
        empirical_loss=float(posterior @ evidence.losses),
        divergence=kl_divergence(posterior),
        n_samples=500,
        epsilon=0.05,
        bound=name,
        candidates=evidence.default_bounds,
        of="deployed",
        ceiling=0.5,
        rounding=0.0,
        details=details,
        assumptions=(Assumption("prior", "holds", "fixed <in advance>."),),
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
    assert html.count("<tr>") == html.count("</tr>") == 5


def test_certificate_goes_to_json_and_back(certificate):
    data = json.loads(json.dumps(certificate.to_dict()))
    assert data["value"] == certificate.value
    assert data["assumptions"][0]["status"] == "holds"
    assert data["bound"] == certificate.bound


def test_violated_assumptions_refuse_the_value(certificate):
    broken = Assumption("inputs", "violated", "scaled on the sample: use a split.")
    refused = replace(certificate, assumptions=(*certificate.assumptions, broken))
    with pytest.raises(ValueError, match=r"No certificate\. inputs: scaled on the sample: use a"):
        _ = refused.value
    assert str(refused).startswith("No certificate for the deployed kernel")
    assert refused.to_dict()["value"] is None
    assert "#cf222e" in refused._repr_html_()


def test_certificate_is_clipped_at_what_cannot_be_exceeded(certificate):
    weak = replace(certificate, details=replace(certificate.details, value=0.7))
    assert weak.value == 0.5
    assert replace(weak, ceiling=1.0).value == 0.7
