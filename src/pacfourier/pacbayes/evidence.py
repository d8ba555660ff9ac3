"""What a sample says about every candidate frequency, and the best bound that follows from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from pacfourier.arrays import FloatArray, IntArray
from pacfourier.bounds import RECORDS, Bound, BoundRecord
from pacfourier.bounds.divergences import divergence_from, kl_divergence, power_divergence
from pacfourier.bounds.record import Quantities
from pacfourier.core.alignment.sums import (
    AlignmentSums,
    loss_moments,
    signed_waves,
    target_losses,
)
from pacfourier.core.alignment.targets import Target

# Grids of rates are placed by a number of hypotheses. If the prior is continuous, any number will
# do that was written down before the data.
_N_HYPOTHESES = 1000
# The order of the chi-square divergence.
_DEFAULT_MU = 2.0


@dataclass(frozen=True)
class Evidence:
    """What a sample says about every candidate frequency, and what the user declared.

    Attributes
    ----------
    losses : array of shape (n_candidates,)
    n_samples : int
    is_binary : bool
        Whether the labels were declared to have two classes.
    second_moments : array of shape (n_candidates,) or None
        Mean of (loss - 1/2)^2 over pairs. None if it is unknown.
    amplitudes, second_harmonics : arrays of shape (n_candidates,) or None
        Length of the mean of y exp(i omega . x), and mean of cos 2 (omega . x - its angle). None
        unless binary.
    rounding : float
        How far each loss may be from that of the sample, because of single precision.
    log_prior : array of shape (n_candidates,) or None
        Logarithms of a random measure on the candidates whose mean is the prior. A sampler returns
        them (``particle_log_prior``). None means the uniform prior.
    constants : mapping from str to float
        Constants of the posterior that some bounds need: ``mu``, the order of the divergence of
        ``f_divergence``, and ``inverse_temperature``, that of a Gibbs posterior of the losses if it
        was fixed in advance.
    """

    losses: FloatArray
    n_samples: int
    is_binary: bool = False
    second_moments: FloatArray | None = None
    amplitudes: FloatArray | None = None
    second_harmonics: FloatArray | None = None
    rounding: float = 0.0
    log_prior: FloatArray | None = None
    constants: Mapping[str, float] = field(default_factory=dict)

    def quantities(self, posterior: FloatArray) -> Quantities:
        """Return all that bounds may need to know about a posterior, by the names of a record."""
        n_candidates = len(posterior)
        constants = {"mu": _DEFAULT_MU, **self.constants}
        moments = self.second_moments
        shared = {
            "loss": float(posterior @ self.losses),
            "n_samples": self.n_samples,
            "pairs": True,
            "second_moment": None if moments is None else float(posterior @ moments),
            "binary": self.is_binary,
            "posterior": posterior,
            "amplitudes": self.amplitudes,
            "second_harmonics": self.second_harmonics,
            "rounding": self.rounding,
            **constants,
        }
        if self.log_prior is None:
            return {
                **shared,
                "sampled": False,
                "divergence": kl_divergence(posterior),
                "power_divergence": power_divergence(posterior, constants["mu"]),
                "n_hypotheses": n_candidates,
                "log_prior": np.full(n_candidates, -np.log(n_candidates)),
            }
        return {
            **shared,
            "sampled": True,
            "divergence": max(divergence_from(posterior, self.log_prior), 0.0),
            "power_divergence": None,
            "n_hypotheses": _N_HYPOTHESES,
            "log_prior": self.log_prior,
        }


def alignment_evidence(
    sums: AlignmentSums,
    target: Target,
    *,
    log_prior: FloatArray | None = None,
    constants: Mapping[str, float] | None = None,
) -> Evidence:
    """Return what the sums of a sample say about every candidate frequency, rounded outward."""
    amplitudes, harmonics = signed_waves(sums) if target.is_binary else (None, None)
    losses = target_losses(sums, target) + sums.loss_rounding
    # Two classes that no wave tells apart have the loss n / (2 (n - 1)).
    largest = sums.n_samples / (2 * (sums.n_samples - 1)) if target.is_binary else 1
    moments = loss_moments(sums, target)
    if moments is not None:
        moments = np.clip(moments + sums.loss_rounding, 0, 0.25)
    return Evidence(
        losses=np.clip(losses, 0, largest),
        n_samples=sums.n_samples,
        is_binary=target.is_binary,
        second_moments=moments,
        amplitudes=amplitudes,
        second_harmonics=harmonics,
        rounding=float(sums.loss_rounding.max()),
        log_prior=log_prior,
        constants=constants or {},
    )


def certified_weights(
    of: str, posterior: FloatArray, kept: IntArray, kept_weights: FloatArray
) -> FloatArray:
    """Return the posterior to certify: the whole one, or that of the kept frequencies.

    Parameters
    ----------
    of : {"deployed", "posterior"}
    posterior : array of shape (n_candidates,)
    kept : array of shape (n_frequencies,)
        Indices of the kept frequencies among the candidates.
    kept_weights : array of shape (n_frequencies,)
    """
    if of == "posterior":
        return posterior
    if of != "deployed":
        raise ValueError(f"of must be one of ('deployed', 'posterior'), got {of!r}.")
    return np.asarray(np.bincount(kept, kept_weights, minlength=len(posterior)), dtype=np.float64)


def particle_log_prior(
    log_weights: FloatArray, potentials: FloatArray, log_evidence: float
) -> FloatArray:
    r"""Return the logarithms of the measure that the particles of a sampler put on themselves.

    .. math:: \hat P = \hat Z \sum_k W_k e^{V(\theta_k)} \delta_{\theta_k}, \qquad
              \mathbb{E}_{run} \hat P = P ,

    because a run from the prior P to :math:`P e^{-V}` is unbiased:
    :math:`\mathbb{E}_{run}[\hat Z \sum_k W_k g(\theta_k)] = \mathbb{E}_P[e^{-V} g]` for every g,
    and in particular for :math:`g = e^{V + B}`. So an exponential moment
    :math:`\mathbb{E}_S \mathbb{E}_P e^{B} \le 1` also holds for :math:`\hat P`, over sample and
    run. The bound that follows from it holds for all weights r of the particles with the
    divergence

    .. math:: \sum_k r_k \ln\frac{r_k}{\hat P_k} = -\ln \hat Z - \sum_k r_k V(\theta_k)
              + \mathrm{KL}(r \Vert W) .
    """
    return log_evidence + log_weights + potentials


def bounds_to_try(bound: str | BoundRecord, quantities: Quantities) -> tuple[BoundRecord, ...]:
    """Return the bounds to try: those of "auto" or "anytime" in their order, or the one named."""
    if isinstance(bound, BoundRecord):
        return (bound,)
    if bound in ("auto", "anytime"):
        offered = [each for each in RECORDS.values() if each.anytime == (bound == "anytime")]
        usual = [record for record in offered if _is_usual(record, quantities)]
        return tuple(sorted(usual, key=attrgetter("auto.rank")))
    if not isinstance(bound, str) or bound not in RECORDS:
        raise ValueError(
            f"bound must be 'auto', 'anytime' or one of {_names(quantities)}, or a BoundRecord, "
            f"got {bound!r}."
        )
    return (RECORDS[bound],)


def best_bound(
    quantities: Quantities, records: tuple[BoundRecord, ...], epsilon: float
) -> tuple[BoundRecord, Bound]:
    """Return the record and the value of the smallest of several bounds.

    Each of them gets an equal share of epsilon. By the union bound, all of them hold together with
    probability 1 - epsilon.
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon must be in (0, 1), got {epsilon!r}.")
    share = epsilon / len(records)
    values = [(record, _value(record, quantities, share)) for record in records]
    return min(values, key=lambda item: item[1].value)


def default_bound(evidence: Evidence, posterior: FloatArray, epsilon: float) -> float:
    """Return the value of the bound that "auto" finds for a posterior."""
    quantities = evidence.quantities(posterior)
    return best_bound(quantities, bounds_to_try("auto", quantities), epsilon)[1].value


def _is_known(name: str, quantities: Quantities) -> bool:
    value = quantities.get(name)
    return value is not None and value is not False


def _is_usual(record: BoundRecord, quantities: Quantities) -> bool:
    return (
        record.auto is not None
        and all(_is_known(name, quantities) for name in record.auto.known)
        and not any(_is_known(name, quantities) for name in record.auto.unknown)
    )


def _value(record: BoundRecord, quantities: Quantities, epsilon: float) -> Bound:
    if not _covers(record, quantities):
        raise ValueError(
            f"bound must be 'auto' or one of {_names(quantities)}, or a BoundRecord with 'pairs' "
            f"in its needs, because the loss is a mean over points, got {record.name!r}."
        )
    if quantities.get("sampled") and not record.exponential:
        raise ValueError(
            f"bound={record.name!r} needs candidates drawn from the prior, but a sampler moved "
            "them: use bound='auto', or a bound with an exponential moment, such as 'kl'."
        )
    missing = [name for name in record.needs if quantities.get(name) is None]
    missing += [name for name in record.requires if not _is_known(name, quantities)]
    if missing:
        advice = record.advice or f"{', '.join(missing)}, which this model does not know."
        raise ValueError(f"bound={record.name!r} needs {advice}")
    return record.function(epsilon=epsilon, **{name: quantities[name] for name in record.needs})


def _names(quantities: Quantities) -> tuple[str, ...]:
    """Return the names of the bounds that cover this kind of mean."""
    return tuple(name for name, record in RECORDS.items() if _covers(record, quantities))


def _covers(record: BoundRecord, quantities: Quantities) -> bool:
    return quantities["pairs"] or "pairs" in record.needs
