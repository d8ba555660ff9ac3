"""Describe the machine that a benchmark ran on."""

import os
import platform
from pathlib import Path

import numba
import numpy as np
from threadpoolctl import threadpool_info


def description() -> dict[str, str]:
    """Return the CPU, its threads, the BLAS library and the versions that were used."""
    blas = [each for each in threadpool_info() if each["user_api"] == "blas"]
    libraries = {blas_name(each) for each in blas}
    threads = {str(each["num_threads"]) for each in blas} | {str(numba.get_num_threads())}
    return {
        "CPU": cpu_name(),
        "cores": str(os.cpu_count()),
        "threads": " and ".join(sorted(threads)),
        "BLAS": " and ".join(sorted(libraries)),
        "NumPy": np.__version__,
        "numba": numba.__version__,
    }


def blas_name(library: dict[str, str]) -> str:
    """Return the name and version of a BLAS library, with the processor whose loops it takes.

    OpenBLAS takes loops for older processors, with narrower vectors, if it does not know this one.
    """
    name = f"{library['internal_api']} {library['version']}"
    architecture = library.get("architecture")
    return f"{name} (loops for {architecture})" if architecture else name


def cpu_name() -> str:
    """Return the name of the CPU, with what tells kinds of one name apart, on Linux.

    Virtual machines often call all processors of a maker the same. Family and model differ.
    """
    path = Path("/proc/cpuinfo")
    fields = dict(
        [part.strip() for part in line.split(":", 1)]
        for line in (path.read_text().splitlines() if path.is_file() else [])
        if ":" in line
    )
    name = fields.get("model name", platform.processor() or platform.machine())
    if "cpu family" in fields and "model" in fields:
        name += f" (family {fields['cpu family']}, model {fields['model']})"
    return f"{name} with AVX-512" if "avx512f" in fields.get("flags", "") else name
