"""Links and classes in model files, and files in which they are damaged."""

from typing import Any

import numpy as np
import pytest

from seplearn import ModelFormatError, TSLClassifier, TSLRegressor, datasets, load_model
from seplearn.table.schema import OffsetColumn
from tests.model.damage import joined, parts

QUICK: dict[str, Any] = {
    "n_stages": 1, "early_stopping": False, "n_grids": 1, "n_splits": 4, "random_state": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return datasets.masked_interaction(200, random_state=0)


def file_of(model, folder):
    path = folder / "model.tsl"
    model.save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    """Of a regressor without a link, one with, and classifiers of two classes and of three."""
    X, y = data
    folder = tmp_path_factory.mktemp("files")
    return {
        "identity": file_of(TSLRegressor(**QUICK).fit(X, y), folder),
        "log": file_of(TSLRegressor(**QUICK, loss="gamma").fit(X, np.exp(0.2 * y)), folder),
        "logit": file_of(TSLClassifier(**QUICK).fit(X, np.where(y > 0, "yes", "no")), folder),
        "softmax": file_of(of_three(X, y), folder),
    }


def of_three(X, y):
    """A model of three classes, with main effects and bands."""
    three = np.array(["high", "low", "middle"])[np.digitize(y, [-1.0, 1.0])]
    options = QUICK | {"n_stages": 3, "n_grids": 2, "n_splits": 8}
    model = TSLClassifier(**options, n_bootstrap=2, main_effects=True).fit(X, three)
    assert any(model.stages_)
    model.evaluate(X, three, keep=True)
    return model


def test_a_file_names_a_link_only_where_there_is_one(files):
    headers = {name: parts(data)[0] for name, data in files.items()}
    assert "link" not in headers["identity"]
    assert "classes" not in headers["identity"]
    assert headers["log"]["link"] == "log"
    assert "classes" not in headers["log"]
    assert headers["logit"]["link"] == "logit"
    assert headers["logit"]["classes"] == {"kind": "str", "labels": ["no", "yes"]}
    assert "sums" not in headers["logit"]
    assert headers["softmax"]["link"] == "softmax"
    assert len(headers["softmax"]["sums"]) == 3


def test_the_column_of_offsets_is_kept(data, tmp_path):
    X, y = data
    model = TSLRegressor(**QUICK, loss="gamma").fit(X, np.exp(0.2 * y))
    assert model.offset_column_ is None
    model.offset_column_ = OffsetColumn("years", True)
    model.select_stages([0]).save(tmp_path / "model.tsl")
    assert load_model(tmp_path / "model.tsl").offset_column_ == ("years", True)
    assert model.fit(X, np.exp(0.2 * y)).offset_column_ is None  # of another fit


def test_texts_for_missing_values_are_kept(data, tmp_path):
    model = TSLRegressor(**QUICK).fit(*data)
    assert model.missing_texts_ == ()
    model.missing_texts_ = ("-999", "?")
    model.select_stages([0]).save(tmp_path / "model.tsl")
    assert load_model(tmp_path / "model.tsl").missing_texts_ == ("-999", "?")
    header, arrays, checksum = parts((tmp_path / "model.tsl").read_bytes())
    header["missing"] = [1]
    (tmp_path / "damaged.tsl").write_bytes(joined(header, arrays, checksum))
    with pytest.raises(ModelFormatError, match="texts of missing values"):
        load_model(tmp_path / "damaged.tsl")
    again = load_model(tmp_path / "model.tsl").set_params(warm_start=True, n_stages=2)
    assert again.fit(*data).missing_texts_ == ("-999", "?")  # the stages that it keeps learned so
    assert model.fit(*data).missing_texts_ == ()


@pytest.mark.parametrize(
    "labels",
    [
        np.array([False, True]),
        np.array([-3, 7]),
        np.array([0, 255], dtype=np.uint8),
        np.array([2**62, 2**62 + 1]),
        np.array([1.0, 3.0]),
        np.array([1.0, 3.0], dtype=np.float32),
        np.array(["", "\u00fc \U0001f600"], dtype=object),
    ],
    ids=repr,
)
def test_labels_are_read_as_they_were(data, labels, tmp_path):
    X, y = data
    model = TSLClassifier(**QUICK).fit(X, labels[(y > 0).astype(int)])
    model.save(tmp_path / "model.tsl")
    again = load_model(tmp_path / "model.tsl")
    assert again.classes_.dtype == labels.dtype
    np.testing.assert_array_equal(again.classes_, labels)


def classes(**changed):
    return lambda header: header["classes"].update(changed)


def one_sum(name, value):
    return lambda header: header["sums"][0].update({name: value})


def without_effects(header):
    next(one for one in header["sums"] if one["effects"])["effects"] = False


def evaluated():
    return lambda header: header["evaluation"]["of_class"].pop()


def field(name, value):
    return lambda header: header.update({name: value})


def without(name):
    return lambda header: header.pop(name)


YEARS = {"name": "years", "is_exposure": True}
TWO = {"kind": "str", "labels": ["no", "yes"]}
DAMAGES: dict[str, Any] = {
    "unknown link": ("logit", field("link", "probit"), "unknown link"),
    "a link that is no word": ("log", field("link", ["log"]), "unknown link"),
    "no link": ("logit", without("link"), "the link 'identity' is not one of TSLClassifier"),
    "the link of amounts": ("logit", field("link", "log"), "the link 'log' is not one of"),
    "log-odds of a regressor": ("log", field("link", "logit"), "is not one of TSLRegressor"),
    "one class": ("logit", classes(labels=["no"]), "two classes"),
    "three classes": ("logit", classes(labels=["a", "b", "c"]), "two classes"),
    "two of three classes": ("softmax", classes(labels=["a", "b"]), "3 classes, got 2 labels"),
    "no sums": ("softmax", without("sums"), "sums belong to several classes"),
    "sums of two classes": ("logit", field("sums", []), "sums belong to several classes"),
    "another link of sums": ("softmax", field("link", "logit"), "sums belong to several"),
    "sums that are no list": ("softmax", field("sums", {}), "sums of three classes or more"),
    "two sums": ("softmax", lambda header: header["sums"].pop(), "three classes or more"),
    "a sum too short": ("softmax", one_sum("n_stages", 10**6), "too few stages"),
    "a constant that is none": ("softmax", one_sum("intercept", None), "a number is expected"),
    "effects that are none": ("softmax", one_sum("effects", 1), "True or False"),
    "other effects": ("softmax", without_effects, "shape or type|main effects"),
    "a sum of more": ("softmax", one_sum("scale", 1.0), "fields of a sum"),
    "an evaluation of two": ("softmax", evaluated(), "evaluations of the classes"),
    "no list": ("logit", classes(labels="no"), "two classes"),
    "the same twice": ("logit", classes(labels=["no", "no"]), "classes must be distinct"),
    "mixed kinds": ("logit", classes(labels=["no", 1]), "labels of the classes"),
    "numbers for booleans": ("logit", classes(kind="bool", labels=[0, 1]), "labels of the"),
    "booleans for numbers": ("logit", classes(kind="int64", labels=[False, True]), "labels of"),
    "unknown kind": ("logit", classes(kind="complex128"), "kind of the labels"),
    "a kind that is no word": ("logit", classes(kind=["str"]), "kind of the labels"),
    "too large": ("logit", classes(kind="uint8", labels=[0, 300]), "too large"),
    "negative": ("logit", classes(kind="uint8", labels=[-1, 3]), "too large"),
    "beyond all integers": ("logit", classes(kind="int64", labels=[0, 10**30]), "too large"),
    "beyond a short float": ("logit", classes(kind="float32", labels=[0.0, 1e300]), "too large"),
    "no kind": ("logit", field("classes", {"labels": ["no", "yes"]}), "the classes"),
    "no table": ("logit", field("classes", ["no", "yes"]), "the classes"),
    "no classes": ("logit", without("classes"), "classes belong to a classifier"),
    "classes of a regressor": ("identity", field("classes", TWO), "classes belong to a"),
    "offsets of a classifier": ("logit", field("offset", YEARS), "log-odds have no exposure"),
    "offsets of several classes": ("softmax", field("offset", YEARS), "no model of this kind"),
    "an offset in numbers": ("log", field("offset", 3), "fields of the column of offsets"),
    "half an offset": ("log", field("offset", {"name": "years"}), "the column of offsets"),
    "an offset without a name": ("log", field("offset", YEARS | {"name": 1}), "name of the col"),
    "an exposure in words": ("log", field("offset", YEARS | {"is_exposure": "no"}), "True or F"),
    "classes of counts": ("log", field("classes", TWO), "classes belong to a classifier"),
}


@pytest.mark.parametrize(("which", "damage", "message"), DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_links_and_classes_are_refused(files, which, damage, message, tmp_path):
    header, arrays, checksum = parts(files[which])
    damage(header)
    path = tmp_path / "damaged.tsl"
    path.write_bytes(joined(header, arrays, checksum))
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


SHAPES = ["effects", "replicate_effects", "replicate_intercepts", "replicate_log_factors"]


@pytest.mark.parametrize("name", [*SHAPES, "replicate_log_scales"])
def test_arrays_of_classes_of_another_shape_are_refused(files, name, tmp_path):
    header, arrays, checksum = parts(files["softmax"])
    path = tmp_path / "damaged.tsl"
    for damaged in (arrays[name][:-1], arrays[name][..., :-1], arrays[name].ravel()):
        path.write_bytes(joined(header, arrays | {name: np.ascontiguousarray(damaged)}, checksum))
        with pytest.raises(ModelFormatError):
            load_model(path)
