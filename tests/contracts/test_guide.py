import re
from pathlib import Path

import numpy as np
import pytest

GUIDE = (Path(__file__).parents[2] / "docs" / "guide.md").read_text()


@pytest.mark.slow
def test_every_block_of_the_guide_runs_and_prints_what_is_shown(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL))
    exec(compile(code, "docs/guide.md", "exec"), {})
    printed = capsys.readouterr().out
    numbers = [float(text) for text in re.findall(r"\b0\.\d+", printed)]
    shown = [
        text for line in re.findall(r"# (0\..*)", code) for text in re.findall(r"0\.\d+", line)
    ]
    assert shown
    for text in shown:
        assert np.min(np.abs(np.array(numbers) - float(text))) < 0.01, text
