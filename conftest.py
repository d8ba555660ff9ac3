"""Modules of optional libraries are not collected where the library is missing."""

from importlib.util import find_spec

collect_ignore_glob = []
if find_spec("torch") is None:
    collect_ignore_glob.append("src/pacfourier/tensors/*")
elif find_spec("triton") is None:
    collect_ignore_glob.append("src/pacfourier/tensors/triton/kernels.py")
