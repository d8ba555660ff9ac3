"""From a fitted estimator to its certificate: evidence, and the state of its assumptions."""

from numbers import Real

import numpy as np

from pacfourier.core.targets import ClassTarget, ContinuousTarget
from pacfourier.pacbayes.certificate import Assumption, Certificate
from pacfourier.pacbayes.divergences import kl_divergence
from pacfourier.pacbayes.evidence import Evidence, best_bound

# Losses in single precision were never seen off by more than 1e-6: see the tests.
SINGLE_ROUNDING = 1e-5


def alignment_evidence(sums, target, *, is_binary, mu=2.0, inverse_temperature=None):
    """Return what the sums of a sample say of every candidate frequency."""
    is_classes = isinstance(target, ClassTarget)
    amplitudes, harmonics = signed_waves(sums) if is_binary else (None, None)
    return Evidence(
        losses=sums.losses(target.agreement(sums.totals)),
        n_samples=sums.n_samples,
        is_binary=is_binary,
        second_moments=sums.second_moments() if is_classes else None,
        amplitudes=amplitudes,
        harmonics=harmonics,
        mu=mu,
        inverse_temperature=inverse_temperature,
    )


def signed_waves(sums):
    r"""Return the first and second harmonics of two classes.

    With :math:`\hat m = \frac1n \sum_i y_i e^{i \omega \cdot x_i}`: its length, and the mean of
    :math:`\cos 2 (\omega \cdot x_i - \arg \hat m)`.
    """
    mean = (sums.waves[1] - sums.waves[0]) / sums.n_samples
    amplitudes = np.abs(mean)
    direction = np.divide(mean, amplitudes, where=amplitudes > 0, out=np.ones_like(mean))
    harmonics = (sums.harmonics / sums.n_samples * direction.conj() ** 2).real
    return amplitudes, harmonics


def certificate_of(estimator, posterior, evidence, *, sums, target, summary, epsilon, bound, of):
    """Return the certificate of a posterior over an estimator's candidates."""
    candidates = evidence.default_bounds if bound == "auto" else (bound,)
    name, details = best_bound(posterior, evidence, epsilon, candidates)
    assumptions = (
        _sample_assumption(summary, sums.is_weighted),
        _prior_assumption(estimator),
        _input_assumption(summary),
        _loss_assumption(target),
        _label_assumption(evidence.is_binary),
        _object_assumption(of),
    )
    return Certificate(
        empirical_loss=float(posterior @ evidence.losses),
        divergence=kl_divergence(posterior),
        n_samples=evidence.n_samples,
        epsilon=epsilon,
        bound=name,
        candidates=candidates,
        of=of,
        ceiling=0.5 if evidence.is_binary else 1.0,
        rounding=0.0 if sums.is_exact else SINGLE_ROUNDING,
        details=details,
        assumptions=assumptions,
    )


def _sample_assumption(summary, is_weighted):
    if is_weighted:
        reason = "samples were weighted: fit without sample_weight."
    elif summary.n_repeated and not summary.is_integral:
        reason = f"{summary.n_repeated} rows repeat earlier ones: keep the originals only."
    else:
        return Assumption("sample", "declared", "rows are independent draws from one law.")
    return Assumption("sample", "violated", reason)


def _prior_assumption(estimator):
    gamma = estimator.gamma if isinstance(estimator.spectrum, str) else "the spectrum"
    if isinstance(gamma, str) and gamma in ("scale", "median"):
        reason = (
            f"gamma={gamma!r} was computed from the sample: use gamma='multiscale', or a number "
            "chosen on a separate split."
        )
        return Assumption("prior", "violated", reason)
    if isinstance(gamma, str) and gamma == "multiscale":
        reason = "ten bandwidths fixed in advance, in one prior; candidates drawn once."
        return Assumption("prior", "holds", reason)
    named = f"gamma={gamma:g}" if isinstance(gamma, Real) else gamma
    reason = f"{named} was not chosen by looking at this sample, nor by a search on it."
    return Assumption("prior", "declared", reason)


def _input_assumption(summary):
    if summary.is_standardised:
        found = "every column has mean 0 and variance 1 on this very sample"
    elif summary.is_range_scaled:
        found = "every column reaches exactly 1 on this very sample"
    else:
        return Assumption("inputs", "declared", "no transform of X was fitted on this sample.")
    repair = "fit the scaler on a separate split, or use a fixed transform."
    return Assumption("inputs", "violated", f"{found}: {repair}")


def _loss_assumption(target):
    if isinstance(target, ContinuousTarget):
        reason = "numbers were centred and scaled on the sample itself: cut them into classes."
        return Assumption("loss", "violated", reason)
    return Assumption("loss", "holds", "in [0, 1], fixed in advance.")


def _label_assumption(is_binary):
    if is_binary:
        return Assumption("labels", "declared", "the label space has two elements.")
    return Assumption("labels", "holds", "any number of classes; labels='binary' may be tighter.")


def _object_assumption(of):
    if of == "deployed":
        return Assumption("object", "holds", "the kernel of transform() itself is certified.")
    return Assumption("object", "declared", "kernel() is deployed, not transform().")
