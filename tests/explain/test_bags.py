"""The bagged grids behind a stage."""

import math
from typing import Any

import numpy as np
import pytest

from seplearn import TSLRegressor, explain, load_model
from seplearn.fitting import jointly
from tests.explained import QUICK, array, assert_same, joint, paper, table

OPTIONS: dict[str, Any] = QUICK | {"keep_bags": True, "n_grids": 7}


def assert_combined_is_the_geometric_mean(result):
    for grids, combined in zip(result.backbones, result.combined, strict=True):
        kept = [grid for grid, used in zip(grids, result.kept, strict=True) if used]
        mean = np.prod(kept, axis=0) ** (1 / len(kept))
        np.testing.assert_allclose(combined, mean, rtol=1e-9)


@pytest.mark.parametrize("trim", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("refine", ["scalars", "joint"])
def test_kept_grids_are_averaged(trim, refine):
    X, y = table()
    model = TSLRegressor(**OPTIONS | {"n_stages": 2}, trim=trim, refine=refine).fit(X, y)
    for s in range(2):
        result = explain.bags(model, s)
        assert result.kept.sum() == max(1, math.ceil((1 - trim) * 7 - 1e-9))
        assert result.kept[result.anchor]
        assert result.scale.shape == (7,)
        assert [b.shape for b in result.backbones] == [(7, n) for n in (11, 11, 3, 6, 8)]
        assert_combined_is_the_geometric_mean(result)


def test_with_scalars_the_average_is_the_stage():
    case = paper()
    for s in range(3):
        result = explain.bags(case.subject, s)
        for combined, curve in zip(result.combined, explain.curves(case.subject, s), strict=True):
            np.testing.assert_allclose(combined, curve.backbone, rtol=1e-10)
    assert explain.bags(case.subject, 0).names == tuple(case.X.columns)


def test_one_product_shows_its_factors():
    X, y = table()
    options: dict[str, Any] = OPTIONS | {"refine": "scalars", "fit_intercept": False, "n_stages": 1}
    for shift in (40.0, -40.0):
        model = TSLRegressor(**options).fit(X, y + shift)
        assert model.stages_[0].is_one_branch
        result = explain.bags(model, 0)
        for combined, curve in zip(result.combined, explain.curves(model, 0), strict=True):
            np.testing.assert_allclose(combined, curve.backbone, rtol=1e-10)
        assert_combined_is_the_geometric_mean(result)
        assert result.scale.mean() == pytest.approx(40.0, rel=0.1)  # in the unit of y


def test_scales_have_the_unit_of_the_target():
    X, y = table()
    one, other = (TSLRegressor(**OPTIONS).fit(X, factor * y) for factor in (1.0, 1000.0))
    np.testing.assert_allclose(
        explain.bags(other, 1).scale, 1000.0 * explain.bags(one, 1).scale, rtol=1e-6
    )


def test_keeping_bags_changes_nothing_else():
    X, y = table()
    kept = TSLRegressor(**QUICK, keep_bags=True).fit(X, y)
    np.testing.assert_array_equal(kept.predict(X), joint().subject.predict(X))


def test_a_stage_of_every_start_has_its_own_bags(monkeypatch):
    monkeypatch.setattr(jointly, "ALIKE", 0.0)  # all stages of all starts
    case = array()
    options: dict[str, Any] = OPTIONS | {"n_splits": 4}
    one, both = (TSLRegressor(**options, n_starts=k).fit(case.X, case.y) for k in (1, 2))
    n_first, n_all = len(one.stages_), len(both.stages_)
    assert len(both.model_.bags) == n_all > n_first == len(one.model_.bags)
    for s in range(n_first):
        assert_same(explain.bags(both, s).backbones, explain.bags(one, s).backbones)
    assert explain.bags(both, n_all - 1).kept.sum() == 4


def test_without_bags_it_says_how_to_get_them(tmp_path):
    with pytest.raises(ValueError, match="fit it with keep_bags=True"):
        explain.bags(joint().subject, 0)
    paper().subject.save(tmp_path / "m.tsl")
    with pytest.raises(ValueError, match="they are not saved"):
        explain.bags(load_model(tmp_path / "m.tsl"), 0)


def test_signed_bags_have_no_backbone():
    X, y = table()
    options: dict[str, Any] = OPTIONS | {"products": "single", "refine": "scalars", "n_stages": 1}
    with pytest.raises(ValueError, match="factors may be negative"):
        explain.bags(TSLRegressor(**options).fit(X, y), 0)
