"""When an observation is equal to its golden.

All differences are relative to the largest number of the observation. They must stay below:

- 1e-6 for maps and certificates. They are in double precision, where another order of summation,
  another BLAS or another processor changes 1e-12 or less.
- 1e-5 for predictors and their programs in C, which are in single precision: numbers are rounded
  by 6e-8, and a few hundred steps and sums add that up. Other orders of summation
  reached 1e-6.
- 1e-5 for ``GibbsRFF`` too. Moves of particles stretch some directions, at every temperature.
- 1e-3 for predictors that choose everything by themselves. They are blended with a linear model by
  a search that stops within 1e-9 of the least loss. A loss is flat at its least, so weights are
  right to about the square root, 3e-5, times what the curvature makes of it.
- 5e-2 for programs of integers. Where a weight lies between two integers, rounding decides, and
  each weight of 127 steps that becomes another integer moves a score by up to a hundredth.

A predicted class is compared unless rounding may decide it: the two best scores are then nearer to
each other than twice the tolerance of scores. What was chosen among few options must be equal.
"""

import numpy as np

TOLERANCE = 1e-6
# By a word in the name of the observation, or else of the case.
OF_OBSERVATIONS = {"chosen": 0.0, "integers": 5e-2, "automatic": 1e-3}
OF_CASES = {"Gibbs": 1e-5, "Classifier": 1e-5, "Regressor": 1e-5}


def tolerance(name, key):
    """Return the largest difference that an observation of a case may have."""
    found = [value for word, value in OF_OBSERVATIONS.items() if word in key]
    found += [value for word, value in OF_CASES.items() if word in name]
    return found[0] if found else TOLERANCE


def difference(found, golden):
    """Return the largest difference, relative to the largest number of the golden."""
    found, golden = np.asarray(found), np.asarray(golden)
    if found.shape != golden.shape:
        return np.inf
    return float(np.max(np.abs(found - golden)) / np.max(np.abs(golden)))


def margins(scores):
    """Return how far the best score of each row is above the next one, or one score from zero."""
    scores = np.asarray(scores)
    if scores.ndim == 1 or scores.shape[1] == 1:
        return np.abs(scores.reshape(len(scores)))
    second, first = np.sort(scores, axis=1)[:, -2:].T
    return first - second


def are_equal_classes(found, golden, scores, allowed):
    """Return whether all classes are equal whose margin is more than rounding."""
    is_clear = margins(scores) > 2 * allowed * np.max(np.abs(scores))
    return bool(np.all(np.asarray(found)[is_clear] == np.asarray(golden)[is_clear]))


def changes(name, found, golden):
    """Return one line for each observation that is not equal to its golden."""
    lines = [f"{key}: only in one of the two" for key in sorted(found.keys() ^ golden.keys())]
    for key in found.keys() & golden.keys():
        allowed = tolerance(name, key)
        if key.startswith("classes"):
            scores = golden[key.replace("classes", "scores")]
            if not are_equal_classes(found[key], golden[key], scores, allowed):
                lines.append(f"{key}: classes differ: {found[key]} instead of {golden[key]}")
        elif not (size := difference(found[key], golden[key])) <= allowed:
            lines.append(f"{key}: differs by {size:.1e} of the largest number, {allowed:g} allowed")
    return lines
