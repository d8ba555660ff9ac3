"use strict";

// Everything that is learned from a sample.

const RIDGE_PENALTY = 0.1;

// Why a sample cannot be learned from, in words for the user, or null.
function obstacle(labels) {
  if (labels.length < 2) return "Add at least two points, one of each colour.";
  if (labels.every((label) => label === labels[0])) {
    return "All points have one colour. Add a point of the other colour.";
  }
  return null;
}

// What is learned from the sums of a sample: the posterior, the kept frequencies, the linear model
// and the certificates of both kernels.
function learned({ points, labels }, { frequencies, noise }, sums, { beta, size, epsilon }) {
  const n = labels.length, losses = alignmentLosses(sums);
  const posterior = gibbsPosterior(losses, beta * Math.sqrt(n));
  const kept = drawnFrequencies(posterior, size, noise);
  const deployed = new Float64Array(posterior.length);
  for (const m of kept) deployed[m] = 1 / kept.length;
  const keptFrequencies = rowsOf(frequencies, kept), rows = features(points, keptFrequencies);
  const { amplitudes, seconds } = signedWaves(sums), model = ridge(rows, labels, RIDGE_PENALTY);
  const bound = (weights) => firstOrder({ posterior: weights, amplitudes, seconds, n, epsilon });
  return {
    losses,
    posterior,
    kept,
    keptFrequencies,
    model,
    divergence: klDivergence(posterior),
    effectiveSize: 1 / dot(posterior, posterior),
    sampleLoss: dot(posterior, losses),
    certificate: bound(posterior),
    deployedCertificate: bound(deployed),
    yardsticks: yardsticks(labels),
    trainingError: errorRate(decisions(rows, model), labels),
  };
}

function rowsOf(pairs, indices) {
  return Float64Array.from({ length: 2 * indices.length },
    (_, k) => pairs[2 * indices[k >> 1] + (k & 1)]);
}
