"""After any edits a model is one like any other: parts sum, files, JSON and replays agree."""

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seplearn
from seplearn import TSLClassifier, explain, load_model
from tests.export.models import (
    FLAG,
    KIND,
    LEVELS,
    QUICK,
    SIZE,
    WIDTH,
    model,
    records,
    rows,
    target,
    training_table,
)

MODELS = ("identity", "effects", "log", "logit", "signed", "constant", "paper", "flat", "classes")


@cache
def fitted(name: str) -> Any:
    if name != "classes":
        return model(name)
    X = training_table()
    labels = np.array(["low", "middle", "high"])[np.digitize(target(X), [-1.0, 1.0])]
    return TSLClassifier(**QUICK, n_bootstrap=3, main_effects=True).fit(X, labels)


def outcomes(estimator: Any, X: Any) -> Any:
    """Some rows to recalibrate with, in the domain of every loss."""
    rng = np.random.default_rng(5)
    classes = getattr(estimator, "classes_", None)
    return np.round(rng.uniform(0, 5, len(X))) if classes is None else rng.choice(classes, len(X))


STAGE = st.sampled_from([None, None, 0, 1, "main"])
NUMERIC = st.sampled_from([SIZE, WIDTH])
FEATURE = st.sampled_from([SIZE, WIDTH, KIND, FLAG])
CLASS = st.sampled_from([None, "low", "high"])
LEVEL = st.sampled_from([*LEVELS, "(rare)", "(missing)", "(unseen)"])
OPERATIONS = st.one_of(
    st.tuples(st.just("flatten"), st.tuples(FEATURE), st.fixed_dictionaries({"stage": STAGE})),
    st.tuples(st.just("drop_feature"), st.tuples(FEATURE), st.just({})),
    st.tuples(
        st.just("clip"),
        st.tuples(NUMERIC, st.sampled_from([(-1, 1), (None, 0.5), (0, 0), (-np.inf, 2)])),
        st.fixed_dictionaries({"stage": STAGE}),
    ),
    st.tuples(
        st.just("smooth"),
        st.tuples(NUMERIC, st.sampled_from([0.001, 0.2, 1.0])),
        st.fixed_dictionaries({"stage": STAGE}),
    ),
    st.tuples(
        st.just("set_level"),
        st.tuples(st.just(KIND), LEVEL),
        st.fixed_dictionaries({"like": LEVEL, "stage": STAGE}),
    ),
    st.tuples(st.just("make_monotone"), st.tuples(NUMERIC, st.sampled_from([1, -1])), st.just({})),
    st.tuples(st.just("drop_stage"), st.tuples(st.integers(0, 1)), st.just({})),
    st.tuples(st.just("merge_stages"), st.just((1, 0)), st.just({})),
    st.tuples(st.just("recalibrate"), st.just(()), st.just({})),
)


def edited(estimator: Any, operations: Any, class_: Any) -> Any:
    """What is left of the operations when those that make no sense for the model are refused."""
    edit = estimator.edit()
    X = rows()
    for name, args, options in operations:
        given_args = (X, outcomes(estimator, X)) if name == "recalibrate" else args
        of_class = class_ is not None and name not in ("drop_feature", "make_monotone")
        before = repr(edit)
        try:
            getattr(edit, name)(*given_args, **options, **({"label": class_} if of_class else {}))
        except ValueError:
            assert repr(edit) == before
    return edit


def sums(estimator: Any, X: Any) -> Any:
    return estimator._sums(X)


def scorer() -> Any:
    page = Path(seplearn.__file__).parents[2] / "docs" / "model-json.md"
    scope: dict[str, Any] = {}
    exec(page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0], scope)
    return scope["predict"]


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8)
@given(operations=st.lists(OPERATIONS, min_size=1, max_size=4), class_=CLASS)
def test_a_model_after_any_edits(name, operations, class_, tmp_path_factory):
    original = fitted(name)
    X = rows()
    before = sums(original, X)
    edit = edited(original, operations, class_ if name == "classes" else None)
    if "no changes" in repr(edit):
        return
    changed = edit.apply(reason="a test")
    np.testing.assert_array_equal(sums(original, X), before)
    found = sums(changed, X)
    assert np.isfinite(found).all()

    parts = changed.predict_stages(X).sum(axis=-1) + changed.predict_effects(X).sum(axis=-1)
    np.testing.assert_allclose(parts + changed.intercept_, found, rtol=1e-9, atol=1e-9)

    path = tmp_path_factory.mktemp("edited") / "m.tsl"
    changed.save(path)
    loaded = load_model(path)
    np.testing.assert_array_equal(sums(loaded, X), found)
    assert loaded.edits_ == changed.edits_
    assert repr(loaded) == repr(changed)

    again = original.edit().replay(loaded.edits_).apply()
    np.testing.assert_array_equal(sums(again, X), found)
    assert again.edits_ == changed.edits_

    plain = json.loads(json.dumps(changed.to_dict(), allow_nan=False))
    assert plain["edits"] == [record.to_plain() for record in changed.edits_]
    if name == "classes":
        assert (
            len(changed.predict_interval(X, kind="mean")) == len(X)
            if changed.model_.replicates
            else True
        )
        return
    told = [scorer()(plain, row) for row in records(X)]
    np.testing.assert_allclose(told, changed.model_.link.inverse(found), rtol=1e-9, atol=1e-9)
    shares = explain.shapley(changed, X[:3])
    np.testing.assert_allclose(
        shares.base + shares.values.sum(axis=1), found[:3], rtol=1e-9, atol=1e-9
    )


def test_edits_of_an_edited_model_come_after_its_own():
    original = fitted("effects")
    first = original.edit().flatten(SIZE, stage=0).apply(reason="one")
    second = first.edit().clip(WIDTH, (-1, 1)).drop_feature(FLAG).apply(reason="two")
    assert [record.reason for record in second.edits_] == ["one", "two", "two"]
    again = original.edit().replay(second.edits_).apply()
    np.testing.assert_array_equal(again.predict(rows()), second.predict(rows()))


def test_products_beyond_the_largest_number_stay_numbers():
    huge = model("huge")
    X = rows()
    for edit in (
        huge.edit().flatten(SIZE),
        huge.edit().clip(SIZE, (-1, 1)),
        huge.edit().merge_stages(0, 1),
        huge.edit().drop_stage(0),
    ):
        changed = edit.apply(reason="a test")
        assert np.isfinite(changed.predict(X)).all()
        assert np.isfinite(edit.effect(X).before).all()


def test_an_edit_does_not_follow_changes_of_its_estimator():
    other = copy.copy(fitted("effects"))
    edit = other.edit().flatten(SIZE)
    other.evaluation_ = "something measured"
    assert edit.apply(reason="a test").evaluation_ is None
