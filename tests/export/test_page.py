from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "export.md").read_text()


def test_the_page_is_measured():
    measured = PAGE.split("<!-- measured: begin -->")[1].split("<!-- measured: end -->")[0]
    assert "integers of 4 bits" in measured
