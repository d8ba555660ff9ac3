"""The command line in a forked process, which is there at once and can be killed."""

import contextlib
import io
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import NamedTuple, NoReturn

MOST_SECONDS = 60.0
# More than a process with all libraries takes, and the gigabyte that a file may unpack to.
MOST_BYTES = 2**31


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    said: str
    n_bytes: int


def run_here(*arguments: object) -> None:
    """Run the command in this process, quietly. Processes forked later start with all it loads."""
    sys.argv = ["pacfourier", *map(str, arguments)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert exit_code() == 0, arguments


def started(*arguments: object, log: Path) -> int:
    """Start the command in a process of its own, and return the number of the process."""
    child = os.fork()
    if child == 0:
        run_and_exit([str(argument) for argument in arguments], log)
    return child


def run_and_exit(arguments: list[str], log: Path) -> NoReturn:
    """Run the command, write all that it says to a file, and end the process."""
    code = 1
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        with log.open("w", encoding="utf-8") as file:
            sys.stdout = sys.stderr = file
            sys.argv = ["pacfourier", *arguments]
            code = exit_code()
    finally:
        os._exit(code)


def exit_code() -> int:
    """Run the command in this process, and return its exit code."""
    from pacfourier.__main__ import main

    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def ended(child: int, log: Path) -> Ended:
    """Wait until a process ends, and kill it if it takes too long."""
    deadline = time.monotonic() + MOST_SECONDS
    while True:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            return Ended(
                os.waitstatus_to_exitcode(status), log.read_text("utf-8"), usage.ru_maxrss * 1024
            )
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError(f"The command did not end within {MOST_SECONDS:g} seconds.")
        time.sleep(0.002)


def survived(*arguments: object, folder: Path) -> Ended:
    """Run a command, which must end well, or with code 2 and one line."""
    log = folder / "log"
    result = ended(started(*arguments, log=log), log)
    shown = result.said[-300:]
    assert result.code in (0, 2), f"It ended with code {result.code}: {shown}"
    assert "Traceback" not in result.said, shown
    assert result.n_bytes < MOST_BYTES, f"It took {result.n_bytes:,} bytes."
    if result.code == 2:
        errors = [line for line in result.said.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1, shown
        assert result.said.endswith(errors[0] + "\n"), shown
    return result


def killed(child: int, seconds: float) -> bool:
    """Kill a process after some seconds. Return whether it was still running."""
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
