"use strict";

// What each canvas of the page shows.

let palette = null;

function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const rgb = (name) => [1, 3, 5].map((k) => parseInt(colour(name).slice(k, k + 2), 16));
  palette = {
    ink: colour("ink"), paper: colour("paper"), line: colour("line"), soft: colour("soft"),
    blue: colour("blue"), orange: colour("orange"),
    prior: colour("prior"), posterior: colour("accent"),
    classes: { positive: rgb("blue"), negative: rgb("orange"), neutral: rgb("paper") },
    similarity: { positive: rgb("similar"), negative: rgb("opposite"), neutral: rgb("paper") },
  };
}

function drawAll() {
  drawPoints();
  drawSimilarity();
  drawFrequencies();
  drawWaves();
}

function drawPoints() {
  const { context, side } = preparedCanvas(element("points"));
  if (state.result) drawDecision(context, side);
  const isOwn = state.preset === "own", radius = side < 300 ? 3.2 : 3.8;
  if (isOwn) drawSample(context, side, state.test, radius, palette, true);
  drawSample(context, side, state.training, radius, palette, false);
  element("held-out").hidden = !isOwn || !state.test.labels.length;
  if (state.cross.isShown) drawCross(context, side);
  element("points").setAttribute("aria-label", `Points of two colours: `
    + `${count(1)} blue and ${count(-1)} orange`);
}

function count(label) {
  return state.marks.filter((mark) => mark.label === label).length;
}

function drawDecision(context, side) {
  const { keptFrequencies, model } = state.result, size = keptFrequencies.length / 2;
  const scale = 1 / Math.sqrt(size), nodes = regularGrid(-HALF_WIDTH, HALF_WIDTH, FIELD_NODES);
  const part = (k) =>
    Float64Array.from({ length: size }, (_, m) => scale * model.coefficients[2 * m + k]);
  const values = waveGrid(keptFrequencies, part(0), part(1), nodes, nodes)
    .map((value) => value + model.intercept);
  paintField(context, side, FIELD_NODES, (i, j) => Math.tanh(1.5 * values[j * FIELD_NODES + i]),
    palette.classes, 0.34);
  context.strokeStyle = palette.ink;
  context.lineWidth = 2;
  drawZeroLine(context, side, FIELD_NODES, values);
}

function drawCross(context, side) {
  const [x, y] = toPixel(side, state.cross.x, state.cross.y);
  for (const [colour, width] of [[palette.paper, 5], [palette.ink, 2]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x - 11, y);
    context.lineTo(x + 11, y);
    context.moveTo(x, y - 11);
    context.lineTo(x, y + 11);
    context.stroke();
  }
}

function drawSimilarity() {
  const { context, side } = preparedCanvas(element("similarity")), { x, y } = state.focus;
  const [left, top] = toPixel(side, x, y), handle = element("handle");
  handle.style.left = `${left}px`;
  handle.style.top = `${top}px`;
  handle.setAttribute("aria-label", `Point to compare with, at ${fixed(x, 2)}, ${fixed(y, 2)}. `
    + "The arrow keys move it.");
  if (!state.table) return;
  const { cells, step } = state.table, at = (k) => (k + 0.5) * step - HALF_WIDTH;
  paintField(context, side, cells, (i, j) => kernelValue(state.table, at(i) - x, at(j) - y),
    palette.similarity, 0.85);
  drawSample(context, side, state.training, 2.2, palette, false);
  const mean = (label) => meanSimilarity(label, x, y);
  write({ "similarity-text": `Mean similarity of the ring to blue points: ${fixed(mean(1), 2)}, `
    + `to orange points: ${fixed(mean(-1), 2)}. The most is 1, the least −1.` });
}

function meanSimilarity(label, x, y) {
  const marks = state.marks.filter((mark) => mark.label === label && !mark.isTest);
  return sum(marks.map((mark) => kernelValue(state.table, mark.x - x, mark.y - y))) / marks.length;
}

function drawFrequencies() {
  const { context, side } = preparedCanvas(element("cloud"));
  drawRings(context, side, palette);
  const posterior = state.result?.posterior ?? new Float64Array(state.pool.noise.length);
  drawCloud(context, side, state.pool.frequencies, posterior, palette);
  if (state.result) drawKept(context, side, state.result.keptFrequencies, palette);
  drawRingLabels(context, side, palette);
}

// The kept waves of smallest loss, each with its crest where the blue points are.
function drawWaves() {
  if (!state.result) return;
  const { losses, kept } = state.result, { waves } = state.sums, { frequencies } = state.pool;
  const shown = Array.from(kept).sort((a, b) => losses[a] - losses[b]).slice(0, SHOWN_WAVES);
  const strip = element("waves");
  while (strip.children.length > shown.length) strip.lastChild.remove();
  while (strip.children.length < shown.length) {
    const figure = document.createElement("figure");
    figure.append(document.createElement("canvas"), document.createElement("figcaption"));
    strip.append(figure);
  }
  const nodes = regularGrid(-HALF_WIDTH, HALF_WIDTH, 40);
  shown.forEach((m, k) => {
    const [canvas, caption] = strip.children[k].children;
    const { context, side } = preparedCanvas(canvas);
    const length = Math.hypot(waves[2 * m], waves[2 * m + 1]) || 1;
    const values = waveGrid(frequencies.slice(2 * m, 2 * m + 2), [waves[2 * m] / length],
      [waves[2 * m + 1] / length], nodes, nodes);
    paintField(context, side, 40, (i, j) => values[40 * j + i], palette.classes, 0.75);
    caption.textContent = `loss ${fixed(losses[m], 2)}`;
  });
}
