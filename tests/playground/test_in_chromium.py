"""The playground in a real browser: drag, slide, draw, type, and look at it on a phone."""

import re

import pytest
from tests.chromium import SCHEMES, needs_chromium, readability
from tests.playground.javascript import PAGE
from tests.playground.tab import opened_tab

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with opened_tab(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


@pytest.fixture
def desk(browser):
    browser.show(PAGE, width=1280)
    return browser


@pytest.fixture
def phone(browser):
    browser.show(PAGE, width=360, is_phone=True)
    return browser


def chosen(tab, name):
    return tab.run(f"document.querySelector('input[name={name}]:checked').value")


def choose(tab, name, value):
    tab.run(f"document.querySelector('input[name={name}][value={value}]').click()")
    tab.settle()


def slide(tab, name, value):
    tab.run(f"""(() => {{
        const slider = document.getElementById('{name}');
        slider.value = {value};
        slider.dispatchEvent(new Event('input', {{ bubbles: true }}));
    }})()""")
    tab.settle()


def counts(tab):
    label = tab.run("document.getElementById('points').getAttribute('aria-label')")
    return [int(number) for number in re.findall(r"\d+", label)]


def first_point(tab):
    """Return where the first point is in the window."""
    return tab.run("""(() => {
        const canvas = document.getElementById('points'), box = canvas.getBoundingClientRect();
        const [x, y] = toPixel(canvas.clientWidth, state.marks[0].x, state.marks[0].y);
        return [box.left + x, box.top + y];
    })()""")


def test_everything_is_shown_at_once(desk):
    assert 0.3 < float(desk.text("value")) < 0.5
    assert desk.text("verdict") == "Informative: below 0.500"
    assert 0 < float(desk.text("error").removesuffix(" %")) < 20
    assert desk.text("message") == ""
    assert float(desk.text("sample-loss")) < float(desk.text("bound-loss"))
    desk.run("new Promise((done) => setTimeout(done, 600))")
    assert 0.2 < float(desk.text("fresh-loss")) < 0.5
    for name in ("points", "similarity", "cloud"):
        colours = desk.run(f"""(() => {{
            const canvas = document.getElementById('{name}');
            const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(image.data.buffer)).size;
        }})()""")
        assert colours > 20


def test_the_ring_is_dragged_by_mouse_without_a_refit(desk):
    before, refit = desk.text("similarity-text"), desk.run("state.result")
    start = desk.centre("handle")
    desk.drag(start, (70, 90))
    assert desk.text("similarity-text") != before
    assert desk.run("state.result") == refit
    assert desk.place("handle") == pytest.approx([start[0] + 70, start[1] + 90], abs=1)


def test_the_ring_is_dragged_by_finger_and_the_page_stays(phone):
    before, start = phone.text("similarity-text"), phone.centre("handle")
    scrolled = phone.run("scrollY")
    phone.swipe(start, (40, 120))
    assert phone.run("scrollY") == scrolled
    assert phone.text("similarity-text") != before


def test_a_finger_beside_the_points_scrolls_the_page(phone):
    start = phone.centre("points", 0.9, 0.95)
    scrolled = phone.run("scrollY")
    phone.swipe(start, (0, -200), steps=20)
    assert phone.run("scrollY") > scrolled
    assert chosen(phone, "preset") == "moons"


def test_a_dragged_point_refits_and_ends_the_guarantee(desk):
    desk.centre("points")
    before, start = desk.text("sample-loss"), first_point(desk)
    desk.drag(start, (40, 60))
    assert chosen(desk, "preset") == "own"
    assert desk.text("sample-loss") != before
    assert desk.text("verdict") == "Illustration only: see below"
    assert "not independent draws" in desk.text("assumptions")
    assert "held-out points" in desk.text("error-text")
    assert first_point(desk) == pytest.approx([start[0] + 40, start[1] + 60], abs=1)


def test_many_moves_of_the_pointer_are_one_refit_per_frame(desk):
    refits, frames = desk.run("""new Promise((done) => {
        let refits = 0, frames = 0;
        const original = window.learned;
        window.learned = (...given) => { refits += 1; return original(...given); };
        const count = () => { frames += 1; requestAnimationFrame(count); };
        requestAnimationFrame(count);
        for (let k = 0; k < 50; k++) moveMark(state.marks[0], k / 50, 0);
        setTimeout(() => { window.learned = original; done([refits, frames]); }, 300);
    })""")
    assert 1 <= refits <= frames
    assert refits < 10


def test_drawing_from_nothing(desk):
    choose(desk, "preset", "own")
    assert counts(desk) == [0, 0]
    assert "Add at least two points" in desk.text("message")
    assert desk.text("value") == "\N{EN DASH}"
    desk.drag(desk.centre("points", 0.2, 0.3), (60, 0), steps=10)
    n_blue = counts(desk)[0]
    assert n_blue > 2
    assert "All points have one colour" in desk.text("message")
    choose(desk, "tool", "orange")
    # The message lies over the points, and does not stop the pointer.
    desk.drag(desk.centre("points", 0.4, 0.9), (60, 0), steps=10)
    assert counts(desk)[0] == n_blue
    assert counts(desk)[1] > 2
    assert desk.text("message") == ""
    assert float(desk.text("value")) <= 0.5
    choose(desk, "tool", "erase")
    before = sum(counts(desk))
    desk.drag(first_point(desk), (0, 0), steps=0)
    assert sum(counts(desk)) == before - 1
    desk.click("clear")
    assert counts(desk) == [0, 0]


def test_two_points_are_enough(desk):
    choose(desk, "preset", "own")
    desk.click("points", 0.3, 0.3)
    choose(desk, "tool", "orange")
    desk.click("points", 0.7, 0.7)
    assert counts(desk) == [1, 1]
    assert desk.text("value") == "0.500"
    assert desk.text("verdict") == "Vacuous: it says nothing"
    assert "every fourth is held out" in desk.text("error-text")


def test_equal_points_of_two_colours_say_nothing(desk):
    choose(desk, "preset", "own")
    desk.run("for (let k = 0; k < 12; k++) addMark(0.5, 0.5, k % 2 ? 1 : -1)")
    desk.settle()
    assert desk.text("value") == "0.500"
    assert desk.text("verdict") == "Vacuous: it says nothing"
    assert "NaN" not in desk.run("document.body.innerText")


@pytest.mark.parametrize("preset", ["circles", "xor", "blobs", "spirals"])
def test_presets_are_learned(desk, preset):
    choose(desk, "preset", preset)
    assert float(desk.text("value")) <= 0.5
    assert float(desk.text("error").removesuffix(" %")) < 45
    assert counts(desk) != [0, 0]


def test_sliders_move_by_keyboard_and_say_their_value(desk):
    seen = {}
    for name in ("n", "candidates", "beta", "size", "epsilon"):
        desk.run(f"document.getElementById('{name}').focus()")
        before = desk.text(f"{name}-value")
        desk.press("ArrowRight", "ArrowRight")
        seen[name] = desk.text(f"{name}-value")
        assert seen[name] != before
        spoken = f"document.getElementById('{name}').getAttribute('aria-valuetext')"
        assert desk.run(spoken) == seen[name]
    assert seen == {
        "n": "320",
        "candidates": "2,100",
        "beta": "2.5",
        "size": "12",
        "epsilon": "0.2",
    }


def test_every_slider_acts(desk):
    shown = {
        "n": "sample-loss",
        "candidates": "cloud-text",
        "beta": "value",
        "size": "error",
        "epsilon": "value",
    }
    values = {"n": 100, "candidates": 500, "beta": 1.5, "size": 3, "epsilon": 0}
    for name, value in values.items():
        before = desk.text(shown[name])
        slide(desk, name, value)
        assert desk.text(shown[name]) != before


def test_the_prior_is_chosen_before_the_points(desk):
    late = "changed after you saw these points"
    assert desk.run("document.getElementById('gamma').disabled")
    slide(desk, "beta", 1)
    slide(desk, "size", 20)
    assert late not in desk.text("assumptions")
    before = desk.text("sample-loss")
    desk.click("multiscale")
    assert not desk.run("document.getElementById('gamma').disabled")
    assert desk.text("sample-loss") != before
    assert late in desk.text("assumptions")
    desk.click("new-points")
    assert late not in desk.text("assumptions")
    slide(desk, "gamma", 1)
    assert desk.text("gamma-value") == "10"
    assert late in desk.text("assumptions")
    assert desk.text("verdict") != "Informative: below 0.500"


def test_without_learning_the_certificate_is_vacuous_for_spirals(desk):
    choose(desk, "preset", "spirals")
    slide(desk, "beta", -1.05)
    assert desk.text("beta-value") == "0"
    assert desk.text("verdict") == "Vacuous: it says nothing"


def test_points_are_drawn_moved_and_erased_by_keyboard(desk):
    blue, orange = counts(desk)
    choose(desk, "tool", "orange")
    desk.run("document.getElementById('points').focus()")
    desk.press("ArrowRight", "ArrowUp", "Enter")
    assert counts(desk) == [blue, orange + 1]
    assert desk.text("status").startswith("orange at 0.1, 0.1.")
    choose(desk, "tool", "move")
    desk.run("document.getElementById('points').focus()")
    desk.press("Enter")
    assert "Picked up" in desk.text("status")
    x, y = desk.run("[state.carried.x, state.carried.y]")
    desk.press("ArrowLeft", "ArrowDown")
    assert desk.run("[state.carried.x, state.carried.y]") == pytest.approx([x - 0.1, y - 0.1])
    desk.press("Enter")
    assert desk.run("state.carried") is None
    desk.press("Delete")
    assert sum(counts(desk)) == blue + orange


def test_the_ring_moves_by_keyboard(desk):
    desk.run("document.getElementById('handle').focus()")
    x, y = desk.run("[state.focus.x, state.focus.y]")
    desk.press("ArrowRight", "ArrowRight", "ArrowDown")
    assert desk.run("[state.focus.x, state.focus.y]") == pytest.approx([x + 0.2, y - 0.1])
    label = desk.run("document.getElementById('handle').getAttribute('aria-label')")
    assert f"{x + 0.2:.2f}".replace("-", "\N{MINUS SIGN}") in label


def test_the_tab_key_reaches_every_control(desk):
    reached = set()
    for _ in range(30):
        desk.press("Tab")
        reached.add(desk.run("document.activeElement.id || document.activeElement.name"))
    controls = {"theme", "preset", "points", "tool", "clear", "n", "new-points", "multiscale"}
    assert controls | {"candidates", "beta", "size", "epsilon", "handle"} <= reached


def test_results_are_announced_once_the_user_pauses(desk):
    pause = "new Promise((done) => setTimeout(done, 1000))"
    desk.run(pause)
    before = desk.text("status")
    assert before.startswith(f"Certificate at most {desk.text('value')}.")
    slide(desk, "beta", 1)
    assert desk.text("status") == before
    desk.run(pause)
    assert desk.text("status") != before
    assert desk.text("status").startswith(f"Certificate at most {desk.text('value')}.")


def test_the_theme_follows_the_system_and_the_button(browser):
    for scheme, other in (("dark", "light"), ("light", "dark")):
        browser.show(PAGE, width=1280, scheme=scheme)
        theme = "document.documentElement.dataset.theme"
        assert browser.run(theme) == scheme
        browser.click("theme")
        assert browser.run(theme) == other


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [360, 800, 1280])
def test_the_page_can_be_read(width, scheme, tmp_path):
    found = readability(PAGE.read_text("utf-8"), tmp_path, width=width, scheme=scheme)
    assert found["scheme"] == scheme
    assert found["counts"][0] > 50
    assert found["widths"] == [width, width]
    assert found["requests"] == []
    assert found["text"] >= 4.5
    assert found["smallest"] >= 11
