"""The memory of a fit to files does not follow the number of rows."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

ROWS = 100_000
MORE = 8
# Of what is read and not yet given back. The columns of all rows alone would be 32 MB; the fit has
# as much again.
MOST_GROWTH = 28 << 20
# Everything that holds some rows in memory holds few of them here, so that growth would be seen.
FIT = """
import re, sys
from seplearn import TSLRegressor, _spill
from seplearn.table import blocks

_spill.RESIDENT = blocks.ROWS_LOOKED_AT = 1 << 13
blocks.ROWS_PER_BLOCK = 1 << 13
asked = dict(n_stages=1, random_state=0, max_bins=32, early_stopping=False)
TSLRegressor(**asked).fit_files(sys.argv[1], "y", sample_weight="w")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak begins anew, after imports and compilation
def peak():
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s*(\\d+)", file.read())[1])
before = peak()
TSLRegressor(**asked).fit_files(sys.argv[2], "y", sample_weight="w")
print("KiB", peak() - before)
"""


def write(folder, name, n_rows):
    """A table in row groups small enough to be read one by one."""
    rng = np.random.default_rng(0)
    with parquet.ParquetWriter(folder / name, SCHEMA) as out:
        for first in range(0, n_rows, 20_000):
            n = min(20_000, n_rows - first)
            columns = {f"x{j}": rng.integers(0, 50, n) / 50.0 for j in range(3)}
            y = columns["x0"] * columns["x1"] + rng.normal(0.0, 0.1, n)
            out.write_table(pa.table(columns | {"y": y, "w": rng.uniform(0.5, 1.5, n)}, SCHEMA))
    return folder / name


SCHEMA = pa.schema([(name, pa.float64()) for name in ("x0", "x1", "x2", "y", "w")])


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="only Linux tells the peak of a process"
)
def test_eight_times_the_rows_need_hardly_more_memory(tmp_path):
    paths = write(tmp_path, "few.parquet", ROWS), write(tmp_path, "many.parquet", MORE * ROWS)
    command = [sys.executable, "-c", FIT, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"KiB (-?\d+)", done.stdout)
    assert found is not None
    assert int(found[1]) * 1024 < MOST_GROWTH
