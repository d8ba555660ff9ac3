"""Compiled loops: sine and cosine of turns, their weighted sums, Adam, and counter-based normals.

Callers import this module when they first need it, because numba is slow to import. Angles are in
*turns*, the phase divided by 2 pi: subtracting the nearest integer reduces them to one period.
"""

import numpy as np
from numba import njit, types
from numba.extending import overload

from pacfourier.core.compiled import compiled, untyped_intrinsic

# Minimax polynomials in t^2 (Remez) of sin(pi t) / t and cos(pi t), for |t| <= 1/2. Their errors
# are 1.3e-8 and 4.7e-8 in single precision (3.3e-8 and 8.3e-8 with rounded coefficients), and below
# 4e-18 in double precision.
SIN_SINGLE = tuple(
    np.float32(c)
    for c in (3.14159264018421, -5.16771009034748, 2.55007765990019, -0.59829215995608,
              0.0776594083314192)
)  # fmt: skip
COS_SINGLE = tuple(
    np.float32(c)
    for c in (0.999999953467704, -4.93479285874983, 4.05841191496259, -1.33188016337403,
              0.219696798619492)
)  # fmt: skip
_SIN_DOUBLE = (
    3.1415926535897932378, -5.1677127800499696087, 2.5501640398773005562,
    -0.59926452931894730367, 0.082145886573144203403, -0.007370430506270126766,
    0.00046629981786209440743, -0.000021903501196441272786, 7.6978680332659424124e-7,
)  # fmt: skip
_COS_DOUBLE = (
    0.99999999999999999609, -4.9348022005446767737, 4.0587121264164975449,
    -1.3352627688434645931, 0.23533063012980844886, -0.02580688873935804581,
    0.0019295562836343032185, -0.00010456658087273931286, 4.1495918670635268621e-6,
)  # fmt: skip


def _cosine_sine(turn):
    """Return cos and sin of ``2 pi turn`` for a turn in [-1/2, 1/2], in the turn's precision.

    The polynomials are evaluated at half the angle, where they can be half as long. Then
    cos 2a = 1 - 2 sin^2 a and sin 2a = 2 sin a cos a give the full angle.
    """
    raise NotImplementedError("compiled code only")


@overload(_cosine_sine, inline="always")
def _compiled_cosine_sine(turn):
    if turn == types.float32:
        s, c = SIN_SINGLE, COS_SINGLE
        s0, s1, s2, s3, s4 = s
        c0, c1, c2, c3, c4 = c
        one, two = np.float32(1), np.float32(2)

        def single(turn):
            z = turn * turn
            sine = turn * (s0 + z * (s1 + z * (s2 + z * (s3 + z * s4))))
            cosine = c0 + z * (c1 + z * (c2 + z * (c3 + z * c4)))
            twice = two * sine
            return one - twice * sine, twice * cosine

        return single

    a0, a1, a2, a3, a4, a5, a6, a7, a8 = _SIN_DOUBLE
    b0, b1, b2, b3, b4, b5, b6, b7, b8 = _COS_DOUBLE

    def double(turn):
        z = turn * turn
        high = a4 + z * (a5 + z * (a6 + z * (a7 + z * a8)))
        sine = turn * (a0 + z * (a1 + z * (a2 + z * (a3 + z * high))))
        high = b4 + z * (b5 + z * (b6 + z * (b7 + z * b8)))
        cosine = b0 + z * (b1 + z * (b2 + z * (b3 + z * high)))
        twice = 2.0 * sine
        return 1.0 - twice * sine, twice * cosine

    return double


@untyped_intrinsic
def _prefer_wide_vectors(_typing):
    """Let the function that calls this use the widest vectors of the processor.

    On many processors with vectors of 512 bits the compiler uses 256, because wider ones could slow
    down the code around them. Loops over cosines are long enough to gain.
    """

    def generate(context, builder, _signature, _values):
        # llvmlite takes the names of attributes that it knows only. This one has a value.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


# Side of the square blocks in which a matrix is transposed: a block stays near the core.
_TRANSPOSED_BLOCK = 32


@compiled(nogil=True)
def write_chunks(frequencies, factor, chunks):
    """Write the frequencies times a factor into chunks of columns, in their precision.

    ``chunks`` has the shape (n_chunks, n_features, size). Frequency m becomes column m % size of
    chunk m // size. One chunk of all frequencies is their transposed matrix.
    """
    n_frequencies, n_features = frequencies.shape
    size = chunks.shape[2]
    for c in range(len(chunks)):
        columns, n_left = chunks[c], min(size, n_frequencies - c * size)
        for first in range(0, n_features, _TRANSPOSED_BLOCK):
            last = min(first + _TRANSPOSED_BLOCK, n_features)
            for start in range(0, n_left, _TRANSPOSED_BLOCK):
                stop = min(start + _TRANSPOSED_BLOCK, n_left)
                for k in range(first, last):
                    for m in range(start, stop):
                        columns[k, m] = chunks.dtype.type(frequencies[c * size + m, k]) * factor


@compiled(nogil=True, fastmath=True)
def weighted_lengths(rows, weights, lengths):
    """Write the root of the sum over columns of (value * weight)^2, for each row."""
    for i in range(len(rows)):
        total = 0.0
        for k in range(len(weights)):
            term = np.float64(rows[i, k]) * weights[k]
            total += term * term
        lengths[i] = np.sqrt(total)


@compiled(nogil=True, fastmath=True)
def add_column_squares(columns, weights, squares):
    """Add (value * weight)^2 of every row of ``columns``, a transposed matrix, to ``squares``."""
    for k in range(len(weights)):
        row, weight = columns[k], weights[k]
        for m in range(len(squares)):
            term = np.float64(row[m]) * weight
            squares[m] += term * term


@compiled(nogil=True, fastmath=True)
def add_column_totals(columns, weights, totals):
    """Add |value| * weight of every row of ``columns``, a transposed matrix, to ``totals``."""
    for k in range(len(weights)):
        row, weight = columns[k], weights[k]
        for m in range(len(totals)):
            totals[m] += abs(np.float64(row[m])) * weight


@compiled(nogil=True)
def write_proposals(points, gradients, factors, noise):
    """Replace noise by (a point + b gradient + c noise) / d, where the factors are (a, b, c, d)."""
    a, b, c, d = factors
    for i in range(len(points)):
        for k in range(points.shape[1]):
            noise[i, k] = (a * points[i, k] + b * gradients[i, k] + c * noise[i, k]) / d


@compiled(nogil=True, fastmath=True)
def write_row_products(gradients, points, others, products):
    """Write the products of each gradient with its point, with another point and with itself."""
    for i in range(len(gradients)):
        own, other, square = 0.0, 0.0, 0.0
        for k in range(gradients.shape[1]):
            slope = gradients[i, k]
            own += slope * points[i, k]
            other += slope * others[i, k]
            square += slope * slope
        products[0, i], products[1, i], products[2, i] = own, other, square


@compiled(nogil=True, fastmath=True)
def weighted_totals(rows, weights, totals):
    """Write the sum over columns of |value| * weight, for each row."""
    for i in range(len(rows)):
        total = 0.0
        for k in range(len(weights)):
            total += abs(np.float64(rows[i, k])) * weights[k]
        totals[i] = total


@compiled(nogil=True, fastmath=True)
def raise_to_magnitudes(rows, largest):
    """Replace the largest absolute value of each column by that of the rows, if it is larger."""
    for i in range(len(rows)):
        for k in range(len(largest)):
            largest[k] = max(largest[k], abs(rows[i, k]))


@compiled(nogil=True, fastmath=True)
def add_magnitudes(rows, largest, totals):
    """Update the largest absolute value of each column, and their sum, with some rows.

    Returns the largest number of values other than zero in one of the rows.
    """
    most = 0
    for i in range(len(rows)):
        n_values = 0
        for k in range(len(totals)):
            size = abs(np.float64(rows[i, k]))
            largest[k] = max(largest[k], size)
            totals[k] += size
            n_values += int(size > 0)
        most = max(most, n_values)
    return most


_MIXER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@compiled(nogil=True)
def add_statistics(rows, words, multipliers, prints, powers):
    """Write the fingerprints of some rows, and add the powers of their values to sums.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
    words : array of the same shape
        The bits of the values, as unsigned integers.
    multipliers : uint64 array of shape (n_columns,)
    prints : uint64 array of shape (n_rows,)
        See ``core.alignment.summary.row_fingerprints``.
    powers : array of shape (4, n_columns)
        Sums of the first four powers.
    """
    for i in range(len(rows)):
        total = np.uint64(0)
        for k in range(len(multipliers)):
            # Minus zero has other bits than zero.
            bits = np.uint64(words[i, k]) if rows[i, k] != 0 else np.uint64(0)
            bits ^= bits >> _HALF
            bits *= _MIXER
            bits ^= bits >> _HALF
            total += bits * multipliers[k]
        prints[i] = total
        for k in range(len(multipliers)):
            value = np.float64(rows[i, k])
            square = value * value
            powers[0, k] += value
            powers[1, k] += square
            powers[2, k] += value * square
            powers[3, k] += square * square


# Single precision adds up this many rows before its sums are added to those in double precision.
_CARRY_ROWS = 64


@compiled(nogil=True, fastmath=True)
def add_wave_sums(turns, indptr, columns, values, waves, harmonics):
    """Add the sums over a block of phases to ``waves`` and ``harmonics``, in place.

    Parameters
    ----------
    turns : array of shape (n_rows, n_frequencies)
    indptr, columns, values : arrays
        The matrix of codes U in CSR format. Every row has at least one entry.
    waves : float64 array of shape (2, n_columns_of_U, n_frequencies)
        The sums of u_ir cos and u_ir sin are added to it.
    harmonics : float64 array of shape (2, n_frequencies)
        The sums of cos^2 and cos sin are added to it.
    """
    _prefer_wide_vectors()
    n_rows, n_frequencies = turns.shape
    partial_waves = np.zeros(waves.shape, turns.dtype)
    partial_harmonics = np.zeros(harmonics.shape, turns.dtype)
    cosines = np.empty(n_frequencies, turns.dtype)
    sines = np.empty(n_frequencies, turns.dtype)
    squares, products = partial_harmonics[0], partial_harmonics[1]
    for start in range(0, n_rows, _CARRY_ROWS):
        for i in range(start, min(start + _CARRY_ROWS, n_rows)):
            first = indptr[i]
            value = values[first]
            cosine_row = partial_waves[0, columns[first]]
            sine_row = partial_waves[1, columns[first]]
            # Most rows have one entry, so one loop handles it; further entries follow below.
            for m in range(n_frequencies):
                turn = turns[i, m]
                cosine, sine = _cosine_sine(turn - np.rint(turn))
                cosines[m], sines[m] = cosine, sine
                squares[m] += cosine * cosine
                products[m] += cosine * sine
                cosine_row[m] += value * cosine
                sine_row[m] += value * sine
            for entry in range(first + 1, indptr[i + 1]):
                value = values[entry]
                cosine_row = partial_waves[0, columns[entry]]
                sine_row = partial_waves[1, columns[entry]]
                for m in range(n_frequencies):
                    cosine_row[m] += value * cosines[m]
                    sine_row[m] += value * sines[m]
        _carry(partial_waves.ravel(), waves.ravel())
        _carry(partial_harmonics.ravel(), harmonics.ravel())


@compiled(nogil=True, fastmath=True)
def _carry(partial, totals):
    """Add partial sums to totals, and set them to zero."""
    for m in range(len(partial)):
        totals[m] += partial[m]
        partial[m] = 0


@compiled(nogil=True, fastmath=True)
def write_slopes(turns, indptr, columns, values, tilts):
    """Overwrite a block of phases with ``sum_r u_ir (b_rm cos - a_rm sin)``.

    Parameters
    ----------
    turns : array of shape (n_rows, n_frequencies)
    indptr, columns, values : arrays
        The matrix of codes U in CSR format. Every row has at least one entry.
    tilts : array of shape (2, n_columns_of_U, n_frequencies)
        The a_rm and the b_rm.
    """
    _prefer_wide_vectors()
    n_rows, n_frequencies = turns.shape
    reals = np.empty(n_frequencies, turns.dtype)
    imaginaries = np.empty(n_frequencies, turns.dtype)
    for i in range(n_rows):
        reals[:] = 0
        imaginaries[:] = 0
        for entry in range(indptr[i], indptr[i + 1]):
            value = values[entry]
            real_row = tilts[0, columns[entry]]
            imaginary_row = tilts[1, columns[entry]]
            for m in range(n_frequencies):
                reals[m] += value * real_row[m]
                imaginaries[m] += value * imaginary_row[m]
        for m in range(n_frequencies):
            turn = turns[i, m]
            cosine, sine = _cosine_sine(turn - np.rint(turn))
            turns[i, m] = imaginaries[m] * cosine - reals[m] * sine


@compiled(nogil=True, fastmath=True)
def write_features(turns, weights, cosines, sines):
    """Write ``weights * cos`` and ``weights * sin`` of a block of phases."""
    n_rows, n_frequencies = turns.shape
    for i in range(n_rows):
        for m in range(n_frequencies):
            turn = turns[i, m]
            cosine, sine = _cosine_sine(turn - np.rint(turn))
            cosines[i, m] = weights[m] * cosine
            sines[i, m] = weights[m] * sine


@compiled(nogil=True, fastmath=True)
def add_similarities(turns, offsets, weights, starts, similarities):
    """Add ``sum_j weights_sj cos(2 pi (turn_ij - offset_j))`` for rows i and landmarks l.

    Landmark l owns the columns ``starts[l]`` to ``starts[l + 1] - 1`` of turns, offsets and
    weights. ``weights`` has one row per setting s, and all settings share the same cosines.
    """
    _prefer_wide_vectors()
    n_rows, n_waves = turns.shape
    waves = np.empty(n_waves, turns.dtype)
    for i in range(n_rows):
        for j in range(n_waves):
            turn = turns[i, j] - offsets[j]
            waves[j], _ = _cosine_sine(turn - np.rint(turn))
        for setting in range(len(weights)):
            for landmark in range(len(starts) - 1):
                total = turns.dtype.type(0)
                for j in range(starts[landmark], starts[landmark + 1]):
                    total += weights[setting, j] * waves[j]
                similarities[setting, i, landmark] += total


# Without fastmath, so that NaN is not within any limit.
@compiled(nogil=True)
def are_within(X, limit):
    """Return whether all numbers of X lie between -limit and limit."""
    n_within = 0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            n_within += np.abs(X[i, j]) <= limit
    return n_within == X.size


@compiled(nogil=True, fastmath=True)
def write_codes(X, intervals, unit, codes):
    """Write the piecewise-linear codes of some columns of X, from 0 to ``unit``.

    ``intervals`` are the arrays ``coded``, ``starts``, ``knots`` and ``widths``. Column
    ``coded[c]`` has the knots ``starts[c]`` to ``starts[c + 1] - 1``, and one code for each
    interval between two of them. Widths are divided by ``unit``.
    """
    coded, starts, knots, widths = intervals
    zero, largest = X.dtype.type(0), X.dtype.type(unit)
    for i in range(len(X)):
        for c in range(len(coded)):
            x, first, last = X[i, coded[c]], starts[c], starts[c + 1] - 1
            lows, steps = knots[first:last], widths[first:last]
            row = codes[i, first - c : last - c]
            for k in range(len(row)):
                row[k] = min(max((x - lows[k]) / steps[k], zero), largest)


@njit(fastmath=True)
def _add_terms(places, factors, n_terms, terms, row):
    """Add ``factors[k] * terms[places[k]]`` to a row, for all k below ``n_terms``.

    Four terms are added at a time, so that the row is loaded and stored less often. Up to three
    terms of zero fill the last four.
    """
    for k in range(n_terms, n_terms + 3):
        places[k], factors[k] = 0, 0
    for k in range(0, n_terms, 4):
        f0, f1, f2, f3 = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        t0, t1 = terms[places[k]], terms[places[k + 1]]
        t2, t3 = terms[places[k + 2]], terms[places[k + 3]]
        for r in range(len(row)):
            row[r] += f0 * t0[r] + f1 * t1[r] + f2 * t2[r] + f3 * t3[r]


@njit(fastmath=True)
def _knot_below(x, knots):
    """Return which knot is the last one at or below x, and where x lies on the way to the next.

    Outside the knots, x counts as the nearest knot.
    """
    zero, one = knots.dtype.type(0), knots.dtype.type(1)
    # Counting is faster than bisection: knots are few, and there is nothing to guess.
    low = np.int32(0)
    for k in range(1, len(knots) - 1):
        low += np.int32(knots[k] <= x)
    width = knots[low + 1] - knots[low]
    # Knots that differ in double precision may be equal in single precision.
    share = (x - knots[low]) / width if width > 0 else knots.dtype.type(x >= knots[low + 1])
    return low, min(max(share, zero), one)


@compiled(nogil=True, fastmath=True)
def add_columns(X, origins, codes, terms, is_sparse, values):
    """Add what the columns of X add to the rows of ``values``, unless they are at their origin.

    The first rows of ``terms`` are the slopes of the columns, and the others are the values at the
    knots of coded columns. ``codes`` are the arrays ``coded``, ``starts`` and ``knots``: column
    ``coded[c]`` has the knots ``starts[c]`` to ``starts[c + 1] - 1``. If X is not sparse, slopes
    are left to a matrix product.
    """
    n_columns = X.shape[1]
    coded, starts, knots = codes
    places = np.empty(n_columns + 2 * len(coded) + 3, np.intp)
    factors = np.empty(len(places), X.dtype)
    for i in range(len(X)):
        n_terms = 0
        if is_sparse:
            # No branch: processors would often guess wrongly which way it goes.
            for j in range(n_columns):
                step = X[i, j] - origins[j]
                places[n_terms], factors[n_terms] = j, step
                n_terms += step != 0
        for c in range(len(coded)):
            x = X[i, coded[c]]
            if x == origins[coded[c]]:
                continue
            low, share = _knot_below(x, knots[starts[c] : starts[c + 1]])
            place = n_columns + starts[c] + low
            places[n_terms], factors[n_terms] = place, X.dtype.type(1) - share
            places[n_terms + 1], factors[n_terms + 1] = place + 1, share
            n_terms += 2
        _add_terms(places, factors, n_terms, terms, values[i])


@compiled(nogil=True, fastmath=True)
def write_single_scores(values, constants, amplitudes, scores):
    """Write the linear part plus ``sum_m amplitudes_m cos`` of each row.

    A row of ``values`` plus the constants holds the phases of all frequencies, in turns, and then
    the linear part.
    """
    _prefer_wide_vectors()
    n_frequencies = len(amplitudes)
    for i in range(len(values)):
        total = values[i, n_frequencies] + constants[n_frequencies]
        for m in range(n_frequencies):
            turn = values[i, m] + constants[m]
            cosine, _ = _cosine_sine(turn - np.rint(turn))
            total += amplitudes[m] * cosine
        scores[i] = total


@compiled(nogil=True, fastmath=True)
def write_waves(values, weights, waves):
    """Write ``weights * cos`` of each row, and then ``weights * sin``.

    A row of ``values`` starts with the phases of all frequencies, in turns.
    """
    _prefer_wide_vectors()
    n_frequencies = waves.shape[1] // 2
    for i in range(len(values)):
        for m in range(n_frequencies):
            turn = values[i, m]
            cosine, sine = _cosine_sine(turn - np.rint(turn))
            waves[i, m], waves[i, n_frequencies + m] = weights[m] * cosine, weights[m] * sine


@compiled(nogil=True, fastmath=True)
def adam(part, slope, first, second, factors):
    """Make one step of Adam with decoupled decay, in place; see ``core.boosting.descent``.

    ``first`` and ``second`` are the running means. The factors are the rate divided by the bias of
    the first, one over the bias of the second, and what decay leaves of a parameter.
    """
    scale, correction, kept = factors
    old, new = np.float32(0.9), np.float32(0.1)
    older, newer = np.float32(0.99), np.float32(0.01)
    for i in range(len(part)):
        gradient = slope[i]
        first[i] = old * first[i] + new * gradient
        second[i] = older * second[i] + newer * gradient * gradient
        size = np.sqrt(correction * second[i]) + np.float32(1e-8)
        part[i] = kept * part[i] - scale * first[i] / size


_PHILOX_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_PHILOX_WEYL = (np.uint32(0x9E3779B9), np.uint32(0xBB67AE85))
_LOW = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(32)


@njit(inline="always", error_model="numpy")
def _philox(c0, c1, c2, c3, k0, k1):
    """Return the four Philox4x32-10 words of a counter under a key (Salmon et al., SC 2011)."""
    for _ in range(10):
        first = _PHILOX_MULTIPLIERS[0] * np.uint64(c0)
        second = _PHILOX_MULTIPLIERS[1] * np.uint64(c2)
        c0 = np.uint32(np.uint32(second >> _HIGH) ^ c1 ^ k0)
        c1 = np.uint32(second & _LOW)
        c2 = np.uint32(np.uint32(first >> _HIGH) ^ c3 ^ k1)
        c3 = np.uint32(first & _LOW)
        k0 = np.uint32(k0 + _PHILOX_WEYL[0])
        k1 = np.uint32(k1 + _PHILOX_WEYL[1])
    return c0, c1, c2, c3


@njit(inline="always", error_model="numpy")
def _exponential(bits):
    """Return ``-ln u`` in single precision, where u is the uniform number of 32 random bits.

    Write u = 2^e m with m in [sqrt(1/2), sqrt(2)). Then ln m = 2 artanh((m - 1) / (m + 1)).
    """
    uniform = np.float32(bits) * np.float32(2.0**-32) + np.float32(2.0**-33)
    word = np.float32(uniform).view(np.int32)
    exponent = np.int32(np.int32(word - np.int32(0x3F3504F3)) >> np.int32(23))
    mantissa = np.int32(word - np.int32(exponent << np.int32(23))).view(np.float32)
    s = (mantissa - np.float32(1)) / (mantissa + np.float32(1))
    z = s * s
    series = np.float32(2 / 7) + z * np.float32(2 / 9)
    series = np.float32(2) + z * (np.float32(2 / 3) + z * (np.float32(2 / 5) + z * series))
    return -(np.float32(exponent) * np.float32(np.log(2.0)) + s * series)


@njit(inline="always", error_model="numpy")
def _normal_pair(first_bits, second_bits):
    """Return two independent standard normals from 64 random bits (Box and Muller)."""
    radius = np.sqrt(np.float32(2) * _exponential(first_bits))
    cosine, sine = _cosine_sine(np.float32(np.int32(second_bits)) * np.float32(2.0**-32))
    return radius * cosine, radius * sine


# Without fastmath every machine computes the same bits.
@compiled(nogil=True, error_model="numpy")
def write_normals(key_low, key_high, indices, normals):
    """Write row ``indices[i]`` of an infinite standard normal matrix into ``normals[i]``.

    The number of columns of ``normals`` is a multiple of four. Each counter gives four normals,
    one for each quarter of the row, so that the compiler can vectorise the loop over counters.
    """
    quarter = normals.shape[1] // 4
    for i in range(len(indices)):
        row = normals[i]
        index = np.uint32(indices[i])
        for q in range(quarter):
            w0, w1, w2, w3 = _philox(
                np.uint32(q), index, np.uint32(0), np.uint32(0), key_low, key_high
            )
            row[q], row[quarter + q] = _normal_pair(w0, w1)
            row[2 * quarter + q], row[3 * quarter + q] = _normal_pair(w2, w3)


# Without fastmath, for the bits of write_normals.
@compiled(nogil=True, error_model="numpy")
def write_normal_columns(key, indices, places, scales, columns):
    """Write some columns of the matrix of ``write_normals``, transposed and scaled.

    The loop over the rows of that matrix is the inner one. So its numbers are written side by side
    in the order in which sparse products read them, and counters of which no column is used are
    left out.

    Parameters
    ----------
    key : tuple of two uint32
    indices : uint32 array of shape (n_rows,)
    places : array of shape (4, quarter)
        Where a column goes, or -1 for a column that is not used. Counter q makes column q of each
        quarter.
    scales : float32 array of shape (1, n_rows) or (n_columns, n_rows)
    columns : float32 array of shape (n_columns, n_rows)
    """
    n_rows = len(indices)
    made = np.empty((4, n_rows), np.float32)
    for q in range(places.shape[1]):
        if places[:, q].max() < 0:
            continue
        for i in range(n_rows):
            w0, w1, w2, w3 = _philox(
                np.uint32(q), indices[i], np.uint32(0), np.uint32(0), key[0], key[1]
            )
            made[0, i], made[1, i] = _normal_pair(w0, w1)
            made[2, i], made[3, i] = _normal_pair(w2, w3)
        for part in range(4):
            place = places[part, q]
            if place < 0:
                continue
            column, scale = columns[place], scales[min(place, len(scales) - 1)]
            for i in range(n_rows):
                column[i] = made[part, i] * scale[i]
