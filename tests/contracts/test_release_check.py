import re
import sys
from email.message import Message
from pathlib import Path

import pytest
from tools import release_check

import pacfourier

ENTRY = "# Changelog\n\n## {title}\n\n### Added\n\n{line}\n\n## 0.0.9 (2020-01-01)\n\n- Older.\n"


@pytest.mark.parametrize("version", ["0.1.0", "12.0.3"])
def test_versions_of_releases_are_accepted(version):
    assert release_check.version_faults(version) == []


@pytest.mark.parametrize("version", ["0.1.0.dev0", "0.1", "0.1.0rc1", "v0.1.0"])
def test_other_versions_are_refused(version):
    (fault,) = release_check.version_faults(version)
    assert fault.startswith(f"The version must read 'X.Y.Z', got {version!r}")


@pytest.mark.parametrize("title", ["0.1.0 (unreleased)", "0.1.0 (2026-11-18)"])
def test_an_entry_about_the_version_is_accepted(title):
    text = ENTRY.format(title=title, line="- New.")
    assert release_check.changelog_faults(text, "0.1.0") == []


@pytest.mark.parametrize(
    "title", ["Unreleased", "0.1.0", "0.2.0 (unreleased)", "0x1y0 (unreleased)"]
)
def test_an_entry_about_something_else_is_refused(title):
    (fault,) = release_check.changelog_faults(ENTRY.format(title=title, line="- New."), "0.1.0")
    assert f"'## 0.1.0 (unreleased)' or '## 0.1.0 (YYYY-MM-DD)', got {title!r}" in fault


def test_an_entry_without_changes_is_refused():
    text = ENTRY.format(title="0.1.0 (unreleased)", line="")
    (fault,) = release_check.changelog_faults(text, "0.1.0")
    assert "must list changes" in fault
    (fault,) = release_check.changelog_faults("# Changelog\n", "0.1.0")
    assert "got ''" in fault


def test_files_that_lack_or_do_not_belong_are_named():
    assert release_check.content_faults("wheel", {"a", "b"}, {"a", "b"}) == []
    assert release_check.content_faults("wheel", {"a", "c"}, {"a", "b"}) == [
        "The wheel lacks b.",
        "The wheel must not have c.",
    ]


def test_a_wheel_has_the_package_and_its_licence_only():
    tracked = {"src/pacfourier/__init__.py", "src/pacfourier/py.typed", "tests/t.py", "LICENSE"}
    assert release_check.wheel_files(tracked, "0.1.0") == {
        "pacfourier/__init__.py",
        "pacfourier/py.typed",
        "pacfourier-0.1.0.dist-info/METADATA",
        "pacfourier-0.1.0.dist-info/RECORD",
        "pacfourier-0.1.0.dist-info/WHEEL",
        "pacfourier-0.1.0.dist-info/entry_points.txt",
        "pacfourier-0.1.0.dist-info/licenses/LICENSE",
    }


def metadata(**changes):
    fields = {
        "Name": "pacfourier",
        "Version": "0.1.0",
        "License-Expression": "BSD-3-Clause",
        "License-File": "LICENSE",
        "Requires-Python": ">=3.11",
        "Description-Content-Type": "text/markdown",
    }
    message = Message()
    for name, value in (fields | changes).items():
        if value is not None:
            message[name] = value
    return message


def test_metadata_are_compared_field_by_field():
    assert release_check.metadata_faults(metadata(), "0.1.0") == []
    wrong = metadata(Version="0.2.0", **{"License-File": None})
    assert release_check.metadata_faults(wrong, "0.1.0") == [
        "Version must be '0.1.0' in the metadata, got '0.2.0'.",
        "License-File must be 'LICENSE' in the metadata, got None.",
    ]


def test_headings_of_the_readme_must_be_rendered():
    text = "# A\n\n```\n# not a heading\n```\n\n## B\n"
    assert release_check.readme_faults(text, "<h1>A</h1><pre></pre><h2 id='b'>B<a></a></h2>") == []
    assert release_check.readme_faults(text, "<h1>A</h1>") == [
        "README.md does not show the heading 'B'."
    ]
    assert release_check.readme_faults(text, None) == ["README.md cannot be rendered."]


def test_pythons_are_those_of_the_classifiers():
    names = ["3", "3 :: Only", "3.11", "3.13"]
    classifiers = [f"Programming Language :: Python :: {name}" for name in names]
    assert release_check.supported_versions(classifiers) == ["3.11", "3.13"]


def test_only_a_python_that_runs_is_found(tmp_path, monkeypatch):
    """A command of this name may exist and fail, as those of version managers do."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert release_check.interpreter(version) is None
    command = tmp_path / f"python{version}"
    command.write_text("#!/bin/sh\nexit 127\n")
    command.chmod(0o755)
    assert release_check.interpreter(version) is None
    command.unlink()
    command.symlink_to(sys.executable)
    assert Path(release_check.interpreter(version)).name.startswith("python")


def test_the_installed_package_takes_the_place_of_the_sources(tmp_path):
    source = tmp_path / "src" / "pacfourier"
    source.mkdir(parents=True)
    (source / "old.py").write_text("")
    installed = tmp_path / ".venv" / "site-packages" / "pacfourier"
    installed.mkdir(parents=True)
    (installed / "new.py").write_text("")
    assert release_check.put_in_place_of_sources(installed, source) == []
    assert [path.name for path in source.iterdir()] == ["new.py"]
    (fault,) = release_check.put_in_place_of_sources(tmp_path / "elsewhere", source)
    assert fault.startswith("The package must be installed, but it is imported from")
    assert (installed / "new.py").exists()


@pytest.mark.parametrize(
    ("says", "code", "is_accepted"),
    [
        ('typer is not installed: pip install "pacfourier[cli]"', 1, True),
        ("Traceback", 1, False),
        ('typer is not installed: pip install "pacfourier[cli]"', 0, False),
    ],
)
def test_the_command_must_say_what_to_install(tmp_path, says, code, is_accepted):
    command = tmp_path / "bin" / "pacfourier"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {code}\n")
    command.chmod(0o755)
    assert (release_check.command_faults(tmp_path) == []) == is_accepted


def test_the_environment_of_the_suites_adds_no_sources(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "src")
    monkeypatch.setenv("MAKEFLAGS", "-n")
    monkeypatch.setenv("PACFOURIER_DATA", "data")
    environment = release_check.clean_environment()
    assert not {"PYTHONPATH", "MAKEFLAGS"} & environment.keys()
    assert environment["PACFOURIER_DATA"] == "data"


def test_this_version_has_its_entry():
    """Between releases the version ends in ``.dev0``, and the entry is about the next release."""
    changelog = (release_check.ROOT / "CHANGELOG.md").read_text("utf-8")
    version = re.sub(r"\.dev\d+$", "", pacfourier.__version__)
    assert release_check.changelog_faults(changelog, version) == []
