from __future__ import annotations

import numpy as np
import pytest

from studies import cancellation as study

pytestmark = pytest.mark.no_cover


@pytest.fixture(scope="module", params=study.EXAMPLES, ids=lambda example: example.name)
def measured(request):
    return study.measure(request.param, study.TINY)


def test_shapley_values_are_zero_where_the_feature_acts(measured):
    blind = measured.blind
    assert blind.any()
    assert np.abs(measured.true_shapley[blind]).max() < 1e-12
    assert np.abs(measured.true_shapley[~blind]).max() > 1.0
    assert measured.y[blind].std() > 1.0


def test_the_fitted_model_agrees_and_its_backbone_does_not_cancel(measured):
    numbers = measured.numbers()
    assert numbers["fitted Shapley value, sd"] < 0.1 * numbers["prediction moves by"]
    assert numbers["backbone and g, correlation"] > 0.95
    assert np.abs(measured.shapley - measured.true_shapley).mean() < 0.2


def test_partial_dependence_misleads_in_one_example_and_is_flat_in_the_other():
    one, two = (study.measure(example, study.TINY).numbers() for example in study.EXAMPLES)
    assert one["PD and prediction, correlation"] < -0.9
    assert two["PD moves by"] < 0.1 * two["prediction moves by"]


def test_the_page_is_written(tmp_path):
    study.run(study.TINY).write(tmp_path)
    assert (tmp_path / "cancellation.md").exists()
