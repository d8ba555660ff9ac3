"use strict";

// Ridge regression on the cosines and sines of the kept frequencies.

// One row of unit length for each point: cosine and sine of each kept frequency.
function features(points, frequencies) {
  const n = points.length / 2, size = frequencies.length / 2, rows = new Float64Array(2 * n * size);
  const scale = 1 / Math.sqrt(size);
  for (let m = 0; m < size; m++) {
    const u = frequencies[2 * m], v = frequencies[2 * m + 1];
    for (let i = 0; i < n; i++) {
      const phase = u * points[2 * i] + v * points[2 * i + 1];
      rows[2 * (i * size + m)] = scale * Math.cos(phase);
      rows[2 * (i * size + m) + 1] = scale * Math.sin(phase);
    }
  }
  return rows;
}

// Ridge regression of the labels with an intercept. It solves for columns or for rows, whichever
// are fewer.
function ridge(rows, labels, penalty) {
  const n = labels.length, width = rows.length / n;
  const means = columnMeans(rows, n, width), offset = sum(labels) / n;
  const centred = rows.map((value, k) => value - means[k % width]);
  const target = labels.map((label) => label - offset);
  let coefficients;
  if (width <= n) {
    const gram = gramMatrix(transposed(centred, n, width), width, n, penalty);
    coefficients = solved(gram, columnProducts(centred, target, width));
  } else {
    const dual = solved(gramMatrix(centred, n, width, penalty), target);
    coefficients = columnProducts(centred, dual, width);
  }
  return { coefficients, intercept: offset - dot(means, coefficients) };
}

function decisions(rows, { coefficients, intercept }) {
  const width = coefficients.length;
  return Float64Array.from({ length: rows.length / width }, (_, i) => {
    let value = intercept;
    for (let k = 0; k < width; k++) value += rows[i * width + k] * coefficients[k];
    return value;
  });
}

// The share of points on the wrong side.
function errorRate(values, labels) {
  return values.reduce((wrong, value, i) => wrong + (value * labels[i] <= 0), 0) / labels.length;
}

function columnMeans(rows, n, width) {
  const means = new Float64Array(width);
  for (let k = 0; k < rows.length; k++) means[k % width] += rows[k] / n;
  return means;
}

function columnProducts(rows, values, width) {
  const products = new Float64Array(width);
  for (let i = 0; i < values.length; i++) {
    for (let k = 0; k < width; k++) products[k] += rows[i * width + k] * values[i];
  }
  return products;
}

function transposed(rows, n, width) {
  const columns = new Float64Array(rows.length);
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < width; k++) columns[k * n + i] = rows[i * width + k];
  }
  return columns;
}

// Inner products of the rows, plus the penalty on the diagonal; the lower triangle only.
function gramMatrix(rows, n, width, penalty) {
  const gram = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let total = i === j ? penalty : 0;
      for (let k = 0; k < width; k++) total += rows[i * width + k] * rows[j * width + k];
      gram[i * n + j] = total;
    }
  }
  return gram;
}

// The solution of A x = b for a positive definite A, which is overwritten by its Cholesky factor.
function solved(A, b) {
  const n = b.length, x = Float64Array.from(b);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let rest = A[i * n + j];
      for (let k = 0; k < j; k++) rest -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = i === j ? Math.sqrt(rest) : rest / A[j * n + j];
    }
    for (let k = 0; k < i; k++) x[i] -= A[i * n + k] * x[k];
    x[i] /= A[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) x[i] -= A[k * n + i] * x[k];
    x[i] /= A[i * n + i];
  }
  return x;
}
