"""The page about a table in a real browser, as wide as a phone and as a desk, in both schemes."""

import json
import re
import shutil
import subprocess
from html import escape, unescape

import pytest
from tests.tabular.table_fits import FITS

from pacfourier.reports.tabular_report import fit_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
SCHEMES = {"dark": 0, "light": 1}
# Colours of text and marks with the ground behind them, and what sticks out of the screen. The
# page itself forbids scripts, so it is measured from the page around it.
SCRIPT = r"""
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


@pytest.fixture(scope="module")
def pages():
    pages = {name: fit_report(make()) for name, make in FITS.items()}
    return pages | {"nothing certified": fit_report(FITS["amounts"](certify=False))}


def measured(page, width, scheme, folder):
    """Return what a browser finds in a page that is shown in a frame of some width."""
    # A window cannot be as narrow as a phone, but a frame in it can.
    around = folder / "around.html"
    around.write_text(
        '<!doctype html><meta charset="utf-8"><title></title>'
        f'<iframe style="width:{width}px;height:800px;border:0" srcdoc="{escape(page)}"></iframe>'
        f"<script>{SCRIPT}</script>",
        "utf-8",
    )
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000"]
    command += [f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}"]
    command += ["--hide-scrollbars", "--window-size=1400,900"]
    command += ["--host-resolver-rules=MAP * ~NOTFOUND"]
    command.append(around.as_uri())
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(unescape(re.search(r"<title>(.*?)</title>", done.stdout)[1]))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", [*FITS, "nothing certified"])
def test_the_page_can_be_read(pages, name, width, scheme, tmp_path):
    found = measured(pages[name], width, scheme, tmp_path)
    assert found["scheme"] == scheme
    assert min(found["counts"]) > 1
    assert found["widths"] == [width, width]
    assert found["requests"] == []
    # The smallest contrasts of WCAG 2.2, level AA: for text, and for marks that carry meaning.
    assert found["text"] >= 4.5
    assert found["mark"] >= 3
    assert found["smallest"] >= 11
    assert found["wide"] == []
    assert found["over"] == []


@pytest.mark.parametrize("fault", ["text", "mark", "widths", "wide", "over"])
def test_faults_are_found(pages, fault, tmp_path):
    faults = {
        "text": "figcaption { color: #cccccc; }",
        "mark": ".bar { fill: #cccccc; }",
        "widths": "h1 { width: 400px; }",
        "wide": ".chart { margin-left: -60px; }",
        "over": ".chart text { font-size: 30px; }",
    }
    page = pages["two classes"].replace("</style>", f"{faults[fault]}</style>")
    found = measured(page, 360, "light", tmp_path)
    assert {
        "text": found["text"] < 4.5,
        "mark": found["mark"] < 3,
        "widths": found["widths"][0] > 360,
        "wide": found["wide"],
        "over": found["over"],
    }[fault]
