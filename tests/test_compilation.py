import ast
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import pytest

import seplearn
from seplearn.kernels import compiler

CODE = """
import numpy as np
from seplearn import SepALSRegressor, TSLRegressor, datasets
X, y = datasets.rents(400, random_state=0)
seeded = {"random_state": 0}
ours = TSLRegressor(6, loss="huber", monotonic_cst={"area": 1}, n_bootstrap=1, **seeded)
for model in (ours, TSLRegressor.paper(2, n_grids=5, **seeded), SepALSRegressor(2, **seeded)):
    print(model.fit(X, y).predict(X).tobytes().hex())
"""
KERNELS = Path(seplearn.__file__).parent / "kernels"


def without_kernels(folder):
    """An environment in which nothing is compiled yet.

    In a fresh checkout it is our own: what is compiled here need not be compiled again by others.
    """
    if "NUMBA_CACHE_DIR" in os.environ or any((KERNELS / "__pycache__").glob("*.nbi")):
        return os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    return dict(os.environ)


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_kernels_are_compiled_once_and_said_so_and_the_first_fit_is_like_all_others(tmp_path):
    environment = without_kernels(tmp_path)
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
    assert (
        runs[0].stderr == "compiling kernels for their first use; later runs start from the cache\n"
    )
    assert runs[1].stderr == ""
    assert len(runs[0].stdout.split()) == 3
    assert runs[0].stdout == runs[1].stdout


def test_without_a_folder_for_the_cache_kernels_are_compiled_all_the_same(monkeypatch, caplog):
    """Numba looks for a folder when a function is decorated, and gives up if it finds none."""
    njit = numba.njit

    def njit_without_a_folder(**options):
        if options.pop("cache", False):
            raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")
        return njit(**options)

    def half(x):
        return 0.5 * x

    half.__module__ = "seplearn.somewhere"
    monkeypatch.setattr(compiler, "numba", SimpleNamespace(njit=njit_without_a_folder))
    monkeypatch.setattr(compiler.announcer, "message", "kept")
    monkeypatch.setattr(compiler.announcer, "announced", False)
    assert compiler.kernel(half)(3.0) == 1.5
    assert "NUMBA_CACHE_DIR" in compiler.announcer.message
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        assert caplog.messages == [compiler.announcer.message]


def decorated(kind):
    """The functions with a decorator, by name."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in KERNELS.glob("*.py")]
    functions = [f for tree in trees for f in tree.body if isinstance(f, ast.FunctionDef)]
    return {f.name: f for f in functions if any(ast.unparse(d) == kind for d in f.decorator_list)}


def test_what_kernels_call_is_merged_into_them():
    kernels, parts = decorated("kernel"), decorated("part") | decorated("section")
    assert {"sweep_rows", "visit_axis", "advance"} <= kernels.keys()
    assert {"take_step", "sweep_stage"} <= parts.keys()
    for name, function in (kernels | parts).items():
        calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
        called = {call.id for call in calls if isinstance(call, ast.Name)}
        assert not called & kernels.keys(), name


def of_parts(twice, thrice):
    """What a kernel of two parts makes of two."""

    @compiler.kernel
    def six_times(x):
        return thrice(twice(x))

    return six_times(2.0)


def compiled_once(part: Any) -> Any:
    """What numba made of a part that was called with one type."""
    (compiled,) = part.overloads.values()
    return compiled


def twice(x):
    return x + x


def thrice(x):
    return 3.0 * x


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_parts_have_no_machine_code_of_their_own():
    parts = compiler.part(twice), compiler.section(thrice)
    assert of_parts(*parts) == 12.0
    for compiled in map(compiled_once, parts):
        assert isinstance(compiled.library, compiler._PartLibrary)
        assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_another_numba_compiles_parts_in_its_own_way(monkeypatch):
    monkeypatch.setattr(compiler, "_OF_NUMBA", ("what_a_later_numba_does_without",))
    parts = compiler.part(twice), compiler.section(thrice)
    assert of_parts(*parts) == 12.0
    for compiled in map(compiled_once, parts):
        assert not isinstance(compiled.library, compiler._PartLibrary)
