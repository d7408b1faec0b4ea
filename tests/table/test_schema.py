import numpy as np
import pandas as pd
import pytest

from seplearn.table.columns import open_table
from seplearn.table.schema import Schema, _found, categorical_columns

FRAME = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": ["x", "y"]})


def test_columns_are_found_by_name():
    schema = Schema.of(open_table(FRAME))
    assert schema == Schema(3, ("a", "b", "c"), "pandas")
    assert schema.columns_in(open_table(FRAME[["c", "a", "b"]]), "Model") == [1, 2, 0]


def test_missing_and_unknown_columns_are_named():
    schema = Schema.of(open_table(FRAME))
    with pytest.raises(ValueError, match=r"missing \['a', 'b'\] and unknown \['z'\]"):
        schema.columns_in(open_table(FRAME[["c"]].assign(z=1)), "Model")
    with pytest.raises(ValueError, match=r"seen by fit; missing \['c'\]$"):
        schema.columns_in(open_table(FRAME[["a", "b"]]), "Model")
    with pytest.raises(ValueError, match=r"distinct, got \['a', 'a', 'b', 'c'\]"):
        _found(schema.names, ("a", "a", "b", "c"))


def test_other_columns_are_ignored():
    schema = Schema.of(open_table(FRAME))
    more = FRAME.assign(id=[7, 8])[["id", "c", "a", "b"]]
    assert schema.columns_in(open_table(more), "Model") == [2, 3, 1]


def test_without_names_columns_are_taken_by_position():
    schema = Schema.of(open_table(FRAME))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but Model was"):
        assert schema.columns_in(open_table(FRAME.to_numpy()), "Model") == [0, 1, 2]
    nameless = Schema.of(open_table(np.zeros((2, 3))))
    assert nameless.columns_in(open_table(FRAME), "Model") == [0, 1, 2]
    with pytest.raises(ValueError, match="X has 2 features, but Model is expecting 3 features"):
        nameless.columns_in(open_table(FRAME[["a", "b"]]), "Model")


def test_numbered_columns_are_found_by_their_number():
    schema = Schema.of(open_table(pd.DataFrame(np.zeros((2, 3)), columns=[5, 3, 1])))
    reordered = open_table(pd.DataFrame(np.zeros((2, 3)), columns=[1, 5, 3]))
    assert schema.columns_in(reordered, "Model") == [1, 2, 0]
    others = open_table(pd.DataFrame(np.zeros((2, 3))))
    with pytest.warns(UserWarning, match=r"are numbered \[0, 1, 2\], but Model was fitted with"):
        assert schema.columns_in(others, "Model") == [0, 1, 2]
    assert schema.columns_in(open_table(np.zeros((2, 3))), "Model") == [0, 1, 2]


def test_other_numbers_are_ignored_unless_columns_are_only_counted():
    schema = Schema.of(open_table(pd.DataFrame(np.zeros((2, 3)), columns=[5, 3, 1])))
    more = pd.DataFrame(np.zeros((2, 4)), columns=[7, 5, 3, 1])
    assert schema.columns_in(open_table(more), "Model") == [1, 2, 3]
    counted = Schema.of(open_table(pd.DataFrame(np.zeros((2, 3)))))
    for own in (counted, Schema.of(open_table(np.zeros((2, 3))))):
        with pytest.raises(ValueError, match="X has 4 features, but Model is expecting 3"):
            own.columns_in(open_table(pd.DataFrame(np.zeros((2, 4)))), "Model")


def test_schemas_without_names_are_compared_by_number():
    frame = pd.DataFrame(np.zeros((2, 3)))
    counted, turned = Schema.of(open_table(frame)), Schema.of(open_table(frame[[2, 1, 0]]))
    array, named = Schema.of(open_table(np.zeros((2, 3)))), Schema.of(open_table(FRAME))
    assert counted.keys_beside(turned) == (0, 1, 2) == array.keys_beside(turned)
    assert turned.keys_beside(counted) == (2, 1, 0) == turned.keys_beside(array)
    some = Schema.of(open_table(frame[[1, 2]]))
    assert some.keys_beside(counted) == (1, 2)
    assert some.keys_beside(Schema.of(open_table(np.zeros((2, 2))))) == (0, 1)
    assert turned.keys_beside(named) == ("x0", "x1", "x2")
    assert named.keys_beside(turned) == ("a", "b", "c")


def test_categorical_features():
    table = open_table(FRAME)
    cases = {
        "auto": [False, False, True],
        ("b",): [False, True, True],
        (0,): [True, False, True],
        (True, False, False): [True, False, True],
    }
    for chosen, expected in cases.items():
        given = chosen if isinstance(chosen, str) else list(chosen)
        assert categorical_columns(table, given).tolist() == expected
    assert categorical_columns(open_table(FRAME[["a"]]), None).tolist() == [False]
    with pytest.raises(TypeError, match="column 'c' must hold numbers, got 'x'"):
        categorical_columns(table, None)
    with pytest.raises(ValueError, match=r"categorical_features must be among .*, got 'z'"):
        categorical_columns(table, ["z"])
    with pytest.raises(ValueError, match="categorical_features must be positions below 3, got 3"):
        categorical_columns(table, [3])
    with pytest.raises(ValueError, match="categorical_features must be as long as"):
        categorical_columns(table, [True])
