"""The studies of real tables, on small generated ones with the same columns."""

from __future__ import annotations

import numpy as np
import pytest

from studies import bike, california, longitude, main_effects
from studies.california.measure import POINTS, in_region, peaks, stages_by_region
from studies.page import dollars
from tests.studies.stand_ins import bikes, houses, sales

pytestmark = pytest.mark.no_cover


@pytest.fixture(scope="module")
def housing():
    X, y = houses()
    return california.measure(X, y, california.TINY)


@pytest.fixture(scope="module")
def riding():
    X, y = bikes()
    return bike.measure(X, y, bike.TINY)


def test_stages_of_a_point_sum_to_its_prediction(housing):
    for points in (housing.points, housing.paper_points):
        assert set(points) == set(POINTS)
        for point in points.values():
            total = point.intercept + point.contributions.sum()
            assert total == pytest.approx(point.prediction, rel=1e-9)


def test_all_stages_kept_are_the_whole_model(housing):
    table = housing.selection
    assert len(table) > 0
    last = table[table["stages kept"] == max(california.TINY.stages)]
    np.testing.assert_allclose(last["as they are"], last["whole model"], rtol=1e-9)


def test_the_stand_ins_coast_is_dearer_than_its_inland(housing):
    table = stages_by_region(housing, "TSL, 2 stages")
    values, lines = housing.lines["longitude"]
    assert len(table) >= 2
    assert lines["TSL, 2 stages"][0] > lines["TSL, 2 stages"][-1]
    assert len(values) == len(lines["SepALS"])


def test_peaks_are_found_where_they_are():
    values = np.linspace(0.0, 1.0, 201)
    curve = np.exp(-(((values - 0.25) / 0.05) ** 2)) + np.exp(-(((values - 0.7) / 0.05) ** 2))
    assert peaks(values, curve) == pytest.approx([0.25, 0.7], abs=0.01)


def test_regions_are_open_where_a_bound_is_none(housing):
    inside = in_region(housing.X, {"longitude": (None, -120.0)})
    assert (housing.X["longitude"][inside] <= -120.0).all()
    assert 0 < inside.sum() < len(inside)


def test_california_page(housing, tmp_path, no_layout):
    california.page(housing, california.TINY).write(tmp_path)
    text = (tmp_path / "california.md").read_text(encoding="utf-8")
    for point in (housing.points["desert"], housing.paper_points["desert"]):
        assert f"together {dollars(point.prediction)}" in text
    assert (tmp_path / "california_local_desert.png").exists()


def test_working_days_have_a_morning_peak_that_weekends_lack(riding):
    weekend, working = riding.at_rows[bike.SHORT]
    assert bike.commute(working) > 150.0
    assert bike.commute(weekend) < 0.4 * bike.commute(working)
    table = bike.commute_table(riding).set_index("model")
    assert table.loc["observed", "working day, at the rows"] > 200.0


def test_stages_and_intercept_sum_to_the_lines(riding):
    model = riding.models[bike.SHORT]
    total = model.intercept_ + riding.stages[bike.SHORT].sum(axis=0)
    np.testing.assert_allclose(total, riding.lines[bike.SHORT], rtol=1e-9)


def test_bike_page(riding, tmp_path, no_layout):
    bike.page(riding, bike.TINY).write(tmp_path)
    assert (tmp_path / "bike_hours.png").exists()


def test_a_longitude_that_only_lowers_prices_has_a_calm_line_for_both_seeds(tmp_path):
    X, y = sales()
    measured = longitude.measure(X, y, longitude.TINY)
    sizes = measured.sizes.set_index("model")
    for name in (longitude.FIRST, longitude.SECOND):
        line = measured.lines[name].to_numpy()
        assert line[0] > line[-1]
        assert sizes.loc[name, longitude.MOVEMENT] < 1.3
    assert longitude.agreement(measured.lines) > 0.99
    longitude.page(measured).write(tmp_path)
    text = (tmp_path / "longitude.md").read_text(encoding="utf-8")
    assert "the paper says" not in text
    assert (tmp_path / "longitude_dependence.png").exists()


@pytest.fixture(scope="module")
def forms():
    tables = dict(zip(main_effects.REAL, (houses(), bikes(), sales()), strict=True))
    return main_effects.measure(tables, main_effects.TINY)


def test_every_example_is_fitted_in_every_form(forms):
    examples = [*main_effects.MADE, *main_effects.REAL]
    assert list(forms["example"].unique()) == examples
    assert len(forms) == len(examples) * len(main_effects.FORMS)
    has = forms.set_index(["example", "main effects"])["has them"]
    assert not has[:, "without"].any()
    assert has[:, "with"].sum() >= len(examples) - 1  # the masked interaction has none to find


def test_the_form_that_is_chosen_is_one_of_the_two(forms, no_layout, tmp_path):
    by = forms.set_index(["example", "main effects"])["RMSE"]
    for name in forms["example"].unique():
        chosen = by[name, "chosen"]
        assert min(abs(chosen - by[name, form]) for form in ("with", "without")) < 0.1 * chosen
    page = main_effects.page(forms)
    page.write(tmp_path)
    assert (tmp_path / "main_effects_errors.png").stat().st_size > 5_000
    assert "times the error of products alone" in page.markdown()
