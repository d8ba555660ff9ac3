"""From a fitted estimator to its certificate: evidence, and the state of its assumptions."""

from numbers import Real

import numpy as np

from pacfourier.bounds._landmarks import mixture_divergence
from pacfourier.core.alignment.summary import row_fingerprints
from pacfourier.pacbayes.certificate import Assumption, Certificate
from pacfourier.pacbayes.divergences import kl_divergence
from pacfourier.pacbayes.evidence import Evidence, best_bound, landmark_bound

# More repeated rows than that are no coincidence of rounded measurements.
LARGEST_REPEATED_SHARE = 0.01


def alignment_evidence(sums, target, **constants):
    """Return what the sums of a sample say of every candidate frequency, rounded outward.

    The constants are those of single bounds, ``mu`` and ``inverse_temperature``, and the
    ``log_prior`` of candidates that a sampler made.
    """
    is_classes, is_binary = target.has_sign_agreements, target.is_binary
    amplitudes, harmonics = signed_waves(sums) if is_binary else (None, None)
    losses = sums.losses(target.agreement(sums.totals)) + sums.rounding
    return Evidence(
        losses=np.clip(losses, 0, _largest_loss(sums.n_samples) if is_binary else 1),
        n_samples=sums.n_samples,
        is_binary=is_binary,
        second_moments=_second_moments(sums) if is_classes else None,
        amplitudes=amplitudes,
        harmonics=harmonics,
        rounding=float(sums.rounding.max()),
        **constants,
    )


def deployed_weights(model):
    """Return the weights of the kept frequencies, as a posterior over all of the pool."""
    return np.bincount(model.kept_, model.frequency_weights_, minlength=len(model.pool_))


def _largest_loss(n_samples):
    """Return n / (2 (n - 1)), the loss of two classes that no wave tells apart."""
    return n_samples / (2 * (n_samples - 1))


def _second_moments(sums):
    return np.clip(sums.second_moments() + sums.rounding, 0, 0.25)


def signed_waves(sums):
    r"""Return the first and second harmonics of two classes, rounded outward.

    With :math:`\hat m = \frac1n \sum_i y_i e^{i \omega \cdot x_i}`: its length, and the mean of
    :math:`\cos 2 (\omega \cdot x_i - \arg \hat m)`, at least twice the squared length less one.
    Samples may all have one weight, which the waves carry and the harmonics do not.
    """
    mean = (sums.waves[1] - sums.waves[0]) / sums.weight
    lengths = np.abs(mean)
    direction = np.divide(mean, lengths, where=lengths > 0, out=np.ones_like(mean))
    harmonics = (sums.harmonics / sums.n_samples * direction.conj() ** 2).real
    amplitudes = np.clip(lengths - sums.rounding, 0, 1)
    # The harmonic itself, and the direction it is turned by, which a short mean hardly fixes.
    slack = 2 * sums.rounding * (1 + 2 / np.maximum(lengths, np.finfo(float).tiny))
    return amplitudes, np.clip(harmonics + slack, 2 * amplitudes**2 - 1, 1)


def certificate_of(
    estimator,
    posterior,
    evidence,
    *,
    sums,
    target,
    summary,
    epsilon,
    bound,
    of,
    more_assumptions=(),
):
    """Return the certificate of a posterior over an estimator's candidates."""
    candidates = evidence.default_bounds if bound == "auto" else (bound,)
    name, details = best_bound(posterior, evidence, epsilon, candidates)
    assumptions = (
        _sample_assumption(summary),
        _prior_assumption(estimator.prior_source_),
        _input_assumption(summary),
        _loss_assumption(target),
        _label_assumption(evidence.is_binary),
        _constant_assumption(name),
        _object_assumption(of),
        *more_assumptions,
    )
    return Certificate(
        empirical_loss=float(posterior @ sums.losses(target.agreement(sums.totals))),
        divergence=evidence.divergence(posterior),
        n_samples=evidence.n_samples,
        epsilon=epsilon,
        bound=name,
        candidates=candidates,
        of=of,
        ceiling=0.5 if evidence.is_binary else 1.0,
        rounding=float(posterior @ sums.rounding),
        details=details,
        assumptions=assumptions,
    )


def _sample_assumption(summary):
    share = summary.repeated_share
    is_repeated = share > LARGEST_REPEATED_SHARE and not summary.is_integral.all()
    if summary.is_weighted:
        return Assumption("sample", "violated", "it was weighted: fit without sample_weight.")
    if is_repeated or summary.is_multiplied:
        reason = f"{share:.1%} of the rows repeat others: keep the originals only."
        return Assumption("sample", "violated", reason)
    reason = f"rows are independent draws from one law ({share:.1%} of them repeat others)."
    return Assumption("sample", "declared", reason)


def _prior_assumption(source):
    if isinstance(source, str) and source in ("scale", "median"):
        reason = (
            f"gamma={source!r} was computed from the sample: use gamma='multiscale', or a number "
            "chosen on a separate split."
        )
        return Assumption("prior", "violated", reason)
    if isinstance(source, str) and source == "multiscale":
        reason = "ten bandwidths fixed in advance; no other setting of the prior was searched."
        return Assumption("prior", "declared", reason)
    named = f"gamma={source:g}" if isinstance(source, Real) else "the spectrum"
    reason = f"{named} was not chosen by looking at this sample, nor by a search on it."
    return Assumption("prior", "declared", reason)


def _input_assumption(summary):
    if summary.is_standardised:
        found = "a column has mean 0 and variance 1 on this very sample"
    elif summary.is_range_scaled:
        found = "every column reaches exactly 1 on this very sample"
    else:
        return Assumption("inputs", "declared", "no transform of X was fitted on this sample.")
    repair = "fit the scaler on a separate split, or use a fixed transform."
    return Assumption("inputs", "violated", f"{found}: {repair}")


def _loss_assumption(target):
    if not target.is_fixed_in_advance:
        reason = "numbers were centred and scaled on the sample itself: cut them into classes."
        return Assumption("loss", "violated", reason)
    return Assumption("loss", "holds", "in [0, 1], fixed in advance.")


def _label_assumption(is_binary):
    if is_binary:
        return Assumption("labels", "declared", "the label space has two elements.")
    return Assumption(
        "labels", "holds", "any number of classes; target_type='binary' may be tighter."
    )


def _constant_assumption(bound):
    constant = {"localised": "beta", "f_divergence": "mu"}.get(bound)
    if constant is None:
        return Assumption("constants", "holds", "fixed in the bound, or a grid that is paid for.")
    return Assumption("constants", "declared", f"{constant} was fixed before the sample was seen.")


def _object_assumption(of):
    if of == "deployed":
        return Assumption("object", "holds", "the kernel of transform() itself is certified.")
    return Assumption("object", "declared", "kernel() is deployed, not transform().")


def landmark_certificate(model, rows, universe, *, waves, epsilon, bound, of, more_assumptions=()):
    """Return the certificate of the mean loss of some landmarks.

    The hypothesis is a pair (landmark, frequency); ``universe`` counts the landmarks that the
    choice could have fallen on, by any rule.
    """
    posteriors = model.posterior_[rows]
    divergences = [kl_divergence(posterior) for posterior in posteriors]
    divergence = float(np.mean(divergences))
    if universe > len(rows):
        weights = np.full(len(rows), 1 / len(rows))
        divergence = mixture_divergence(weights=weights, divergences=divergences, n_train=universe)
    loss = float(np.mean(np.sum(posteriors * waves.losses[rows], axis=1)))
    moment = float(np.mean(np.sum(posteriors * waves.second_moments[rows], axis=1)))
    # The landmark's own phases are exact: one factor is rounded, not two.
    rounding = float(np.mean(np.sum(posteriors * waves.rounding[rows], axis=1)))
    name = "unexpected_bernstein" if bound == "auto" else bound
    details = landmark_bound(
        name,
        loss=min(loss + rounding, 1.0),
        divergence=divergence,
        second_moment=min(moment + rounding, 0.25),
        n_others=int(waves.n_others[rows].min()),
        n_hypotheses=posteriors.shape[1],
        epsilon=epsilon,
    )
    assumptions = (
        _sample_assumption(model.summary_),
        _prior_assumption(model.prior_source_),
        _input_assumption(model.summary_),
        _landmark_assumption(model),
        _loss_assumption(model.target_),
        *more_assumptions,
    )
    return Certificate(
        empirical_loss=loss,
        divergence=divergence,
        n_samples=model.sums_.n_samples,
        epsilon=epsilon,
        bound=name,
        candidates=(name,),
        of=of,
        ceiling=1.0,
        rounding=rounding,
        details=details,
        assumptions=assumptions,
    )


def _landmark_assumption(model):
    points = row_fingerprints(model.landmarks_)
    are_samples = model.is_sample_.all() and len(np.unique(points)) == len(points)
    if model.landmark_source_ == "random":
        reason = "drawn without looking at the data; number and seed were not searched."
        return Assumption("landmarks", "declared", reason)
    if are_samples and model.landmark_source_ in ("given", "function"):
        reason = "samples, chosen without looking at the frequencies: the choice is paid for."
        return Assumption("landmarks", "declared", reason)
    if are_samples:
        return Assumption("landmarks", "holds", "samples, chosen by a rule that is paid for.")
    if model.landmark_source_ == "given" and not model._standing.any():
        return Assumption("landmarks", "declared", "the points do not come from this sample.")
    reason = "points were made from the sample: use landmarks='medoids' or 'random'."
    return Assumption("landmarks", "violated", reason)
