import shutil
import subprocess
from functools import partial

import numpy as np
import pytest

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]
SANITIZERS = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
DRIVER = """
#include <stdio.h>
#include "model.h"

#define PRINT(names) \\
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) fwrite(names[i], 1, \\
        sizeof(char) * (size_t)(length(names[i]) + 1), stdout);

static inline int length(const char *text)
{
    int n = 0;
    while (text[n]) ++n;
    return n;
}

int main(int argc, char **argv)
{
    INPUT row[MODEL_N_COLUMNS];
    SCORE scores[MODEL_N_SCORES];
    (void)argv;
    if (argc > 1) {
        NAMES
        return 0;
    }
    while (fread(row, sizeof row, 1, stdin) == 1) {
        PREDICT
        model_scores(row, scores);
        fwrite(scores, sizeof scores, 1, stdout);
        fwrite(found, sizeof found, 1, stdout);
    }
    return 0;
}
"""
KINDS = {"float": np.float32, "unsigned char": np.uint8, "int32_t": np.int32}


def guide_program(header):
    """Return a program of the lines that a header's comment shows; it prints the prediction."""
    _, _, rest = header.partition("How to pass a row of the table: ")
    *lines, last = [line[7:] for line in rest.partition("*/")[0].splitlines() if ";" in line]
    includes = [f"#include {name}" for name in ("<stdio.h>", "<string.h>", '"model.h"')]
    end = [f'printf("%d", {last[:-1]});', "return 0;", "}"]
    return "\n".join([*includes, "int main(void)", "{", *lines, *end])


class Program:
    """A compiled header: scores and predictions of rows, and the names it holds."""

    def __init__(self, path, kinds, n_scores, n_found, found_type):
        self.path, self.kinds, self.n_scores = path, kinds, n_scores
        self.n_found, self.found_type = n_found, found_type

    def _run(self, rows, *arguments):
        return subprocess.run(
            [self.path, *arguments], input=rows, capture_output=True, check=True
        ).stdout

    def __call__(self, rows):
        rows = np.ascontiguousarray(rows, dtype=KINDS[self.kinds[0]])
        row_type = np.dtype(
            [
                ("scores", KINDS[self.kinds[1]], (self.n_scores,)),
                ("found", self.found_type, (self.n_found,)),
            ]
        )
        found = np.frombuffer(self._run(rows.tobytes()), dtype=row_type)
        return found["scores"], found["found"]

    def names(self):
        text = self._run(b"", "names").decode("utf-8", errors="surrogatepass")
        return text.split("\0")[:-1]


def compiled_program(folder, header, kinds, n_scores, classes=None, names=(), checks=SANITIZERS):
    """Compile a header with all warnings as errors, and with sanitizers or other checks."""
    is_class = classes is not None
    n_found = 1 if is_class else n_scores
    result = "int found[1]" if is_class else f"{kinds[1]} found[{n_scores}]"
    call = "found[0] = model_predict(row);"
    if not is_class and n_scores > 1:
        call = "model_predict(row, found);"
    driver = DRIVER.replace("PREDICT", f"{result}; {call}")
    driver = driver.replace("NAMES", "\n".join(f"PRINT({name})" for name in names))
    driver = driver.replace("INPUT", kinds[0]).replace("SCORE ", f"{kinds[1]} ")
    (folder / "model.h").write_text(header, encoding="ascii")
    (folder / "main.c").write_text(driver)
    command = ["gcc", *FLAGS, *checks, "main.c", "-o", "main"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found_type = np.intc if is_class else KINDS[kinds[1]]
    return Program(folder / "main", kinds, n_scores, n_found, found_type)


@pytest.fixture
def program(tmp_path):
    """Compile a header with all warnings as errors and with sanitizers."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    return partial(compiled_program, tmp_path)


@pytest.fixture
def guide_output(tmp_path):
    """Return a function: what a program prints that follows the comment of a header."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")

    def printed(header):
        (tmp_path / "model.h").write_text(header, encoding="ascii")
        (tmp_path / "guide.c").write_text(guide_program(header), encoding="ascii")
        command = ["gcc", *FLAGS, *SANITIZERS, "guide.c", "-o", "guide"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return subprocess.run(
            [tmp_path / "guide"], capture_output=True, text=True, check=True
        ).stdout

    return printed
