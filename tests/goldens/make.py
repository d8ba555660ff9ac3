"""Write the goldens anew: ``python -m tests.goldens.make`` in the folder of the repository.

Give names of cases to write only these, such as ``PBRFF``. Do this only if numbers are meant to
change, and say so in the commit.
"""

import json
import sys
from pathlib import Path

import numpy as np
from tests.goldens.cases import CASES, SEEDS

FOLDER = Path(__file__).parent / "outputs"
# Far finer than any tolerance of the comparison.
N_DIGITS = 9


def written(value):
    """Return an observation as JSON holds it: lists of text, or of numbers with a few digits."""
    array = np.asarray(value)
    if array.dtype.kind == "U":
        return array.tolist()
    numbers = [float(f"{number:.{N_DIGITS}g}") for number in array.ravel()]
    return np.reshape(numbers, array.shape).tolist()


def observations(name, sample, seed):
    """Return all observations of a case."""
    found = CASES[name].observe(CASES[name].samples[sample](), seed)
    return {key: written(value) for key, value in found.items()}


def runs():
    """Return the name, the sample and the seed of every fit."""
    return [
        (name, sample, seed)
        for name, case in CASES.items()
        for sample in case.samples
        for seed in SEEDS
    ]


def text(found):
    """Return observations as JSON with a line for each, so that a change is easy to see."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def path(name, sample, seed):
    return FOLDER / f"{name}-{sample.replace(' ', '_')}-{seed}.json"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for run in runs():
        if len(sys.argv) == 1 or run[0] in sys.argv[1:]:
            path(*run).write_text(text(observations(*run)), "utf-8")
