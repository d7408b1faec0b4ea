"""How often the statements of a summary hold in fits anew."""

from functools import wraps

import numpy as np
import pandas as pd
import polars as pl
import pytest

from seplearn import SepALSRegressor, TSLClassifier, TSLRegressor, datasets, explain
from seplearn.explain.statements import Statement

QUICK = {"n_stages": 4, "n_grids": 1, "early_stopping": False, "random_state": 0}


def table(n=150):
    """One strong feature, and one that is hardly there."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"strong": random.normal(size=n), "weak": random.normal(size=n)})
    return X, 3.0 * X["strong"] + 0.05 * X["weak"] + 0.3 * random.normal(size=n)


@pytest.fixture(scope="module")
def model():
    return TSLRegressor(**QUICK).fit(*table())


@pytest.fixture(scope="module")
def found(model):
    return explain.stability(model, *table(), n_refits=3)


def test_statements_are_those_of_the_summary_with_their_shares(model, found):
    own = explain.summary(model).statements
    assert found.statements[: len(own)] == own
    assert found.of_model.tolist() == [k < len(own) for k in range(len(found.statements))]
    told = dict(zip(found.statements, found.over_samples, strict=True))
    assert told[Statement("matters most", ("strong",))] == 1.0
    assert told[Statement("way", ("strong",), "raises")] > 0.5
    counts = np.concatenate([found.over_seeds, found.over_samples]) * 3
    np.testing.assert_allclose(counts, np.round(counts))
    others = ~found.of_model
    assert (found.over_seeds[others] + found.over_samples[others] > 1.0).all()


def test_the_shares_are_those_of_fits_with_the_same_seeds_and_rows(model):
    X, y = table()
    found = explain.stability(model, X, y, n_refits=1, random_state=5)
    random = np.random.default_rng(5)
    same = TSLRegressor(**QUICK | {"random_state": int(random.integers(2**31))}).fit(X, y)
    seed = int(random.integers(2**31))
    drawn = np.zeros(len(y))
    drawn[random.permutation(len(y))[: round(len(y) * (1 - np.exp(-1)))]] = 1.0
    sample = TSLRegressor(**QUICK | {"random_state": seed}).fit(X, y, drawn)
    for shares, refit in ((found.over_seeds, same), (found.over_samples, sample)):
        made = explain.summary(refit).statements
        assert shares.tolist() == [float(one in made) for one in found.statements]
    assert found.stages.tolist() == [[len(same.stages_)], [len(sample.stages_)]]


def test_it_is_told_in_words_a_frame_and_a_figure(found):
    first, *others = str(found).splitlines()
    n = int(found.of_model.sum())
    assert first.startswith(f"Of {n} statements of the summary, ")
    unsteady = found.of_model & (found.over_samples < 0.9)
    assert len(others) == unsteady.sum() + (~found.of_model).sum()
    frame = found.frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame["statement"][0] == "strong matters most"
    assert frame["over_seeds"].to_numpy() == pytest.approx(found.over_seeds)
    axes = found.plot().axes[0]
    assert len(axes.get_yticks()) == len(found.statements)
    assert "<li>" in found._repr_html_() or len(others) == 0


def test_weights_offsets_and_groups_go_to_every_fit(monkeypatch):
    X, y = table(60)
    weight, offset = np.linspace(1.0, 2.0, 60), np.linspace(0.0, 1.0, 60)
    groups = np.repeat(list("abcdef"), 10)
    seen = []
    plain = TSLRegressor.fit

    @wraps(plain)
    def fit(self, X, y, sample_weight=None, **arguments):
        seen.append((np.asarray(sample_weight), arguments))
        return plain(self, X, y, sample_weight, **arguments)

    model = TSLRegressor(**QUICK | {"early_stopping": True, "n_stages": 1, "n_bootstrap": 1})
    model.fit(X, y, weight, groups=groups, offset=offset)
    monkeypatch.setattr(TSLRegressor, "fit", fit)
    explain.stability(model, X, y, weight, groups=groups, offset=offset, n_refits=1)
    (same, first), (drawn, second) = seen
    np.testing.assert_array_equal(same, weight)
    for arguments in (first, second):
        assert arguments["groups"] is groups
        assert arguments["offset"] is offset
    used = (drawn > 0).reshape(6, 10)
    assert (used.all(axis=1) == used.any(axis=1)).all()  # whole groups
    assert used.any(axis=1).sum() == 4
    np.testing.assert_array_equal(drawn[drawn > 0], weight[drawn > 0])
    with pytest.raises(
        ValueError, match="offset must be given to fit it anew: the model was fitted"
    ):
        explain.stability(model, X, y, weight, n_refits=1)


def test_two_groups_are_both_drawn():
    X, y = table(60)
    groups = np.arange(60) % 2
    model = TSLRegressor(**QUICK | {"early_stopping": True, "n_stages": 1})
    model.fit(X, y, groups=groups)
    assert explain.stability(model, X, y, groups=groups, n_refits=1).statements


def test_classes_of_few_rows_are_in_every_sample_and_one_of_several_is_told_of():
    X, y = datasets.masked_interaction(150, as_frame=True, random_state=0)
    three = np.where(np.asarray(y) > 0, "high", "low").astype(object)
    three[:2] = "rare"
    frame = pl.DataFrame(X)
    model = TSLClassifier(**QUICK | {"n_stages": 1}).fit(frame, three)
    found = explain.stability(model, frame, three, n_refits=3, label="high", against="low")
    assert isinstance(found.frame(), pl.DataFrame)
    assert "log-odds of high against low" in str(found.frame()["statement"].to_list())
    with pytest.raises(ValueError, match="label must be one of the classes"):
        explain.stability(model, frame, three, n_refits=1)


def test_edits_are_not_in_the_fits_and_that_is_said(model):
    edited = model.edit().flatten("weak").apply(reason="a test")
    X, y = table()
    told = str(explain.stability(edited, X, y, n_refits=1))
    assert "edited or merged after its fit" in told


def test_refits_have_the_loss_of_the_model():
    X, y = table(80)
    model = TSLRegressor(1, early_stopping=False, random_state=0).fit(X, y)
    expected = explain.stability(model, X, y, n_refits=1).frame()
    model.set_params(loss="poisson")  # of the next fit; negative outcomes have none
    pd.testing.assert_frame_equal(explain.stability(model, X, y, n_refits=1).frame(), expected)


def test_weights_and_groups_are_those_of_fits(model):
    X, y = table()
    expected = explain.stability(model, X, y, n_refits=1).frame()
    pd.testing.assert_frame_equal(explain.stability(model, X, y, 1.0, n_refits=1).frame(), expected)
    numbers = np.arange(150) % 5
    mixed = pd.Series([float(g) if k % 2 else int(g) for k, g in enumerate(numbers)], dtype=object)
    parts = TSLRegressor(1, n_grids=1, random_state=0).fit(X, y, groups=numbers)
    found = [
        explain.stability(parts, X, y, groups=groups, n_refits=1).frame()
        for groups in (numbers, mixed)
    ]
    pd.testing.assert_frame_equal(*found)
    with pytest.raises(ValueError, match="y must hold the outcomes of the rows, got None"):
        explain.stability(model, X, None, n_refits=1)


def test_groups_without_weight_are_not_drawn():
    X, y = table()
    groups = np.arange(150) % 5
    weight = np.where(groups < 3, 0.0, 1.0)
    model = TSLRegressor(1, n_grids=1, random_state=0).fit(X, y, weight, groups=groups)
    found = explain.stability(model, X, y, weight, groups=groups, n_refits=3)
    assert found.n_refits == 3


def test_other_estimators_too():
    X, y = table(60)
    model = SepALSRegressor(random_state=0).fit(X, y)
    assert explain.stability(model, X, y, n_refits=1).n_refits == 1
    with pytest.raises(ValueError, match="offset must be None for SepALSRegressor"):
        explain.stability(model, X, y, offset=np.zeros(60))
    with pytest.raises(TypeError, match="y must be the outcomes of the rows, got 3"):
        explain.stability(model, X, 3.0)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"n_refits": 0}, ValueError, "n_refits must be an integer from 1 to 10000, got 0"),
        ({"n_refits": 1.5}, ValueError, "n_refits must be an integer from 1 to 10000, got 1.5"),
        (
            {"groups": [1, 2]},
            ValueError,
            r"groups must have one value per row \(150\), got shape \(2,\)",
        ),
        ({"label": "a"}, ValueError, "label must be None for TSLRegressor, got 'a'"),
    ],
)
def test_bad_arguments_are_refused_before_any_fit(model, arguments, kind, message):
    with pytest.raises(kind, match=message):
        explain.stability(model, *table(), **arguments)


def test_what_cannot_be_fitted_is_refused(model):
    with pytest.raises(TypeError, match="model must be a fitted estimator"):
        explain.stability(model.model_, *table())
