"use strict";

// What the user has set, the points, and when things are computed again.

const EPSILONS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
const MOST_POINTS = 600, FRESH_POINTS = 1000, SHOWN_WAVES = 6;
const FIELD_NODES = 81; // of the picture of the decision, along each side
const LINE_END = 0.55; // the largest loss on the number line

const element = (id) => document.getElementById(id);
const inputs = Object.fromEntries(["n", "gamma", "candidates", "beta", "size", "epsilon"]
  .map((id) => [id, element(id)]));

const state = {
  preset: "moons",
  seed: 1,
  marks: [], // the points on the canvas: { x, y, label, isTest }
  training: null, // the sample that is learned from
  test: null, // the sample that the errors are measured on
  isPriorLate: false, // whether settings were changed after the points were seen
  focus: { x: -0.75, y: 0.7 },
  cross: { x: 0, y: 0, isShown: false },
  carried: null,
  pool: null, // the candidates
  sums: null, // of the training sample
  freshSums: null, // of the test sample
  result: null, // what was learned, or null
  refitTime: 0, // in milliseconds
  table: null, // the learned kernel
};

// --- What the user has set --------------------------------------------------------------------

function settings() {
  const exponent = Number(inputs.beta.value), candidates = Number(inputs.candidates.value);
  return {
    n: Number(inputs.n.value),
    gamma: element("multiscale").checked ? null : 10 ** Number(inputs.gamma.value),
    candidates,
    beta: exponent < -1 ? 0 : 10 ** exponent,
    size: Math.min(Number(inputs.size.value), candidates),
    epsilon: EPSILONS[Number(inputs.epsilon.value)],
  };
}

function writeSettings() {
  const { gamma, candidates, beta, size, epsilon } = settings();
  const isOwn = state.preset === "own", n = state.marks.filter((mark) => !mark.isTest).length;
  inputs.gamma.disabled = gamma === null;
  inputs.n.disabled = element("new-points").disabled = isOwn;
  const texts = {
    n: n.toLocaleString("en"),
    gamma: gamma === null ? "all ten" : Number(gamma.toPrecision(2)).toString(),
    candidates: candidates.toLocaleString("en"),
    beta: Number(beta.toPrecision(2)).toString(),
    size: size.toString(),
    epsilon: epsilon.toString(),
  };
  for (const [id, text] of Object.entries(texts)) {
    element(`${id}-value`).textContent = text;
    inputs[id].setAttribute("aria-valuetext", text);
  }
}

// --- Samples ----------------------------------------------------------------------------------

function sampleOf(marks) {
  return {
    points: Float64Array.from(marks.flatMap(({ x, y }) => [x, y])),
    labels: Float64Array.from(marks, ({ label }) => label),
  };
}

function marksOf({ points, labels }) {
  return Array.from(labels, (label, i) =>
    ({ x: points[2 * i], y: points[2 * i + 1], label, isTest: false }));
}

// Take the points of the chosen preset, and fresh ones to measure errors on.
function takePreset() {
  state.marks = marksOf(presetSample(state.preset, settings().n, 2 * state.seed));
  state.test = presetSample(state.preset, FRESH_POINTS, 2 * state.seed + 1);
  schedule("sample", "test");
}

function newPoints() {
  state.seed += 1;
  state.isPriorLate = false;
  takePreset();
  announce("New points.");
}

function choosePreset(name) {
  state.preset = name;
  state.isPriorLate = false;
  state.carried = null;
  document.querySelector(`input[name=preset][value=${name}]`).checked = true;
  if (name !== "own") return takePreset();
  state.marks = [];
  chooseTool("blue");
  pointsChanged();
}

// After a point was moved, added or erased, the sample is the user's own. Every fourth point is
// held out, because there are no fresh ones.
function pointsChanged() {
  if (state.preset !== "own") {
    state.preset = "own";
    document.querySelector("input[name=preset][value=own]").checked = true;
    state.marks.forEach((mark, i) => { mark.isTest = i % 4 === 3 && mark !== state.carried; });
    announce("These are now your own points. A quarter of them is held out for testing.");
  }
  state.test = sampleOf(state.marks.filter((mark) => mark.isTest));
  schedule("sample", "test");
}

function addMark(x, y, label) {
  const isFull = state.marks.length >= MOST_POINTS;
  if (isFull) return announce(`There is room for ${MOST_POINTS} points.`);
  const isTest = state.marks.length % 4 === 3;
  state.marks.push({ x: clipped(x), y: clipped(y), label, isTest });
  pointsChanged();
}

function eraseMark(mark) {
  if (!mark) return;
  state.marks.splice(state.marks.indexOf(mark), 1);
  pointsChanged();
}

function moveMark(mark, x, y) {
  Object.assign(mark, { x: clipped(x), y: clipped(y) });
  pointsChanged();
}

function nearestMark(x, y, reach) {
  let best = null, least = reach;
  for (const mark of state.marks) {
    const distance = Math.hypot(mark.x - x, mark.y - y);
    if (distance <= least) [best, least] = [mark, distance];
  }
  return best;
}

function clipped(value) {
  return Math.min(Math.max(value, -HALF_WIDTH), HALF_WIDTH);
}

// --- Computing, at most once per frame --------------------------------------------------------

const stale = new Set();
let frame = null, freshTimer = null, statusTimer = null;

// Ask for a new frame, and say what is out of date: the pool of candidates, the sample, the test
// points, the choice of a posterior, or only pictures.
function schedule(...parts) {
  parts.forEach((part) => stale.add(part));
  frame ??= requestAnimationFrame(refresh);
}

function refresh() {
  frame = null;
  const parts = new Set(stale);
  stale.clear();
  if (["pool", "sample", "test", "choice"].some((part) => parts.has(part))) {
    if (parts.has("pool") || parts.has("test")) forgetFresh();
    refit(parts.has("pool"), parts.has("pool") || parts.has("sample"));
    writeSettings();
    writeResults();
    drawAll();
  } else if (parts.has("pictures")) {
    drawAll();
  } else {
    drawSimilarity();
  }
}

function refit(isPool, isSample) {
  const chosen = settings(), start = performance.now();
  const training = sampleOf(state.marks.filter((mark) => !mark.isTest));
  if (isPool) state.pool = candidatePool(chosen.candidates, chosen.gamma, 1000);
  const why = obstacle(training.labels);
  element("message").textContent = why ?? "";
  element("message").hidden = !why;
  state.training = training;
  state.result = state.table = null;
  if (why) return;
  if (isSample || !state.sums) {
    state.sums = alignmentSums(training.points, training.labels, state.pool.frequencies);
  }
  state.result = learned(training, state.pool, state.sums, chosen);
  state.refitTime = performance.now() - start;
  state.table = kernelTable(state.pool.frequencies, state.result.posterior);
}

// The loss on fresh points takes longer than a fit, and it can wait until the user pauses.
function forgetFresh() {
  state.freshSums = null;
  clearTimeout(freshTimer);
  freshTimer = setTimeout(measureFresh, 150);
}

function measureFresh() {
  const { points, labels } = state.test;
  if (obstacle(labels)) return;
  state.freshSums = alignmentSums(points, labels, state.pool.frequencies);
  writeLosses();
}
