"""Compare predictions of onnxruntime with our own, on 100,000 rows in single precision.

Both use two threads, and the ratios are medians over rounds in which they take turns. onnxruntime
computes cosines and sines in one thread, so a second ratio is for two sessions of one thread each,
which share the rows. The last line is the processor time of cosines alone, in blocks of 4,096
and 256 rows in one thread: the floor of graphs with Cos.

Run ``OMP_NUM_THREADS=2 NUMBA_NUM_THREADS=2 python benchmarks/onnx_speed.py``.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

from measure import median_ratio
from pacfourier import FourierClassifier
from pacfourier.core import loops
from pacfourier.export import to_onnx

N_ROWS, N_LEARNED, N_THREADS, BLOCK = 100_000, 2_000, 2, 4096
N_FREQUENCIES, OUR_BLOCK, N_ROUNDS = 100, 256, 15
# Names, columns, classes, and whether columns are coded.
SHAPES = [
    ("digits-like", 64, 10, False),
    ("adult-like", 108, 2, False),
    ("adult-like, coded", 108, 2, True),
]


def sample(n_columns, n_classes, n_rows):
    """Return rows and classes. Of 108 columns, six are numbers and the others zeros and ones."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    if n_columns == 108:
        X[:, 6:] = X[:, 6:] > 1
    scores = X @ rng.standard_normal((n_columns, n_classes))
    return X, scores.argmax(axis=1)


def runner(converted, n_threads):
    """Return a function that predicts rows with onnxruntime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = n_threads
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    label = session.get_outputs()[0].name
    return lambda X: session.run([label], {name: X})[0]


def compare(n_columns, n_classes, codes):
    """Return both ratios, and the share of rows that get the same label."""
    X, y = sample(n_columns, n_classes, N_ROWS)
    model = FourierClassifier(N_FREQUENCIES, piecewise=codes, alpha=1.0, random_state=0)
    model.fit(X[:N_LEARNED], y[:N_LEARNED])
    converted = to_onnx(model, X)
    whole, part = runner(converted, N_THREADS), runner(converted, 1)
    blocks = [X[start : start + BLOCK] for start in range(0, N_ROWS, BLOCK)]

    def ours():
        return model.predict(X)

    with ThreadPoolExecutor(N_THREADS) as executor:

        def shared():
            return np.concatenate(list(executor.map(part, blocks)))

        agreement = np.mean(shared() == ours())
        return median_ratio(lambda: whole(X), ours), median_ratio(shared, ours), agreement


def cosine_graph():
    """Return a graph of nothing but cosines."""
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, N_FREQUENCIES])
        for name in ("phases", "cosines")
    ]
    node = helper.make_node("Cos", ["phases"], ["cosines"])
    graph = helper.make_graph([node], "cosines", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def cosine_milliseconds():
    """Return the processor time of one cosine per row and frequency, in onnxruntime and in ours.

    Ours also multiplies with the amplitudes, and adds.
    """
    rng = np.random.default_rng(0)
    theirs = runner(cosine_graph(), 1)
    phases = rng.standard_normal((BLOCK, N_FREQUENCIES), dtype=np.float32)
    values = rng.standard_normal((OUR_BLOCK, N_FREQUENCIES + 1), dtype=np.float32)
    constants, amplitudes, scores = values[1].copy(), values[0, 1:].copy(), values[:, 0].copy()

    def least(work, n_rows):
        times = []
        for _ in range(N_ROUNDS):
            start = time.process_time()
            for _ in range(N_ROWS // n_rows):
                work()
            times.append(time.process_time() - start)
        return 1e3 * min(times)

    return (
        least(lambda: theirs(phases), BLOCK),
        least(lambda: loops.write_single_scores(values, constants, amplitudes, scores), OUR_BLOCK),
    )


def main():
    """Print one line per shape, and one for the cosines."""
    for name, *shape in SHAPES:
        one_call, in_blocks, agreement = compare(*shape)
        print(
            f"{name}: onnxruntime / ours {one_call:.2f} in one call, {in_blocks:.2f} in blocks of "
            f"{BLOCK} rows in {N_THREADS} threads; same labels {agreement:.5f}"
        )
    theirs, ours = cosine_milliseconds()
    print(f"cosines alone: onnxruntime {theirs:.1f} ms, ours {ours:.1f} ms of processor time")


if __name__ == "__main__":
    main()
