"""Converters of fitted estimators to ONNX, registered with skl2onnx."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pacfourier.estimators.boosted_rff import BoostedRFF
from pacfourier.estimators.fourier_classifier import FourierClassifier
from pacfourier.estimators.fourier_regressor import FourierRegressor
from pacfourier.estimators.gibbs_rff import GibbsRFF
from pacfourier.estimators.okrff import OKRFF
from pacfourier.estimators.pb_landmarks import PBLandmarks
from pacfourier.estimators.pbrff import PBRFF
from pacfourier.estimators.rbf_landmarks import RBFLandmarks
from pacfourier.estimators.rff import RFF
from pacfourier.export.expressible import check_kernel, check_single, exported_model
from pacfourier.export.onnx_graphs import (
    Graph,
    fourier_nodes,
    kernel_nodes,
    label_nodes,
    probability_nodes,
    score_nodes,
    similarity_nodes,
)
from pacfourier.extras import explain_missing_extra
from pacfourier.model.fourier_model import FourierModel, scoring_terms

# onnxruntime 1.14 and newer read this version of the operators. The oldest that works is 13.
_OPSET = 18
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "output_class_labels": [False, True],
    "raw_scores": [True, False],
}


def to_onnx(model: Any, X: Any) -> Any:
    """Return a fitted estimator or pipeline as an ONNX model.

    The graph uses version 18 of the ONNX operators and takes any number of rows. It computes in
    single precision if X is float32, and in double precision if X is float64. Classifiers return
    labels and an array of probabilities. If you want other settings, call ``register_onnx`` and
    then ``skl2onnx.to_onnx``. This function needs ``pip install "pacfourier[onnx]"``.

    Parameters
    ----------
    model : estimator, Pipeline or FourierModel
        A fitted estimator of this package, a fitted pipeline that contains one, or a fitted model.
    X : array or data frame of shape (n_samples, n_features)
        Samples whose types and columns are those of the future input. One row is enough.

    Returns
    -------
    onnx_model : onnx.ModelProto
        Write ``onnx_model.SerializeToString()`` into a file to save it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RFF(10, random_state=0).fit(X)
    >>> to_onnx(model, X[:1]).graph.output[0].name
    'variable'
    """
    register_onnx()
    from skl2onnx import to_onnx as converted

    model = _estimator_of(model) if isinstance(model, FourierModel) else model
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    options = {id(last): {"zipmap": False}} if is_classifier(last) else None
    return converted(model, X[:1], target_opset=_OPSET, options=options)


def register_onnx() -> None:
    """Teach skl2onnx to convert the estimators of this package, also inside pipelines.

    Call it once before ``skl2onnx.to_onnx`` or ``skl2onnx.convert_sklearn``. This function needs
    ``pip install "pacfourier[onnx]"``.
    """
    with explain_missing_extra():
        from skl2onnx import update_registered_converter

    for kind in (RFF, PBRFF, OKRFF, GibbsRFF, BoostedRFF, RBFLandmarks, PBLandmarks):
        update_registered_converter(kind, f"Pacfourier{kind.__name__}", _map_shapes, _convert_map)
    update_registered_converter(
        FourierRegressor, "PacfourierRegressor", _regressor_shapes, _convert_regressor
    )
    update_registered_converter(
        FourierClassifier,
        "PacfourierClassifier",
        _classifier_shapes,
        _convert_classifier,
        options=_OPTIONS,
    )


def _map_shapes(operator: Any) -> None:
    """Set the number of columns of a map."""
    check_is_fitted(operator.raw_operator)
    n_columns = len(operator.raw_operator.get_feature_names_out())
    operator.outputs[0].type.shape = [operator.inputs[0].get_first_dimension(), n_columns]


def _convert_map(scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of a map."""
    graph, model = Graph(scope, operator, container), operator.raw_operator
    if isinstance(model, RBFLandmarks):
        check_kernel(model.spectrum_)
        kernel_nodes(graph, model.spectrum_, model.landmarks_)
    elif isinstance(model, PBLandmarks):
        similarity_nodes(graph, model)
    else:
        fourier_nodes(graph, model.frequencies_, model.frequency_weights_)


def _estimator_of(model: FourierModel) -> FourierClassifier | FourierRegressor:
    """Return an estimator of a fitted model, because skl2onnx knows estimators only."""
    is_regressor = model.link == "identity"
    found: Any = FourierRegressor() if is_regressor else FourierClassifier()
    found.model_, found.n_features_in_ = model, model.n_columns
    found.classes_, found._has_label_sets = model.classes, model.has_label_sets
    return found


def _graph_and_model(scope: Any, operator: Any, container: Any) -> tuple[Graph, FourierModel]:
    """Return an empty graph of a predictor, and its model, which fits into its precision."""
    graph, model = Graph(scope, operator, container), exported_model(operator.raw_operator)
    if graph.dtype is np.float32:
        check_single(model)
    return graph, model


def _regressor_shapes(operator: Any) -> None:
    """Set the number of outputs of a regressor."""
    n_outputs = exported_model(operator.raw_operator).n_scores
    operator.outputs[0].type.shape = [operator.inputs[0].get_first_dimension(), n_outputs]


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of a regressor."""
    graph, model = _graph_and_model(scope, operator, container)
    score_nodes(graph, scoring_terms(model), into=graph.first_output)


def _classifier_shapes(operator: Any) -> None:
    """Set the types and shapes of labels and probabilities."""
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes

    model = exported_model(operator.raw_operator)
    calculate_linear_classifier_output_shapes(operator)
    if model.has_label_sets:
        operator.outputs[0].type.shape = operator.outputs[1].type.shape


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of a classifier: labels and probabilities, or scores with ``raw_scores``."""
    graph, model = _graph_and_model(scope, operator, container)
    options = container.get_options(operator.raw_operator, {"raw_scores": False, "nocl": False})
    scores = score_nodes(graph, scoring_terms(model))
    if model.has_label_sets:
        graph.cast(graph.add("Greater", scores, graph.number(0)), np.int64, graph.first_output)
    else:
        if model.n_scores == 1:
            scores = graph.add("Concat", graph.add("Neg", scores), scores, axis=1)
        classes = np.arange(len(model.classes)) if options["nocl"] else model.classes
        label_nodes(graph, scores, classes)
    into = operator.outputs[1].full_name
    if options["raw_scores"]:
        graph.add("Identity", scores, into=into)
    else:
        probability_nodes(graph, scores, is_softmax=model.link == "softmax", into=into)
