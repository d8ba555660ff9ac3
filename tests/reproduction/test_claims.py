"""Claims on made-up results: errors in % of 1,000 test rows, beside 3,000 other rows."""

import re

import numpy as np
import pytest
from scipy import stats

from reproduction.claims import CLAIMS, CONFIRMED, REFUTED, UNKNOWN, judge, mean_interval
from reproduction.datasets import PAPER_DATASETS
from reproduction.plan import GREEDY, LANDMARKS, ONLY_IN_TABLE

WIDTHS = {"greedy": (1, 50, 100, 500), "landmarks": (1, 10, 25)}


def claim_about(words):
    (claim,) = (claim for claim in CLAIMS if words in claim.says)
    return claim


def rows_of(errors, datasets=("breast",), experiment="greedy", n_splits=5, noise=0.01):
    """Return rows with errors by method, or by (method, data set); noise makes splits differ."""
    rows = []
    for dataset in datasets:
        for split in range(n_splits):
            for k, method in enumerate(("SVM", *GREEDY, *LANDMARKS, *ONLY_IN_TABLE)):
                percent = errors.get((method, dataset), errors.get(method, 5))
                place = "svm" if method == "SVM" else experiment
                for width in (0,) if method == "SVM" else WIDTHS[experiment]:
                    moved = percent + noise * np.sin((k + 1) * (split + 1))
                    key = {"experiment": place, "dataset": dataset, "split": split}
                    sizes = {"n_train": 2000, "n_valid": 1000, "n_test": 1000}
                    row = {"method": method, "width": width, "test_errors": 10 * moved}
                    rows.append(key | sizes | row)
    return rows


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [({"RFF": 9}, CONFIRMED), ({"RFF": 2}, REFUTED), ({}, UNKNOWN)],
)
def test_a_difference_is_confirmed_or_refuted_by_its_sign(errors, verdict):
    found = judge(claim_about("more accurate than RFF"), rows_of(errors))
    assert found.verdict == verdict
    assert found.evidence[0].mean == pytest.approx(errors.get("RFF", 5) - 5, abs=0.05)


@pytest.mark.parametrize(
    ("error", "verdict"), [(5.3, CONFIRMED), (3.4, REFUTED), (6.6, REFUTED), (4.8, CONFIRMED)]
)
def test_errors_are_similar_within_two_standard_errors(error, verdict):
    """2 sqrt(0.05 * 0.95 / 1000) = 1.38 points."""
    assert judge(claim_about("similar to OKRFF"), rows_of({"PBRFF": error})).verdict == verdict


def test_an_interval_over_the_edge_tells_nothing():
    rows = rows_of({"PBRFF": 6.2}, noise=1)
    assert judge(claim_about("similar to OKRFF"), rows).verdict == UNKNOWN
    assert (
        judge(claim_about("slight advantage"), rows_of({"PBRFF": 5.1}, noise=1)).verdict == UNKNOWN
    )


def test_one_split_tells_nothing():
    found = judge(claim_about("more accurate than RFF"), rows_of({"RFF": 50}, n_splits=1))
    assert found.verdict == UNKNOWN
    assert re.search(r"breast (44\.9|45\.0)\d\)\.$", str(found))


def test_a_claim_that_was_not_run_cannot_be_told():
    for claim in CLAIMS:
        assert str(judge(claim, [])).startswith(UNKNOWN)
        assert "not run" in str(judge(claim, []))


def test_on_an_excepted_data_set_the_opposite_is_claimed():
    claim = claim_about("except on mnist56")
    for mnist56, verdict in ((7, CONFIRMED), (3, REFUTED)):
        errors = {"RBF-C": 5, "PB-C": 3, ("PB-C", "mnist56"): mnist56}
        rows = rows_of(errors, ("ads", "mnist56"), "landmarks")
        assert judge(claim, rows).verdict == verdict


def test_almost_all_of_seven_data_sets_may_lack_one():
    claim = claim_about("almost all")
    assert claim.n_allowed == 1
    better = {"PB-C": 3, "PB-R": 3}
    worse = {(name, "ads"): 9 for name in better}
    for datasets, errors, verdict in (
        (PAPER_DATASETS, better | worse, CONFIRMED),
        (PAPER_DATASETS[:3], better, CONFIRMED),
        # One of three is no claim about seven, and no refutation.
        (PAPER_DATASETS[:3], better | worse, UNKNOWN),
        (PAPER_DATASETS, better | worse | {(n, "farm"): 9 for n in better}, REFUTED),
    ):
        assert judge(claim, rows_of(errors, datasets, "landmarks")).verdict == verdict


def test_the_svm_is_compared_with_the_best_landmarks():
    claim = claim_about("RBF SVM is better")
    rows = rows_of({"SVM": 4, "PB-C(D=64)": 3}, ("ads", "breast"), "landmarks")
    found = judge(claim, rows)
    assert [each.mean for each in found.evidence] == pytest.approx([-1, -1], abs=0.05)
    # The paper says so on breast, and the opposite on ads.
    assert [each.verdict for each in found.evidence] == [REFUTED, CONFIRMED]


def test_changes_between_widths_are_compared():
    rows = rows_of({}, experiment="landmarks")
    for row in rows:
        if row["method"].endswith("-R") and row["width"] == 10:
            row["test_errors"] += 30
    (found,) = judge(claim_about("stably"), rows).evidence
    assert (found.mean, found.verdict) == (pytest.approx(3), CONFIRMED)


def test_times_are_compared_by_their_ratio():
    rows = rows_of({})
    for split in range(5):
        for method, seconds in {"OKRFF": 0.2, "PBRFF": 0.1 + 0.001 * split}.items():
            key = {"experiment": "posterior", "dataset": "breast", "split": split, "width": 20_000}
            rows.append({**key, "method": method, "posterior_seconds": seconds})
    found = judge(claim_about("faster"), rows)
    assert found.verdict == CONFIRMED
    assert "breast 1.96 [" in str(found)


def test_a_sentence_has_its_verdict_and_intervals():
    text = str(judge(claim_about("more accurate than RFF"), rows_of({"RFF": 9})))
    assert text.startswith("Confirmed: learned maps are more accurate than RFF with few")
    assert "(error of RFF minus error of OKRFF, PBRFF, in points: breast 4.0" in text


def test_only_widths_of_the_claim_count():
    rows = rows_of({})
    for row in rows:
        if row["method"] == "RFF" and row["width"] > 50:
            row["test_errors"] = 900
    assert judge(claim_about("few frequencies"), rows).evidence[0].mean == pytest.approx(
        0, abs=0.05
    )
    assert judge(claim_about("many frequencies"), rows).verdict == REFUTED


def test_the_interval_is_the_formula():
    """Values 1, 2, 3: mean 2, deviation 1, t(2) = 4.3027."""
    low, high = mean_interval([1, 2, 3], 0, 0.05)
    assert (low, high) == pytest.approx((2 - 4.302653 / np.sqrt(3), 2 + 4.302653 / np.sqrt(3)))
    reach = 4.302653 * np.sqrt(1 / 3 + 0.25)
    assert mean_interval([1, 2, 3], 0.25, 0.05) == pytest.approx((2 - reach, 2 + reach))
    assert mean_interval([1], 0.25, 0.05) == (-np.inf, np.inf)


def test_an_interval_of_independent_splits_holds_as_often_as_it_says(rng):
    """5,000 draws: the standard error of a coverage of 0.95 is 0.003."""
    draws = rng.normal(1, 1, (5000, 5))
    intervals = np.array([mean_interval(row, 0, 0.05) for row in draws])
    assert abs(np.mean((intervals[:, 0] <= 1) & (intervals[:, 1] >= 1)) - 0.95) < 0.012


def test_an_interval_of_splits_that_share_rows_is_wide_enough(rng):
    """The errors of five splits are correlated as if a quarter of their variance were common."""
    shared, own = rng.normal(0, 0.5, (5000, 1)), rng.normal(0, np.sqrt(0.75), (5000, 5))
    covered = [
        [low <= 0 <= high for low, high in (mean_interval(row, o, 0.05) for row in shared + own)]
        for o in (0, 1 / 3)
    ]
    assert np.mean(covered[0]) < 0.9
    assert abs(np.mean(covered[1]) - 0.95) < 0.012


def test_the_sentences_of_several_data_sets_hold_together():
    """Bonferroni: each of two intervals has half the risk."""
    claim = claim_about("slight advantage")
    one = judge(claim, rows_of({}, ("ads",))).evidence[0]
    two = judge(claim, rows_of({}, ("ads", "farm"))).evidence[0]
    ratio = stats.t.ppf(1 - 0.0125, 4) / stats.t.ppf(1 - 0.025, 4)
    assert two.high - two.low == pytest.approx(ratio * (one.high - one.low))
