"""The `shap` package's exact explainer gives the same values."""

import numba
import numpy as np
import pytest

from seplearn import explain
from tests.explained import array


# What shap and its dependencies warn about on import is not ours to mend.
@pytest.mark.filterwarnings("ignore")
def test_shapley_values_agree_with_the_exact_explainer_of_shap(monkeypatch):
    with monkeypatch.context() as patch:  # compiling it takes longer than the test
        patch.setattr(numba.config, "DISABLE_JIT", True)
        shap = pytest.importorskip("shap")
    case = array()
    rows, background = case.X[:15], case.X[-40:]
    masker = shap.maskers.Independent(background, max_samples=len(background))
    theirs = shap.explainers.Exact(case.subject.predict, masker)(rows)
    ours = explain.shapley(case.subject, rows, background=background)
    size = np.abs(ours.values).max()
    np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(ours.base, theirs.base_values, rtol=1e-9)
