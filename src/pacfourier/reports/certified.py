"""What is certified about a fit, in plain words."""

from typing import TYPE_CHECKING, TypeAlias

from pacfourier.bounds._result import rounded_up
from pacfourier.pacbayes.prediction_certificate import (
    USUAL_COVERAGE,
    ClassificationCertificate,
    RegressionCertificate,
    shortened_up,
)

if TYPE_CHECKING:
    from pacfourier.tabular.model import TableFit

__all__ = ["NOT_CERTIFIED", "certified_meaning", "valid_certificate"]

NOT_CERTIFIED = (
    "The numbers below were observed on rows that the model was not learned from. They guarantee "
    "nothing for new rows."
)
PredictorCertificate: TypeAlias = ClassificationCertificate | RegressionCertificate


def valid_certificate(fit: "TableFit") -> PredictorCertificate | None:
    """Return the certificate of a fit; None if there is none, or if it is refused."""
    certificate = fit.certificate
    if certificate is None or certificate.violations or not fit.model.record["is_certified"]:
        return None
    return certificate


def certified_meaning(certificate: PredictorCertificate) -> str:
    """Return what a certificate says about new rows."""
    if isinstance(certificate, ClassificationCertificate):
        claim, seen = _classes_claim(certificate)
    else:
        claim, seen = _amounts_claim(certificate)
    return (
        f"{claim} This holds with probability {1 - certificate.epsilon:g} over the "
        f"{certificate.n_samples:,} rows that were kept apart to certify the model. {seen}"
    )


def _classes_claim(certificate: ClassificationCertificate) -> tuple[str, str]:
    share = f"{rounded_up(100 * certificate.error, 2)} %"
    observed = f"{100 * certificate.observed_error:.2f} %"
    return (
        f"Of new rows like these, at most {share} are predicted wrongly.",
        f"On the rows that certify the model, {observed} were.",
    )


def _amounts_claim(certificate: RegressionCertificate) -> tuple[str, str]:
    width, share = shortened_up(certificate.half_width()), f"{100 * USUAL_COVERAGE:g} %"
    mean = f"{certificate.absolute_errors.mean():.4g}"
    return (
        f"For at least {share} of new rows like these, the true value lies within {width} of the "
        "prediction.",
        f"On the rows that certify the model, the mean absolute error was {mean}.",
    )
