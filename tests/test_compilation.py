import os
import subprocess
import sys

import pytest

CODE = """
import numpy as np
from seplearn import TSLRegressor
X = np.random.default_rng(0).normal(size=(1000, 5))
TSLRegressor(n_stages=2, n_grids=2, random_state=0).fit(X, X[:, 0] * X[:, 1]).predict(X)
"""


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_kernels_are_compiled_once_and_said_so(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run(
            [sys.executable, "-c", CODE],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    ]
    assert runs[0].stderr == "compiling kernels once; later runs start from the cache\n"
    assert runs[1].stderr == ""
    assert [run.stdout for run in runs] == ["", ""]
