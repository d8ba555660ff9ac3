"""Print the oldest versions that pyproject.toml allows, as requirements for pip."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
FLOOR = re.compile(r"(?P<name>[\w-]+)>=(?P<version>[\d.]+)")


def oldest_versions(dependencies):
    """Return every dependency pinned to its lower bound.

    >>> oldest_versions(["numpy>=2.0"])
    ['numpy==2.0']
    """
    floors = [FLOOR.fullmatch(dependency) for dependency in dependencies]
    if None in floors:
        seen = dependencies[floors.index(None)]
        raise SystemExit(f"A core dependency must read 'name>=version', got {seen!r}.")
    return [f"{floor['name']}=={floor['version']}" for floor in floors]


if __name__ == "__main__":
    project = tomllib.loads(PROJECT.read_text())["project"]
    print("\n".join(oldest_versions(project["dependencies"])))
