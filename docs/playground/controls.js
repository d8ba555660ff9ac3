"use strict";

// Pointer, keyboard and theme.

function tool() {
  return document.querySelector("input[name=tool]:checked").value;
}

function chooseTool(name) {
  document.querySelector(`input[name=tool][value=${name}]`).checked = true;
}

function planePosition(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return toPlane(box.width, event.clientX - box.left, event.clientY - box.top);
}

// How far from the pointer a point may be, in units of the plane.
function reachOf(event) {
  const pixels = event.pointerType === "touch" || event.touches ? 22 : 12;
  return pixels * 2 * HALF_WIDTH / element("points").clientWidth;
}

const BRUSHES = { blue: 1, orange: -1 };
let lastDrawn = null;

function pointsDown(event) {
  if (event.button !== 0) return;
  const canvas = element("points"), [x, y] = planePosition(canvas, event), chosen = tool();
  state.cross.isShown = false;
  canvas.setPointerCapture(event.pointerId);
  if (chosen === "move") {
    state.carried = nearestMark(x, y, reachOf(event));
  } else {
    lastDrawn = [x, y];
    useTool(chosen, x, y, reachOf(event));
  }
}

function pointsMove(event) {
  const canvas = element("points"), [x, y] = planePosition(canvas, event), chosen = tool();
  if (!canvas.hasPointerCapture(event.pointerId)) return;
  if (state.carried) return moveMark(state.carried, x, y);
  if (!lastDrawn || Math.hypot(x - lastDrawn[0], y - lastDrawn[1]) < 0.16) return;
  lastDrawn = [x, y];
  useTool(chosen, x, y, reachOf(event));
}

function pointsUp() {
  state.carried = lastDrawn = null;
}

function useTool(chosen, x, y, reach) {
  if (chosen in BRUSHES) addMark(x, y, BRUSHES[chosen]);
  if (chosen === "erase") eraseMark(nearestMark(x, y, reach));
}

// A finger that touches a point or draws must not scroll the page; any other may.
function pointsTouch(event) {
  const [x, y] = planePosition(element("points"), event.touches[0]);
  if (tool() !== "move" || nearestMark(x, y, reachOf(event))) event.preventDefault();
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

// The place one step further, if the key is an arrow; a fifth of a step with Shift.
function stepped({ x, y }, event) {
  const direction = ARROWS[event.key], size = event.shiftKey ? 0.02 : 0.1;
  if (!direction) return null;
  event.preventDefault();
  return { x: clipped(x + size * direction[0]), y: clipped(y + size * direction[1]) };
}

function pointsKey(event) {
  const place = stepped(state.cross, event);
  if (place) {
    Object.assign(state.cross, place, { isShown: true });
    if (state.carried) moveMark(state.carried, place.x, place.y);
    else schedule("pictures");
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    state.cross.isShown = true;
    useToolAtCross();
  } else if (event.key === "Delete" || event.key === "Backspace") {
    event.preventDefault();
    eraseMark(nearestMark(state.cross.x, state.cross.y, Infinity));
  }
}

function useToolAtCross() {
  const { x, y } = state.cross, chosen = tool();
  if (chosen !== "move") {
    useTool(chosen, x, y, Infinity);
    return announce(`${chosen} at ${fixed(x, 1)}, ${fixed(y, 1)}. ${state.marks.length} points.`);
  }
  state.carried = state.carried ? null : nearestMark(x, y, Infinity);
  if (state.carried) Object.assign(state.cross, { x: state.carried.x, y: state.carried.y });
  schedule("pictures");
  announce(state.carried ? "Picked up a point. The arrow keys move it." : "Put down.");
}

function moveFocus(place) {
  state.focus = { x: clipped(place.x), y: clipped(place.y) };
  schedule("focus");
}

function focusAt(event) {
  const [x, y] = planePosition(element("similarity"), event);
  moveFocus({ x, y });
}

// A drag of the ring. With a mouse it can also start anywhere on the picture.
function focusDown(event) {
  const handle = element("handle");
  if (event.target !== handle && event.pointerType === "touch") return;
  event.preventDefault();
  handle.focus({ preventScroll: true });
  handle.setPointerCapture(event.pointerId);
  if (event.target !== handle) focusAt(event);
}

function focusKey(event) {
  const place = stepped(state.focus, event);
  if (!place) return;
  moveFocus(place);
  clearTimeout(statusTimer);
  statusTimer = setTimeout(() => announce(element("similarity-text").textContent), 700);
}

// --- Theme ------------------------------------------------------------------------------------

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const other = theme === "dark" ? "light" : "dark";
  element("theme").textContent = other === "dark" ? "Dark" : "Light";
  element("theme").setAttribute("aria-label", `Switch to the ${other} theme`);
  readPalette();
  schedule("pictures");
}

// --- Start ------------------------------------------------------------------------------------

function listen() {
  const late = (...parts) => () => {
    state.isPriorLate = state.preset !== "own";
    schedule(...parts);
  };
  inputs.n.addEventListener("input", () => { state.isPriorLate = true; takePreset(); });
  for (const id of ["gamma", "multiscale", "candidates"]) {
    element(id).addEventListener("input", late("pool"));
  }
  inputs.epsilon.addEventListener("input", late("choice"));
  for (const id of ["beta", "size"]) inputs[id].addEventListener("input", () => schedule("choice"));
  element("new-points").addEventListener("click", newPoints);
  element("clear").addEventListener("click", () => choosePreset("own"));
  element("presets").addEventListener("change", (event) => choosePreset(event.target.value));
  const points = element("points"), handle = element("handle");
  points.addEventListener("pointerdown", pointsDown);
  points.addEventListener("pointermove", pointsMove);
  for (const name of ["pointerup", "pointercancel"]) points.addEventListener(name, pointsUp);
  points.addEventListener("touchstart", pointsTouch, { passive: false });
  points.addEventListener("keydown", pointsKey);
  points.addEventListener("blur", () => {
    state.cross.isShown = false;
    pointsUp();
    schedule("pictures");
  });
  handle.addEventListener("pointerdown", focusDown);
  element("similarity").addEventListener("pointerdown", focusDown);
  handle.addEventListener("pointermove", (event) => {
    if (handle.hasPointerCapture(event.pointerId)) focusAt(event);
  });
  handle.addEventListener("keydown", focusKey);
  element("similarity").addEventListener("click", focusAt);
  element("theme").addEventListener("click", () =>
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  prefersDark.addEventListener("change", () => setTheme(prefersDark.matches ? "dark" : "light"));
  new ResizeObserver(() => schedule("pictures")).observe(document.body);
}

setTheme(prefersDark.matches ? "dark" : "light");
listen();
schedule("pool");
takePreset();
