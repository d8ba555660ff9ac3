"""Compiled loops of structured frequencies: Walsh-Hadamard transforms of vectors side by side.

Imported at first use only, because numba is slow to import. ``buffer[k * width + i]`` is
coordinate k of vector i: the inner loops run over neighbours in memory and become vector loops.
What a pass over the buffer costs is its traffic with the L2 cache, so that a pass does three or
four stages of the transform at once, in registers.
"""

import numpy as np
from numba import njit

from pacfourier.core.fused import cosine_sine


@njit(inline="always")
def butterfly(x0, x1, x2, x3, x4, x5, x6, x7):
    """Return the Walsh-Hadamard transform of eight numbers."""
    y0, y1, y2, y3 = x0 + x1, x0 - x1, x2 + x3, x2 - x3
    y4, y5, y6, y7 = x4 + x5, x4 - x5, x6 + x7, x6 - x7
    z0, z1, z2, z3 = y0 + y2, y1 + y3, y0 - y2, y1 - y3
    z4, z5, z6, z7 = y4 + y6, y5 + y7, y4 - y6, y5 - y7
    return z0 + z4, z1 + z5, z2 + z6, z3 + z7, z0 - z4, z1 - z5, z2 - z6, z3 - z7


@njit(inline="always")
def eight(buffer, start, step):
    """Return eight pieces of a buffer that follow each other.

    Loops over slices become vector loops where loops over sums of indices do not.
    """
    return (
        buffer[start : start + step],
        buffer[start + step : start + 2 * step],
        buffer[start + 2 * step : start + 3 * step],
        buffer[start + 3 * step : start + 4 * step],
        buffer[start + 4 * step : start + 5 * step],
        buffer[start + 5 * step : start + 6 * step],
        buffer[start + 6 * step : start + 7 * step],
        buffer[start + 7 * step : start + 8 * step],
    )


@njit(inline="always")
def signed_pass(buffer, signs, width):
    """Multiply with signs and do the first three stages, in place."""
    for k in range(0, len(signs), 8):
        s0, s1, s2, s3 = signs[k], signs[k + 1], signs[k + 2], signs[k + 3]
        s4, s5, s6, s7 = signs[k + 4], signs[k + 5], signs[k + 6], signs[k + 7]
        a0, a1, a2, a3, a4, a5, a6, a7 = eight(buffer, k * width, width)
        for i in range(width):
            a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i] = butterfly(
                s0 * a0[i], s1 * a1[i], s2 * a2[i], s3 * a3[i],
                s4 * a4[i], s5 * a5[i], s6 * a6[i], s7 * a7[i],
            )  # fmt: skip


@njit(inline="always")
def pass_of_sixteen(buffer, step):
    """Do the four stages that join pieces of ``step`` to pieces of ``16 * step``, in place."""
    for start in range(0, len(buffer), 16 * step):
        a0, a1, a2, a3, a4, a5, a6, a7 = eight(buffer, start, step)
        b0, b1, b2, b3, b4, b5, b6, b7 = eight(buffer, start + 8 * step, step)
        for i in range(step):
            x0, x1, x2, x3, x4, x5, x6, x7 = butterfly(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i]
            )
            y0, y1, y2, y3, y4, y5, y6, y7 = butterfly(
                b0[i], b1[i], b2[i], b3[i], b4[i], b5[i], b6[i], b7[i]
            )
            a0[i], a1[i], a2[i], a3[i] = x0 + y0, x1 + y1, x2 + y2, x3 + y3
            a4[i], a5[i], a6[i], a7[i] = x4 + y4, x5 + y5, x6 + y6, x7 + y7
            b0[i], b1[i], b2[i], b3[i] = x0 - y0, x1 - y1, x2 - y2, x3 - y3
            b4[i], b5[i], b6[i], b7[i] = x4 - y4, x5 - y5, x6 - y6, x7 - y7


@njit(inline="always")
def pass_of_eight(buffer, step):
    """Do the three stages that join pieces of ``step`` to pieces of ``8 * step``, in place."""
    for start in range(0, len(buffer), 8 * step):
        a0, a1, a2, a3, a4, a5, a6, a7 = eight(buffer, start, step)
        for i in range(step):
            a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i] = butterfly(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i]
            )


@njit(inline="always")
def pass_of_two(buffer, step):
    """Do the stage that joins pieces of ``step`` to pieces of ``2 * step``, in place."""
    for start in range(0, len(buffer), 2 * step):
        a0, a1 = buffer[start : start + step], buffer[start + step : start + 2 * step]
        for i in range(step):
            a0[i], a1[i] = a0[i] + a1[i], a0[i] - a1[i]


@njit(nogil=True, fastmath=True, cache=True)
def apply_product(buffer, signs, width):
    """Replace vectors side by side by ``H D3 H D2 H D1`` times them; entries of H are +1 and -1.

    Parameters
    ----------
    buffer : flat array of size * width numbers
    signs : array of shape (3, size)
        The diagonals of D1, D2, D3; size is a power of two, 128 at least.
    width : int
    """
    for diagonal in signs:
        # The first seven stages stay inside pieces that fit the L1 cache.
        for k in range(0, len(diagonal), 128):
            piece = buffer[k * width : (k + 128) * width]
            signed_pass(piece, diagonal[k : k + 128], width)
            pass_of_sixteen(piece, 8 * width)
        step = 128 * width
        while 8 * step <= len(buffer):
            pass_of_eight(buffer, step)
            step *= 8
        while 2 * step <= len(buffer):
            pass_of_two(buffer, step)
            step *= 2


@njit(nogil=True, fastmath=True, cache=True)
def write_side(X, rows, side):
    """Write row ``rows[i]`` of X to ``side[:, i]``; the rest of side stays."""
    # A tile of 16 features at a time stays in the L1 cache.
    for start in range(0, X.shape[1], 16):
        stop = min(start + 16, X.shape[1])
        for i in range(len(rows)):
            row = X[rows[i]]
            for k in range(start, stop):
                side[k, i] = row[k]


@njit(nogil=True, fastmath=True, cache=True)
def add_structured_sums(sides, signs, turns, starts, codes, values, waves, harmonics):
    """Add the sums over all rows to ``waves`` and ``harmonics`` of one block of frequencies.

    Phases live in one buffer of ``size * width`` numbers, near the core.

    Parameters
    ----------
    sides : float32 array of shape (n_groups, n_features, width)
        Rows of X side by side.
    signs : float32 array of shape (3, size)
    turns : float32 array of shape (n_frequencies,)
        What a number of the transform is multiplied with to be a phase in turns.
    starts, codes, values : the rows of U
        ``values[e, i]`` is the entry of row i of group g in column ``codes[e]`` of U, for e from
        ``starts[g]`` to ``starts[g + 1] - 1``.
    waves : float64 array of shape (2, n_columns_of_U, n_frequencies)
        Gains the sums of u_ir cos and u_ir sin.
    harmonics : float64 array of shape (2, n_frequencies)
        Gains the sums of cos^2 and cos sin.
    """
    n_groups, _, width = sides.shape
    zero = turns.dtype.type(0)
    buffer = np.empty(signs.shape[1] * width, turns.dtype)
    cosines = np.empty(width, turns.dtype)
    sines = np.empty(width, turns.dtype)
    for g in range(n_groups):
        side = sides[g].ravel()
        buffer[: len(side)] = side
        buffer[len(side) :] = 0
        apply_product(buffer, signs, width)
        first = starts[g]
        code, weights = codes[first], values[first]
        for m in range(len(turns)):
            phases = buffer[m * width : (m + 1) * width]
            scale = turns[m]
            cosine_sum, sine_sum, squares, products = zero, zero, zero, zero
            # One loop does all that most groups need; further columns of U follow.
            for i in range(width):
                turn = scale * phases[i]
                cosine, sine = cosine_sine(turn - np.rint(turn))
                cosines[i], sines[i] = cosine, sine
                squares += cosine * cosine
                products += cosine * sine
                cosine_sum += weights[i] * cosine
                sine_sum += weights[i] * sine
            harmonics[0, m] += squares
            harmonics[1, m] += products
            waves[0, code, m] += cosine_sum
            waves[1, code, m] += sine_sum
            for entry in range(first + 1, starts[g + 1]):
                cosine_sum, sine_sum = zero, zero
                for i in range(width):
                    cosine_sum += values[entry, i] * cosines[i]
                    sine_sum += values[entry, i] * sines[i]
                waves[0, codes[entry], m] += cosine_sum
                waves[1, codes[entry], m] += sine_sum
