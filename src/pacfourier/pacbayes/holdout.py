"""Certificates of a frozen kernel, from rows that it was not learned from.

A kernel that was fixed before the rows are read is a single hypothesis. Its divergence is zero,
whatever was done to learn it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import special

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.bounds import (
    RECORDS,
    BoundRecord,
    holdout_alignment,
    holdout_betting,
    holdout_first_order,
)
from pacfourier.bounds.record import Quantities
from pacfourier.core.alignment.summary import MOST_FINGERPRINTS, SampleSummary
from pacfourier.core.alignment.sums import AlignmentSums, target_losses
from pacfourier.core.alignment.targets import Target
from pacfourier.pacbayes import assumptions
from pacfourier.pacbayes.assumptions import Assumption, Duplicates, scaling_trace
from pacfourier.pacbayes.certificate import Certificate, label_yardsticks
from pacfourier.pacbayes.evidence import best_bound

# Independent samples are refused for looking like copies with at most this probability.
_FALSE_ALARM = 1e-3
# Exponents at which the chance of an overlap is bounded: the smallest of the bounds is used.
_EXPONENTS: FloatArray = np.geomspace(1e-4, 64.0, 40)
# A function of how often the first sample has each row, of how often both have, and of its share.
_Distance: TypeAlias = Callable[[IntArray, Any, float], FloatArray]
_NEEDS_SCORES = (
    "declared binary labels and a map that was learned from labels: pass target_type='binary' if y "
    "can only have two values, else use bound='chernoff'."
)
_HOLDOUT_RECORDS = {
    "chernoff": BoundRecord(
        name="chernoff", function=holdout_alignment, needs=("loss", "n_samples", "pairs")
    ),
    "first_order": BoundRecord(
        name="first_order",
        function=holdout_first_order,
        needs=("score", "squared_score", "n_samples", "concentration"),
        advice=_NEEDS_SCORES,
    ),
    "betting": BoundRecord(
        name="betting",
        function=holdout_betting,
        needs=("scores", "concentration"),
        advice=_NEEDS_SCORES,
        anytime=True,
    ),
    "kl": RECORDS["kl"],
    "unexpected_bernstein": RECORDS["unexpected_bernstein"],
    "anytime_bernstein": RECORDS["anytime_bernstein"],
}


class FreshRows(NamedTuple):
    """Rows that are said to be fresh, and the rows of the fit.

    Parameters
    ----------
    summary : SampleSummary
        The summary of the fresh rows.
    learned_from : SampleSummary or None
        The summary of the rows of the fit. None if it is unknown.
    transformed : SampleSummary or None
        The summary of the fresh rows as the model sees them, if steps before it change them.
    is_split : bool
        Whether the library itself set the rows aside at random before it learned from the others.
    is_raw : bool
        Whether the library also read the rows from the user's table itself. Otherwise steps that
        it does not see, such as those of a pipeline, may have learned from them before.
    group : str or None
        The column that names groups, of which these are one random row each. None if rows are
        independent draws.
    period : str or None
        When the rows were taken, in words. None if it is not known.
    """

    summary: SampleSummary
    learned_from: SampleSummary | None = None
    transformed: SampleSummary | None = None
    is_split: bool = False
    is_raw: bool = False
    group: str | None = None
    period: str | None = None

    @property
    def seen(self) -> SampleSummary:
        """The summary of the fresh rows as the model sees them."""
        return self.summary if self.transformed is None else self.transformed

    @property
    def together(self) -> SampleSummary:
        """The summary of both, or of the fresh rows alone if the others are unknown."""
        known = self.learned_from
        return self.seen if known is None else known.merge(self.seen)


@dataclass(frozen=True, eq=False)
class FrozenKernel:
    """What fresh rows say about a kernel that was fixed before they were read.

    Attributes
    ----------
    weights : array of shape (n_frequencies,)
        Weights of the frequencies in the kernel.
    sums, target
        What the fresh rows and their labels give.
    second_moment : float or None
        Mean over pairs of (loss - 1/2)^2, with the loss of the kernel itself. None unless the
        labels are classes.
    scores : array of shape (n_samples,) or None
        The scores of ``bounds.holdout_betting``. None unless the labels were declared binary and
        the kernel was learned from labels.
    concentration : float or None
        The other argument of that bound.
    rows : FreshRows
    """

    weights: FloatArray
    sums: AlignmentSums
    target: Target
    second_moment: float | None
    scores: FloatArray | None
    concentration: float | None
    rows: FreshRows

    def quantities(self) -> Quantities:
        """Return all that bounds may need to know, by the names of a record."""
        scores = self.scores
        losses = target_losses(self.sums, self.target)
        return {
            "loss": min(max(float(self.weights @ losses), 0.0), 1.0),
            "divergence": 0.0,
            "n_samples": self.sums.n_samples,
            "pairs": True,
            "n_hypotheses": 1,
            "second_moment": self.second_moment,
            "binary": self.target.is_binary,
            "scores": scores,
            "score": None if scores is None else float(scores.mean()),
            "squared_score": None if scores is None else float(np.square(scores).mean()),
            "concentration": self.concentration,
        }


def frozen_certificate(
    kernel: FrozenKernel, *, epsilon: float, bound: str | BoundRecord, duplicates: Duplicates = None
) -> Certificate:
    """Return the certificate of a frozen kernel, as ``certify`` describes it."""
    quantities = kernel.quantities()
    record = _record(bound, quantities)
    _, details = best_bound(quantities, (record,), epsilon)
    return Certificate(
        empirical_loss=quantities["loss"],
        divergence=0.0,
        n_samples=kernel.sums.n_samples,
        epsilon=epsilon,
        bound=record.name,
        bounds_tried=(record.name,),
        of="deployed",
        ceiling=0.5 if kernel.target.is_binary else 1.0,
        rounding=0.0,
        details=details,
        yardsticks=label_yardsticks(kernel.sums, kernel.target),
        assumptions=(
            *fresh_row_assumptions(kernel.rows, duplicates, is_anytime=record.anytime),
            _input_assumption(kernel.rows),
            assumptions.loss_assumption(kernel.target),
            assumptions.label_assumption(is_binary=kernel.target.is_binary),
            _bound_assumption(record),
            assumptions.object_assumption("deployed"),
            *((assumptions.stream_assumption(),) if record.anytime else ()),
            *((assumptions.run_assumption(),) if kernel.rows.is_split else ()),
        ),
    )


def _record(bound: str | BoundRecord, quantities: Quantities) -> BoundRecord:
    """Return the bound of a name. "auto" looks at what was declared, and not at the rows."""
    if isinstance(bound, BoundRecord):
        return bound
    if bound in ("auto", "anytime") and quantities["scores"] is not None:
        bound = "betting"
    elif bound == "auto":
        bound = "chernoff" if quantities["second_moment"] is None else "unexpected_bernstein"
    elif bound == "anytime":
        bound = "anytime_bernstein"
    if not isinstance(bound, str) or bound not in _HOLDOUT_RECORDS:
        names = tuple(_HOLDOUT_RECORDS)
        raise ValueError(
            f"bound must be 'auto', 'anytime' or one of {names}, or a BoundRecord, got {bound!r}: "
            "these are the bounds of a kernel on rows that it was not learned from."
        )
    return _HOLDOUT_RECORDS[bound]


def fresh_row_assumptions(
    rows: FreshRows, duplicates: Duplicates, *, is_anytime: bool = False
) -> tuple[Assumption, ...]:
    """Return whether rows are independent draws, and unseen by the fit.

    If the library split the sample, repeated rows are looked for in both parts together.
    """
    summary = rows.together if rows.is_split else rows.summary
    return (
        assumptions.sample_assumption(summary, duplicates, group=rows.group, is_anytime=is_anytime),
        *((assumptions.group_assumption(rows.group),) if rows.group else ()),
        *((assumptions.period_assumption(rows.period),) if rows.period else ()),
        _unseen_assumption(rows),
    )


def preparation_assumption(rows: FreshRows) -> Assumption:
    """Return whether X was prepared without a look at the rows that certify a predictor.

    A scaler of all rows of a fit has seen the ones held out, as every step before a fit has, such
    as a selection of columns. Most leave no trace. So all of them are treated alike: you vouch for
    them, and a trace is named. Other rows that were scaled on themselves are not those of new data.
    """
    if not rows.is_split:
        return _input_assumption(rows)
    trace = scaling_trace(rows.together)
    if trace is None:
        return assumptions.input_assumption(rows.together)
    reason = (
        f"{trace}, so a scaler saw the rows held out, and you vouch that this does not matter. To "
        "be sure, leave it out (the predictor scales columns itself), or certify on new rows."
    )
    return Assumption("inputs", "declared", reason)


def _input_assumption(rows: FreshRows) -> Assumption:
    """Return whether X was transformed without looking at the fresh rows.

    A transform may be fitted on the rows of the fit, but not on both samples together.
    """
    alone = assumptions.input_assumption(rows.summary)
    return alone if alone.status == "violated" else assumptions.input_assumption(rows.together)


def _unseen_assumption(rows: FreshRows) -> Assumption:
    """Return whether nothing was learned from the rows."""
    if rows.is_raw:
        reason = "they were held out at random before anything was learned from the table."
        return Assumption("rows", "holds", reason)
    if rows.is_split:
        how = "at random" if rows.period is None else "as the last ones by time"
        reason = (
            f"they were held out {how} in this fit, and no step before it, such as a scaler or "
            "a selection of columns, was fitted on them. If one was, call "
            "certify(pipeline, X_new, y_new), which certifies all steps on new rows."
        )
        return Assumption("rows", "declared", reason)
    other = rows.learned_from
    if other is not None and _overlap_log_chance(other, rows.seen) < math.log(_FALSE_ALARM):
        reason = (
            "some of them were learned from: rows of the fit occur again, more often than chance "
            "allows. Pass rows that were held out before the fit."
        )
        return Assumption("rows", "violated", reason)
    reason = "nothing was learned from them, and they did not decide which model to certify."
    return Assumption("rows", "declared", reason)


def _bound_assumption(record: BoundRecord) -> Assumption:
    """Return what must have been fixed before the rows were seen."""
    size = "" if record.anytime else "; so was their number"
    reason = f"bound={record.name!r} was chosen before these rows were seen{size}."
    return Assumption("bound", "declared", reason)


def _overlap_log_chance(first: SampleSummary, second: SampleSummary) -> float:
    r"""Return a bound on the logarithm of the chance that two samples share so many rows.

    If both samples are independent draws of one law, then of :math:`c` equal rows in both
    together, :math:`a \sim \mathrm{Binomial}(c, p)` are in the first, :math:`p = n_1 / N`, given
    the number :math:`n_1` of all its rows. Copies agree better than that. If they are a large part
    of both samples, :math:`V = \sum_{c \ge 2} (a - c p)^2` is small. If they are few, the number of
    repeated rows that one sample has alone is small, :math:`V = \sum_{c \ge 2} 1[a \in \{0, c\}]`.
    Atoms of the law, which both samples repeat by right, agree no better than they should. Of the
    two bounds

    .. math:: \Pr(V \le v) \le \sqrt{8 n_1 n_2 / N}\; \min_s e^{s v} \prod_{c \ge 2}
              \mathbb{E}\, e^{-s V_c}

    the smaller is returned, times two.

    *Proof.* Chernoff's bound for independent :math:`a`; given their sum a probability is larger
    by :math:`1 / \Pr(\mathrm{Binomial}(N, p) = n_1)` at most, and
    :math:`\Pr(\mathrm{Binomial}(N, p) = n_1) \ge \sqrt{N / (8 n_1 n_2)}`.
    """
    n_first, n_second = first.n_samples, second.n_samples
    share = n_first / (n_first + n_second)
    mine, theirs = _shared_counts(first, second)
    totals, times = np.unique(mine + theirs, return_counts=True)
    chance = 0.0
    for distance in (_square_distance, _one_sidedness):
        chances = _EXPONENTS * float(distance(mine, mine + theirs, share).sum())
        for total, number in zip(totals, times, strict=True):
            chances = chances + number * _log_moments(int(total), share, distance)
        chance = min(chance, float(chances.min()))
    return chance + 0.5 * math.log(8 * n_first * (1 - share)) + math.log(2)


def _square_distance(mine: IntArray, totals: IntArray | int, share: float) -> FloatArray:
    return np.square(mine - totals * share)


def _one_sidedness(mine: IntArray, totals: IntArray | int, share: float) -> FloatArray:
    """Return one for rows that only one of the samples has, and zero for rows of both."""
    del share
    return np.asarray((mine == 0) | (mine == totals), dtype=np.float64)


def _shared_counts(first: SampleSummary, second: SampleSummary) -> tuple[IntArray, IntArray]:
    """Return how often each row that is not unique occurs in both samples."""
    ends = [each.fingerprints[-1:] for each in (first, second) if _is_cut(each)]
    rows = np.unique(np.concatenate([first.fingerprints, second.fingerprints]))
    if ends:
        # Beyond its last fingerprint, a long sample was not counted.
        rows = rows[rows <= np.concatenate(ends).min()]
    mine, theirs = (_counts(each, rows) for each in (first, second))
    are_shared = mine + theirs >= 2
    return mine[are_shared], theirs[are_shared]


def _is_cut(summary: SampleSummary) -> bool:
    return len(summary.fingerprints) >= MOST_FINGERPRINTS


def _counts(summary: SampleSummary, rows: FloatArray) -> IntArray:
    """Return how often each fingerprint occurs in a sample."""
    places = np.searchsorted(summary.fingerprints, rows).clip(max=len(summary.fingerprints) - 1)
    return np.where(summary.fingerprints[places] == rows, summary.counts[places], 0)


def _log_moments(total: int, share: float, distance: _Distance) -> FloatArray:
    r"""Return :math:`\ln \mathbb{E}\, e^{-s V_c}` for a binomial a and every exponent s."""
    heads = np.arange(total + 1)
    logs = (
        special.gammaln(total + 1)
        - special.gammaln(heads + 1)
        - special.gammaln(total - heads + 1)
        + special.xlogy(heads, share)
        + special.xlog1py(total - heads, -share)
    )
    penalties = _EXPONENTS[:, np.newaxis] * distance(heads, total, share)
    return np.asarray(special.logsumexp(logs - penalties, axis=1))
