"use strict";

// What the canvases show: functions on grids as images, points, and clouds of frequencies.

// Returns the context of a canvas that is as sharp as the screen, and its size in CSS pixels.
function preparedCanvas(canvas) {
  const side = canvas.clientWidth, height = canvas.clientHeight;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(side * ratio)) canvas.width = Math.round(side * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, side, height);
  return { context, side };
}

function toPixel(side, x, y) {
  return [(x + HALF_WIDTH) / (2 * HALF_WIDTH) * side, (HALF_WIDTH - y) / (2 * HALF_WIDTH) * side];
}

function toPlane(side, left, top) {
  return [left / side * 2 * HALF_WIDTH - HALF_WIDTH, HALF_WIDTH - top / side * 2 * HALF_WIDTH];
}

let scratch = null;

// Paints a square grid of values in [-1, 1], whose rows go upwards: one colour for each sign.
function paintField(context, side, cells, valueAt, palette, strength) {
  scratch ??= document.createElement("canvas");
  scratch.width = scratch.height = cells;
  const inner = scratch.getContext("2d"), image = inner.createImageData(cells, cells);
  for (let row = 0; row < cells; row++) {
    for (let column = 0; column < cells; column++) {
      const value = valueAt(column, cells - 1 - row);
      const colour = value > 0 ? palette.positive : palette.negative;
      const share = Math.min(Math.abs(value), 1) * strength, at = 4 * (row * cells + column);
      for (let k = 0; k < 3; k++) {
        image.data[at + k] = palette.neutral[k] + share * (colour[k] - palette.neutral[k]);
      }
      image.data[at + 3] = 255;
    }
  }
  inner.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = true;
  context.imageSmoothingQuality = "high";
  context.drawImage(scratch, 0, 0, side, side);
}

// Draws where values on a grid of nodes are zero: a segment through each cell that changes sign.
function drawZeroLine(context, side, size, values) {
  const scale = side / (size - 1);
  context.beginPath();
  for (let j = 0; j + 1 < size; j++) {
    for (let i = 0; i + 1 < size; i++) {
      const crossings = cellCrossings(values, size, i, j);
      for (let k = 0; k + 1 < crossings.length; k += 2) {
        context.moveTo(crossings[k][0] * scale, side - crossings[k][1] * scale);
        context.lineTo(crossings[k + 1][0] * scale, side - crossings[k + 1][1] * scale);
      }
    }
  }
  context.stroke();
}

// The points on the edges of a cell where the value is zero: none, two or four.
function cellCrossings(values, size, i, j) {
  const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
  const at = corners.map(([x, y]) => values[y * size + x]);
  const crossings = [];
  for (let k = 0; k < 4; k++) {
    const next = (k + 1) % 4;
    if (at[k] > 0 === at[next] > 0) continue;
    const share = at[k] / (at[k] - at[next]);
    crossings.push([0, 1].map((axis) => corners[k][axis]
      + share * (corners[next][axis] - corners[k][axis])));
  }
  return crossings;
}

// A point: a disc for blue and a diamond for orange, so that no one has to tell the colours apart.
function drawMark(context, x, y, label, radius, palette, isHollow) {
  context.beginPath();
  if (label > 0) {
    context.arc(x, y, radius, 0, 2 * Math.PI);
  } else {
    const reach = 1.3 * radius;
    context.moveTo(x, y - reach);
    context.lineTo(x + reach, y);
    context.lineTo(x, y + reach);
    context.lineTo(x - reach, y);
    context.closePath();
  }
  const colour = label > 0 ? palette.blue : palette.orange;
  context.fillStyle = isHollow ? palette.paper : colour;
  context.strokeStyle = isHollow ? colour : palette.paper;
  context.lineWidth = isHollow ? 1.6 : 1;
  context.fill();
  context.stroke();
}

function drawSample(context, side, sample, radius, palette, isHollow) {
  for (let i = 0; i < sample.labels.length; i++) {
    const [x, y] = toPixel(side, sample.points[2 * i], sample.points[2 * i + 1]);
    drawMark(context, x, y, sample.labels[i], radius, palette, isHollow);
  }
}

// --- Frequencies ------------------------------------------------------------------------------

const RINGS = [1, 3, 10, 30];
const LARGEST_FREQUENCY = 60, NEAR_LINEAR = 0.5;

// Lengths are compressed like a logarithm, so that frequencies of every scale are seen.
function warpedLength(length) {
  return Math.asinh(length / NEAR_LINEAR) / Math.asinh(LARGEST_FREQUENCY / NEAR_LINEAR);
}

function frequencyPixel(side, u, v) {
  const length = Math.hypot(u, v), reach = length > 0 ? warpedLength(length) / length : 0;
  return [side / 2 * (1 + 0.96 * reach * u), side / 2 * (1 - 0.96 * reach * v)];
}

function drawRings(context, side, palette) {
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  for (const ring of RINGS) {
    const radius = 0.96 * side / 2 * warpedLength(ring);
    context.beginPath();
    context.arc(side / 2, side / 2, radius, 0, 2 * Math.PI);
    context.stroke();
  }
}

function drawRingLabels(context, side, palette) {
  context.font = "600 11px system-ui, sans-serif";
  context.textAlign = "center";
  context.lineWidth = 3;
  context.strokeStyle = palette.paper;
  context.fillStyle = palette.soft;
  for (const ring of RINGS) {
    const top = side / 2 - 0.96 * side / 2 * warpedLength(ring) + 4;
    context.strokeText(String(ring), side / 2, top);
    context.fillText(String(ring), side / 2, top);
  }
}

// The prior as grey dots of one size; the posterior as discs whose area is the weight.
function drawCloud(context, side, frequencies, posterior, palette) {
  const pixels = Array.from(posterior, (_, m) =>
    frequencyPixel(side, frequencies[2 * m], frequencies[2 * m + 1]));
  context.fillStyle = palette.prior;
  for (const [x, y] of pixels) context.fillRect(x - 0.9, y - 0.9, 1.8, 1.8);
  context.fillStyle = palette.posterior;
  context.globalAlpha = 0.5;
  posterior.forEach((weight, m) => {
    const radius = Math.min(0.11 * side * Math.sqrt(weight), 18);
    if (radius < 0.6) return;
    context.beginPath();
    context.arc(...pixels[m], radius, 0, 2 * Math.PI);
    context.fill();
  });
  context.globalAlpha = 1;
}

function drawKept(context, side, keptFrequencies, palette) {
  context.strokeStyle = palette.ink;
  context.lineWidth = 1.3;
  for (let m = 0; m < keptFrequencies.length / 2; m++) {
    context.beginPath();
    const [x, y] = frequencyPixel(side, keptFrequencies[2 * m], keptFrequencies[2 * m + 1]);
    context.arc(x, y, 4.2, 0, 2 * Math.PI);
    context.stroke();
  }
}
