"""The certificate of a map or a predictor in a pipeline, with a look at the steps before it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer, PolynomialFeatures

from pacfourier.estimators.fourier_predictor import FourierPredictor
from pacfourier.estimators.rff import RFF
from pacfourier.pacbayes.assumptions import Assumption, Duplicates
from pacfourier.pacbayes.certificate import Certificate
from pacfourier.pacbayes.prediction_certificate import PredictionCertificate

# Fitting these looks at the number of columns at most. A subclass may do more.
LEARN_NOTHING = (Binarizer, FeatureHasher, HashingVectorizer, Normalizer, PolynomialFeatures)
SOURCES = ("these rows", "other rows")


def certify(
    pipeline: Pipeline,
    X: Any = None,
    y: Any = None,
    *,
    epsilon: float = 0.05,
    steps_fitted_on: str = "these rows",
    duplicates: Duplicates = None,
) -> Certificate | PredictionCertificate:
    """Return the certificate of a step of a fitted pipeline, and check the steps before it.

    A certificate holds for rows that are independent draws. A step that learns from the rows, such
    as a scaler, makes every row depend on all others, and one that learns from labels, such as
    ``LinearDiscriminantAnalysis``, can make noise look like a signal. The map cannot see this, and
    a predictor cannot see that such a step has seen the rows that it holds out.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        A fitted pipeline. One of its steps is a map with a certificate, or its last step is a
        predictor that was fitted with ``certify``. Steps after a map, such as a classifier, do not
        matter.
    X : array-like of shape (n_samples, n_features), default=None
        The rows, before any step. Only a map that ignores labels needs them, which is ``RFF``.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        The labels, needed as X is.
    epsilon : float, default=0.05
        Probability, over the sample, that the bound fails.
    steps_fitted_on : {"these rows", "other rows"}, default="these rows"
        Say "other rows" if the steps before it were fitted on rows that neither the map nor the
        predictor has seen. Otherwise they may not learn anything.
    duplicates : {None, "genuine"}, default=None
        What repeated rows are, as in ``PBRFF.certificate``. A predictor was told before.

    Returns
    -------
    certificate : Certificate, ClassificationCertificate or RegressionCertificate
        The certificate of the step, with the assumption "steps" added. If a step before it learned
        from its rows, the bounds raise an error that says how to fix it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Normalizer, StandardScaler
    >>> from pacfourier import PBRFF, certify
    >>> X, y = load_wine(return_X_y=True)
    >>> pipeline = make_pipeline(Normalizer(), PBRFF(10, random_state=0)).fit(X, y)
    >>> certify(pipeline).assumptions[-1].status
    'holds'
    >>> pipeline = make_pipeline(StandardScaler(), PBRFF(10, random_state=0)).fit(X, y)
    >>> certify(pipeline).assumptions[-1].status
    'violated'
    """
    if steps_fitted_on not in SOURCES:
        raise ValueError(f"steps_fitted_on must be one of {SOURCES}, got {steps_fitted_on!r}.")
    place = _place_of_certificate(pipeline)
    feature_map, before = pipeline[place], pipeline[:place]
    certificate: Any
    if isinstance(feature_map, FourierPredictor):
        certificate = replace(feature_map.certificate_, epsilon=epsilon)
    elif isinstance(feature_map, RFF):
        if X is None or y is None:
            raise ValueError("X and y must be given for RFF, which ignores labels, got None.")
        certificate = feature_map.certificate(
            epsilon, X=before.transform(X), y=y, duplicates=duplicates
        )
    else:
        certificate = feature_map.certificate(epsilon, duplicates=duplicates)
    assumption = step_assumption(
        list(_single_steps(before)),
        steps_fitted_on,
        is_predictor=isinstance(feature_map, FourierPredictor),
    )
    return replace(certificate, assumptions=(*certificate.assumptions, assumption))


def _place_of_certificate(pipeline: Pipeline) -> int:
    if not isinstance(pipeline, Pipeline):
        raise ValueError(f"pipeline must be a Pipeline, got {type(pipeline).__name__}.")
    names = ("certificate", "certificate_")
    places = [
        at
        for at, (_, step) in enumerate(pipeline.steps)
        if any(hasattr(step, name) for name in names)
    ]
    if len(places) != 1:
        raise ValueError(
            f"pipeline must have one step with a certificate, got {len(places)} in the steps "
            f"{list(pipeline.named_steps)}."
        )
    return places[0]


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


def step_assumption(steps: list[Any], fitted_on: str, *, is_predictor: bool = False) -> Assumption:
    """Return whether the steps before a map or a predictor have learned nothing from its rows."""
    what = "predictor" if is_predictor else "map"
    names = ", ".join(type(step).__name__ for step in steps)
    functions = [step for step in steps if type(step) is FunctionTransformer]
    learned = [step for step in steps if type(step) not in (*LEARN_NOTHING, FunctionTransformer)]
    if not steps:
        return Assumption("steps", "holds", f"there is no step before the {what}.")
    if fitted_on == "other rows":
        reason = (
            f"the steps before the {what} ({names}) were fitted on other rows, with other labels."
        )
        return Assumption("steps", "declared", reason)
    if learned:
        guilty = ", ".join(type(step).__name__ for step in learned)
        fresh = (
            "Call certify_predictions(pipeline, X_new, y_new), which certifies all steps on new "
            "rows. Or fit"
        )
        reason = (
            f"{guilty} may learn from the rows of the {what}. {fresh if is_predictor else 'Fit'} "
            f"the steps before the {what} on other rows and say steps_fitted_on='other rows', or "
            "use steps that learn nothing."
        )
        return Assumption("steps", "violated", reason)
    if functions:
        reason = (
            f"the functions in the steps before the {what} ({names}) do not depend on the rows."
        )
        return Assumption("steps", "declared", reason)
    return Assumption("steps", "holds", f"the steps before the {what} ({names}) learn nothing.")
