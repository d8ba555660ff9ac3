"use strict";

// One case of the library: the RBF kernel, points of the plane and two classes. golden.json in the
// tests holds the page to the library's numbers.
//
// Points and frequencies are Float64Arrays of pairs: x0, y0, x1, y1, ... Labels are +1 and -1.

// Cosines and sines of 1,024 angles. An angle is one of them plus a rest r of at most 0.0031, and
// the series in r up to its third power is right to r^4 / 24 < 4e-12. This takes a quarter of the
// time of Math.cos and Math.sin.
const ANGLES = 1024, STEP = 2 * Math.PI / ANGLES;
const COSINES = Float64Array.from({ length: ANGLES }, (_, k) => Math.cos(k * STEP));
const SINES = Float64Array.from({ length: ANGLES }, (_, k) => Math.sin(k * STEP));

// For every frequency, the sums over the points of y exp(i w.x) and of exp(2 i w.x).
function alignmentSums(points, labels, frequencies) {
  const n = labels.length, size = frequencies.length / 2;
  const waves = new Float64Array(2 * size), harmonics = new Float64Array(2 * size);
  for (let m = 0; m < size; m++) {
    const u = frequencies[2 * m] / STEP, v = frequencies[2 * m + 1] / STEP;
    let real = 0, imaginary = 0, real2 = 0, imaginary2 = 0;
    for (let i = 0; i < n; i++) {
      const steps = u * points[2 * i] + v * points[2 * i + 1], whole = Math.floor(steps + 0.5);
      const rest = (steps - whole) * STEP, at = whole & (ANGLES - 1);
      const even = 1 - rest * rest / 2, odd = rest - rest * rest * rest / 6;
      const c = COSINES[at] * even - SINES[at] * odd, s = SINES[at] * even + COSINES[at] * odd;
      real += labels[i] * c;
      imaginary += labels[i] * s;
      real2 += c * c;
      imaginary2 += c * s;
    }
    waves[2 * m] = real;
    waves[2 * m + 1] = imaginary;
    harmonics[2 * m] = 2 * real2 - n;
    harmonics[2 * m + 1] = 2 * imaginary2;
  }
  return { n, waves, harmonics };
}

// The mean of (1 - y y' cos w.(x - x')) / 2 over all pairs of different points.
function alignmentLosses({ n, waves }) {
  const losses = new Float64Array(waves.length / 2);
  for (let m = 0; m < losses.length; m++) {
    const aligned = waves[2 * m] ** 2 + waves[2 * m + 1] ** 2;
    losses[m] = 0.5 - 0.5 * (aligned - n) / (n * (n - 1));
  }
  return losses;
}

// Weights proportional to exp(-t loss).
function gibbsPosterior(losses, inverseTemperature) {
  const smallest = losses.reduce((a, b) => Math.min(a, b));
  const weights = losses.map((loss) => Math.exp(-inverseTemperature * (loss - smallest)));
  const total = sum(weights);
  return weights.map((weight) => weight / total);
}

// Candidates drawn from the posterior one after the other, without replacement: the largest of
// ln Q + Gumbel noise. With the same noise, a small change of the posterior changes few of them.
function drawnFrequencies(posterior, size, noise) {
  const keys = posterior.map((q, m) => Math.log(Math.max(q, Number.MIN_VALUE)) + noise[m]);
  return largest(keys).slice(0, size);
}

// The indices of values, largest first.
function largest(values) {
  return Uint32Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);
}

function dot(a, b) {
  return a.reduce((total, value, k) => total + value * b[k], 0);
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
