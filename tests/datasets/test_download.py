import gzip
import hashlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Barrier, Event, Thread

import numpy as np
import pooch
import pytest

from pacfourier.datasets import load
from pacfourier.datasets.sources import SOURCES, PublicFile, Source

COLUMNS = ",".join(["0", "1"] * 777)
AD_DATA = "".join(
    f"   ?, 1,   ?,0,{COLUMNS},{label}\n" for label in ["ad.", "nonad."] * 100
).encode()
TAMPERED = AD_DATA.replace(b"nonad.", b"ad.", 1)


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Mirrors(ThreadingHTTPServer):
    """Files served by path, with the faults of real servers, and a list of what was asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.files = {}
        self.knows_ranges = True
        self.cuts = []
        """Bytes after which the next answers break off."""
        self.hold = None
        """An event for which a broken answer waits with the connection open."""
        self.asked = []
        """Path and range of each request."""
        self.halfway = None
        """A barrier at which every answer waits with half of its content sent."""
        self.sent = []
        """Bytes sent in answer to each request for a file that is there."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        site = self.server
        asked = self.headers["Range"]
        site.asked.append((self.path, asked))
        content = site.files.get(self.path)
        if content is None:
            return self.send_error(404)
        # Real servers compress text unless asked not to, and ranges then count other bytes.
        if self.headers["Accept-Encoding"] != "identity":
            return self.send_error(406)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if not site.knows_ranges:
            start = 0
        if asked and start >= len(content):
            return self.send_error(416)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if site.halfway:
            middle = (start + len(content)) // 2
            self.wfile.write(content[start:middle])
            start = middle
            site.halfway.wait(60)
        stop = site.cuts.pop(0) if site.cuts else len(content)
        self.wfile.write(content[start:stop])
        site.sent.append(len(content[start:stop]))
        if stop < len(content) and site.hold:
            site.hold.wait(30)
        return None


@pytest.fixture
def mirrors():
    with Mirrors() as site:
        Thread(target=site.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield site
        site.shutdown()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("PACFOURIER_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    return tmp_path / "cache" / "pacfourier"


@pytest.fixture(autouse=True)
def ads(mirrors, monkeypatch):
    """The addresses of made-up ads, of which the first mirror has the right file."""
    paths = ("/one/ad.data", "/two/ad.data")
    urls = tuple(mirrors.url + path for path in paths)
    file = PublicFile(sha256(AD_DATA), sha256(AD_DATA), urls)
    source = Source("Made-up ads", "Licence A", "Author A", {"ad.data": file})
    monkeypatch.setitem(SOURCES, "ads", source)
    mirrors.files[paths[0]] = AD_DATA
    return urls


@pytest.fixture
def messages(caplog):
    """What pooch's logger, which has no parents, shows a user."""
    pooch.get_logger().addHandler(caplog.handler)
    yield caplog
    pooch.get_logger().removeHandler(caplog.handler)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def assert_ads_are_right(data):
    assert data.X.shape == (200, 1554)
    np.testing.assert_array_equal(data.X, np.tile([0.0, 1.0], (200, 777)))
    np.testing.assert_array_equal(data.y, np.tile([1, -1], 100))


def test_a_file_is_downloaded_once(mirrors, cache):
    assert_ads_are_right(load("ads"))
    assert_ads_are_right(load("ads"))
    assert mirrors.asked == [("/one/ad.data", None)]
    assert names_in(cache) == ["ad.data"]


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_a_broken_download_continues_where_it_stopped(knows_ranges, mirrors, cache):
    mirrors.knows_ranges = knows_ranges
    mirrors.cuts = [300_000]
    with pytest.raises(FileNotFoundError):
        load("ads")
    [part] = cache.iterdir()
    size = part.stat().st_size
    assert part.name.endswith(".part")
    assert 300_000 - 8192 <= size <= 300_000
    mirrors.asked.clear()
    assert_ads_are_right(load("ads"))
    assert mirrors.asked == [("/one/ad.data", f"bytes={size}-")]
    assert mirrors.sent[-1] == len(AD_DATA) - (size if knows_ranges else 0)
    assert names_in(cache) == ["ad.data"]


def test_a_part_that_is_whole_is_taken(mirrors, cache):
    mirrors.cuts = [300_000]
    with pytest.raises(FileNotFoundError):
        load("ads")
    next(cache.iterdir()).write_bytes(AD_DATA)
    assert_ads_are_right(load("ads"))
    assert len(mirrors.sent) == 1


def test_the_bytes_of_two_mirrors_are_never_joined(mirrors, cache):
    mirrors.files |= {"/one/ad.data": TAMPERED, "/two/ad.data": AD_DATA}
    mirrors.cuts = [300_000]
    assert_ads_are_right(load("ads"))
    assert mirrors.asked == [("/one/ad.data", None), ("/two/ad.data", None)]
    assert names_in(cache) == ["ad.data"]


def test_after_a_tampered_file_the_next_mirror_is_tried(ads, mirrors, cache, messages):
    mirrors.files |= {"/one/ad.data": TAMPERED, "/two/ad.data": AD_DATA}
    assert_ads_are_right(load("ads"))
    assert mirrors.asked == [("/one/ad.data", None), ("/two/ad.data", None)]
    assert names_in(cache) == ["ad.data"]
    assert f"Failed: {ads[0]}" in messages.text


def test_tampered_files_are_reported_and_not_kept(ads, mirrors, cache):
    mirrors.files |= {"/one/ad.data": TAMPERED, "/two/ad.data": TAMPERED}
    with pytest.raises(FileNotFoundError, match=r"ad\.data must be in the folder") as raised:
        load("ads")
    for fact in (*ads, sha256(AD_DATA), sha256(TAMPERED)):
        assert fact in str(raised.value)
    assert names_in(cache) == []


def test_a_cached_file_that_was_tampered_with_is_downloaded_again(mirrors, cache):
    load("ads")
    (cache / "ad.data").write_bytes(TAMPERED)
    assert_ads_are_right(load("ads"))
    assert len(mirrors.asked) == 2


def test_absent_files_are_reported_with_their_addresses(ads, mirrors, cache):
    mirrors.files.clear()
    with pytest.raises(FileNotFoundError, match=r"ad\.data must be .* PACFOURIER_DATA") as raised:
        load("ads")
    assert [f"{url}: 404" in str(raised.value) for url in ads] == [True, True]
    assert len(mirrors.asked) == 2
    assert names_in(cache) == []


def test_servers_that_are_down_are_reported(mirrors):
    mirrors.shutdown()
    mirrors.server_close()
    with pytest.raises(FileNotFoundError, match=r"/one/ad\.data: .*\n.*/two/ad\.data: "):
        load("ads")


KILLED = """
import sys
from pathlib import Path
import pooch
from pacfourier.datasets import load
from pacfourier.datasets.sources import SOURCES, PublicFile, Source
cache, sha256, url = sys.argv[1:]
pooch.os_cache = lambda project: Path(cache)
SOURCES["ads"] = Source("", "", "", {"ad.data": PublicFile(sha256, sha256, (url,))})
load("ads")
"""


def test_a_killed_download_leaves_a_part_and_no_file(ads, mirrors, cache):
    mirrors.cuts, mirrors.hold = [300_000], Event()
    arguments = [str(cache), sha256(AD_DATA), ads[0]]
    with subprocess.Popen([sys.executable, "-c", KILLED, *arguments]) as process:
        size = wait_for_part(cache, seconds=60)
        process.kill()
    mirrors.hold.set()
    assert size > 0
    assert not (cache / "ad.data").exists()
    assert_ads_are_right(load("ads"))
    path, asked = mirrors.asked[-1]
    assert path == "/one/ad.data"
    assert int(asked.removeprefix("bytes=").removesuffix("-")) >= size


def test_processes_that_download_the_same_file_at_once_all_succeed(ads, mirrors, cache):
    """All of them have half of the file before any has the rest."""
    mirrors.halfway = Barrier(4)
    command = [sys.executable, "-c", KILLED, str(cache), sha256(AD_DATA), ads[0]]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    errors = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, errors
    assert names_in(cache) == ["ad.data"]
    assert (cache / "ad.data").read_bytes() == AD_DATA


def test_only_one_of_two_downloads_continues_a_part(mirrors, cache):
    mirrors.cuts = [300_000]
    with pytest.raises(FileNotFoundError):
        load("ads")
    mirrors.asked.clear()
    mirrors.halfway = Barrier(2)
    with ThreadPoolExecutor(2) as executor:
        for data in executor.map(load, ["ads", "ads"]):
            assert_ads_are_right(data)
    assert sorted(asked is None for _, asked in mirrors.asked) == [False, True]
    assert names_in(cache) == ["ad.data"]


def wait_for_part(folder: Path, seconds: float) -> int:
    for _ in range(int(seconds / 0.05)):
        sizes = [part.stat().st_size for part in folder.glob("*.part")]
        if sum(sizes):
            return sum(sizes)
        time.sleep(0.05)
    return 0


def test_only_what_the_folder_lacks_is_downloaded(mirrors, tmp_path, monkeypatch):
    person = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, "
    person += "White, Male, 2174, 0, 40, United-States, "
    train = f"{person}<=50K\n{person}>50K\n\n".encode()
    test = f"|1x3 Cross validator\n{person}>50K.\n\n".encode()
    files = {
        name: PublicFile(sha256(content), sha256(content), (f"{mirrors.url}/{name}",))
        for name, content in (("adult.data", train), ("adult.test", test))
    }
    monkeypatch.setitem(SOURCES, "adult", Source("", "", "", files))
    mirrors.files["/adult.test"] = test
    (tmp_path / "adult.data.gz").write_bytes(gzip.compress(train))
    data = load("adult", tmp_path)
    assert data.n_train == 2
    np.testing.assert_array_equal(data.y, [-1, 1, 1])
    assert mirrors.asked == [("/adult.test", None)]


def test_the_licence_is_shown_once_for_the_four_gzips_of_mnist(
    mirrors, cache, monkeypatch, messages
):
    digits = np.array([4, 9, 1, 4], dtype=np.uint8)
    images = np.repeat(digits, 784)
    files = {}
    for part in ("train", "t10k"):
        for name, header, values in (
            (f"{part}-images-idx3-ubyte", 16, images),
            (f"{part}-labels-idx1-ubyte", 8, digits),
        ):
            content = bytes(header) + values.tobytes()
            zipped = gzip.compress(content)
            mirrors.files[f"/{name}.gz"] = zipped
            urls = (f"{mirrors.url}/{name}.gz",)
            files[name] = PublicFile(sha256(content), sha256(zipped), urls)
    monkeypatch.setitem(SOURCES, "mnist49", Source("Made-up MNIST", "Licence M", "Author M", files))
    for _ in range(2):
        data = load("mnist49")
        np.testing.assert_array_equal(data.y, [-1] * 4 + [1] * 2)
        np.testing.assert_array_equal(data.X[:, 0] * 255, [4] * 4 + [9] * 2)
        assert messages.text.count("Made-up MNIST. Licence: Licence M. Cite: Author M") == 1
    assert len(mirrors.asked) == 4
    assert names_in(cache) == sorted(f"{name}.gz" for name in files)
