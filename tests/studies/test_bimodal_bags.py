from __future__ import annotations

import numpy as np
import pytest

from studies import bimodal_bags as study

pytestmark = pytest.mark.no_cover


@pytest.fixture(scope="module")
def measured():
    return study.measure(study.TINY)


def test_grids_of_small_and_large_scale_have_opposite_backbones(measured):
    assert study.extremes_alike(measured.bags, most=8)["x1"] < 0.5


def test_one_grid_in_ten_is_averaged(measured):
    assert measured.bags.kept.sum() == np.ceil(0.1 * study.TINY.n_grids)


def test_joint_refinement_lowers_the_spread_and_the_error(measured):
    paper, joint = (measured.same_rows[kind] for kind in (study.PAPER, study.JOINT))
    assert joint.width("x1", "backbone") < paper.width("x1", "backbone")
    assert joint.errors.mean() < paper.errors.mean()
    chosen = measured.same_rows[study.CHOSEN]
    assert chosen.prediction_width < 0.2 * paper.prediction_width


def test_the_page_is_written(measured, tmp_path, no_layout):
    study.page(measured, study.TINY).write(tmp_path)
    assert (tmp_path / "bimodal_bags_three_rows.png").exists()
    assert "nan" not in (tmp_path / "bimodal_bags.md").read_text(encoding="utf-8")
