"""The mathematics of the playground, as the page contains it, called from Python."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "playground"
PAGE = FOLDER / "index.html"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs node, which runs JavaScript")
# Arrays of numbers are written as lists, so that JSON has them.
PRINTED = """
const data = JSON.parse(require("fs").readFileSync(0));
const plain = (_, value) => ArrayBuffer.isView(value) ? Array.from(value) : value;
console.log(JSON.stringify((() => {{ {code} }})(), plain));
"""


def returned(code, **data):
    """Return what a body of JavaScript returns. It sees the page's functions, and ``data``."""
    mathematics = re.search(
        r'<script id="mathematics">\n(.*?)</script>', PAGE.read_text("utf-8"), re.DOTALL
    )[1]
    command = [NODE, "--eval", mathematics + PRINTED.format(code=code)]
    done = subprocess.run(
        command, input=json.dumps(data), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
