import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


@pytest.mark.slow
def test_every_block_runs_and_prints_what_is_shown(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL))
    exec(compile(code, "export.md", "exec"), {})
    printed = capsys.readouterr().out.split()
    shown = re.findall(r"print\(.*\)  # (\S+)$", code, re.MULTILINE)
    assert shown
    assert printed == shown
