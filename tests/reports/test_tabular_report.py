import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.reports.test_page import parsed
from tests.tabular.table_fits import FITS, Column, Result, TableColumns

from pacfourier.bounds.safe_side import safely_rounded
from pacfourier.pacbayes.assumptions import Assumption
from pacfourier.reports.class_sections import _likely_shares, _reliability, positive_class
from pacfourier.reports.effect_sections import _source_turns
from pacfourier.reports.tabular_report import advice, fit_report


@pytest.fixture(scope="module")
def fits():
    return {name: make() for name, make in FITS.items()}


@pytest.fixture(scope="module")
def pages(fits):
    return {name: fit_report(fit) for name, fit in fits.items()}


def with_record(fit, **changes):
    return replace(fit, model=replace(fit.model, record=fit.model.record | changes))


@pytest.mark.parametrize("name", FITS)
def test_the_title_says_what_is_certified(fits, pages, name):
    headline = fits[name].model.record["headline"].replace("<=", "≤")
    assert f"<h1>outcome: {headline}</h1>" in pages[name]
    assert f"<title>outcome: {headline}</title>" in pages[name]


def test_the_first_lines_say_what_the_certificate_means(fits, pages):
    share = safely_rounded(100 * fits["two classes"].certificate.error, "up", decimals=2)
    first = pages["two classes"].partition("<h2>")[0]
    assert f"at most {share} % are predicted wrongly" in first
    assert "the 171 rows that were held out" in first
    assert "the true value lies within" in pages["amounts"].partition("<h2>")[0]


def test_the_first_lines_say_that_nothing_is_certified_and_why(fits):
    why = "Nothing is certified: 12 % of the rows repeat others."
    fit = with_record(fits["two classes"], is_certified=False, headline=why)
    broken = replace(fit.certificate, assumptions=(Assumption("sample", "violated", "12 %"),))
    for certificate in (None, broken):
        page = fit_report(replace(fit, certificate=certificate))
        assert "<h1>outcome: nothing is certified</h1>" in page
        assert why in page.partition("<h2>")[0]
        assert "recall, certified" not in page
    assert "violated" in page


def test_a_model_that_was_learned_from_all_rows_says_so(fits):
    page = fit_report(replace(fits["two classes"], certificate=None))
    assert "was then learned from all rows" in page.partition("<h2>")[0]
    assert "shuffled between rows that the model was learned from" in page
    assert "shuffled between held-out rows" in fit_report(fits["two classes"])


def test_too_few_rows_for_a_bound_certify_nothing(fits):
    fit = with_record(fits["amounts"], headline="Too few rows to bound the absolute error")
    few = fit.certificate.absolute_errors[:5]
    certificate = replace(fit.certificate, absolute_errors=few, least_half_widths=few)
    page = fit_report(replace(fit, certificate=certificate))
    assert "<h1>outcome: nothing is certified</h1>" in page
    assert "Too few rows to bound" in page.partition("<h2>")[0]
    assert "as certified" not in page


def test_a_class_that_the_model_does_not_know_is_an_error(fits):
    fit = fits["two classes"]
    truth = fit.held_out.truth.astype("U20")
    truth[0] = "unheard of"
    page = fit_report(replace(fit, held_out=replace(fit.held_out, truth=truth)))
    assert '<th scope="row">unheard of</th>' in page


@pytest.mark.parametrize("name", FITS)
def test_everything_from_the_table_is_escaped(pages, name):
    page = pages[name]
    assert "<b>" not in page
    assert "<master>" not in page
    parsed(page)


def test_names_from_the_table_are_shown(pages):
    assert "yes &lt;b&gt;" in pages["rare class"]
    assert "baker &amp; pastry cook &lt;master&gt;" in pages["rare class"]


@pytest.mark.parametrize("name", FITS)
def test_the_page_is_sane_for_those_who_do_not_see_it(pages, name):
    seen = parsed(pages[name])
    levels = [int(tag[1]) for tag, _ in seen if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    charts = [each for tag, each in seen if tag == "svg" and each.get("class") == "chart"]
    assert charts
    assert all(chart["role"] == "img" and chart["aria-label"] for chart in charts)
    assert all(each["scope"] in ("row", "col") for tag, each in seen if tag == "th")
    tags = [tag for tag, _ in seen]
    assert tags.count("caption") == tags.count("table")
    assert ("html", {"lang": "en"}) in seen


@pytest.mark.parametrize("name", FITS)
def test_the_page_loads_nothing(pages, name):
    seen = parsed(pages[name])
    names = {name for _, attributes in seen for name in attributes}
    assert not names & {"src", "href", "xlink:href", "srcset", "style", "onload"}
    assert not re.search(r"@import|url\(|<link|<script|https?://", pages[name])


def test_certified_rates_of_each_class_are_shown(fits, pages):
    certificate = fits["many classes"].certificate
    page = pages["many classes"]
    for name in "AXZ":
        row = re.search(rf'<th scope="row">{name}</th>.*?</tr>', page)[0]
        assert safely_rounded(certificate.recall[name], "down", decimals=4) in row
        assert safely_rounded(certificate.precision[name], "down", decimals=4) in row


def test_confusion_of_few_classes_is_a_matrix_and_of_many_a_list(pages):
    assert "predicted benign" in pages["two classes"]
    assert "most frequent wrong class" not in pages["two classes"]
    assert "most frequent wrong class" in pages["many classes"]


def test_curves_and_thresholds_are_for_two_classes(pages):
    for name, page in pages.items():
        is_double = name not in ("many classes", "amounts")
        assert ("ROC curve" in page) == is_double
        assert ("certified recall" in page) == is_double
        assert ("Reliability" in page) == (name != "amounts")
        assert ("Observed absolute errors" in page) == (name == "amounts")


def test_held_out_rows_of_one_class_have_no_curves(fits):
    fit = fits["two classes"]
    held_out = replace(fit.held_out, truth=np.full(len(fit.held_out.truth), "benign"))
    assert "all of one class" in fit_report(replace(fit, held_out=held_out))


def test_the_positive_class_is_the_rarer_one(fits):
    assert positive_class(fits["two classes"]) == "malignant"
    assert positive_class(fits["rare class"]) == "yes <b>"


def test_effects_and_waves_are_shown(fits, pages):
    for page in pages.values():
        assert "<h2>Columns that matter</h2>" in page
        assert "<h2>Waves</h2>" in page
    assert "since: lowest at 2019" in pages["amounts"]
    turns = _source_turns(fits["amounts"].model)
    frequencies = fits["amounts"].model.predictor.frequencies_
    assert turns.shape == (8, 6)
    # Without codes, the encoded columns of a wave have all its length.
    assert np.linalg.norm(turns, axis=1) == pytest.approx(
        np.linalg.norm(frequencies, axis=1) / np.pi, rel=1e-5
    )


def test_facts_of_the_run_are_shown(fits, pages):
    page = pages["two classes"]
    for text in ("table.csv", "2026-11-17T00:00:00", "pacfourier 1.0", "n frequencies", "569 read"):
        assert text in page
    assert "it has a single value" in page
    assert fits["two classes"].model.record["notes"][0].partition("'")[0] in page
    assert "Settings of the run" in page


def test_long_lists_of_columns_are_folded_and_cut(fits):
    fit = fits["two classes"]
    left_out = {f"c{k}": "it has a single value" for k in range(1000)}
    columns = TableColumns(fit.model.columns.used, left_out)
    page = fit_report(replace(fit, model=replace(fit.model, columns=columns)))
    assert "Columns left out, the first 300 of 1,000" in page
    assert "<summary>Columns left out (1,000)</summary>" in page
    assert "c299" in page
    assert "c300" not in page


def test_a_table_that_is_too_wide_has_no_effects(fits, monkeypatch):
    monkeypatch.setattr("pacfourier.tabular.effects.MOST_CELLS", 0)
    assert "would take too long to rank" in fit_report(fits["two classes"])


def test_columns_that_are_only_text_have_importances_but_no_effects(fits):
    fit = fits["amounts"]
    columns = TableColumns(tuple(Column(each.name, "text") for each in fit.model.columns.used), {})
    page = fit_report(replace(fit, model=replace(fit.model, columns=columns)))
    assert "Columns that matter" in page
    assert "Predictions along these columns" not in page


def test_a_weighted_fit_says_so(fits):
    settings = fits["rare class"].model.record["settings"] | {"class_weight": "balanced"}
    page = fit_report(with_record(fits["rare class"], settings=settings))
    assert "The classes were weighted (balanced)" in page
    settings |= {"class_weight": {"no": 2.0}, "types": {}, "certify": False}
    page = fit_report(with_record(fits["rare class"], settings=settings))
    assert "The classes were weighted (no: 2.0)" in page
    assert '<th scope="row">types</th><td>none</td>' in page
    assert '<th scope="row">certify</th><td>no</td>' in page


def results(ours, linear, trees, constant, noise=0.01):
    names = ("pacfourier", "linear model", "boosted trees", "constant")
    errors = (ours, linear, trees, constant)
    return [Result(name, error, noise, 1.0) for name, error in zip(names, errors, strict=True)]


@pytest.mark.parametrize(
    ("errors", "start"),
    [
        ((0.10, 0.20, 0.30, 0.50), "Yes"),
        ((0.20, 0.30, 0.10, 0.50), "Rather use boosted trees"),
        ((0.20, 0.10, 0.30, 0.50), "Rather use linear model"),
        ((0.10, 0.105, 0.2, 0.50), "You can"),
        ((0.49, 0.60, 0.60, 0.50), "Not by its error alone"),
        ((0.60, 0.10, 0.60, 0.50), "Not by its error alone"),
    ],
)
def test_the_advice_follows_the_errors(errors, start):
    for is_amount in (False, True):
        assert advice(results(*errors), is_amount=is_amount).startswith(start)


def test_one_row_tells_no_model_from_another():
    found = results(0.1, 0.2, 0.3, 0.5, noise=float("nan"))
    assert advice(found, is_amount=False).startswith("Not by its error alone")


def test_reliability_is_that_of_a_loop(rng):
    probabilities, happened = rng.random(200), rng.random(200) < 0.3
    bins = _reliability(probabilities, happened)
    for k in range(10):
        inside = (probabilities >= k / 10) & (probabilities < (k + 1) / 10)
        assert bins.counts[k] == inside.sum()
        assert bins.means[k] == pytest.approx(probabilities[inside].mean())
        assert bins.shares[k] == pytest.approx(happened[inside].mean())
    edges = _reliability(np.array([0.0, 1.0]), np.array([False, True]))
    assert edges.counts.tolist() == [1, *[0] * 8, 1]
    assert np.isnan(edges.means[1])


def test_likely_shares_solve_their_equation():
    shares, counts = np.array([0.0, 0.3, 1.0]), np.array([5, 40, 7])
    for ends in _likely_shares(shares, counts):
        assert (shares - ends) ** 2 == pytest.approx(1.96**2 * ends * (1 - ends) / counts)
        assert ((ends >= -1e-12) & (ends <= 1 + 1e-12)).all()


def test_a_fit_without_held_out_rows_has_a_page(fits):
    fit = fits["two classes"]
    empty = replace(
        fit.held_out,
        frame=fit.held_out.frame[:0],
        truth=fit.held_out.truth[:0],
        predictions=fit.held_out.predictions[:0],
        probabilities=fit.held_out.probabilities[:0],
    )
    page = fit_report(replace(fit, held_out=empty))
    assert "<h2>Waves</h2>" in page
    assert "<h2>Calibration</h2>" not in page
