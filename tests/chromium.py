"""Pages in a real browser, without any library: Chromium writes what a script finds as JSON."""

import json
import re
import shutil
import subprocess
from html import escape, unescape

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
SCHEMES = {"dark": 0, "light": 1}
# Colours of text and marks with the ground behind them, and what sticks out of the screen. The
# page itself forbids scripts, so it is measured from the page around it.
READABILITY = r"""
const frame = document.querySelector("iframe");
const rgb = (text) => text.match(/[\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const ratio = (a, b) => {
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};
frame.addEventListener("load", () => {
  const page = frame.contentDocument, view = frame.contentWindow, root = page.documentElement;
  const style = (each) => view.getComputedStyle(each);
  const ground = (each) => {
    for (; each; each = each.parentElement) {
      const colour = rgb(style(each).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  page.querySelectorAll("details").forEach((each) => { each.open = true; });
  const owns = (each) => [...each.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const shown = (each) => each.getClientRects().length > 0;
  const texts = [...page.querySelectorAll("body *")].filter((each) => owns(each) && shown(each));
  const isDrawn = (each) => each.ownerSVGElement;
  const textColour = (each) => rgb(isDrawn(each) ? style(each).fill : style(each).color);
  const size = (each) => parseFloat(style(each).fontSize) * (isDrawn(each)
    ? each.ownerSVGElement.getBoundingClientRect().width
      / each.ownerSVGElement.viewBox.baseVal.width : 1);
  const strokes = [...page.querySelectorAll(".line, .stem, .axis, .guide, .ring, .count")];
  const fills = [...page.querySelectorAll(".dot, .bar")];
  const words = [...page.querySelectorAll(".chart text")].filter(shown);
  const wide = words.filter((each) => {
    const box = each.getBoundingClientRect(), room = root.clientWidth;
    return box.left < -0.5 || box.right > room + 0.5;
  });
  const over = words.flatMap((a, k) => words.slice(k + 1)
    .filter((b) => b.ownerSVGElement === a.ownerSVGElement)
    .filter((b) => {
      const p = a.getBoundingClientRect(), q = b.getBoundingClientRect(), room = 1;
      return p.left + room < q.right && q.left + room < p.right
        && p.top + 3 * room < q.bottom && q.top + 3 * room < p.bottom;
    }).map((b) => a.textContent + " / " + b.textContent));
  document.title = JSON.stringify({
    widths: [root.scrollWidth, root.clientWidth],
    scheme: view.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    requests: view.performance.getEntriesByType("resource").map((each) => each.name),
    counts: [texts.length, strokes.length, fills.length],
    text: Math.min(...texts.map((each) => ratio(textColour(each), ground(each)))),
    mark: Math.min(...strokes.map((each) => ratio(rgb(style(each).stroke), ground(each))),
      ...fills.map((each) => ratio(rgb(style(each).fill), ground(each)))),
    smallest: Math.min(...texts.map(size)),
    wide: wide.map((each) => each.textContent), over,
  });
});
"""


def found_in(page, script, folder, *, width, scheme="light"):
    """Return what a script finds in a page that is shown in a frame of some width.

    The script runs in the page around the frame, and writes JSON into the title.
    """
    # A window cannot be as narrow as a phone, but a frame in it can.
    around = folder / "around.html"
    around.write_text(
        '<!doctype html><meta charset="utf-8"><title></title>'
        f'<iframe style="width:{width}px;height:800px;border:0" srcdoc="{escape(page)}"></iframe>'
        f"<script>{script}</script>",
        "utf-8",
    )
    command = [CHROMIUM, *OPTIONS, "--dump-dom", "--virtual-time-budget=10000"]
    command += [f"--user-data-dir={folder / 'profile'}", "--window-size=1400,900"]
    command += [f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", around.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(unescape(re.search(r"<title>(.*?)</title>", done.stdout)[1]))


def readability(page, folder, *, width, scheme):
    """Return contrasts, sizes of text, and what sticks out of the screen or overlaps."""
    return found_in(page, READABILITY, folder, width=width, scheme=scheme)
