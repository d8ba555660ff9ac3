"""A certificate: a bound on the alignment loss, and whether its assumptions hold."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from pacfourier.arrays import FloatArray
from pacfourier.bounds import Bound, BoundRecord
from pacfourier.bounds.divergences import kl_divergence
from pacfourier.bounds.landmarks import mixture_divergence
from pacfourier.bounds.safe_side import confidence, safely_rounded
from pacfourier.core.alignment.landmarks import LandmarkWaves
from pacfourier.core.alignment.summary import SampleSummary
from pacfourier.core.alignment.sums import AlignmentSums, alignment_loss, target_losses
from pacfourier.core.alignment.targets import Target
from pacfourier.pacbayes import assumptions
from pacfourier.pacbayes.assumptions import Assumption, Duplicates, Statement
from pacfourier.pacbayes.evidence import Evidence, best_bound, bounds_to_try
from pacfourier.pacbayes.yardsticks import (
    KernelYardsticks,
    LandmarkYardsticks,
    normalised_loss,
    yardstick_facts,
)


@dataclass(frozen=True, repr=False)
class Certificate(Statement):
    """An upper bound on the alignment loss of a kernel, under named assumptions.

    It is not a bound on classification error.

    Attributes
    ----------
    empirical_loss : float
        Alignment loss on the sample.
    divergence : float
        KL divergence of what is certified from the prior, in nats.
    n_samples : int
    epsilon : float
        Probability, over the sample and the run of a sampler, that the bound fails.
    bound : str
        Name of the bound: the best of ``bounds_tried``.
    bounds_tried : tuple of str
        Names of all bounds that were tried. Each of them got an equal share of epsilon.
    of : str
        What is certified: "deployed", the kernel of the kept frequencies; "posterior", the kernel
        of the whole posterior; "average", the mean over the landmarks; "landmark 3", one of them.
    ceiling : float
        A value that the loss cannot exceed: 1/2 if the labels were declared binary, else 1.
    rounding : float
        The allowance for single precision in every empirical average.
    details : Bound
        The bound with its parameters, theorem and reference.
    assumptions : tuple of Assumption
    yardsticks : KernelYardsticks or LandmarkYardsticks
        What the value can be compared with: the losses ``perfect``, ``unrelated`` and ``constant``.
    """

    empirical_loss: float
    divergence: float
    n_samples: int
    epsilon: float
    bound: str
    bounds_tried: tuple[str, ...]
    of: str
    ceiling: float
    rounding: float
    details: Bound
    assumptions: tuple[Assumption, ...]
    yardsticks: KernelYardsticks | LandmarkYardsticks

    @property
    def value(self) -> float:
        """The bound. If an assumption is violated, a ValueError says how to fix it."""
        self._check_assumptions()
        return min(self.details.value, self.ceiling)

    @property
    def normalised(self) -> float | None:
        """The value on the scale where 0 is perfect and 1 is unrelated to the labels.

        It may exceed 1. It is None if the labels are not classes, because the perfect loss is then
        unknown, and if the sample has one class.
        """
        return normalised_loss(self.value, self.yardsticks)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a dictionary that can be written as JSON.

        Returns
        -------
        contents : dict
            Its ``"value"`` and ``"normalised"`` are None if the certificate is refused.
        """
        details = {
            "theorem": self.details.theorem,
            "reference": self.details.reference,
            "parameters": {
                name: list(value) if isinstance(value, tuple) else value
                for name, value in self.details.parameters.items()
            },
        }
        return {
            "value": None if self.violations else self.value,
            "normalised": None if self.violations else self.normalised,
            "yardsticks": {
                "perfect": self.yardsticks.perfect,
                "unrelated": self.yardsticks.unrelated,
                "constant": self.yardsticks.constant,
            },
            "of": self.of,
            "empirical_loss": self.empirical_loss,
            "divergence": self.divergence,
            "n_samples": self.n_samples,
            "epsilon": self.epsilon,
            "bound": self.bound,
            "bounds_tried": list(self.bounds_tried),
            "ceiling": self.ceiling,
            "rounding": self.rounding,
            **details,
            "assumptions": [asdict(item) for item in self.assumptions],
        }

    def _headline(self) -> str:
        kernels = {
            "deployed": "deployed kernel",
            "posterior": "kernel of the posterior",
            "average": "landmarks, on average,",
        }
        what = kernels.get(self.of, self.of)
        if self.violations:
            return f"No certificate for the {what.rstrip(',')}"
        return f"Alignment loss of the {what} <= {safely_rounded(self.value, 'up', decimals=4)}"

    def _facts(self) -> list[tuple[str, str]]:
        n_tried = len(self.bounds_tried)
        tried = f"best of {n_tried}, " if n_tried > 1 else ""
        names = {item.name for item in self.assumptions}
        drawn = f"over samples of {self.n_samples:,}"
        if "stream" in names:
            drawn = f"at all numbers of samples at once, here {self.n_samples:,}"
        if "run" in names:
            drawn += " and over the run"
        return [
            ("holds with probability", f"{confidence(self.epsilon)} {drawn}"),
            ("empirical loss", f"{self.empirical_loss:.4f}"),
            ("divergence", f"{self.divergence:.2f} nats"),
            ("bound", f"{self.bound} ({tried}{self.details.theorem}; {self.details.reference})"),
            *yardstick_facts(self.yardsticks, None if self.violations else self.value),
        ]


def certificate_of(
    posterior: FloatArray,
    evidence: Evidence,
    *,
    sums: AlignmentSums,
    target: Target,
    summary: SampleSummary,
    prior_source: Any,
    epsilon: float,
    bound: str | BoundRecord,
    of: str,
    duplicates: Duplicates = None,
    more_assumptions: tuple[Assumption, ...] = (),
) -> Certificate:
    """Return the certificate of a posterior over candidate frequencies.

    Parameters
    ----------
    posterior : array of shape (n_candidates,)
        Weights of the frequencies to certify.
    evidence : Evidence
        What ``alignment_evidence`` makes of the sums.
    sums, target, summary
        What was learned from the sample.
    prior_source : str, float or Spectrum
        Where the bandwidth of the prior comes from.
    epsilon, bound, of, duplicates
        As in ``PBRFF.certificate``.
    more_assumptions : tuple of Assumption
        Assumptions of the estimator itself.
    """
    quantities = evidence.quantities(posterior)
    tried = bounds_to_try(bound, quantities)
    best, details = best_bound(quantities, tried, epsilon)
    return Certificate(
        empirical_loss=float(posterior @ target_losses(sums, target)),
        divergence=quantities["divergence"],
        n_samples=evidence.n_samples,
        epsilon=epsilon,
        bound=best.name,
        bounds_tried=tuple(record.name for record in tried),
        of=of,
        ceiling=0.5 if evidence.is_binary else 1.0,
        rounding=float(posterior @ sums.loss_rounding),
        details=details,
        assumptions=(
            assumptions.sample_assumption(summary, duplicates, is_anytime=best.anytime),
            assumptions.prior_assumption(prior_source),
            assumptions.input_assumption(summary),
            assumptions.loss_assumption(target),
            assumptions.label_assumption(is_binary=evidence.is_binary),
            assumptions.constant_assumption(best),
            assumptions.object_assumption(of),
            *((assumptions.stream_assumption(),) if best.anytime else ()),
            *more_assumptions,
        ),
        yardsticks=label_yardsticks(sums, target),
    )


def label_yardsticks(sums: AlignmentSums, target: Target) -> KernelYardsticks:
    """Return what the losses of kernels on a sample can be compared with."""
    agreement = target.agreement(sums.totals)
    differ = 2 * np.eye(len(agreement)) - 1
    are_classes = target.classes is not None and np.allclose(agreement, differ, rtol=0, atol=1e-12)
    # The constant kernel has frequency zero, where the waves are the totals.
    aligned, self_pairs = sums.totals @ agreement @ sums.totals, np.vdot(agreement, sums.gram)
    constant = alignment_loss(aligned, float(self_pairs), sums.pairs)
    return KernelYardsticks(
        agreement=float(1 - 2 * constant),
        class_shares=tuple((sums.totals / sums.weight).tolist()) if are_classes else None,
        n_samples=sums.effective_samples,
    )


class LandmarkFacts(NamedTuple):
    """What a certificate must know about landmarks.

    Attributes
    ----------
    waves : LandmarkWaves
    posteriors : array of shape (n_landmarks, n_frequencies)
    source : str
        How the landmarks were chosen: "random", "medoids", "given", ...
    are_samples : bool
        Whether the landmarks are distinct samples, with their labels.
    are_foreign : bool
        Whether no landmark is a row of the sample.
    n_samples : int
    """

    waves: LandmarkWaves
    posteriors: FloatArray
    source: str
    are_samples: bool
    are_foreign: bool
    n_samples: int

    @property
    def are_picked(self) -> bool:
        """Whether the landmarks may have been picked among the samples by looking at them."""
        return self.source != "random" and not self.are_foreign


def landmark_certificate(
    facts: LandmarkFacts,
    rows: Sequence[int],
    *,
    target: Target,
    summary: SampleSummary,
    prior_source: Any,
    epsilon: float,
    bound: str | BoundRecord,
    of: str,
    duplicates: Duplicates = None,
    is_named: bool = False,
) -> Certificate:
    """Return the certificate of the mean loss of some landmarks.

    The hypothesis is a pair (landmark, frequency), so the bound also pays for the choice of the
    landmarks among all those that could have been chosen. ``is_named`` says that the one landmark
    was named in advance, which makes the choice free unless it was picked among the samples.
    """
    is_free = is_named and not facts.are_picked
    n_choices = facts.n_samples if facts.are_picked else len(facts.posteriors)
    quantities, loss, rounding = _landmark_quantities(facts, rows, 1 if is_free else n_choices)
    tried = bounds_to_try(bound, quantities)
    best, details = best_bound(quantities, tried, epsilon)
    return Certificate(
        empirical_loss=loss,
        divergence=quantities["divergence"],
        n_samples=facts.n_samples,
        epsilon=epsilon,
        bound=best.name,
        bounds_tried=tuple(record.name for record in tried),
        of=of,
        ceiling=1.0,
        rounding=rounding,
        details=details,
        assumptions=(
            assumptions.sample_assumption(summary, duplicates),
            assumptions.prior_assumption(prior_source),
            assumptions.input_assumption(summary),
            assumptions.landmark_assumption(
                facts.source, are_samples=facts.are_samples, are_foreign=facts.are_foreign
            ),
            assumptions.loss_assumption(target),
            assumptions.constant_assumption(best),
            *((assumptions.choice_assumption(),) if is_free else ()),
        ),
        yardsticks=LandmarkYardsticks(
            agreements=tuple(facts.waves.agreements[rows].tolist()),
            are_signs=target.has_sign_agreements,
        ),
    )


def _landmark_quantities(
    facts: LandmarkFacts, rows: Sequence[int], n_choices: int
) -> tuple[dict[str, Any], float, float]:
    """Return the quantities of the mean over some landmarks, its loss and its rounding."""
    posteriors, waves = facts.posteriors[rows], facts.waves

    def mean(values: FloatArray) -> float:
        return float(np.mean(np.sum(posteriors * values[rows], axis=1)))

    divergences = [kl_divergence(posterior) for posterior in posteriors]
    divergence = float(np.mean(divergences))
    if n_choices > len(rows):
        weights = np.full(len(rows), 1 / len(rows))
        divergence = mixture_divergence(weights=weights, divergences=divergences, n_train=n_choices)
    # The phases of the landmark itself are exact: only one of the two factors is rounded.
    loss, rounding = mean(waves.losses), mean(waves.rounding)
    quantities = {
        "loss": min(loss + rounding, 1.0),
        "divergence": divergence,
        "n_samples": int(waves.n_others[rows].min()),
        "second_moment": min(mean(waves.second_moments) + rounding, 0.25),
        "n_hypotheses": posteriors.shape[1],
        "pairs": False,
    }
    return quantities, loss, rounding
