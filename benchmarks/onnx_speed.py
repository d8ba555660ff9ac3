"""Compare predictions of onnxruntime with our own, on 100,000 rows in single precision.

Both use two threads, and the ratios are medians over rounds in which they take turns. onnxruntime
computes cosines and sines in one thread, so a second ratio is for two sessions of one thread each,
which share the rows.

Run ``OMP_NUM_THREADS=2 NUMBA_NUM_THREADS=2 python benchmarks/onnx_speed.py``.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime

from measure import median_ratio
from pacfourier import FourierClassifier
from pacfourier.export import to_onnx

N_ROWS, N_LEARNED, N_THREADS, BLOCK = 100_000, 2_000, 2, 4096
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
    model = FourierClassifier(100, codes=codes, strength=1.0, random_state=0)
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


def main():
    """Print one line per shape."""
    for name, *shape in SHAPES:
        one_call, in_blocks, agreement = compare(*shape)
        print(
            f"{name}: onnxruntime / ours {one_call:.2f} in one call, {in_blocks:.2f} in blocks of "
            f"{BLOCK} rows in {N_THREADS} threads; same labels {agreement:.5f}"
        )


if __name__ == "__main__":
    main()
