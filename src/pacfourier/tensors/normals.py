"""The normal numbers of ``core/loops.py`` in plain torch, with the same bits."""

import numpy as np
import torch

# The constants of ``core/loops.py``, which the device must repeat to the last bit.
MULTIPLIERS, WEYL, LOW_WORD = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85), 0xFFFFFFFF
# The bits of sqrt(1/2) in single precision, and those of its mantissa.
ROOT_OF_HALF, MANTISSA_BITS = 0x3F3504F3, 23
LOG_SERIES = (2.0, 2 / 3, 2 / 5, 2 / 7, 2 / 9)
SINE, COSINE = (
    (3.14159264018421, -5.16771009034748, 2.55007765990019, -0.59829215995608, 0.0776594083314192),
    (0.999999953467704, -4.93479285874983, 4.05841191496259, -1.33188016337403, 0.219696798619492),
)


def plain_normals(
    seed: int, first: int, stop: int, n_features: int, device: torch.device
) -> torch.Tensor:
    """Return rows of the matrix of ``core.prior.frequencies.standard_normals``."""
    quarter = -(-n_features // 4)
    counters = torch.arange(quarter, device=device).expand(stop - first, quarter)
    indices = torch.arange(first, stop, device=device)[:, None].expand_as(counters)
    words = _philox(counters, indices, seed & LOW_WORD, seed >> 32)
    parts = [*_normal_pair(*words[:2]), *_normal_pair(*words[2:])]
    return torch.cat(parts, dim=1)[:, :n_features]


def _philox(
    counters: torch.Tensor, indices: torch.Tensor, key: int, other_key: int
) -> tuple[torch.Tensor, ...]:
    """Return the four words of Philox4x32-10 as 64-bit integers, because torch has no unsigned."""
    c0, c1, c2, c3 = counters, indices, torch.zeros_like(counters), torch.zeros_like(counters)
    for _ in range(10):
        first, second = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1 = ((second >> 32) & LOW_WORD) ^ c1 ^ key, second & LOW_WORD
        c2, c3 = ((first >> 32) & LOW_WORD) ^ c3 ^ other_key, first & LOW_WORD
        key, other_key = (key + WEYL[0]) & LOW_WORD, (other_key + WEYL[1]) & LOW_WORD
    return c0, c1, c2, c3


def _normal_pair(
    first_bits: torch.Tensor, second_bits: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two independent standard normals from 64 random bits (Box and Muller)."""
    # In double precision, because torch does not promise a correctly rounded root in single.
    radius = (2 * _exponential(first_bits)).double().sqrt().float()
    signed = second_bits - ((second_bits >> 31) << 32)
    turns = signed.float() * 2.0**-32
    squares = turns * turns
    sine, cosine = turns * _polynomial(squares, SINE), _polynomial(squares, COSINE)
    twice = 2 * sine
    return radius * (1 - twice * sine), radius * (twice * cosine)


def _exponential(bits: torch.Tensor) -> torch.Tensor:
    """Return ``-ln u`` of the uniform number of 32 random bits, as ``core.loops.exponential``."""
    word = (bits.float() * 2.0**-32 + 2.0**-33).view(torch.int32)
    exponent = (word - ROOT_OF_HALF) >> MANTISSA_BITS
    mantissa = (word - (exponent << MANTISSA_BITS)).view(torch.float32)
    s = (mantissa - 1) / (mantissa + 1)
    return -(exponent.float() * float(np.log(2.0)) + s * _polynomial(s * s, LOG_SERIES))


def _polynomial(z: torch.Tensor, coefficients: tuple[float, ...]) -> torch.Tensor:
    """Return a polynomial by Horner's rule, rounded after every product and every sum."""
    total = torch.full_like(z, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = coefficient + z * total
    return total
