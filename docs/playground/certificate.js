"use strict";

// The first-order bound: a certified mean amplitude of the waves on new points.

const RATES = 4, LARGEST_RATE = 0.8;
const CENTRES = [0.3, 0.6, 0.9], SHARE_OF_ZERO = 0.5;
const LARGEST_SHARE = 0.9, RATE_RATIO = 1.5;
const ARCS = Float64Array.from({ length: 2000 }, (_, k) => 1e-3 * 1500 ** (k / 1999));
const ARC_SHRINKAGE = ARCS.map((arc) => Math.sin(arc) / arc);
const ARC_LOGS = ARCS.map(Math.log);
const DOUBLE_SHRINKAGE = ARCS.map((arc) => Math.sin(2 * arc) / (2 * arc));

// The amplitude a = |mean of y exp(i w.x)| and the mean of cos 2 (w.x - its angle).
function signedWaves({ n, waves, harmonics }) {
  const size = waves.length / 2;
  const amplitudes = new Float64Array(size), seconds = new Float64Array(size);
  for (let m = 0; m < size; m++) {
    const length = Math.hypot(waves[2 * m], waves[2 * m + 1]);
    const c = length > 0 ? waves[2 * m] / length : 1;
    const s = length > 0 ? waves[2 * m + 1] / length : 0;
    const along = harmonics[2 * m] * (c * c - s * s) + harmonics[2 * m + 1] * 2 * c * s;
    amplitudes[m] = Math.min(length / n, 1);
    seconds[m] = Math.min(Math.max(along / n, 2 * amplitudes[m] ** 2 - 1), 1);
  }
  return { amplitudes, seconds };
}

// What the bound needs of the posterior tilted by the amplitudes, Q' = Q a / E a.
function tilt(posterior, amplitudes, seconds) {
  const mean = dot(posterior, amplitudes);
  const square = posterior.reduce((total, q, m) => total + q * amplitudes[m] ** 2, 0);
  if (square === 0) return { amplitude: 0, second: 0, divergence: 0, concentration: 0 };
  const tilted = posterior.map((q, m) => q * amplitudes[m] / mean);
  return {
    amplitude: dot(tilted, amplitudes),
    second: dot(tilted, seconds),
    divergence: klDivergence(tilted),
    concentration: Math.min(mean ** 2 / square, 1),
  };
}

// The divergence of weights from equal weights, in nats.
function klDivergence(weights) {
  const entropy = weights.reduce((total, q) => q > 0 ? total - q * Math.log(q) : total, 0);
  return Math.max(Math.log(weights.length) - entropy, 0);
}

// Centres, rates and their shares of epsilon, which depend on n, N and epsilon alone.
function firstOrderGrid(n, size, epsilon) {
  const nats = Math.log(RATES / epsilon) + 1;
  const lower = Math.sqrt(2 * nats / n);
  const upper = Math.sqrt(2 * (nats + 1.5 + Math.log(size)) / (0.35 * n));
  const least = Math.min(0.3, 7 / Math.sqrt(n));
  const steps = Math.floor(Math.log(LARGEST_SHARE / least) / Math.log(RATE_RATIO)) + 1;
  const first = Array.from({ length: RATES }, (_, k) => ({
    centre: 0,
    eta: Math.min(LARGEST_RATE, lower * (upper / lower) ** ((k + 0.5) / RATES)),
    weight: SHARE_OF_ZERO / RATES,
  }));
  const more = CENTRES.flatMap((centre) => Array.from({ length: steps }, (_, k) => ({
    centre,
    eta: LARGEST_SHARE / RATE_RATIO ** k / (1 + centre),
    weight: (1 - SHARE_OF_ZERO) / (CENTRES.length * steps),
  })));
  return [...first, ...more];
}

// v(u) = (-ln(1 - u) - u) / u^2, by its series where the difference would lose digits.
function bernsteinFactor(u) {
  if (u >= 0.1) return (-Math.log1p(-u) - u) / u ** 2;
  let series = 0;
  for (let k = 18; k >= 2; k--) series = series * u + 1 / k;
  return series;
}

// The best certified mean amplitude rho over the grid and the arcs, with the terms it pays.
function certifiedAmplitude(tilted, n, size, epsilon) {
  let best = { rho: -Infinity };
  for (const { centre, eta, weight } of firstOrderGrid(n, size, epsilon)) {
    const factor = bernsteinFactor(eta * (1 + centre)) * eta ** 2;
    const fixed = tilted.divergence + Math.log(Math.PI / (weight * epsilon));
    for (let k = 0; k < ARCS.length; k++) {
      const mean = tilted.amplitude * ARC_SHRINKAGE[k];
      const second = tilted.second * DOUBLE_SHRINKAGE[k];
      const square = 0.5 * (1 + second) - 2 * centre * mean + centre ** 2;
      const price = (fixed - ARC_LOGS[k]) / n;
      const exponent = eta * (centre - mean) + factor * square + price;
      const rho = (centre + Math.expm1(-exponent) / eta) / ARC_SHRINKAGE[k];
      if (rho > best.rho) best = { rho, arc: ARCS[k], weight, eta, centre };
    }
  }
  return { ...best, rho: Math.min(Math.max(best.rho, 0), 1) };
}

// The bound L <= (1 - concentration rho^2) / 2 on new data, and its terms in nats.
function firstOrder({ posterior, amplitudes, seconds, n, epsilon }) {
  const tilted = tilt(posterior, amplitudes, seconds);
  const best = certifiedAmplitude(tilted, n, posterior.length, epsilon);
  return {
    value: 0.5 * (1 - tilted.concentration * best.rho ** 2),
    ...tilted,
    ...best,
    phaseNats: Math.log(Math.PI / best.arc),
    confidenceNats: Math.log(1 / (best.weight * epsilon)),
  };
}

// The smallest loss of a kernel that is unrelated to the labels, and that of the constant kernel.
function yardsticks(labels) {
  const n = labels.length, total = sum(labels);
  const constant = 0.5 - 0.5 * (total ** 2 - n) / (n * (n - 1));
  return { constant, unrelated: Math.min(0.5, constant) };
}
