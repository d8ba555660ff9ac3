"use strict";

// Random numbers, candidate frequencies and the ready-made samples.

const HALF_WIDTH = 2; // Points lie in the square from -2 to 2.
const MULTISCALE = Array.from({ length: 10 }, (_, k) => 10 ** (k - 7)); // the library's grid

// A generator of uniform numbers in (0, 1): the same seed gives the same numbers.
function uniformGenerator(seed) {
  let state = (seed * 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (((bits ^ (bits >>> 14)) >>> 0) + 0.5) / 2 ** 32;
  };
}

// Two independent standard normal numbers.
function normalPair(uniform) {
  const radius = Math.sqrt(-2 * Math.log(uniform())), angle = 2 * Math.PI * uniform();
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}

// Candidates from the Fourier transform of exp(-gamma |x - x'|^2), which is N(0, 2 gamma I).
// A gamma of null means the multi-scale prior: each of its bandwidths is equally likely. The Gumbel
// noise is for the draw of the kept frequencies.
function candidatePool(size, gamma, seed) {
  const uniform = uniformGenerator(seed);
  const frequencies = new Float64Array(2 * size), noise = new Float64Array(size);
  for (let m = 0; m < size; m++) {
    const pick = MULTISCALE[Math.floor(uniform() * MULTISCALE.length)];
    const scale = Math.sqrt(2 * (gamma ?? pick));
    frequencies.set(normalPair(uniform).map((value) => scale * value), 2 * m);
    noise[m] = -Math.log(-Math.log(uniform()));
  }
  return { frequencies, noise };
}

// Each preset turns a class (+1 or -1) and random numbers into a point.
const PRESETS = {
  moons: (label, uniform) => {
    const angle = Math.PI * uniform(), [a, b] = normalPair(uniform);
    const [x, y] = label > 0
      ? [Math.cos(angle) - 0.5, Math.sin(angle) - 0.25]
      : [0.5 - Math.cos(angle), 0.25 - Math.sin(angle)];
    return [1.05 * x + 0.13 * a, 1.05 * y + 0.13 * b];
  },
  circles: (label, uniform) => {
    const angle = 2 * Math.PI * uniform(), [a, b] = normalPair(uniform);
    const radius = label > 0 ? 0.6 : 1.35;
    return [radius * Math.cos(angle) + 0.13 * a, radius * Math.sin(angle) + 0.13 * b];
  },
  xor: (label, uniform) => {
    const x = 3 * uniform() - 1.5, height = 1.5 * uniform(), [a, b] = normalPair(uniform);
    return [x + 0.06 * a, (x > 0 === label > 0 ? height : -height) + 0.06 * b];
  },
  blobs: (label, uniform) => {
    const [a, b] = normalPair(uniform);
    return [0.75 * label + 0.5 * a, 0.45 * label + 0.5 * b];
  },
  spirals: (label, uniform) => {
    const turn = Math.sqrt(0.04 + 0.96 * uniform()), [a, b] = normalPair(uniform);
    const angle = 3 * Math.PI * turn, radius = 1.7 * turn * label;
    return [radius * Math.cos(angle) + 0.06 * a, radius * Math.sin(angle) + 0.06 * b];
  },
};

// Independent draws: every point has either class with probability one half.
function presetSample(name, n, seed) {
  const uniform = uniformGenerator(seed);
  const points = new Float64Array(2 * n), labels = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    labels[i] = uniform() < 0.5 ? -1 : 1;
    points.set(PRESETS[name](labels[i], uniform), 2 * i);
  }
  return { points, labels };
}
