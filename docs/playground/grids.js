"use strict";

// Sums of waves on regular grids, for the pictures.

// A sum of waves, a cos(w.x) + b sin(w.x), on the product of two regular grids of numbers.
function waveGrid(frequencies, cosines, sines, xs, ys) {
  const values = new Float64Array(xs.length * ys.length);
  const along = new Float64Array(xs.length), across = new Float64Array(xs.length);
  for (let m = 0; m < cosines.length; m++) {
    const u = frequencies[2 * m], v = frequencies[2 * m + 1];
    for (let i = 0; i < xs.length; i++) {
      const c = Math.cos(u * xs[i]), s = Math.sin(u * xs[i]);
      along[i] = cosines[m] * c + sines[m] * s;
      across[i] = sines[m] * c - cosines[m] * s;
    }
    for (let j = 0; j < ys.length; j++) {
      const c = Math.cos(v * ys[j]), s = Math.sin(v * ys[j]), start = j * xs.length;
      for (let i = 0; i < xs.length; i++) values[start + i] += c * along[i] + s * across[i];
    }
  }
  return values;
}

function regularGrid(start, end, size) {
  return Float64Array.from({ length: size }, (_, k) => start + (end - start) * k / (size - 1));
}

// The learned kernel as a function of the difference of two points. It is even, so half of the
// plane is enough. Candidates that share the last half percent of the mass are left out.
function kernelTable(frequencies, posterior) {
  const order = largest(posterior);
  let size = 0, mass = 0;
  while (size < order.length && mass < 0.995) mass += posterior[order[size++]];
  const heavy = order.slice(0, size);
  const weights = Float64Array.from(heavy, (m) => posterior[m] / mass);
  const cells = Math.round(Math.min(Math.max(Math.sqrt(3e6 / size), 40), 128));
  const values = evenWaves(rowsOf(frequencies, heavy), weights, cells);
  return { cells, step: 2 * HALF_WIDTH / cells, values };
}

// The sum of weight * cos(w.x) on the upper half plane, from a quarter of it:
// cos(a + b) = cos a cos b - sin a sin b, and the second term changes its sign with a.
function evenWaves(frequencies, weights, cells) {
  const size = cells + 1, width = 2 * cells + 1, nodes = regularGrid(0, 2 * HALF_WIDTH, size);
  const even = new Float64Array(size * size), odd = new Float64Array(size * size);
  const cosines = new Float64Array(size), sines = new Float64Array(size);
  for (let m = 0; m < weights.length; m++) {
    const u = frequencies[2 * m], v = frequencies[2 * m + 1];
    for (let i = 0; i < size; i++) {
      cosines[i] = weights[m] * Math.cos(u * nodes[i]);
      sines[i] = weights[m] * Math.sin(u * nodes[i]);
    }
    for (let j = 0; j < size; j++) {
      const c = Math.cos(v * nodes[j]), s = Math.sin(v * nodes[j]), start = j * size;
      for (let i = 0; i < size; i++) {
        even[start + i] += c * cosines[i];
        odd[start + i] += s * sines[i];
      }
    }
  }
  return Float64Array.from({ length: size * width }, (_, k) => {
    const x = k % width - cells, at = Math.floor(k / width) * size + Math.abs(x);
    return even[at] - Math.sign(x) * odd[at];
  });
}

// The kernel between two points that differ by (dx, dy), by interpolation in the table.
function kernelValue({ cells, step, values }, dx, dy) {
  const sign = dy < 0 ? -1 : 1, width = 2 * cells + 1;
  const x = sign * dx / step + cells, y = sign * dy / step;
  const i = Math.min(Math.max(Math.floor(x), 0), width - 2), j = Math.min(Math.floor(y), cells - 1);
  const a = x - i, b = y - j, at = j * width + i;
  return (1 - b) * ((1 - a) * values[at] + a * values[at + 1])
    + b * ((1 - a) * values[at + width] + a * values[at + width + 1]);
}
