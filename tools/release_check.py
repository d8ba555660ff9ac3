"""Check that the package can be published, with ``make release-check``.

The source distribution and the wheel are built into ``dist`` and looked into. Then the tests run
against the installed wheel, without optional libraries and with all of them, in empty environments
of every supported Python that is found. They run in the unpacked source distribution, in which a
link to the installed package takes the place of the sources.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUITES = {".venv-bare": "test-bare", ".venv": "test"}


def version_faults(version: str) -> list[str]:
    """Return what is wrong with a version that is to be published."""
    if re.fullmatch(r"\d+\.\d+\.\d+", version):
        return []
    rule = "The version must read 'X.Y.Z'"
    return [f"{rule}, got {version!r}: set it in src/pacfourier/__init__.py."]


def changelog_faults(text: str, version: str) -> list[str]:
    """Return what is missing in the changelog: its first entry must be about the version."""
    title, _, entry = text.partition("\n## ")[2].partition("\n## ")[0].partition("\n")
    form = rf"{re.escape(version)} \((unreleased|\d{{4}}-\d\d-\d\d)\)"
    if not re.fullmatch(form, title):
        wanted = f"'## {version} (unreleased)' or '## {version} (YYYY-MM-DD)'"
        return [f"The first entry of CHANGELOG.md must be titled {wanted}, got {title!r}."]
    if not re.search(r"^- ", entry, re.MULTILINE):
        return [f"The entry {title!r} of CHANGELOG.md must list changes."]
    return []


def content_faults(kind: str, names: set[str], expected: set[str]) -> list[str]:
    """Return which files an archive lacks, and which it should not have."""
    missing = [f"The {kind} lacks {name}." for name in sorted(expected - names)]
    return missing + [f"The {kind} must not have {name}." for name in sorted(names - expected)]


def wheel_files(tracked: set[str], version: str) -> set[str]:
    """Return the files of a wheel: those of the package, the licence and what describes them."""
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/")}
    described = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    return package | {f"pacfourier-{version}.dist-info/{name}" for name in described}


def metadata_faults(metadata: Message, version: str) -> list[str]:
    """Return which fields of the metadata differ from what a release needs."""
    wanted = {
        "Name": "pacfourier",
        "Version": version,
        "License-Expression": "BSD-3-Clause",
        "License-File": "LICENSE",
        "Requires-Python": ">=3.11",
        "Description-Content-Type": "text/markdown",
    }
    return [
        f"{name} must be {value!r} in the metadata, got {metadata[name]!r}."
        for name, value in wanted.items()
        if metadata[name] != value
    ]


def readme_faults(text: str, html: str | None) -> list[str]:
    """Return which headings of the README are not in its HTML, if it can be rendered at all."""
    if html is None:
        return ["README.md cannot be rendered."]
    lines = re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines()
    titles = [line.lstrip("# ") for line in lines if line.startswith("#")]
    shown = [re.sub("<[^>]*>", "", inner) for inner in re.findall(r"<h\d.*?>(.*?)</h\d>", html)]
    return [
        f"README.md does not show the heading {title!r}." for title in titles if title not in shown
    ]


def supported_versions(classifiers: list[str]) -> list[str]:
    """Return the versions of Python that the classifiers name."""
    found = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", each) for each in classifiers
    ]
    return [match[1] for match in found if match]


def interpreter(version: str) -> str | None:
    """Return the path of a Python of this version, or None if there is none that works."""
    try:
        command = [f"python{version}", "-c", "import sys; print(sys.executable)"]
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


def clean_environment() -> dict[str, str]:
    """Return the environment variables without those that add sources or options of make."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL")
    }


def run(*command: str | Path, folder: Path) -> bool:
    """Run a command, say how long it took, and return whether it succeeded."""
    started = time.monotonic()
    found = subprocess.run(command, cwd=folder, env=clean_environment(), check=False)
    line = " ".join(map(str, command))
    print(f"{time.monotonic() - started:.0f} s, exit {found.returncode}: {line}", flush=True)
    return found.returncode == 0


def installed_package(environment: Path) -> Path:
    """Return the folder that an environment imports the package from."""
    command = [
        environment / "bin" / "python",
        "-c",
        "import pacfourier; print(pacfourier.__file__)",
    ]
    found = subprocess.run(
        command, cwd=environment.parent, env=clean_environment(),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return Path(found.stdout.strip()).parent


def put_in_place_of_sources(package: Path, source: Path) -> list[str]:
    """Replace the sources of the unpacked distribution by a link to the installed package."""
    if source.is_symlink():
        source.unlink()
    elif source.exists():
        shutil.rmtree(source)
    source.symlink_to(package, target_is_directory=True)
    if "site-packages" not in package.parts:
        return [f"The package must be installed, but it is imported from {package}."]
    return []


def command_faults(environment: Path) -> list[str]:
    """Return what is wrong with the command where its optional libraries are missing."""
    command = [environment / "bin" / "pacfourier", "--help"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode == 1 and 'pip install "pacfourier[cli]"' in found.stderr:
        return []
    return [f"Without extras, pacfourier must say what to install, got {found.stderr!r}."]


def suite_faults(python: str, wheel: Path, sdist: Path) -> list[str]:
    """Install the wheel for one Python, without extras and with them, and run the tests."""
    with tempfile.TemporaryDirectory() as temporary:
        with tarfile.open(sdist) as archive:
            archive.extractall(temporary, filter="data")
        (folder,) = Path(temporary).iterdir()
        faults = []
        for environment, verb in SUITES.items():
            make = ("make", f"PYTHON={python}", f"PACKAGE={wheel}")
            if not run(*make, f"{environment}/installed", folder=folder):
                faults.append(f"{environment} cannot be installed with {python}.")
                continue
            package = installed_package(folder / environment)
            faults += put_in_place_of_sources(package, folder / "src" / "pacfourier")
            if verb == "test-bare":
                faults += command_faults(folder / environment)
            if not run(*make, verb, folder=folder):
                faults.append(f"make {verb} fails with {python}.")
        return faults


def build(folder: Path) -> tuple[Path, Path]:
    """Build the wheel and the source distribution, and return their paths."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--outdir", folder, ROOT]
    subprocess.run(command, env=clean_environment(), check=True, stdout=subprocess.DEVNULL)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def archive_faults(wheel: Path, sdist: Path) -> list[str]:
    """Return what is wrong with the contents and the metadata of what was built."""
    from readme_renderer.markdown import render

    version = wheel.name.split("-")[1]
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = set(listed.stdout.splitlines())
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    faults = content_faults("source distribution", names, tracked | {"PKG-INFO"})
    with zipfile.ZipFile(wheel) as archive:
        faults += content_faults("wheel", set(archive.namelist()), wheel_files(tracked, version))
        text = archive.read(f"pacfourier-{version}.dist-info/METADATA").decode()
    metadata = message_from_string(text)
    faults += metadata_faults(metadata, version) + version_faults(version)
    faults += changelog_faults((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    readme = (ROOT / "README.md").read_text("utf-8")
    faults += readme_faults(readme, render(metadata.get_payload()))
    if not run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist, folder=ROOT):
        faults.append("twine does not accept the metadata.")
    return faults


def main() -> int:
    """Print what stands in the way of a release; return 1 if anything does."""
    wheel, sdist = build(ROOT / "dist")
    if faults := archive_faults(wheel, sdist):
        print("\n".join(faults))
        return 1
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    versions = {each: interpreter(each) for each in supported_versions(project["classifiers"])}
    for python in filter(None, versions.values()):
        faults += suite_faults(python, wheel, sdist)
    missing = [each for each, path in versions.items() if path is None]
    print(f"Python versions that are missing here: {', '.join(missing) or 'none'}")
    if len(missing) == len(versions):
        faults.append(f"At least one Python of {', '.join(versions)} must be on the path.")
    print("\n".join(faults) or f"{wheel.name} and {sdist.name} can be published.")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
