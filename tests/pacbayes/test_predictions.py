"""Bounds on the errors of a predictor: exact probabilities over all outcomes of small samples."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special, stats

from pacfourier.bounds import holdout
from pacfourier.pacbayes.predictions import (
    Confidences,
    _abstention_start,
    _accepted_counts,
    _fewest_rows,
    _last_threshold,
    _least_share,
    _most_errors,
    certified_abstention,
    half_width,
    least_half_widths,
    least_rates,
    mean_loss_bound,
)

# Sums of probabilities over all outcomes are rounded.
ROUNDING = 1e-9


def outcomes(n_rows, n_cells):
    """All ways to put n rows into cells: the places of bars between stars."""
    bars = np.array(list(combinations(range(n_rows + n_cells - 1), n_cells - 1)))
    ends = np.full((len(bars), 1), -1), np.full((len(bars), 1), n_rows + n_cells - 1)
    return np.diff(np.hstack([ends[0], bars, ends[1]]), axis=1) - 1


def chances(counts, cells):
    """The multinomial probability of each outcome."""
    ways = special.gammaln(counts[0].sum() + 1) - special.gammaln(counts + 1).sum(axis=1)
    return np.exp(ways + special.xlogy(counts, cells).sum(axis=1))


def error_bounds(n_rows, epsilon):
    return np.array(
        [holdout(n_errors=k, n_samples=n_rows, epsilon=epsilon).value for k in range(n_rows + 1)]
    )


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
@pytest.mark.parametrize("n_rows", [1, 7, 40])
def test_error_and_rate_bounds_cover_at_every_true_rate(n_rows, epsilon):
    """Exact: the probability of the numbers of errors whose bound holds."""
    k = np.arange(n_rows + 1)
    above = error_bounds(n_rows, epsilon)
    below = [least_rates(np.array([hits]), np.array([n_rows]), epsilon)[0] for hits in k]
    lowest = []
    for rate in np.linspace(0.001, 0.999, 333):
        masses = stats.binom.pmf(k, n_rows, rate)
        lowest.append([masses[above >= rate].sum(), masses[np.array(below) <= rate].sum()])
    assert np.min(lowest) >= 1 - epsilon - ROUNDING
    # Of all bounds that only depend on the number of errors and grow with it, it is the smallest:
    # somewhere the probability is nearly what was asked for.
    if n_rows == 40:
        assert np.min(lowest) < 1 - epsilon + 0.05


def rates_by_class(table, epsilon):
    """Bounds on the recall and precision of all classes, from a table of label by prediction."""
    hits = np.diag(table)
    recall = least_rates(hits, table.sum(axis=1), epsilon / 2)
    return np.concatenate([recall, least_rates(hits, table.sum(axis=0), epsilon / 2)])


@pytest.mark.parametrize(("n_classes", "n_rows"), [(2, 12), (3, 5)])
def test_recall_and_precision_hold_together(n_classes, n_rows):
    """Exact, over random laws of labels and predictions: all 2K bounds hold at once."""
    epsilon, rng = 0.4, np.random.default_rng(0)
    counts = outcomes(n_rows, n_classes**2)
    bounds = np.array([rates_by_class(each.reshape(n_classes, -1), epsilon) for each in counts])
    coverage = []
    for sharpness in (0.2, 1.0, 5.0) * 100:
        law = rng.dirichlet(np.full(n_classes**2, sharpness)).reshape(n_classes, -1)
        truth = np.concatenate([np.diag(law) / law.sum(axis=axis) for axis in (1, 0)])
        holds = (bounds <= truth + ROUNDING).all(axis=1)
        coverage.append(chances(counts, law.ravel())[holds].sum())
    assert min(coverage) >= 1 - epsilon - ROUNDING


# Five kinds of rows with two labels. The first kind is usual: it has the first label and is
# predicted so. In the others, the first label is missed where the second one is present, and
# predicted in vain where the second one is predicted.
LABELS = np.array([[1, 0], [1, 1], [0, 0], [1, 1], [0, 1]])
PREDICTIONS = np.array([[1, 0], [0, 0], [1, 1], [0, 1], [1, 1]])
MISSED, HIT = 0.003726 * (1 - 0.00208), 0.003726 * 0.00208
CHANCES = np.array([1 - 2 * (MISSED + HIT), MISSED, MISSED, HIT, HIT])


def rare_outcomes(n_rows):
    """How many rows are of each kind. Outcomes with more rare rows have a chance of 2e-6."""
    rare = [each for each in product(range(17), range(17), range(3), range(3)) if sum(each[2:]) < 3]
    return np.column_stack([n_rows - np.sum(rare, axis=1), rare])


def chance_of_a_false_rate(counts, **options):
    """The exact probability that a bound of recall or precision exceeds the truth."""
    is_false = np.zeros(len(counts), dtype=bool)
    for are_present in (LABELS, PREDICTIONS):
        truth = (CHANCES @ (LABELS * PREDICTIONS)) / (CHANCES @ are_present)
        groups = zip(counts @ (LABELS * PREDICTIONS), counts @ are_present, strict=True)
        rates = [least_rates(n_hits, n_rows, 0.05 / 2, **options) for n_hits, n_rows in groups]
        is_false |= (rates > truth + ROUNDING).any(axis=1)
    return chances(counts, CHANCES)[is_false].sum()


def test_recall_and_precision_of_labels_that_overlap_hold_together():
    """With the share of classes, which is larger if a label is absent, they fail too often."""
    counts = rare_outcomes(1000)
    rest = 1 - chances(counts, CHANCES).sum()
    assert rest < 1e-5
    assert chance_of_a_false_rate(counts) > 0.05
    assert 0.005 < chance_of_a_false_rate(counts, are_disjoint=False) + rest <= 0.05


def test_a_group_without_rows_costs_nothing_and_has_no_bound():
    rates = least_rates(np.array([9, 0]), np.array([10, 0]), 0.1)
    assert rates[1] == 0
    assert rates[0] == least_rates(np.array([9]), np.array([10]), 0.1)[0]
    assert rates[0] > least_rates(np.array([9, 1]), np.array([10, 1]), 0.1)[0]
    assert not least_rates(np.array([0]), np.array([0]), 0.1).any()


def test_a_label_without_rows_has_its_share():
    """A row may have several labels, so their number must not depend on the rows."""
    hits, rows = np.array([9, 0]), np.array([10, 0])
    absent = least_rates(hits, rows, 0.1, are_disjoint=False)
    assert absent[1] == 0
    assert absent[0] == least_rates(np.array([9, 1]), np.array([10, 1]), 0.1)[0]


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.2, 0.9), (0.0, 0.1)])
def test_mean_losses_are_covered(low, high):
    """Exact, for losses with two values."""
    n_rows, epsilon = 14, 0.3
    losses = [np.repeat([high, low], [k, n_rows - k]) for k in range(n_rows + 1)]
    bounds = np.array([mean_loss_bound(each, epsilon) for each in losses])
    for rate in np.linspace(0.01, 0.99, 50):
        masses = stats.binom.pmf(np.arange(n_rows + 1), n_rows, rate)
        covered = masses[bounds >= low + rate * (high - low) - ROUNDING].sum()
        assert covered >= 1 - epsilon - ROUNDING


def test_steady_losses_have_a_small_bound():
    """Bets on a constant lose nothing: the excess falls as 1/n and not as its root."""
    assert 0.1 < mean_loss_bound(np.full(1000, 0.1), 0.05) < 0.105
    assert 0.9 < mean_loss_bound(np.full(1000, 0.9), 0.05) < 0.905
    assert mean_loss_bound(np.ones(10), 0.05) == 1.0


@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("n_rows", [1, 50, 299])
def test_most_errors_is_the_last_with_a_small_probability(n_rows, rate):
    below = stats.binom.cdf(np.arange(n_rows), n_rows, rate) <= 0.05
    assert _most_errors(n_rows, rate, 0.05) == below.sum() - 1


def test_fewest_rows_are_the_first_in_which_the_errors_are_tolerated():
    for n_errors, rate in product([0, 1, 2], [0.01, 0.2]):
        n_rows = _fewest_rows(n_errors, rate, 0.05, 10_000)
        assert _most_errors(n_rows, rate, 0.05) == n_errors
        assert _most_errors(n_rows - 1, rate, 0.05) == n_errors - 1
    assert _fewest_rows(0, 0.01, 0.05, 10_000) == 299
    assert _fewest_rows(0, 0.01, 0.05, 100) == 100


@pytest.mark.parametrize("law", [[0.1] * 10, [0.85, 0.05, 0.1], [0.5, 0.39, 0.01, 0.1]])
def test_half_widths_cover_for_laws_with_ties(law):
    """Exact: absolute errors 0, 1, 2, ... with these probabilities."""
    n_rows, coverage, epsilon = 5 if len(law) == 10 else 25, 0.6, 0.2
    counts = outcomes(n_rows, len(law))
    widths = [
        half_width(np.repeat(np.arange(len(law)), each), coverage, epsilon) for each in counts
    ]
    reached = np.append(np.cumsum(law), 1.0)[np.minimum(widths, len(law)).astype(int)]
    assert chances(counts, law)[reached >= coverage - ROUNDING].sum() >= 1 - epsilon - ROUNDING


def test_the_half_width_is_an_order_statistic():
    """For continuous errors, the j-th largest but one fails to cover with a beta probability."""
    n_rows, coverage, epsilon = 100, 0.9, 0.05
    errors = np.random.default_rng(0).permutation(n_rows)
    place = int(half_width(errors, coverage, epsilon))
    failure = stats.beta.cdf(coverage, place + 1, n_rows - place)
    assert failure <= epsilon < stats.beta.cdf(coverage, place, n_rows - place + 1)


def test_too_few_rows_have_no_half_width():
    """0.9^28 > 0.05 >= 0.9^29: with 29 rows, the largest error is the half-width."""
    assert half_width(np.arange(28.0), 0.9, 0.05) == math.inf
    assert half_width(np.arange(29.0), 0.9, 0.05) == 28.0


def is_inside(y, prediction, width):
    """Whether an interval contains a label, as anyone would compute it."""
    return bool(prediction - width <= y <= prediction + width)


cents = st.integers(-(10**6), 10**6).map(lambda number: number / 100)
finite = st.floats(-1e300, 1e300)
close = st.tuples(finite, st.integers(-3, 3)).map(
    lambda pair: (pair[0], pair[0] + pair[1] * math.ulp(pair[0]))
)


@settings(max_examples=500)
@given(st.one_of(st.tuples(cents, cents), st.tuples(finite, finite), close))
@example((1e16, 1e16 + 2)).via("half of the distance is enough")
@example((5e-324, 0.0)).via("the least number of all")
@example((0.1, 0.1)).via("zero is enough")
def test_the_least_half_width_reaches_the_label_and_the_next_smaller_number_does_not(pair):
    """Both directions, which determine the number: rounding keeps the order."""
    y, prediction = pair
    (width,) = least_half_widths(np.array([y]), np.array([prediction])).tolist()
    assert is_inside(y, prediction, width)
    assert width == 0 or not is_inside(y, prediction, math.nextafter(width, 0))


@given(cents, st.floats(-(2.0**100), 2.0**100, width=32))
def test_half_widths_around_single_precision_are_added_in_single_precision(y, value):
    label, prediction = np.array([y]), np.array([value], dtype=np.float32)
    (width,) = least_half_widths(label, prediction)
    assert width.dtype == np.float32
    # A float of Python is used in the precision of the array.
    assert is_inside(label, prediction, float(width))
    below = float(np.nextafter(width, np.float32(0)))
    assert width == 0 or not is_inside(label, prediction, below)


def test_labels_out_of_reach_have_an_infinite_half_width():
    """No number added to -1.7e308 is 1.7e308."""
    assert least_half_widths(np.array([1.7e308]), np.array([-1.7e308])) == np.inf


def test_of_several_outputs_the_widest_interval_counts():
    rng = np.random.default_rng(0)
    y, predictions = rng.integers(-(10**4), 10**4, (2, 200, 3)) / 100 * 1.1
    widths = least_half_widths(y, predictions)
    singly = [least_half_widths(*columns) for columns in zip(y.T, predictions.T, strict=True)]
    np.testing.assert_array_equal(widths, np.max(singly, axis=0))
    assert ((predictions - widths[:, None] <= y) & (y <= predictions + widths[:, None])).all()


def test_whole_numbers_are_predictions_too():
    y, predictions = np.array([1, 5, 2]), np.array([2, 2, 2])
    widths = least_half_widths(y, predictions)
    np.testing.assert_array_equal(widths, least_half_widths(y, predictions.astype(float)))
    assert all(map(is_inside, y, predictions, widths))


def test_intervals_of_labels_in_cents_keep_their_promise():
    """Exact, for four labels: rounded distances leave out some that they were computed from."""
    n_rows, coverage, epsilon = 8, 0.6, 0.2
    y, prediction = np.array([1.01, 2.02, 3.03, 4.04]), -0.7
    counts = outcomes(n_rows, len(y))

    def chance_to_cover(scores):
        widths = [half_width(np.repeat(scores, each), coverage, epsilon) for each in counts]
        reached = np.array([sum(is_inside(each, prediction, h) for each in y) for h in widths])
        return chances(counts, np.full(4, 0.25))[reached >= 4 * coverage].sum()

    assert chance_to_cover(np.abs(y - prediction)) < 0.64
    assert chance_to_cover(least_half_widths(y, np.full(4, prediction))) >= 1 - epsilon


# Abstention -------------------------------------------------------------------------------------

# Numbers of atoms, rows, rows at the start; wished error; epsilon.
SMALL = [(3, 10, 4, 0.3, 0.3), (3, 10, 3, 0.5, 0.2), (4, 7, 2, 0.6, 0.4)]


def small_sample(counts):
    """Confidences 0, -1, ... and errors, from the numbers of wrong and of right rows at each."""
    wrong, right = np.split(counts, 2)
    confidences = np.repeat(-np.arange(len(wrong), dtype=float), wrong + right)
    errors = np.repeat(np.tile([True, False], len(wrong)), np.stack([wrong, right], axis=1).ravel())
    return confidences, errors


def claimed_atoms(counts, start, **options):
    """For every outcome, the atoms down to which the error among accepted rows is claimed."""
    claims = np.zeros((len(counts), counts.shape[1] // 2), dtype=bool)
    for claim, each in zip(claims, counts, strict=True):
        accepted = _accepted_counts(*small_sample(each))
        last = _last_threshold(accepted, start, **options)
        tested = (accepted.n_rows > start) & (np.arange(len(accepted.n_rows)) <= last)
        claim[-accepted.thresholds[tested].astype(int)] = True
    return claims


def false_claims(counts, claims, masses, rates, error):
    """The exact probability that some claim is false, for atoms with masses and error rates."""
    selective = np.cumsum(masses * rates) / np.cumsum(masses)
    is_false = (claims & (selective > error)).any(axis=1)
    cells = np.concatenate([masses * rates, masses * (1 - rates)])
    return chances(counts, cells)[is_false].sum()


def worst_law(counts, claims, error, n_laws=300):
    """The largest probability of a false claim, over random laws and changes of the worst."""
    rng, n_atoms = np.random.default_rng(0), claims.shape[1]
    worst, law = 0.0, None
    for number in range(n_laws):
        masses = rng.dirichlet(np.full(n_atoms, 0.7))
        rates = rng.choice([0, 1, error, error + 1e-9, rng.random()], n_atoms)
        if law is not None and number > n_laws // 2:
            masses, rates = (each + rng.normal(scale=0.03, size=n_atoms) for each in law)
            masses, rates = np.abs(masses) / np.abs(masses).sum(), np.clip(rates, 0, 1)
        failure = false_claims(counts, claims, masses, rates, error)
        if failure > worst:
            worst, law = failure, (masses, rates)
    return worst


@pytest.mark.parametrize("largest", [np.inf, 0.0])
@pytest.mark.parametrize(("n_atoms", "n_rows", "start", "error", "epsilon"), SMALL)
def test_no_law_breaks_the_sequence_of_tests(n_atoms, n_rows, start, error, epsilon, largest):
    """Exact, over all samples of a law with atoms; laws may be more wrong where more confident."""
    counts = outcomes(n_rows, 2 * n_atoms)
    claims = claimed_atoms(counts, start, error=error, epsilon=epsilon, largest=largest)
    assert claims.any()
    assert 0 < worst_law(counts, claims, error) <= epsilon + ROUNDING


def flat(v):
    return np.full_like(v, 0.1 + 1e-9)


def confidently_wrong(v):
    return np.where(v < 0.02, 0.9, 0.0833)


def crossing(v):
    """The error among the most confident passes 0.1 at half of the rows."""
    return 0.2 * v


def wavy(v):
    return 0.1 + 0.1 * np.sin(60 * v)


def noisy_steps(v):
    return np.where((v * 40).astype(int) % 2, 0.0, 0.21)


LAWS = [flat, confidently_wrong, crossing, wavy, noisy_steps]


@pytest.mark.parametrize("n_decimals", [16, 1])
@pytest.mark.parametrize("law", LAWS)
def test_abstention_keeps_its_promise(law, n_decimals):
    """Simulated, at most 4 standard errors above epsilon; one decimal makes ties."""
    error, epsilon, n_rows, n_samples = 0.1, 0.2, 200, 400
    rng = np.random.default_rng(1)
    grid = (np.arange(200_000) + 0.5) / 200_000
    is_early = np.round(grid, n_decimals)
    n_failures = 0
    for _ in range(n_samples):
        v = rng.random(n_rows)
        confidences = Confidences(-np.round(v, n_decimals), 0.0)
        found = certified_abstention(
            confidences, rng.random(n_rows) < law(v), error=error, epsilon=epsilon
        )
        if found.accepted:
            end = np.searchsorted(is_early, -found.threshold, side="right")
            n_failures += law(grid[:end]).mean() > error + 1e-6
    assert n_failures / n_samples <= epsilon + 4 * math.sqrt(epsilon * (1 - epsilon) / n_samples)


def test_the_rule_to_stop_at_the_first_failure_is_needed():
    """The laxest of all thresholds that pass breaks the promise, so the test above can fail."""
    error, epsilon, n_rows, n_samples = 0.1, 0.2, 200, 400
    is_wrong = np.random.default_rng(1).random((n_samples, n_rows)) < error + 1e-9
    ranks = np.arange(1, n_rows + 1)
    passes = stats.binom.cdf(np.cumsum(is_wrong, axis=1), ranks, error) <= epsilon
    failures = passes[:, _abstention_start(n_rows, error, epsilon) :].any(axis=1).mean()
    assert failures > epsilon + 4 * math.sqrt(epsilon * (1 - epsilon) / n_samples)


def test_nine_rows_out_of_ten_are_accepted_at_half_of_the_error():
    """An error of 1.9 % that falls with the confidence about as that of a network on digits."""
    rng = np.random.default_rng(0)
    accepted = []
    for _ in range(20):
        v = rng.random(10_000)
        is_wrong = rng.random(10_000) < 0.019 * 16 * v**15
        found = certified_abstention(Confidences(-v), is_wrong, error=0.01, epsilon=0.05)
        assert found.observed_error < 0.01
        assert found.accepted_at_least < found.accepted == np.mean(-v >= found.threshold)
        accepted.append(found.accepted)
    assert np.mean(accepted) > 0.9


def test_abstention_without_errors_accepts_all_rows_and_with_errors_only_none():
    values = np.random.default_rng(0).random(1000)
    everything = certified_abstention(Confidences(values), values < 0, error=0.01, epsilon=0.05)
    assert everything.threshold == values.min()
    assert (everything.accepted, everything.observed_error) == (1.0, 0.0)
    nothing = certified_abstention(Confidences(values), values >= 0, error=0.01, epsilon=0.05)
    assert nothing.threshold == math.inf
    assert nothing.accepted == nothing.accepted_at_least == 0
    assert math.isnan(nothing.observed_error)


def test_too_few_rows_certify_no_abstention():
    """300 rows without errors show at most 1 % of errors, and at least one more must follow."""
    values = np.arange(300.0)
    for n_rows, accepted in [(298, 0.0), (299, 0.0), (300, 1.0)]:
        found = certified_abstention(
            Confidences(values[:n_rows]), values[:n_rows] < 0, error=0.01, epsilon=0.05
        )
        assert found.accepted == accepted


def test_ties_are_accepted_together_and_their_errors_count_first():
    """Half of the rows have the largest confidence: the first test sees as few or all of them."""
    values = np.repeat([1.0, 0.5], 500)
    is_wrong = np.zeros(1000, dtype=bool)
    is_wrong[[100, 200, 300]] = True
    unknown, known = (
        certified_abstention(Confidences(values, largest), is_wrong, error=0.02, epsilon=0.05)
        for largest in (np.inf, 1.0)
    )
    assert unknown.accepted == 0
    assert (known.accepted, known.threshold) == (1.0, 0.5)
    # With ten rows at the top, the first test needs others, of which the wrong ones come first.
    few = Confidences(np.repeat([1.0, 0.5], [10, 990]), 1.0)
    assert certified_abstention(few, is_wrong, error=0.02, epsilon=0.05).accepted == 0


@pytest.mark.parametrize(
    ("n_rows", "start"), [(100_000, 10_000), (1256, 628), (1255, 473), (900, 299), (299, 299)]
)
def test_the_start_is_a_tenth_or_tolerates_as_many_errors_as_half_of_the_rows_do(n_rows, start):
    assert _abstention_start(n_rows, 0.01, 0.05) == start


def test_accepted_shares_are_covered_at_all_thresholds():
    """Uniform confidences; the largest excess of the share over its truth is at an observation."""
    n_rows, epsilon, n_samples = 50, 0.2, 4000
    values = np.sort(np.random.default_rng(0).random((n_samples, n_rows)), axis=1)
    shares = np.arange(1, n_rows + 1) / n_rows
    bounds = np.array([_least_share(share, n_rows, epsilon) for share in shares])
    failures = (bounds > values + ROUNDING).any(axis=1).mean()
    assert 0 < failures <= epsilon + 4 * math.sqrt(epsilon * (1 - epsilon) / n_samples)
    assert _least_share(0.1, 10, 0.9) == _least_share(0.1, 10, 0.5) == 0.0
