r"""The formulas of fitted estimators as nodes of an ONNX graph.

A predictor is one product for the phases and the linear part, cosines and sines, and one product
for the scores, all in the precision of the input. Maps may be given columns of any size, so their
phases and distances are computed in double precision, and phases lose their whole turns before they
are rounded.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pacfourier.arrays import FloatArray
from pacfourier.model.scoring import Terms
from pacfourier.spectra import Mixture, RationalQuadratic, Spectrum

_TURN = 2 * np.pi


class Graph:
    """The nodes of one estimator, in the precision of its input.

    Parameters
    ----------
    scope : Scope
        Gives names to nodes.
    operator : Operator
        The estimator with its inputs and outputs.
    container : ModelComponentContainer
        Holds the nodes and constants of the whole graph.
    """

    def __init__(self, scope: Any, operator: Any, container: Any) -> None:
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

        self.scope, self.operator, self.container = scope, operator, container
        given = operator.inputs[0]
        self.dtype: Any = np.float64 if isinstance(given.type, DoubleTensorType) else np.float32
        is_real = isinstance(given.type, DoubleTensorType | FloatTensorType)
        self.X = given.full_name if is_real else self.cast(given.full_name, self.dtype)

    def add(self, kind: str, *inputs: Any, into: str | None = None, **attributes: Any) -> str:
        """Add a node, and return the name of its result. Arrays become constants of the graph."""
        names = [self.constant(each) if isinstance(each, np.ndarray) else each for each in inputs]
        result = into or self.scope.get_unique_variable_name(f"pacfourier_{kind.lower()}")
        name = self.scope.get_unique_operator_name(kind)
        self.container.add_node(kind, names, [result], name=name, **attributes)
        return result

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        from onnx import TensorProto, numpy_helper

        name = str(self.scope.get_unique_variable_name("pacfourier_constant"))
        if values.dtype.kind in "OU":
            texts = [str(value).encode() for value in values]
            self.container.add_initializer(name, TensorProto.STRING, values.shape, texts)
        else:
            tensor = numpy_helper.from_array(np.ascontiguousarray(values))
            self.container.add_initializer(name, tensor.data_type, values.shape, tensor)
        return name

    def cast(self, name: str, dtype: Any, into: str | None = None) -> str:
        """Add a change of the type of numbers."""
        from onnx import helper

        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", name, into=into, to=kind)

    def number(self, value: float) -> NDArray[Any]:
        """Return a number in the precision of the input."""
        return np.array(value, dtype=self.dtype)

    @property
    def first_output(self) -> str:
        """The name of the first result of the estimator."""
        return str(self.operator.outputs[0].full_name)


def _angle_nodes(graph: Graph, turns: str) -> str:
    """Add phases between zero and one turn, in radians, from phases in turns of any size."""
    fractions = graph.cast(graph.add("Sub", turns, graph.add("Floor", turns)), graph.dtype)
    return graph.add("Mul", fractions, graph.number(_TURN))


def _turn_nodes(graph: Graph, frequencies: FloatArray) -> str:
    """Add phases in turns, in double precision."""
    rows = graph.X if graph.dtype is np.float64 else graph.cast(graph.X, np.float64)
    return graph.add("MatMul", rows, frequencies.T.astype(np.float64) / _TURN)


def fourier_nodes(graph: Graph, frequencies: FloatArray, weights: FloatArray) -> str:
    """Add the features of a Fourier map: all cosines, then all sines."""
    angles = _angle_nodes(graph, _turn_nodes(graph, frequencies))
    waves = graph.add("Concat", graph.add("Cos", angles), graph.add("Sin", angles), axis=1)
    amplitudes = np.tile(np.sqrt(weights), 2).astype(graph.dtype)
    return graph.add("Mul", waves, amplitudes, into=graph.first_output)


def similarity_nodes(graph: Graph, model: Any) -> str:
    r"""Add the similarities of ``PBLandmarks``.

    .. math:: \psi_l(x) = \sum_m Q^l_m \cos(\omega^l_m \cdot x - \phi^l_m)
    """
    phases, posterior = model.phases_, model.posterior_
    turns = _turn_nodes(graph, model.pool_[:])
    angles = _angle_nodes(graph, graph.add("Sub", turns, phases.ravel() / _TURN))
    shape = np.array([-1, *phases.shape], dtype=np.int64)
    waves = graph.add("Reshape", graph.add("Cos", angles), shape)
    weighted = graph.add("Mul", waves, posterior.astype(graph.dtype))
    return graph.add("ReduceSum", weighted, np.array([2]), into=graph.first_output, keepdims=0)


def kernel_nodes(graph: Graph, spectrum: Spectrum, landmarks: Any) -> str:
    """Add the kernel between rows and landmarks, computed in double precision."""
    points = _dense(landmarks)
    centre = points.mean(axis=0)
    rows = graph.X if graph.dtype is np.float64 else graph.cast(graph.X, np.float64)
    squares = _square_nodes(graph, graph.add("Sub", rows, centre), points - centre)
    kernel = _profile_nodes(graph, spectrum, squares)
    return graph.cast(kernel, graph.dtype, into=graph.first_output)


def _dense(points: Any) -> FloatArray:
    """Return landmarks as a dense array in double precision."""
    array = points.toarray() if hasattr(points, "toarray") else points
    return np.asarray(array, dtype=np.float64)


def _square_nodes(graph: Graph, rows: str, points: FloatArray) -> str:
    """Add squared distances to every point."""
    squares = graph.add("Mul", rows, rows)
    lengths = graph.add("ReduceSum", squares, np.array([1]), keepdims=1)
    products = graph.add("Gemm", rows, -2 * points.T, np.square(points).sum(axis=1))
    return graph.add("Max", graph.add("Add", lengths, products), np.array(0.0))


def _profile_nodes(graph: Graph, spectrum: Any, squares: str) -> str:
    """Add a kernel as a function of squared distances."""
    if isinstance(spectrum, Mixture):
        parts = zip(spectrum.weights or (), spectrum.components, strict=True)
        return graph.add(
            "Sum",
            *(
                graph.add("Mul", _profile_nodes(graph, part, squares), np.array(weight))
                for weight, part in parts
            ),
        )
    if isinstance(spectrum, RationalQuadratic):
        scaled = graph.add("Mul", squares, np.array(spectrum.gamma / spectrum.alpha))
        logarithm = graph.add("Log", graph.add("Add", scaled, np.array(1.0)))
        return graph.add("Exp", graph.add("Mul", logarithm, np.array(-spectrum.alpha)))
    return graph.add("Exp", graph.add("Mul", squares, np.array(-spectrum.gamma)))


def score_nodes(graph: Graph, model: Terms, into: str | None = None) -> str:
    """Add the outputs of a predictor: its waves times amplitudes, and a linear part."""
    phases, linear = _inner_nodes(graph, model)
    amplitudes = model.amplitudes.astype(graph.dtype)
    cosines = graph.add("Cos", phases)
    if amplitudes.shape[1] == 1:
        return graph.add("Gemm", cosines, amplitudes, linear, into=into)
    of_cosines, of_sines = np.split(amplitudes, 2)
    first = graph.add("Gemm", cosines, of_cosines, linear)
    return graph.add("Gemm", graph.add("Sin", phases), of_sines, first, into=into)


def _inner_nodes(graph: Graph, model: Terms) -> tuple[str, str]:
    """Add the phases, in radians, and the linear part. One product computes both."""
    size = len(model.constants) - model.amplitudes.shape[1]
    factors = np.where(np.arange(len(model.constants)) < size, _TURN, 1.0)
    weights, tables = np.split(model.terms * factors, [len(model.origins)])
    constants = model.constants * factors + tables[model.starts[:-1]].sum(axis=0)
    rows = graph.X
    if model.origins.any():
        rows = graph.add("Sub", rows, model.origins.astype(graph.dtype))
    values = graph.add("Gemm", rows, weights.astype(graph.dtype), constants.astype(graph.dtype))
    if len(model.coded):
        values = graph.add("Gemm", *_code_nodes(graph, model, tables), values)
    return _column_nodes(graph, values, 0, size), _column_nodes(graph, values, size, len(constants))


def _column_nodes(graph: Graph, values: str, start: int, end: int) -> str:
    """Add some neighbouring columns."""
    return graph.add("Slice", values, *(np.array([number]) for number in (start, end, 1)))


def _code_nodes(graph: Graph, model: Terms, tables: FloatArray) -> tuple[str, NDArray[Any]]:
    r"""Add how far rows are in each interval between knots, and return the slopes of the tables.

    .. math:: \min(w_i, \max(0, x - t_i)), \qquad w_i = t_{i+1} - t_i .
    """
    lows = np.setdiff1d(np.arange(len(model.knots)), model.starts[1:] - 1)
    knots = model.knots.astype(graph.dtype)
    widths = knots[lows + 1] - knots[lows]
    # Knots that are equal in single precision make a step.
    true_widths = (model.knots[lows + 1] - model.knots[lows]).astype(graph.dtype)
    widths = np.where(widths > 0, widths, true_widths)
    slopes = (tables[lows + 1] - tables[lows]) / widths[:, np.newaxis].astype(np.float64)
    # Products with zeros and ones select and repeat columns exactly. Gather repeats them slowly.
    selects = np.eye(len(model.origins), dtype=graph.dtype)[:, model.coded]
    repeats = np.repeat(np.eye(len(model.coded)), np.diff(model.starts) - 1, axis=1)
    coded = graph.add("MatMul", graph.X, selects)
    differences = graph.add("Gemm", coded, repeats.astype(graph.dtype), -knots[lows])
    codes = graph.add("Min", graph.add("Relu", differences), widths)
    return codes, slopes.astype(graph.dtype)


def probability_nodes(graph: Graph, scores: str, *, is_softmax: bool, into: str) -> str:
    """Add probabilities. All columns sum to one, or each column is a probability of its own."""
    if is_softmax:
        return graph.add("Softmax", scores, into=into, axis=1)
    return graph.add("Sigmoid", scores, into=into)


def label_nodes(graph: Graph, scores: str, classes: NDArray[Any]) -> str:
    """Add the class of the largest score. For a single column, the second class is positive."""
    if classes.dtype.kind not in "OU":
        classes = classes.astype(np.int64)
    winners = graph.add("ArgMax", scores, axis=1, keepdims=0)
    return graph.add("Gather", classes, winners, into=graph.first_output, axis=0)
