"""The certificate of any fitted predictor, map or pipeline: on fresh rows, or on the fit's."""

from collections.abc import Iterator
from dataclasses import replace
from reprlib import repr as shortened
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer, PolynomialFeatures
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from pacfourier.bounds import BoundRecord
from pacfourier.core.alignment.summary import SampleSummary, sample_summary
from pacfourier.core.alignment.targets import TargetType, target_of
from pacfourier.data.holdout import Kinship, kinship_of, one_of_each
from pacfourier.data.samples import Block, dense_labels, validated
from pacfourier.estimators.base import FourierMap
from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.estimators.frames import taken
from pacfourier.estimators.frozen_kernels import frozen_kernel
from pacfourier.estimators.prediction_certificates import (
    check_predictor,
    checked_labels,
    prediction_certificate,
    row_summary,
)
from pacfourier.estimators.rff import RFF
from pacfourier.pacbayes.assumptions import Assumption, Duplicates
from pacfourier.pacbayes.certificate import Certificate
from pacfourier.pacbayes.holdout import FreshRows, FrozenKernel, frozen_certificate
from pacfourier.pacbayes.prediction_certificate import PredictionCertificate

# Fitting these looks at the number of columns at most. A subclass may do more.
_LEARN_NOTHING = (Binarizer, FeatureHasher, HashingVectorizer, Normalizer, PolynomialFeatures)
# The seed with which the row of each group is chosen.
_SEED = 8_116_230_447


def certify(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    epsilon: float = 0.05,
    groups: Any = None,
    time: Any = None,
    duplicates: Duplicates = None,
    bound: str | BoundRecord = "auto",
    target_type: str | TargetType | None = None,
) -> Certificate | PredictionCertificate:
    """Return the certificate of any fitted predictor, map, pipeline or search.

    With rows it is about these rows. It does not matter what the model is and how it was chosen, as
    long as they had no part in it: keep them apart before you start, and use them once. Without
    rows it is about the rows of the fit, and the steps before the map or predictor are looked at: a
    step that learns from the rows, such as a scaler, makes every row depend on all others.

    What ends in a predictor has bounds on its errors, and what ends in a map has a bound on the
    alignment loss of its kernel.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor of scikit-learn or in its style, a Fourier map, or a
        ``Pipeline`` or ``GridSearchCV`` that ends in one.
    X : array-like, sparse matrix, data frame or tensor of shape (n_samples, n_features), \
            default=None
        Rows that nothing was learned from, drawn from the distribution of new data, as they are
        before any step of the model. None is for maps with a certificate of their own, and for
        predictors that were fitted with ``certify``.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Their labels.
    epsilon : float, default=0.05
        Probability, over the rows, that a bound fails.
    groups : array-like of shape (n_samples,), default=None
        The group of each row, such as a patient. One random row of each counts, and the certificate
        is about random rows of random new groups. No row of these groups may have been learned
        from. The name of a Series is the name of the groups in texts.
    time : array-like of shape (n_samples,), default=None
        When each row was taken, as numbers or dates. The certificate is then about this period.
    duplicates : {None, "genuine"}, default=None
        What repeated rows are, as in ``PBRFF.certificate``. A predictor without X was told before.
    bound : {"auto", "anytime", "betting", "first_order", "chernoff", "unexpected_bernstein", \
            "anytime_bernstein", "kl"} or BoundRecord, default="auto"
        For the kernel of a map. Name it before you see the value of any. Without X it is that of
        ``PBRFF.certificate``. With X:

        - "betting": the smallest in most cases. It holds at any number of rows, so you may add
          rows until the value is good. Needs labels declared binary and a map learned from labels.
        - "first_order": needs the same, and only two moments of the rows.
        - "chernoff": for any labels.
        - "unexpected_bernstein": for classes; small if most values of the kernel are near zero.
        - "anytime_bernstein": the same at any number of rows, for a small price.
        - "kl": never smaller than "chernoff".
        - "auto": "betting" if it is possible, else "unexpected_bernstein" for classes, else
          "chernoff". The values do not influence this choice.
        - "anytime": "betting" if it is possible, else "anytime_bernstein".
    target_type : str or TargetType, default=None
        For the kernel of a map, with X: what y holds, as in ``PBRFF``. None means what the map was
        told. Declare "binary" if y can only have two values.

    Returns
    -------
    certificate : ClassificationCertificate, RegressionCertificate or Certificate
        For a classifier: ``error``, ``recall``, ``precision`` and ``abstention``. For a regressor:
        ``half_width``, ``exceedance`` and ``mean_absolute_error``. For a map: ``value``. If an
        assumption is violated, they raise an error that says how to fix it.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from pacfourier import PBRFF, certify
    >>> X, y = load_digits(return_X_y=True)
    >>> model = RandomForestClassifier(random_state=0).fit(X[:900], y[:900])
    >>> certificate = certify(model, X[900:], y[900:])
    >>> bool(certificate.observed_error < certificate.error < 0.1)
    True
    >>> feature_map = PBRFF(10, random_state=0).fit(X[:900], y[:900])
    >>> bool(certify(feature_map, X[900:], y[900:]).value < certify(feature_map).value)
    True
    """
    last, before = _unchained(model)
    if X is None:
        _check_omitted("without X", y=y, groups=groups, time=time, target_type=target_type)
        own = _own_certificate(last, epsilon, bound, duplicates)
        steps = [single for each in before for single in _single_steps(each)]
        looked_at = () if last is model else (_step_assumption(steps, own),)
        return replace(own, assumptions=(*own.assumptions, *looked_at))
    if y is None:
        raise ValueError("y must be given with X, got None: a certificate needs labels.")
    block, kinship = _counted_rows(X, y, groups, time)
    if isinstance(last, FourierMap):
        kernel = _kernel_on_rows(last, before, block, kinship, target_type)
        return frozen_certificate(kernel, epsilon=epsilon, bound=bound, duplicates=duplicates)
    _check_omitted("for a predictor", bound=_unusual(bound), target_type=target_type)
    check_predictor(model)
    rows = _rows_of_predictor(last, before, block, kinship)
    return prediction_certificate(model, *block[:2], rows, epsilon=epsilon, duplicates=duplicates)


def _unchained(model: Any) -> tuple[Any, list[Any]]:
    """Return the last step of a model, and what comes before: pipelines of steps, and searches."""
    before: list[Any] = []
    while True:
        if isinstance(model, Pipeline):
            before += [model[:-1]] if len(model) > 1 else []
            model = model[-1]
        elif hasattr(model, "best_estimator_"):
            before.append(model)
            model = model.best_estimator_
        else:
            return model, before


def _own_certificate(
    last: Any, epsilon: float, bound: str | BoundRecord, duplicates: Duplicates
) -> Any:
    """Return the certificate of a map or predictor that is about the rows of its fit."""
    if hasattr(last, "certificate_"):
        _check_omitted("for a predictor without X", bound=_unusual(bound), duplicates=duplicates)
        return replace(last.certificate_, epsilon=epsilon)
    if hasattr(last, "certificate") and not isinstance(last, RFF):
        return last.certificate(epsilon, bound=bound, duplicates=duplicates)
    fit = ", or fit it with certify=True" if isinstance(last, FourierPredictor) else ""
    raise ValueError(
        f"X and y must be given for {type(last).__name__}, got None: its fit left no certificate. "
        f"Call certify(model, X_new, y_new) with rows that nothing was learned from{fit}."
    )


def _check_omitted(case: str, **given: Any) -> None:
    """Raise ValueError if an argument was given that has no meaning in a case."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} must be left out {case}, got {shortened(value)}.")


def _unusual(bound: str | BoundRecord) -> str | BoundRecord | None:
    return None if bound == "auto" else bound


def _counted_rows(X: Any, y: Any, groups: Any, time: Any) -> tuple[Block, Kinship]:
    """Return the rows that count, which are one of each group, and how they are related."""
    labels = checked_labels(y)
    check_consistent_length(X, labels)
    kinship = kinship_of(X, groups, time)
    if kinship.groups is None:
        return Block(X, labels), kinship
    samples = np.random.default_rng(_SEED).random(len(labels))
    rows = one_of_each(kinship.groups, samples)
    return Block(taken(X, rows), labels[rows]), kinship.taken(rows)


def _transformed(before: list[Any], X: Any) -> Any:
    """Return rows as the steps before the last one leave them."""
    for each in before:
        X = each.transform(X) if isinstance(each, Pipeline) else X
    return X


def _rows_of_predictor(last: Any, before: list[Any], block: Block, kinship: Kinship) -> FreshRows:
    """Return what rows are that a user passes, beside the rows of the fit that a model remembers.

    Fourier predictors remember fingerprints of their rows, as the steps before leave them.
    """
    summary, known = row_summary(*block[:2]), getattr(last, "_summary", None)
    law: dict[str, Any] = {"group": kinship.group, "period": kinship.period}
    if not isinstance(known, SampleSummary):
        return FreshRows(summary, **law)
    seen = row_summary(_transformed(before, block.X), block.y) if before else summary
    return FreshRows(summary, known, seen, **law)


def _kernel_on_rows(
    last: Any,
    before: list[Any],
    block: Block,
    kinship: Kinship,
    target_type: str | TargetType | None,
) -> FrozenKernel:
    """Return what the rows that a user passes say about the kernel of a map.

    Fourier maps remember fingerprints of their rows, as the steps before leave them.
    """
    check_is_fitted(last)
    X, y = validated(
        _transformed(before, block.X), last, block.y, reset=False, multi_output=True,
        ensure_min_samples=2,
    )  # fmt: skip
    y = dense_labels(y)
    declared = getattr(last, "target_type", "auto") if target_type is None else target_type
    target = target_of(y, declared, getattr(last, "classes_", None))
    seen = sample_summary(X, target.encode(y))
    rows = FreshRows(
        row_summary(*block[:2]) if before else seen,
        getattr(last, "_summary", None),
        seen,
        group=kinship.group,
        period=kinship.period,
    )
    return frozen_kernel(last, Block(X, y), target, rows)


def _single_steps(step: Any) -> Iterator[Any]:
    """Yield the transformers in nested pipelines, unions and column transformers.

    Steps that do nothing are left out.
    """
    if isinstance(step, Pipeline):
        inner = [each for _, each in step.steps]
    elif isinstance(step, FeatureUnion):
        inner = [each for _, each in step.transformer_list]
    elif isinstance(step, ColumnTransformer):
        inner = [each for _, each, _ in step.transformers_]
    else:
        if not _does_nothing(step):
            yield step
        return
    for each in inner:
        yield from _single_steps(each)


def _does_nothing(step: Any) -> bool:
    # A fitted union writes "passthrough" as a transformer without a function.
    is_identity = type(step) is FunctionTransformer and step.func is None
    return step is None or isinstance(step, str) or is_identity


def _step_assumption(steps: list[Any], own: Certificate | PredictionCertificate) -> Assumption:
    """Return whether the steps before a map or a predictor have learned nothing from its rows."""
    what = "predictor" if isinstance(own, PredictionCertificate) else "map"
    names = ", ".join(type(step).__name__ for step in steps)
    functions = [step for step in steps if type(step) is FunctionTransformer]
    learned = [step for step in steps if type(step) not in (*_LEARN_NOTHING, FunctionTransformer)]
    if not steps:
        return Assumption("steps", "holds", f"there is no step before the {what}.")
    if learned:
        guilty = ", ".join(type(step).__name__ for step in learned)
        reason = (
            f"{guilty} may learn from the rows of the {what}. Call certify(model, X_new, y_new) "
            "with rows that no step has seen, or use steps that learn nothing."
        )
        return Assumption("steps", "violated", reason)
    if functions:
        reason = (
            f"the functions in the steps before the {what} ({names}) do not depend on the rows."
        )
        return Assumption("steps", "declared", reason)
    return Assumption("steps", "holds", f"the steps before the {what} ({names}) learn nothing.")
