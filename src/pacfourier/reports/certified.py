"""What is certified about a fit, in plain words."""

from math import isinf
from typing import TYPE_CHECKING, TypeAlias

from pacfourier.bounds.safe_side import confidence, safely_rounded
from pacfourier.pacbayes.assumptions import new_rows
from pacfourier.pacbayes.prediction_certificate import (
    USUAL_COVERAGE,
    ClassificationCertificate,
    RegressionCertificate,
)

if TYPE_CHECKING:
    from pacfourier.tabular.model import TableFit

_NOT_CERTIFIED = (
    "The numbers below were observed on rows that the model was not learned from. They guarantee "
    "nothing for new rows."
)
_LEARNED_FROM_ALL = (
    "The errors below are those of a first model, on rows that were held out from it. They "
    "guarantee nothing for new rows. The model itself was then learned from all rows."
)
_PredictorCertificate: TypeAlias = ClassificationCertificate | RegressionCertificate


def valid_certificate(fit: "TableFit") -> _PredictorCertificate | None:
    """Return the certificate of a fit; None if there is none, or if it says nothing."""
    certificate = fit.certificate
    if not isinstance(certificate, _PredictorCertificate) or certificate.violations:
        return None
    if isinstance(certificate, RegressionCertificate) and isinf(certificate.half_width()):
        return None
    return certificate


def rows_promised(fit: "TableFit") -> str:
    """Return which rows the certified numbers of a fit are about."""
    return new_rows(fit.model.record["settings"]["group"])


def statement(fit: "TableFit") -> str:
    """Return what is certified about a fit, or what its numbers are worth without a certificate."""
    certificate = valid_certificate(fit)
    if certificate is not None:
        return _certified_meaning(certificate)
    return _LEARNED_FROM_ALL if fit.certificate is None else _NOT_CERTIFIED


def _certified_meaning(certificate: _PredictorCertificate) -> str:
    """Return what a certificate says about new rows, or about random rows of new groups."""
    if isinstance(certificate, ClassificationCertificate):
        claim, seen = _classes_claim(certificate)
    else:
        claim, seen = _amounts_claim(certificate)
    many = "" if certificate.group is None else " Each group counts once, however many rows it has."
    return (
        f"{claim}{many} This holds with probability {confidence(certificate.epsilon)} over the "
        f"{certificate.n_samples:,} rows that were held out to certify the model. {seen}"
    )


def _classes_claim(certificate: ClassificationCertificate) -> tuple[str, str]:
    share = f"{safely_rounded(100 * certificate.error, 'up', decimals=2)} %"
    observed = f"{100 * certificate.observed_error:.2f} %"
    return (
        f"Of {new_rows(certificate.group)} like these, at most {share} are predicted wrongly.",
        f"On the rows that certify the model, {observed} were.",
    )


def _amounts_claim(certificate: RegressionCertificate) -> tuple[str, str]:
    width, share = safely_rounded(certificate.half_width(), "up"), f"{100 * USUAL_COVERAGE:g} %"
    mean = f"{certificate.absolute_errors.mean():.4g}"
    return (
        f"For at least {share} of {new_rows(certificate.group)} like these, the true value lies "
        f"within {width} of the prediction.",
        f"On the rows that certify the model, the mean absolute error was {mean}.",
    )
