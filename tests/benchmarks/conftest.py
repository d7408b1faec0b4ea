"""The command line of the benchmark, in this process."""

import runpy
import signal
import sys

import pytest


@pytest.fixture
def command_line(monkeypatch):
    """The command line in this process: one of its own would import everything again."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["benchmarks", *map(str, words)])
        monkeypatch.delitem(sys.modules, "benchmarks.__main__", raising=False)
        runpy.run_module("benchmarks", run_name="__main__")

    before = signal.getsignal(signal.SIGTERM)
    yield call
    signal.signal(signal.SIGTERM, before)
