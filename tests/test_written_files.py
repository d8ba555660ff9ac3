import errno
import os
import signal
import stat
import subprocess
import sys
import time
from threading import Thread

import pytest

from pacfourier.errors import InputError
from pacfourier.written_files import _claimed_file, write_file

WRITER = """
import sys, time
from pathlib import Path
from pacfourier.written_files import written_file
with written_file(Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    print("half", flush=True)
    time.sleep(60)
"""


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def writer(tmp_path):
    """A process that has written half of the file model.skops and waits."""
    command = [sys.executable, "-c", WRITER, str(tmp_path / "model.skops")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"half\n"
        yield process
        process.kill()


def test_a_file_is_written_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "model.skops"
    write_file(path, b"first")
    write_file(path, b"second")
    assert path.read_bytes() == b"second"
    assert names_in(tmp_path) == ["model.skops"]


def test_a_file_left_by_a_killed_process_is_removed_by_the_next_write(writer, tmp_path):
    path = tmp_path / "model.skops"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert len(names_in(tmp_path)) == 1
    assert not path.exists()
    write_file(path, b"whole")
    assert names_in(tmp_path) == ["model.skops"]


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked")
def test_a_file_that_another_process_is_writing_is_left_alone(writer, tmp_path):
    path = tmp_path / "model.skops"
    write_file(path, b"whole")
    assert len(names_in(tmp_path)) == 2
    assert path.read_bytes() == b"whole"
    assert writer.poll() is None


def test_files_that_only_look_similar_are_left_alone(tmp_path):
    others = [".model.skops.backup", ".other.skops." + "0" * 32, "model.skops." + "0" * 32]
    for name in others:
        (tmp_path / name).touch()
    write_file(tmp_path / "model.skops", b"whole")
    assert names_in(tmp_path) == sorted([*others, "model.skops"])


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such permissions")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_an_overwritten_file_keeps_its_permissions(mode, tmp_path):
    path = tmp_path / "model.skops"
    path.touch()
    path.chmod(mode)
    write_file(path, b"secret")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(sys.platform == "win32", reason="files have no such permissions")
def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "usual").touch()
    write_file(tmp_path / "model.skops", b"open")
    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_full_disk_leaves_the_old_file_and_is_one_line(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    write_file(path, b"old")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"output must be writable, got .*: .*No space left"):
        write_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["model.skops"]


def test_an_absent_folder_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"output must be writable, got .*No such file"):
        write_file(tmp_path / "absent" / "model.skops", b"")


def test_an_error_of_the_writer_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.skops"
    write_file(path, b"old")
    with pytest.raises(TypeError, match="bytes"):
        write_file(path, "not bytes")
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["model.skops"]


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked")
def test_a_file_is_claimed_once_until_it_is_closed(tmp_path):
    path = tmp_path / "part"
    first = _claimed_file(path)
    assert _claimed_file(path) is None
    first.close()
    second = _claimed_file(path)
    assert second is not None
    second.close()


def test_threads_that_write_one_file_leave_one_whole_content(tmp_path):
    path = tmp_path / "model.skops"
    contents = [bytes([digit]) * 100_000 for digit in range(4)]

    def write(content):
        for _ in range(20):
            write_file(path, content)

    threads = [Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            assert path.read_bytes() in contents
        time.sleep(0.001)
    assert names_in(tmp_path) == ["model.skops"]
