"use strict";

// The numbers and sentences of the page.

const fixed = (value, digits = 3) => value.toFixed(digits).replace("-", "−");
const probability = (share) => `${Number((100 * share).toFixed(2))} %`;
const percent = (share) => `${(100 * share).toFixed(1)} %`;
// A bound is rounded up, so that what is shown holds, too.
const roundedUp = (value) => fixed(Math.ceil(value * 1000) / 1000);

function write(texts) {
  for (const [id, text] of Object.entries(texts)) element(id).textContent = text;
}

function writeResults() {
  writeAssumptions();
  element("terms").hidden = !state.result;
  if (!state.result) return writeNothing();
  writeCertificate();
  writeLosses();
  writeError();
  const { effectiveSize, divergence, posterior, kept } = state.result;
  const candidates = posterior.length.toLocaleString("en");
  write({
    "cloud-text": `The weights are as spread out as equal weights on `
      + `${Math.round(effectiveSize)} of ${candidates} candidates (${fixed(divergence, 1)} nats `
      + `from the prior). ${kept.length} of them are kept.`,
    timing: `The last refit with its certificate took ${Math.round(state.refitTime)} ms, for `
      + `${state.training.labels.length} points and ${candidates} candidates.`,
  });
  announceResults();
}

function writeNothing() {
  const numbers = ["value", "error", "summary-value", "summary-error"].map((id) => [id, "–"]);
  const sentences = ["cloud-text", "similarity-text", "error-text", "timing"].map((id) => [id, ""]);
  write(Object.fromEntries([...numbers, ...sentences]));
  write({ meaning: "There is nothing to certify yet.", verdict: "No certificate" });
  element("verdict").className = "verdict idle";
  element("waves").replaceChildren();
  announce("");
}

function writeCertificate() {
  const { certificate, deployedCertificate, yardsticks: { unrelated }, kept } = state.result;
  const n = state.training.labels.length, { epsilon } = settings();
  const value = roundedUp(certificate.value);
  const isVacuous = Number(value) >= unrelated, isMet = assumptions().every(({ holds }) => holds);
  const nats = certificate.divergence + certificate.phaseNats + certificate.confidenceNats;
  element("verdict").className = `verdict ${isVacuous ? "" : isMet ? "good" : "idle"}`;
  write({
    value,
    "summary-value": `≤ ${value}`,
    verdict: isVacuous ? "Vacuous: it says nothing"
      : isMet ? `Informative: below ${fixed(unrelated)}`
      : "Illustration only: see below",
    meaning: `Take two new points at random. With probability ${probability(1 - epsilon)} over `
      + `the draw of the ${n} points, the similarity disagrees with their colours by at most `
      + `${value} on average. `
      + `A kernel that ignores the labels has ${fixed(unrelated)}, and a perfect one has 0.`
      + (isVacuous ? " So this bound says nothing. More points usually help." : ""),
    price: `${fixed(nats, 1)} nats, shared by ${n} points: ${fixed(nats / n)} nats per point. `
      + "A nat is 1.44 bits.",
    "term-divergence": `${fixed(certificate.divergence, 1)} nats`,
    "term-phase": `${fixed(certificate.phaseNats, 1)} nats`,
    "term-confidence": `${fixed(certificate.confidenceNats, 1)} nats`,
    "term-seen": fixed(certificate.amplitude),
    "term-rho": fixed(certificate.rho),
    "term-concentration": fixed(certificate.concentration),
    formula: `½ (1 − c ρ²) = ½ (1 − ${fixed(certificate.concentration)} × `
      + `${fixed(certificate.rho)}²) ≤ ${value}`,
    deployed: `The similarity of the ${kept.length} kept waves alone has the certificate `
      + `${roundedUp(deployedCertificate.value)}.`,
  });
  for (const [id, part] of [["nats-divergence", certificate.divergence],
    ["nats-phase", certificate.phaseNats], ["nats-confidence", certificate.confidenceNats]]) {
    element(id).style.width = `${100 * part / nats}%`;
  }
}

function writeLosses() {
  if (!state.result) return;
  const { sampleLoss, posterior, certificate, yardsticks: { unrelated } } = state.result;
  const fresh = state.freshSums ? dot(posterior, alignmentLosses(state.freshSums)) : null;
  const n = state.test.labels.length, isOwn = state.preset === "own";
  const none = obstacle(state.test.labels) ? "too few" : "…";
  write({
    "sample-loss": fixed(sampleLoss),
    "fresh-name": `on ${n.toLocaleString("en")} ${isOwn ? "held-out" : "fresh"} points`,
    "fresh-loss": fresh === null ? none : fixed(fresh),
    "bound-loss": roundedUp(certificate.value),
    "unrelated-loss": fixed(unrelated),
    "tick-unrelated": fixed(unrelated),
  });
  const place = (id, loss) => {
    element(id).hidden = loss === null;
    if (loss !== null) element(id).style.left = `${100 * Math.min(loss / LINE_END, 1)}%`;
  };
  place("mark-sample", sampleLoss);
  place("mark-fresh", fresh);
  place("mark-bound", certificate.value);
  place("mark-unrelated", unrelated);
  place("tick-unrelated", unrelated);
  place("gap", sampleLoss);
  element("gap").style.width = `${100 * Math.max(certificate.value - sampleLoss, 0) / LINE_END}%`;
}

function writeError() {
  const { keptFrequencies, model, trainingError } = state.result, { points, labels } = state.test;
  const training = `On the points it learned from, the error is ${percent(trainingError)}.`;
  if (!labels.length) {
    return write({ error: "–", "summary-error": "–",
      "error-text": `Add more points: every fourth is held out for testing. ${training}` });
  }
  const error = errorRate(decisions(features(points, keptFrequencies), model), labels);
  const wrong = Math.round(error * labels.length), n = labels.length.toLocaleString("en");
  write({
    error: percent(error),
    "summary-error": percent(error),
    "error-text": `${wrong} of ${n} ${state.preset === "own" ? "held-out" : "fresh"} points are `
      + `on the wrong side of the line. Guessing has 50 %. ${training}`,
  });
}

function assumptions() {
  const isOwn = state.preset === "own";
  return [
    { holds: !isOwn, text: isOwn
      ? "You placed points by hand, so they are not independent draws. Choose a preset."
      : "The points are independent draws from one distribution." },
    { holds: !state.isPriorLate, text: state.isPriorLate
      ? "The prior, the number of points or epsilon changed after you saw these points. "
        + "Press New points."
      : "The prior, the number of points and epsilon were fixed before the points were seen." },
    { holds: true, text: "There are only two colours." },
  ];
}

function writeAssumptions() {
  element("assumptions").replaceChildren(...assumptions().map(({ holds, text }) => {
    const item = document.createElement("li"), mark = document.createElement("b");
    item.className = holds ? "" : "broken";
    mark.textContent = holds ? "✓" : "✗";
    mark.setAttribute("aria-label", holds ? "Holds:" : "Violated:");
    mark.setAttribute("role", "img");
    item.append(mark, text);
    return item;
  }));
}

// --- What a screen reader says, once the user pauses ------------------------------------------

function announce(text) {
  clearTimeout(statusTimer);
  element("status").textContent = text;
}

function announceResults() {
  clearTimeout(statusTimer);
  statusTimer = setTimeout(() => {
    element("status").textContent = `Certificate at most ${element("value").textContent}. `
      + `${element("verdict").textContent}. Test error ${element("error").textContent}.`;
  }, 700);
}
