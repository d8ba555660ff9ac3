"""A tab of Chromium that tests drive with real pointers, fingers and keys, without any library.

Chromium reads commands of its DevTools protocol from descriptor 3 and answers on descriptor 4.
"""

import fcntl
import json
import os
import select
import subprocess
import sys
from contextlib import contextmanager
from itertools import count

from tests.chromium import CHROMIUM, OPTIONS

# Becomes Chromium, after the pipes have the descriptors that it expects.
LAUNCHER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
PATIENCE = 60
KEYS = {
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Delete": 46,
    "Enter": 13,
    "Tab": 9,
}


class Tab:
    """A page in Chromium."""

    def __init__(self, write_end, read_end):
        self.write_end, self.read_end = write_end, read_end
        self.numbers, self.rest, self.session = count(1), b"", None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]

    def send(self, method, **parameters):
        """Send a command and return its result."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while (answer := self.received()).get("id") != number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def received(self):
        """Return the next message."""
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read_end], [], [], PATIENCE)
            assert ready, "Chromium does not answer"
            self.rest += os.read(self.read_end, 2**16)
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def show(self, path, *, width, scheme="light", is_phone=False):
        """Open a file in a window of some width, and wait until it has been drawn."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=800,
            deviceScaleFactor=1,
            mobile=is_phone,
        )
        self.send("Emulation.setTouchEmulationEnabled", enabled=is_phone)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", features=[feature])
        self.send("Page.navigate", url=path.as_uri())
        self.run("new Promise((done) => document.readyState === 'complete' ? done()"
                 " : addEventListener('load', done))")  # fmt: skip
        self.settle()

    def run(self, expression):
        """Return the value of an expression in the page; a promise is awaited."""
        answer = self.send(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def settle(self):
        """Wait until the page has drawn what was asked of it."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def text(self, name):
        """Return the text of an element."""
        return self.run(f"document.getElementById('{name}').textContent")

    def centre(self, name, x=0.5, y=0.5):
        """Scroll to an element, and return where it is in the window."""
        self.run(f"document.getElementById('{name}').scrollIntoView({{ block: 'center' }})")
        return self.place(name, x, y)

    def place(self, name, x=0.5, y=0.5):
        """Return where an element is in the window: its centre, or other shares of its sides."""
        return self.run(f"""(() => {{
            const element = document.getElementById('{name}');
            const box = element.getBoundingClientRect();
            return [box.left + {x} * box.width, box.top + {y} * box.height];
        }})()""")

    def click(self, name, x=0.5, y=0.5):
        """Press and release the mouse on an element."""
        self.drag(self.centre(name, x, y), (0, 0), steps=0)

    def drag(self, start, by, *, steps=5):
        """Press the mouse, move it and release it."""
        places = [[a + b * k / max(steps, 1) for a, b in zip(start, by, strict=True)]
                  for k in range(steps + 1)]  # fmt: skip
        self.mouse("mousePressed", places[0])
        for place in places[1:]:
            self.mouse("mouseMoved", place)
        self.mouse("mouseReleased", places[-1])
        self.settle()

    def mouse(self, kind, place):
        """Send an event of the left button."""
        x, y = place
        parameters = {"button": "left", "buttons": 1, "clickCount": 1}
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **parameters)

    def swipe(self, start, by, *, steps=5):
        """Put a finger down, move it and lift it."""
        for k in range(steps + 1):
            x, y = (a + b * k / steps for a, b in zip(start, by, strict=True))
            kind = "touchMove" if k else "touchStart"
            self.send("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def press(self, *keys):
        """Press and release keys, one after the other."""
        for key in keys:
            parameters = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
            text = {"text": "\r"} if key == "Enter" else {}
            self.send("Input.dispatchKeyEvent", type="keyDown", **parameters, **text)
            self.send("Input.dispatchKeyEvent", type="keyUp", **parameters)
        self.settle()


def high_pipe():
    """Return the ends of a pipe with numbers of ten and above, so not those of Chromium's."""
    ends = os.pipe()
    copies = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return copies


@contextmanager
def opened_tab(folder):
    """Start Chromium, and stop it at the end."""
    (commands, write_end), (read_end, answers) = high_pipe(), high_pipe()
    launcher = [sys.executable, "-c", LAUNCHER, str(commands), str(answers), CHROMIUM, *OPTIONS]
    browser = subprocess.Popen(
        [*launcher, f"--user-data-dir={folder}", "--remote-debugging-pipe"],
        pass_fds=(commands, answers),
        stderr=subprocess.DEVNULL,
    )
    os.close(commands)
    os.close(answers)
    try:
        yield Tab(write_end, read_end)
    finally:
        browser.terminate()
        browser.wait(30)
        os.close(write_end)
        os.close(read_end)
