"""Compiled loops of structured frequencies: Walsh-Hadamard transforms of many vectors at once.

Callers import this module when they first need it, because numba is slow to import. Vectors lie
side by side: ``buffer[k * WIDTH + i]`` is coordinate k of vector i. The inner loops run over
neighbours in memory, so that the compiler can vectorise them.

The cost is the traffic between the processor core and its L2 cache, which holds the buffer. A
transform H of size p splits into two commuting parts, ``H = L A = A L``. L is a transform of size
p / 8 inside each eighth of the buffer, which fits in the L1 cache. A is a transform of size 8
across the eighths, which fits in registers. The product ``H D3 H D2 H D1`` is then
``A (L D3 L) (A D2 A) (L D1)``, and takes four passes over the buffer.
"""

import numpy as np
from numba import njit

from pacfourier.core.compiled import compiled
from pacfourier.core.loops import cosine_sine
from pacfourier.core.products import ROWS_SIDE_BY_SIDE as WIDTH

# The compiler vectorises loops over unsigned indices with constant strides.
_unsigned = np.uint64
_LANES = _unsigned(WIDTH)


@njit(inline="always")
def _butterfly(numbers):
    """Return the Walsh-Hadamard transform of eight numbers."""
    x0, x1, x2, x3, x4, x5, x6, x7 = numbers
    y0, y1, y2, y3 = x0 + x1, x0 - x1, x2 + x3, x2 - x3
    y4, y5, y6, y7 = x4 + x5, x4 - x5, x6 + x7, x6 - x7
    z0, z1, z2, z3 = y0 + y2, y1 + y3, y0 - y2, y1 - y3
    z4, z5, z6, z7 = y4 + y6, y5 + y7, y4 - y6, y5 - y7
    return z0 + z4, z1 + z5, z2 + z6, z3 + z7, z0 - z4, z1 - z5, z2 - z6, z3 - z7


@njit(inline="always")
def _places(i, step):
    """Return i, i + step, ..., i + 7 step."""
    two, four = step + step, step + step + step + step
    j = i + four
    return i, i + step, i + two, i + two + step, j, j + step, j + two, j + two + step


@njit(inline="always")
def _eight(buffer, i, step):
    """Return the numbers at i, i + step, ..., i + 7 step."""
    i0, i1, i2, i3, i4, i5, i6, i7 = _places(i, step)
    return (
        buffer[i0], buffer[i1], buffer[i2], buffer[i3],
        buffer[i4], buffer[i5], buffer[i6], buffer[i7],
    )  # fmt: skip


@njit(inline="always")
def _put_eight(buffer, i, step, numbers):
    """Write the numbers to i, i + step, ..., i + 7 step."""
    i0, i1, i2, i3, i4, i5, i6, i7 = _places(i, step)
    buffer[i0], buffer[i1], buffer[i2], buffer[i3] = numbers[0], numbers[1], numbers[2], numbers[3]
    buffer[i4], buffer[i5], buffer[i6], buffer[i7] = numbers[4], numbers[5], numbers[6], numbers[7]


@njit(inline="always")
def _times(signs, numbers):
    """Return eight numbers times eight signs."""
    s0, s1, s2, s3, s4, s5, s6, s7 = signs
    x0, x1, x2, x3, x4, x5, x6, x7 = numbers
    return s0 * x0, s1 * x1, s2 * x2, s3 * x3, s4 * x4, s5 * x5, s6 * x6, s7 * x7


@njit(inline="always")
def _signed_pass(source, signs, target):
    """Multiply by signs and do the first three stages; target may be the same array as source."""
    for k in range(_unsigned(0), _unsigned(len(signs)), _unsigned(8)):
        eight_signs = _eight(signs, k, _unsigned(1))
        for i in range(k * _LANES, k * _LANES + _LANES):
            _put_eight(
                target, i, _LANES, _butterfly(_times(eight_signs, _eight(source, i, _LANES)))
            )


@njit(inline="always")
def _first_stages(piece):
    """Do the first three stages, in place."""
    for start in range(_unsigned(0), _unsigned(len(piece)), _unsigned(8) * _LANES):
        for i in range(start, start + _LANES):
            _put_eight(piece, i, _LANES, _butterfly(_eight(piece, i, _LANES)))


@njit(inline="always")
def _later_stages(piece):
    """Do the stages after the first three, in place, three at a time while three are left."""
    step = 8 * WIDTH
    while 8 * step <= len(piece):
        for start in range(0, len(piece), 8 * step):
            _join_eight(piece[start : start + 8 * step])
        step *= 8
    while 2 * step <= len(piece):
        for start in range(0, len(piece), 2 * step):
            _join_two(piece[start : start + step], piece[start + step : start + 2 * step])
        step *= 2


@njit(inline="always")
def _join_eight(piece):
    """Do the stages that join eight parts of a piece, in place."""
    step = _unsigned(len(piece) // 8)
    for i in range(step):
        _put_eight(piece, i, step, _butterfly(_eight(piece, i, step)))


@njit(inline="always")
def _join_two(left, right):
    """Do the stage that joins two parts, in place."""
    for i in range(len(left)):
        left[i], right[i] = left[i] + right[i], left[i] - right[i]


@njit(inline="always")
def _first_pass(source, signs, buffer):
    """Write ``L D1`` times the vectors of source, padded with zeros, to the buffer."""
    height = len(signs) // 8
    for k in range(0, len(signs), height):
        piece = buffer[k * WIDTH : (k + height) * WIDTH]
        filled = max(0, min(len(source) // WIDTH - k, height))
        _signed_pass(source[k * WIDTH :], signs[k : k + filled], piece)
        piece[filled * WIDTH :] = 0
        if filled:
            _later_stages(piece)


@njit(inline="always")
def _pass_across(buffer, signs):
    """Apply ``A D2 A``, in place."""
    height = _unsigned(len(signs) // 8)
    step = height * _LANES
    for k in range(height):
        eight_signs = _eight(signs, k, height)
        for i in range(k * _LANES, k * _LANES + _LANES):
            signed = _times(eight_signs, _butterfly(_eight(buffer, i, step)))
            _put_eight(buffer, i, step, _butterfly(signed))


@njit(inline="always")
def _pass_inside(buffer, signs):
    """Apply ``L D3 L``, in place."""
    height = len(signs) // 8
    for k in range(0, len(signs), height):
        piece = buffer[k * WIDTH : (k + height) * WIDTH]
        _first_stages(piece)
        _later_stages(piece)
        _signed_pass(piece, signs[k : k + height], piece)
        _later_stages(piece)


@njit(inline="always")
def _all_but_last(source, signs, buffer):
    """Write ``(L D3 L) (A D2 A) (L D1)`` times the vectors of source to the buffer."""
    _first_pass(source, signs[0], buffer)
    _pass_across(buffer, signs[1])
    _pass_inside(buffer, signs[2])


@compiled(nogil=True, fastmath=True)
def transformed(vectors, signs):
    """Return ``H D3 H D2 H D1`` times vectors side by side, where H has entries +1 and -1.

    Parameters
    ----------
    vectors : array of shape (size, WIDTH)
    signs : array of shape (3, size)
        The diagonals of D1, D2, D3. The size is a power of two, at least 128.
    """
    buffer = np.empty(vectors.size, vectors.dtype)
    _all_but_last(vectors.ravel(), signs, buffer)
    _join_eight(buffer)
    return buffer.reshape(vectors.shape)


@compiled(nogil=True, fastmath=True)
def write_side(X, rows, side):
    """Write row ``rows[i]`` of X to ``side[:, i]``; other entries of side do not change."""
    # 16 features of these rows fit in the L1 cache.
    for start in range(0, X.shape[1], 16):
        stop = min(start + 16, X.shape[1])
        for i in range(len(rows)):
            row = X[rows[i]]
            for k in range(start, stop):
                side[k, i] = row[k]


@njit(inline="always")
def _wave_moments(phases, scale, weights, cosines, sines):
    """Return the sums of cos^2, cos sin, u cos and u sin, and write the cosines and sines."""
    zero = phases.dtype.type(0)
    squares, products, cosine_sum, sine_sum = zero, zero, zero, zero
    for i in range(WIDTH):
        turn = scale * phases[i]
        cosine, sine = cosine_sine(turn - np.rint(turn))
        cosines[i], sines[i] = cosine, sine
        squares += cosine * cosine
        products += cosine * sine
        cosine_sum += weights[i] * cosine
        sine_sum += weights[i] * sine
    return squares, products, cosine_sum, sine_sum


@compiled(nogil=True, fastmath=True)
def add_structured_sums(sides, signs, turns, entries, waves, harmonics):
    """Add the sums over all rows to ``waves`` and ``harmonics`` of one band of frequencies.

    Phases stay in one buffer of ``size * WIDTH`` numbers, which fits in the cache.

    Parameters
    ----------
    sides : float32 array of shape (n_groups, n_rows, WIDTH)
        Rows of X side by side, padded with zeros to a multiple of eight features.
    signs : float32 array of shape (3, size)
    turns : float32 array of shape (n_frequencies,)
        The factors that turn numbers of the transform into phases in turns.
    entries : tuple of arrays (starts, codes, values)
        The matrix of codes U. ``values[e, i]`` is the entry of row i of group g in column
        ``codes[e]`` of U, for e from ``starts[g]`` to ``starts[g + 1] - 1``.
    waves : float64 array of shape (2, n_columns_of_U, n_frequencies)
        The sums of u_ir cos and u_ir sin are added to it.
    harmonics : float64 array of shape (2, n_frequencies)
        The sums of cos^2 and cos sin are added to it.
    """
    starts, codes, values = entries
    zero = turns.dtype.type(0)
    height = signs.shape[1] // 8
    buffer = np.empty(signs.shape[1] * WIDTH, turns.dtype)
    phases = np.empty(8 * WIDTH, turns.dtype)
    cosines = np.empty(WIDTH, turns.dtype)
    sines = np.empty(WIDTH, turns.dtype)
    for g in range(len(sides)):
        _all_but_last(sides[g].ravel(), signs, buffer)
        first = starts[g]
        code, weights = codes[first], values[first]
        for k in range(min(height, len(turns))):
            start, step = _unsigned(k) * _LANES, _unsigned(height) * _LANES
            for i in range(_LANES):
                _put_eight(phases, i, _LANES, _butterfly(_eight(buffer, start + i, step)))
            for j in range(8):
                m = k + j * height
                if m >= len(turns):
                    break
                own = phases[j * WIDTH : (j + 1) * WIDTH]
                sums = _wave_moments(own, turns[m], weights, cosines, sines)
                harmonics[0, m] += sums[0]
                harmonics[1, m] += sums[1]
                waves[0, code, m] += sums[2]
                waves[1, code, m] += sums[3]
                # Most groups need one column of U only, and skip this loop.
                for entry in range(first + 1, starts[g + 1]):
                    cosine_sum, sine_sum = zero, zero
                    for i in range(WIDTH):
                        cosine_sum += values[entry, i] * cosines[i]
                        sine_sum += values[entry, i] * sines[i]
                    waves[0, codes[entry], m] += cosine_sum
                    waves[1, codes[entry], m] += sine_sum
