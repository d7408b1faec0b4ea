from __future__ import annotations

import numpy as np
import pytest

from seplearn import datasets
from studies import masked_interaction as study

pytestmark = pytest.mark.no_cover


@pytest.fixture(scope="module")
def measured():
    return study.measure(study.TINY)


def test_partial_dependence_is_flat_while_single_rows_move(measured):
    table = measured.flatness.set_index("model")
    models = table.drop(index="the function itself")
    assert {study.PAPER, study.SHORT, study.DEFAULT, "SepALS"} == set(models.index)
    assert (table["PD moves by"] < 0.2).all()
    assert (models["PD moves by"] * 5 < models["a single row moves by"]).all()


def test_the_first_stage_says_who_scales_and_who_directs(measured):
    told = measured.repeats[measured.repeats["model"] == study.SHORT]
    right = told[told["directs"] == "x3"]
    assert len(right) >= 2
    assert all("x1, x2 scale; x3 directs, flipping at -" in text for text in right["sentence"])
    np.testing.assert_allclose(right["x3 flips at"], -1.0, atol=0.05)


def test_the_backbone_of_x1_is_its_square(measured):
    for name in (study.PAPER, study.SHORT):
        assert study.backbone_likeness(measured.models[name], measured.values) > 0.95


def test_errors_stand_beside_the_noise_floor(measured):
    errors = measured.errors.set_index("model")["RMSE, 3,000 rows"]
    floor = datasets.MASKED_INTERACTION_NOISE
    assert errors["SepALS"] < 1.15 * floor
    assert floor < errors[study.SHORT] < 1.3 * floor
    assert errors[study.PAPER] > errors[study.SHORT]


def test_two_negated_factors_of_sepals_change_no_prediction(measured):
    X, _ = datasets.masked_interaction(200, as_frame=True, random_state=5)
    assert study.flipped_difference(measured.models["SepALS"], X) == 0.0


def test_the_page_has_the_sentence_and_every_figure(measured, tmp_path):
    page = study.page(measured, study.TINY)
    page.write(tmp_path)
    text = (tmp_path / "masked_interaction.md").read_text(encoding="utf-8")
    assert "x1, x2 scale; x3 directs, flipping at -" in text
    for shown in page.figures:
        assert (tmp_path / f"masked_interaction_{shown.name}.png").stat().st_size > 5_000
