import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def data_folder():
    folder = os.environ.get("PACFOURIER_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("PACFOURIER_DATA does not name a folder with the paper's data")
    return folder
