import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["guide.md", "certificates.md"])
def test_every_block_runs_and_prints_what_is_shown(page, capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL))
    exec(compile(code, page, "exec"), {})
    printed = capsys.readouterr().out
    numbers = [float(text) for text in re.findall(r"\b0\.\d+", printed)]
    shown = [
        text for line in re.findall(r"# (0\..*)", code) for text in re.findall(r"0\.\d+", line)
    ]
    assert shown
    for text in shown:
        assert np.min(np.abs(np.array(numbers) - float(text))) < 0.01, text


@pytest.mark.parametrize("page", ["guide.md", "certificates.md", "tables.md", "cluster.md"])
def test_every_link_leads_to_a_file(page):
    links = re.findall(r"\]\(([^)#]+)", (DOCS / page).read_text())
    for link in links:
        assert "://" in link or (DOCS / link).exists(), link
