from __future__ import annotations

import pytest

from studies import identifiability as study

pytestmark = pytest.mark.no_cover


@pytest.fixture(scope="module")
def measured():
    return study.measure(study.TINY)


def test_factorisations_agree_on_the_support_only():
    assert study.largest_difference() < 1e-12
    X, _ = study.sample(100, 0)
    moved = X.assign(x1=-X["x1"].abs(), x2=X["x2"].abs()).to_numpy()
    assert (study.value(moved, 3.0) / study.value(moved, 1.0)).max() == pytest.approx(1 / 3)


def test_levels_of_grids_vary_much_more_than_their_sum(measured):
    row = measured.fits[study.GRIDS].row(study.GRIDS)
    assert row["level of x1, sd"] > 5 * row["sum of both levels, sd"]


def test_kinds_of_fit_agree_on_the_sum_but_not_on_the_level(measured):
    by = measured.table.set_index("fit")
    total = by["sum of both levels, mean"]
    assert total[study.PAPER] == pytest.approx(total[study.JOINT], abs=0.02)
    level = by["level of x1, mean"]
    assert abs(level[study.PAPER] - level[study.JOINT]) > 0.1


def test_rows_outside_determine_the_level(measured):
    by = measured.table.set_index("fit")
    for kind in (study.BRIDGED, study.RECTANGLE):
        assert by.loc[kind, "level of x1, mean"] == pytest.approx(study.level(1.0), abs=0.03)


def test_the_page_is_written(measured, tmp_path):
    study.page(measured, study.TINY).write(tmp_path)
    assert (tmp_path / "identifiability_fits.png").exists()
