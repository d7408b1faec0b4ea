from __future__ import annotations

import itertools

import numpy as np
import pytest

from studies import approximation as study

pytestmark = pytest.mark.no_cover


@pytest.fixture(scope="module")
def table():
    return study.measure(study.TINY)


@pytest.mark.parametrize("target", study.TARGETS, ids=lambda target: target.name)
def test_the_derivative_is_the_functions_own(target):
    at, step = np.array([0.3, 0.6, 0.45]), 1e-3
    corners = list(itertools.product((-1.0, 1.0), repeat=3))
    total = sum(np.prod(c) * target.value(at + step * np.array(c)) for c in corners)
    assert total / (2 * step) ** 3 == pytest.approx(target.derivative(at), rel=1e-3)
    assert target.value(np.array([0.4, 0.0, 0.7])) == pytest.approx(0.0, abs=1e-15)
    t = np.random.default_rng(0).random((200_000, 3))
    assert np.abs(target.derivative(t)).mean() == pytest.approx(target.norm(3), rel=0.01)


def test_errors_stay_under_the_bound(table):
    assert len(study.over_bound(table)) == 0
    assert (table["error"] <= table["sharper bound"] * (1 + 1e-12)).all()
    assert len(study.over_bound(table.assign(bound=0.5 * table["error"]))) == len(table)


def test_greedy_errors_fall_with_every_step(table):
    greedy = table[table["method"] == "greedy steps"]
    for _, part in greedy.groupby(["function", "p"]):
        assert (np.diff(part["error"]) <= 1e-15).all()


def test_the_greedy_choice_is_the_best_of_all_steps():
    values = np.random.default_rng(0).normal(size=(4, 3))
    best = np.inf
    for i, j in itertools.product(range(4), range(3)):
        atom = np.zeros_like(values)
        atom[i:, j:] = 1.0
        left = values - (values * atom).sum() / atom.sum() * atom
        best = min(best, float(np.sqrt(np.mean(left**2))))
    assert study.greedy_errors(values, 1)[1] == pytest.approx(best, rel=1e-12)


def test_as_many_steps_as_cells_are_exact():
    values = np.random.default_rng(0).normal(size=(3, 3))
    assert study.greedy_errors(values, 9)[9] < 1e-12


def test_the_page_is_written(table, tmp_path):
    study.page(table, study.TINY).write(tmp_path)
    assert "0 violations" in (tmp_path / "approximation.md").read_text(encoding="utf-8")
